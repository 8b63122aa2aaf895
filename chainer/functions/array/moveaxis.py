"""Moving axes."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.array.transpose import transpose


def moveaxis(
    x: VariableLike, source: int | tuple[int, ...], destination: int | tuple[int, ...]
) -> Variable:
    """Moves axes to new positions; the others stay in their order.

    Args:
        x (Variable or array): Input of any shape.
        source (int or tuple of int): Axes to move.
        destination (int or tuple of int): Where they go.

    Returns:
        Variable: Variable whose axes are moved.

    Raises:
        ValueError: If the numbers of axes differ, or an axis occurs twice or does not exist.

    Example:
        >>> F.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    ndim = x.ndim
    sources = (source,) if isinstance(source, int) else tuple(source)
    targets = (destination,) if isinstance(destination, int) else tuple(destination)
    for name, axes in (("source", sources), ("destination", targets)):
        if not all(-ndim <= axis < ndim for axis in axes):
            raise ValueError(f"{name} must name axes of an array of {ndim} dimensions, got {axes}")
    sources = tuple(axis % ndim for axis in sources)
    targets = tuple(axis % ndim for axis in targets)
    if len(sources) != len(targets) or len(set(sources)) != len(sources):
        raise ValueError(
            "source and destination must have the same number of different axes, "
            f"got {source} and {destination}"
        )
    if len(set(targets)) != len(targets):
        raise ValueError(f"destination must not repeat an axis, got {destination}")
    order = [axis for axis in range(ndim) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return transpose(x, order)

"""Memory layouts of arrays of images (public module ``chainer.memory_layouts``).

cuDNN is faster with images whose channels come last. In a variable with such a layout the raw array
has shape ``(N, d1, ..., dk, C)``, while the shape that programs see, the semantic one, stays
``(N, C, d1, ..., dk)``. :meth:`chainer.Variable.as_layout` converts between layouts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.core.typing import Array, Shape, VariableLike

#: The standard layout of the inputs of convolutions.
CUDNN_CHANNEL_FIRST_X: str | None = None
#: The standard layout of the weights of convolutions.
CUDNN_CHANNEL_FIRST_W: str | None = None
#: Inputs of convolutions with the channels last.
CUDNN_CHANNEL_LAST_X: str = "CUDNN_CHANNEL_LAST_X"
#: Weights of convolutions with the channels last.
CUDNN_CHANNEL_LAST_W: str = "CUDNN_CHANNEL_LAST_W"

_LAYOUTS = (None, CUDNN_CHANNEL_LAST_X, CUDNN_CHANNEL_LAST_W)

#: Default of ``assumed_layout``: the layout of the variable itself.
_unspecified: Any = object()


def _axes(ndim: int, source: str | None, target: str | None) -> tuple[int, ...] | None:
    """Returns the order of the axes that turns a layout into another; None if they are equal."""
    if source not in _LAYOUTS or target not in _LAYOUTS:
        raise ValueError(f"unknown conversion of memory layouts: from {source!r} to {target!r}")
    if source == target:
        return None
    assert source is None or target is None, (
        f"a variable with layout {source} has to get the standard layout before {target}"
    )
    assert ndim >= 3, f"a memory layout needs arrays of 3 or more dimensions, got {ndim}"
    if source is None:
        return (0, *range(2, ndim), 1)
    return (0, ndim - 1, *range(1, ndim - 1))


def transposed(array: Array, source: str | None, target: str | None) -> Array:
    """Returns a view of an array in another layout.

    Args:
        array: The array.
        source: Its layout.
        target: Layout of the result.

    Raises:
        AssertionError: If the array has fewer than three dimensions.
        ValueError: If a layout is unknown.
    """
    axes = _axes(array.ndim, source, target)
    return array if axes is None else array.transpose(axes)


def get_raw_shape(arr_or_var: VariableLike) -> Shape:
    """Returns the shape of an array, or of the stored array of a variable.

    Args:
        arr_or_var (array or Variable): The array or variable.

    Returns:
        tuple of int: The shape.

    Example:
        >>> x = chainer.Variable(np.zeros((2, 3, 4, 5), np.float32))
        >>> x = x.as_layout(chainer.memory_layouts.CUDNN_CHANNEL_LAST_X)
        >>> x.shape, chainer.memory_layouts.get_raw_shape(x)
        ((2, 3, 4, 5), (2, 4, 5, 3))
    """
    return getattr(arr_or_var, "raw_array", arr_or_var).shape


def get_semantic_shape(
    arr_or_var: VariableLike, *, assumed_layout: str | None = _unspecified
) -> Shape:
    """Returns the shape with the channels in second place.

    Args:
        arr_or_var (array or Variable): The array or variable.
        assumed_layout (str): Layout of an array. If given, a variable must have this layout.

    Returns:
        tuple of int: The shape.

    Raises:
        AssertionError: If a variable has another layout.

    Example:
        >>> layout = chainer.memory_layouts.CUDNN_CHANNEL_LAST_X
        >>> chainer.memory_layouts.get_semantic_shape(np.zeros((2, 4, 5, 3)), assumed_layout=layout)
        (2, 3, 4, 5)
    """
    if hasattr(arr_or_var, "raw_array"):
        layout = arr_or_var.layout
        assert assumed_layout is _unspecified or layout == assumed_layout, (
            f"the variable has the layout {layout}, not {assumed_layout}"
        )
        return arr_or_var.shape
    if assumed_layout is _unspecified:
        return arr_or_var.shape
    axes = _axes(arr_or_var.ndim, assumed_layout, None)
    return arr_or_var.shape if axes is None else tuple(arr_or_var.shape[axis] for axis in axes)

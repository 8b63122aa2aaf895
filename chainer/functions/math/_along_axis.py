"""Broadcasting of an array along the axes of another one from a given axis on."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array
from chainer.core.utils.documentation import SharedSections
from chainer.core.utils.type_check import InvalidType
from chainer.functions._inputs import require_array
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape

along_axis_sections = SharedSections(
    """
    Args:
        x (Variable or array): Input, of shape ``(s_1, ..., s_N)``. An array is cast to the dtype of
            ``y``.
        y (Variable or array): $values; their shape matches the shape of ``x`` from ``axis`` on.
        axis (int): The first axis of ``x`` along which ``y`` is applied.

    Returns:
        Variable: Output of the shape of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
)


class AxesMismatchError(InvalidType, AssertionError):
    """Two shapes do not fit along an axis. Earlier releases assert in debug mode that they do."""


def broadcast_from_axis(x: Array, y: Array, axis: int) -> tuple[Variable, Variable]:
    """Returns ``x``, and ``y`` broadcast to its shape with its first axis at ``axis`` of ``x``.

    Args:
        x: Variable or array; an array is cast to the dtype of ``y``.
        y: Variable or array. Its axes match the axes of ``x`` from ``axis`` on.
        axis: The first axis of ``x`` that ``y`` has.

    Raises:
        InvalidType: If the shapes do not fit; in debug mode it is an AssertionError as well.
    """
    require_array(x, y)
    if not isinstance(x, Variable) and x.dtype != y.dtype:
        # An array is a constant, which takes the dtype of the other operand.
        x = x.astype(y.dtype)
    x, y = as_variable(x), as_variable(y)
    if config.debug and x.shape[axis : axis + y.ndim] != y.shape:
        raise AxesMismatchError(
            f"x.shape[{axis}:{axis + y.ndim}] == y.shape",
            f"{x.shape[axis : axis + y.ndim]} != {y.shape}",
        )
    following = x.ndim - axis - y.ndim
    # Broadcasting itself adds axes in front.
    if following:
        y = reshape(y, (1,) * axis + y.shape + (1,) * following)
    return x, broadcast_to(y, x.shape)

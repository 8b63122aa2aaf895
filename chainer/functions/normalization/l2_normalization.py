"""L2 normalization."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.misuse import expect_number
from chainer.core.typing import (
    Array,
    ArrayGrads,
    Arrays,
    Indexes,
    IntTuple,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._errors import InvalidAxis, expect_as
from chainer.functions._scalars import as_int, as_number
from chainer.functions.array.cast import cast
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules import ComposedFunction
from chainer.functions.rules.batching import ShiftsAxes
from chainer.functions.rules.constants import constant

Axes = tuple[int, ...]


class NormalizeL2(ShiftsAxes, ComposedFunction):
    """Division by the Euclidean norm along some axes.

    Args:
        eps (float): Added to the norm.
        axis (int or tuple of ints): The axes.
    """

    type_check_key = ("axis",)
    retained_inputs = (0,)

    def __init__(self, eps: float = 1e-5, axis: Any = 1) -> None:
        axes = axis if isinstance(axis, tuple) else (axis,)
        error_message = f"axis must be an int or a tuple of ints, got {axis!r}"
        self.eps = as_number(eps, "eps")
        expect_number("eps of normalize", self.eps, at_least=0)
        self.axis: Axes = tuple([as_int(i, error_message) for i in axes])

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        ndim = type_check.eval(in_types[0].ndim)
        for axis in self.axis:
            if axis >= 0:
                expect_as(InvalidAxis, in_types[0].ndim > axis)
            else:
                expect_as(InvalidAxis, in_types[0].ndim >= -axis)
        if len({axis % ndim for axis in self.axis}) != len(self.axis):
            raise ValueError(f"duplicate value in 'axis': {self.axis}")

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        norm = self._norm(x)
        norm += self.eps
        return (x / norm.astype(x.dtype, copy=False),)

    def _norm(self, x: Array) -> Any:
        wide = x.astype("f") if x.dtype == "float16" else x
        return self.xp.sqrt((wide * wide).sum(axis=self.axis, keepdims=True))

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,) = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        norm = self._norm(x)
        shifted = norm + self.eps
        # Where the norm is zero, x is: the second term is zero there, whatever it is divided by.
        norm[norm == 0] = 1
        dot = (gy * x).sum(axis=self.axis, keepdims=True)
        gx = gy / shifted
        gx -= x * (dot / (norm * shifted * shifted))
        return (gx.astype(x.dtype, copy=False),)

    def compose(self, x: Variable) -> Variables:
        dtype = x.dtype
        if dtype == "float16":  # in which the squares of small numbers are zero
            x = cast(x, "f")
        squares = sum_axes(x * x, self.axis, keepdims=True)
        # Adding one where the norm is zero keeps its root differentiable.
        zero = constant(lambda x: (x == 0).astype(x.dtype), squares)
        norm = (squares + zero) ** 0.5 * (1 - zero)
        return (cast(x / (norm + self.eps), dtype),)


@explained_keywords
def normalize(x: VariableLike, eps: float = 1e-5, axis: IntTuple = 1) -> Variable:
    r"""L2 normalization.

    It divides ``x`` by its Euclidean norm along the given axes. For ``x`` of shape :math:`(N, K)`
    and ``axis=1``

    .. math::

        y_i = {x_i \over \| x_i \|_2 + \epsilon}.

    Args:
        x (~chainer.Variable or array): Input, floating point. With the default axis the first
            dimension is the minibatch.
        eps (float): Added to the norm, to avoid division by zero.
        axis (int or tuple of ints): Axes along which to normalize.

    Returns:
        ~chainer.Variable: Output which has the same shape as ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers or has no such axis.
        ValueError: If an axis occurs twice.

    Example:
        >>> x = np.array([[3, 4], [0, 0]], np.float32)
        >>> F.normalize(x, eps=1).array.round(3)
        array([[0.5  , 0.667],
               [0.   , 0.   ]], dtype=float32)
    """
    return NormalizeL2(eps, axis).apply((x,))[0]

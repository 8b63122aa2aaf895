"""DeCov loss."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._callable import CallableNode
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.matmul import matmul
from chainer.functions.math.sum import sum
from chainer.functions.rules import ComposedFunction


class DeCov(CallableNode, ComposedFunction):
    """Covariance of the columns of a matrix, without its diagonal."""

    argument_names = ("h",)

    type_check_key = ()
    retained_inputs = (0,)

    def __init__(self, reduce: str = "half_squared_sum") -> None:
        check_reduce(reduce, "half_squared_sum", "no")
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim == 2)

    def forward(self, inputs: Arrays) -> Arrays:
        covariance = self._covariance(inputs[0])
        if self.reduce == "no":
            return (covariance,)
        self._saved = covariance
        return (self.xp.vdot(covariance, covariance) * covariance.dtype.type(0.5),)

    def _covariance(self, h: Array) -> Any:
        # The mean of an empty batch is NaN; its covariance is zero by definition.
        if not len(h):
            return self.xp.zeros((h.shape[1], h.shape[1]), h.dtype)
        centered = h - h.mean(axis=0, dtype=h.dtype)
        covariance = centered.T.dot(centered)
        covariance /= len(h)
        self.xp.fill_diagonal(covariance, 0)
        return covariance

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (h,) = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        if not len(h):
            return (self.xp.zeros_like(h),)
        if self.reduce == "no":
            weights = gy + gy.T
            self.xp.fill_diagonal(weights, 0)
            scale = 1.0 / len(h)
        else:
            weights = self._saved
            scale = gy * (2.0 / len(h))
        # The mean itself has no influence: centered columns add up to zero.
        gh = (h - h.mean(axis=0, dtype=h.dtype)).dot(weights)
        gh *= scale
        return (gh,)

    def compose(self, h: Variable) -> Variables:
        scale = 1.0 / max(len(h), 1)
        centered = h - sum(h, axis=0, keepdims=True) * scale
        off_diagonal = scale * (1 - self.xp.eye(h.shape[1], dtype=h.dtype))
        covariance = matmul(centered, centered, transa=True) * off_diagonal
        return (covariance if self.reduce == "no" else sum(covariance * covariance) * 0.5,)


@explained_keywords
def decov(h: VariableLike, reduce: str = "half_squared_sum") -> Variable:
    """Computes the DeCov loss of ``h``.

    It is half the squared Frobenius norm of the covariance without its diagonal.

    See Reducing Overfitting in Deep Networks by Decorrelating Representations
    (https://arxiv.org/abs/1511.06068).

    Args:
        h (Variable or array): Matrix of shape ``(B, N)``; the first axis is the batch. Floating
            point.
        reduce (str): ``'half_squared_sum'``: a scalar. ``'no'``: the covariance matrix of shape
            ``(N, N)``, zero on its diagonal.

    Returns:
        Variable: The loss.

    Raises:
        InvalidType: If dtype or shape does not fit.
        ValueError: If ``reduce`` is something else.

    Example:
        >>> F.decov(np.array([[0., 0.], [1., 1.]]))
        variable(0.0625)
    """
    return DeCov(reduce).apply((h,))[0]

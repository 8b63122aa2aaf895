"""DeCov loss."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.loss._pair import check_reduce


class DeCov(FunctionNode):
    """Covariance of the columns of a matrix, without its diagonal."""

    type_check_key = ()

    def __init__(self, reduce: str = "half_squared_sum") -> None:
        check_reduce(reduce, "half_squared_sum", "no")
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim == 2)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        covariance = self._covariance(inputs[0])
        if self.reduce == "no":
            return (covariance,)
        self._saved = covariance
        return (self.xp.vdot(covariance, covariance) * covariance.dtype.type(0.5),)

    def _covariance(self, h: Any) -> Any:
        if not len(h):
            return self.xp.zeros((h.shape[1], h.shape[1]), h.dtype)
        centered = h - h.mean(axis=0, dtype=h.dtype)
        covariance = centered.T.dot(centered)
        covariance /= len(h)
        self.xp.fill_diagonal(covariance, 0)
        return covariance

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (h,) = self.retained_input_arrays
        (gy,) = grad_outputs
        if not len(h):
            return (self.xp.zeros_like(h),)
        if self.reduce == "no":
            weights = gy + gy.T
            self.xp.fill_diagonal(weights, 0)
            scale = 1.0 / len(h)
        else:
            weights = self._saved
            scale = gy * (2.0 / len(h))
        gh = (h - h.mean(axis=0, dtype=h.dtype)).dot(weights)
        gh *= scale
        return (gh,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.math.matmul import matmul
        from chainer.functions.math.sum import sum

        (h,) = self.get_retained_inputs()
        (gy,) = grad_outputs
        count = max(len(h), 1)
        xp = self.xp
        off_diagonal = 1 - xp.eye(h.shape[1], dtype=h.dtype)
        mean = sum(h, axis=0, keepdims=True) * (1.0 / count)
        centered = h - broadcast_to(mean, h.shape)
        if self.reduce == "no":
            weights = gy * off_diagonal
            weights = weights + weights.T
        else:
            covariance = matmul(centered, centered, transa=True) * off_diagonal
            weights = covariance * (2.0 / count) * broadcast_to(gy, covariance.shape)
        return (matmul(centered, weights) * (1.0 / count),)


def decov(h: Any, reduce: str = "half_squared_sum") -> Variable:
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

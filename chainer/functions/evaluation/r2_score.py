"""Coefficient of determination."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.functions._callable import CallableNode
from chainer.functions.rules import expect_kinds


class R2_score(CallableNode, FunctionNode):
    """Coefficient of determination of a regression."""

    type_check_key = ()

    def __init__(self, sample_weight: Any, multioutput: str) -> None:
        if sample_weight is not None:
            raise NotImplementedError("sample_weight must be None")
        if multioutput not in ("uniform_average", "raw_values"):
            raise ValueError(
                "invalid multioutput argument: it must be 'uniform_average' or 'raw_values', "
                f"got {multioutput!r}"
            )
        self.multioutput = multioutput

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        pred_type, true_type = expect_kinds(in_types, "ff")
        type_check.expect(
            pred_type.shape == true_type.shape,
        )

    def forward(self, inputs: Arrays) -> Arrays:
        predicted, true = inputs
        xp = self.xp
        residual = ((predicted - true) ** 2).sum(axis=0)
        total = ((true - true.mean(axis=0)) ** 2).sum(axis=0)
        # Targets without variance cannot be explained; scikit-learn calls that a score of zero.
        score = xp.where(total == 0, 0.0, 1 - residual / xp.where(total == 0, 1, total))
        score = xp.asarray(score, dtype=predicted.dtype)
        return (score.mean() if self.multioutput == "uniform_average" else score,)


def r2_score(
    pred: VariableLike,
    true: VariableLike,
    sample_weight: Any = None,
    multioutput: str = "uniform_average",
) -> Variable:
    """Computes R^2, the coefficient of determination, of a regression.

    Args:
        pred (Variable or array): Estimated target values, of any shape ``(N, ...)``, floating
            point.
        true (Variable or array): Correct target values of the same shape.
        sample_weight: For compatibility with scikit-learn; must be None.
        multioutput (str): ``'uniform_average'``: the average over all outputs, a scalar.
            ``'raw_values'``: the score of each output, of the shape of the inputs without its first
            axis.

    Returns:
        Variable: The score; 0 for outputs whose correct values do not vary.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        NotImplementedError: If ``sample_weight`` is not None.
        ValueError: If ``multioutput`` is something else.

    Note:
        This function is not differentiable.

    Example:
        >>> F.r2_score(np.array([1., 2., 3.]), np.array([1., 2., 4.]))
        variable(0.78571429)
    """
    return R2_score(sample_weight, multioutput).apply((pred, true))[0]

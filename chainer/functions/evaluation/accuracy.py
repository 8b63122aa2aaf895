"""Classification accuracy."""

from __future__ import annotations

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.rules import expect_scores_of_labels


class Accuracy(FunctionNode):
    """Share of samples for which the label has the highest score."""

    argument_names = ("x", "t")

    type_check_key = ()

    def __init__(self, ignore_label: int | None = None) -> None:
        self.ignore_label = ignore_label

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        expect_scores_of_labels(in_types)

    def forward(self, inputs: Arrays) -> Arrays:
        y, t = inputs
        xp = self.xp
        if t.size == 0:
            # The mean of nothing, as numpy.mean has it; where labels can be ignored, zero as below.
            nothing = float("nan") if self.ignore_label is None else 0
            return (xp.full((), nothing, dtype=y.dtype),)
        hits = y.argmax(axis=1).reshape(t.shape) == t
        if self.ignore_label is None:
            return (xp.asarray(hits.mean(), dtype=y.dtype),)
        counted = t != self.ignore_label
        # If all labels are ignored the accuracy is zero, not a division by zero.
        share = (hits & counted).sum() / xp.maximum(counted.sum(), 1)
        return (xp.asarray(share, dtype=y.dtype),)


@explained_keywords
def accuracy(y: VariableLike, t: VariableLike, ignore_label: int | None = None) -> Variable:
    """Computes multiclass classification accuracy of the minibatch.

    Args:
        y (Variable or array): Scores: element ``(i, j, k, ...)`` is the score of class ``j`` at
            sample ``(i, k, ...)``. The class with the highest score is predicted. Floating point.
        t (Variable or array): Ground truth labels, shape ``(N, ...)``, signed integer.
        ignore_label (int or None): Samples with this label are not counted.

    Returns:
        Variable: The accuracy, a scalar of the dtype of ``y``. If all samples are ignored, it is 0.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Note:
        This function is not differentiable.

    Example:
        >>> y = np.array([[0.1, 0.7, 0.2], [8.0, 1.0, 2.0], [-8.0, 1.0, 2.0], [-8.0, -1.0, -2.0]])
        >>> F.accuracy(y, np.array([1, 0, 2, 1], np.int32)).array
        array(1.)
        >>> F.accuracy(y, np.array([1, 0, 0, 0], np.int32)).array
        array(0.5)
    """
    return Accuracy(ignore_label=ignore_label).apply((y, t))[0]

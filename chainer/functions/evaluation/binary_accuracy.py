"""Binary classification accuracy."""

from __future__ import annotations

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.functions._callable import CallableNode
from chainer.functions.rules import expect_label_of_each


class BinaryAccuracy(CallableNode, FunctionNode):
    """Share of elements whose score has the sign of their label."""

    argument_names = ("x", "t")

    #: Label of elements that are ignored. Subclasses of programs have another one.
    ignore_label = -1

    type_check_key = ()
    check_type_forward = expect_label_of_each

    def forward(self, inputs: Arrays) -> Arrays:
        y, t = inputs
        xp = self.xp
        counted = t != self.ignore_label
        hits = ((y >= 0) == t) & counted
        # If all labels are ignored the accuracy is zero, not a division by zero.
        return (xp.asarray(hits.sum() / xp.maximum(counted.sum(), 1), dtype=y.dtype),)


def binary_accuracy(y: VariableLike, t: VariableLike) -> Variable:
    """Computes binary classification accuracy of the minibatch.

    Args:
        y (Variable or array): Scores of positive; the prediction is 1 where ``y >= 0`` and 0
            elsewhere. Floating point.
        t (Variable or array): Labels of the same shape, signed integer: 1 for positive, 0 for
            negative, -1 for elements to ignore.

    Returns:
        Variable: The accuracy, a scalar of the dtype of ``y``; 0 if all elements are ignored.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Note:
        This function is not differentiable.

    Example:
        >>> y = np.array([[-2.0, 0.0], [3.0, -5.0]])
        >>> F.binary_accuracy(y, np.array([[0, 1], [1, 0]], np.int32)).array
        array(1.)
        >>> F.binary_accuracy(y, np.array([[0, 0], [1, 1]], np.int32)).array
        array(0.5)
    """
    return BinaryAccuracy().apply((y, t))[0]

"""Contrastive loss."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.loss._class_labels import IsLabel, warn_of_other_labels
from chainer.functions.loss._pair import MarginLoss
from chainer.functions.math.maximum import maximum
from chainer.functions.math.sqrt import sqrt
from chainer.functions.math.sum import sum
from chainer.functions.rules import ComposedFunction, expect_kinds
from chainer.functions.rules.constants import constant


class Contrastive(MarginLoss, ComposedFunction):
    """Contrastive loss of pairs that are similar or not."""

    argument_names = ("x0", "x1", "y")

    batch_inputs = (0, 1, 2)
    type_check_key = ()
    retained_inputs = (0, 1, 2)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x0_type, x1_type, y_type = expect_kinds(in_types, "ffi")
        type_check.expect(
            x0_type.dtype == x1_type.dtype,
            x0_type.shape == x1_type.shape,
            x0_type.ndim == 2,
            y_type.ndim == 1,
            x1_type.shape[0] == y_type.shape[0],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x0, x1, y = inputs
        xp = self.xp
        difference = x0 - x1
        squares = (difference * difference).sum(axis=1)
        gap = xp.maximum(self.margin - xp.sqrt(squares), 0)
        loss = xp.where(y == 1, squares, gap * gap) * 0.5
        if self.reduce == "mean":
            # The loss of an empty batch is zero, not NaN.
            loss = loss.sum() / max(len(x0), 1)
        return (xp.asarray(loss, dtype=x0.dtype),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x0, x1, y = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        xp = self.xp
        difference = x0 - x1
        distance = xp.sqrt((difference * difference).sum(axis=1))
        gap = xp.maximum(self.margin - distance, 0)
        # At distance zero the direction is undefined; the gradient there is zero. Any divisor
        # will do, because the difference is zero; a small one would be zero in float16.
        factor = xp.where(y == 1, 1, -gap / xp.where(distance == 0, 1, distance))
        factor = factor * (gy * (1.0 / max(len(x0), 1)) if self.reduce == "mean" else gy)
        gx0 = (difference * factor[:, None]).astype(x0.dtype, copy=False)
        return tuple([None if i == 2 else -gx0 if i else gx0 for i in target_input_indexes])

    def compose(self, x0: Variable, x1: Variable, y: Variable) -> Variables:
        dtype = x0.dtype
        difference = x0 - x1
        squares = sum(difference * difference, axis=1)
        # Adding one where the distance is zero keeps its root differentiable.
        zero = constant(lambda x: (x == 0).astype(x.dtype), squares)
        distance = sqrt(squares + zero) * (1 - zero)
        (similar,) = IsLabel(1, dtype).apply((y,))
        # A distance that equals the margin has the second derivative of smaller ones.
        gap = maximum(self.margin - distance, 0 * zero) * (1 - similar)
        losses = (squares * similar + gap * gap) * 0.5
        return (sum(losses) * (1.0 / max(len(x0), 1)) if self.reduce == "mean" else losses,)


@explained_keywords
def contrastive(
    x0: VariableLike, x1: VariableLike, y: VariableLike, margin: float = 1, reduce: str = "mean"
) -> Variable:
    """Computes contrastive loss.

    The loss of a pair is half of ``y d^2 + (1 - y) max(margin - d, 0)^2``, ``d`` being the
    Euclidean distance of the two samples. See Learning a Similarity Metric Discriminatively, with
    Application to Face Verification (Chopra et al., CVPR 2005).

    Args:
        x0 (Variable or array): First samples of shape ``(N, K)``, floating point.
        x1 (Variable or array): Second samples of the same shape and dtype.
        y (Variable or array): Labels of shape ``(N,)``, integer: 1 for similar pairs, 0 for others.
        margin (float): Distance dissimilar pairs should have at least; positive.
        reduce (str): ``'mean'``: the mean of the losses. ``'no'``: the losses of the pairs.

    Returns:
        Variable: The loss, a scalar or of shape ``(N,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``margin`` or ``reduce`` is wrong.

    Example:
        >>> x0 = np.array([[-2.0, 3.0, 0.5], [5.0, 2.0, -0.5]], np.float32)
        >>> x1 = np.array([[-1.0, 3.0, 1.0], [3.5, 0.5, -2.0]], np.float32)
        >>> F.contrastive(x0, x1, np.array([1, 0], np.int32))
        variable(0.3125)
    """
    warn_of_other_labels("contrastive", "y", y, 0)
    return Contrastive(margin, reduce).apply((x0, x1, y))[0]

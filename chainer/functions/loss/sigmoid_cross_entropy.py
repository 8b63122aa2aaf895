"""Sigmoid cross entropy."""

from __future__ import annotations

from chainer.backends.operations.cross_entropies import loss_mean
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils.argument import explained_keywords
from chainer.functions.loss._class_labels import IsLabel, means_of_samples, warn_of_other_labels
from chainer.functions.loss._pair import check_reduce
from chainer.functions.rules import KernelFunction, Ops, Value, Values, expect_label_of_each
from chainer.functions.rules.batching import ReducesLosses


class SigmoidCrossEntropy(ReducesLosses, KernelFunction):
    """Sigmoid activation followed by a cross entropy loss."""

    argument_names = ("x", "t")

    #: Label of elements that are ignored. Subclasses of programs have another one.
    ignore_label = -1

    is_pointwise = True  # where it is not reduced
    type_check_key = ()
    check_type_forward = expect_label_of_each
    retained_inputs = (0, 1)

    def __init__(self, normalize: bool = True, reduce: str = "mean") -> None:
        check_reduce(reduce, "mean", "no")
        self.normalize = normalize
        self.reduce = reduce

    def forward(self, inputs: Arrays) -> Arrays:
        x, t = inputs
        xp = self.xp
        # max(x, 0) - t x + log(1 + exp(-|x|)): nothing overflows. The first difference is exact,
        # so that small losses keep their digits if it is computed before the sum.
        loss = xp.maximum(x, 0) - x * t.astype(x.dtype)
        loss += xp.log1p(xp.exp(-abs(x)))
        loss *= t != self.ignore_label
        if self.reduce == "no":
            return (loss,)
        # None lets the kernel count the labels that are not ignored.
        count = None if self.normalize else len(t) if t.ndim else 1
        loss = xp.asarray(loss)  # NumPy computes a scalar from arrays of no dimensions
        mean = loss_mean.select(loss, t)
        loss, self._coefficient = mean.forward(loss, t, self.ignore_label, count)
        return (loss,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        # Targets are in ascending order: without the scores there are only the labels.
        if target_input_indexes[0] != 0:
            return (None,)
        x, t = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        # The sigmoid by tanh neither overflows nor loses digits.
        gx = self.xp.tanh(x * 0.5)
        gx *= 0.5
        gx += 0.5
        gx -= t.astype(x.dtype)
        gx *= t != self.ignore_label
        gx *= gy if self.reduce == "no" else (gy * self._coefficient).astype(x.dtype)
        return tuple([gx if i == 0 else None for i in target_input_indexes])

    def gradients(self, ops: Ops, targets: Indexes, x: Value, t: Value, gy: Value) -> Values:
        factor = gy * (1 - IsLabel(self.ignore_label, x.dtype).apply((t,))[0])
        if self.reduce == "mean":
            factor = factor * self.xp.asarray(self._coefficient, x.dtype)
        return ((ops.sigmoid(x) - ops.cast(t, x.dtype)) * factor,)

    def reduced(self, losses: Variable, inputs: Variables) -> Variable:
        return means_of_samples(losses, inputs[1], self.ignore_label, self.normalize)


@explained_keywords
def sigmoid_cross_entropy(
    x: VariableLike, t: VariableLike, normalize: bool = True, reduce: str = "mean"
) -> Variable:
    """Computes cross entropy loss for pre-sigmoid activations.

    Args:
        x (Variable or array): Scores: element ``(i, j)`` is the unnormalized log probability of the
            ``j``-th unit at the ``i``-th example. Floating point.
        t (Variable or array): Labels of the same shape, signed integer: 0 or 1, or -1 for elements
            to ignore.
        normalize (bool): If True, the sum of the losses is divided by the number of elements that
            are not ignored; otherwise by the batch size.
        reduce (str): ``'mean'``: the sum, normalized; a scalar. ``'no'``: the elementwise losses;
            zero for ignored elements.

    Returns:
        Variable: The loss.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``reduce`` is something else.

    Note:
        This function is differentiable only by ``x``.

    Example:
        >>> x = np.array([[-2.0, 3.0, 0.5], [5.0, 2.0, -0.5]], np.float32)
        >>> t = np.array([[0, 1, 0], [1, 1, -1]], np.int32)
        >>> F.sigmoid_cross_entropy(x, t)
        variable(0.25664714)
    """
    ignored = SigmoidCrossEntropy.ignore_label
    warn_of_other_labels("sigmoid_cross_entropy", "t", t, ignored)
    return SigmoidCrossEntropy(normalize, reduce).apply((x, t))[0]

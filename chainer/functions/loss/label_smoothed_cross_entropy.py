"""Cross entropy with smoothed labels."""

from __future__ import annotations

from typing import Any

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.activation.log_softmax import log_softmax
from chainer.functions.loss._class_labels import (
    IsLabel,
    OneHotLabels,
    check_labels,
    expect_scores_and_labels,
    mean_of_valid,
)
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules import ComposedFunction


class LabelSmoothedCrossEntropy(ComposedFunction):
    """Cross entropy of a softmax and smoothed labels, for each label.

    Args:
        smoothing (float): Share of the probability that is spread over all classes.
        ignore_label (int): Label to ignore.
    """

    type_check_key = ()
    retained_inputs = (0, 1)

    def __init__(self, smoothing: float, ignore_label: int) -> None:
        self.smoothing = smoothing
        self.ignore_label = ignore_label

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks dtypes and shapes."""
        expect_scores_and_labels(in_types)

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the losses."""
        x, t = inputs
        xp = self.xp
        check_labels(t, x.shape[1], self.ignore_label)
        wide = to_compute_dtype(x)
        shifted = wide - wide.max(axis=1, keepdims=True) if wide.size else wide
        p = xp.exp(shifted)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        self._softmax = p
        losses = xp.log(total[:, 0])
        losses -= (1 - self.smoothing) * shifted[self._of_labels(t)]
        if self.smoothing:
            losses -= self.smoothing / max(x.shape[1], 1) * shifted.sum(axis=1)
        losses *= t != self.ignore_label
        return (losses.astype(x.dtype, copy=False),)

    def _of_labels(self, t: Array) -> tuple[Any, ...]:
        """Returns the index of the elements of ``(N, C, ...)`` that belong to the labels."""
        xp = self.xp
        axes = [
            xp.arange(n).reshape((-1,) + (1,) * (t.ndim - 1 - i)) for i, n in enumerate(t.shape)
        ]
        return axes[0], xp.where(t == self.ignore_label, 0, t), *axes[1:]

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        """Computes the gradients on arrays."""
        if target_input_indexes[0] != 0:
            return (None,)
        x, t = self.retained_input_arrays
        gy = to_compute_dtype(grad_outputs[0]) * (t != self.ignore_label)
        gx = self._softmax - self.smoothing / max(x.shape[1], 1)
        gx[self._of_labels(t)] -= 1 - self.smoothing
        gx *= gy[:, None]
        return (gx.astype(x.dtype, copy=False), None)[: len(target_input_indexes)]

    def compose(self, x: Variable, t: Variable) -> Variables:
        """Computes the losses with differentiable functions."""
        n_classes = x.shape[1]
        log_p = log_softmax(x, axis=1)
        is_class = OneHotLabels(n_classes, self.ignore_label, x.dtype).apply((t,))[0]
        losses = sum_axes(log_p * is_class, axis=1) * (1 - self.smoothing)
        valid = 1.0 - IsLabel(self.ignore_label, x.dtype).apply((t,))[0]
        losses += sum_axes(log_p, axis=1) * valid * (self.smoothing / max(n_classes, 1))
        return (-losses,)


@explained_keywords
def label_smoothed_cross_entropy(
    x: VariableLike,
    t: VariableLike,
    smoothing: float = 0.1,
    ignore_label: int = -1,
    reduce: str = "mean",
) -> Variable:
    """Cross entropy of a softmax and labels that are smoothed.

    The true class has the probability ``1 - smoothing`` instead of 1; then each of the ``C``
    classes gets ``smoothing / C`` added.

    Args:
        x (Variable or array): Unnormalized log probabilities, shape ``(N, C, ...)``, floating
            point.
        t (Variable or array): Labels, shape ``(N, ...)``, signed integer.
        smoothing (float): Share of the probability that is spread over all classes, from 0 to 1.
        ignore_label (int): Label of elements that have no loss.
        reduce (str): ``'mean'``: the mean over the labels that are not ignored; a scalar. ``'no'``:
            the loss of each label, of the shape of ``t``.

    Returns:
        Variable: The loss.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``smoothing`` or ``reduce`` is wrong, or (in debug mode) a label is.

    Note:
        This function is differentiable only by ``x``.

    See: `Rethinking the Inception Architecture for Computer Vision
    <https://arxiv.org/abs/1512.00567>`_

    Example:
        >>> x = np.array([[-1, 0, 1, 2], [2, 0, 1, -1]], np.float32)
        >>> t = np.array([3, 0], np.int32)
        >>> round(float(F.label_smoothed_cross_entropy(x, t).array), 4)
        0.5902
    """
    if not 0.0 <= smoothing <= 1.0:
        raise ValueError(f"smoothing must be from 0 to 1, got {smoothing}")
    check_reduce(reduce, "mean", "no")
    losses = LabelSmoothedCrossEntropy(smoothing, ignore_label).apply((x, t))[0]
    if reduce == "no":
        return losses
    return mean_of_valid(losses, t, ignore_label)

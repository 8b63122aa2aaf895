"""Shared by losses with class labels: checks, nodes for labels, the mean."""

from __future__ import annotations

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.misuse import looks, warn_once
from chainer.core.typing import Array, Arrays, DTypeLike, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.array.cast import cast
from chainer.functions.math.clip import clip
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules.batching import sums_of_samples


def expect_scores_and_labels(in_types: type_check.TypeInfoTuple) -> None:
    """Type check of scores ``(N, C, ...)`` and labels ``(N, ...)``."""
    type_check.expect(in_types.size() == 2)
    x, t = in_types
    type_check.expect(x.dtype.kind == "f", t.dtype.kind == "i", x.ndim >= 2, t.ndim == x.ndim - 1)
    type_check.expect(x.shape[0] == t.shape[0], x.shape[2:] == t.shape[1:])


def check_labels(t: Array, n_classes: int, ignore_label: int) -> None:
    """Raises for labels that are not a class; on a GPU in debug mode only, as it has to wait."""
    if config.debug or isinstance(t, numpy.ndarray):
        valid = ((t >= 0) & (t < n_classes)) | (t == ignore_label)
        if not bool(valid.all()):
            raise ValueError(
                f"each label must be from 0 to {n_classes - 1} or {ignore_label}, "
                f"got {int(t[~valid].reshape(-1)[0])}"
            )


def warn_of_other_labels(function: str, name: str, labels: VariableLike, low: int) -> None:
    """Warns of labels that are not from ``low`` to 1, in the first calls of a function.

    Args:
        function: Name of the function.
        name: Name of the argument.
        labels: The labels. Those on a device are not looked at, as that would wait for it.
        low: Smallest label that there is.
    """
    if not looks(function):
        return
    array = labels.array if isinstance(labels, Variable) else labels
    if isinstance(array, numpy.ndarray) and array.dtype.kind in "iu" and array.size:
        wrong = array[(array < low) | (array > 1)]
        if wrong.size:
            expected = "0 or 1" + (f", or {low}, which is ignored" if low < 0 else "")
            warn_once(
                "labels",
                function,
                f"{name} of {function} should be {expected}, got {int(wrong[0])}",
            )


class OneHotLabels(FunctionNode):
    """Ones where the class is that of the label, zeros elsewhere; without a gradient.

    It is a node of the graph, so that labels stay inputs where the graph is read, as for ONNX.

    Args:
        n_classes (int): Number of classes C.
        ignore_label (int): Label that has zeros only.
        dtype (numpy.dtype): Dtype of the result.
    """

    batch_inputs = (0,)

    def __init__(self, n_classes: int, ignore_label: int, dtype: DTypeLike) -> None:
        self.n_classes = n_classes
        self.ignore_label = ignore_label
        self.dtype = dtype

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes from labels ``(N, ...)`` ones and zeros ``(N, C, ...)``."""
        (t,) = inputs
        classes = self.xp.arange(self.n_classes).reshape((-1,) + (1,) * (t.ndim - 1))
        is_class = (t[:, None] == classes) & (t != self.ignore_label)[:, None]
        return (is_class.astype(self.dtype),)


class IsLabel(FunctionNode):
    """One where a label is a given one, zero elsewhere; without a gradient.

    Args:
        value (int): The label.
        dtype (numpy.dtype): Dtype of the result.
    """

    is_pointwise = True

    def __init__(self, value: int, dtype: DTypeLike) -> None:
        self.value = value
        self.dtype = dtype

    def forward(self, inputs: Arrays) -> Arrays:
        """Compares labels."""
        return ((inputs[0] == self.value).astype(self.dtype),)


def mean_of_valid(losses: Variable, t: VariableLike, ignore_label: int) -> Variable:
    """Returns the mean of losses that are zero where the label is ignored.

    Args:
        losses: The losses, of any shape.
        t: The labels, of the same shape.
        ignore_label: Label to ignore. If there is no other one, the mean is zero.
    """
    wide = cast(losses, "f") if losses.dtype.itemsize < 4 else losses
    ignored = IsLabel(ignore_label, wide.dtype).apply((t,))[0]
    count = clip(sum_axes(1.0 - ignored), 1.0, None)
    return cast(sum_axes(wide) / count, losses.dtype)


def means_of_samples(losses: Variable, t: Variable, ignore_label: int, normalize: bool) -> Variable:
    """Returns the mean of the losses of each sample of a batch of samples.

    Args:
        losses: The losses, zero where the label is ignored; an axis of samples in
            front.
        t: The labels, of the same shape.
        ignore_label: Label to ignore.
        normalize: Whether to divide by the number of other labels, and not by the length of the
            first axis of a sample.
    """
    if not normalize:
        length = t.shape[1] if t.ndim > 1 else 1
        return sums_of_samples(losses, 1 / max(length, 1))
    # Half precision cannot count the labels.
    dtype = numpy.promote_types(losses.dtype, numpy.float32)
    return sums_of_samples(losses, FactorsOfMeans(ignore_label, dtype).apply((t,))[0])


class FactorsOfMeans(FunctionNode):
    """The reciprocal of the number of labels of each sample; without a gradient.

    It is one node, because nodes that count, compare and divide took a tenth of the time of
    :func:`chainer.per_sample_grad`.

    Args:
        ignore_label: Label that does not count. If there is no other one, the factor is one.
        dtype: Dtype of the result.
    """

    type_check_key = ()

    def __init__(self, ignore_label: int, dtype: DTypeLike) -> None:
        self._ignore_label = ignore_label
        self._dtype = dtype

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        (t,) = inputs
        factors = self.apply((t.reshape((size * t.shape[1], *t.shape[2:])),))[0]
        return (factors.reshape((size, t.shape[1])),)

    def forward(self, inputs: Arrays) -> Arrays:
        (t,) = inputs
        counts = (t != self._ignore_label).astype(self._dtype)
        if t.ndim > 1:
            counts = counts.sum(axis=tuple(range(1, t.ndim)))
        return (1 / self.xp.maximum(counts, 1),)

"""Kernel of the softmax cross entropy: loss and gradient without an array of probabilities."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, exact, flat, launch, result, summing
from chainer_numba.softmaxes import COST, POSITIONS, tops_and_sums
from chainer_numba.vector_math import exp_of_negative, maximum

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO = f(0)

_NO_WEIGHTS = numpy.empty(0, f)


@summing
def losses_of_rows(part, start, stop, x, labels, weights, ignored, losses, scores):
    keep = scores.shape[0] > 0
    for row in range(start, stop):
        top = maximum(x[row])
        total = _ZERO
        if keep:
            for k in range(x.shape[1]):
                scores[row, k] = exp_of_negative(x[row, k] - top)
            for k in range(x.shape[1]):
                total += scores[row, k]
            for k in range(x.shape[1]):
                scores[row, k] /= total
        elif labels[row] != ignored:
            for k in range(x.shape[1]):
                total += exp_of_negative(x[row, k] - top)
        losses[row] = _ZERO
        if labels[row] != ignored:
            loss = numpy.log(total) - (x[row, labels[row]] - top)
            losses[row] = loss * weights[labels[row]] if len(weights) else loss


@summing
def gradient_of_rows(part, start, stop, x, labels, factors, gx):
    for row in range(start, stop):
        top = maximum(x[row])
        total = _ZERO
        for k in range(x.shape[1]):
            gx[row, k] = exp_of_negative(x[row, k] - top)
        for k in range(x.shape[1]):
            total += gx[row, k]
        factor = factors[row] / total
        for k in range(x.shape[1]):
            gx[row, k] *= factor
        gx[row, labels[row]] -= factors[row]


@compiled
def gradient_of_scores(part, start, stop, scores, labels, factors, gx):
    for row in range(start, stop):
        for k in range(scores.shape[1]):
            gx[row, k] = scores[row, k] * factors[row]
        gx[row, labels[row]] -= factors[row]


@compiled
def losses_of_positions(part, start, stop, x, labels, weights, ignored, losses, scores):
    keep = scores.shape[0] > 0
    tops, sums = numpy.empty(POSITIONS, f), numpy.empty(POSITIONS, f)
    for sample in range(start, stop):
        for first in range(0, x.shape[2], POSITIONS):
            last = min(first + POSITIONS, x.shape[2])
            tops_and_sums(x, sample, first, last, tops, sums)
            if keep:
                for k in range(x.shape[1]):
                    source, target = x[sample, k, first:last], scores[sample, k, first:last]
                    for i in range(len(source)):
                        target[i] = exp_of_negative(source[i] - tops[i]) / sums[i]
            for i in range(last - first):
                label = labels[sample, first + i]
                losses[sample, first + i] = _ZERO
                if label != ignored:
                    loss = numpy.log(sums[i]) - (x[sample, label, first + i] - tops[i])
                    if len(weights):
                        loss *= weights[label]
                    losses[sample, first + i] = loss


@compiled
def gradient_of_positions(part, start, stop, x, labels, factors, gx):
    tops, sums = numpy.empty(POSITIONS, f), numpy.empty(POSITIONS, f)
    for sample in range(start, stop):
        for first in range(0, x.shape[2], POSITIONS):
            last = min(first + POSITIONS, x.shape[2])
            tops_and_sums(x, sample, first, last, tops, sums)
            for i in range(last - first):
                sums[i] = factors[sample, first + i] / sums[i]
            for k in range(x.shape[1]):
                source, target = x[sample, k, first:last], gx[sample, k, first:last]
                for i in range(len(source)):
                    target[i] = exp_of_negative(source[i] - tops[i]) * sums[i]
            for i in range(first, last):
                gx[sample, labels[sample, i], i] -= factors[sample, i]


@compiled
def gradient_of_scores_of_positions(part, start, stop, scores, labels, factors, gx):
    for sample in range(start, stop):
        for k in range(scores.shape[1]):
            for i in range(scores.shape[2]):
                gx[sample, k, i] = scores[sample, k, i] * factors[sample, i]
        for i in range(scores.shape[2]):
            gx[sample, labels[sample, i], i] -= factors[sample, i]


class SoftmaxCrossEntropyKernel:
    """Kernel of ``softmax_cross_entropy``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(
        self,
        x: Array,
        t: Array,
        class_weight: Array | None,
        ignore_label: int,
        keep_score: bool,
    ) -> tuple[Array, Array | None]:
        if not x.size:
            return numpy.zeros(t.shape, x.dtype), numpy.zeros(x.shape, f) if keep_score else None
        shape, label_shape = _shapes(x)
        labels = _labels(t, x.shape[1], int(ignore_label)).reshape(label_shape)
        losses = numpy.empty(label_shape, f)
        # An array without elements means None: the loop is compiled for one type of argument.
        scores = numpy.empty(shape if keep_score else (0,) * len(shape), f)
        weights = _NO_WEIGHTS if class_weight is None else flat(class_weight)
        loop = losses_of_rows if len(shape) == 2 else losses_of_positions
        arrays = dense(x).reshape(shape), labels, weights, int(ignore_label), losses, scores
        launch(loop, shape[0], x.size * COST, *arrays)
        losses = losses.reshape(t.shape).astype(x.dtype, copy=False)
        return losses, scores.reshape(x.shape) if keep_score else None

    def backward(
        self,
        x: Array | None,
        t: Array,
        class_weight: Array | None,
        ignore_label: int,
        score: Array | None,
        scale: Any,
    ) -> Array:
        source: Array = x if score is None else score
        if not source.size:
            return numpy.zeros_like(source)
        shape, label_shape = _shapes(source)
        ignored = int(ignore_label)
        labels, factors = numpy.empty(t.size, numpy.int64), numpy.empty(t.size, f)
        weights = _NO_WEIGHTS if class_weight is None else flat(class_weight)
        # One factor, or one for each label.
        scales = numpy.array(scale, f, order="C").reshape(-1)
        t, classes = _flat_labels(t), source.shape[1]
        wrong = labels_and_factors(t, classes, ignored, scales, weights, labels, factors)
        if wrong >= 0:
            raise _beyond_classes(t[wrong], classes)
        gx = numpy.empty(shape, f)
        if len(shape) == 2:
            loop = gradient_of_rows if score is None else gradient_of_scores
        else:
            loop = gradient_of_positions if score is None else gradient_of_scores_of_positions
        arrays = dense(source).reshape(shape), labels.reshape(label_shape)
        launch(loop, shape[0], source.size * COST, *arrays, factors.reshape(label_shape), gx)
        return gx if source.dtype == f and len(shape) == 2 == source.ndim else result(gx, source)


def _shapes(x: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the shapes in which loops see the scores and the labels."""
    if x.ndim == 2:  # the usual case, without a product
        return x.shape, x.shape[:1]
    count, classes = x.shape[:2]
    positions = prod(x.shape[2:])
    if positions == 1:
        return (count, classes), (count,)
    return (count, classes, positions), (count, positions)


@exact
def labels_from_start(t, classes, ignored, labels):
    """Writes labels that count from the start; returns the index of a wrong one, or -1."""
    wrong = -1
    for i in range(len(t)):
        label = numpy.int64(t[i])
        if label != ignored:
            if label < -classes or label >= classes:
                wrong = i
            elif label < 0:
                label += classes
        labels[i] = label
    return wrong


@exact
def labels_and_factors(t, classes, ignored, scales, weights, labels, factors):
    """Writes labels that count from the start, and the factor of each gradient.

    Ignored labels become class 0, and a factor of 0. Returns the index of a wrong label, or -1.
    """
    wrong = labels_from_start(t, classes, ignored, labels)
    if wrong >= 0:
        return wrong
    for i in range(len(labels)):
        label = labels[i]
        if label == ignored:
            labels[i] = 0
            factors[i] = scales[i if len(scales) > 1 else 0] * _ZERO
        else:
            factor = scales[i if len(scales) > 1 else 0]
            factors[i] = factor * weights[label] if len(weights) else factor
    return -1


def _labels(t: Array, classes: int, ignored: int) -> Array:
    """Returns labels as a vector; IndexError if one is out of range, as NumPy raises."""
    t = _flat_labels(t)
    labels = numpy.empty(t.size, numpy.int64)
    wrong = labels_from_start(t, classes, ignored, labels)
    if wrong >= 0:
        raise _beyond_classes(t[wrong], classes)
    return labels


def _flat_labels(t: Array) -> Array:
    t = t.reshape(-1)
    # Loops are compiled for contiguous arrays that may be written.
    return t if t.flags.carray else t.copy()


def _beyond_classes(label: Any, classes: int) -> IndexError:
    return IndexError(f"index {label} is out of bounds for axis 1 with size {classes}")

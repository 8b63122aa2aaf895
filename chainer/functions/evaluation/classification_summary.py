"""Precision, recall and F score of classifications."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayModule, Arrays, DTypeLike, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.documentation import SharedSections
from chainer.functions._callable import CallableNode
from chainer.functions.rules import expect_scores_of_labels

_score_sections = SharedSections(
    """
    Args:
        y (Variable or array): Scores of shape ``(N, C, ...)``, floating point.
        t (Variable or array): Labels of shape ``(N, ...)``, integer.
        label_num (int): Number of classes; by default the highest label plus one.
        ignore_label (int): Instances with this label are ignored.

    Returns:
        tuple of Variable: $score and support, each of shape ``(label_num,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If a label is negative and not ``ignore_label``; on a GPU it is not checked.
    """
)


class ClassificationSummary(CallableNode, FunctionNode):
    """Precision, recall, F score and support of each class."""

    argument_names = ("y", "t")

    type_check_key = ()

    def __init__(self, label_num: int | None, beta: float, ignore_label: int) -> None:
        self.label_num = label_num
        self.beta = beta
        self.ignore_label = ignore_label
        if label_num is not None and 0 <= ignore_label < label_num:
            warnings.warn(
                "ignore_label should not be one of the labels: its entries of the summary are "
                "wrong",
                RuntimeWarning,
                stacklevel=5,
            )

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        expect_scores_of_labels(in_types)

    def forward(self, inputs: Arrays) -> Arrays:
        y, t = inputs
        xp = self.xp
        counted = t != self.ignore_label
        labels = t[counted]
        if xp is numpy and (labels < 0).any():  # elsewhere, looking means waiting
            raise ValueError(
                f"labels t must not be negative, but for ignore_label={self.ignore_label}; "
                f"got {labels.min()}"
            )
        predictions = y.argmax(axis=1).reshape(t.shape)[counted]
        if self.label_num is None:
            n = int(t.max()) + 1 if t.size else 0
        else:
            n = self.label_num
        # Three histograms count the true labels, the predictions, and the correct predictions.
        hits = labels[labels == predictions]

        def count(values: Array) -> Any:
            return xp.bincount(values[values < n], minlength=n)[:n] if n else xp.zeros(0, "int64")

        support, relevant, correct = count(labels), count(predictions), count(hits)
        # Counts of large data sets exceed what float32 represents exactly.
        dtype = y.dtype if y.dtype.itemsize > 4 else "float64"
        # Counts of zero make NaN: there is no precision of a class that was never predicted.
        precision = _ratio(xp, correct, relevant, dtype)
        recall = _ratio(xp, correct, support, dtype)
        square = self.beta * self.beta
        denominator = precision * square + recall
        fbeta = _ratio(xp, (1 + square) * precision * recall, denominator, dtype)
        return precision, recall, fbeta, support.astype("int64", copy=False)


def _ratio(xp: ArrayModule, numerator: Array, denominator: Array, dtype: DTypeLike) -> Any:
    # Replaced before the division, which would warn.
    zero = denominator == 0
    ratio = numerator.astype(dtype) / xp.where(zero, 1, denominator)
    return xp.where(zero | (denominator != denominator), float("nan"), ratio)


@explained_keywords
def classification_summary(
    y: VariableLike,
    t: VariableLike,
    label_num: int | None = None,
    beta: float = 1.0,
    ignore_label: int = -1,
) -> tuple[Variable, ...]:
    """Calculates precision, recall, F beta score and support of each class.

    With the numbers of true positives ``tp``, false positives ``fp`` and false negatives ``fn`` of
    a class, its precision is ``tp / (tp + fp)`` and its recall ``tp / (tp + fn)``; the F beta score
    is their weighted harmonic average. Support is the number of instances. Values that are not
    defined are NaN.

    Args:
        y (Variable or array): Scores of shape ``(N, C, ...)``, floating point.
        t (Variable or array): Labels of shape ``(N, ...)``, integers in ``[0, label_num)``.
        label_num (int): Number of classes; by default the highest number in ``t`` plus one, be it
            an ignored one or not.
        beta (float): Weight of recall against precision in the F beta score.
        ignore_label (int): Instances with this label are ignored; it should not be one of the
            classes.

    Returns:
        4-tuple of Variable: Precision, recall, F beta score and support, each of shape
            ``(label_num,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Note:
        This function is not differentiable.

    Example:
        >>> y = np.array([[1., 0.], [0., 1.], [0., 1.]])
        >>> precision, recall, f, support = F.classification_summary(y, np.array([0, 0, 1]))
        >>> precision.array, recall.array
        (array([1. , 0.5]), array([0.5, 1. ]))
    """
    return ClassificationSummary(label_num, beta, ignore_label).apply((y, t))


@_score_sections(score="Precision")
@explained_keywords
def precision(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """Calculates the precision of each class; see :func:`classification_summary`.

    Example:
        >>> y = np.array([[2., 1.], [0., 3.], [4., 1.], [5., 2.]], np.float32)
        >>> t = np.array([0, 1, 1, 0], np.int32)
        >>> precision, support = F.precision(y, t)
        >>> precision.array, support.array
        (array([0.66666667, 1.        ]), array([2, 2]))
    """
    summary = ClassificationSummary(label_num, 1.0, ignore_label).apply((y, t))
    return summary[0], summary[3]


@_score_sections(score="Recall")
@explained_keywords
def recall(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """Calculates the recall of each class; see :func:`classification_summary`.

    Example:
        >>> y = np.array([[2., 1.], [0., 3.], [4., 1.], [5., 2.]], np.float32)
        >>> t = np.array([0, 1, 1, 0], np.int32)
        >>> recall, support = F.recall(y, t)
        >>> recall.array
        array([1. , 0.5])
    """
    summary = ClassificationSummary(label_num, 1.0, ignore_label).apply((y, t))
    return summary[1], summary[3]


def fbeta_score(
    y: VariableLike,
    t: VariableLike,
    label_num: int | None = None,
    beta: float = 1.0,
    ignore_label: int = -1,
) -> tuple[Variable, Variable]:
    """F score and support of each class; see :func:`classification_summary`.

    Args:
        y (~chainer.Variable or array): Scores, shape ``(N, K, ...)``, floating point.
        t (~chainer.Variable or array): Labels, shape ``(N, ...)``, integer.
        label_num (int): Number of classes; inferred if None.
        beta (float): Weight of the recall.
        ignore_label (int): Label that does not count.

    Returns:
        tuple of ~chainer.Variable: F scores and supports.
    """
    # Precision and recall come from the same counts.
    _, _, score, support = classification_summary(y, t, label_num, beta, ignore_label)
    return score, support


@_score_sections(score="F1 score")
@explained_keywords
def f1_score(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """Calculates the F1 score of each class; see :func:`classification_summary`.

    Example:
        >>> y = np.array([[2., 1.], [0., 3.], [4., 1.], [5., 2.]], np.float32)
        >>> t = np.array([0, 1, 1, 0], np.int32)
        >>> score, support = F.f1_score(y, t)
        >>> score.array
        array([0.8       , 0.66666667])
    """
    summary = ClassificationSummary(label_num, 1.0, ignore_label).apply((y, t))
    return summary[2], summary[3]

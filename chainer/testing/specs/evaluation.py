"""Evaluation functions; none of them is differentiable."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _accuracy(y, t, ignore_label=None):
    right = y.argmax(axis=1).reshape(t.shape) == t
    if ignore_label is None:
        return np.float64(right.mean())
    kept = t != ignore_label
    return right[kept].mean() if kept.any() else np.float64(0)


def _binary_accuracy(y, t):
    kept = t != -1
    return ((y >= 0) == t)[kept].mean() if kept.any() else np.float64(0)


def _summary(y, t, label_num=None, beta=1.0, ignore_label=-1):
    kept = t != ignore_label
    predicted, true = y.argmax(axis=1).reshape(t.shape)[kept], t[kept]
    if label_num is None:
        label_num = t.max(initial=-1) + 1
    rows = []
    for label in range(label_num):
        hits = ((predicted == label) & (true == label)).sum()
        precision = hits / (predicted == label).sum()
        recall = hits / (true == label).sum()
        score = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        rows.append((precision, recall, score, (true == label).sum()))
    columns = np.array(rows).reshape(label_num, 4).T
    return (*columns[:3], columns[3].astype(int))


def _summary_samples(draw, **kwargs):
    labels = np.array([0, 1, 1, 0, 2, 1], np.int32)
    return [
        Sample(draw.distinct((6, 3)), labels, **kwargs),
        Sample(draw.distinct((6, 4)), labels, label_num=4, **kwargs),
        Sample(draw.distinct((6, 3)), labels - 1, label="ignored label", **kwargs),
        Sample(draw.distinct((6, 3)), labels, ignore_label=2, **kwargs),
        Sample(draw.distinct((2, 3, 4)), draw.integers((2, 4), 0, 3), label_num=3, **kwargs),
        Sample(np.zeros((0, 3)), np.zeros(0, np.int32), label_num=3, kind="empty", **kwargs),
        Sample(np.zeros((0, 3)), np.zeros(0, np.int32), kind="empty", **kwargs),
    ]


def _r2_score(pred, true, multioutput="uniform_average"):
    residual = ((true - pred) ** 2).sum(axis=0)
    total = ((true - true.mean(axis=0)) ** 2).sum(axis=0)
    scores = np.where(total == 0, 0, 1 - residual / np.where(total == 0, 1, total))
    return scores if multioutput == "raw_values" else scores.mean()


_SUMMARY_ERRORS = [
    invalid_type(
        r"(?s)ClassificationSummary.*in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
        np.ones((2, 3), "f"),
        np.zeros(3, "i"),
    ),
    invalid_type(r"in_types\[1\]\.dtype\.kind == i", np.ones((2, 3), "f"), np.zeros(2, "f")),
]


def _part_of_summary(name, column):
    return OpSpec(
        name,
        reference=lambda *args, **kwargs: [_summary(*args, **kwargs)[i] for i in (column, 3)],
        gradient_order=0,
        output_dtype="float64",
        samples=_summary_samples,
        errors=lambda draw: _SUMMARY_ERRORS,
    )


SPECS = (
    OpSpec(
        "accuracy",
        reference=_accuracy,
        gradient_order=0,
        samples=lambda draw: [
            Sample(draw.distinct((5, 3)), draw.integers((5,), 0, 3)),
            Sample(draw.distinct((5, 3)), draw.integers((5,), 0, 3), ignore_label=1),
            Sample(draw.distinct((2, 3)), np.ones(2, np.int32), ignore_label=1),
            Sample(draw.distinct((3, 4, 2)), draw.integers((3, 2), 0, 4)),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)Accuracy.*in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
                np.ones((2, 3), "f"),
                np.zeros(3, "i"),
            ),
            invalid_type(
                r"in_types\[1\]\.dtype\.kind == i", np.ones((2, 3), "f"), np.zeros(2, "f")
            ),
        ],
    ),
    OpSpec(
        "binary_accuracy",
        reference=_binary_accuracy,
        gradient_order=0,
        samples=lambda draw: [
            Sample(draw((3, 4)), draw.integers((3, 4), -1, 2)),
            Sample(np.array([0.0, -0.0, 1.0]), np.array([1, 1, 0], np.int32), label="zeros"),
            Sample(draw((3,)), np.full(3, -1, np.int32), label="all ignored"),
            Sample(draw(()), np.array(1, np.int32), kind="zero-dim"),
            Sample(np.zeros((0, 3)), np.zeros((0, 3), np.int32), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)BinaryAccuracy.*in_types\[1\]\.shape == in_types\[0\]\.shape",
                np.ones((2, 3), "f"),
                np.zeros((2, 2), "i"),
            ),
            invalid_type(r"in_types\[1\]\.dtype\.kind == i", np.ones(2, "f"), np.zeros(2, "f")),
        ],
    ),
    OpSpec(
        "classification_summary",
        reference=_summary,
        gradient_order=0,
        output_dtype="float64",
        samples=lambda draw: [*_summary_samples(draw), *_summary_samples(draw, beta=2.0)],
        errors=lambda draw: _SUMMARY_ERRORS,
    ),
    _part_of_summary("precision", 0),
    _part_of_summary("recall", 1),
    _part_of_summary("f1_score", 2),
    OpSpec(
        "r2_score",
        reference=_r2_score,
        gradient_order=0,
        samples=lambda draw: [
            Sample(draw((5,)), draw((5,))),
            Sample(draw((5, 3)), draw((5, 3))),
            Sample(draw((5, 3)), draw((5, 3)), multioutput="raw_values"),
            Sample(draw((4, 2, 3)), draw((4, 2, 3)), multioutput="raw_values"),
            Sample(draw((3, 2)), np.ones((3, 2)), multioutput="raw_values", label="constant"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape == in_types\[1\]\.shape",
                np.ones((2, 3), "f"),
                np.ones((2, 2), "f"),
            ),
            invalid_value(
                "invalid multioutput argument",
                np.ones(2, "f"),
                np.ones(2, "f"),
                multioutput="average",
            ),
            ErrorInput(
                np.ones(2, "f"),
                np.ones(2, "f"),
                sample_weight=np.ones(2, "f"),
                error=NotImplementedError,
                match="sample_weight must be None",
            ),
        ],
    ),
)

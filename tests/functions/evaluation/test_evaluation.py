"""Evaluation functions: dtypes, missing classes, warnings, comparison with scikit-learn."""

import numpy as np
import pytest

import chainer
from chainer import functions as F

metrics = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.RandomState(0)
SCORES = RANDOM.randn(40, 4).astype(np.float32)
LABELS = RANDOM.randint(0, 4, 40).astype(np.int32)
PREDICTED = SCORES.argmax(axis=1)
LABELS[::2] = PREDICTED[::2]  # some hits of each class; without any, scikit-learn has other scores


def close(actual, expected, **kwargs):
    np.testing.assert_allclose(getattr(actual, "array", actual), expected, rtol=1e-6, **kwargs)


def test_accuracy_counts():
    y = np.array([[0.1, 0.7, 0.2], [8, 1, 2], [-8, 1, 2], [-8, -1, -2]])
    assert F.accuracy(y, np.array([1, 0, 2, 1])).array == 1
    assert F.accuracy(y, np.array([1, 0, 0, 0])).array == 0.5
    assert F.accuracy(y, np.array([1, 0, 0, 0]), ignore_label=0).array == 1
    assert F.accuracy(y, np.zeros(4, int), ignore_label=0).array == 0
    close(F.accuracy(SCORES, LABELS), metrics.accuracy_score(LABELS, PREDICTED))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtype_of_accuracies(dtype):
    assert F.accuracy(SCORES.astype(dtype), LABELS).dtype == dtype
    assert F.binary_accuracy(SCORES[:, 0].astype(dtype), LABELS % 2).dtype == dtype


def test_binary_accuracy_ignores():
    y = np.array([[-2.0, 0.0], [3.0, -5.0]])
    assert F.binary_accuracy(y, np.array([[0, 1], [1, 0]])).array == 1
    assert F.binary_accuracy(y, np.array([[0, -1], [1, -1]])).array == 1
    assert F.binary_accuracy(y, np.array([[1, -1], [1, -1]])).array == 0.5
    assert F.binary_accuracy(y, np.full((2, 2), -1)).array == 0


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_classification_summary_against_scikit_learn(beta):
    expected = metrics.precision_recall_fscore_support(LABELS, PREDICTED, beta=beta)
    actual = F.classification_summary(SCORES, LABELS, beta=beta)
    for one, other in zip(actual, expected, strict=True):
        close(one, other)
    for name, i in (("precision", 0), ("recall", 1)):
        part, support = getattr(F, name)(SCORES, LABELS)
        close(part, expected[i])
        close(support, expected[3])
    close(F.f1_score(SCORES, LABELS)[0], metrics.f1_score(LABELS, PREDICTED, average=None))


def test_classification_summary_of_missing_classes():
    # Class 0 occurs and is not predicted, class 1 is predicted and does not occur, class 2 neither.
    y = np.array([[0.0, 1, 0], [0, 1, 0]], np.float32)
    precision, recall, score, support = F.classification_summary(y, np.array([0, 0]), label_num=3)
    close(precision, [np.nan, 0, np.nan])
    close(recall, [0, np.nan, np.nan])
    close(score, [np.nan, np.nan, np.nan])
    assert support.array.tolist() == [2, 0, 0]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_dtypes_of_classification_summary(dtype):
    # As in earlier releases, whatever the dtypes of the inputs are.
    outputs = F.classification_summary(SCORES, LABELS.astype(dtype))
    assert [y.dtype for y in outputs] == [np.float64] * 3 + [np.int64]


def test_classification_summary_warns_of_ignored_classes():
    with pytest.warns(RuntimeWarning, match="ignore_label"):
        F.classification_summary(SCORES, LABELS, label_num=4, ignore_label=1)


@pytest.mark.parametrize("multioutput", ["uniform_average", "raw_values"])
def test_r2_score_against_scikit_learn(multioutput):
    predicted, true = SCORES.astype(np.float64), np.roll(SCORES, 1) + SCORES
    expected = metrics.r2_score(true, predicted, multioutput=multioutput)
    close(F.r2_score(predicted, true.astype(np.float64), multioutput=multioutput), expected)


def test_r2_score_of_earlier_releases():
    def numbers(k):
        return ((np.arange(12).reshape(3, 4) * 7 * k) % 11 - 5).astype(np.float32) / 4

    # Made with Chainer 7.8.1; 4.3.1 gives the same.
    close(F.r2_score(numbers(2), numbers(3)), -0.6328125)
    raw = F.r2_score(numbers(2), numbers(3), multioutput="raw_values")
    close(raw, [-0.4999999, -0.9375, -0.9375, -0.15625])


@pytest.mark.parametrize("name", ["accuracy", "binary_accuracy", "r2_score"])
def test_no_gradient(name):
    y = chainer.Variable(SCORES[:, :1] if name != "accuracy" else SCORES)
    t = LABELS if name == "accuracy" else LABELS[:, None] % 2
    value = getattr(F, name)(y, t.astype(np.float32) if name == "r2_score" else t)
    value.backward()
    assert y.grad is None

"""Accuracy of the functions that loops are made of, and their values where they are special."""

from __future__ import annotations

import numpy as np
import pytest

from chainer_numba import vector_math
from chainer_numba.launching import compiled


@compiled
def exp(x, y):
    for i in range(len(x)):
        y[i] = vector_math.exp_of_negative(x[i])


@compiled
def expm1(x, y):
    for i in range(len(x)):
        y[i] = vector_math.expm1_of_negative(x[i])


@compiled
def tanh(x, y):
    for i in range(len(x)):
        y[i] = vector_math.tanh(x[i])


@compiled
def sigmoid(x, y):
    for i in range(len(x)):
        y[i] = vector_math.sigmoid(x[i])


@compiled
def log1p(x, y):
    for i in range(len(x)):
        y[i] = vector_math.log1p_of_fraction(x[i])


def evaluate(loop, x):
    x = np.asarray(x, np.float32)
    y = np.empty_like(x)
    loop(x, y)
    return y


def logistic(x):
    return 1 / (1 + np.exp(-x))


SPREAD = np.concatenate([np.linspace(-80, 80, 40001), np.logspace(-30, 1, 40001)])


@pytest.mark.parametrize(
    ("loop", "formula", "x"),
    [
        (exp, np.exp, -abs(SPREAD)),
        (expm1, np.expm1, -abs(SPREAD)),
        (tanh, np.tanh, np.concatenate([SPREAD, -SPREAD])),
        (sigmoid, logistic, SPREAD),
        (log1p, np.log1p, np.concatenate([np.linspace(0, 1, 40001), np.logspace(-30, 0, 40001)])),
    ],
)
def test_errors_are_below_three_units_in_the_last_place(loop, formula, x):
    x = x.astype(np.float32)
    expected = formula(x.astype(np.float64))
    unit = np.spacing(abs(expected).astype(np.float32))
    assert (abs(evaluate(loop, x) - expected) / unit).max() < 3


def test_special_values():
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(evaluate(exp, [0, -inf, -200, nan]), [1, 0, 0, nan])
    np.testing.assert_array_equal(evaluate(expm1, [0, -inf, -200, nan]), [0, -1, -1, nan])
    np.testing.assert_array_equal(evaluate(sigmoid, [-inf, inf, 0, nan]), [0, 1, 0.5, nan])
    y = evaluate(tanh, [-inf, inf, nan, 0.0, -0.0])
    np.testing.assert_array_equal(y, [-1, 1, nan, 0, 0])
    assert not np.signbit(y[3])
    assert np.signbit(y[4])


@compiled
def top(x, y):
    y[0] = vector_math.maximum(x)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([-3, -1, -2], -1),
        ([0.5, -0.0, 1e-30], 0.5),
        ([-np.inf, -np.inf], -np.inf),
        ([1, np.inf, -np.inf], np.inf),
        ([1, np.nan, np.inf], np.nan),
    ],
)
def test_maximum(x, expected):
    y = np.empty(1, np.float32)
    top(np.asarray(x, np.float32), y)
    np.testing.assert_array_equal(y, [expected])

from __future__ import annotations

import naive
import numpy as np
import pytest

from ideep4py import ops

T, N, SIZE, H = 4, 3, 5, 6


def test_lstm(normal) -> None:
    arguments = [
        normal(*s) / 2 for s in ((T, N, SIZE), (N, H), (N, H), (4, H, SIZE), (4, H, H), (4, H))
    ]
    found = ops.lstm(*arguments)
    expected = naive.lstm(*arguments)
    for array, value in zip((found.y, found.h, found.c), expected, strict=True):
        np.testing.assert_allclose(array, value, rtol=1e-4, atol=1e-5)
    gradients = normal(T, N, H), normal(N, H), normal(N, H)
    back = ops.recurrent_backward(found.saved, *gradients)
    for k, gradient in enumerate(back):

        def function(a, k=k):
            results = naive.lstm(*arguments[:k], a, *arguments[k + 1 :])
            return sum((g * r).sum() for g, r in zip(gradients, results, strict=True))

        numeric = naive.central_difference(function, arguments[k], np.ones(()))
        np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4)


def test_gru(normal) -> None:
    arguments = [normal(*s) / 2 for s in ((T, N, SIZE), (N, H), (3, H, SIZE), (3, H, H), (4, H))]
    found = ops.gru(*arguments)
    assert found.c is None
    for array, value in zip((found.y, found.h), naive.gru(*arguments), strict=True):
        np.testing.assert_allclose(array, value, rtol=1e-4, atol=1e-5)
    gradients = normal(T, N, H), normal(N, H)
    back = ops.recurrent_backward(found.saved, *gradients)
    assert back.c is None
    for k, gradient in enumerate(g for g in back if g is not None):

        def function(a, k=k):
            results = naive.gru(*arguments[:k], a, *arguments[k + 1 :])
            return sum((g * r).sum() for g, r in zip(gradients, results, strict=True))

        numeric = naive.central_difference(function, arguments[k], np.ones(()))
        np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4)


def test_missing_gradients_are_zero(normal) -> None:
    arguments = [normal(*s) / 2 for s in ((T, N, SIZE), (N, H), (3, H, SIZE), (3, H, H), (4, H))]
    saved = ops.gru(*arguments).saved
    gy, zero = normal(T, N, H), np.zeros((N, H), "f")
    for a, b in zip(
        ops.recurrent_backward(saved, gy), ops.recurrent_backward(saved, gy, zero), strict=True
    ):
        if a is not None:
            np.testing.assert_array_equal(a, b)


def test_errors(normal) -> None:
    good = [normal(*s) for s in ((T, N, SIZE), (N, H), (N, H), (4, H, SIZE), (4, H, H), (4, H))]
    for k, shape, message in [
        (0, (T, N), "x must have shape"),
        (1, (N + 1, H), "h must have shape"),
        (2, (N, H + 1), "c must have the shape of h"),
        (3, (4, H, SIZE + 1), "W must have shape"),
        (4, (3, H, H), "U must have shape"),
        (5, (3, H), "b must have"),
    ]:
        with pytest.raises(ValueError, match=message):
            ops.lstm(*good[:k], normal(*shape), *good[k + 1 :])

from __future__ import annotations

import threading

import naive
import numpy as np
import pytest
from conftest import channels_last, elements

from ideep4py import ops

CLOSE = {"rtol": 2e-4, "atol": 2e-4}


@pytest.fixture(params=["blocked", "padded", "dense", "channels_last"])
def x(request, normal, blocked):
    """(2, C, 5, 6): in whole blocks, with a padded block, row-major, or channels last."""
    channels = 5 if request.param == "padded" else 8
    array = blocked(2, channels, 5, 6)
    assert not array.layout.dense
    if request.param == "channels_last":
        return channels_last(array)
    return ops.dense(array) if request.param == "dense" else array


@pytest.mark.parametrize("kind", ["max", "average", "average_exclude_pad"])
@pytest.mark.parametrize(
    ("ksize", "stride", "pad", "after"),
    [
        ((2, 2), (2, 2), (0, 0), (0, 0)),
        ((3, 3), (2, 1), (1, 1), (1, 0)),
        ((2, 3), (1, 3), (0, 1), (1, 2)),
    ],
)
def test_pooling(normal, x, kind, ksize, stride, pad, after) -> None:
    plain = elements(x)
    y, workspace = ops.pooling(x, kind, ksize, stride=stride, pad=pad, pad_after=after)
    expected = naive.pooling(plain, kind, ksize, stride, pad, after)
    np.testing.assert_allclose(elements(y), expected, **CLOSE)
    gy = normal(*y.shape)
    layout = x.layout
    gx = ops.pooling_backward(gy, layout, kind, ksize, stride=stride, pad=pad, workspace=workspace)
    by_x = naive.central_difference(
        lambda a: naive.pooling(a, kind, ksize, stride, pad, after), plain, gy
    )
    assert gx.layout is layout
    np.testing.assert_allclose(elements(gx), by_x, **CLOSE)


def test_pooling_of_other_dimensions(normal) -> None:
    line, volume = normal(2, 3, 6), normal(1, 2, 4, 4, 4)
    np.testing.assert_allclose(
        elements(ops.pooling(line, "max", 2)[0]),
        naive.pooling(line, "max", (2,), (2,), (0,), (0,)),
    )
    np.testing.assert_allclose(
        elements(ops.pooling(volume, "average", 2)[0]),
        naive.pooling(volume, "average", (2,) * 3, (2,) * 3, (0,) * 3, (0,) * 3),
        **CLOSE,
    )


def test_pooling_without_training_saves_nothing(x) -> None:
    assert ops.pooling(x, "max", 2, training=False)[1] is None


def test_pooling_errors(normal) -> None:
    x = normal(1, 8, 4, 4)
    with pytest.raises(ValueError, match="kind must be one of"):
        ops.pooling(x, "median", 2)
    with pytest.raises(ValueError, match="pad must be less than ksize"):
        ops.pooling(x, "max", 2, pad=2)
    with pytest.raises(ValueError, match="workspace must be the one"):
        ops.pooling_backward(normal(1, 8, 2, 2), x, "max", 2)


@pytest.mark.parametrize("relu", [False, True])
def test_batch_normalization(normal, x, relu) -> None:
    plain, n = elements(x), x.shape[1]
    gamma, beta, eps = np.abs(normal(n)) + 0.5, normal(n), 1e-3
    y, mean, var, workspace = ops.batch_normalization(x, gamma, beta, eps, relu=relu)

    def define(a):
        z = naive.batch_normalization(a, gamma, beta, eps)
        return np.maximum(z, 0) if relu else z

    np.testing.assert_allclose(elements(y), define(plain), **CLOSE)
    np.testing.assert_allclose(elements(mean), plain.mean((0, 2, 3)), **CLOSE)
    np.testing.assert_allclose(elements(var), plain.var((0, 2, 3)), **CLOSE)
    gy = normal(*y.shape)
    gx, ggamma, gbeta = ops.batch_normalization_backward(
        x, gy, gamma, mean, var, eps, workspace=workspace
    )
    np.testing.assert_allclose(
        elements(gx), naive.central_difference(define, plain, gy), rtol=1e-3, atol=1e-3
    )
    passed = gy * (define(plain) > 0) if relu else gy
    np.testing.assert_allclose(elements(gbeta), passed.sum((0, 2, 3)), rtol=1e-3, atol=1e-3)
    normalized = naive.batch_normalization(plain, np.ones(n), np.zeros(n), eps)
    np.testing.assert_allclose(
        elements(ggamma), (passed * normalized).sum((0, 2, 3)), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("relu", [False, True])
def test_fixed_batch_normalization(normal, x, relu) -> None:
    n = x.shape[1]
    gamma, beta, mean, var = normal(n), normal(n), normal(n), np.abs(normal(n)) + 0.1
    y = ops.fixed_batch_normalization(x, gamma, beta, mean, var, relu=relu)
    expected = naive.batch_normalization(elements(x), gamma, beta, 2e-5, mean, var)
    np.testing.assert_allclose(
        elements(y), np.maximum(expected, 0) if relu else expected, rtol=1e-3, atol=1e-3
    )
    gy = normal(*x.shape)
    gx, _, gbeta = ops.batch_normalization_backward(x, gy, gamma, mean, var, fixed=True)
    shape = (1, n, 1, 1)
    np.testing.assert_allclose(
        elements(gx), gy * (gamma / np.sqrt(var + 2e-5)).reshape(shape), rtol=1e-3, atol=1e-3
    )
    np.testing.assert_allclose(elements(gbeta), gy.sum((0, 2, 3)), **CLOSE)


def test_batch_normalization_of_rows(normal) -> None:
    x, gamma, beta = normal(6, 5), normal(5), normal(5)
    y = ops.batch_normalization(x, gamma, beta).y
    np.testing.assert_allclose(
        elements(y), naive.batch_normalization(x, gamma, beta, 2e-5), **CLOSE
    )


@pytest.mark.parametrize("n", [3, 5])
def test_local_response_normalization(normal, x, n) -> None:
    plain, parameters = elements(x), (n, 2.0, 0.7, 0.75)
    y, workspace = ops.local_response_normalization(x, *parameters)
    np.testing.assert_allclose(
        elements(y), naive.local_response_normalization(plain, *parameters), **CLOSE
    )
    gy = normal(*x.shape)
    expected = naive.central_difference(
        lambda a: naive.local_response_normalization(a, *parameters), plain, gy
    )
    for saved in (workspace, None):
        gx = ops.local_response_normalization_backward(x, gy, *parameters, workspace=saved)
        np.testing.assert_allclose(elements(gx), expected, **CLOSE)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("log", [False, True])
def test_softmax(normal, x, axis, log) -> None:
    plain = elements(x)

    def define(a):
        e = np.exp(a - a.max(axis, keepdims=True))
        p = e / e.sum(axis, keepdims=True)
        return np.log(p) if log else p

    forward = ops.log_softmax if log else ops.softmax
    backward = ops.log_softmax_backward if log else ops.softmax_backward
    y = forward(x, axis)
    np.testing.assert_allclose(elements(y), define(plain.astype("d")), **CLOSE)
    gy = normal(*x.shape)
    gx = backward(y, gy, axis)
    np.testing.assert_allclose(
        elements(gx), naive.central_difference(define, plain, gy), rtol=1e-3, atol=1e-3
    )


def test_softmax_of_a_missing_axis(normal) -> None:
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        ops.softmax(normal(2, 3), 2)


def normalized(blocked, normal, **options):
    x = blocked(2, 20, 5, 5)
    gamma, beta, mean = normal(3, 20)
    var = abs(normal(20)) + 1
    vectors = [gamma, beta, mean, var]
    expected = np.array(ops.fixed_batch_normalization(x, *vectors))
    return ops.fixed_batch_normalization(x, *vectors, **options), expected, x, vectors


def test_deferred_normalization_is_computed_when_looked_at(blocked, normal) -> None:
    for look in (
        np.asarray,
        elements,
        lambda y: y.copy(),
        lambda y: y + 0,
        lambda y: y.reshape(-1),
    ):
        y, expected, x, vectors = normalized(blocked, normal, defer=True)
        assert (y.shape, y.dtype, y.size, len(y)) == (x.shape, x.dtype, x.size, 2)
        for array in vectors:
            array[...] = 7  # what comes later does not matter
        np.asarray(x)  # nor another layout of x
        np.testing.assert_allclose(np.asarray(look(y)).ravel(), expected.ravel(), rtol=1e-6)
        np.testing.assert_array_equal(y, expected)


def test_deferred_normalization_is_fused_with_relu(blocked, normal) -> None:
    y, expected, x, _ = normalized(blocked, normal, defer=True)
    layout = x.layout
    del x
    z = ops.relu(y)
    assert z.layout is layout
    np.testing.assert_array_equal(elements(z), np.maximum(expected, 0))
    np.testing.assert_allclose(ops.relu(y, 0.5), np.where(expected > 0, expected, expected / 2))
    np.testing.assert_array_equal(ops.relu(y), np.maximum(expected, 0))  # computed by now
    np.testing.assert_array_equal(y, expected)


def test_deferred_normalization_in_many_threads(blocked, normal) -> None:
    y, expected, _, _ = normalized(blocked, normal, defer=True)
    views = []
    threads = [threading.Thread(target=lambda: views.append(np.asarray(y))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    views[0][0, 0, 0, 0] = 99
    assert [view[0, 0, 0, 0] for view in views] == [99] * 8
    np.testing.assert_array_equal(views[1][:, 1:], expected[:, 1:])

"""Normalizations: numbers of Chainer 7, blocks, hard inputs."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends.numpy import blocks


def _run(function, *arrays, gy=None):
    variables = [chainer.Variable(a) for a in arrays]
    y = function(*variables)
    y.grad = np.ones_like(y.array) if gy is None else gy
    y.backward()
    return [y.array, *(v.grad for v in variables)]


def test_chainer_7():
    # Computed by Chainer 7.8.1.
    random = np.random.RandomState(0)
    x = random.uniform(-1, 1, (2, 4, 3)).astype("f")
    gamma = random.uniform(0.5, 1.5, 4).astype("f")
    beta = random.uniform(-1, 1, 4).astype("f")
    gy = random.uniform(-1, 1, x.shape).astype("f")
    link = L.GroupNormalization(2, eps=1e-3, initial_gamma=gamma, initial_beta=beta)
    v = chainer.Variable(x)
    y = link(v)
    link.cleargrads()
    y.grad = gy
    y.backward()
    # fmt: off
    expected_y = [
        -0.1661962, 0.9464291, 0.1945892, -0.6061181, -2.100826, 0.6393151, -1.120316, 0.170012,
        0.3742485, -1.2552621, 1.3493749, -0.327345, 0.2923092, 0.8825463, -0.5281388, -1.1759964,
        -1.3796432, 1.092943, -0.4702219, -0.097528, 0.3431306, 0.7413126, -2.3352852, 0.5715799,
    ]
    expected_gx = [
        -0.6034698, 0.71351, -3.3447194, 1.1268073, 0.6460253, 1.4618466, 1.6277845, 0.3424676,
        -0.6588728, 0.0299239, 1.205919, -2.547222, 0.4746071, 0.1521121, 0.1783814, -0.4877111,
        0.1414639, -0.4588532, 1.5080496, 0.2862813, 1.7036586, -2.5598054, 0.9421597, -1.8803433,
    ]
    # fmt: on
    np.testing.assert_allclose(y.array.ravel(), expected_y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(v.grad.ravel(), expected_gx, rtol=1e-4, atol=1e-5)
    expected_ggamma = [1.1276014, 0.44056, 0.2620033, 1.9547417]
    expected_gbeta = [-0.8176776, -0.6905388, 1.9644969, -2.6657608]
    np.testing.assert_allclose(link.gamma.grad, expected_ggamma, rtol=1e-4)
    np.testing.assert_allclose(link.beta.grad, expected_gbeta, rtol=1e-4)
    assert sorted(name for name, _ in link.namedparams()) == ["/beta", "/gamma"]


@pytest.mark.parametrize("block", [1, 50, 1 << 15])
@pytest.mark.parametrize(
    ("function", "size"),
    [
        (lambda x, g, b: F.group_normalization(x, 2, g, b), 6),
        (F.instance_normalization, 6),
        (lambda x, g, b: F.rms_normalization(x, g) + F.broadcast_to(b, x.shape), 5),
    ],
    ids=["group", "instance", "rms"],
)
def test_blocks(function, size, block, monkeypatch):
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape) for shape in ((7, 6, 4, 5), size, size)]
    gy = random.standard_normal((7, 6, 4, 5))
    monkeypatch.setattr("chainer.backends.numpy.blocks.BLOCK_SIZE", 1 << 30)
    whole = _run(function, *arrays, gy=gy)
    monkeypatch.setattr("chainer.backends.numpy.blocks.BLOCK_SIZE", block)
    for a, b in zip(_run(function, *arrays, gy=gy), whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_block_is_a_reasonable_size():
    assert 1 << 12 <= blocks.BLOCK_SIZE <= 1 << 18


def test_group_normalization_far_from_zero():
    x = np.random.default_rng(0).standard_normal((2, 4, 50))
    gamma, beta = np.ones(4), np.zeros(4)
    expected = _run(lambda x: F.group_normalization(x, 2, gamma, beta), x, gy=x)
    actual = _run(
        lambda x: F.group_normalization(x, 2, gamma.astype("f"), beta.astype("f")),
        (x + 1000).astype("f"),
        gy=x.astype("f"),
    )
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)


def test_half_precision_does_not_overflow():
    x = np.array([[300.0, 400.0] * 50], np.float16)  # the squares are above 65504
    y = F.rms_normalization(x, np.ones(100, np.float16)).array
    np.testing.assert_allclose(y[0, :2], [0.8485, 1.1314], rtol=1e-3)
    y = F.group_normalization(x, 1, np.ones(100, np.float16), np.zeros(100, np.float16)).array
    np.testing.assert_allclose(y[0, :2], [-1, 1], rtol=1e-3)


def test_constant_input_has_finite_gradients():
    for function in (
        lambda x: F.rms_normalization(x, np.ones(4, "f")),
        lambda x: F.instance_normalization(F.reshape(x, (1, 1, -1))),
    ):
        y, gx = _run(function, np.zeros((2, 4), "f"))
        assert not y.any()
        assert np.isfinite(gx).all()


def test_instance_normalization_is_group_normalization_of_single_channels():
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype("f")
    ones, zeros = np.ones(3, "f"), np.zeros(3, "f")
    np.testing.assert_array_equal(
        F.instance_normalization(x).array, F.group_normalization(x, 3, ones, zeros).array
    )

"""Calls that kernels of iDeep compute as one in captured steps."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import intel64
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.kernel import get_operation


def blocked(seed, *shape):
    ops = intel64.ideep.ops
    x = np.random.default_rng(seed).standard_normal(shape, "f")
    eye = np.eye(shape[1], dtype="f").reshape(shape[1], shape[1], 1, 1)
    y = ops.convolution(x, eye)
    assert not y.layout.dense
    return y


def kernel(name, *arrays, **attributes):
    with chainer.using_config("use_ideep", "auto"):
        return get_operation(name).select(*arrays, **attributes)


def elements(value):
    return np.array(chainer.get_device("@intel64").backend.to_host(value))


def normalization(nan=None):
    """Returns the arguments of a batch normalization, with NaN in one of them."""
    x = blocked(0, 3, 16, 4, 5)
    if nan == "x":
        plain = elements(x)
        plain[1, 3, 2, 2] = np.nan
        x = intel64.ideep.ops.reorder(plain, x.layout)
    rng = np.random.default_rng(1)
    gamma, beta = rng.standard_normal((2, 16), "f")
    if nan in ("gamma", "beta"):
        {"gamma": gamma, "beta": beta}[nan][3] = np.nan
    running = np.zeros(16, "f"), np.ones(16, "f")
    return x, gamma, beta, running, 1e-3, 0.9, (0, 2, 3)


@pytest.mark.parametrize("nan", [None, "x", "gamma", "beta"])
def test_batch_normalization_with_relu(nan):
    single, fused = normalization(nan), normalization(nan)
    bn, relu = (
        kernel("batch_normalization", *single[:3], axis=(0, 2, 3), eps=1e-3),
        kernel("relu", single[0]),
    )
    h, mean, inv_std, saved = bn.forward(*single)
    y = relu.forward(h)
    (none, f_mean, f_inv_std, f_saved), f_y = bn.forward_with_relu(fused, (None,))
    assert none is None
    for expected, actual in ((y, f_y), (mean, f_mean), (inv_std, f_inv_std)):
        np.testing.assert_array_equal(elements(actual), elements(expected))
    for expected, actual in zip(single[3], fused[3], strict=True):  # the running statistics
        np.testing.assert_array_equal(actual, expected)
    assert np.isnan(elements(f_y)).any() == (nan is not None)
    gy = blocked(2, 3, 16, 4, 5)
    # The gradient of the fused pass, with NaN where relu is zero, too: 0 * NaN is NaN.
    lost = elements(gy)
    lost[0, 2, 0, 0] = np.nan
    gradients = [gy, intel64.ideep.ops.reorder(lost, gy.layout)]
    for gy in gradients:
        expected = bn.backward(*single[:2], relu.backward(y, gy), mean, inv_std, saved, (0, 2, 3))
        actual = bn.backward(
            *fused[:2], relu.backward(f_y, gy), f_mean, f_inv_std, f_saved, (0, 2, 3)
        )
        for a, b in zip(expected, actual, strict=True):
            np.testing.assert_array_equal(elements(b), elements(a))


@pytest.mark.parametrize("geometry", [((2, 2), (2, 2), (0, 0)), ((3, 3), (1, 2), (1, 1))])
def test_gradient_of_max_pooling_of_relu(geometry):
    ops = intel64.ideep.ops
    geometry = PoolingGeometry(*geometry)
    x = ops.relu(blocked(0, 2, 16, 6, 8))
    out_size = tuple(
        [(n + 2 * p - k) // s + 1 for n, k, s, p in zip((6, 8), *geometry, strict=True)]
    )
    pooling = kernel("max_pooling_nd", x, geometry=geometry, out_size=out_size)
    relu = kernel("relu", x)
    y, residual = pooling.forward(x, out_size, geometry)
    gy = blocked(1, 2, 16, *out_size)
    expected = relu.backward(x, pooling.backward(x, y, gy, residual, geometry))
    none, actual = pooling.backward_with_relu((x, y, gy, residual, geometry), (x, None))
    assert none is None
    np.testing.assert_array_equal(elements(actual), elements(expected))
    assert not pooling.has_output_of_relu((object(), y, gy, residual, geometry), (x, None))


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(3, 16, 3, pad=1)
            self.b1 = L.BatchNormalization(16)
            self.c2 = L.Convolution2D(16, 16, 3, pad=1)
            self.last = L.Linear(16 * 16, 10)

    def forward(self, x, t):
        h = F.relu(self.b1(self.c1(x)))
        h = F.max_pooling_2d(F.relu(self.c2(h)), 2)
        return F.softmax_cross_entropy(self.last(h), t)


@pytest.mark.parametrize("nan", [False, True])
def test_captured_training(nan):
    def losses(captured):
        chainer.utils.seed(0)
        model = Net()
        optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)

        def step(x, t):
            loss = model(x, t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        run = chainer.capture(step, model, optimizer, on_failure="error") if captured else step
        rng, found = np.random.default_rng(0), []
        for i in range(6):
            x, t = rng.standard_normal((4, 3, 8, 8), "f"), rng.integers(0, 10, 4).astype("i")
            if nan and i == 4:
                x[0, 0, 0, 0] = np.nan
            found.append(float(run(x, t).array))
        if captured:
            assert "2 of them fused" in chainer.explain(run)
        return [*found, *[p.array for _, p in sorted(model.namedparams())]]

    with chainer.using_config("accelerate", "auto"), np.errstate(all="ignore"):
        for expected, actual in zip(losses(False), losses(True), strict=True):
            np.testing.assert_array_equal(actual, expected)

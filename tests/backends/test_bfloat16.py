"""Arrays of bfloat16, which is a type of ml_dtypes: training on NumPy and a stand-in for CuPy."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.arrays.extended_dtypes import is_half, kind_of
from chainer.core.utils.type_check import InvalidType
from chainer.training import optimizers as O
from tests.backends.cupy.conftest import emulated, fake_cupy  # noqa: F401

ml_dtypes = pytest.importorskip("ml_dtypes")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def rand(*shape, seed=0):
    return np.random.RandomState(seed).standard_normal(shape).astype("f")


FUNCTIONS = {
    "linear": (lambda x, W, b: F.linear(x, W, b), (4, 6), (5, 6), (5,)),
    "convolution": (
        lambda x, W, b: F.convolution_2d(x, W, b, 1, 1),
        (2, 3, 6, 6),
        (4, 3, 3, 3),
        (4,),
    ),
    "deconvolution": (lambda x, W: F.deconvolution_2d(x, W, None, 2), (2, 3, 4, 4), (3, 2, 3, 3)),
    "matmul": (F.matmul, (4, 6), (6, 3)),
    "stacked matmul": (F.matmul, (2, 4, 6), (2, 6, 3)),
    "shared matmul": (F.matmul, (2, 4, 6), (6, 3)),
    "local_convolution": (F.local_convolution_2d, (2, 3, 5, 5), (4, 3, 3, 3, 3, 3), (4, 3, 3)),
    "negative_sampling": (
        lambda x, W: F.negative_sampling(
            x,
            x.xp.arange(4, dtype="i"),
            W,
            lambda shape: x.xp.arange(np.prod(shape), dtype="i").reshape(shape) % 5,
            2,
        ),
        (4, 6),
        (5, 6),
    ),
    "relu": (F.relu, (4, 6)),
    "leaky_relu": (F.leaky_relu, (4, 6)),
    "tanh": (F.tanh, (4, 6)),
    "sigmoid": (F.sigmoid, (4, 6)),
    "batch_normalization": (F.batch_normalization, (8, 3, 4, 4), (3,), (3,)),
    "layer_normalization": (F.layer_normalization, (8, 6), (6,), (6,)),
    "max_pooling": (lambda x: F.max_pooling_2d(x, 2), (2, 3, 6, 6)),
    "average_pooling": (lambda x: F.average_pooling_2d(x, 2), (2, 3, 6, 6)),
    "mean": (lambda x: F.mean(x, axis=(2, 3)), (2, 3, 6, 6)),
    "arithmetic": (lambda x, y: (x * 0.5 + y) / 2 - x * y, (4, 6), (4, 6)),
    "dense": (lambda x: F.concat([F.reshape(x, (3, 8)), F.reshape(x, (3, 8))]), (4, 6)),
    "cross_entropy": (lambda x: F.softmax_cross_entropy(x, x.xp.arange(4, dtype="i")), (4, 6)),
    "softmax": (F.softmax, (4, 6)),
    "rows": (lambda x: x[[0, 2, 2]], (4, 6)),
    "elements": (lambda x: x[[0, 2, 2], [5, 1, 1]], (4, 6)),
    "lstm": (lambda c, x: F.lstm(c, x)[1], (2, 3), (2, 12)),
}


def compare(name, device):
    """Compares a function of float32 on the host with the same of bfloat16 on a device."""
    function, *shapes = FUNCTIONS[name]
    # The same numbers in both types.
    inputs = [rand(*s, seed=i + 2).astype(BFLOAT16) for i, s in enumerate(shapes)]
    results = []
    for dtype, place in ((np.dtype("f"), "@numpy"), (BFLOAT16, device)):
        place = chainer.get_device(place)
        variables = [chainer.Variable(place.send(x.astype(dtype))) for x in inputs]
        y = function(*variables)
        assert y.dtype == dtype
        gy = rand(*y.shape, seed=1).astype(dtype) if y.ndim else np.ones((), dtype)
        y.grad = place.send(gy)
        y.backward()
        assert all(v.grad.dtype == dtype for v in variables)
        arrays = (y.array, *[v.grad for v in variables])
        results.append([np.asarray(chainer.get_device("@numpy").send(a), "f") for a in arrays])
    for expected, actual in zip(*results, strict=True):
        np.testing.assert_allclose(actual, expected, 0.03, 0.03 * np.abs(expected).max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_like_float32(name):
    compare(name, "@numpy")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("deterministic", [False, True])
def test_on_a_stand_in_for_cupy(fake_cupy, name, deterministic):  # noqa: F811
    with chainer.using_config("cudnn_deterministic", deterministic):
        compare(name, "@cupy:0")


class Network(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 4, 3)
            self.bn = L.BatchNormalization(4)
            self.fc = L.Linear(4 * 3 * 3, 3)

    def forward(self, x, t):
        h = F.max_pooling_2d(F.relu(self.bn(self.conv(x))), 2)
        return F.softmax_cross_entropy(self.fc(h), t)


def train(device, dtype, make):
    np.random.seed(0)
    model = Network()
    for param in model.params():
        param.array = param.array.astype(dtype)
    model.to_device(device)
    optimizer = make().setup(model)
    optimizer.use_fp32_update()
    target = chainer.get_device(device)
    x = target.send(rand(12, 1, 8, 8).astype(dtype))
    t = target.send(np.arange(12, dtype="i") % 3)
    losses = []
    for _ in range(12):
        optimizer.update(model, x, t)
        loss = model(x, t).array
        assert loss.dtype == dtype
        losses.append(float(np.asarray(chainer.get_device("@numpy").send(loss), "f")))
    assert all(param.dtype == dtype for param in model.params())
    return losses


@pytest.mark.parametrize("make", [lambda: O.MomentumSGD(0.05), lambda: O.Adam(0.01)])
def test_training(make):
    expected = train("@numpy", np.dtype("f"), make)
    losses = train("@numpy", BFLOAT16, make)
    assert losses[-1] < losses[0] / 2
    np.testing.assert_allclose(losses, expected, 0.1, 0.05)


def test_training_on_a_stand_in_for_cupy(fake_cupy):  # noqa: F811
    losses = train("@cupy:0", BFLOAT16, lambda: O.Adam(0.01))
    np.testing.assert_allclose(losses, train("@numpy", BFLOAT16, lambda: O.Adam(0.01)), 0.1, 0.05)


def test_other_types_are_refused():
    with pytest.raises(InvalidType, match="Actual: V != f"):
        F.relu(np.zeros(2, ml_dtypes.float8_e4m3fn))
    assert kind_of(BFLOAT16) == "f"
    assert kind_of(np.dtype("V2")) == "V"
    assert all(is_half(np.dtype(dtype)) for dtype in (BFLOAT16, "e"))
    assert not any(is_half(np.dtype(dtype)) for dtype in ("f", "i2", "V2"))


def test_checks_for_nan():
    with chainer.using_config("debug", True), pytest.raises(RuntimeError, match="NaN is detected"):
        F.relu(np.full(2, np.nan, BFLOAT16))

"""Training through the CuPy backend and its kernels, on a stand-in for CuPy."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import chainer
from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels import optimizer_updates as kernels
from chainer.backends.operations.optimizer_updates import SGDScalars, VelocityScalars
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.training import optimizers as O
from chainer.training.optimizers import hooks as H
from tests.backends.cupy import emulator
from tests.backends.cupy.test_kernel_semantics import make_kernel
from tests.training import test_device_steps as steps


@contextlib.contextmanager
def without_random_numbers(model):
    if hasattr(model.predictor, "steps"):
        model.predictor.steps.dropout = 0
    dropout = steps.F.dropout
    steps.F.dropout = lambda x, ratio: x
    try:
        yield
    finally:
        steps.F.dropout = dropout


@pytest.mark.parametrize("network", steps.NETWORKS)
def test_same_as_on_the_host(fake_cupy, network):
    weights = []
    for device in ("@numpy", "@cupy:0"):
        model, optimizer, x, t = steps.training(network, device)
        assert type(x) is (fake_cupy.ndarray if weights else np.ndarray)
        with without_random_numbers(model):
            for _ in range(3):
                optimizer.update(model, x, t)
        model.to_device("@numpy")
        weights.append({name: param.array for name, param in model.namedparams()})
    for name, expected in weights[0].items():
        np.testing.assert_allclose(weights[1][name], expected, 1e-3, 1e-4, err_msg=name)


def test_one_launch_updates_all(fake_cupy, monkeypatch):
    launches = []
    function = kernels.UpdateKernel.function

    def counted(self, name, types):
        launches.append(name)
        return function(self, name, types)

    monkeypatch.setattr(kernels.UpdateKernel, "function", counted)
    model, optimizer, x, t = steps.training("cnn", "@cupy:0")
    optimizer.update(model, x, t)
    assert launches == ["adam"]


def test_kernels_serve_all_operations_of_the_steps(fake_cupy):
    x = fake_cupy.ones((2, 3), "f")
    explanation = chainer.explain("softmax", x, axis=1)
    assert explanation.chosen.provider == "cupy"
    integers = fake_cupy.ones((2, 3), "i")
    assert chainer.explain("relu", integers).chosen.provider == "reference"
    images = fake_cupy.ones((1, 1, 2, 2, 2, 2), "f")
    geometry = PoolingGeometry((1,) * 4, (1,) * 4, (0,) * 4)
    explanation = chainer.explain("max_pooling_nd", images, geometry=geometry, out_size=(1,) * 4)
    assert explanation.chosen.provider == "reference"


@pytest.mark.parametrize(
    ("operation", "arrays", "attributes"),
    [
        ("embedding", ("i", "f"), {}),
        ("scatter_add", ("f", "f"), {}),
        ("roi_pooling_2d", ("f", "f"), {}),
        ("roi_max_pooling_2d", ("f", "f", "i"), {}),
        ("roi_average_pooling_2d", ("f", "f", "i"), {}),
        ("roi_max_align_2d", ("f", "f", "i"), {}),
        ("roi_average_align_2d", ("f", "f", "i"), {}),
        ("spatial_transformer_sampler", ("f", "f"), {}),
    ],
)
def test_deterministic_kernels_are_chosen(fake_cupy, operation, arrays, attributes):
    arrays = [fake_cupy.ones((2, 2, 3, 3), dtype) for dtype in arrays]
    for deterministic, provider in ((False, "cupy"), (True, "cupy-deterministic")):
        with chainer.using_config("cudnn_deterministic", deterministic):
            explanation = chainer.explain(operation, *arrays, **attributes)
        assert explanation.chosen.provider == provider


HOOKS = [
    H.WeightDecay(0.1),
    H.Lasso(0.1),
    H.GradientClipping(0.1),
    H.GradientHardClipping(-1, 2),
    H.GradientLARS(),
]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
def test_hooks(fake_cupy, hook):
    values = []
    for device in ("@numpy", "@cupy:0"):
        model = chainer.Link(a=(2,), b=(3,))
        for param in model.params():
            param.array[...] = 2
            param.grad = np.arange(1, 1 + param.size, dtype="f")
        model.to_device(device)
        optimizer = O.MomentumSGD(0.1).setup(model)
        optimizer.add_hook(hook)
        optimizer.update()
        model.to_device("@numpy")
        values.append([param.array for param in model.params()])
    for one, other in zip(*values, strict=True):
        np.testing.assert_allclose(one, other, 1e-5)


@pytest.fixture
def launches(monkeypatch):
    """Names of the functions that are launched."""
    names = []
    call = emulator.Kernel.__call__
    monkeypatch.setattr(
        emulator.Kernel, "__call__", lambda k, *args: (names.append(k.name), call(k, *args))[1]
    )
    return names


def halves(device):
    model = chainer.Link(**{f"p{i}": (3, i + 1) for i in range(9)})
    for i, param in enumerate(model.params()):
        param.array = np.full(param.shape, i / 8, np.float16)
        param.grad = np.full(param.shape, 64 * (i - 4), np.float16)
        param.loss_scale = 64.0
    model.to_device(device)
    return model


@pytest.mark.parametrize("make", [O.MomentumSGD, O.Adam, lambda: O.Adam(amsgrad=True), O.MSVAG])
@pytest.mark.parametrize("hook", [None, H.WeightDecay(0.1), H.Lasso(0.1)])
def test_updates_in_float32_in_one_launch(fake_cupy, launches, make, hook):
    values = []
    for device in ("@numpy", "@cupy:0"):
        model = halves(device)
        optimizer = make().setup(model)
        optimizer.use_fp32_update()
        if hook is not None:
            optimizer.add_hook(hook)
        for _ in range(3):
            launches.clear()
            for param in model.params():
                param.loss_scale = 64.0
            optimizer.update()
        model.to_device("@numpy")
        values.append([param.array for param in model.params()])
        assert all(param.dtype == np.float16 for param in model.params())
    assert len(launches) == (1 if hook is None else 2)
    for one, other in zip(*values, strict=True):
        np.testing.assert_allclose(one, other, 2e-3, 2e-3)


def test_clipping_in_two_launches(fake_cupy, launches):
    model = halves("@cupy:0")
    optimizer = O.SGD().setup(model)
    H.GradientClipping(1.0)(optimizer)
    assert launches == ["sum_squares", "scale_gradients"]


def test_clipping_of_gradients_whose_squares_overflow(fake_cupy):
    model = chainer.Link(a=(3,), b=(2,))
    model.to_device("@cupy:0")
    for param in model.params():
        param.grad = param.xp.full(param.shape, 2e30, "f")
    H.GradientClipping(1.0)(O.SGD().setup(model))
    model.to_device("@numpy")
    for param in model.params():
        np.testing.assert_allclose(param.grad, 5**-0.5, 1e-5)


class Doubled(H.WeightDecay):
    def __call__(self, rule, param):
        super().__call__(rule, param)
        super().__call__(rule, param)


def test_hooks_that_are_called_in_another_way(fake_cupy, launches):
    model = chainer.Link(a=(2,))
    model.a.array[...], model.a.grad = 1, np.zeros(2, "f")
    model.to_device("@cupy:0")
    optimizer = O.SGD().setup(model)
    optimizer.add_hook(Doubled(0.25))
    optimizer.call_hooks()
    assert launches == []
    assert model.a.grad.get().tolist() == [0.5, 0.5]


def test_many_parameters_in_few_launches(emulated, monkeypatch):
    kernel = make_kernel("sgd_update", emulated)
    launches = []
    function = kernel.function

    def counted(name, types):
        launches.append(name)
        return function(name, types)

    monkeypatch.setattr(kernel, "function", counted)
    params = [np.full(i % 7 * 500, i, "f") for i in range(100)]
    kernel.update_many([(p, np.ones_like(p)) for p in params], SGDScalars(0.5))
    assert len(launches) == 2
    for i, param in enumerate(params):
        assert (param == i - 0.5).all()


def test_parameters_that_do_not_lie_side_by_side(emulated):
    kernel = make_kernel("momentum_sgd_update", emulated)
    param, v = np.zeros((4, 3), "f").T, np.zeros((3, 8), "f")[:, ::2]
    kernel.update_many([(param, np.ones((3, 4), "f"), v)], VelocityScalars(0.5, 0.9))
    assert (param == -0.5).all()
    assert (v == -0.5).all()


@pytest.mark.parametrize("dtype", "efd")
def test_dropout(emulated, dtype):
    kernel = make_kernel("dropout", emulated)
    x = np.random.standard_normal((20, 30)).astype(dtype)
    np.random.seed(3)
    y, mask = kernel.forward(x, 0.25)
    np.random.seed(3)
    kept = np.random.random_sample(x.shape).astype("f") >= 0.25
    np.testing.assert_array_equal(mask, (kept / 0.75).astype(dtype))
    np.testing.assert_allclose(y, x * mask, 1e-3)
    np.testing.assert_allclose(kernel.backward(x, mask), x * mask, 1e-3)


def test_positions_of_64_bits(emulated):
    kernel = make_kernel("softmax", emulated)
    x = np.random.standard_normal((3, 40)).astype("f")
    y, other = np.empty_like(x), kernel.forward(x, 1)
    types = types_for(x.dtype, wide=True)
    kernel.rows("softmax_forward", types, 3, 40, x, y, 3, 40, 1, False)
    np.testing.assert_array_equal(y, other)

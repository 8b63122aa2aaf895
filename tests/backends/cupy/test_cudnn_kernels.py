"""What the kernels of cuDNN hand over, with NumPy in cuDNN's place; see ``fake_cudnn``."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from chainer.backends import cuda
from chainer.backends.cupy.cudnn import layouts, sessions
from chainer.backends.cupy.cudnn.kernels import convolutions, normalizations
from chainer.backends.numpy.kernels.convolutions import ConvolutionNDKernel
from chainer.backends.numpy.kernels.normalizations import BatchNormalizationKernel
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.arrays.backend import get_backend
from chainer.core.config.configuration import config, using_config
from tests.backends.cupy import fake_cudnn
from tests.backends.cupy.cudnn_samples import SAMPLES
from tests.backends.cupy.fake_cudnn import FakeCudnn, FakeCupy

REFERENCE = ConvolutionNDKernel(get_backend("numpy"))

all_samples = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@pytest.fixture
def cupy():
    return FakeCupy()


@pytest.fixture
def cudnn():
    return FakeCudnn()


@pytest.fixture
def kernel(cupy, cudnn, monkeypatch):
    session = sessions.Session(cudnn, cupy, 0)
    monkeypatch.setitem(sessions._sessions.by_device, 0, session)
    return convolutions.ConvolutionNDKernel(SimpleNamespace(xp=cupy))


def draw(shape, dtype, order="C"):
    values = np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype(dtype)
    if order == "last" and len(shape) > 3:
        axes = (0, *range(2, len(shape)), 1)
        values = np.ascontiguousarray(values.transpose(axes)).transpose(np.argsort(axes))
    elif order == "strided":
        wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
        wide[..., ::2] = values
        values = wide[..., ::2]
    return fake_cudnn.placed(values)


def plain(array):
    return np.asarray(array)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("order", ["C", "last", "strided"])
@all_samples
def test_convolution(sample, order, dtype, kernel):
    x, W, gy = (draw(shape, dtype, order) for shape in (sample.x, sample.W, sample.y))
    b = draw(sample.W[:1], dtype)
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype == "float16" else {"rtol": 1e-4, "atol": 1e-5}

    y = kernel.forward(x, W, b, sample.y[2:], sample.geometry)
    expected = REFERENCE.forward(*map(plain, (x, W, b)), sample.y[2:], sample.geometry)
    np.testing.assert_allclose(y, expected, **tolerance)
    assert y.dtype == dtype

    gx = kernel.backward_data(gy, W, None, sample.x[2:], sample.geometry)
    expected = REFERENCE.backward_data(*map(plain, (gy, W)), None, sample.x[2:], sample.geometry)
    np.testing.assert_allclose(gx, expected, **tolerance)
    assert gx.dtype == dtype

    gW = kernel.backward_weight(x, gy, sample.W[2:], np.dtype("float32"), sample.geometry)
    expected = REFERENCE.backward_weight(
        *map(plain, (x, gy)), sample.W[2:], np.dtype("float32"), sample.geometry
    )
    np.testing.assert_allclose(gW, expected, **tolerance)
    assert gW.dtype == "float32"
    assert gW.flags.c_contiguous


@all_samples
def test_bias_of_a_deconvolution(sample, kernel):
    gy, W = draw(sample.y, "float32"), draw(sample.W, "float32")
    b = draw(sample.x[1:2], "float32")
    gx = kernel.backward_data(gy, W, b, sample.x[2:], sample.geometry)
    expected = REFERENCE.backward_data(*map(plain, (gy, W, b)), sample.x[2:], sample.geometry)
    np.testing.assert_allclose(gx, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("running", [None, "float32", "float16"])
@pytest.mark.parametrize("parameters", ["float32", "like x"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("shape", [(3, 8, 4, 5), (2, 16, 2, 3, 2)])
@pytest.mark.parametrize("order", ["last", "strided"])
def test_batch_normalization(order, shape, dtype, parameters, running, kernel, cupy):
    kernel = normalizations.BatchNormalizationKernel(SimpleNamespace(xp=cupy))
    reference = BatchNormalizationKernel(get_backend("numpy"))
    wide = dtype if parameters == "like x" else "float32"
    x, gy = draw(shape, dtype, order), draw(shape, dtype, order)[::-1]
    gamma, beta = draw(shape[1:2], wide) + 2, draw(shape[1:2], wide)
    statistics = [None, None]
    if running:
        statistics = [[np.ones(shape[1], running) * i for i in (2, 3)] for _ in range(2)]
    axis = (0, *range(2, len(shape)))
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if dtype == "float16" else {"rtol": 1e-4, "atol": 1e-5}
    results, expected = [], []
    for found, used, arrays, state in (
        (results, kernel, (x, gamma, beta, gy), statistics[0]),
        (expected, reference, tuple(map(plain, (x, gamma, beta, gy))), statistics[1]),
    ):
        x_, gamma_, beta_, gy_ = arrays
        y, mean, inv_std, residual = used.forward(x_, gamma_, beta_, state, 1e-3, 0.9, axis)
        gradients = used.backward(x_, gamma_, gy_, mean, inv_std, residual, axis)
        found += [y, mean, inv_std, *gradients, *(state or ())]
    for one, other in zip(results, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(plain(one), other, **tolerance)
    assert layouts.layout_of(results[0]) == layouts.layout_of(results[3]) == layouts.LAST


def convolve(kernel, order="C", shape=(2, 4, 6, 5), dtype="float32"):
    x, W = draw(shape, dtype, order), draw((3, shape[1], 3, 3), dtype)
    out_size = tuple(n - 2 for n in shape[2:])
    return kernel.forward(x, W, None, out_size, ConvolutionGeometry((1, 1), (0, 0), (1, 1)))


def test_results_lie_as_the_input_does(kernel):
    assert convolve(kernel).flags.c_contiguous
    assert convolve(kernel, "strided").flags.c_contiguous
    y = convolve(kernel, "last")
    assert not y.flags.c_contiguous
    assert layouts.layout_of(y) == layouts.LAST


@pytest.mark.parametrize("order", ["C", "last"])
def test_arrays_that_lie_well_are_not_copied(order, cupy, monkeypatch):
    x = draw((2, 4, 6, 5), "float32", order)
    monkeypatch.setattr(cupy, "array", None)
    assert layouts.arranged(cupy, x, layouts.layout_of(x)) is x


@pytest.mark.parametrize("order", ["C", "last"])
def test_arrays_at_uneven_addresses_are_copied(order, kernel):
    whole = draw((3, 5, 3, 3), "float16", order)
    x = whole[1:]
    assert x.data.ptr % 16
    W = draw((2, 5, 2, 2), "float16")
    geometry = ConvolutionGeometry((1, 1), (0, 0), (1, 1))
    y = kernel.forward(x, W, None, (2, 2), geometry)
    assert layouts.layout_of(y) == layouts.layout_of(x)
    expected = REFERENCE.forward(plain(x), plain(W), None, (2, 2), geometry)
    np.testing.assert_allclose(y, expected, rtol=1e-2, atol=1e-2)


def test_plans_are_made_once(kernel, cudnn):
    for _ in range(3):
        convolve(kernel)
    assert len(cudnn.graphs) == 1
    assert cudnn.graphs[0].executed == [0, 0, 0]


@pytest.mark.parametrize(
    ("entry", "value"),
    [("cudnn_deterministic", True), ("use_cudnn_tensor_core", "always"), ("autotune", True)],
)
def test_each_configuration_has_its_plans(entry, value, kernel, cudnn, cupy):
    cupy.times = iter([1.0])
    convolve(kernel)
    with using_config(entry, value):
        convolve(kernel)
        convolve(kernel)
    convolve(kernel)
    assert len(cudnn.graphs) == 2


def test_each_shape_dtype_and_layout_has_its_plan(kernel, cudnn):
    for arguments in [
        {},
        {"order": "last"},
        {"shape": (3, 4, 6, 5)},
        {"dtype": "float16"},
        {"order": "strided"},  # copied, then as the first
    ]:
        convolve(kernel, **arguments)
    assert len(cudnn.graphs) == 4


def test_graph_gets_types_and_handle(kernel, cudnn):
    convolve(kernel, dtype="float16")
    convolve(kernel, dtype="float64")
    half, double = (graph.keywords for graph in cudnn.graphs)
    assert half["io_data_type"] == "HALF"
    assert half["compute_data_type"] == half["intermediate_data_type"] == "FLOAT"
    assert {value for key, value in double.items() if key != "handle"} == {"DOUBLE"}


@pytest.mark.parametrize(
    ("dtype", "settings", "excluded"),
    [
        ("float32", {}, ["TENSOR_CORE", "DOWN_CONVERT_INPUTS"]),
        ("float32", {"use_cudnn_tensor_core": "always"}, []),
        ("float32", {"use_cudnn_tensor_core": "never"}, ["TENSOR_CORE"]),
        ("float16", {}, []),
        ("float16", {"use_cudnn_tensor_core": "never"}, ["TENSOR_CORE"]),
        ("float16", {"cudnn_deterministic": True}, ["NONDETERMINISTIC"]),
    ],
)
def test_excluded_engines(dtype, settings, excluded, kernel, cudnn):
    for name, value in settings.items():
        setattr(config, name, value)
    convolve(kernel, dtype=dtype)
    assert cudnn.graphs[-1].excluded == excluded


def test_stream_is_set_when_it_changes(kernel, cudnn, cupy):
    convolve(kernel)
    convolve(kernel)
    cupy.stream = 8
    convolve(kernel)
    assert cudnn.streams == [7, 8]


def plans(monkeypatch, kernel, cupy, *plans):
    """Lets cuDNN have these plans: workspace in bytes, and whether each can be built."""
    cudnn = FakeCudnn(plans)
    monkeypatch.setitem(sessions._sessions.by_device, 0, sessions.Session(cudnn, cupy, 0))
    return cudnn


def test_first_plan_that_works_within_the_workspace(kernel, cupy, monkeypatch):
    cudnn = plans(monkeypatch, kernel, cupy, (0, False), (100 << 20, True), (300, True), (0, True))
    convolve(kernel)
    assert cudnn.graphs[0].executed == [2]
    assert cupy.allocated == [300]


def test_smallest_workspace_where_all_need_more(kernel, cupy, monkeypatch):
    cudnn = plans(monkeypatch, kernel, cupy, (900, True), (300, True), (600, True))
    monkeypatch.setattr(cuda, "_max_workspace_size", 100)
    convolve(kernel)
    assert cudnn.graphs[0].executed == [1]


def test_a_limit_that_was_set_holds(kernel, cupy, monkeypatch):
    cudnn = plans(monkeypatch, kernel, cupy, (900, True), (300, True), (0, True))
    limit = cuda.get_max_workspace_size()
    try:
        cuda.set_max_workspace_size(299)
        convolve(kernel)
        cuda.set_max_workspace_size(300)
        convolve(kernel)
    finally:
        cuda.set_max_workspace_size(limit)
    convolve(kernel)
    assert [graph.executed for graph in cudnn.graphs] == [[2], [1], [0]]


def test_room_for_copies_where_no_limit_was_set():
    shape = (64, 64, 56, 56)
    signature = convolutions.signature_of(
        convolutions.FORWARD,
        (shape, (64, 64, 1, 1), shape),
        "float16",
        layouts.FIRST,
        ConvolutionGeometry((1, 1), (0, 0), (1, 1)),
    )
    copies = 2 * 2 * 64 * 64 * 56 * 56
    assert sessions.workspace_for(signature, 8 << 20) > copies
    assert sessions.workspace_for(signature, 1 << 20) == 1 << 20


def test_autotune_takes_the_fastest(kernel, cupy, monkeypatch):
    cudnn = plans(
        monkeypatch, kernel, cupy, (0, True), (0, False), (8, True), (0, True), (1 << 40, True)
    )
    cupy.times = iter([3.0, 1.0, 2.0])
    with using_config("autotune", True):
        convolve(kernel)
        graph = cudnn.graphs[0]
        assert set(graph.executed[:-1]) == {0, 2, 3}
        assert graph.executed[-1] == 2
        before = len(graph.executed)
        convolve(kernel)
    assert len(graph.executed) == before + 1
    assert len(cudnn.graphs) == 1


def test_no_plan(kernel, cupy, monkeypatch):
    plans(monkeypatch, kernel, cupy, (0, False), (0, False))
    with pytest.raises(RuntimeError) as caught:
        convolve(kernel)
    message = str(caught.value)
    assert "cuDNN 91000 has no plan for convolution(float32[2, 4, 6, 5]/[120, 30, 5, 1]" in message
    assert "engine 0 does not do that; engine 1 does not do that" in message
    assert "second line" not in message


def test_failure_names_the_call(kernel, cudnn):
    convolve(kernel)
    cudnn.graphs[0].fails = "CUDNN_STATUS_EXECUTION_FAILED"
    with pytest.raises(
        RuntimeError, match=r"cuDNN failed in convolution\(float32\[2, 4, 6, 5\].*EXECUTION_FAILED"
    ):
        convolve(kernel)


def test_handles_are_destroyed_with_their_session(cudnn, cupy):
    session = sessions.Session(cudnn, cupy, 0)
    assert not cudnn.destroyed
    del session
    assert len(cudnn.destroyed) == 1

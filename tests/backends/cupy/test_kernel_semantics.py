"""The CUDA kernels, compiled by a C++ compiler, compute what the reference kernels compute."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from chainer.backends.cupy.kernels import _BY_OPERATION, _DETERMINISTIC
from chainer.backends.cupy.kernels import _base as base
from chainer.backends.cupy.kernels._windows import window_record
from chainer.backends.operations.response_normalizations import ResponseParameters
from chainer.backends.operations.roi_poolings import RegionGrid, Regions
from chainer.core.arrays.backend import get_backend
from chainer.core.arrays.kernel import get_operation
from tests.backends.cupy import emulator
from tests.backends.cupy.sample_table import WITHOUT_SAMPLES
from tests.backends.cupy.samples import SAMPLES

TOLERANCE = {"e": 4e-3, "f": 3e-5, "d": 1e-10}
CASES = [(name, dtype) for name, entry in SAMPLES.items() for dtype in entry[3]]


class Maker:
    """Makes arrays; ``host`` gives them back as NumPy arrays."""

    def __init__(self, dtype):
        self._dtype = dtype

    def __call__(self, values, dtype=None):
        return np.asarray(values).astype(dtype or self._dtype)

    def host(self, array):
        return array


def make_kernel(operation, backend, table=_BY_OPERATION):
    module, _, name = table[operation][0].partition(":")
    return getattr(importlib.import_module(f"chainer.backends.cupy.kernels.{module}"), name)(
        backend
    )


def run(function, kernel, dtype, values):
    np.random.seed(0)
    return list(function(kernel, Maker(dtype), dtype, *values))


#: Operations whose kernels choose the dtype of the results after the first: the score, which only
#: their own backward reads, and the gradients, which have the dtype of the score.
_OWN_DTYPE = {"softmax_cross_entropy"}


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_same_as_the_reference(emulated, name, dtype):
    operation, function, values, _ = SAMPLES[name]
    reference = get_operation(operation).reference_for(get_backend("numpy"))
    expected = run(function, reference, dtype, values)
    actual = run(function, make_kernel(operation, emulated), dtype, values)
    assert len(actual) == len(expected)
    tolerance = TOLERANCE[dtype]
    for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
        assert one.shape == other.shape, i
        own_dtype = (operation in _OWN_DTYPE and i > 0) or one.dtype.kind == other.dtype.kind == "i"
        assert one.dtype == other.dtype or own_dtype, i
        np.testing.assert_allclose(one, other, tolerance, tolerance, err_msg=f"result {i}")


@pytest.mark.parametrize(
    ("name", "dtype"), [(n, d) for n, d in CASES if SAMPLES[n][0] in _DETERMINISTIC]
)
def test_deterministic_kernels(emulated, name, dtype):
    operation, function, values, _ = SAMPLES[name]
    reference = get_operation(operation).reference_for(get_backend("numpy"))
    expected = run(function, reference, dtype, values)
    actual = run(function, make_kernel(operation, emulated, _DETERMINISTIC), dtype, values)
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == other.dtype or one.dtype.kind == other.dtype.kind == "i"
        np.testing.assert_allclose(one, other, TOLERANCE[dtype], TOLERANCE[dtype])


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith("-0")])
def test_positions_of_64_bits(emulated, name, monkeypatch):
    """As for arrays of more than 2**30 elements."""
    monkeypatch.setattr(base, "_WIDE", 0)
    operation, function, values, dtypes = SAMPLES[name]
    dtype = "f" if "f" in dtypes else dtypes[0]
    reference = get_operation(operation).reference_for(get_backend("numpy"))
    expected = run(function, reference, dtype, values)
    actual = run(function, deterministic_kernel(operation, emulated), dtype, values)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, TOLERANCE[dtype], TOLERANCE[dtype])


@pytest.mark.slow
def test_positions_in_an_image_of_more_than_2_31_pixels(emulated):
    # 4 GiB of memory that the system does not supply before a page is written. The coordinates are
    # those that float16 can hold.
    height, width = 65504, 32800
    x = np.zeros((1, 1, height, width), "e")
    x[0, 0, -1, -1] = 1
    rois = np.array([[height - 32, width - 32, height, width]], "e")
    regions = Regions(rois, np.zeros(1, "i"), RegionGrid((1, 1), 1.0))
    kernel = make_kernel("roi_max_pooling_2d", emulated)
    y, positions = kernel.forward(x, regions)
    assert y.item() == 1
    assert positions.item() == x.size - 1
    assert kernel.gather(x, positions, regions).item() == 1


@pytest.mark.parametrize("first", [0, base._WIDE])
def test_chosen_positions_of_another_width(emulated, first, monkeypatch):
    """A derivative may be of more elements than the call before it."""
    _, function, values, _ = SAMPLES["roi_max_pooling_2d-largest_pixels-0"]
    reference = get_operation("roi_max_pooling_2d").reference_for(get_backend("numpy"))
    expected = run(function, reference, "f", values)
    kernel = make_kernel("roi_max_pooling_2d", emulated)
    forward = kernel.forward
    monkeypatch.setattr(base, "_WIDE", first)

    def forward_first(x, regions):
        y, positions = forward(x, regions)
        assert positions.dtype == (np.int32 if first else np.int64)
        monkeypatch.setattr(base, "_WIDE", 0 if first else 1 << 30)
        return y, positions

    monkeypatch.setattr(kernel, "forward", forward_first)
    actual = run(function, kernel, "f", values)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, TOLERANCE["f"], TOLERANCE["f"])


def test_windows_of_more_elements_than_32_bits_count_are_refused():
    ones = (1, 1)
    with pytest.raises(OverflowError, match=r"ksize: .* at most 2147483647 elements"):
        window_record((1 << 16, 1 << 16), ones, (1 << 16, 1 << 15), ones, (0, 0))
    assert window_record((1 << 16, 1 << 16), ones, (1 << 15, 1 << 15), ones, (0, 0)) is not None


def many_embeddings(kernel, a):
    x, gy = a(np.random.randint(0, 3, (400,)), "i"), a(np.random.standard_normal((400, 2)))
    return [kernel.backward(x, gy, (3, 2), None)]


def many_positions(kernel, a):
    rows, elements = a(np.zeros((3, 2))), a(np.zeros((3, 2)))
    x, y = (a(np.random.randint(0, n, (400,)), "l") for n in (3, 2))
    kernel.add_at(rows, x, a(np.random.standard_normal((400, 2))))
    kernel.add_at(elements, (x, y), a(np.random.standard_normal(400)))
    return [rows, elements]


def many_regions(kernel, a):
    x = a(np.random.standard_normal((1, 2, 4, 4)))
    rois = a(np.tile(np.array([[0, 0, 0, 3, 3]]), (60, 1)))
    y, indices = kernel.forward(x, rois, (2, 2), 1.0)
    gy = a(np.random.standard_normal(y.shape))
    return [kernel.backward(gy, indices, rois, (4, 4), 1)]


def many_overlaps(ratio=(None, None)):
    grid = RegionGrid((2, 2), 1.0, ratio)

    def sums(kernel, a):
        x, shape = a(np.random.standard_normal((1, 2, 4, 4))), (1, 2, 4, 4)
        rois = a(np.tile(np.array([[0, 0, 4, 3.5]]), (60, 1)))
        images = a(np.zeros(60), "i")
        regions = Regions(rois, images, grid)
        y, chosen = kernel.forward(x, regions)
        gy = a(np.random.standard_normal(y.shape))
        return [kernel.backward(gy, chosen, regions, shape)]

    return sums


def many_points(kernel, a):
    x, grid = np.random.standard_normal((1, 2, 3, 3)), np.random.uniform(-1.2, 1.2, (1, 2, 300))
    gy = np.random.standard_normal((1, 2, 300))
    return kernel.backward(*map(a, (x, grid, gy)))


def many_labels(kernel, a):
    x, t = a(np.random.standard_normal((30, 2, 3))), a(np.ones((2, 10)), "i")
    lengths = a(np.array([30, 28]), "l"), a(np.array([10, 9]), "l")
    losses, saved = kernel.forward(x, t, 0, *lengths)
    return [losses, kernel.backward(x, t, 0, *lengths, saved, losses)]


#: Operation -> function that makes sums of many summands.
SUMS = {
    "embedding": many_embeddings,
    "scatter_add": many_positions,
    "roi_pooling_2d": many_regions,
    "roi_max_pooling_2d": many_overlaps(),
    "roi_average_pooling_2d": many_overlaps(),
    "roi_max_align_2d": many_overlaps((2, 2)),
    "roi_average_align_2d": many_overlaps((2, 2)),
    "spatial_transformer_sampler": many_points,
    "connectionist_temporal_classification": many_labels,
}


def deterministic_kernel(operation, backend):
    table = _DETERMINISTIC if operation in _DETERMINISTIC else _BY_OPERATION
    return make_kernel(operation, backend, table)


def same_in_any_order(function, kernel, monkeypatch):
    results = []
    for backwards in (False, True):
        monkeypatch.setattr(emulator.Kernel, "reversed", backwards)
        np.random.seed(0)
        results.append(function(kernel, Maker("f")))
    return all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("operation", SUMS)
def test_order_of_threads(emulated, operation, monkeypatch):
    kernel = deterministic_kernel(operation, emulated)
    assert same_in_any_order(SUMS[operation], kernel, monkeypatch)


#: Left out is what CuPy adds itself, which the emulation does in order.
@pytest.mark.parametrize("operation", [name for name in _DETERMINISTIC if name != "scatter_add"])
def test_order_of_threads_matters_otherwise(emulated, operation, monkeypatch):
    kernel = make_kernel(operation, emulated)
    assert not same_in_any_order(SUMS[operation], kernel, monkeypatch)


def test_sums_are_tried_of_all_that_have_deterministic_kernels():
    assert set(_DETERMINISTIC) <= set(SUMS)


@pytest.mark.parametrize("name", [name for name in SAMPLES if "f" in SAMPLES[name][3]])
def test_no_atomic_additions_where_deterministic_ones_are_asked_for(emulated, name, monkeypatch):
    operation, function, values, _ = SAMPLES[name]
    monkeypatch.setattr(emulator.Kernel, "atomics", 0)
    run(function, deterministic_kernel(operation, emulated), "f", values)
    assert emulator.Kernel.atomics == 0


def test_atomic_additions_are_seen(emulated, monkeypatch):
    monkeypatch.setattr(emulator.Kernel, "atomics", 0)
    many_embeddings(make_kernel("embedding", emulated), Maker("f"))
    assert emulator.Kernel.atomics == 800


def test_sums_of_halves_are_made_in_float32(emulated):
    """2048 is the first number that does not change when one is added to it in float16."""
    for table in (_BY_OPERATION, _DETERMINISTIC):
        kernel = make_kernel("scatter_add", emulated, table)
        a = np.zeros((2, 1), np.float16)
        kernel.add_at(a, np.zeros(4096, "i"), np.ones((4096, 1), np.float16))
        assert a.tolist() == [[4096], [0]]


def test_numbers_of_numpy(emulated):
    """They are passed to CUDA with other bytes than those of Python."""
    x, one, two = np.ones((2, 3, 4, 4), "f"), np.int32(1), np.int32(2)
    half = np.float32(0.5)
    for name, args in (
        ("softplus", (half,)),
        ("leaky_relu", (half,)),
        ("elu", (half,)),
        ("clipped_relu", (half,)),
        ("dropout", (half,)),
        ("softmax", (one,)),
        ("crelu", (one,)),
    ):
        expected = make_kernel(name, emulated).forward(x, *[arg.item() for arg in args])
        np.random.seed(0)
        actual = make_kernel(name, emulated).forward(x, *args)
        if name != "dropout":
            np.testing.assert_array_equal(actual, expected)
    kernel = make_kernel("local_response_normalization", emulated)
    expected, _ = kernel.forward(x, ResponseParameters(2, 2, 0.5, 0.5))
    actual, _ = kernel.forward(x, ResponseParameters(two, two, half, half))
    np.testing.assert_array_equal(actual, expected)
    t, rois = np.zeros((2, 4, 4), "i"), np.zeros((1, 5), "f")
    kernel = make_kernel("softmax_cross_entropy", emulated)
    _, score = kernel.forward(x, t, None, -one, True)
    kernel.backward(x, t, None, -one, score, 0.5)
    make_kernel("roi_pooling_2d", emulated).forward(x, rois, (two, two), half)
    lengths = np.full(3, 2)
    kernel = make_kernel("connectionist_temporal_classification", emulated)
    kernel.forward(x[..., 0].copy(), np.ones((3, 1), "i"), two, lengths, np.ones(3, "l"))
    kernel = make_kernel("embedding", emulated)
    kernel.forward(t, x[0, 0], one)
    kernel = make_kernel("layer_normalization", emulated)
    kernel.forward(x.reshape(6, 16), np.ones(16, "f"), np.ones(16, "f"), half)
    kernel = make_kernel("batch_normalization", emulated)
    gamma, beta, mean, var = (np.ones(3, "f") for _ in range(4))
    kernel.forward(x, gamma, beta, (mean, var), half, half, (0, 2, 3))


def test_every_kernel_has_a_sample():
    named = {entry[0] for entry in SAMPLES.values()}
    assert set(_BY_OPERATION) - named == WITHOUT_SAMPLES


@pytest.mark.parametrize(
    ("t", "steps", "length"), [(5, 3, 2), (-1, 3, 2), (1, 4, 2), (1, -1, 2), (1, 3, 9)]
)
def test_values_out_of_range_are_not_read(emulated, t, steps, length):
    """The host does not check values on a device, so the kernel must not read out of bounds."""
    kernel = make_kernel("connectionist_temporal_classification", emulated)
    x = np.zeros((3, 1, 5), "f")
    labels = np.array([[1, t]], "i")
    lengths = np.array([steps], "i"), np.array([length], "i")
    losses, saved = kernel.forward(x, labels, 0, *lengths)
    assert np.isnan(losses).all()
    gx = kernel.backward(x, labels, 0, *lengths, saved, np.ones(1, "f"))
    assert not gx.any()


def test_labels_out_of_range_are_not_read(emulated):
    kernel = make_kernel("softmax_cross_entropy", emulated)
    x, t = np.zeros((3, 4), "f"), np.array([4, -5, 1], "i")
    losses, _ = kernel.forward(x, t, None, -1, True)
    assert np.isnan(losses).tolist() == [True, True, False]
    kernel = make_kernel("embedding", emulated)
    y = kernel.forward(np.array([4, -5, 1], "i"), x[:, :2].repeat(2, 0)[:4], None)
    assert np.isnan(y).any(axis=1).tolist() == [True, True, False]
    gW = kernel.backward(np.array([4, -5, 1], "i"), np.ones((3, 2), "f"), (4, 2), None)
    np.testing.assert_array_equal(gW, [[0, 0], [1, 1], [0, 0], [0, 0]])


def test_regions_out_of_range_are_not_read(emulated):
    nan = float("nan")
    images = [-1, 2, nan, np.inf, 1]
    rois = np.array([[image, 0, 0, 3, 3] for image in images] + [[1, nan, 0, nan, 3]], "f")
    x = np.arange(32, dtype="f").reshape(2, 1, 4, 4)
    for table in (_BY_OPERATION, _DETERMINISTIC):
        kernel = make_kernel("roi_pooling_2d", emulated, table)
        y, indices = kernel.forward(x, rois, (1, 1), 1.0)
        assert np.isnan(y.ravel()).tolist() == [True] * 4 + [False] * 2
        assert y.ravel()[4] == 31
        assert (indices.ravel()[:4] == -1).all()
        gx = kernel.backward(np.ones_like(y), indices, rois, (4, 4), 2)
        assert gx[0].sum() == 0
        assert gx[1, 0, 3, 3] == 1


@pytest.mark.parametrize("table", [_BY_OPERATION, _DETERMINISTIC])
@pytest.mark.parametrize("name", ["max_pooling", "average_pooling", "max_align", "average_align"])
def test_images_of_regions_out_of_range_are_not_read(emulated, name, table):
    kernel = make_kernel(f"roi_{name}_2d", emulated, table)
    rois, images = np.tile(np.array([[0, 0, 3, 3]], "f"), (4, 1)), np.array([2, -3, -1, 1])
    x = np.arange(32, dtype="f").reshape(2, 1, 4, 4)
    grid = RegionGrid((1, 1), 1.0, (2, 2) if "align" in name else (None, None))
    regions = Regions(rois, images, grid)
    y, chosen = kernel.forward(x, regions)
    assert np.isnan(y.ravel()).tolist() == [True, True, False, False]
    assert y[2] == y[3]
    gx = kernel.backward(np.ones_like(y), chosen, regions, x.shape)
    assert gx[0].sum() == 0
    np.testing.assert_allclose(gx[1].sum(), 2, rtol=1e-5)

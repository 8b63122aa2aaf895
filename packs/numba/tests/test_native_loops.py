"""Native loops: every bit is NumPy's."""

from __future__ import annotations

import ctypes

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer.backends.operations.loops import Loop, Sum
from chainer.kernel import get_operation

from chainer_numba import loops, native_code
from chainer_numba.loops import NativeLoopsKernel


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "chainer_loops"


def run(parts, arrays):
    """Compiles and runs loops; returns the errors."""
    address = NativeLoopsKernel(None).compile(parts)
    table = np.array([a.__array_interface__["data"][0] for a in arrays], np.uintp)
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)
    return function(table.ctypes.data)


def numbers(shape, dtype, seed=0):
    """Returns numbers of all sizes and all special ones, each beside each over several seeds."""
    rng = np.random.RandomState(seed)
    tiny = np.finfo(dtype).smallest_subnormal
    specials = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny * 100, np.finfo(dtype).max]
    array = (rng.randn(*shape) * 10.0 ** rng.randint(-6, 6, shape)).astype(dtype)
    mask = rng.rand(*shape) < 0.4
    array[mask] = rng.choice(specials, mask.sum())
    return array


def assert_same_bits(found, expected):
    np.testing.assert_array_equal(found, expected)
    number = ~np.isnan(expected)  # processors choose the sign of NaN
    assert (np.signbit(found) == np.signbit(expected))[number].all()


OPERATIONS = {
    **{name: 2 for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")},
    **{name: 1 for name in ("sqrt", "negative", "positive", "absolute")},
}
COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPERATIONS)
@np.errstate(all="ignore")
def test_operations(name, dtype):
    count, size = OPERATIONS[name], np.dtype(dtype).itemsize
    for seed in range(5):
        arrays = [numbers((301,), dtype, seed + i) for i in range(count)]
        y = np.empty(301, dtype)
        steps = ((name, tuple(range(count))),)
        loop = Loop(
            (301,), dtype, ((size,),) * (count + 1), tuple(range(count)), steps, ((count, count),)
        )
        run((loop,), [*arrays, y])
        assert_same_bits(y, getattr(np, name)(*arrays))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", COMPARISONS)
@np.errstate(all="ignore")
def test_comparisons(name, dtype):
    """As arrays of truth values, as numbers, and as what decides."""
    size = np.dtype(dtype).itemsize
    for seed in range(5):
        x, y = numbers((301,), dtype, seed), numbers((301,), dtype, seed + 50)
        mask, product, chosen = np.empty(301, bool), np.empty_like(x), np.empty_like(x)
        steps = (
            *((name, (0, 1)), ("multiply", (2, 0)), ("where", (2, 1, 0))),
            ("positive", (2,)),
        )
        as_number = np.empty_like(x)
        loop = Loop(
            *((301,), dtype, ((size,), (size,), (1,), (size,), (size,), (size,)), (0, 1), steps),
            *(((2, 2), (3, 3), (4, 4), (5, 5)), (2,)),
        )
        run((loop,), [x, y, mask, product, chosen, as_number])
        expected = getattr(np, name)(x, y)
        np.testing.assert_array_equal(mask.view("u1"), expected.view("u1"))
        assert_same_bits(product, expected * x)
        assert_same_bits(chosen, np.where(expected, y, x))
        assert_same_bits(as_number, expected.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("repeats", [False, True])
def test_masks_are_read(dtype, repeats):
    """Rows of masks, and one truth value for a row; other bytes than 0 are true."""
    size, rng = np.dtype(dtype).itemsize, np.random.RandomState(0)
    x = rng.randn(7, 37).astype(dtype)
    mask = rng.randint(0, 3, (7, 1) if repeats else (7, 37)).astype("u1")
    y = np.empty_like(x)
    strides = ((x.strides), (1, 0) if repeats else (37, 1), x.strides)
    loop = Loop(x.shape, dtype, strides, (0, 1), (("subtract", (0, 1)),), ((2, 2),), masks=(1,))
    run((loop,), [x, mask, y])
    assert_same_bits(y, x - (mask != 0))
    assert size == x.itemsize


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_of_different_signs(dtype):
    """The second of equal operands, as NumPy does in each layout."""
    zero, size = np.zeros(33, dtype), np.dtype(dtype).itemsize
    for name in ("maximum", "minimum"):
        for a, b in ((zero, -zero), (-zero, zero)):
            y = np.empty_like(a)
            loop = Loop((33,), dtype, ((size,),) * 3, (0, 1), ((name, (0, 1)),), ((2, 2),))
            run((loop,), [a, b, y])
            assert_same_bits(y, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_and_sums_are_not_contracted(dtype):
    rng, size = np.random.RandomState(0), np.dtype(dtype).itemsize
    x, y, z = [rng.randn(1000).astype(dtype) for _ in range(3)]
    z = -(x * y) * (1 + np.finfo(dtype).eps * rng.randint(-2, 3, 1000)).astype(dtype)
    w = np.empty_like(x)
    steps = (("multiply", (0, 1)), ("add", (3, 2)))
    run((Loop((1000,), dtype, ((size,),) * 4, (0, 1, 2), steps, ((4, 3),)),), [x, y, z, w])
    assert_same_bits(w, x * y + z)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [*range(1, 20), 31, 64, 127, 128, 129, 136, 300, 1000, 5000])
def test_sums_of_neighbors(length, dtype):
    x, size = np.random.RandomState(0).randn(5, length).astype(dtype), np.dtype(dtype).itemsize
    x[4] = -0.0
    y = np.empty(5, dtype)
    run((Sum((5, length, 1), dtype, ((length * size, size, size), (size, size))),), [x, y])
    assert_same_bits(y, x.sum(axis=1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 7, 5), (1, 24, 33), (4, 1, 16), (2, 300, 2)])
def test_sums_of_rows(shape, dtype):
    x, size = np.random.RandomState(0).randn(*shape).astype(dtype), np.dtype(dtype).itemsize
    y = np.empty((shape[0], shape[2]), dtype)
    rest = shape[2] * size
    run((Sum(shape, dtype, (x.strides, (rest, size))),), [x, y])
    assert_same_bits(y, x.sum(axis=1))


def test_errors_are_told():
    def errors_of(name, *values):
        arrays = [np.full(5, v, "f") for v in values]
        count = len(values)
        steps = ((name, tuple(range(count))),)
        loop = Loop(
            (5,), "float32", ((4,),) * (count + 1), tuple(range(count)), steps, ((count, count),)
        )
        return run((loop,), [*arrays, np.empty(5, "f")])

    assert errors_of("divide", 1, 0) == 1
    assert errors_of("multiply", 1e30, 1e30) == 2
    assert errors_of("multiply", 1e-30, 1e-30) == 4
    assert errors_of("sqrt", -1) == 8
    assert errors_of("add", 1, 2) == 0


def test_code_is_kept_on_disk(folder, monkeypatch):
    x, y = np.arange(5, dtype="f"), np.empty(5, "f")
    loop = Loop((5,), "float32", ((4,), (4,)), (0,), (("negative", (0,)),), ((1, 1),))
    run((loop,), [x, y])
    (path,) = folder.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-10] + b"damaged!!!")
    y[:] = 0
    run((loop,), [x, y])
    assert_same_bits(y, -x)
    assert path.read_bytes() == content
    monkeypatch.setattr(native_code, "_write", lambda *args: pytest.fail("it was found on disk"))
    run((loop,), [x, y])


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    x, y = np.arange(5, dtype="f"), np.empty(5, "f")
    run((Loop((5,), "float32", ((4,), (4,)), (0,), (("negative", (0,)),), ((1, 1),)),), [x, y])
    assert_same_bits(y, -x)


def test_other_machines_compile_nothing(monkeypatch):
    monkeypatch.setattr(loops.platform, "machine", lambda: "vax")
    loop = Loop((5,), "float32", ((4,), (4,)), (0,), (("negative", (0,)),), ((1, 1),))
    assert NativeLoopsKernel(None).compile((loop,)) is None


def test_the_provider_is_chosen_by_the_setting():
    native_loops = get_operation("native_loops")
    array, loop = np.empty(0, "f"), Loop((5,), "float32", ((4,), (4,)), (0,), (), ((0, 1),))
    assert native_loops.select(array).compile((loop,)) is None
    for name, value in (("kernels", ("numba",)), ("accelerate", "auto")):
        with chainer.using_config(name, value):
            assert native_loops.select(array).compile((loop,))


def views(x):
    """Returns arrays of the same shape with different strides."""
    return x, x.T, x[::-1], x[:, ::-1], np.broadcast_to(x[0], x.shape), np.repeat(x, 2, 1)[:, ::2]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@np.errstate(all="ignore")
def test_captured_steps_with_all_layouts(dtype):
    link = chainer.Link()
    with link.init_scope():
        link.w = chainer.Parameter(np.ones((24, 24), dtype))

    def step(x, y):
        w, total = link.w.array, 0
        for a in views(x):
            for b in views(y):
                total = total + (a * b - w) / (a + 2) + a[:, :1] * b[:1]
        w *= 0.5  # in place, of memory that later calls read
        w += y.T
        return total * w, F.sum(total - w, axis=0), F.sum(total * w, axis=1).array[:, None] * w

    with chainer.using_config("kernels", ("numba",)):
        captured = chainer.capture(step, link, on_failure="error")
        for seed in range(6):
            x, y = numbers((24, 24), dtype, seed), numbers((24, 24), dtype, seed + 100)
            if seed < 3:
                x, y = [np.random.RandomState(seed).randn(24, 24).astype(dtype) for _ in range(2)]
            before = link.w.array.copy()
            found = captured(x, y)
            after = link.w.array.copy()
            link.w.array[...] = before
            for a, b in zip(found, step(x, y), strict=True):
                assert_same_bits(getattr(a, "array", a), getattr(b, "array", b))
            assert_same_bits(after, link.w.array)
    assert "native" in captured.explain()


FUNCTIONS = {
    "relu": lambda x: F.relu(x * 2 + 1),
    "leaky_relu": lambda x: F.leaky_relu(x * 2 + 1, 0.1),
    "leaky_relu of a steep slope": lambda x: F.leaky_relu(x * 2 + 1, 1.5),
    "clip": lambda x: F.clip(x * 2, -0.5, 1.0) + x,
    "clipped_relu": lambda x: F.clipped_relu(x * 2, 0.5) * x,
    "dropout": lambda x: F.dropout(x * 2 + 1, 0.3) * x,
    "where": lambda x: F.where(x.array > 0, x * 2, x - 1) * x,
    "hinge": lambda x: F.relu(1 - x) ** 2,
    "absolute_error": lambda x: F.absolute_error(x, x * 2 + 1),
    "huber_loss": lambda x: F.huber_loss(x, x * 3 + 1, 0.5, reduce="no"),
    "maximum": lambda x: F.maximum(x * 2, 1 - x),
}


@pytest.mark.parametrize("size", [(5, 37), (64, 200)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_captured_functions_have_the_same_bits(name, size):
    """Forward and backward, with zeros of both signs and NaN among the numbers."""
    link = chainer.Link()
    with link.init_scope():
        link.w = chainer.Parameter(np.zeros(size, "f"))

    def step(x):
        y = FUNCTIONS[name](link.w + x)
        link.cleargrads()
        F.sum(y * y).backward()
        return y, link.w.grad * 1

    with chainer.using_config("kernels", ("numba",)), np.errstate(all="ignore"):
        captured = chainer.capture(step, link, on_failure="error", keep_grads=True)
        for seed in range(6):
            x = np.random.RandomState(seed).randn(*size).astype("f")
            if seed > 3:
                x[:, :6] = 0.0, -0.0, np.nan, np.inf, -0.5, 0.5
            np.random.seed(seed)
            found = captured(x)
            np.random.seed(seed)
            expected = step(x)
            for a, b in zip(found, expected, strict=True):
                assert_same_bits(getattr(a, "array", a), getattr(b, "array", b))
    (entry,) = captured._machine.entries.values()
    assert entry.records[0].program.nbytes

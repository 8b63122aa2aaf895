"""Native loops: every bit is NumPy's."""

from __future__ import annotations

import ctypes

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer.backends.operations.loops import Loop, Sum
from chainer.kernel import get_operation

from chainer_numba import loops
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
    **{name: 2 for name in ("add", "subtract", "multiply", "divide")},
    **{name: 1 for name in ("sqrt", "negative", "positive")},
}


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
    monkeypatch.setattr(loops, "_write", lambda *args: pytest.fail("it was found on disk"))
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

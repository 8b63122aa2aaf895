from __future__ import annotations

import gc

import numpy as np
import pytest
from conftest import elements

import ideep4py
from ideep4py import ops
from ideep4py._core import buffers, runtime
from ideep4py._core import layout as L
from ideep4py._core.library import ffi


def test_plans_are_reused(normal) -> None:
    x, W = normal(2, 8, 5, 5), normal(8, 8, 3, 3)
    ops.convolution(x, W, pad=1)
    count = runtime.cached_plans()
    for _ in range(3):
        ops.convolution(x, W, pad=1)
    assert runtime.cached_plans() == count


def test_plans_are_bounded_and_the_oldest_go(monkeypatch) -> None:
    monkeypatch.setattr(runtime, "PLAN_CACHE_SIZE", 4)
    runtime.drop_plans()
    made = []

    def factory(key):
        made.append(key)
        return key

    for key in (1, 2, 3, 4, 1, 5, 1, 2):
        assert runtime.plan(factory, key) == key
    assert made == [1, 2, 3, 4, 5, 2]
    assert runtime.cached_plans() == 4
    runtime.drop_plans()


def test_errors_are_not_cached(normal) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="axis"):
            ops.softmax(normal(2, 3), 5)


def test_layouts_are_interned() -> None:
    a, b = L.strided((2, 3), (3, 1)), L.dense((2, 3))
    assert a is b
    assert L.strided((2, 3), (1, 2)) is not b
    assert L.strided((3, 2), (1, 3)) is L.strided((3, 2), (1, 3))
    assert L.dense((2, 3), 6) is not b


def test_layouts_are_forgotten() -> None:
    key_count = len(L._interned)
    layout = L.strided((3, 17, 5), (200, 7, 1))
    assert len(L._interned) == key_count + 1
    del layout
    gc.collect()
    assert len(L._interned) == key_count


def test_pool_reuses_and_bounds_memory() -> None:
    pool = buffers.Pool(limit=1 << 20)
    first = pool.allocate(100_000)
    address = int(ffi.cast("uintptr_t", first))
    assert address % 64 == 0
    del first
    gc.collect()
    assert pool.cached == 102_400
    again = pool.allocate(100_000)
    assert int(ffi.cast("uintptr_t", again)) == address
    assert pool.cached == 0
    many = [pool.allocate(300_000) for _ in range(8)]
    del many, again
    gc.collect()
    assert 0 < pool.cached <= pool.limit
    big = pool.allocate(8 << 20)
    del big
    gc.collect()
    assert pool.cached <= pool.limit
    pool.trim()
    assert pool.cached == 0


def test_pool_evicts_other_sizes_for_a_new_one() -> None:
    pool = buffers.Pool(limit=1 << 20)
    old = [pool.allocate(200_000) for _ in range(5)]
    del old
    gc.collect()
    new = pool.allocate(900_000)
    del new
    gc.collect()
    assert pool.cached >= 900_000


def test_memory_is_given_back() -> None:
    arrays = [ideep4py.array(np.zeros((512, 512), "f")) for _ in range(4)]
    del arrays
    gc.collect()
    assert ideep4py.cached_bytes() > 0
    ideep4py.release_cached_memory()
    assert ideep4py.cached_bytes() == 0


def test_new_arrays_do_not_alias_living_ones(normal) -> None:
    x = ideep4py.array(normal(64, 64))
    kept = [ops.eltwise(x, "linear", 1.0, float(k)) for k in range(50)]
    for k, y in enumerate(kept):
        np.testing.assert_allclose(elements(y), elements(x) + np.float32(k), rtol=1e-5, atol=1e-5)


def test_operation_after_a_change_of_threads(normal) -> None:
    x, W = normal(2, 8, 5, 5), normal(8, 8, 3, 3)
    n = ideep4py.get_num_threads()
    expected = elements(ops.convolution(x, W))
    try:
        for k in (2, 1):
            ideep4py.set_num_threads(k)
            assert ideep4py.get_num_threads() == k
            np.testing.assert_allclose(elements(ops.convolution(x, W)), expected, rtol=1e-5)
    finally:
        ideep4py.set_num_threads(n)


@pytest.mark.parametrize("function", [ideep4py.set_num_threads, ideep4py.limit_num_threads])
def test_a_number_of_threads_that_is_none(function) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        function(0)
    for bad in (1.5, True, "2"):
        with pytest.raises(TypeError, match="must be an int"):
            function(bad)


def test_why_not(normal) -> None:
    assert ops.why_not(normal(2, 3), ideep4py.array(normal(2))) is None
    assert ops.supports(normal(3, 2).T)
    assert "list" in ops.why_not([1.0])
    assert "argument 1 has dtype float64" in ops.why_not(normal(2), np.zeros(2))
    assert "empty" in ops.why_not(np.zeros((2, 0), "f"))
    assert "0 axes" in ops.why_not(np.array(1, "f"))
    assert not ops.supports(np.zeros((1,) * 13, "f"))


def test_bfloat16(normal) -> None:
    x = normal(4, 8)
    if not ops.has_bfloat16():
        with pytest.raises(TypeError, match="this CPU has no instructions"):
            ops.astype(x, "bfloat16")
        return
    pytest.importorskip("ml_dtypes")
    y = ops.relu(ops.astype(x, "bfloat16"))
    assert y.dtype.name == "bfloat16"
    np.testing.assert_allclose(ops.astype(y, "float32"), np.maximum(x, 0), rtol=1e-2)


def test_astype_refuses_others(normal) -> None:
    with pytest.raises(TypeError, match="'float32' or 'bfloat16'"):
        ops.astype(normal(2), "float64")
    np.testing.assert_array_equal(ops.astype(normal(2, 3), "float32").shape, (2, 3))

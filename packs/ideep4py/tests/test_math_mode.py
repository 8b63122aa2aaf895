from __future__ import annotations

import numpy as np
import pytest

import ideep4py
from ideep4py import math_mode, ops
from ideep4py._core.constants import F32
from ideep4py._core.library import HAS_AVX512_BF16, ffi, lib
from ideep4py._core.primitive import attributes
from ideep4py.ops._windows import make_window
from ideep4py.ops._winograd import choice


@pytest.fixture(autouse=True)
def _restored():
    before = ideep4py.get_math_mode()
    yield
    ideep4py.set_math_mode(before)


def test_float32_is_the_default() -> None:
    assert ideep4py.get_math_mode() == "float32"
    ideep4py.set_math_mode("float32")


def test_others_are_refused() -> None:
    with pytest.raises(ValueError, match="must be 'float32' or 'bfloat16', got 'float16'"):
        ideep4py.set_math_mode("float16")


@pytest.mark.skipif(HAS_AVX512_BF16, reason="this CPU has instructions for bfloat16")
def test_a_cpu_without_bfloat16() -> None:
    with pytest.raises(RuntimeError, match="no instructions for bfloat16"):
        ideep4py.set_math_mode("bfloat16")
    assert ideep4py.get_math_mode() == "float32"


@pytest.mark.skipif(not HAS_AVX512_BF16, reason="this CPU has no instructions for bfloat16")
def test_convolutions_in_bfloat16(normal) -> None:
    # Large enough that oneDNN prefers bfloat16 on every CPU that has it.
    x, W = normal(16, 128, 28, 28), normal(128, 128, 3, 3)
    exact = np.array(ops.convolution(x, W))
    ideep4py.set_math_mode("bfloat16")
    assert ideep4py.get_math_mode() == "bfloat16"
    rounded = ops.convolution(x, W)
    assert rounded.dtype == np.float32
    assert np.any(rounded != exact)
    np.testing.assert_allclose(rounded, exact, rtol=2e-2, atol=1.0)
    ideep4py.set_math_mode("float32")
    np.testing.assert_array_equal(ops.convolution(x, W), exact)


def test_the_mode_reaches_what_is_compiled(normal, monkeypatch) -> None:
    """Where the CPU has no instructions the mode changes nothing, and compiles all the same."""
    x, W = normal(2, 16, 6, 6), normal(16, 16, 3, 3)
    exact = np.array(ops.convolution(x, W))
    monkeypatch.setattr(math_mode, "HAS_AVX512_BF16", True)
    ideep4py.set_math_mode("bfloat16")
    rtol = 2e-2 if HAS_AVX512_BF16 else 1e-6
    np.testing.assert_allclose(ops.convolution(x, W), exact, rtol=rtol, atol=50 * rtol)


@pytest.mark.parametrize(("able", "winograd"), [(False, True), (True, False)])
def test_a_mode_from_the_environment(monkeypatch, able, winograd) -> None:
    """Winograd's algorithm gives way only where convolutions do multiply in bfloat16."""
    monkeypatch.setattr(math_mode, "HAS_AVX512_BF16", able)
    monkeypatch.setattr(math_mode, "get_math_mode", lambda: "bfloat16")
    window = make_window((3, 3), 1, 1, 1, None)
    assert choice.suits(window, 1, F32, (16, 512, 28, 28), 512).data == winograd


def test_the_mode_is_that_of_convolutions_only(monkeypatch) -> None:
    ffi.cdef("int dnnl_primitive_attr_get_fpmath_mode(attr_t, int *);", override=True)
    monkeypatch.setattr(math_mode, "HAS_AVX512_BF16", True)
    ideep4py.set_math_mode("bfloat16")
    modes = []
    for default_precision in (True, False):
        mode = ffi.new("int *")
        attr = attributes(default_precision=default_precision)
        assert lib.dnnl_primitive_attr_get_fpmath_mode(attr, mode) == 0
        modes.append(mode[0])
    assert modes == [1, 0]  # bfloat16, strict

from __future__ import annotations

import numpy as np
import pytest

import ideep4py
from ideep4py import ops


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


@pytest.mark.skipif(ops.has_bfloat16(), reason="this CPU has bfloat16")
def test_a_cpu_without_bfloat16() -> None:
    with pytest.raises(RuntimeError, match="no instructions for bfloat16"):
        ideep4py.set_math_mode("bfloat16")
    assert ideep4py.get_math_mode() == "float32"


@pytest.mark.skipif(not ops.has_bfloat16(), reason="this CPU has no bfloat16")
def test_convolutions_in_bfloat16(normal) -> None:
    x, W = normal(4, 64, 12, 12), normal(64, 64, 3, 3)
    exact = np.array(ops.convolution(x, W))
    ideep4py.set_math_mode("bfloat16")
    assert ideep4py.get_math_mode() == "bfloat16"
    rounded = ops.convolution(x, W)
    assert rounded.dtype == np.float32
    np.testing.assert_allclose(rounded, exact, rtol=2e-2, atol=1.0)
    ideep4py.set_math_mode("float32")
    np.testing.assert_array_equal(ops.convolution(x, W), exact)


def test_the_mode_reaches_what_is_compiled(normal, monkeypatch) -> None:
    """Where the CPU has no instructions the mode changes nothing, and compiles all the same."""
    x, W = normal(2, 16, 6, 6), normal(16, 16, 3, 3)
    exact = np.array(ops.convolution(x, W))
    monkeypatch.setattr("ideep4py.math_mode.has_bfloat16", lambda: True)
    ideep4py.set_math_mode("bfloat16")
    rtol = 2e-2 if ops.has_bfloat16() else 1e-6
    np.testing.assert_allclose(ops.convolution(x, W), exact, rtol=rtol, atol=50 * rtol)

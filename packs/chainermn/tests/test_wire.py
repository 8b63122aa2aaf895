"""Conversions to 16 bits, compared with ml_dtypes and NumPy."""

import numpy as np
import pytest
from chainermn.communicators import wire
from chainermn.communicators.gradients import check_float_dtype

VALUES = np.concatenate(
    [
        # Of all magnitudes: any bits that are not NaN.
        np.random.RandomState(0).randint(0, 0x7F800000, 20000).astype(np.uint32).view(np.float32),
        -np.random.RandomState(1).randint(0, 0x7F800000, 20000).astype(np.uint32).view(np.float32),
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4e38, 1.00390625, 1.01171875], "f"),
    ]
)


def test_bfloat16_rounds_as_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with np.errstate(over="ignore"):
        expected = VALUES.astype(ml_dtypes.bfloat16)
    actual = wire.to_float32(wire.to_16_bits(VALUES, "bfloat16"), "bfloat16")
    np.testing.assert_array_equal(actual, expected.astype("f"))


def test_not_a_number_stays_one():
    # A NaN whose payload is in the lower half of its bits.
    nan = np.array([0x7F800001, 0xFF800001], np.uint32).view(np.float32)
    assert np.isnan(wire.to_float32(wire.to_16_bits(nan, "bfloat16"), "bfloat16")).all()


def test_float16():
    with np.errstate(over="ignore"):
        expected = VALUES.astype(np.float16).astype("f")
    actual = wire.to_float32(wire.to_16_bits(VALUES, "float16"), "float16")
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(("size", "count"), [(0, 3), (1, 3), (10, 3), (9, 3)])
def test_parts(size, count):
    parts = wire.parts(size, count)
    assert len(parts) == count
    assert sum(parts) == size
    assert max(parts) - min(parts) <= 1


def test_dtypes():
    assert check_float_dtype(None) is None
    assert check_float_dtype(np.float16) == "float16"
    assert check_float_dtype("bfloat16") == "bfloat16"
    for bad in (np.int32, "text", 3):
        with pytest.raises(ValueError, match="must be None, float16"):
            check_float_dtype(bad)

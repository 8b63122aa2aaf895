"""The note below a refused call: it never hides the refusal."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import chainer.functions as F
from chainer.core.autograd.remedies import describe
from chainer.utils import type_check

ARRAYS = [
    np.zeros(shape, dtype)
    for shape in [(), (0,), (3,), (3, 1), (2, 3), (2, 3, 4), (1, 2, 3, 3)]
    for dtype in ("f", "d", "i", "B", "?")
]
NAMES = [(), ("x",), ("x", "t"), ("x", "W"), ("x", "W", "b"), ("x0", "x1")]
EXPECTED = [
    ("in_types[0].dtype.kind == f", "i != f"),
    ("in_types[1].dtype.kind == i", "f != i"),
    ("in_types[0].dtype == in_types[1].dtype", "float32 != int32"),
    ("in_types[0].ndim == 4", "2 != 4"),
]


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize(("expect", "actual"), EXPECTED)
def test_describes_any_arrays(names, expect, actual):
    error = SimpleNamespace(expect=expect, actual=actual)
    assert describe(names, (), error) == ""
    for count in (1, 2):
        for arrays in itertools.product([*ARRAYS, None], repeat=count):
            text = describe(names, arrays, error)
            assert all([name in text for name in names[:count]])
    for a, b in itertools.product(ARRAYS, repeat=2):
        assert "float32" in describe(names, (ARRAYS[0], a, b), error)


def test_refusals_keep_their_class():
    with pytest.raises(type_check.InvalidType, match="in_types.size > 0"):
        F.concat([], 0)
    with pytest.raises(type_check.InvalidType, match="x.ndim >= W.ndim"):
        F.prelu(np.zeros(3, "f"), np.zeros(3, "f"))

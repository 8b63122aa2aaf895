"""Complex constants as operands of Variables."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import chainer

OPERATORS = (operator.add, operator.sub, operator.mul)


@pytest.mark.parametrize("dtype", ["i", "f"])
@pytest.mark.parametrize("function", OPERATORS)
@pytest.mark.parametrize("constant", [2j, np.complex64(2), np.array([1, 2j])])
def test_imaginary_parts_are_not_lost(function, constant, dtype):
    """Chainer 7.8.1 raises TypeError for the scalars, by accident: it cannot tell their sign."""
    x = chainer.Variable(np.array([1, 2], dtype))
    with pytest.raises(TypeError, match="its imaginary part would be lost"):
        function(x, constant)


@pytest.mark.parametrize("function", OPERATORS)
def test_complex_variables(function):
    x = np.array([1, 2j], "F")
    y = function(chainer.Variable(x), 2j)
    assert y.dtype == np.complex64
    np.testing.assert_allclose(y.array, function(x, np.complex64(2j)))

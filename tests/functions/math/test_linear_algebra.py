"""Matrices without an inverse, and axes that do not exist."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F

SINGULAR = np.ones((2, 2), "f")


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("function", [F.inv, lambda x: F.batch_inv(x[None])])
def test_singular_matrices_have_no_inverse(function, debug):
    with chainer.using_config("debug", debug), pytest.raises(ValueError, match="singular"):
        function(SINGULAR)


@pytest.mark.parametrize("debug", [False, True])
def test_infinities_are_refused_in_debug_mode(monkeypatch, debug):
    # As CuPy's, which does not wait to see whether a matrix is singular.
    monkeypatch.setattr(np.linalg, "inv", lambda a: np.full_like(a, np.inf))
    with chainer.using_config("debug", debug):
        if debug:
            with pytest.raises(ValueError, match="singular"):
                F.inv(SINGULAR)
        else:
            assert np.isinf(F.inv(SINGULAR).array).all()


def test_gradient_of_the_determinant_of_a_singular_matrix():
    x = chainer.Variable(SINGULAR)
    with pytest.raises(ValueError, match="gradient of det"):
        F.det(x).backward()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_nan_is_no_zero(place, dtype):
    """LAPACK may take it for one: a determinant 0, a singular matrix, or numbers in its inverse."""
    a = np.array([[[1, 1], [1, 3]], [[2, 0], [0, 1]]], dtype)
    a[0][place] = np.nan
    x = chainer.Variable(a)
    with np.errstate(invalid="ignore"):
        inverse, determinant = F.batch_inv(x), F.batch_det(x)
        F.sum(determinant).backward()
    assert np.isnan(inverse.array[0]).all() and np.isnan(determinant.array[0])
    np.testing.assert_array_equal(inverse.array[1], [[0.5, 0], [0, 1]])
    assert determinant.array[1] == 2
    assert np.isnan(x.grad[0]).all()
    np.testing.assert_array_equal(x.grad[1], [[1, 0], [0, 2]])
    with pytest.raises(ValueError, match="singular"), np.errstate(invalid="ignore"):
        F.batch_inv(np.concatenate([a, np.zeros((1, 2, 2), dtype)]))


def test_determinant_of_the_weights_of_a_pointwise_convolution():
    x = chainer.Variable(np.arange(9, dtype=np.float64).reshape(3, 3, 1, 1) ** 2)
    y = F.det(x)
    y.backward()
    # Computed with release 7.8.1, which reshapes by the first two axes.
    assert y.shape == ()
    np.testing.assert_allclose(y.array, -216)
    np.testing.assert_allclose(
        x.grad[..., 0, 0], [[-201, 324, -135], [132, -144, 36], [-39, 36, -9]]
    )


@pytest.mark.parametrize(("axes", "name"), [((2, 0), "axis1"), ((0, -3), "axis2")])
def test_swapaxes_names_the_axis(axes, name):
    with pytest.raises(np.exceptions.AxisError, match=f"{name}: axis {max(axes, key=abs)} is out"):
        F.swapaxes(SINGULAR, *axes)


def test_diagonal_of_an_axis_with_itself():
    with pytest.raises(ValueError, match="cannot be the same, got 1 and -1 for .* 2 dimensions"):
        F.diagonal(SINGULAR, axis1=1, axis2=-1)

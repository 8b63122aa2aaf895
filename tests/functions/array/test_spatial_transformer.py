"""Spatial transformer and resizing against numbers of release 4.3.1."""

from __future__ import annotations

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable

IMAGE = np.array(
    [[1.76, 0.4, 0.98, 2.24], [1.87, -0.98, 0.95, -0.15], [-0.1, 0.41, 0.14, 1.45]], "f"
)[None, None]


def test_sampler():
    points = np.array(
        [
            [-1.0, -0.5, 0, 0.3, 1, 1.2, -1.4, -3, 0.99],
            [-1.0, 0.2, 0, -0.7, 1, 0.5, 0.3, 0, 1.0],
        ],
        "f",
    ).reshape(1, 2, 1, 9)
    x, grid = Variable(IMAGE), Variable(points)
    y = F.spatial_transformer_sampler(x, grid)
    expected = [1.76, -0.1575, -0.015, 0.92175, 1.45, 0.455, 0.5116, 0.0, 1.43035]
    np.testing.assert_allclose(y.array[0, 0, 0], expected, atol=1e-5)
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(
        x.grad[0, 0],
        [[1.0, 0.035, 0.665, 0.0], [0.48, 1.115, 0.785, 0.35], [0.17, 0.15, 0.015, 2.335]],
        atol=1e-5,
    )
    np.testing.assert_allclose(
        grid.grad[0, :, 0],
        [
            [-2.04, -3.267, 2.895, 1.4775, -2.175, -0.975, 1.9185, 0.0, 1.965],
            [0.11, 0.55, 0.29, -0.0975, -1.45, 1.12, -0.788, 0.0, -1.43035],
        ],
        atol=1e-5,
    )


def test_grid():
    theta = np.array([[[1, 0.5, 0.2], [-0.3, 1, 0.1]]], "f")
    np.testing.assert_allclose(
        F.spatial_transformer_grid(theta, (2, 3)).array[0],
        [[[-1.3, -0.3, 0.7], [-0.3, 0.7, 1.7]], [[-0.6, -0.9, -1.2], [1.4, 1.1, 0.8]]],
        atol=1e-6,
    )
    # A single point is the upper left one.
    one = F.spatial_transformer_grid(theta, (1, 1)).array.ravel()
    np.testing.assert_allclose(one, [-1.3, -0.6], atol=1e-6)


def test_resize():
    assert F.resize_images(IMAGE, (1, 1)).array.item() == np.float32(1.76)
    np.testing.assert_allclose(
        F.resize_images(IMAGE, (1, 3)).array.ravel(), [1.76, 0.69, 2.24], atol=1e-6
    )
    np.testing.assert_array_equal(F.resize_images(IMAGE, (3, 4)).array, IMAGE)
    x = Variable(IMAGE)
    y = F.resize_images(x, (5, 7))
    np.testing.assert_allclose(
        y.array[0, 0, 1],
        [1.815, 0.7625, -0.29, 0.3375, 0.965, 1.005, 1.045],
        atol=1e-6,
    )
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(
        x.grad[0, 0], [[2.25, 3.0, 3.0, 2.25], [3.0, 4.0, 4.0, 3.0], [2.25, 3.0, 3.0, 2.25]]
    )


def test_modes_of_resizing():
    """Numbers of release 7.8.1."""
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    y = F.resize_images(x, (4, 4), align_corners=False).array[0, 0]
    expected = [
        [0, 0.25, 0.75, 1],
        [0.5, 0.75, 1.25, 1.5],
        [1.5, 1.75, 2.25, 2.5],
        [2, 2.25, 2.75, 3],
    ]
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    y = F.resize_images(x, (3, 3), mode="nearest", align_corners=False).array[0, 0]
    assert y.tolist() == [[0, 0, 1], [0, 0, 1], [2, 2, 3]]
    node = F.resize_images(Variable(x), (3, 5), mode="nearest").creator
    assert (node.out_H, node.out_W, node.mode, node.align_corners) == (3, 5, "nearest", True)
    with pytest.raises(TypeError):
        F.resize_images(x, (3, 3), "nearest")


@pytest.mark.parametrize("name", ["spatial_transformer_grid", "spatial_transformer_sampler"])
def test_removed_argument(name):
    second = (2, 2) if name.endswith("grid") else np.ones((1, 2, 2, 2), "f")
    with pytest.raises(ValueError, match=r"use_cudnn.*using_config"):
        getattr(F, name)(np.ones((1, 2, 3), "f"), second, use_cudnn=True)
    with pytest.raises(TypeError, match="unexpected keyword"):
        getattr(F, name)(np.ones((1, 2, 3), "f"), second, other=True)

"""Winograd's algorithm against the definition in float64, in portions, layouts and paddings of all
kinds.
"""

from __future__ import annotations

import os
import subprocess
import sys

import naive
import numpy as np
import pytest
from conftest import elements
from convolution_checks import as_it_is, check_convolution, in_blocks, with_channels_last

import ideep4py
from ideep4py import ops
from ideep4py._core import runtime
from ideep4py.ops._winograd import choice, matrices
from ideep4py.ops._winograd.forward import Forward
from ideep4py.ops._winograd.weights import Weights


@pytest.fixture
def always(monkeypatch):
    """Every convolution that the algorithm can do."""
    monkeypatch.setattr(choice, "_GAIN", 1e9)
    runtime.drop_plans()
    yield
    runtime.drop_plans()


@pytest.fixture
def small_portions(monkeypatch, always):
    """One image at a time, 16 filters at a time."""
    monkeypatch.setattr(choice, "_AT_ONCE", 1)
    monkeypatch.setattr(choice, "_FILTERS_AT_ONCE", 1)


def plans() -> list[str]:
    """Names of the compiled operations that are Winograd's."""
    found = []
    for plan in runtime._state.plans.values():
        for part in plan if isinstance(plan, tuple) else (plan,):
            owner = getattr(part, "__self__", part)
            if isinstance(owner, (Forward, Weights)):
                found.append(type(owner).__name__)
    return sorted(found)


SHAPES = [
    # n, ins, outs, height, width, pad
    (2, 16, 32, 8, 8, (1, 1)),
    (3, 32, 16, 7, 5, (1, 1)),
    (2, 16, 16, 6, 6, (0, 0)),
    (1, 16, 48, 6, 9, (2, 2)),
    (2, 16, 16, 5, 4, (2, 0)),
    (2, 16, 16, 1, 1, (1, 1)),
    (1, 64, 64, 3, 3, (1, 1)),
]


@pytest.mark.parametrize("laid_out", [as_it_is, in_blocks, with_channels_last])
@pytest.mark.parametrize(("n", "ins", "outs", "height", "width", "pad"), SHAPES)
def test_all_three_directions(always, normal, laid_out, n, ins, outs, height, width, pad) -> None:
    check(normal, laid_out, n, ins, outs, height, width, pad)


@pytest.mark.parametrize("laid_out", [as_it_is, in_blocks])
def test_in_small_portions(small_portions, normal, laid_out) -> None:
    check(normal, laid_out, 3, 32, 48, 9, 6, (1, 1))


def test_portions_of_unequal_size(always, monkeypatch, normal) -> None:
    monkeypatch.setattr(choice, "_AT_ONCE", 2 * 36 * 4 * 32)
    monkeypatch.setattr(choice, "_FILTERS_AT_ONCE", 36 * 32 * 32)
    assert choice.images_at_once(5, 4 * 32) == 2
    assert choice.block_of_filters(48, 32) == 32
    check(normal, in_blocks, 5, 32, 48, 8, 8, (1, 1))


def check(normal, laid_out, n, ins, outs, height, width, pad) -> None:
    runtime.drop_plans()
    check_convolution(normal, laid_out, (n, ins, height, width), (outs, ins, 3, 3), pad=pad)
    assert plans() == ["Forward", "Forward", "Weights"]


def test_gradient_by_filters_alone(always, normal) -> None:
    x, gy = normal(2, 16, 6, 6), normal(2, 16, 6, 6)
    gW, gb = ops.convolution_backward_weights(x, gy, (16, 16, 3, 3), pad=1)
    assert gb is None
    both, _ = ops.convolution_backward_weights(x, gy, (16, 16, 3, 3), pad=1, bias=True)
    np.testing.assert_array_equal(elements(gW), elements(both))


def test_fused_relu(always, normal) -> None:
    x, W, b = normal(2, 16, 6, 6), normal(16, 16, 3, 3), normal(16)
    plain = elements(ops.convolution(x, W, b, pad=1))
    fused = elements(ops.convolution(x, W, b, pad=1, relu=True))
    np.testing.assert_allclose(fused, np.maximum(plain, 0), rtol=0, atol=1e-5)
    assert (fused >= 0).all()


def test_padding_behind_and_size_of_output(always, normal) -> None:
    x, W = normal(1, 16, 6, 6), normal(16, 16, 3, 3)
    y = ops.convolution(x, W, pad=0, pad_after=2)
    expected = naive.convolution(
        np.pad(x, [(0, 0), (0, 0), (0, 2), (0, 2)]), W, None, (1, 1), (0, 0), (1, 1), 1
    )
    np.testing.assert_allclose(elements(y), expected, rtol=0, atol=1e-3)
    y = ops.convolution(x, W, pad=1, out_size=(7, 6))
    assert y.shape == (1, 16, 7, 6)
    expected = naive.convolution(
        np.pad(x, [(0, 0), (0, 0), (1, 2), (1, 1)]), W, None, (1, 1), (0, 0), (1, 1), 1
    )
    np.testing.assert_allclose(elements(y), expected, rtol=0, atol=1e-3)
    assert plans() == ["Forward", "Forward"]


def test_same_numbers_every_time(always, normal) -> None:
    x, W = normal(4, 32, 12, 12), normal(32, 32, 3, 3)
    first = elements(ops.convolution(x, W, pad=1))
    ideep4py.release_cached_memory()
    np.testing.assert_array_equal(elements(ops.convolution(x, W, pad=1)), first)


def test_rounding(always, normal) -> None:
    """Error of the root of the mean square, relative to the results'."""
    x, W = normal(2, 256, 8, 8), normal(32, 256, 3, 3)
    expected = naive.convolution(x, W, None, (1, 1), (1, 1), (1, 1), 1)
    error = elements(ops.convolution(x, W, pad=1)) - expected
    assert np.sqrt((error**2).mean()) < 4e-6 * expected.std()


def test_memory_of_unequal_origin(always, normal) -> None:
    """Filters and images that are views of larger arrays, or prepared for the direct algorithm."""
    x, W = normal(2, 16, 8, 16)[..., ::2], normal(16, 32, 3, 3)[:, ::2]
    expected = naive.convolution(x, W, None, (1, 1), (1, 1), (1, 1), 1)
    np.testing.assert_allclose(elements(ops.convolution(x, W, pad=1)), expected, atol=1e-3)
    ideep4py.set_winograd(False)
    prepared = ops.prepare_weights(ideep4py.array(W), np.ascontiguousarray(x), pad=1, bias=False)
    ideep4py.set_winograd(True)
    np.testing.assert_allclose(elements(ops.convolution(x, prepared, pad=1)), expected, atol=1e-3)


@pytest.mark.parametrize(
    ("W", "options"),
    [
        ((16, 16, 5, 5), {"pad": 1}),
        ((16, 16, 3, 1), {}),
        ((16, 16, 3, 3), {"stride": 2}),
        ((16, 16, 3, 3), {"dilate": 2}),
        ((16, 16, 3, 3), {"pad": 3}),
        ((16, 8, 3, 3), {"groups": 2}),
        ((8, 16, 3, 3), {}),
    ],
)
def test_others_are_computed_directly(always, normal, W, options) -> None:
    x, W = normal(1, 16, 9, 9), normal(*W)
    y = ops.convolution(x, W, **options)
    ops.convolution_backward_data(y, W, x.shape, **options)
    ops.convolution_backward_weights(x, y, W.shape, **options)
    assert plans() == []


def test_chosen_where_it_is_faster(normal) -> None:
    runtime.drop_plans()
    for channels, expected in ((128, ["Forward"]), (16, [])):
        x, W = normal(2, channels, 32, 32), normal(channels, channels, 3, 3)
        ops.convolution(x, W, pad=1)
        assert plans() == expected
        runtime.drop_plans()


def test_switch(always, normal) -> None:
    assert ideep4py.get_winograd()
    x, W = normal(1, 16, 8, 8), normal(16, 16, 3, 3)
    try:
        ideep4py.set_winograd(False)
        assert not ideep4py.get_winograd()
        ops.convolution(x, W)
        assert plans() == []
    finally:
        ideep4py.set_winograd(True)
    ops.convolution(x, W)
    assert plans() == ["Forward"]
    with pytest.raises(TypeError, match="enabled must be True or False, got 0"):
        ideep4py.set_winograd(0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "out"), [("0", "False"), ("1", "True"), ("", "True")])
def test_environment_variable(value, out) -> None:
    command = "import ideep4py; print(ideep4py.get_winograd())"
    done = run(command, value)
    assert done.stdout.strip() == out, done.stderr


def test_environment_variable_is_checked() -> None:
    done = run("import ideep4py", "no")
    assert "IDEEP4PY_WINOGRAD must be 0 or 1, got 'no'" in done.stderr


def run(command: str, value: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "IDEEP4PY_WINOGRAD": value}
    return subprocess.run(
        [sys.executable, "-c", command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_layouts_of_other_kinds_are_computed_directly(always, monkeypatch, normal) -> None:
    monkeypatch.setattr(choice, "images_of", lambda layout: None)
    x, W = normal(1, 16, 8, 8), normal(16, 16, 3, 3)
    y = ops.convolution(x, W)
    ops.convolution_backward_data(y, W, x.shape)
    ops.convolution_backward_weights(x, y, W.shape)
    assert plans() == []


def test_transformations_are_those_of_the_definition() -> None:
    """For all pairs of one input and one tap, that is for everything, in float64."""
    tiles = np.eye(36)
    taps = np.eye(9)
    points = (matrices.INPUT_MATRIX @ tiles)[:, :, None] * (matrices.FILTER_MATRIX @ taps)[:, None]
    outputs = np.einsum("op,ptf->otf", matrices.OUTPUT_MATRIX, points).reshape(4, 4, 36, 9)
    expected = np.zeros((4, 4, 36, 9))
    for i, j, k, m in np.ndindex(4, 4, 3, 3):
        expected[i, j, 6 * (i + k) + j + m, 3 * k + m] = 1
    np.testing.assert_allclose(outputs, expected, atol=1e-5)

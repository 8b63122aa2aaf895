"""Sums of selected rows: the bits of a selection and an addition."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer.kernel import get_operation

from chainer_numba.embeddings import SelectedRowSumsKernel, scatter_rows

NODES, EDGES, UNITS = 500, 4000, 64


def floats(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("f")


def indices(*shape, seed=0, kind="l"):
    return np.random.RandomState(seed).randint(-NODES, NODES, shape).astype(kind)


@pytest.mark.parametrize("kind", ["i", "l", "h"])
@pytest.mark.parametrize("width", [1, 3, 16, 37, 64])
def test_rows_are_added_in_their_order(kind, width):
    a, b = floats(NODES, width), floats(NODES, width, seed=1)
    to, of = indices(20, EDGES // 20, kind=kind), indices(EDGES, seed=1, kind=kind)
    expected = a.copy()
    np.add.at(expected, to.ravel(), b[of])
    assert SelectedRowSumsKernel(None).add(a, to, b, of)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("bounds", [(0, 5), (5, 37), (16, 36), (36, 37), (7, 7)])
def test_columns_of_one_thread(bounds):
    """Other columns belong to other threads."""
    matrix, rows, to = floats(NODES, 37), floats(EDGES, 37, seed=1), indices(EDGES) % NODES
    to[::3] = -7  # ignored
    expected = matrix.copy()
    columns = slice(*bounds)
    np.add.at(expected[:, columns], to[to >= 0], rows[to >= 0, columns])
    scatter_rows(0, *bounds, to, rows, -7, matrix)
    np.testing.assert_array_equal(matrix, expected)


@pytest.mark.parametrize("wrong", [-NODES - 1, NODES])
@pytest.mark.parametrize("which", [0, 1])
def test_indices_out_of_bounds(wrong, which):
    a, given = floats(NODES, 8), [indices(EDGES), indices(EDGES)]
    given[which][-1] = wrong
    before = a.copy()
    assert not SelectedRowSumsKernel(None).add(a, given[0], floats(NODES, 8), given[1])
    np.testing.assert_array_equal(a, before)


def test_no_rows():
    a, none = floats(4, 2), np.zeros(0, int)
    assert SelectedRowSumsKernel(None).add(a, none, floats(0, 2), none)
    np.testing.assert_array_equal(a, floats(4, 2))


def test_chosen_by_dtype(with_numba):
    operation = get_operation("selected_row_sums")
    for dtype, provider in (("f", "numba"), ("d", "reference")):
        x = np.zeros((2, 2), dtype)
        assert operation.explain(x, x).chosen.provider == provider


def test_captured_messages(with_numba):
    """The program makes no array of messages."""
    to, of = indices(EDGES), indices(EDGES, seed=1) % NODES

    def step(x):
        return F.scatter_add(x * 2, to, F.embed_id(of, x * 3))

    captured = chainer.capture(step, on_failure="error")
    for seed in range(5):
        x = floats(NODES, UNITS, seed=seed)
        np.testing.assert_array_equal(captured(x).array, step(x).array)
    (entry,) = captured._machine.entries.values()
    assert entry.records[0].program.nbytes < EDGES * UNITS * 4

"""The matrices of F(4x4, 3x3): how tiles, filters and outputs are transformed.

With ``t`` an input tile of 6x6, ``f`` a filter and ``y`` the 4x4 outputs, all flattened by rows::

    y = OUTPUT @ ((FILTER @ f) * (INPUT @ t))

which is Toom and Cook's multiplication of polynomials, transposed, in both directions. The points
of evaluation 0, 1, -1, 1/2, -2 and infinity have smaller rounding errors than the usual 0, 1, -1,
2, -2 (B. Barabasz et al., "Error Analysis and Improving the Accuracy of Winograd Convolution for
Deep Neural Networks", 2020): about 2e-6 of the result's standard deviation in float32, where
the definition has 0.3e-6.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._core.library import ffi

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

OUT = 4
"""Outputs of a tile along each axis."""

KERNEL = 3
"""Size of the filter along each axis."""

TILE = OUT + KERNEL - 1
"""Inputs of a tile along each axis."""

POINTS = TILE * TILE
"""Multiplications for each tile and pair of channels."""

CONSTANT_POINT = TILE + 1
"""The product that adds to all outputs of a tile alike: evaluation at (1, 1)."""

# Fractions, so that the coefficients are exact until they are rounded to float32, once.
_EVALUATED_AT = (Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-2))


def _coefficients(roots: list[Fraction]) -> list[Fraction]:
    """Coefficients, constant first, of the polynomial with these roots and leading term 1."""
    result = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *result]
        scaled = [-root * c for c in result] + [Fraction(0)]
        result = [a + b for a, b in zip(shifted, scaled, strict=True)]
    return result


def _one_dimensional() -> tuple[Any, Any, Any]:
    """Transformations of a row: of inputs (6x6), filters (6x3) and products to outputs (4x6)."""
    inputs = [[Fraction(0)] * TILE for _ in range(TILE)]
    filters = [[Fraction(0)] * KERNEL for _ in range(TILE)]
    outputs = [[Fraction(0)] * TILE for _ in range(OUT)]
    for i, point in enumerate(_EVALUATED_AT):
        others = [p for p in _EVALUATED_AT if p != point]
        scale = Fraction(1)
        for other in others:
            scale *= point - other
        inputs[i][: TILE - 1] = _coefficients(others)
        filters[i] = [point**j / scale for j in range(KERNEL)]
        for j in range(OUT):
            outputs[j][i] = point**j
    # The point infinity: it sees the leading coefficients of filters and outputs only.
    inputs[-1] = _coefficients(list(_EVALUATED_AT))
    filters[-1][-1] = outputs[-1][-1] = Fraction(1)
    return _floats(inputs), _floats(filters), _floats(outputs)


def _floats(matrix: list[list[Fraction]]) -> Any:
    return np.array(matrix, dtype=np.float64)


def _both_axes(matrix: AnyArray) -> Any:
    # A tile is flattened by rows, so that the Kronecker product transforms both axes in one product
    # of matrices.
    return np.ascontiguousarray(np.kron(matrix, matrix), dtype=np.float32)


_input, _filter, _output = _one_dimensional()

INPUT_MATRIX = _both_axes(_input)
FILTER_MATRIX = _both_axes(_filter)
OUTPUT_MATRIX = _both_axes(_output)


def _pointer(matrix: AnyArray) -> Any:
    # The pointer object keeps the array alive.
    return ffi.from_buffer(np.ascontiguousarray(matrix))


INPUT = _pointer(INPUT_MATRIX)
"""(36, 36): tiles of inputs to points."""

FILTER = _pointer(FILTER_MATRIX)
"""(36, 9): filters to points."""

FILTER_TURNED = _pointer(FILTER_MATRIX[:, ::-1])
"""(36, 9): filters turned by 180 degrees to points."""

OUTPUT = _pointer(OUTPUT_MATRIX)
"""(16, 36): points to outputs."""

OUTPUT_GRADIENT = _pointer(OUTPUT_MATRIX.T)
"""(36, 16): gradients of outputs to points."""

FILTER_GRADIENT = _pointer(FILTER_MATRIX.T)
"""(9, 36): gradients of filters at the points to gradients of filters."""

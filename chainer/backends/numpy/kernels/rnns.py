"""Reference kernel of recurrent networks over whole sequences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy

from chainer.backends.compute_dtypes import compute_dtype, to_compute_dtype
from chainer.backends.numpy.kernels._rnn_cells import (
    Cell,
    GRUCell,
    LSTMCell,
    PackedParts,
    SimpleCell,
)

# "as" exports them: providers in other packages import them from here.
from chainer.backends.numpy.kernels._rnn_cells import CellGradients as CellGradients
from chainer.backends.numpy.kernels._rnn_cells import Steps as Steps
from chainer.backends.operations.rnns import Parameters, RNNInputs, RNNLayout
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array

_CELLS: dict[str, type[Cell]] = {
    "lstm": LSTMCell,
    "gru": GRUCell,
    "tanh": SimpleCell,
    "relu": SimpleCell,
}


class _Run(NamedTuple):
    """A cell that ran over the sequences, and the dropout factors of its input."""

    cell: Cell
    mask: Array | None


class NStepRNNKernel(ReferenceKernel):
    """Recurrent network, layer by layer; each layer starts with one product over all times.

    Attributes:
        packs: Whether the cells need the gradients of the outputs as one array.
    """

    packs: ClassVar[bool] = False

    def forward(
        self,
        x: Array,
        hx: Array,
        cx: Array | None,
        ws: Parameters,
        bs: Parameters,
        layout: RNNLayout,
    ) -> tuple[Array, Array, Array | None, list[_Run]]:
        xp = self.xp
        dtype = x.dtype
        x, hx = to_compute_dtype(x), to_compute_dtype(hx)
        hy = xp.empty_like(hx)
        cy = None if cx is None else xp.empty_like(hx)
        runs: list[_Run] = []
        for layer in range(layout.layers):
            outputs: list[Array] = []
            for direction in range(layout.directions):
                i = layer * layout.directions + direction
                mask = None
                values = x
                if layer and layout.ratio:
                    mask = self._mask(x, layout.ratio)
                    values = x * mask
                elif layer and layout.draws and xp is numpy:
                    numpy.random.rand(*x.shape)
                steps = Steps(layout.batch_sizes, direction == 1)
                cell = self.make_cell(layout.mode, _converted(ws[i]), _converted(bs[i]), steps)
                c0 = None if cx is None else to_compute_dtype(cx[i])
                y, hy[i], c = cell.forward(values, hx[i], c0)
                if cy is not None:
                    cy[i] = c
                outputs.append(y)
                runs.append(_Run(cell, mask))
            x = outputs[0] if layout.directions == 1 else xp.concatenate(outputs, axis=1)
        if x.dtype != dtype:
            x, hy = x.astype(dtype), hy.astype(dtype)
            cy = None if cy is None else cy.astype(dtype)
        return x, hy, cy, runs

    def make_cell(self, mode: str, w: list[Array], b: list[Array], steps: Steps) -> Any:
        """Returns the cell of one layer and direction; subclasses have cells of their own."""
        return _CELLS[mode](self.xp, mode, w, b, steps)

    def packed(self, gys: list[Array], batch_sizes: tuple[int, ...]) -> Any:
        """Returns the gradients of the outputs packed, or an object that is indexed like that."""
        if len(gys) == 1:
            return gys[0]
        if self.packs or self.xp is not numpy:
            return self.xp.concatenate(gys)
        return PackedParts(gys, batch_sizes)  # spares a copy of all gradients

    def _mask(self, x: Array, ratio: float) -> Array:
        # One call of the generator for each mask, as in earlier releases, so that a seed gives the
        # same networks.
        xp = self.xp
        kept = xp.random.rand(*x.shape) >= ratio
        return xp.multiply(kept, x.dtype.type(1.0 / (1 - ratio)))

    def backward(
        self,
        inputs: RNNInputs,
        residual: list[_Run],
        gys: list[Array] | None,
        ghy: Array | None,
        gcy: Array | None,
        layout: RNNLayout,
    ) -> tuple[Array, Array, Array | None, Parameters, Parameters]:
        xp = self.xp
        _, hx, cx, ws, bs = inputs
        dtype, size = hx.dtype, hx.shape[2]
        ghx = xp.empty(hx.shape, compute_dtype(dtype))
        gcx = None if cx is None else xp.empty_like(ghx)
        gws: list[Any] = [None] * len(ws)
        gbs: list[Any] = [None] * len(bs)
        gradient: Array = None
        if gys is not None:
            gradient = self.packed(_converted(gys), layout.batch_sizes)
        for layer in reversed(range(layout.layers)):
            below: Array = None
            for direction in range(layout.directions):
                i = layer * layout.directions + direction
                cell, mask = residual[i]
                columns = slice(direction * size, (direction + 1) * size)
                gx, ghx[i], gc, gws[i], gbs[i] = cell.backward(
                    None if gradient is None else gradient[:, columns],
                    _state_of(ghy, i),
                    _state_of(gcy, i),
                )
                if gcx is not None:
                    gcx[i] = gc
                if mask is not None:
                    gx *= mask
                # Both directions of a layer have the same input.
                if below is None:
                    below = gx
                else:
                    below += gx
            gradient = below
        if ghx.dtype != dtype:
            gradient, ghx = gradient.astype(dtype), ghx.astype(dtype)
            gcx = None if gcx is None else gcx.astype(dtype)
            gws = [[g.astype(dtype) for g in group] for group in gws]
            gbs = [[g.astype(dtype) for g in group] for group in gbs]
        return gradient, ghx, gcx, gws, gbs

    def masks(self, residual: list[_Run]) -> list[Array | None]:
        return [run.mask for run in residual]


def _state_of(gradients: Array | None, i: int) -> Array | None:
    """Returns the gradient of a final state of one direction of a layer; None if there is none."""
    return None if gradients is None else to_compute_dtype(gradients[i])


def _converted(arrays: Iterable[Array]) -> list[Array]:
    return [to_compute_dtype(array) for array in arrays]

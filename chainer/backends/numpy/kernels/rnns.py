"""Reference kernel of recurrent networks over whole sequences."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy

from chainer.backends.numpy.kernels._rnn_cells import (
    Cell,
    GRUCell,
    LSTMCell,
    PackedParts,
    SimpleCell,
    Steps,
)
from chainer.core.arrays.kernel import ReferenceKernel

_CELLS: dict[str, type[Cell]] = {
    "lstm": LSTMCell,
    "gru": GRUCell,
    "tanh": SimpleCell,
    "relu": SimpleCell,
}


class NStepRNNKernel(ReferenceKernel):
    """Recurrent network layer by layer; each starts with one product over all times.

    Attributes:
        packs: Whether the cells need the gradients of the outputs as one array.
    """

    packs: ClassVar[bool] = False

    def forward(
        self,
        x: Any,
        hx: Any,
        cx: Any,
        ws: list[list[Any]],
        bs: list[list[Any]],
        mode: str,
        directions: int,
        batch_sizes: tuple[int, ...],
        ratio: float,
    ) -> tuple[Any, Any, Any, Any]:
        xp = self.xp
        dtype = x.dtype
        x, hx = _widened(x), _widened(hx)
        hy = xp.empty_like(hx)
        cy = None if cx is None else xp.empty_like(hx)
        layers = len(ws) // directions
        runs: list[_Run] = []
        for layer in range(layers):
            outputs: list[Any] = []
            for direction in range(directions):
                i = layer * directions + direction
                mask = None
                values = x
                if layer and ratio:
                    mask = self._mask(x, ratio)
                    values = x * mask
                steps = Steps(batch_sizes, direction == 1)
                cell = self.make_cell(mode, _all_widened(ws[i]), _all_widened(bs[i]), steps)
                c0 = None if cx is None else _widened(cx[i])
                y, hy[i], c = cell.forward(values, hx[i], c0)
                if cy is not None:
                    cy[i] = c
                outputs.append(y)
                runs.append(_Run(cell, mask))
            x = outputs[0] if directions == 1 else xp.concatenate(outputs, axis=1)
        if dtype == numpy.float16:
            x, hy = x.astype(dtype), hy.astype(dtype)
            cy = None if cy is None else cy.astype(dtype)
        return x, hy, cy, runs

    def make_cell(self, mode: str, w: list[Any], b: list[Any], steps: Steps) -> Any:
        """Returns the cell of one layer and direction; other kernels have others."""
        return _CELLS[mode](self.xp, mode, w, b, steps)

    def packed(self, gys: list[Any], batch_sizes: tuple[int, ...]) -> Any:
        """Returns the gradients of the outputs as cells take them: packed, or indexed as if."""
        if len(gys) == 1:
            return gys[0]
        if self.packs or self.xp is not numpy:
            return self.xp.concatenate(gys)
        return PackedParts(gys, batch_sizes)

    def _mask(self, x: Any, ratio: float) -> Any:
        xp = self.xp
        kept = xp.random.rand(*x.shape) >= ratio
        return xp.multiply(kept, x.dtype.type(1.0 / (1 - ratio)))

    def backward(
        self,
        x: Any,
        hx: Any,
        cx: Any,
        ws: list[list[Any]],
        bs: list[list[Any]],
        residual: list[_Run],
        gys: list[Any] | None,
        ghy: Any,
        gcy: Any,
        mode: str,
        directions: int,
        batch_sizes: tuple[int, ...],
        ratio: float,
    ) -> tuple[Any, Any, Any, list[list[Any]], list[list[Any]]]:
        xp = self.xp
        dtype = hx.dtype
        size = hx.shape[2]
        layers = len(ws) // directions
        ghx = xp.empty(hx.shape, _widened(hx[:0]).dtype)
        gcx = None if cx is None else xp.empty_like(ghx)
        gws: list[Any] = [None] * len(ws)
        gbs: list[Any] = [None] * len(bs)
        gradient: Any = None if gys is None else self.packed(_all_widened(gys), batch_sizes)
        for layer in reversed(range(layers)):
            below: Any = None
            for direction in range(directions):
                i = layer * directions + direction
                run = residual[i]
                columns = slice(direction * size, (direction + 1) * size)
                gx, ghx[i], gc, gws[i], gbs[i] = run.cell.backward(
                    None if gradient is None else gradient[:, columns],
                    None if ghy is None else _widened(ghy[i]),
                    None if gcy is None else _widened(gcy[i]),
                )
                if gcx is not None:
                    gcx[i] = gc
                if run.mask is not None:
                    gx *= run.mask
                if below is None:
                    below = gx
                else:
                    below += gx
            gradient = below
        if dtype == numpy.float16:
            gradient, ghx = gradient.astype(dtype), ghx.astype(dtype)
            gcx = None if gcx is None else gcx.astype(dtype)
            gws = [[g.astype(dtype) for g in group] for group in gws]
            gbs = [[g.astype(dtype) for g in group] for group in gbs]
        return gradient, ghx, gcx, gws, gbs

    def masks(self, residual: list[_Run]) -> list[Any]:
        return [run.mask for run in residual]


class _Run:
    """A cell that ran over the sequences, and the mask of its input."""

    __slots__ = ("cell", "mask")

    def __init__(self, cell: Cell, mask: Any) -> None:
        self.cell = cell
        self.mask = mask


def _widened(x: Any) -> Any:
    return x.astype(numpy.float32) if x.dtype == numpy.float16 else x


def _all_widened(arrays: list[Any]) -> list[Any]:
    return [_widened(array) for array in arrays]

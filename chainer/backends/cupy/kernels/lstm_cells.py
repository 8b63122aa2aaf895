"""CUDA kernels of LSTM cells."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import as_argument, is_wide
from chainer.backends.cupy.kernels._rnn_functions import RNNFunctions
from chainer.core.typing import Array, Arrays

#: The structure Children of the source.
MOST_CHILDREN = 16
_CHILDREN = numpy.dtype(
    [("c", "<u8", MOST_CHILDREN), ("gc", "<u8", MOST_CHILDREN), ("count", "<i8")]
)


class LSTMCellKernel(RNNFunctions):
    """Kernel of ``lstm_cell``; backward computes the gates again."""

    def forward(self, c_prev: Array, x: Array) -> tuple[Array, Array, Array]:
        c_prev, x = self.contiguous(c_prev), self.contiguous(x)
        c, h = self.new_like(c_prev), self.new_like(c_prev)
        self.call("lstm_forward", c, c_prev, x, c, h, prod(x.shape[2:]))
        return c, h, None

    def backward(
        self, c_prev: Array, x: Array, c: Array, saved: Any, gc: Array, gh: Array
    ) -> tuple[Array, Array]:
        c_prev, x, c, gc, gh = map(self.contiguous, (c_prev, x, c, gc, gh))
        gc_prev, gx = self.new_like(c_prev), self.new_like(x)
        arrays = (c_prev, x, c, gc, gh, gc_prev, gx)
        self.call("lstm_backward", c, *arrays, prod(x.shape[2:]))
        return gc_prev, gx


class SLSTMCellKernel(RNNFunctions):
    """Kernel of ``s_lstm_cell``; backward computes the gates again."""

    def forward(self, c1: Array, c2: Array, x1: Array, x2: Array) -> tuple[Array, Array, Array]:
        c1, c2, x1, x2 = map(self.contiguous, (c1, c2, x1, x2))
        c, h = self.new_like(c1), self.new_like(c1)
        self.call("s_lstm_forward", c, c1, c2, x1, x2, c, h, prod(x1.shape[2:]))
        return c, h, None

    def backward(
        self, inputs: Arrays, c: Array, saved: None, gc: Array, gh: Array
    ) -> tuple[Array, Array, Array, Array]:
        arrays = tuple(map(self.contiguous, (*inputs, c, gc, gh)))
        gradients = tuple([self.new_like(array) for array in arrays[:4]])
        self.call("s_lstm_backward", arrays[4], *arrays, *gradients, prod(arrays[2].shape[2:]))
        return gradients[0], gradients[1], gradients[2], gradients[3]


class TreeLSTMCellKernel(RNNFunctions):
    """Kernel of ``tree_lstm_cell``; backward computes the gates again."""

    def forward(self, cs: list[Array], x: Array) -> tuple[Array, Array, Array]:
        cs, x = [self.contiguous(c) for c in cs], self.contiguous(x)
        c, h = self.new_like(cs[0]), self.new_like(cs[0])
        self._call("tree_lstm_forward", x, self._children(cs), x, c, h, prod(c.shape[1:]), c.size)
        return c, h, None

    def backward(
        self, cs: list[Array], x: Array, c: Array, saved: Any, gc: Array, gh: Array
    ) -> tuple[list[Array], Any]:
        cs = [self.contiguous(child) for child in cs]
        x, c, gc, gh = map(self.contiguous, (x, c, gc, gh))
        gcs, gx = [self.new_like(child) for child in cs], self.new_like(x)
        children = self._children(cs, gcs)
        row = prod(c.shape[1:])
        self._call("tree_lstm_backward", x, children, x, c, gc, gh, gx, row, c.size)
        return gcs, gx

    def _children(self, cs: list[Array], gcs: Sequence[Array] = ()) -> Array:
        record = numpy.zeros((), _CHILDREN)
        for name, arrays in (("c", cs), ("gc", gcs)):
            record[name][: len(arrays)] = [self.address(array) for array in arrays]
        record["count"] = len(cs)
        return as_argument(record)

    def _call(self, name: str, x: Array, *args: Any) -> None:
        *rest, count = args
        self.each(name, types_for(x.dtype, wide=is_wide(x)), count, *rest)

"""Kernel of attention with one query of each head, as when text is decoded.

The reference makes about fifteen calls of NumPy for it, each of which takes longer than its few
numbers. Here a head is read once, and its scores stay in the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba import vector_math
from chainer_numba.arrays_in_memory import carray, pointer
from chainer_numba.launching import dense, inlined, launch, summing

if TYPE_CHECKING:
    from chainer.backend import Backend

f, _address = numpy.float32, numpy.uintp
_ZERO, _ONE, _LOWEST = f(0), f(1), f(-numpy.inf)
_NO_MASK = numpy.ones((0, 0, 0), bool)


@inlined
def _matrix(address, at, rows, columns):
    return carray(pointer(_address(address) + _address(at)), (rows, columns), f)


@inlined
def _exponentials(scores):
    """Replaces scores by exponentials relative to the largest one; returns their sum."""
    top = vector_math.maximum(scores)
    if top == _LOWEST:
        # The query sees no key, and minus infinity minus itself would be NaN.
        top = _ZERO
    total = _ZERO
    for s in range(len(scores)):
        e = vector_math.exp_of_negative(scores[s] - top)
        scores[s] = e
        total += e
    return total


@summing
def one_query(part, start, stop, q, keys, values, places, mask, scale, cap, y):
    """Attends with the queries of some heads of the keys.

    ``keys`` and ``values`` are addresses. ``places`` are the number of heads of the keys, the
    number of keys, and the bytes from a text and a head to the next, of the keys and the values.
    """
    heads, n_keys, key_text, key_head, value_text, value_head = places
    _, group, size = q.shape
    width = y.shape[2]
    scores = numpy.empty(n_keys, f)
    for row in range(start, stop):
        text, head = row // heads, row % heads
        k = _matrix(keys, text * key_text + head * key_head, n_keys, size)
        v = _matrix(values, text * value_text + head * value_head, n_keys, width)
        for g in range(group):
            for s in range(n_keys):
                total = _ZERO
                for d in range(size):
                    total += q[row, g, d] * k[s, d]
                scores[s] = total * f(scale)
            if cap > 0:
                for s in range(n_keys):
                    scores[s] = f(cap) * vector_math.tanh(scores[s])
            if mask.size:
                for s in range(n_keys):
                    scores[s] = scores[s] if mask[row, g, s] else _LOWEST
            total = _exponentials(scores)
            output = y[row, g]
            output[:] = _ZERO
            for s in range(n_keys):
                weight = scores[s]
                for d in range(width):
                    output[d] += weight * v[s, d]
            inverse = _ONE / total if total > _ZERO else _ONE
            for d in range(width):
                output[d] *= inverse


class AttentionKernel:
    """Kernel of ``scaled_dot_product_attention`` with one query.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("scaled_dot_product_attention").reference_for(backend)

    def forward(
        self,
        q: Array,
        k: Array,
        v: Array,
        mask: Array | None,
        keep: Array | None,
        options: Any,
        save: bool,
    ) -> tuple[Array, None]:
        texts, heads, n_keys, size = k.shape
        shape = *q.shape[:-1], v.shape[-1]
        y = numpy.empty(shape, f)
        first, stop = _seen(options, n_keys)
        visible = _NO_MASK
        if mask is not None:
            visible = numpy.broadcast_to(mask, (*q.shape[:-1], n_keys))[..., first:stop]
        if stop - first < n_keys:
            k, v, n_keys = k[:, :, first:stop], v[:, :, first:stop], stop - first
        if not y.size or not n_keys:
            y[...] = 0
            return y, None
        k, v = _rows(k), _rows(v)
        rows, group = texts * heads, q.shape[1] // heads
        places = heads, n_keys, *k.strides[:2], *v.strides[:2]
        scale, cap = options.scale, options.softcap or 0.0
        launch(
            one_query,
            rows,
            2 * q.shape[1] * texts * n_keys * size,
            dense(q).reshape(rows, group, size),
            k.__array_interface__["data"][0],
            v.__array_interface__["data"][0],
            places,
            visible if mask is None else numpy.array(visible).reshape(rows, group, n_keys),
            scale / cap if cap else scale,
            cap,
            y.reshape(rows, group, shape[-1]),
        )
        return y, None

    def backward(
        self,
        inputs: tuple[Array, Array, Array, Array | None],
        keep: Array | None,
        y: Array,
        gy: Array,
        residual: None,
        options: Any,
        mask_gradient: bool,
    ) -> tuple[Array, Array, Array, Array | None]:
        # Text is decoded without gradients: the exponentials are not kept, but computed again.
        _, saved = self._reference.forward(*inputs, keep, options, True)
        return self._reference.backward(inputs, keep, y, gy, saved, options, mask_gradient)


def _rows(array: Array) -> Array:
    """Returns an array whose last two axes are contiguous; texts and heads may be anywhere."""
    is_dense = array.strides[2:] == (4 * array.shape[3], 4)
    return array if is_dense and array.flags.aligned else numpy.array(array, order="C")


def _seen(options: Any, n_keys: int) -> tuple[int, int]:
    """Returns the first key that the query may attend to, and the one after the last."""
    start, stop, position = 0, n_keys, options.offset
    if options.causal:
        stop = min(stop, position + 1)
    if options.window is not None:
        start = max(start, position - options.window + 1)
        stop = min(stop, position + options.window)
    start = min(start, n_keys)
    return start, max(start, stop)

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
from chainer_numba.arrays_in_memory import address_of, carray, pointer
from chainer_numba.launching import dense, inlined, launch, summing
from chainer_numba.packed_rows import BLOCK, products_of_rows, weighted_sums

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
    """Replaces scores by exponentials relative to the largest one."""
    top = vector_math.maximum(scores)
    if top == _LOWEST:
        # The query sees no key, and minus infinity minus itself would be NaN.
        top = _ZERO
    for s in range(len(scores)):
        scores[s] = vector_math.exp_of_negative(scores[s] - top)


# Heads of whole blocks, which are usual, are products with few rows.


@summing
def _products(q, k, scores):
    """Writes the products of the queries of a head with its keys."""
    group, size = q.shape
    if size % BLOCK == 0:
        products_of_rows(q, k, scores)
        return
    for g in range(group):
        for s in range(len(k)):
            total = _ZERO
            for d in range(size):
                total += q[g, d] * k[s, d]
            scores[g, s] = total


@summing
def _means(weights, v, y):
    """Writes the means of the values of a head by weights whose sum is not 1."""
    group, width = y.shape
    if width % BLOCK == 0:
        weighted_sums(weights, v, y)
    else:
        y[:] = _ZERO
        for g in range(group):
            for s in range(len(v)):
                weight = weights[g, s]
                for d in range(width):
                    y[g, d] += weight * v[s, d]
    for g in range(group):
        total = _ZERO
        for s in range(len(v)):
            total += weights[g, s]
        inverse = _ONE / total if total > _ZERO else _ONE
        for d in range(width):
            y[g, d] *= inverse


@summing
def one_query(part, start, stop, q, keys, values, places, mask, scale, cap, y):
    """Attends with the queries of some heads of the keys.

    ``keys`` and ``values`` are identities of arrays. ``places`` are the number of heads of the
    keys, the number of keys, and the bytes from a text and a head to the next, of the keys and the
    values.
    """
    heads, n_keys, key_text, key_head, value_text, value_head = places
    keys, values = address_of(keys), address_of(values)
    _, group, size = q.shape
    width = y.shape[2]
    scores = numpy.empty((group, n_keys), f)
    for row in range(start, stop):
        text, head = row // heads, row % heads
        k = _matrix(keys, text * key_text + head * key_head, n_keys, size)
        v = _matrix(values, text * value_text + head * value_head, n_keys, width)
        _products(q[row], k, scores)
        for g in range(group):
            each = scores[g]
            for s in range(n_keys):
                each[s] *= f(scale)
            if cap > 0:
                for s in range(n_keys):
                    each[s] = f(cap) * vector_math.tanh(each[s])
            if mask.size:
                for s in range(n_keys):
                    each[s] = each[s] if mask[row, g, s] else _LOWEST
            _exponentials(each)
        _means(scores, v, y[row])


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
        if stop - first < n_keys:
            k, v = k[:, :, first:stop], v[:, :, first:stop]
        seen = stop - first
        if not y.size or not seen:
            y[...] = 0
            return y, None
        k, v = _rows(k), _rows(v)
        rows, group = texts * heads, q.shape[1] // heads
        if q.dtype != f or not q.flags.carray:
            q = dense(q)
        visible = _NO_MASK
        if mask is not None:
            mask = numpy.broadcast_to(mask, (*q.shape[:-1], n_keys))[..., first:stop]
            visible = numpy.array(mask).reshape(rows, group, seen)
        scale, cap = options.scale, options.softcap or 0.0
        k_text, k_head, _, _ = k.strides
        v_text, v_head, _, _ = v.strides
        launch(
            one_query,
            rows,
            2 * q.size * seen,
            q.reshape(rows, group, size),
            id(k),
            id(v),
            (heads, seen, k_text, k_head, v_text, v_head),
            visible,
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
    if options.causal and position + 1 < stop:
        stop = position + 1
    if options.window is not None:
        start = max(start, position - options.window + 1)
        stop = min(stop, position + options.window)
    if start or stop <= 0:
        start = min(start, n_keys)
        stop = max(start, stop)
    return start, stop

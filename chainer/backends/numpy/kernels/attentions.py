"""Reference kernel of attention.

It processes one block of queries after the other, so that the scores of a block stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy

from chainer.backends.compute_dtypes import to_compute_dtype as widened
from chainer.backends.operations.attentions import AttentionOptions
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array

# Scores of a block: half a megabyte of float32, about the size of a second-level cache.
_BLOCK = 1 << 17
# Queries of a block under the causal mask. Smaller blocks skip more of the masked scores, but cost
# more calls.
_CAUSAL_QUERIES = 64
# Up to this number of exponentials (64 MiB of float32) are kept for backward. Above it, backward
# computes them again: then the memory grows linearly with the number of keys.
_SAVED_ELEMENTS = 1 << 24
# If the scores are between -40 and 40, neither their exponentials nor sums of these overflow or
# vanish. Then the maximum need not be subtracted first.
_SAFE_SCORE = 40.0


class _Block(NamedTuple):
    """Some queries of some of the matrices, and how many keys they can attend to."""

    batch: slice
    heads: slice
    queries: slice
    n_keys: int

    @property
    def where(self) -> tuple[slice, slice, slice]:
        """Index of the queries."""
        return self.batch, self.heads, self.queries

    @property
    def keys(self) -> tuple[slice, slice, slice]:
        """Index of the keys and values."""
        return self.batch, self.heads, slice(0, self.n_keys)

    @property
    def scores(self) -> tuple[slice, slice, slice, slice]:
        """Index of the scores."""
        return *self.where, slice(0, self.n_keys)


@dataclass
class _Saved:
    """Values of a block that backward needs.

    Attributes:
        block: The block.
        weights: Exponentials of the scores, or None if they have to be computed again.
        shift: Numbers that were subtracted from the scores of each query, or None.
        inverse_sum: Reciprocal of the sum of the weights of each query; zero if the query can
            attend to no key.
    """

    block: _Block
    weights: Array | None
    shift: Array | None
    inverse_sum: Array


def _four_axes(array: Array) -> Array:
    """Views an array ``(..., M, N)`` as a batch of stacks of matrices."""
    if array.ndim > 4:
        return array.reshape((-1, *array.shape[-3:]))
    return array[(None,) * (4 - array.ndim)] if array.ndim < 4 else array


def _original_axes(array: Array, ndim: int, leading: tuple[int, ...]) -> Array:
    """Undoes :func:`_four_axes`."""
    if ndim > 4:
        return array.reshape((*leading, *array.shape[-2:]))
    return array[(0,) * (4 - ndim)] if ndim < 4 else array


class AttentionKernel(ReferenceKernel):
    """Softmax attention."""

    def forward(
        self,
        q: Array,
        k: Array,
        v: Array,
        mask: Array | None,
        keep: Array | None,
        options: AttentionOptions,
        save: bool,
    ) -> tuple[Array, list[_Saved] | None]:
        """Computes the output; see the operation."""
        xp = self.xp
        dtype, ndim, leading = q.dtype, q.ndim, q.shape[:-2]
        mask = self._full_mask(mask, q, k)
        q, k, v = (_four_axes(widened(array)) for array in (q, k, v))
        keep = None if keep is None else _four_axes(keep)
        # The order of axes in memory is that of q. If q is a transposed view, transposing y back
        # copies nothing.
        same = v.shape[-1] == q.shape[-1]
        y = xp.empty_like(q) if same else xp.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
        blocks: list[_Saved] | None = [] if save else None
        save_weights = y.size // max(y.shape[-1], 1) * k.shape[-2] <= _SAVED_ELEMENTS
        safe = mask is None and self._is_safe(q, k, options.scale)
        for block in self._blocks(q.shape, k.shape[-2], options.causal):
            keys, values = k[block.keys], v[block.keys]
            weights, shift = self._weights(q, keys, mask, block, options, None, safe)
            total = xp.matmul(weights, xp.ones(block.n_keys, weights.dtype))
            inverse = 1 / xp.where(total > 0, total, 1)
            if mask is not None:
                inverse *= total > 0
            kept = weights if keep is None else weights * keep[block.scores]
            output = xp.matmul(kept, values)
            output *= (inverse if keep is None else inverse / (1 - options.ratio))[..., None]
            y[block.where] = output
            if blocks is not None:
                blocks.append(_Saved(block, weights if save_weights else None, shift, inverse))
        y = y.astype(dtype, copy=False)
        return _original_axes(y, ndim, leading), blocks

    def backward(
        self,
        inputs: tuple[Array, Array, Array, Array | None],
        keep: Array | None,
        y: Array,
        gy: Array,
        residual: list[_Saved],
        options: AttentionOptions,
        mask_gradient: bool,
    ) -> tuple[Array, Array, Array, Array | None]:
        """Computes the gradients; see the operation."""
        xp = self.xp
        q, k, v, mask = inputs
        dtype, ndim, leading = q.dtype, q.ndim, q.shape[:-2]
        full_mask = self._full_mask(mask, q, k)
        small_mask = _four_axes(mask) if mask is not None and mask_gradient else None
        q, k, v, y, gy = (_four_axes(widened(array)) for array in (q, k, v, y, gy))
        keep = None if keep is None else _four_axes(keep)
        gq, gk, gv = xp.empty_like(q), xp.zeros_like(k), xp.zeros_like(v)
        gmask = None if small_mask is None else xp.zeros(small_mask.shape, q.dtype)
        for block, weights, shift, inverse in (
            (saved.block, saved.weights, saved.shift, saved.inverse_sum) for saved in residual
        ):
            keys, values = k[block.keys], v[block.keys]
            if weights is None:
                safe = shift is None
                weights, _ = self._weights(q, keys, full_mask, block, options, shift, safe)
            gy_block = gy[block.where]
            # The gradient of a softmax subtracts the mean of the weights' gradients. That mean is
            # also the dot product of the output and its gradient, which needs no scores.
            mean = xp.einsum("bhid,bhid->bhi", gy_block, y[block.where])
            mean *= inverse
            factor = inverse if keep is None else inverse / (1 - options.ratio)
            scaled = gy_block * factor[..., None]
            kept = weights if keep is None else weights * keep[block.scores]
            gv[block.keys] += xp.matmul(kept.swapaxes(-1, -2), scaled)
            g = xp.matmul(scaled, values.swapaxes(-1, -2))
            if keep is not None:
                g *= keep[block.scores]
            g -= mean[..., None]
            g *= weights
            if gmask is not None:
                _add_broadcast(gmask, g, block)
            rows = xp.matmul(g, keys)
            rows *= options.scale
            gq[block.where] = rows
            gk[block.keys] += xp.matmul(g.swapaxes(-1, -2), q[block.where] * options.scale)
        gq, gk, gv = (
            _original_axes(g.astype(dtype, copy=False), ndim, leading) for g in (gq, gk, gv)
        )
        if mask is not None and gmask is not None:
            gmask = gmask.astype(dtype, copy=False).reshape(mask.shape)
        return gq, gk, gv, gmask

    def _full_mask(self, mask: Array | None, q: Array, k: Array) -> Array | None:
        if mask is None:
            return None
        if mask.dtype.kind == "f":
            mask = widened(mask)
        return _four_axes(self.xp.broadcast_to(mask, (*q.shape[:-1], k.shape[-2])))

    def _is_safe(self, q: Array, k: Array, scale: float) -> bool:
        """Tells whether the exponential of every score is safe without subtracting the maximum."""
        # On an accelerator the host would have to wait for the answer.
        if self.xp is not numpy or not q.size or not k.size:
            return False
        with numpy.errstate(over="ignore", invalid="ignore"):
            squares = (numpy.einsum("bhid,bhid->bhi", a, a).max() for a in (q, k))
            bound = abs(scale) * float(numpy.sqrt(numpy.prod([float(s) for s in squares])))
        return bound <= _SAFE_SCORE

    def _blocks(self, shape: tuple[int, ...], n_keys: int, causal: bool) -> Iterator[_Block]:
        batch, heads, queries, _ = shape
        if not (batch and heads and queries):
            return
        if self.xp is numpy:
            # Matrix products of fewer than 16 rows are slow, so many keys make a larger block.
            rows = min(queries, max(_BLOCK // max(n_keys, 1), 16))
            if causal:
                rows = min(rows, _CAUSAL_QUERIES)
            stack = max(_BLOCK // (rows * max(n_keys, 1)), 1)
        else:
            # On an accelerator each block would be a series of launches.
            rows, stack = queries, batch * heads
        some_heads = min(heads, stack)
        some_batch = max(stack // heads, 1)
        for b in range(0, batch, some_batch):
            for h in range(0, heads, some_heads):
                for i in range(0, queries, rows):
                    end = min(i + rows, queries)
                    visible = min(end, n_keys) if causal else n_keys
                    yield _Block(
                        slice(b, b + some_batch), slice(h, h + some_heads), slice(i, end), visible
                    )

    def _weights(
        self,
        q: Array,
        keys: Array,
        mask: Array | None,
        block: _Block,
        options: AttentionOptions,
        shift: Array | None,
        safe: bool,
    ) -> tuple[Array, Array | None]:
        """Returns the exponentials of the scores of a block, and the shift of the scores."""
        xp = self.xp
        scores = xp.matmul(q[block.where] * options.scale, keys.swapaxes(-1, -2))
        if options.causal:
            first = min(block.queries.start, block.n_keys)
            rows = block.queries.stop - block.queries.start
            future = xp.tri(rows, block.n_keys - first, dtype=scores.dtype) == 0
            scores[..., first:] += xp.where(future, -numpy.inf, 0).astype(scores.dtype)
        if mask is not None:
            part = mask[block.scores]
            if part.dtype == bool:
                scores = xp.where(part, scores, xp.asarray(-numpy.inf, scores.dtype))
            else:
                scores += part
        if not safe and block.n_keys:
            if shift is None:
                largest = scores.max(axis=-1, keepdims=True)
                # A query that can attend to no key has a maximum of minus infinity. Subtracting it
                # would give NaN.
                if mask is not None:
                    zero = xp.asarray(0, largest.dtype)
                    largest = xp.where(largest == -numpy.inf, zero, largest)
                shift = largest
            scores -= shift
        xp.exp(scores, out=scores)
        return scores, shift


def _add_broadcast(total: Array, part: Array, block: _Block) -> None:
    """Adds the gradient of the scores of a block to the gradient of a mask that is broadcast."""
    index = tuple(
        slice(0, 1) if n == 1 else s for n, s in zip(total.shape, block.scores, strict=True)
    )
    axes = tuple(i for i, n in enumerate(total.shape) if n == 1)
    total[index] += part.sum(axis=axes, keepdims=True) if axes else part

"""Reference kernel of attention: block by block of queries, so that scores stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy

from chainer.kernel import ReferenceKernel
from chainer_modern.blocks import widened

# Scores of a block: half a megabyte of float32, about the size of a second-level cache.
_BLOCK = 1 << 17
# Queries of a block under the causal mask: smaller ones save more work, and cost more calls.
_CAUSAL_QUERIES = 64
# Exponentials are kept for backward up to this number (64 MiB of float32), and computed again
# beyond: then the memory is linear in the number of keys.
_SAVED_ELEMENTS = 1 << 24
# exp() of scores below it and above its negative neither overflows nor vanishes, also when many are
# summed up; so the maximum need not be found and subtracted.
_SAFE_SCORE = 40.0


class _Block(NamedTuple):
    """Some queries of some of the matrices, and how many keys they see."""

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
    """What backward needs of a block.

    Attributes:
        block: Which block.
        weights: Exponentials of the scores, or None if they have to be computed again.
        shift: What was subtracted from the scores of each query, or None.
        inverse_sum: Reciprocal of the sum of the weights of each query; zero if it sees no key.
    """

    block: _Block
    weights: Any
    shift: Any
    inverse_sum: Any


def _four_axes(array: Any) -> Any:
    """Views an array ``(..., M, N)`` as a batch of stacks of matrices."""
    if array.ndim > 4:
        return array.reshape((-1, *array.shape[-3:]))
    return array[(None,) * (4 - array.ndim)] if array.ndim < 4 else array


def _original_axes(array: Any, ndim: int, leading: tuple[int, ...]) -> Any:
    """Takes back what :func:`_four_axes` did."""
    if ndim > 4:
        return array.reshape((*leading, *array.shape[-2:]))
    return array[(0,) * (4 - ndim)] if ndim < 4 else array


class AttentionKernel(ReferenceKernel):
    """Softmax attention."""

    def forward(
        self,
        q: Any,
        k: Any,
        v: Any,
        mask: Any,
        keep: Any,
        causal: bool,
        scale: float,
        ratio: float,
        save: bool,
    ) -> tuple[Any, Any]:
        """Computes the output; see the operation."""
        xp = self.xp
        dtype, ndim, leading = q.dtype, q.ndim, q.shape[:-2]
        mask = self._full_mask(mask, q, k)
        q, k, v = (_four_axes(widened(array)) for array in (q, k, v))
        keep = None if keep is None else _four_axes(keep)
        # Like q in memory, so that what undoes the transposition of q copies nothing.
        same = v.shape[-1] == q.shape[-1]
        y = xp.empty_like(q) if same else xp.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
        blocks: list[_Saved] | None = [] if save else None
        save_weights = y.size // max(y.shape[-1], 1) * k.shape[-2] <= _SAVED_ELEMENTS
        safe = mask is None and self._is_safe(q, k, scale)
        for block in self._blocks(q.shape, k.shape[-2], causal):
            keys, values = k[block.keys], v[block.keys]
            weights, shift = self._weights(q, keys, mask, block, causal, scale, None, safe)
            total = xp.matmul(weights, xp.ones(block.n_keys, weights.dtype))
            inverse = 1 / xp.where(total > 0, total, 1)
            if mask is not None:
                inverse *= total > 0
            kept = weights if keep is None else weights * keep[block.scores]
            output = xp.matmul(kept, values)
            output *= (inverse if keep is None else inverse / (1 - ratio))[..., None]
            y[block.where] = output
            if blocks is not None:
                blocks.append(_Saved(block, weights if save_weights else None, shift, inverse))
        y = y.astype(dtype, copy=False)
        return _original_axes(y, ndim, leading), blocks

    def backward(
        self,
        q: Any,
        k: Any,
        v: Any,
        mask: Any,
        keep: Any,
        y: Any,
        gy: Any,
        residual: list[_Saved],
        causal: bool,
        scale: float,
        ratio: float,
        mask_gradient: bool,
    ) -> tuple[Any, Any, Any, Any]:
        """Computes the gradients; see the operation."""
        xp = self.xp
        dtype, ndim, leading = q.dtype, q.ndim, q.shape[:-2]
        full_mask = self._full_mask(mask, q, k)
        small_mask = _four_axes(mask) if mask_gradient else None
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
                weights, _ = self._weights(q, keys, full_mask, block, causal, scale, shift, safe)
            gy_block = gy[block.where]
            mean = xp.einsum("bhid,bhid->bhi", gy_block, y[block.where])
            mean *= inverse
            scaled = gy_block * (inverse if keep is None else inverse / (1 - ratio))[..., None]
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
            rows *= scale
            gq[block.where] = rows
            gk[block.keys] += xp.matmul(g.swapaxes(-1, -2), q[block.where] * scale)
        gq, gk, gv = (
            _original_axes(g.astype(dtype, copy=False), ndim, leading) for g in (gq, gk, gv)
        )
        if gmask is not None:
            gmask = gmask.astype(dtype, copy=False).reshape(mask.shape)
        return gq, gk, gv, gmask

    def _full_mask(self, mask: Any, q: Any, k: Any) -> Any:
        if mask is None:
            return None
        if mask.dtype.kind == "f":
            mask = widened(mask)
        return _four_axes(self.xp.broadcast_to(mask, (*q.shape[:-1], k.shape[-2])))

    def _is_safe(self, q: Any, k: Any, scale: float) -> bool:
        """Tells whether no score can be so large that exponentials need care."""
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
            rows = min(queries, max(_BLOCK // max(n_keys, 1), 16))
            if causal:
                rows = min(rows, _CAUSAL_QUERIES)
            stack = max(_BLOCK // (rows * max(n_keys, 1)), 1)
        else:
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
        q: Any,
        keys: Any,
        mask: Any,
        block: _Block,
        causal: bool,
        scale: float,
        shift: Any,
        safe: bool,
    ) -> tuple[Any, Any]:
        """Returns the exponentials of the scores of a block and what was subtracted before."""
        xp = self.xp
        scores = xp.matmul(q[block.where] * scale, keys.swapaxes(-1, -2))
        if causal:
            first = min(block.queries.start, block.n_keys)
            rows = block.queries.stop - block.queries.start
            future = xp.tri(rows, block.n_keys - first, dtype=scores.dtype) == 0
            scores[..., first:] += xp.where(future, -numpy.inf, 0).astype(scores.dtype)
        if mask is not None:
            part = mask[block.scores]
            if part.dtype.kind == "b":
                scores = xp.where(part, scores, xp.asarray(-numpy.inf, scores.dtype))
            else:
                scores += part
        if not safe and block.n_keys:
            if shift is None:
                shift = scores.max(axis=-1, keepdims=True)
                if mask is not None:  # queries that see nothing
                    shift = xp.where(shift == -numpy.inf, xp.asarray(0, shift.dtype), shift)
            scores -= shift
        xp.exp(scores, out=scores)
        return scores, shift


def _add_broadcast(total: Any, part: Any, block: _Block) -> None:
    """Adds the scores' gradient of a block to that of a mask which is broadcast."""
    index = tuple(
        slice(0, 1) if n == 1 else s for n, s in zip(total.shape, block.scores, strict=True)
    )
    axes = tuple(i for i, n in enumerate(total.shape) if n == 1)
    total[index] += part.sum(axis=axes, keepdims=True) if axes else part

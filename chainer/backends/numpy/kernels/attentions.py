"""Reference kernel of attention.

It processes one block of queries after the other, so that the scores of a block stay in the cache.
Arrays have five axes: batch, heads of the keys, queries' heads for each of them, positions, sizes.
The third axis has the length 1 in keys and values, which are thus never repeated in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
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
    """Some queries of some of the matrices, and the keys that they can attend to."""

    batch: slice
    heads: slice
    queries: slice
    seen: slice

    @property
    def where(self) -> tuple[slice, slice, slice, slice]:
        """Index of the queries."""
        return self.batch, self.heads, slice(None), self.queries

    @property
    def keys(self) -> tuple[slice, slice, slice, slice]:
        """Index of the keys and values."""
        return self.batch, self.heads, slice(None), self.seen

    @property
    def scores(self) -> tuple[slice, slice, slice, slice, slice]:
        """Index of the scores."""
        return *self.where, self.seen

    @property
    def n_keys(self) -> int:
        """Number of the keys."""
        return self.seen.stop - self.seen.start


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


def _five_axes(array: Array, heads: int) -> Array:
    """Views an array ``(..., H, M, N)`` as ``(batch, heads, H / heads, M, N)``."""
    array = array[(None,) * (4 - array.ndim)] if array.ndim < 4 else array
    if array.ndim > 4:
        # A length of -1 is undecided where another one is 0.
        array = array.reshape((prod(array.shape[:-3]), *array.shape[-3:]))
    batch, all_heads, rows, columns = array.shape
    group = all_heads // heads if heads else 1
    return array.reshape((batch, heads, group, rows, columns))


def _mask_axes(mask: Array, heads: int) -> Array:
    """Views a mask, whose axes may have the length 1, like :func:`_five_axes`."""
    all_heads = mask.shape[-3] if mask.ndim > 2 else 1
    return _five_axes(mask, 1 if all_heads == 1 else heads)


def _heads(array: Array) -> int:
    return array.shape[-3] if array.ndim > 2 else 1


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
        if q.shape[-2] == 1 and keep is None and not save:
            return self._one_query(q, k, v, mask, options), None
        xp = self.xp
        dtype, leading, heads = q.dtype, q.shape[:-1], _heads(k)
        mask = self._full_mask(mask, q, k)
        q, k, v = (_five_axes(widened(array), heads) for array in (q, k, v))
        keep = None if keep is None else _five_axes(keep, heads)
        # The order of axes in memory is that of q. If q is a transposed view, transposing y back
        # copies nothing.
        same = v.shape[-1] == q.shape[-1]
        y = xp.empty_like(q) if same else xp.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
        blocks: list[_Saved] | None = [] if save else None
        save_weights = y.size // max(y.shape[-1], 1) * k.shape[-2] <= _SAVED_ELEMENTS
        safe = mask is None and self._is_safe(q, k, options)
        may_see_nothing = mask is not None or _may_see_nothing(options, q.shape[-2], k.shape[-2])
        for block in self._blocks(q.shape, k.shape[-2], options):
            keys, values = k[block.keys], v[block.keys]
            weights, shift = self._weights(q, keys, mask, block, options, None, safe)
            kept = weights if keep is None else weights * keep[block.scores]
            output, inverse = self._mean(weights, kept, values, may_see_nothing)
            output *= (inverse if keep is None else inverse / (1 - options.ratio))[..., None]
            y[block.where] = output
            if blocks is not None:
                blocks.append(_Saved(block, weights if save_weights else None, shift, inverse))
        y = y.astype(dtype, copy=False)
        return y.reshape((*leading, y.shape[-1])), blocks

    def _one_query(
        self, q: Array, k: Array, v: Array, mask: Array, options: AttentionOptions
    ) -> Array:
        """Computes the output of one query of each head, as when text is decoded.

        Its scores are few, so that there are no blocks. Heads that share keys are the rows of one
        product, which reads the keys once; as many products of one row read them as often.
        """
        dtype, shape, n_keys = q.dtype, (*q.shape[:-1], v.shape[-1]), k.shape[-2]
        # The options hide keys at the ends only.
        # The last query, which each step of a decoder has, sees them all.
        seen = None
        if options.window is not None or (options.causal and options.offset < n_keys - 1):
            seen = _seen_keys(options, 0, 1, n_keys)
        if seen is not None and seen.stop - seen.start < n_keys:
            k, v = k[..., seen, :], v[..., seen, :]
            if mask is not None and mask.ndim and mask.shape[-1] != 1:
                mask = mask[..., seen]
        q, k, v = widened(q), widened(k), widened(v)
        heads = _heads(k)
        group = _heads(q) // heads if heads else 1
        if group > 1:
            q = q.reshape((*q.shape[:-3], heads, group, q.shape[-1]))
        if mask is not None:
            if mask.dtype.kind == "f":
                mask = widened(mask)
            if group > 1 and _heads(mask) > 1:
                several = (*mask.shape[:-3], heads, group, mask.shape[-1])
                mask = mask.reshape(several)
        scores = self._scores(q, k, options)
        if mask is None and scores.size:
            # The weight of the largest score is 1: no sum is 0, and no query is without a key. A
            # look at all keys for whether the maximum is needed would take longer than finding it.
            scores -= scores.max(axis=-1, keepdims=True)
            self.xp.exp(scores, out=scores)
            y = self.xp.matmul(scores, v)
            y *= 1 / scores.sum(axis=-1, keepdims=True)
        else:
            weights, _ = self._exponentials(scores, mask, True, None, False)
            y, inverse = self._mean(weights, weights, v, True)
            y *= inverse[..., None]
        return y.reshape(shape).astype(dtype, copy=False)

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
        dtype, heads, shapes = q.dtype, _heads(k), (q.shape, k.shape, v.shape)
        full_mask = self._full_mask(mask, q, k)
        wide = None if mask is None or not mask_gradient else self._mask_of_batches(mask, q)
        small_mask = None if wide is None else _mask_axes(wide, heads)
        q, k, v, y, gy = (_five_axes(widened(array), heads) for array in (q, k, v, y, gy))
        keep = None if keep is None else _five_axes(keep, heads)
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
            mean = xp.einsum("bhgid,bhgid->bhgi", gy_block, y[block.where])
            mean *= inverse
            factor = inverse if keep is None else inverse / (1 - options.ratio)
            scaled = gy_block * factor[..., None]
            kept = weights if keep is None else weights * keep[block.scores]
            gv[block.keys] += _sum_of_group(xp.matmul(kept.swapaxes(-1, -2), scaled))
            g = xp.matmul(scaled, values.swapaxes(-1, -2))
            if keep is not None:
                g *= keep[block.scores]
            g -= mean[..., None]
            g *= weights
            if gmask is not None:
                _add_broadcast(gmask, g, block)
            if options.softcap is not None:
                # The scores are computed again: the weights do not tell them exactly.
                ratio = self._products(q[block.where], keys, options.scale / options.softcap)
                g *= 1 - xp.tanh(ratio) ** 2
            rows = xp.matmul(g, keys)
            rows *= options.scale
            gq[block.where] = rows
            products = xp.matmul(g.swapaxes(-1, -2), q[block.where] * options.scale)
            gk[block.keys] += _sum_of_group(products)
        gq, gk, gv = (
            g.astype(dtype, copy=False).reshape(shape)
            for g, shape in zip((gq, gk, gv), shapes, strict=True)
        )
        if mask is not None and wide is not None and gmask is not None:
            gmask = gmask.reshape(wide.shape)
            aligned = (*[1] * (wide.ndim - mask.ndim), *mask.shape)
            repeated = [i for i, n in enumerate(aligned) if n != wide.shape[i]]
            if repeated:
                gmask = gmask.sum(axis=tuple(repeated))
            gmask = gmask.astype(dtype, copy=False).reshape(mask.shape)
        return gq, gk, gv, gmask

    def _mask_of_batches(self, mask: Array, q: Array) -> Array:
        """Repeats a mask along some of several axes in front, which become one axis."""
        aligned = (*[1] * (q.ndim - mask.ndim), *mask.shape)
        if q.ndim <= 4 or set(aligned[:-3]) == {1}:
            return mask
        return self.xp.broadcast_to(mask, (*q.shape[:-3], *aligned[-3:]))

    def _full_mask(self, mask: Array | None, q: Array, k: Array) -> Array | None:
        if mask is None:
            return None
        if mask.dtype.kind == "f":
            mask = widened(mask)
        heads = _heads(k)
        # Views only: merging the leading axes of a mask that is broadcast would copy it.
        if q.ndim <= 4:
            batch = q.shape[0] if q.ndim == 4 else 1
            shape = (batch, heads, _heads(q) // max(heads, 1), q.shape[-2], k.shape[-2])
            return self.xp.broadcast_to(_mask_axes(mask, heads), shape)
        return _five_axes(self.xp.broadcast_to(mask, (*q.shape[:-1], k.shape[-2])), heads)

    def _is_safe(self, q: Array, k: Array, options: AttentionOptions) -> bool:
        """Tells whether the exponential of every score is safe without subtracting the maximum."""
        # On an accelerator the host would have to wait for the answer. For a few queries, such as
        # one that is decoded, finding the maximum costs less than a look at all keys.
        if self.xp is not numpy or not q.size or not k.size or q.shape[-2] < q.shape[-1] / 4:
            return False
        if options.softcap is not None and options.softcap <= _SAFE_SCORE:
            return True
        with numpy.errstate(over="ignore", invalid="ignore"):
            squares = (numpy.einsum("...d,...d->...", a, a).max() for a in (q, k))
            bound = abs(options.scale) * float(numpy.sqrt(numpy.prod([float(s) for s in squares])))
        return bound <= _SAFE_SCORE

    def _blocks(
        self, shape: tuple[int, ...], n_keys: int, options: AttentionOptions
    ) -> Iterator[_Block]:
        batch, heads, group, queries, _ = shape
        if not (batch and heads and group and queries):
            return
        if self.xp is numpy:
            # Matrix products of fewer than 16 rows are slow, so many keys make a larger block.
            rows = min(queries, max(_BLOCK // max(n_keys, 1), 16))
            if options.causal or options.window is not None:
                rows = min(rows, _CAUSAL_QUERIES)
            stack = max(_BLOCK // (rows * group * max(n_keys, 1)), 1)
        else:
            # On an accelerator each block would be a series of launches.
            rows, stack = queries, batch * heads
        some_heads = min(heads, stack)
        some_batch = max(stack // heads, 1)
        for b in range(0, batch, some_batch):
            for h in range(0, heads, some_heads):
                for i in range(0, queries, rows):
                    end = min(i + rows, queries)
                    yield _Block(
                        slice(b, min(b + some_batch, batch)),
                        slice(h, min(h + some_heads, heads)),
                        slice(i, end),
                        _seen_keys(options, i, end, n_keys),
                    )

    def _products(self, q: Array, k: Array, scale: float) -> Array:
        return self.xp.matmul(q * scale, k.swapaxes(-1, -2))

    def _scores(self, q: Array, k: Array, options: AttentionOptions) -> Array:
        cap = options.softcap
        scores = self._products(q, k, options.scale / (cap or 1.0))
        if cap is not None:
            self.xp.tanh(scores, out=scores)
            scores *= cap
        return scores

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
        scores = self._scores(q[block.where], keys, options)
        some = _hidden_keys(xp, options, block)
        if some is not None:
            keys_of_some, hidden = some
            scores[..., keys_of_some] += xp.where(hidden, -numpy.inf, 0).astype(scores.dtype)
        part = None if mask is None else mask[block.scores]
        excludes = part is not None or some is not None
        return self._exponentials(scores, part, excludes, shift, safe)

    def _exponentials(
        self, scores: Array, mask: Array | None, excludes: bool, shift: Array | None, safe: bool
    ) -> tuple[Array, Array | None]:
        """Returns the exponentials of scores, and their shift.

        Args:
            scores: The scores, which may be written to.
            mask: False for keys that are hidden, or numbers to add, or None.
            excludes: Whether a query may have no key at all.
            shift: Numbers to subtract; the largest score of each query if None.
            safe: Whether no shift is needed.
        """
        xp = self.xp
        if mask is not None:
            if mask.dtype == bool:
                scores = xp.where(mask, scores, xp.asarray(-numpy.inf, scores.dtype))
            else:
                scores += mask
        if not safe and scores.shape[-1]:
            if shift is None:
                largest = scores.max(axis=-1, keepdims=True)
                # A query that can attend to no key has a maximum of minus infinity. Subtracting it
                # would give NaN.
                if excludes:
                    zero = xp.asarray(0, largest.dtype)
                    largest = xp.where(largest == -numpy.inf, zero, largest)
                shift = largest
            scores -= shift
        xp.exp(scores, out=scores)
        return scores, shift

    def _mean(
        self, weights: Array, kept: Array, values: Array, may_see_nothing: bool
    ) -> tuple[Array, Array]:
        """Returns the sum of the values by weights that are kept, and 1 / the sum of all weights.

        Args:
            weights: Exponentials of the scores.
            kept: The same, with zeros for weights that dropout drops.
            values: Values.
            may_see_nothing: Whether a query may have no key at all; its factor is 0 then.
        """
        xp = self.xp
        # Sums of exponentials are valid. A whole run of the tests once reported them as invalid for
        # finite rows of three to five numbers; the cause was not found. NaN stays NaN.
        with numpy.errstate(invalid="ignore"):
            total = xp.matmul(weights, xp.ones(weights.shape[-1], weights.dtype))
        inverse = 1 / xp.where(total > 0, total, 1)
        if may_see_nothing:
            inverse *= total > 0
        return xp.matmul(kept, values), inverse


def _may_see_nothing(options: AttentionOptions, queries: int, n_keys: int) -> bool:
    """Tells whether the options may leave a query without a key."""
    last = options.offset + queries - 1
    return (options.causal and options.offset < 0) or (
        options.window is not None
        and (last - options.window >= n_keys - 1 or options.offset + options.window <= 0)
    )


def _seen_keys(options: AttentionOptions, first: int, end: int, n_keys: int) -> slice:
    """Returns the keys that at least one of the queries ``first`` to ``end - 1`` may attend to."""
    start, stop = 0, n_keys
    if options.causal:
        stop = min(stop, end + options.offset)
    if options.window is not None:
        start = max(start, first + options.offset - options.window + 1)
        stop = min(stop, end + options.offset + options.window - 1)
    start = min(start, n_keys)
    return slice(start, max(start, stop))


def _hidden_keys(xp: Array, options: AttentionOptions, block: _Block) -> tuple[slice, Array] | None:
    """Returns which keys the options hide from queries of a block; None if there is none.

    It is a slice of the keys of the block, and an array of shape (queries, keys of the slice) that
    is True for a hidden key. All queries see the keys outside of the slice.
    """
    first, last = block.queries.start + options.offset, block.queries.stop - 1 + options.offset
    window = options.window
    # The first query sees the fewest later keys, the last query the fewest earlier ones.
    later = block.seen.stop - 1 - first
    earlier = last - block.seen.start
    future = options.causal and later > 0
    too_far = window is not None and max(earlier, 0 if options.causal else later) >= window
    if not block.n_keys or not (future or too_far):
        return None
    # Distances as differences of two ranges: small integers, computed once for a block.
    positions = xp.arange(first, last + 1)[:, None]
    start = block.seen.start
    if xp is numpy and not too_far:
        # All queries see the keys up to the position of the first: of a block of 64 queries and 256
        # keys a quarter is left. An accelerator would not gain from smaller arrays.
        start = max(start, first + 1)
    distance = positions - xp.arange(start, block.seen.stop)
    hidden = distance < 0 if options.causal else xp.zeros(distance.shape, bool)
    if window is not None:
        hidden |= xp.abs(distance) >= window
    return slice(start - block.seen.start, None), hidden


def _sum_of_group(gradient: Array) -> Array:
    """Adds the gradients of the keys from all heads of the queries that use them."""
    return gradient if gradient.shape[2] == 1 else gradient.sum(axis=2, keepdims=True)


def _add_broadcast(total: Array, part: Array, block: _Block) -> None:
    """Adds the gradient of the scores of a block to the gradient of a mask that is broadcast."""
    index = tuple(
        slice(0, 1) if n == 1 else s for n, s in zip(total.shape, block.scores, strict=True)
    )
    axes = tuple(i for i, n in enumerate(total.shape) if n == 1)
    total[index] += part.sum(axis=axes, keepdims=True) if axes else part

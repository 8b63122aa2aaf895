"""Reference kernels of losses of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.recorder import may_read_values
from chainer.core.typing import Array, DTypeLike

# Logarithm of a probability of zero. It absorbs everything that is added to it. Differences of it
# are 0, where differences of minus infinity are NaN.
NEVER = -1e30
# Loss of a sequence without any alignment, where the dtype can represent it.
IMPOSSIBLE_LOSS = 1e10


class ConnectionistTemporalClassificationKernel(ReferenceKernel):
    """Forward-backward algorithm in log space, one step for the whole batch at a time.

    A label sequence of length ``M`` becomes a path of ``S = 2 M + 1`` states: blanks in the even
    positions, labels in the odd ones. ``trellis[t, b, s]`` is the logarithm of the probability of
    all alignments that are in state ``s`` at time ``t``.
    """

    def forward(
        self, x: Array, t: Array, blank: int, input_length: Array, label_length: Array
    ) -> tuple[Array, Array]:
        xp = self.xp
        dtype = x.dtype
        x = to_compute_dtype(x)
        steps, batch, _ = x.shape
        labels = self._labels(t, blank, label_length)
        log_sums = self._log_sums(x)
        emissions = self._emissions(x, labels, blank, log_sums)
        states = emissions.shape[2]
        skip = self._skip(labels, x.dtype)
        # Two columns in front of the first state are never reached. With them, the slices for
        # "one state before" and "two states before" need no special case.
        trellis = xp.full((steps, batch, states + 2), NEVER, x.dtype)
        trellis[0, :, 2:4] = emissions[0, :, :2]
        scratch = xp.empty((3, batch, states), x.dtype)
        for step in range(1, steps):
            before = trellis[step - 1]
            current = trellis[step, :, 2:]
            self._sum_paths(before[:, 2:], before[:, 1:-1], before[:, :-2], skip, scratch, current)
            current += emissions[step]

        rows = xp.arange(batch)
        last = xp.maximum(input_length, 1) - 1
        end = 2 * label_length + 2
        log_p = xp.logaddexp(trellis[last, rows, end], trellis[last, rows, end - 1])
        nothing = xp.where(label_length == 0, 0.0, NEVER).astype(x.dtype)
        log_p = xp.where(input_length == 0, nothing, log_p)
        possible = log_p > NEVER / 2
        limit = min(IMPOSSIBLE_LOSS, float(numpy.finfo(dtype).max))
        losses = xp.where(possible, -log_p, limit).astype(dtype, copy=False)
        return losses, (labels, log_sums, emissions, skip, trellis, log_p, possible)

    def backward(
        self,
        x: Array,
        t: Array,
        blank: int,
        input_length: Array,
        label_length: Array,
        saved: Any,
        scale: Any,
    ) -> Array:
        xp = self.xp
        labels, log_sums, emissions, skip, trellis, log_p, possible = saved
        dtype = x.dtype
        x = to_compute_dtype(x)
        steps, batch, _ = x.shape
        states = emissions.shape[2]
        rows = xp.arange(batch)

        # beta[s]: log probability of reaching the end from state s, without its own emission.
        ends = xp.full((batch, states), NEVER, x.dtype)
        end = 2 * label_length
        ends[rows, xp.maximum(end - 1, 0)] = 0
        ends[rows, end] = 0
        at_end = xp.arange(1, steps + 1)[:, None] == input_length
        skip_from = xp.full((batch, states), NEVER, x.dtype)
        skip_from[:, :-2] = skip[:, 2:]
        after = xp.full((batch, states + 2), NEVER, x.dtype)
        scratch = xp.empty((3, batch, states), x.dtype)
        beta = xp.full((batch, states), NEVER, x.dtype)
        occupancy = xp.empty(emissions.shape, x.dtype)
        for step in range(steps - 1, -1, -1):
            if step < steps - 1:
                xp.add(beta, emissions[step + 1], out=after[:, :states])
                self._sum_paths(
                    after[:, :-2], after[:, 1:-1], after[:, 2:], skip_from, scratch, beta
                )
            beta = xp.where(at_end[step][:, None], ends, beta)
            xp.add(trellis[step, :, 2:], beta, out=occupancy[step])
        occupancy -= log_p[:, None]
        xp.exp(occupancy, out=occupancy)

        scale = scale.astype(x.dtype, copy=False)
        weights = scale * ((xp.arange(steps)[:, None] < input_length) & possible)
        occupancy *= weights[:, :, None]
        gx = x - log_sums[:, :, None]
        xp.exp(gx, out=gx)
        gx *= weights[:, :, None]
        gx[:, :, blank] -= occupancy[:, :, 0::2].sum(axis=2)
        for position in range(labels.shape[1]):
            # In one position no two samples share an element, so plain subtraction is right.
            gx[:, rows, labels[:, position]] -= occupancy[:, :, 2 * position + 1]
        return gx.astype(dtype, copy=False)

    def _labels(self, t: Array, blank: int, label_length: Array) -> Array:
        """Returns the labels with blanks beyond the length."""
        xp = self.xp
        return xp.where(xp.arange(t.shape[1]) < label_length[:, None], t, blank)

    def _log_sums(self, x: Array) -> Array:
        xp = self.xp
        if not x.size:
            return xp.zeros(x.shape[:2], x.dtype)
        maxima = x.max(axis=2)
        shifted = x - maxima[:, :, None]
        xp.exp(shifted, out=shifted)
        log_sums = xp.log(shifted.sum(axis=2))
        log_sums += maxima
        return log_sums

    def _emissions(self, x: Array, labels: Array, blank: int, log_sums: Array) -> Array:
        """Returns the log probability of the symbol of each state at each time, ``(T, B, S)``."""
        xp = self.xp
        emissions = xp.empty((*x.shape[:2], 2 * labels.shape[1] + 1), x.dtype)
        emissions[:, :, 0::2] = x[:, :, blank, None]
        emissions[:, :, 1::2] = x[:, xp.arange(len(labels))[:, None], labels]
        emissions -= log_sums[:, :, None]
        return emissions

    def _skip(self, labels: Array, dtype: DTypeLike) -> Array:
        """Returns the log weight of reaching each state from two states before: 0 or never."""
        xp = self.xp
        skip = xp.full((labels.shape[0], 2 * labels.shape[1] + 1), NEVER, dtype)
        skip[:, 3::2] = xp.where(labels[:, 1:] != labels[:, :-1], 0, NEVER)
        return skip

    def _sum_paths(
        self, stay: Array, move: Array, jump: Array, skip: Array, scratch: Array, out: Array
    ) -> Array:
        """Writes ``log(exp(stay) + exp(move) + exp(jump + skip))`` to ``out``."""
        xp = self.xp
        maxima, total, term = scratch
        xp.add(jump, skip, out=total)
        xp.maximum(stay, move, out=maxima)
        xp.maximum(maxima, total, out=maxima)
        total -= maxima
        xp.exp(total, out=total)
        for path in (stay, move):
            xp.subtract(path, maxima, out=term)
            xp.exp(term, out=term)
            total += term
        xp.log(total, out=total)
        xp.add(total, maxima, out=out)


class LinearChainCRFKernel(ReferenceKernel):
    """Forward algorithm, its adjoint, and Viterbi decoding, one step for the whole batch at a time.

    ``alpha_t = log(exp(alpha_{t-1}) exp(cost)) + x_t``. Where the transition costs differ so little
    that their exponentials neither overflow nor underflow, the sum over labels is a matrix product
    of exponentials shifted by the maximum of each row. For a wider range of costs each sum is
    shifted by its own maximum, which is slower.
    """

    def forward(self, cost: Array, xs: Sequence[Array]) -> tuple[Array, Array]:
        xp = self.xp
        cost, xs = to_compute_dtype(cost), [to_compute_dtype(x) for x in xs]
        step = self._narrow_step if self._is_narrow(cost) else self._wide_step
        table = self._table(cost)
        alpha = xs[0]
        final = xp.empty(xs[0].shape, cost.dtype)
        saved: list[Array] = []
        for x in xs[1:]:
            count = len(x)
            final[count : len(alpha)] = alpha[count:]
            alpha, kept = step(alpha[:count], cost, table)
            alpha += x
            saved.append(kept)
        final[: len(alpha)] = alpha
        maxima, exponentials = self._exponentials(final)
        sums = exponentials.sum(axis=1)
        log_z = xp.log(sums)
        log_z += maxima[:, 0]
        exponentials /= sums[:, None]
        return log_z, (table, saved, exponentials)

    def backward(
        self, cost: Array, xs: Sequence[Array], saved: Any, scale: Any
    ) -> tuple[Array, list[Array]]:
        xp = self.xp
        dtype = cost.dtype
        table, steps, ends = saved
        step = self._narrow_adjoint if self._is_narrow(cost) else self._wide_adjoint
        ends = ends * scale[:, None]
        gcost = xp.zeros(cost.shape, ends.dtype)
        gxs: list[Array] = [None] * len(xs)
        g = ends[: len(xs[-1])]
        for i in range(len(xs) - 1, 0, -1):
            gxs[i] = g.astype(dtype, copy=False)
            before = step(g, steps[i - 1], table, gcost)
            ended = ends[len(before) : len(xs[i - 1])]
            g = xp.concatenate([before, ended], axis=0) if len(ended) else before
        gxs[0] = g.astype(dtype, copy=False)
        return gcost.astype(dtype, copy=False), gxs

    def decode(self, cost: Array, xs: Sequence[Array]) -> list[Array]:
        xp = self.xp
        best = xs[0]
        origins: list[Array] = []
        final = xp.empty_like(xs[0])
        for x in xs[1:]:
            count = len(x)
            final[count : len(best)] = best[count:]
            scores = best[:count, :, None] + cost
            origin = scores.argmax(axis=1)
            best = xp.take_along_axis(scores, origin[:, None], axis=1)[:, 0] + x
            origins.append(origin)
        final[: len(best)] = best
        label = final.argmax(axis=1).astype(numpy.int32)
        path = [label[: len(xs[-1])]]
        for i in range(len(xs) - 1, 0, -1):
            count = len(xs[i])
            # Sequences that end here begin with the best label of their last step.
            before = label[: len(xs[i - 1])].copy()
            before[:count] = origins[i - 1][xp.arange(count), path[-1]]
            path.append(before)
        return path[::-1]

    def _is_narrow(self, cost: Array) -> bool:
        if not may_read_values(self.backend):
            return False  # reading the costs would wait for the device
        # Half of the range of exponentials, in logarithms, less a margin for the sums.
        limit = 300 if cost.dtype == numpy.float64 else 40
        return bool(cost.size and cost.max() - cost.min() <= limit)

    def _table(self, cost: Array) -> tuple[Array, Array]:
        """Returns the maximum of the costs and the exponentials relative to it."""
        if not self._is_narrow(cost):
            return None, None
        top = cost.max()
        return top, self.xp.exp(cost - top)

    def _exponentials(self, alpha: Array) -> tuple[Array, Array]:
        maxima = alpha.max(axis=1, keepdims=True)
        exponentials = alpha - maxima
        self.xp.exp(exponentials, out=exponentials)
        return maxima, exponentials

    def _narrow_step(self, alpha: Array, cost: Array, table: Array) -> tuple[Array, Array]:
        top, transitions = table
        maxima, exponentials = self._exponentials(alpha)
        sums = self.xp.matmul(exponentials, transitions)
        after = self.xp.log(sums)
        maxima += top
        after += maxima
        return after, (exponentials, sums)

    def _narrow_adjoint(self, g: Array, kept: Array, table: Array, gcost: Array) -> Array:
        xp = self.xp
        exponentials, sums = kept
        transitions = table[1]
        share = g / sums
        gcost += transitions * xp.matmul(exponentials.T, share)
        before = xp.matmul(share, transitions.T)
        before *= exponentials
        return before

    def _wide_step(self, alpha: Array, cost: Array, table: Array) -> tuple[Array, Array]:
        xp = self.xp
        scores = alpha[:, :, None] + cost
        maxima = scores.max(axis=1)
        scores -= maxima[:, None]
        xp.exp(scores, out=scores)
        sums = scores.sum(axis=1)
        scores /= sums[:, None]
        after = xp.log(sums)
        after += maxima
        return after, scores

    def _wide_adjoint(self, g: Array, kept: Array, table: Array, gcost: Array) -> Array:
        flow = kept * g[:, None]
        gcost += flow.sum(axis=0)
        return flow.sum(axis=2)

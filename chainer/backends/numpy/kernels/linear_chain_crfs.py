"""Reference kernel of linear-chain conditional random fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.arrays.backend import HOST_FAMILY
from chainer.core.arrays.kernel import ReferenceKernel


class LinearChainCRFKernel(ReferenceKernel):
    """Forward algorithm, its adjoint, and Viterbi decoding, one step for the whole batch at a time.

    ``alpha_t = log(exp(alpha_{t-1}) exp(cost)) + x_t``. Where all transition costs are within a
    range that exponentials stand, the sum over labels is a matrix product of exponentials shifted
    by the maximum of each row; what underflows in it is too small to count. For wider costs each
    sum is shifted by its own maximum.
    """

    def forward(self, cost: Any, xs: Sequence[Any]) -> tuple[Any, Any]:
        xp = self.xp
        cost, xs = _working(cost), [_working(x) for x in xs]
        step = self._narrow_step if self._is_narrow(cost) else self._wide_step
        table = self._table(cost)
        alpha = xs[0]
        final = xp.empty(xs[0].shape, cost.dtype)
        saved: list[Any] = []
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
        self, cost: Any, xs: Sequence[Any], saved: Any, scale: Any
    ) -> tuple[Any, list[Any]]:
        xp = self.xp
        dtype = cost.dtype
        table, steps, ends = saved
        step = self._narrow_adjoint if self._is_narrow(cost) else self._wide_adjoint
        ends = ends * scale[:, None]
        gcost = xp.zeros(cost.shape, ends.dtype)
        gxs: list[Any] = [None] * len(xs)
        g = ends[: len(xs[-1])]
        for i in range(len(xs) - 1, 0, -1):
            gxs[i] = g.astype(dtype, copy=False)
            before = step(g, steps[i - 1], table, gcost)
            ended = ends[len(before) : len(xs[i - 1])]
            g = xp.concatenate([before, ended], axis=0) if len(ended) else before
        gxs[0] = g.astype(dtype, copy=False)
        return gcost.astype(dtype, copy=False), gxs

    def decode(self, cost: Any, xs: Sequence[Any]) -> list[Any]:
        xp = self.xp
        best = xs[0]
        origins: list[Any] = []
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

    def _is_narrow(self, cost: Any) -> bool:
        if self.backend.family != HOST_FAMILY:  # where looking at values means waiting for them
            return False
        limit = 300 if cost.dtype == numpy.float64 else 40
        return bool(cost.size and cost.max() - cost.min() <= limit)

    def _table(self, cost: Any) -> tuple[Any, Any]:
        """Returns the maximum of the costs and the exponentials relative to it."""
        if not self._is_narrow(cost):
            return None, None
        top = cost.max()
        return top, self.xp.exp(cost - top)

    def _exponentials(self, alpha: Any) -> tuple[Any, Any]:
        maxima = alpha.max(axis=1, keepdims=True)
        exponentials = alpha - maxima
        self.xp.exp(exponentials, out=exponentials)
        return maxima, exponentials

    def _narrow_step(self, alpha: Any, cost: Any, table: Any) -> tuple[Any, Any]:
        top, transitions = table
        maxima, exponentials = self._exponentials(alpha)
        sums = self.xp.matmul(exponentials, transitions)
        after = self.xp.log(sums)
        maxima += top
        after += maxima
        return after, (exponentials, sums)

    def _narrow_adjoint(self, g: Any, kept: Any, table: Any, gcost: Any) -> Any:
        xp = self.xp
        exponentials, sums = kept
        transitions = table[1]
        share = g / sums
        gcost += transitions * xp.matmul(exponentials.T, share)
        before = xp.matmul(share, transitions.T)
        before *= exponentials
        return before

    def _wide_step(self, alpha: Any, cost: Any, table: Any) -> tuple[Any, Any]:
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

    def _wide_adjoint(self, g: Any, kept: Any, table: Any, gcost: Any) -> Any:
        flow = kept * g[:, None]
        gcost += flow.sum(axis=0)
        return flow.sum(axis=2)


def _working(x: Any) -> Any:
    return x.astype(numpy.float32) if x.dtype == numpy.float16 else x

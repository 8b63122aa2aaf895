"""Reference kernels of losses that compare the correct class with sampled classes."""

from __future__ import annotations

from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, Arrays


class NegativeSamplingKernel(ReferenceKernel):
    """Negative sampling loss by a softplus that does not overflow."""

    def _signed(self, scores: Array) -> Array:
        signed = scores.copy()
        signed[:, 0] *= -1
        return signed

    def forward(self, scores: Array) -> Array:
        xp = self.xp
        signed = self._signed(scores)
        # log(1 + exp(-|s|)) + max(s, 0) is the softplus, in the memory of one array.
        tail = xp.abs(signed)
        xp.negative(tail, out=tail)
        xp.exp(tail, out=tail)
        xp.log1p(tail, out=tail)
        tail += xp.maximum(signed, 0)
        return tail.sum(axis=1)

    def backward(self, scores: Array) -> Array:
        slopes = self._signed(scores)
        # The sigmoid is computed by tanh, which does not overflow.
        slopes *= 0.5
        self.xp.tanh(slopes, out=slopes)
        slopes *= 0.5
        slopes += 0.5
        slopes[:, 0] *= -1
        return slopes


class BlackOutKernel(ReferenceKernel):
    """BlackOut loss; ``1 - p`` of the most probable class is computed from the other classes.

    ``1 - p`` would lose all digits where ``p`` is close to one. Each of the other classes has at
    most half of the probability, so that ``log1p(-p)`` is accurate for them.
    """

    def _normalize(self, scores: Array) -> Arrays:
        """Returns what both methods need.

        Returns:
            tuple: Indices of the rows, the most probable class of each row, the probabilities, the
            softmax of the other classes, and the log-sum-exp of all and of the other classes.
        """
        xp = self.xp
        rows = xp.arange(len(scores))
        top = scores.argmax(axis=1)
        maxima = scores[rows, top]
        p = xp.exp(scores - maxima[:, None])
        sums = p.sum(axis=1)
        p /= sums[:, None]
        others = scores.copy()
        others[rows, top] = -xp.inf
        if scores.shape[1] > 1:
            next_maxima = others.max(axis=1)
        else:
            next_maxima = xp.zeros_like(maxima)
        # Classes may have the score minus infinity, such as those that a program masks.
        alone = next_maxima == -xp.inf
        others -= xp.where(alone, xp.zeros_like(next_maxima), next_maxima)[:, None]
        xp.exp(others, out=others)
        other_sums = others.sum(axis=1)
        others /= xp.maximum(other_sums, 1)[:, None]
        log_sums = xp.log(sums) + maxima
        log_other_sums = xp.log(xp.maximum(other_sums, 1)) + next_maxima
        return rows, top, p, others, log_sums, log_other_sums

    def forward(self, scores: Array) -> Array:
        xp = self.xp
        if not scores.size:
            return xp.zeros(len(scores), scores.dtype)
        rows, top, p, _, log_sums, log_other_sums = self._normalize(scores)
        p[rows, top] = 0
        misses = xp.log1p(-p)
        misses[rows, top] = log_other_sums - log_sums
        return log_sums - scores[:, 0] - misses[:, 1:].sum(axis=1)

    def backward(self, scores: Array) -> Array:
        xp = self.xp
        if not scores.size:
            return xp.zeros_like(scores)
        rows, top, p, others, _, _ = self._normalize(scores)
        # With r_s = p_s / (1 - p_s) the slope is p_k - [k = 0] + [k > 0] p_k - p_k sum_{s != k} r_s
        # over samples s. For the most probable class r is unbounded; its term p_k r_s is computed
        # as p_s p_k / (1 - p_s), where p_k / (1 - p_s) is the softmax of the other classes.
        ratios = p.copy()
        ratios[:, 0] = 0
        ratios[rows, top] = 0
        ratios /= 1 - ratios
        slopes = ratios.sum(axis=1)[:, None] - ratios
        slopes *= -p
        slopes += p
        slopes[:, 1:] += p[:, 1:]
        slopes[:, 0] -= 1
        others *= (p[rows, top] * (top > 0))[:, None]
        slopes -= others
        return slopes

"""Functions that change the scores of the next token before one is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from chainer.backend import get_array_module
from chainer.typing import Array

#: ``(ids, scores) -> scores``: tokens so far, shape ``(B, T)``, and scores of the next one, ``(B,
#: vocabulary)``. A score is a logit, or a logarithm of a probability in beam search.
Processor: TypeAlias = Callable[[Array, Array], Array]


def temperature(value: float) -> Processor:
    """Divides scores: below 1 likely tokens become more likely, above 1 less.

    Args:
        value (float): The divisor.

    Returns:
        callable: The processor.

    Raises:
        ValueError: If the value is not positive.
    """
    if not value > 0:
        raise ValueError(f"temperature must be positive, got {value}: 0 is greedy, without one")
    return lambda ids, scores: scores / scores.dtype.type(value)


def top_k(k: int) -> Processor:
    """Keeps the most likely tokens only.

    Args:
        k (int): Number of tokens. Tokens as likely as the last of them are kept, too.

    Returns:
        callable: The processor.

    Raises:
        ValueError: If ``k`` is not positive.
    """
    if k < 1:
        raise ValueError(f"k must be positive, got {k}")

    def process(ids: Array, scores: Array) -> Array:
        xp = get_array_module(scores)
        kept = min(k, scores.shape[-1])
        least = xp.sort(scores, axis=-1)[:, -kept, None]
        return xp.where(scores < least, -xp.inf, scores)

    return process


def top_p(p: float) -> Processor:
    """Keeps the most likely tokens whose probabilities add up to ``p``, at least one.

    Args:
        p (float): The sum.

    Returns:
        callable: The processor.

    Raises:
        ValueError: If ``p`` is not in (0, 1].

    See: `The Curious Case of Neural Text Degeneration <https://arxiv.org/abs/1904.09751>`_
    """
    if not 0 < p <= 1:
        raise ValueError(f"p must be in the range (0, 1], got {p}")

    def process(ids: Array, scores: Array) -> Array:
        xp = get_array_module(scores)
        # A stable order, so the same tokens are kept everywhere if several have one score.
        order = xp.argsort(scores, axis=-1, kind="stable")
        total = xp.cumsum(_probabilities(xp, xp.take_along_axis(scores, order, 1)), axis=-1)
        dropped = total <= 1 - p
        dropped[:, -1] = False
        hidden = xp.zeros(scores.shape, bool)
        xp.put_along_axis(hidden, order, dropped, 1)
        return xp.where(hidden, -xp.inf, scores)

    return process


def min_p(p: float) -> Processor:
    """Keeps tokens whose probability is at least ``p`` times the largest.

    Args:
        p (float): The share.

    Returns:
        callable: The processor.

    Raises:
        ValueError: If ``p`` is not in [0, 1].

    See: `Turning Up the Heat <https://arxiv.org/abs/2407.01082>`_
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in the range [0, 1], got {p}")

    def process(ids: Array, scores: Array) -> Array:
        xp = get_array_module(scores)
        probabilities = _probabilities(xp, scores)
        least = p * probabilities.max(axis=-1, keepdims=True)
        return xp.where(probabilities < least, -xp.inf, scores)

    return process


def repetition_penalty(penalty: float) -> Processor:
    """Makes tokens that occurred less likely: positive scores are divided, negative multiplied.

    Args:
        penalty (float): The factor; more than 1 makes them less likely.

    Returns:
        callable: The processor.

    Raises:
        ValueError: If the penalty is not positive.

    See: `CTRL <https://arxiv.org/abs/1909.05858>`_
    """
    if not penalty > 0:
        raise ValueError(f"penalty must be positive, got {penalty}")

    def process(ids: Array, scores: Array) -> Array:
        xp = get_array_module(scores)
        seen = xp.take_along_axis(scores, ids, 1)
        factor = scores.dtype.type(penalty)
        scores = scores.copy()
        xp.put_along_axis(scores, ids, xp.where(seen < 0, seen * factor, seen / factor), 1)
        return scores

    return process


def no_repeat_ngram(size: int) -> Processor:
    """Forbids tokens that would complete a sequence that occurred before.

    Args:
        size (int): Length of the sequences.

    Returns:
        callable: The processor.

    Raises:
        ValueError: If ``size`` is not positive.
    """
    if size < 1:
        raise ValueError(f"size must be positive, got {size}")

    def process(ids: Array, scores: Array) -> Array:
        scores = scores.copy()
        for row, tokens in enumerate(ids.tolist()):
            last = tuple(tokens[len(tokens) - size + 1 :]) if size > 1 else ()
            for i in range(len(tokens) - size + 1):
                if tuple(tokens[i : i + size - 1]) == last:
                    scores[row, tokens[i + size - 1]] = -float("inf")
        return scores

    return process


def _probabilities(xp: Array, scores: Array) -> Array:
    weights = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)

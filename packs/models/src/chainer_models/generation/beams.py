"""Beam search: the most likely of several texts."""

from __future__ import annotations

from typing import Any

import numpy
from chainer.backend import get_array_module
from chainer.typing import Array

from chainer_models.generation.processors import Processor
from chainer_models.generation.steps import Steps


class _Finished:
    """Texts of one input that have ended, the best ones only.

    Args:
        count: Number of texts that are kept.
        penalty: Exponent of the length.
    """

    def __init__(self, count: int, penalty: float) -> None:
        self._count = count
        self._penalty = penalty
        self.texts: list[tuple[float, list[int]]] = []

    def add(self, text: list[int], total: float, length: int) -> None:
        """Adds a text, and drops the worst if there are too many."""
        self.texts.append((total / length**self._penalty, text))
        self.texts.sort(key=lambda item: -item[0])
        del self.texts[self._count :]

    def is_done(self, best: float, length: int) -> bool:
        """Tells whether no text that goes on can become one of the best."""
        if len(self.texts) < self._count:
            return False
        return self.texts[-1][0] >= best / length**self._penalty


def search(
    steps: Steps,
    max_new_tokens: int,
    beams: int,
    penalty: float,
    processors: list[Processor],
    ends: list[int],
    padding: int,
) -> Array:
    """Returns the most likely text of each input.

    Args:
        steps: The texts.
        max_new_tokens: Number of tokens that follow, at most.
        beams: Number of texts that are kept for each input.
        penalty: Exponent of the length that sums are divided by.
        processors: Change the scores.
        ends: Tokens that end a text.
        padding: Token after the end of a text.
    """
    xp = get_array_module(steps.ids)
    inputs, start = steps.ids.shape
    steps.repeat(beams)
    # All beams of an input are equal at first: only the first one counts.
    totals = numpy.full((inputs, beams), -1e9)
    totals[:, 0] = 0
    finished = [_Finished(beams, penalty) for _ in range(inputs)]
    open_inputs = numpy.ones(inputs, bool)
    for step in range(max_new_tokens):
        scores = _log_probabilities(steps, processors)
        vocabulary = scores.shape[-1]
        every = (totals.reshape(-1, 1) + scores).reshape(inputs, beams * vocabulary)
        # Enough candidates that as many go on as there are beams, whichever end.
        count = min((1 + max(len(ends), 1)) * beams, every.shape[1])
        best = numpy.argsort(-every, axis=1, kind="stable")[:, :count]
        rows = numpy.arange(inputs * beams)
        tokens = numpy.full(inputs * beams, padding)
        history = steps.ids.tolist()
        for i in range(inputs):
            if not open_inputs[i]:
                continue
            chosen = 0
            for rank, candidate in enumerate(best[i].tolist()):
                beam, token = divmod(candidate, vocabulary)
                total = float(every[i, candidate])
                if token in ends:
                    # Only an end among the best beams counts.
                    if rank < beams:
                        text = [*history[i * beams + beam], token]
                        finished[i].add(text, total, step + 1)
                    continue
                place = i * beams + chosen
                rows[place], tokens[place], totals[i, chosen] = i * beams + beam, token, total
                chosen += 1
                if chosen == beams:
                    break
            open_inputs[i] = not finished[i].is_done(float(totals[i].max()), step + 1)
        steps.reorder(xp.asarray(rows))
        steps.append(xp.asarray(tokens))
        if not open_inputs.any():
            break
    return _best(steps.ids, totals, finished, open_inputs, start, padding)


def _log_probabilities(steps: Steps, processors: list[Processor]) -> Any:
    """Returns logarithms of the probabilities of the next tokens, on the host."""
    xp = get_array_module(steps.ids)
    logits = steps.scores()
    shifted = logits - logits.max(axis=-1, keepdims=True)
    scores = shifted - xp.log(xp.exp(shifted).sum(axis=-1, keepdims=True))
    for process in processors:
        scores = process(steps.ids, scores)
    return scores if isinstance(scores, numpy.ndarray) else scores.get()


def _best(
    ids: Array,
    totals: Any,
    finished: list[_Finished],
    open_inputs: Any,
    start: int,
    padding: int,
) -> Array:
    """Returns the best text of each input, padded to one length."""
    xp = get_array_module(ids)
    beams = totals.shape[1]
    history = ids.tolist()
    texts: list[list[int]] = []
    for i, texts_of_input in enumerate(finished):
        if open_inputs[i]:
            for beam in range(beams):
                text = history[i * beams + beam]
                texts_of_input.add(text, float(totals[i, beam]), max(len(text) - start, 1))
        texts.append(texts_of_input.texts[0][1])
    length = max(map(len, texts), default=start)
    padded = [text + [padding] * (length - len(text)) for text in texts]
    return xp.asarray(padded, dtype=ids.dtype)

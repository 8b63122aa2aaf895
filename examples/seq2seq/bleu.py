"""BLEU, the score of translations (Papineni et al., ACL 2002)."""

import collections
import math

MAX_N = 4
# Replaces a count of 0: method 1 of Chen and Cherry (WMT 2014).
EPSILON = 0.1


def ngrams(words, n):
    """Returns how often each n-gram is there."""
    return collections.Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def corpus_bleu(references, hypotheses):
    """Returns the score of all sentences together.

    Args:
        references: For each sentence, a list of true translations; each is a list of words.
        hypotheses: For each sentence, the translation to judge.

    Returns:
        float: Between 0 and 1 (all equal): the geometric mean of the precisions of words, pairs,
        triples and quadruples, times a penalty for brevity.
    """
    if len(references) != len(hypotheses):
        raise ValueError(f"{len(references)} references for {len(hypotheses)} hypotheses")
    matches = [0] * MAX_N
    totals = [0] * MAX_N
    length = reference_length = 0
    for truths, hypothesis in zip(references, hypotheses):
        length += len(hypothesis)
        reference_length += min(
            (len(truth) for truth in truths), key=lambda n: (abs(n - len(hypothesis)), n)
        )
        for i in range(MAX_N):
            counts = ngrams(hypothesis, i + 1)
            most = collections.Counter()
            for truth in truths:
                most |= ngrams(truth, i + 1)
            matches[i] += (counts & most).total()
            totals[i] += counts.total()
    if matches[0] == 0:
        return 0.0
    logs = [math.log((match or EPSILON) / max(total, 1)) for match, total in zip(matches, totals)]
    penalty = 1.0 if length >= reference_length else math.exp(1 - reference_length / length)
    return penalty * math.exp(sum(logs) / MAX_N)

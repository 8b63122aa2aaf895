"""Kernel of connectionist temporal classification: forward and backward algorithm by sample.

A label sequence of length ``M`` is a path of ``S = 2 M + 1`` states: blanks in the even positions,
labels in the odd ones. Rows have two columns in front of the first state, which are never reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, inlined, launch, result, summing
from chainer_numba.vector_math import exp_of_negative, log1p_of_fraction, maximum

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO, _ONE, _HALF, _LOG_2 = f(0), f(1), f(0.5), f(numpy.log(2))

#: Logarithm of a probability of zero; differences of it are not NaN, unlike differences of
#: infinity.
NEVER = f(-1e30)
#: Loss of a sequence without any alignment, where the dtype can represent it.
IMPOSSIBLE_LOSS = 1e10


@inlined
def _log_sum(a, b, c):
    """Returns ``log(exp(a) + exp(b) + exp(c))``."""
    top = a if a > b else b
    low = b if a > b else a
    other = top if c > top else c
    top = c if c > top else top
    rest = exp_of_negative(low - top) + exp_of_negative(other - top)
    # Up to 2: halved where the logarithm of a fraction would not do.
    large = rest > _ONE
    y = log1p_of_fraction((rest - _ONE) * _HALF if large else rest)
    return top + (y + _LOG_2 if large else y)


@summing
def forward(part, start, stop, x, symbols, skip, log_sums, emissions, trellis):
    steps = x.shape[0]
    states = symbols.shape[1]
    for b in range(start, stop):
        for t in range(steps):
            top = maximum(x[t, b])
            total = _ZERO
            for v in range(x.shape[2]):
                total += exp_of_negative(x[t, b, v] - top)
            log_sums[t, b] = numpy.log(total) + top
            for s in range(states):
                emissions[t, b, s] = x[t, b, symbols[b, s]] - log_sums[t, b]
        trellis[0, b] = NEVER
        trellis[0, b, 2] = emissions[0, b, 0]
        if states > 1:
            trellis[0, b, 3] = emissions[0, b, 1]
        for t in range(1, steps):
            before, now, emission = trellis[t - 1, b], trellis[t, b], emissions[t, b]
            now[0] = NEVER
            now[1] = NEVER
            stay, move, target = before[2:], before[1:], now[2:]
            for s in range(states):
                target[s] = _log_sum(stay[s], move[s], before[s] + skip[b, s]) + emission[s]


@compiled
def backward(
    part,
    start,
    stop,
    x,
    symbols,
    skip,
    log_sums,
    emissions,
    trellis,
    log_p,
    lengths,
    ends,
    scale,
    gx,
):
    steps = x.shape[0]
    states = symbols.shape[1]
    beta = numpy.empty(states, f)
    after = numpy.empty(states + 2, f)
    for b in range(start, stop):
        for t in range(lengths[b], steps):
            gx[t, b] = _ZERO
        if scale[b] == _ZERO:
            for t in range(lengths[b]):
                gx[t, b] = _ZERO
            continue
        for t in range(lengths[b] - 1, -1, -1):
            if t == lengths[b] - 1:
                beta[:] = NEVER
                beta[max(ends[b] - 1, 0)] = _ZERO
                beta[ends[b]] = _ZERO
            else:
                emission = emissions[t + 1, b]
                for s in range(states):
                    after[s] = beta[s] + emission[s]
                after[states] = NEVER
                after[states + 1] = NEVER
                for s in range(states):
                    jump = skip[b, s + 2] if s + 2 < states else NEVER
                    beta[s] = _log_sum(after[s], after[s + 1], after[s + 2] + jump)
            source, target = x[t, b], gx[t, b]
            for v in range(x.shape[2]):
                target[v] = exp_of_negative(source[v] - log_sums[t, b]) * scale[b]
            row = trellis[t, b]
            for s in range(states):
                # Rounding may lift a probability of one above one.
                log_share = row[s + 2] + beta[s] - log_p[b]
                share = exp_of_negative(log_share if log_share < _ZERO else _ZERO)
                target[symbols[b, s]] -= share * scale[b]


class ConnectionistTemporalClassificationKernel:
    """Kernel of ``connectionist_temporal_classification``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(
        self, x: Array, t: Array, blank: int, input_length: Array, label_length: Array
    ) -> tuple[Array, Any]:
        steps, batch, classes = x.shape
        values = dense(x)
        # Labels beyond the length are arbitrary; blanks there change nothing.
        labels = numpy.where(numpy.arange(t.shape[1]) < label_length[:, None], t, blank)
        states = 2 * labels.shape[1] + 1
        symbols = numpy.full((batch, states), blank, numpy.intp)
        symbols[:, 1::2] = labels
        if symbols.size and (symbols.min() < -classes or symbols.max() >= classes):
            raise IndexError(f"a label is out of bounds for axis 2 with size {classes}")
        symbols %= max(classes, 1)
        skip = numpy.full((batch, states), NEVER, f)
        skip[:, 3::2] = numpy.where(labels[:, 1:] != labels[:, :-1], 0, NEVER)
        log_sums, emissions = numpy.empty((steps, batch), f), numpy.empty((steps, batch, states), f)
        trellis = numpy.empty((steps, batch, states + 2), f)
        shared = symbols, skip, log_sums, emissions, trellis
        # Three exponentials and a logarithm for each state.
        elements = x.size * 4 + emissions.size * 20
        launch(forward, batch, elements, values, *shared)
        rows = numpy.arange(batch)
        last = numpy.maximum(input_length, 1) - 1
        end = 2 * label_length + 2
        log_p = numpy.logaddexp(trellis[last, rows, end], trellis[last, rows, end - 1])
        log_p = numpy.where(
            input_length == 0, numpy.where(label_length == 0, f(0), NEVER), log_p
        ).astype(f)
        possible = log_p > NEVER / 2
        limit = min(IMPOSSIBLE_LOSS, float(numpy.finfo(x.dtype).max))
        losses = numpy.where(possible, -log_p, limit).astype(x.dtype)
        return losses, (shared, log_p, possible)

    def backward(
        self,
        x: Array,
        t: Array,
        blank: int,
        input_length: Array,
        label_length: Array,
        saved: Any,
        scale: Array,
    ) -> Array:
        shared, log_p, possible = saved
        gx = numpy.empty(x.shape, f)
        weights = numpy.where(possible, scale, 0).astype(f)
        lengths, ends = (numpy.array(a, numpy.intp) for a in (input_length, 2 * label_length))
        elements = x.size * 4 + shared[3].size * 20
        arrays = dense(x), *shared, log_p, lengths, ends, weights, gx
        launch(backward, x.shape[1], elements, *arrays)
        return result(gx, x)

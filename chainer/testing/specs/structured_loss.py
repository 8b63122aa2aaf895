"""Losses of sequences, by enumeration of all sequences, and of classes against samples."""

# pyright: basic
from __future__ import annotations

import itertools

import numpy as np

from chainer.core.config.configuration import using_config
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import integers as _i
from chainer.testing.specs.inputs import invalid_type, invalid_value
from chainer.testing.specs.loss import bad_reduce

_ROUGH = {"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (3e-1, 3e-1))}


# -- classes against samples ----------------------------------------------------------------------


def _scores(x, W, ids):
    return np.einsum("nkd,nd->nk", W[ids], x)


def _negative_sampling(x, t, W, samples, reduce="sum"):
    log_p = np.log(1 / (1 + np.exp(-_scores(x, W, t[:, None]))))[:, 0]
    log_q = np.log(1 / (1 + np.exp(_scores(x, W, samples[:, 1:]))))
    losses = np.where(t == -1, 0, -log_p - log_q.sum(axis=1))
    return losses if reduce == "no" else losses.sum()


def _black_out(x, t, W, samples, reduce="mean"):
    e = np.exp(_scores(x, W, np.concatenate([t[:, None], samples], axis=1)))
    p = e / e.sum(axis=1, keepdims=True)
    losses = -np.log(p[:, 0]) - np.log(1 - p[:, 1:]).sum(axis=1)
    return losses if reduce == "no" else losses.sum() / max(len(x), 1)


# -- sequences ------------------------------------------------------------------------------------


def _collapse(symbols, blank):
    """Merges repeated symbols and removes blanks."""
    return tuple(s for s, _ in itertools.groupby(symbols) if s != blank)


def _ctc(x, t, blank, input_length=None, label_length=None, reduce="mean"):
    p = np.exp(x)
    p /= p.sum(axis=2, keepdims=True)
    losses = []
    for b in range(x.shape[1]):
        steps = len(x) if input_length is None else input_length[b]
        labels = t[b] if label_length is None else t[b, : label_length[b]]
        total = sum(
            np.prod([p[i, b, symbol] for i, symbol in enumerate(symbols)])
            for symbols in itertools.product(range(x.shape[2]), repeat=steps)
            if _collapse(symbols, blank) == tuple(labels)
        )
        losses.append(-np.log(total) if total else 1e10)
    losses = np.array(losses).reshape(x.shape[1])
    return losses if reduce == "no" else losses.sum() / max(len(losses), 1)


def _call_ctc(F, x, t, blank, **kwargs):
    steps = F.separate(x, axis=0)
    with using_config("debug", True):  # where values on accelerators are looked at, too
        return F.connectionist_temporal_classification(steps, t, blank, **kwargs)


def _paths(cost, xs, b):
    """All label sequences of sample ``b`` with their total costs."""
    mine = [x[b] for x in xs if b < len(x)]
    for path in itertools.product(range(len(cost)), repeat=len(mine)):
        score = sum(x[s] for x, s in zip(mine, path, strict=True))
        yield path, score + sum(cost[s, u] for s, u in itertools.pairwise(path))


def _crf1d(cost, *arrays, reduce="mean"):
    xs, ys = arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :]
    losses = []
    for b in range(len(xs[0])):
        scores = dict(_paths(cost, xs, b))
        expected = tuple(y[b] for y in ys if b < len(y))
        losses.append(np.log(sum(np.exp(list(scores.values())))) - scores[expected])
    losses = np.array(losses).reshape(len(xs[0]))
    return losses if reduce == "no" else losses.sum() / max(len(losses), 1)


def _call_crf1d(F, cost, *arrays, **kwargs):
    return F.crf1d(cost, arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :], **kwargs)


def _argmax_crf1d(cost, *xs):
    best = [max(_paths(cost, xs, b), key=lambda item: item[1]) for b in range(len(xs[0]))]
    scores = np.array([score for _, score in best]).reshape(len(xs[0]))
    return scores, [np.array([best[b][0][i] for b in range(len(x))], int) for i, x in enumerate(xs)]


def _chain(draw, lengths, labels, costs=None):
    """Costs of transposed sequences of the given batch sizes, and expected labels."""
    xs = [draw((n, labels), -2, 2) for n in lengths]
    ys = [draw.integers((n,), 0, labels) for n in lengths]
    return [draw((labels, labels)) if costs is None else costs, *xs, *ys]


def _with_samples(draw):
    """Returns samples of losses that take x, t, W and the numbers of sampled classes."""
    return [
        Sample(draw((4, 3)), _i(4) + 2, draw((5, 3)), draw.integers((4, 3), 0, 5)),
        Sample(
            draw((3, 2)),
            np.array([1, -1, 0], np.int32),
            draw((4, 2)),
            draw.integers((3, 4), 0, 4),
            reduce="no",
        ),
    ]


SPECS = (
    OpSpec(
        "negative_sampling",
        reference=_negative_sampling,
        # The first column of what a sampler returns is replaced.
        call=lambda F, x, t, W, samples, **kwargs: F.negative_sampling(
            x,
            t,
            W,
            lambda shape: getattr(samples, "array", samples),
            samples.shape[1] - 1,
            **kwargs,
        ),
        covers=("negative_sampling",),
        samples=lambda draw: [
            *_with_samples(draw),
            Sample(_f(0, 2), _i(0), draw((4, 2)), _i(0, 3), kind="empty"),
            Sample(_f(0, 2), _i(0), draw((4, 2)), _i(0, 3), kind="empty", reduce="no"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)NegativeSampling.*in_types\[1\]\.dtype == <class 'numpy.int32'>",
                _f(2, 3),
                np.zeros(2, "q"),
                _f(4, 3),
                _i(2, 2),
            ),
            invalid_type(
                r"in_types\[2\]\.shape\[1\] == in_types\[0\]\.shape\[1\]",
                _f(2, 3),
                _i(2),
                _f(4, 2),
                _i(2, 2),
            ),
            invalid_value(
                r"sampler must return an array of integers of shape \(2, 2\)",
                _f(2, 3),
                _i(2),
                _f(4, 3),
                _i(3, 2),
            ),
            bad_reduce(_f(2, 3), _i(2), _f(4, 3), _i(2, 2), choices="'sum' and 'no'"),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "black_out",
        reference=_black_out,
        samples=lambda draw: [
            *_with_samples(draw),
            Sample(draw((2, 2)), _i(2), draw((4, 2)), _i(2, 2) + 1, label="one class twice"),
            Sample(_f(0, 2), _i(0), draw((4, 2)), _i(0, 3), kind="empty"),
            Sample(draw((2, 2)), _i(2), draw((4, 2)), _i(2, 0), kind="empty", reduce="no"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[3\]\.dtype\.kind == i", _f(2, 3), _i(2), _f(4, 3), _f(2, 2)),
            invalid_type(
                r"in_types\[3\]\.shape\[0\] == in_types\[0\]\.shape\[0\]",
                _f(2, 3),
                _i(2),
                _f(4, 3),
                _i(3, 2),
            ),
            bad_reduce(_f(2, 3), _i(2), _f(4, 3), _i(2, 2), choices="'mean' and 'no'"),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "connectionist_temporal_classification",
        reference=_ctc,
        call=_call_ctc,
        covers=("connectionist_temporal_classification",),
        samples=lambda draw: [
            Sample(draw((4, 2, 3), -2, 2), np.array([[0, 1], [1, 1]], np.int32), blank=2),
            Sample(draw((4, 2, 3)), np.array([[1, 2], [2, 2]], np.int32), blank=0, reduce="no"),
            Sample(
                draw((4, 3, 3)),
                np.array([[0, -1], [1, 0], [-1, -1]], np.int32),
                blank=2,
                input_length=np.array([3, 4, 2], np.int32),
                label_length=np.array([1, 2, 0], np.int32),
                reduce="no",
            ),
            Sample(draw((3, 2, 2)), _i(2, 1), blank=1, input_length=np.array([1, 3], np.int32)),
            Sample(draw((3, 2, 2)), _i(2, 0), blank=1, kind="empty"),
            Sample(_f(2, 0, 3), _i(0, 1), blank=1, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[2\]\.dtype == <class 'numpy.int32'>",
                _f(3, 2, 3),
                np.zeros((2, 1), "q"),
                blank=2,
            ),
            invalid_type(
                r"in_types\[2\]\.shape\[0\] == in_types\[3\]\.shape\[1\]",
                _f(3, 2, 3),
                _i(1, 1),
                blank=2,
            ),
            invalid_value("blank_symbol must", _f(3, 2, 3), _i(2, 1), blank=3),
            ErrorInput(
                _f(3, 2, 3), _i(2, 1), blank=1.0, error=TypeError, match="blank_symbol must"
            ),
            invalid_value("labels t must", _f(3, 2, 3), _i(2, 1) + 3, blank=2),
            invalid_value(
                "input_length must be in 0 <= input_length <= 3",
                _f(3, 2, 3),
                _i(2, 1),
                blank=2,
                input_length=np.array([3, 4], np.int32),
            ),
            invalid_value(
                "label_length must be in 0 <= label_length <= 1",
                _f(3, 2, 3),
                _i(2, 1),
                blank=2,
                label_length=np.array([1, 2], np.int32),
            ),
            bad_reduce(_f(3, 2, 3), _i(2, 1), blank=2, choices="'mean' and 'no'"),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "crf1d",
        reference=_crf1d,
        call=_call_crf1d,
        covers=("crf1d",),
        samples=lambda draw: [
            Sample(*_chain(draw, (3, 2, 2, 1), 3)),
            Sample(*_chain(draw, (3, 3, 1), 2), reduce="no"),
            Sample(*_chain(draw, (2, 1), 3, np.arange(9.0).reshape(3, 3) * 7), label="wide costs"),
            Sample(*_chain(draw, (2,), 3), label="one step", skip_grad=(0,), reduce="no"),
            Sample(*_chain(draw, (2, 0), 3), kind="empty"),
            Sample(*_chain(draw, (0, 0), 3), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[0\] == in_types\[0\]\.shape\[1\]", _f(2, 3), _f(2, 3), _i(2)
            ),
            invalid_type(
                r"in_types\[2\]\.shape\[0\] <= in_types\[1\]\.shape\[0\]",
                _f(3, 3),
                _f(1, 3),
                _f(2, 3),
                _i(1),
                _i(2),
            ),
            invalid_type(r"in_types\[2\]\.dtype\.kind", _f(3, 3), _f(2, 3), _f(2)),
            invalid_value("ys must be as", _f(3, 3), _f(2, 3), _f(2, 3), _i(2)),
            invalid_value("xs must hold", _f(3, 3)),
            bad_reduce(_f(3, 3), _f(2, 3), _i(2), choices="'mean' and 'no'"),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "argmax_crf1d",
        reference=_argmax_crf1d,
        call=lambda F, cost, *xs: F.argmax_crf1d(cost, xs),
        covers=("argmax_crf1d",),
        samples=lambda draw: [
            Sample(draw.distinct((3, 3), 0.3), *[draw.distinct((n, 3), 0.4) for n in (3, 2, 2, 1)]),
            Sample(draw.distinct((3, 3)), draw.distinct((2, 3)), skip_grad=(0,)),
            Sample(draw((3, 3)), _f(0, 3), _f(0, 3), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.shape\[0\] ==", _f(3, 2), _f(2, 3)),
            invalid_value("xs must hold", _f(3, 3)),
        ],
        tolerances=_ROUGH,
    ),
)

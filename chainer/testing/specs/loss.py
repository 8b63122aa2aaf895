"""Loss functions of single predictions; structured_loss has sequences and samples."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value

# Every class once, and -1, which is ignored by default.
_LABELS = np.array([0, 2, -1, 1], np.int32)
# The rounding of float16 inputs is larger than the values here: sums of squares of differences.
_ROUGH = {"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (3e-1, 3e-1))}


def bad_reduce(*arrays, choices, **kwargs):
    """Returns the sample of an unknown mode of reduction."""
    text = f"nly {choices} are valid for 'reduce', but 'invalid' is given"
    return invalid_value(text, *arrays, reduce="invalid", **kwargs)


def _reduced(losses, reduce):
    """Means over the batch of sums over the other axes."""
    return losses if reduce == "no" else losses.sum() / max(len(losses), 1)


def _softmax_cross_entropy(
    x, t, normalize=True, class_weight=None, ignore_label=-1, reduce="mean", **_
):
    # Without the shift by the maximum, which such small inputs do not need.
    log_p = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    if class_weight is not None:
        log_p = log_p * class_weight.reshape(1, -1, *[1] * (x.ndim - 2))
    kept = t != ignore_label
    # The label -1 is not an index; what it selects here is replaced by 0 below.
    chosen = np.take_along_axis(log_p, np.where(kept, t, 0)[:, None], axis=1)[:, 0]
    losses = np.where(kept, -chosen, 0.0)
    if reduce == "no":
        return losses
    count = kept.sum() if normalize else len(x)
    # Without any label that counts, the loss is 0 and not 0 / 0.
    return losses.sum() / max(count, 1)


def _cross_entropy_samples(draw):
    return [
        Sample(draw((4, 3), -2, 2), draw.integers((4,), 0, 3)),
        Sample(draw((4, 3)), _LABELS, label="ignored label"),
        Sample(draw((4, 3)), _LABELS, normalize=False),
        Sample(draw((4, 3)), _LABELS, reduce="no"),
        Sample(draw((4, 3)), _LABELS, class_weight=draw.positive((3,))),
        # Another ignored label: -1 then does not occur.
        Sample(draw((4, 3)), np.array([0, 2, 1, 1], np.int32), ignore_label=2),
        Sample(draw((2, 3, 2)), draw.integers((2, 2), -1, 3)),
        Sample(draw((2, 3, 2)), draw.integers((2, 2), -1, 3), normalize=False, reduce="no"),
        Sample(np.zeros((0, 3)), np.zeros((0,), np.int32), kind="empty"),
    ]


def _soft_cross_entropy(x, t, soft_target_loss="cross-entropy", reduce="mean", **_):
    log_p = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    if soft_target_loss == "kl-divergence":
        # 1e-7 is the constant of release 7: targets may be 0.
        log_p = log_p - np.log(t + 1e-7)
    losses = -(t * log_p).sum(axis=1)
    return losses if reduce == "no" else losses.sum() / max(losses.size, 1)


def _soft_samples(draw):
    def sample(*shape, **kwargs):
        # The gradient is true for targets whose sum is not 1 as well. They have none themselves.
        return Sample(draw(shape, -2, 2), draw(shape, 0, 1), skip_grad=(1,), **kwargs)

    return [
        sample(4, 3),
        sample(4, 3, soft_target_loss="kl-divergence"),
        sample(2, 3, 2, reduce="no"),
        sample(2, 3, 2, normalize=False, ignore_label=1, label="arguments without effect"),
        sample(0, 3, kind="empty"),
    ]


def _sigmoid_cross_entropy(x, t, normalize=True, reduce="mean"):
    p = 1 / (1 + np.exp(-x))
    # The label -1 is ignored here too, without an argument for it.
    losses = np.where(t == -1, 0.0, -np.where(t == 1, np.log(p), np.log(1 - p)))
    if reduce == "no":
        return losses
    return losses.sum() / (max((t != -1).sum(), 1) if normalize else max(len(x), 1))


def _hinge(x, t, norm="L1", reduce="mean"):
    # One against all: 1 for the column of the label, -1 for the others.
    delta = np.where(np.arange(x.shape[1]) == t[:, None], 1.0, -1.0)
    return _reduced(np.maximum(0, 1 - delta * x) ** (1 if norm == "L1" else 2), reduce)


def _huber(x, t, delta, reduce="sum_along_second_axis"):
    a = abs(x - t)
    # The parabola goes over into its tangents at ``delta``, so that the slope is continuous.
    losses = np.where(a <= delta, a**2 / 2, delta * (a - delta / 2))
    return losses if reduce == "no" else losses.sum(axis=1)


def _contrastive(x0, x1, y, margin=1, reduce="mean"):
    d = np.linalg.norm(x0 - x1, axis=1)
    return _reduced(np.where(y == 1, d**2, np.maximum(margin - d, 0) ** 2) / 2, reduce)


def _triplet(anchor, positive, negative, margin=0.2, reduce="mean"):
    gap = ((anchor - positive) ** 2).sum(axis=1) - ((anchor - negative) ** 2).sum(axis=1)
    return _reduced(np.maximum(gap + margin, 0), reduce)


def _cross_covariance(y, z, reduce="half_squared_sum"):
    n = max(len(y), 1)
    covariance = (y - y.sum(axis=0) / n).T @ (z - z.sum(axis=0) / n) / n
    return covariance if reduce == "no" else (covariance**2).sum() / 2


def _decov(h, reduce="half_squared_sum"):
    covariance = _cross_covariance(h, h, "no")
    # A unit may vary: only correlations between units count.
    covariance = covariance - np.diag(np.diag(covariance))
    return covariance if reduce == "no" else (covariance**2).sum() / 2


def _summed(formula):
    """Gives an elementwise formula the modes of reduction of the losses of autoencoders."""

    def reference(*arrays, reduce="sum"):
        losses = formula(*arrays)
        return {"sum": np.sum, "mean": np.mean, "no": np.asarray}[reduce](losses)

    return reference


@_summed
def _gaussian_kl(mean, ln_var):
    return (mean**2 + np.exp(ln_var) - ln_var - 1) / 2


@_summed
def _bernoulli_nll(x, y):
    p = 1 / (1 + np.exp(-y))
    return -(x * np.log(p) + (1 - x) * np.log(1 - p))


@_summed
def _gaussian_nll(x, mean, ln_var):
    variance = np.exp(ln_var)
    density = np.exp(-((x - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    return -np.log(density)


def _pairs(draw, **kwargs):
    """Samples of two arrays of one shape, at a distance of each other."""
    samples = []
    for shape in ((3, 4), (2, 1, 3), ()):
        x = draw(shape)
        kind = "regular" if shape else "zero-dim"
        samples.append(
            # The absolute error has a kink at 0: numerical gradients must not cross it.
            Sample(x, x + draw.away_from(shape, (0.0,), 0.1, -2, 2), kind=kind, **kwargs)
        )
    return samples


def _with_empty(draw):
    return [*_pairs(draw), Sample(np.zeros((0, 3)), np.zeros((0, 3)), kind="empty")]


_PAIR_ERRORS = [
    invalid_type(r"in_types\[0\]\.shape == in_types\[1\]\.shape", _f(2, 3), _f(2, 2)),
    invalid_type(r"in_types\[0\]\.dtype == in_types\[1\]\.dtype", _f(2, 3), np.ones((2, 3))),
    invalid_type(r"in_types\[0\]\.dtype\.kind == f", np.ones((2, 3), "i"), np.ones((2, 3), "i")),
]


def _modes(draw, count, modes):
    """Samples of the losses of autoencoders: several arrays of one shape, all modes."""
    return [
        *[Sample(*[draw((2, 3)) for _ in range(count)], reduce=mode) for mode in modes],
        Sample(*[draw(()) for _ in range(count)], kind="zero-dim"),
        Sample(*[np.zeros((0, 2))] * count, kind="empty"),
        Sample(*[np.zeros((0, 2))] * count, kind="empty", reduce="no"),
    ]


def _autoencoder(name, reference, count):
    return OpSpec(
        name,
        reference=reference,
        samples=lambda draw: _modes(draw, count, ("sum", "mean", "no")),
        errors=lambda draw: [bad_reduce(*[_f(2, 3)] * count, choices="'sum', 'mean' and 'no'")],
        tolerances=_ROUGH,
    )


def _softmax_variant(
    name, reference=_softmax_cross_entropy, samples=_cross_entropy_samples, **options
):
    """Returns the specification of softmax_cross_entropy with other options or targets."""
    return OpSpec(
        f"softmax_cross_entropy_{name}",
        reference=reference,
        call=lambda F, x, t, **kwargs: F.softmax_cross_entropy(x, t, **options, **kwargs),
        samples=samples,
    )


SPECS = (
    OpSpec(
        "softmax_cross_entropy",
        reference=_softmax_cross_entropy,
        samples=_cross_entropy_samples,
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
                _f(2, 3),
                np.zeros(3, np.int32),
            ),
            invalid_type(r"in_types\[1\]\.dtype\.kind == i", _f(2, 3), np.zeros(2, np.uint8)),
            invalid_type(r"in_types\[1\]\.shape == in_types\[0\]\.shape", _f(2, 3), _f(2)),
            invalid_value(
                "soft_target_loss must be 'cross-entropy' or 'kl-divergence', got 'kl'",
                _f(2, 3),
                _f(2, 3),
                soft_target_loss="kl",
            ),
            bad_reduce(_f(2, 3), np.zeros(2, np.int32), choices="'mean' and 'no'"),
            invalid_value(
                r"class_weight\.ndim should be 1",
                _f(2, 3),
                np.zeros(2, np.int32),
                class_weight=_f(3, 1),
            ),
        ],
    ),
    _softmax_variant("without_cache", cache_score=False),
    _softmax_variant("double_backprop", enable_double_backprop=True),
    _softmax_variant("of_soft_targets", _soft_cross_entropy, _soft_samples),
    _softmax_variant(
        "of_soft_targets_twice", _soft_cross_entropy, _soft_samples, enable_double_backprop=True
    ),
    OpSpec(
        "sigmoid_cross_entropy",
        reference=_sigmoid_cross_entropy,
        samples=lambda draw: [
            *[
                Sample(draw((3, 4), -3, 3), draw.integers((3, 4), -1, 2), normalize=n, reduce=r)
                for n in (True, False)
                for r in ("mean", "no")
            ],
            # No label counts, so that the divisor is 1.
            Sample(draw((3,)), np.full(3, -1, np.int32), label="all ignored"),
            Sample(draw(()), draw.integers((), 0, 2), kind="zero-dim"),
            Sample(np.zeros((0, 3)), np.zeros((0, 3), np.int32), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape == in_types\[1\]\.shape", _f(2, 3), np.ones(2, "i")
            ),
            invalid_type(r"in_types\[1\]\.dtype\.kind == i", _f(2, 3), _f(2, 3)),
            bad_reduce(_f(2, 3), np.ones((2, 3), "i"), choices="'mean' and 'no'"),
        ],
    ),
    OpSpec(
        "hinge",
        reference=_hinge,
        samples=lambda draw: [
            *[
                Sample(
                    # The kinks of both signs.
                    draw.away_from((4, 3), (-1.0, 1.0), low=-2, high=2),
                    draw.integers((4,), 0, 3),
                    norm=norm,
                    reduce=reduce,
                )
                for norm in ("L1", "L2")
                for reduce in ("mean", "no")
            ],
            Sample(np.zeros((0, 3)), np.zeros(0, np.int32), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
                _f(2, 3),
                np.zeros(3, "i"),
            ),
            ErrorInput(
                _f(2, 3),
                np.zeros(2, "i"),
                norm="L3",
                error=NotImplementedError,
                match="norm should be either 'L1' or 'L2'",
            ),
            bad_reduce(_f(2, 3), np.zeros(2, "i"), choices="'mean' and 'no'"),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "huber_loss",
        reference=_huber,
        samples=lambda draw: [
            *[
                # The second derivative jumps where the difference is ``delta``.
                Sample(x, x + draw.away_from(x.shape, (-0.5, 0.5)), delta=0.5, reduce=reduce)
                for x in (draw((3, 4)), draw((2, 3, 2)))
                for reduce in ("sum_along_second_axis", "no")
            ],
            Sample(np.zeros((0, 3)), np.zeros((0, 3)), kind="empty", delta=1.0),
            # Far from the bend. There is no second axis to sum along.
            Sample(draw(()), draw(()) + 4, kind="zero-dim", delta=1.0, reduce="no"),
        ],
        errors=lambda draw: (
            [
                # The samples of the other losses of pairs, which have no ``delta``.
                ErrorInput(b.arrays[0], b.arrays[1], error=b.error, match=b.match, delta=1.0)
                for b in _PAIR_ERRORS
            ]
            + [
                bad_reduce(
                    _f(2, 3), _f(2, 3), delta=1.0, choices="'sum_along_second_axis' and 'no'"
                ),
                invalid_type(r"\.ndim >= 2", _f(3), _f(3), delta=1.0),
                invalid_value(
                    r"delta must not be negative, got -1\.0", _f(2, 3), _f(2, 3), delta=-1.0
                ),
            ]
        ),
    ),
    OpSpec(
        "mean_squared_error",
        reference=lambda x0, x1: ((x0 - x1) ** 2).mean(),
        samples=_pairs,
        errors=lambda draw: _PAIR_ERRORS,
        tolerances=_ROUGH,
    ),
    OpSpec(
        "mean_absolute_error",
        reference=lambda x0, x1: abs(x0 - x1).mean(),
        samples=_pairs,
        errors=lambda draw: _PAIR_ERRORS,
    ),
    OpSpec(
        "squared_error",
        reference=lambda x0, x1: (x0 - x1) ** 2,
        samples=_with_empty,
        errors=lambda draw: _PAIR_ERRORS,
        tolerances=_ROUGH,
    ),
    OpSpec(
        "absolute_error",
        reference=lambda x0, x1: abs(x0 - x1),
        samples=_with_empty,
        errors=lambda draw: _PAIR_ERRORS,
    ),
    OpSpec(
        "contrastive",
        reference=_contrastive,
        samples=lambda draw: [
            # A wide margin, so that pairs of label 0 have a gradient, too.
            Sample(draw((4, 3)), draw((4, 3)), np.array([0, 1, 0, 1], np.int32), margin=3),
            Sample(draw((4, 3)), draw((4, 3)), np.array([1, 0, 0, 1], np.int32), reduce="no"),
            Sample(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, np.int32), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[1\]\.shape\[0\] == in_types\[2\]\.shape\[0\]",
                _f(2, 3),
                _f(2, 3),
                np.zeros(3, "i"),
            ),
            invalid_value(
                "margin should be positive", _f(2, 3), _f(2, 3), np.zeros(2, "i"), margin=0
            ),
            bad_reduce(_f(2, 3), _f(2, 3), np.zeros(2, "i"), choices="'mean' and 'no'"),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "triplet",
        reference=_triplet,
        samples=lambda draw: [
            # A wide margin first; below, far negatives, most of whose losses are zero.
            Sample(draw((4, 3)), draw((4, 3)), draw((4, 3)), margin=3.0),
            Sample(draw((4, 3)), draw((4, 3)), draw((4, 3)) + 2, margin=1.0, reduce="no"),
            Sample(*[np.zeros((0, 3))] * 3, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape == in_types\[2\]\.shape", _f(2, 3), _f(2, 3), _f(2, 2)
            ),
            invalid_value("should be positive", *[_f(2, 3)] * 3, margin=-1),
            bad_reduce(*[_f(2, 3)] * 3, choices="'mean' and 'no'"),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "cross_covariance",
        reference=_cross_covariance,
        samples=lambda draw: [
            Sample(draw((4, 3)), draw((4, 2))),
            Sample(draw((4, 3)), draw((4, 2)), reduce="no"),
            Sample(np.zeros((0, 3)), np.zeros((0, 2)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]", _f(2, 3), _f(3, 3)
            ),
            bad_reduce(_f(2, 3), _f(2, 3), choices="'half_squared_sum' and 'no'"),
        ],
    ),
    OpSpec(
        "decov",
        reference=_decov,
        samples=lambda draw: [
            Sample(draw((4, 3))),
            Sample(draw((4, 3)), reduce="no"),
            Sample(np.zeros((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.ndim == 2", _f(3)),
            bad_reduce(_f(2, 3), choices="'half_squared_sum' and 'no'"),
        ],
    ),
    _autoencoder("gaussian_kl_divergence", _gaussian_kl, 2),
    _autoencoder("bernoulli_nll", _bernoulli_nll, 2),
    _autoencoder("gaussian_nll", _gaussian_nll, 3),
)

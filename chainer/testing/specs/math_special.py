"""Special functions, against series and the standard library instead of SciPy."""

# pyright: basic
from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample, Tolerance
from chainer.testing.specs import formulas
from chainer.testing.specs.inputs import elementwise_samples, invalid_type

# Half precision has an error of 1e-3 in the input alone, and some derivatives are steep.
_STEEP = {"float16": Tolerance((1e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))}

#: Bernoulli numbers of even index from 2, for asymptotic series.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)

_lgamma = np.vectorize(math.lgamma, otypes=[np.float64])
_quantile = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])


def _digamma(x):
    """Recurrence up to large arguments, then the asymptotic series (DLMF 5.5.2, 5.11.2)."""
    shift = 20
    large = x + shift
    series = np.log(large) - 0.5 / large
    for k, b in enumerate(_BERNOULLI, 1):
        series = series - b / (2 * k * large ** (2 * k))
    return series - sum(1 / (x + k) for k in range(shift))


def _zeta(x, q):
    """Euler-Maclaurin summation (DLMF 25.11.7)."""
    count = 20
    x, q = np.broadcast_arrays(np.asarray(x, np.float64), q)
    large = q + count
    total = sum((q + k) ** -x for k in range(count))
    total = total + large ** (1 - x) / (x - 1) + 0.5 * large**-x
    rising = x * large ** (-x - 1)
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b / math.factorial(2 * k) * rising
        rising = rising * (x + 2 * k - 1) * (x + 2 * k) / large**2
    return total


def _polygamma(n, x):
    """Zeta function (DLMF 25.11.12); the digamma function for order 0."""
    n, x = np.broadcast_arrays(n, x)
    factorials = np.vectorize(math.factorial, otypes=[np.float64])(n)
    series = (-1.0) ** (n + 1) * factorials * _zeta(np.maximum(n, 1) + 1.0, x)
    return np.where(n == 0, _digamma(x), series)


def _unary(name, reference, low=-1.0, high=1.0):
    return OpSpec(
        name,
        reference=reference,
        samples=elementwise_samples(low, high),
        errors=lambda draw: [invalid_type(r"x\.dtype\.kind == f", np.arange(6).reshape(2, 3))],
        tolerances=_STEEP,
    )


SPECS = (
    _unary("digamma", _digamma, 1.0, 3.0),
    _unary("lgamma", _lgamma, 0.6, 3.0),
    _unary("erfinv", lambda x: _quantile((x + 1) / 2) / math.sqrt(2), -0.7, 0.7),
    _unary("erfcinv", lambda x: -_quantile(x / 2) / math.sqrt(2), 0.3, 1.7),
    _unary("erfcx", lambda x: np.exp(x * x) * formulas.erfc(x)),
    _unary("ndtr", lambda x: 0.5 * formulas.erfc(-x / math.sqrt(2)), -2.0, 2.0),
    _unary("log_ndtr", lambda x: np.log(0.5 * formulas.erfc(-x / math.sqrt(2))), -3.0, 2.0),
    _unary("ndtri", _quantile, 0.2, 0.8),
    OpSpec(
        "polygamma",
        reference=_polygamma,
        samples=lambda draw: [
            Sample(draw.integers((3, 4), 0, 3), draw((3, 4), 1.5, 3.0)),
            Sample(draw.integers((2, 1), 0, 3), draw((2, 1, 3), 1.5, 3.0)),
            Sample(np.array(1), draw((3,), 1.5, 3.0), label="one order for all"),
            Sample(np.array([0, 2]), draw((), 1.5, 3.0), kind="zero-dim"),
            Sample(np.array([1, 2, 1]), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"n\.dtype\.kind == i", np.ones(3, "f"), np.ones(3, "f")),
            invalid_type(r"x\.dtype\.kind == f", np.ones(3, "i"), np.ones(3, "i")),
            invalid_type(
                r"(?s)n\.shape = \(2,\).*x\.shape = \(3,\)", np.ones(2, "i"), np.ones(3, "f")
            ),
        ],
        tolerances=_STEEP,
    ),
    OpSpec(
        "zeta",
        reference=lambda q, x: _zeta(x, q),
        call=lambda F, q, x: F.zeta(x, q),
        covers=("zeta",),
        samples=lambda draw: [
            Sample(draw((3, 4), 1.5, 3.0), x=2),
            Sample(draw((2, 3), 1.5, 3.0), x=draw((2, 3), 1.5, 3.0)),
            Sample(draw((2, 1), 1.5, 3.0), x=np.array([2, 3, 4]), label="x of larger shape"),
            Sample(draw((), 1.5, 3.0), x=2.5, kind="zero-dim"),
            Sample(draw((0, 3)), x=2.5, kind="empty"),
        ],
        errors=lambda draw: [invalid_type(r"q\.dtype\.kind == f", np.ones(3, "i"), x=2)],
        tolerances=_STEEP,
    ),
)

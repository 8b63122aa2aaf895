"""Each distribution with parameters, SciPy's counterpart, and points of its support."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from chainer import distributions as D

stats = pytest.importorskip("scipy.stats", reason="SciPy's distributions are the reference")

RNG = np.random.RandomState(0)


def uniform(low, high, shape=(3, 2)):
    return RNG.uniform(low, high, shape)


@dataclass
class Case:
    cls: Any
    params: dict
    scipy: Any
    scipy_params: dict
    targets: set
    points: Any = None
    event_shape: tuple = ()
    support: str | None = "real"
    continuous: bool = True
    one_by_one: bool = False
    options: dict = field(default_factory=dict)
    #: Parameters in which samples are differentiable.
    reparametrized: tuple = ()
    kl: bool = True

    @property
    def name(self):
        return "_".join([self.cls.__name__, *sorted(self.params)])


LOC, SCALE = uniform(-1, 1), uniform(0.5, 1.5)
P = uniform(0.1, 0.9)
SIMPLEX = RNG.dirichlet([2.0, 3.0, 1.5, 2.5], (3, 2))
TRIL = np.tril(uniform(-1, 1, (3, 2, 2, 2)), -1) + np.eye(2) * uniform(0.5, 1.5, (3, 2, 1, 2))
MEANS = uniform(-1, 1, (3, 2, 2))


class MultivariateNormal:
    @staticmethod
    def _make(loc, scale_tril):
        return stats.multivariate_normal(loc, scale_tril @ scale_tril.T)

    def logpdf(self, x, **params):
        return self._make(**params).logpdf(x)

    def entropy(self, **params):
        return self._make(**params).entropy()

    def rvs(self, size, loc, scale_tril):
        return self._make(loc, scale_tril).rvs(size=size)

    def mean(self, loc, scale_tril):
        return loc


class Categorical:
    def logpmf(self, x, p):
        return np.log(p)[x]

    def entropy(self, p):
        return stats.entropy(p)


class OneHot:
    def logpmf(self, x, p):
        return stats.multinomial(1, p).logpmf(x)

    def mean(self, p):
        return p

    def var(self, p):
        return p * (1 - p)

    def rvs(self, size, p):
        return stats.multinomial(1, p).rvs(size=size)


BASIC = {"batch_shape", "event_shape", "log_prob", "sample"}
MOMENTS = {"mean", "variance", "support"}
NORMAL = {
    *BASIC, *MOMENTS, "entropy", "stddev", "prob", "cdf", "log_cdf", "icdf", "survival",
    "log_survival",
}  # fmt: skip

CASES = [
    Case(D.Normal, {"loc": LOC, "scale": SCALE}, stats.norm, {"loc": LOC, "scale": SCALE}, NORMAL,
         reparametrized=("loc", "scale")),
    Case(D.Normal, {"loc": LOC, "log_scale": np.log(SCALE)}, stats.norm,
         {"loc": LOC, "scale": SCALE}, NORMAL, reparametrized=("loc", "log_scale")),
    Case(D.LogNormal, {"mu": LOC, "sigma": 0.5 * SCALE}, stats.lognorm,
         {"s": 0.5 * SCALE, "scale": np.exp(LOC)}, {*BASIC, *MOMENTS, "entropy"},
         points=(0.1, 3), support="positive", reparametrized=("mu", "sigma")),
    Case(D.Laplace, {"loc": LOC, "scale": SCALE}, stats.laplace, {"loc": LOC, "scale": SCALE},
         {*BASIC, *MOMENTS, "entropy", "stddev", "prob", "cdf", "icdf"},
         reparametrized=("loc", "scale")),
    Case(D.Gumbel, {"loc": LOC, "scale": SCALE}, stats.gumbel_r, {"loc": LOC, "scale": SCALE},
         {*BASIC, *MOMENTS, "entropy"}, reparametrized=("loc", "scale")),
    Case(D.Cauchy, {"loc": LOC, "scale": SCALE}, stats.cauchy, {"loc": LOC, "scale": SCALE},
         {"batch_shape", "event_shape", "log_prob", "support", "entropy", "cdf", "icdf"},
         reparametrized=("loc", "scale"), kl=False),
    Case(D.Uniform, {"low": LOC, "high": LOC + SCALE}, stats.uniform,
         {"loc": LOC, "scale": SCALE},
         {*BASIC, *MOMENTS, "entropy", "stddev", "cdf", "icdf"},
         points="inside", support="[low, high]", reparametrized=("low", "high")),
    Case(D.Uniform, {"loc": LOC, "scale": SCALE}, stats.uniform, {"loc": LOC, "scale": SCALE},
         {*BASIC, *MOMENTS, "entropy", "stddev", "cdf", "icdf"},
         points="inside", support="[low, high]", reparametrized=("loc", "scale")),
    Case(D.Exponential, {"lam": SCALE}, stats.expon, {"scale": 1 / SCALE},
         {*BASIC, *MOMENTS, "entropy", "cdf", "icdf"}, points=(0.1, 3), support="positive",
         reparametrized=("lam",)),
    Case(D.Gamma, {"k": 1 + SCALE, "theta": SCALE}, stats.gamma,
         {"a": 1 + SCALE, "scale": SCALE}, {*BASIC, *MOMENTS, "entropy"}, points=(0.1, 3),
         support="positive", reparametrized=("theta",)),
    Case(D.Chisquare, {"k": 2 + SCALE}, stats.chi2, {"df": 2 + SCALE},
         {"batch_shape", "event_shape", "log_prob", *MOMENTS, "entropy"}, points=(0.1, 3),
         support="positive", kl=False),
    Case(D.Beta, {"a": 1 + SCALE, "b": 2 * SCALE}, stats.beta, {"a": 1 + SCALE, "b": 2 * SCALE},
         {*BASIC, *MOMENTS, "entropy"}, points=(0.1, 0.9), support="[0, 1]"),
    Case(D.Pareto, {"scale": SCALE, "alpha": 3 + SCALE}, stats.pareto,
         {"scale": SCALE, "b": 3 + SCALE}, {*BASIC, *MOMENTS, "entropy"}, points=(1.6, 4),
         support="[scale, inf]", reparametrized=("scale",)),
    Case(D.Bernoulli, {"p": P}, stats.bernoulli, {"p": P},
         {*BASIC, *MOMENTS, "entropy", "stddev", "prob"}, points=2, support="{0, 1}",
         continuous=False),
    Case(D.Bernoulli, {"logit": np.log(P / (1 - P))}, stats.bernoulli, {"p": P},
         {*BASIC, *MOMENTS, "entropy", "stddev", "prob"}, points=2, support="{0, 1}",
         continuous=False, options={"binary_check": True}),
    Case(D.Geometric, {"p": P}, stats.geom, {"p": P},
         {"batch_shape", "event_shape", "log_prob", *MOMENTS}, points=5,
         support="positive integer", continuous=False),
    Case(D.Poisson, {"lam": SCALE}, stats.poisson, {"mu": SCALE}, {*BASIC, *MOMENTS}, points=5,
         support="non negative integer", continuous=False),
    Case(D.Categorical, {"p": SIMPLEX}, Categorical(), {"p": SIMPLEX},
         {"batch_shape", "event_shape", "log_prob", "entropy"}, points=4, support=None,
         continuous=False, one_by_one=True),
    Case(D.Categorical, {"logit": np.log(SIMPLEX) + 1}, Categorical(), {"p": SIMPLEX},
         {"batch_shape", "event_shape", "log_prob", "entropy"}, points=4, support=None,
         continuous=False, one_by_one=True),
    Case(D.OneHotCategorical, {"p": SIMPLEX}, OneHot(), {"p": SIMPLEX},
         {"batch_shape", "event_shape", "log_prob", "mean", "variance", "sample"},
         points="one hot", event_shape=(4,), support=None, continuous=False, one_by_one=True),
    Case(D.Dirichlet, {"alpha": 5 * SIMPLEX}, stats.dirichlet, {"alpha": 5 * SIMPLEX},
         {"batch_shape", "event_shape", "mean", "variance", "entropy", "sample", "support"},
         points="simplex", event_shape=(4,), support="[0, 1]", one_by_one=True),
    Case(D.MultivariateNormal, {"loc": MEANS, "scale_tril": TRIL}, MultivariateNormal(),
         {"loc": MEANS, "scale_tril": TRIL},
         {"batch_shape", "event_shape", "log_prob", "entropy", "mean", "sample", "support"},
         event_shape=(2,), one_by_one=True, reparametrized=("loc", "scale_tril")),
]  # fmt: skip


def points_of(case, sample_shape=(), seed=1):
    """Returns values inside the support, of shape ``sample_shape + (3, 2) + event_shape``."""
    rng = np.random.RandomState(seed)
    shape = (*sample_shape, 3, 2)
    if case.points is None:
        return rng.normal(size=shape + case.event_shape)
    if case.points == "inside":
        return rng.uniform(0.1, 0.9, shape) * SCALE + LOC
    if case.points == "one hot":
        return np.eye(4)[rng.randint(4, size=shape)]
    if case.points == "simplex":
        return rng.dirichlet(5 * np.ones(4), shape)
    if isinstance(case.points, tuple):
        return rng.uniform(*case.points, shape)
    first = 1 if case.cls is D.Geometric else 0
    return rng.randint(first, case.points, shape)


def make(case, dtype="d", send=lambda x: x, wrap=lambda x: x):
    """Returns the distribution of a case."""
    params = {k: wrap(send(v.astype(dtype))) for k, v in case.params.items()}
    return case.cls(**params, **case.options)

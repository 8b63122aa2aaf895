"""Probability distributions (``chainer.distributions``).

The names come from the registry ``chainer.core.registry.registries.distributions``: our own from
the modules here, others from installed packs. Each is imported at first use.
"""

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "bernoulli": ("Bernoulli",),
    "beta": ("Beta",),
    "categorical": ("Categorical",),
    "cauchy": ("Cauchy",),
    "chisquare": ("Chisquare",),
    "dirichlet": ("Dirichlet",),
    "exponential": ("Exponential",),
    "gamma": ("Gamma",),
    "geometric": ("Geometric",),
    "gumbel": ("Gumbel",),
    "independent": ("Independent",),
    "laplace": ("Laplace",),
    "log_normal": ("LogNormal",),
    "multivariate_normal": ("MultivariateNormal",),
    "normal": ("Normal",),
    "one_hot_categorical": ("OneHotCategorical",),
    "pareto": ("Pareto",),
    "poisson": ("Poisson",),
    "uniform": ("Uniform",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.distributions)

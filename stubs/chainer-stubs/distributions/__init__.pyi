# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.distributions import (
    bernoulli as bernoulli,
    beta as beta,
    categorical as categorical,
    cauchy as cauchy,
    chisquare as chisquare,
    dirichlet as dirichlet,
    distribution as distribution,
    exponential as exponential,
    gamma as gamma,
    geometric as geometric,
    gumbel as gumbel,
    independent as independent,
    laplace as laplace,
    log_normal as log_normal,
    multivariate_normal as multivariate_normal,
    normal as normal,
    one_hot_categorical as one_hot_categorical,
    pareto as pareto,
    poisson as poisson,
    uniform as uniform,
    utils as utils,
)
from chainer.distributions.bernoulli import Bernoulli as Bernoulli
from chainer.distributions.beta import Beta as Beta
from chainer.distributions.categorical import Categorical as Categorical
from chainer.distributions.cauchy import Cauchy as Cauchy
from chainer.distributions.chisquare import Chisquare as Chisquare
from chainer.distributions.dirichlet import Dirichlet as Dirichlet
from chainer.distributions.exponential import Exponential as Exponential
from chainer.distributions.gamma import Gamma as Gamma
from chainer.distributions.geometric import Geometric as Geometric
from chainer.distributions.gumbel import Gumbel as Gumbel
from chainer.distributions.independent import Independent as Independent
from chainer.distributions.laplace import Laplace as Laplace
from chainer.distributions.log_normal import LogNormal as LogNormal
from chainer.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from chainer.distributions.normal import Normal as Normal
from chainer.distributions.one_hot_categorical import OneHotCategorical as OneHotCategorical
from chainer.distributions.pareto import Pareto as Pareto
from chainer.distributions.poisson import Poisson as Poisson
from chainer.distributions.uniform import Uniform as Uniform

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...

"""Distributions: all members, samples, gradients, divergences, errors."""

import warnings, sys, os, copy, pickle, tempfile
import numpy as np
import chainer, chainer.functions as F, chainer.links as L

import _cases

np.set_printoptions(precision=4, suppress=True)

#: Cases in which this release does something else on purpose.
SKIPPED = [
    "Bernoulli.cached",
    "Bernoulli.scalarx",
    "BernoulliL.cached",
    "BernoulliL.grad",
    "BernoulliL.prob",
    "BernoulliL.scalarx",
    "Beta.scalarx",
    "Categorical.scalarx",
    "CategoricalL.scalarx",
    "Chisquare.scalarx",
    "Dirichlet.scalarx",
    "Dirichlet.sdtyped",
    "Dirichlet.sdtypee",
    "Gamma.scalarx",
    "IndepN.covariance",
    "IndepN.mode",
    "IndepNone.covariance",
    "IndepNone.mode",
    "LogNormal.scalarx",
    "MVN.copy",
    "MVN.dtyped",
    "MVN.dtypee",
    "MVN.scalarx",
    "MVN.sdtypee",
    "Normal.mode",
    "NormalL.mode",
    "Pareto.scalarx",
    "Pareto.variance",
    "Poisson.scalarx",
    "Poisson.sdtyped",
    "Poisson.sdtypee",
    "Uniform.scalarx",
    "UniformL.scalarx",
    "beta support",
    "nodes",
    "reg",
    "support",
]

case = _cases.printer(SKIPPED)

import chainer.distributions as D

f = lambda *a: np.array(a, "f")
B = {
    "Bernoulli": (lambda v: D.Bernoulli(p=v(f(0.2, 0.7))), lambda: np.array([0, 1], "f")),
    "BernoulliL": (
        lambda v: D.Bernoulli(logit=v(f(-1, 2)), binary_check=True),
        lambda: np.array([0, 1], "i"),
    ),
    "Beta": (lambda v: D.Beta(v(f(1.5, 2)), v(f(2, 3))), lambda: f(0.2, 0.6)),
    "Categorical": (
        lambda v: D.Categorical(p=v(f([0.2, 0.3, 0.5], [0.1, 0.1, 0.8]))),
        lambda: np.array([0, 2], "i"),
    ),
    "CategoricalL": (
        lambda v: D.Categorical(logit=v(f([0.2, 0.3, 0.5], [0.1, 0.1, 0.8]))),
        lambda: np.array([0, 2], "i"),
    ),
    "Cauchy": (lambda v: D.Cauchy(v(f(0, 1)), v(f(2, 3))), lambda: f(0.2, 0.6)),
    "Chisquare": (lambda v: D.Chisquare(v(f(3, 4))), lambda: f(0.2, 0.6)),
    "Dirichlet": (
        lambda v: D.Dirichlet(v(f([1, 2, 3], [2, 2, 2]))),
        lambda: f([0.2, 0.3, 0.5], [0.1, 0.1, 0.8]),
    ),
    "Exponential": (lambda v: D.Exponential(v(f(3, 4))), lambda: f(0.2, 0.6)),
    "Gamma": (lambda v: D.Gamma(v(f(1.5, 2)), v(f(2, 3))), lambda: f(0.2, 0.6)),
    "Geometric": (lambda v: D.Geometric(v(f(0.3, 0.4))), lambda: np.array([1, 3], "i")),
    "Gumbel": (lambda v: D.Gumbel(v(f(0, 1)), v(f(2, 3))), lambda: f(0.2, 0.6)),
    "Laplace": (lambda v: D.Laplace(v(f(0, 1)), v(f(2, 3))), lambda: f(0.2, 0.6)),
    "LogNormal": (lambda v: D.LogNormal(v(f(0, 1)), v(f(2, 3))), lambda: f(0.2, 0.6)),
    "MVN": (
        lambda v: D.MultivariateNormal(
            v(f([0, 1], [1, 2])), scale_tril=v(f([[1, 0], [0.5, 2]], [[1, 0], [0.1, 1]]))
        ),
        lambda: f([0.2, 0.6], [1, 2]),
    ),
    "Normal": (lambda v: D.Normal(v(f(0, 1)), v(f(2, 3))), lambda: f(0.2, 0.6)),
    "NormalL": (lambda v: D.Normal(v(f(0, 1)), log_scale=v(f(0.2, 0.3))), lambda: f(0.2, 0.6)),
    "OneHot": (
        lambda v: D.OneHotCategorical(v(f([0.2, 0.3, 0.5], [0.1, 0.1, 0.8]))),
        lambda: f([0, 1, 0], [1, 0, 0]),
    ),
    "Pareto": (lambda v: D.Pareto(v(f(0.5, 1)), v(f(2, 3))), lambda: f(0.7, 1.6)),
    "Poisson": (lambda v: D.Poisson(v(f(2, 3))), lambda: np.array([1, 3], "i")),
    "Uniform": (lambda v: D.Uniform(low=v(f(0, 1)), high=v(f(2, 3))), lambda: f(0.2, 1.6)),
    "UniformL": (lambda v: D.Uniform(loc=v(f(0, 1)), scale=v(f(2, 3))), lambda: f(0.2, 1.6)),
    "IndepN": (
        lambda v: D.Independent(D.Normal(v(f([0, 1], [1, 2])), v(f([2, 3], [1, 1]))), 1),
        lambda: f([0.2, 0.6], [1, 2]),
    ),
    "IndepNone": (
        lambda v: D.Independent(D.Normal(v(f([0, 1], [1, 2])), v(f([2, 3], [1, 1])))),
        lambda: f([0.2, 0.6], [1, 2]),
    ),
}
props = "batch_shape event_shape support mean mode variance stddev covariance entropy p logit log_p loc scale log_scale low high a b k theta lam mu sigma alpha alpha0 scale_tril d binary_check reinterpreted_batch_ndims".split()
meths = "log_prob prob cdf log_cdf icdf survival_function log_survival_function perplexity".split()
for n, (mk, x) in B.items():
    for p in [p for p in props if hasattr(type(mk(np.asarray)), p)]:
        case(n + "." + p, lambda: getattr(mk(np.asarray), p))
    case(n + ".params", lambda: mk(np.asarray).params)
    case(n + ".xp", lambda: mk(np.asarray).xp.__name__)
    for m in meths:
        q = f(0.2, 0.6) if m == "icdf" and not n.startswith("Indep") else x()
        case(n + "." + m, lambda: getattr(mk(np.asarray), m)(q))
    for s in [(), 2, (2, 1)]:
        case(n + ".sample%s" % (s,), lambda: mk(np.asarray).sample(s))
    case(n + ".sample_n", lambda: mk(np.asarray).sample_n(3))
    case(n + ".sample-1", lambda: mk(np.asarray).sample((-1,)))
    case(n + ".kl", lambda: chainer.kl_divergence(mk(np.asarray), mk(np.asarray)))

    def grads():
        vs = []

        def v(a):
            vs.append(chainer.Parameter(a))
            return vs[-1]

        d = mk(v)
        xx = chainer.Variable(x())
        F.sum(d.log_prob(xx)).backward()
        return [p.grad for p in vs], xx.grad

    case(n + ".grad", grads)

    def sgrads():
        vs = []

        def v(a):
            vs.append(chainer.Parameter(a))
            return vs[-1]

        d = mk(v)
        F.sum(d.sample((2,)) * 1.0).backward()
        return [p.grad for p in vs]

    case(n + ".sgrad", sgrads)

    def egrads():
        vs = []

        def v(a):
            vs.append(chainer.Parameter(a))
            return vs[-1]

        d = mk(v)
        F.sum(d.entropy).backward()
        return [p.grad for p in vs]

    case(n + ".egrad", egrads)
    for dt in ("e", "d"):

        def half():
            d = mk(lambda a: a.astype(dt))
            xx = x()
            xx = xx.astype(dt) if xx.dtype.kind == "f" else xx
            r = d.log_prob(xx)
            return r.dtype, np.round(r.array.astype("d"), 2).tolist()

        case(n + ".dtype" + dt, half)
        case(n + ".sdtype" + dt, lambda: mk(lambda a: a.astype(dt)).sample((2,)).dtype)
    case(n + ".deepcopy", lambda: copy.deepcopy(mk(np.asarray)).log_prob(x()))
    case(n + ".pickle", lambda: pickle.loads(pickle.dumps(mk(np.asarray))).log_prob(x()))
    case(n + ".copy", lambda: copy.copy(mk(np.asarray)).log_prob(x()))

    def ro():
        d = mk(np.asarray)
        for p in [p for p in props if hasattr(type(mk(np.asarray)), p)]:
            try:
                setattr(d, p, 3)
            except AttributeError as e:
                print(end=p + " ")
        return None

    case(n + ".readonly", ro)

    def cached():
        d = mk(np.asarray)
        r = []
        for p in sorted(d.params) + ["entropy"]:
            try:
                a = getattr(d, p)
                with chainer.no_backprop_mode():
                    b = getattr(d, p)
                r.append((p, a is getattr(d, p), a is b))
            except NotImplementedError:
                pass
        return r

    case(n + ".cached", cached)
    case(n + ".unknown", lambda: type(mk(np.asarray))(f(1.0), f(1.0), foo=2))
    case(
        n + ".slots",
        lambda: sorted(
            k for k in ("log_survival", "has_grad", "to_gpu") if hasattr(mk(np.asarray), k)
        ),
    )
    case(n + ".scalarx", lambda: mk(np.asarray).log_prob(1))
    case(n + ".cdfscalarx", lambda: mk(np.asarray).cdf(0.5))
    case(n + ".bigx", lambda: mk(np.asarray).log_prob(np.stack([x(), x()])))
    case(n + ".mod", lambda: type(mk(np.asarray)).__module__)
for c in ["Bernoulli", "Categorical"]:
    case(c + "excl0", lambda: getattr(D, c)())
    case(c + "excl2", lambda: getattr(D, c)(p=f(0.5), logit=f(0.5)))
case("N0", lambda: D.Normal(f(0)))
case("N2", lambda: D.Normal(f(0), f(0), log_scale=f(1)))
case("N3", lambda: D.Normal(f(0), f(0), f(1)))
case("U0", lambda: D.Uniform())
case("U1", lambda: D.Uniform(low=f(1)))
case("U4", lambda: D.Uniform(low=f(1), high=f(2), loc=f(1), scale=f(1)))
case("U3", lambda: D.Uniform(low=f(1), loc=f(1), scale=f(1)).params)
case("Upos", lambda: D.Uniform(f(1), f(2)))
case("MVN", lambda: D.MultivariateNormal(f(1)))
case("kl nopair", lambda: chainer.kl_divergence(D.Normal(f(0), f(1)), D.Gamma(f(1), f(1))))
case("kl nopair msg", lambda: chainer.kl_divergence(D.Cauchy(f(0), f(1)), D.Cauchy(f(0), f(1))))
case(
    "support",
    lambda: [
        D.Exponential(f(1)).log_prob(f(-1)),
        D.Gamma(f(2.0), f(1)).log_prob(f(-1, 0)),
        D.Pareto(f(1), f(1)).log_prob(f(0.5)),
        D.Uniform(low=f(0), high=f(1)).log_prob(f(-1, 0, 1, 2)),
    ],
)
case(
    "beta support",
    lambda: D.Beta(
        f(
            2.0,
        ),
        f(2.0),
    ).log_prob(f(-0.5, 0, 1, 1.5)),
)
case("indep too many", lambda: D.Independent(D.Normal(f(0), f(1)), 2))
case(
    "indep0",
    lambda: (
        D.Independent(D.Normal(f(0), f(1)), 0).batch_shape,
        D.Independent(D.Normal(f(0), f(1)), 0).event_shape,
    ),
)
case("indep icdf", lambda: D.Independent(D.Normal(f(0), f(1))).icdf(f(0.5)))
case(
    "Indep kl shapes",
    lambda: chainer.kl_divergence(
        D.Independent(D.Normal(f([0, 1]), f([1, 1])), 1),
        D.Independent(D.Normal(f(0, 0), f(1, 1)), 1),
    ),
)
case(
    "Indep kl event",
    lambda: chainer.kl_divergence(
        D.Independent(D.Normal(f([0, 1]), f([1, 1])), 1),
        D.Independent(D.Normal(f(0, 0, 0), f(1, 1, 1)), 1),
    ),
)
case("Indep MVN cov", lambda: D.Independent(B["MVN"][0](np.asarray), 1).covariance)
case("cauchy mean", lambda: D.Cauchy(f(0), f(1)).mean)
case("cauchy var", lambda: D.Cauchy(f(0), f(1)).variance)


class Own(chainer.Distribution):
    pass


o = Own()
for p in props[:9] + ["params", "xp"]:
    case("own." + p, lambda: getattr(o, p))
for p in meths + ["sample_n", "sample"]:
    case("own." + p, lambda: getattr(o, p)(1))
case(
    "copy_to",
    lambda: (lambda t: (D.Normal(f(0), f(1))._copy_to(t) is t, type(t.loc).__name__))(
        D.Normal(f(0), f(2))
    ),
)
case(
    "uniform kl",
    lambda: chainer.kl_divergence(
        D.Uniform(low=f(0, 0), high=f(1, 3)), D.Uniform(loc=f(0, 0), scale=f(2, 2))
    ),
)
case(
    "pareto kl",
    lambda: chainer.kl_divergence(D.Pareto(f(1, 2), f(1, 3)), D.Pareto(f(2, 1), f(2, 2))),
)
for cls, a, b in [
    ("Beta", (f(1, 2), f(2, 3)), (f(3, 2), f(1, 1))),
    ("Gamma", (f(1, 2), f(2, 3)), (f(3, 2), f(1, 1))),
    ("Gumbel", (f(1, 2), f(2, 3)), (f(3, 2), f(1, 1))),
    ("Laplace", (f(1, 2), f(2, 3)), (f(3, 2), f(1, 1))),
    ("LogNormal", (f(1, 2), f(2, 3)), (f(3, 2), f(1, 1))),
    ("Normal", (f(1, 2), f(2, 3)), (f(3, 2), f(1, 1))),
    ("Poisson", (f(1, 2),), (f(3, 2),)),
    ("Exponential", (f(1, 2),), (f(3, 2),)),
    ("Geometric", (f(0.1, 0.2),), (f(0.3, 0.2),)),
    ("Bernoulli", (f(0.1, 0.2),), (f(0.3, 0.2),)),
    ("Categorical", (f([0.1, 0.9], [0.2, 0.8]),), (f([0.3, 0.7], [0.2, 0.8]),)),
    ("OneHotCategorical", (f([0.1, 0.9], [0.2, 0.8]),), (f([0.3, 0.7], [0.2, 0.8]),)),
    ("Dirichlet", (f([1, 2], [2, 3]),), (f([1, 1], [4, 3]),)),
]:
    case("kl " + cls, lambda: chainer.kl_divergence(getattr(D, cls)(*a), getattr(D, cls)(*b)))
    if a[0].ndim == 1:
        case(
            "kl broadcast " + cls,
            lambda: chainer.kl_divergence(
                getattr(D, cls)(*a), getattr(D, cls)(*[x[:1].reshape(()) for x in b])
            ),
        )
case("reg", lambda: chainer.register_kl(Own, Own)(lambda a, b: 5) and 0)
case("reg2", lambda: chainer.kl_divergence(o, o))
case("reg3", lambda: sorted(k[0].__name__ for k in chainer.distribution._KLDIVERGENCE))
from chainer.distributions import (
    normal,
    log_normal,
    multivariate_normal,
    gumbel,
    bernoulli,
    laplace,
    utils,
)

case(
    "consts",
    lambda: [
        normal.ENTROPYC,
        normal.LOGPROBC,
        normal.PROBC,
        log_normal.LOGPROBC,
        multivariate_normal.ENTROPYC,
        multivariate_normal.LOGPROBC,
        gumbel.EULER,
    ],
)
case(
    "helpers",
    lambda: [
        bernoulli._bernoulli_log_prob(f(1.0), f(1.0)),
        laplace._laplace_cdf(f(1.0)),
        laplace._laplace_icdf(f(0.3)),
        multivariate_normal._triangular_inv(f([1, 0], [2, 3])),
        multivariate_normal._triangular_inv(f([1, 2], [0, 3]), lower=False),
        utils._modified_xlogx(f(0, 0.5)),
    ],
)
case(
    "nodes",
    lambda: [
        bernoulli.BernoulliLogProb(False).apply((f(1.0), f(1.0))),
        laplace.LaplaceCDF().apply((f(1.0),)),
        laplace.LaplaceICDF().apply((f(0.1),)),
        multivariate_normal.TriangularInv(True).apply((f([1, 0], [2, 3]),)),
        utils.ModifiedXLogX().apply((f(0, 1),)),
    ],
)


def mx():
    v = chainer.Variable(f(0, 0.5))
    utils._modified_xlogx(v).backward() if 0 else F.sum(utils._modified_xlogx(v)).backward()
    return v.grad


case("xlogx grad", mx)

"""Kullback-Leibler divergences against numerical integration, and what is registered."""

import numpy as np
import pytest

import chainer
from chainer import distributions as D
from chainer import functions as F
from chainer import gradient_check

integrate = pytest.importorskip("scipy.integrate", reason="SciPy integrates the densities")

#: Two sets of parameters for each class, and the interval on which the densities are integrated.
CONTINUOUS = [
    (D.Normal, {"loc": 0.3, "scale": 0.7}, {"loc": -0.5, "scale": 1.3}, (-12, 12)),
    (D.Normal, {"loc": 0.3, "log_scale": -0.2}, {"loc": -0.5, "scale": 1.3}, (-12, 12)),
    (D.LogNormal, {"mu": 0.3, "sigma": 0.4}, {"mu": 0.1, "sigma": 0.6}, (1e-9, 60)),
    (D.Laplace, {"loc": 0.3, "scale": 0.7}, {"loc": -0.5, "scale": 1.3}, (-30, 30)),
    (D.Gumbel, {"loc": 0.3, "scale": 0.7}, {"loc": -0.5, "scale": 1.3}, (-6, 30)),
    (D.Exponential, {"lam": 0.7}, {"lam": 1.9}, (0, 60)),
    (D.Gamma, {"k": 1.7, "theta": 0.7}, {"k": 2.9, "theta": 1.2}, (1e-9, 60)),
    (D.Beta, {"a": 1.7, "b": 2.7}, {"a": 2.9, "b": 1.2}, (1e-9, 1 - 1e-9)),
    (D.Pareto, {"scale": 1.5, "alpha": 2.7}, {"scale": 1.0, "alpha": 3.2}, (1.5, 3000)),
    (D.Uniform, {"low": 0.2, "high": 0.7}, {"loc": 0.0, "scale": 1.1}, (0.2, 0.7)),
]
DISCRETE = [
    (D.Bernoulli, {"p": 0.3}, {"p": 0.8}, range(2)),
    (D.Bernoulli, {"logit": 0.3}, {"p": 0.8}, range(2)),
    (D.Geometric, {"p": 0.3}, {"p": 0.6}, range(1, 200)),
    (D.Poisson, {"lam": 1.3}, {"lam": 2.6}, range(80)),
    (D.Categorical, {"p": [0.2, 0.5, 0.3]}, {"logit": [0.1, 0.2, 0.3]}, range(3)),
]


def make(cls, params):
    return cls(**{k: np.array(v, dtype=float) for k, v in params.items()})


def difference(dist1, dist2, x):
    log_p = dist1.log_prob(np.array(x)).array
    return float(np.exp(log_p) * (log_p - dist2.log_prob(np.array(x)).array))


@pytest.mark.parametrize(("cls", "first", "second", "interval"), CONTINUOUS)
def test_against_integrals(cls, first, second, interval):
    dist1, dist2 = make(cls, first), make(cls, second)
    expected, _ = integrate.quad(lambda x: difference(dist1, dist2, x), *interval, limit=200)
    found = chainer.kl_divergence(dist1, dist2)
    assert found.shape == ()
    np.testing.assert_allclose(found.array, expected, rtol=1e-4)
    np.testing.assert_allclose(chainer.kl_divergence(dist1, dist1).array, 0, atol=1e-10)
    np.testing.assert_allclose(
        chainer.cross_entropy(dist1, dist2).array, dist1.entropy.array + expected, rtol=1e-4
    )


@pytest.mark.parametrize(("cls", "first", "second", "values"), DISCRETE)
def test_against_sums(cls, first, second, values):
    dist1, dist2 = make(cls, first), make(cls, second)
    expected = sum(difference(dist1, dist2, x) for x in values)
    np.testing.assert_allclose(chainer.kl_divergence(dist1, dist2).array, expected, rtol=1e-6)


def test_of_vectors():
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.4, 0.2])
    one_hot = chainer.kl_divergence(D.OneHotCategorical(p), D.OneHotCategorical(q))
    np.testing.assert_allclose(one_hot.array, np.sum(p * np.log(p / q)))
    rng = np.random.RandomState(0)
    alpha1, alpha2 = rng.uniform(1, 3, (2, 3)), rng.uniform(1, 3, (2, 3))
    np.random.seed(0)
    dist1, dist2 = D.Dirichlet(alpha1), D.Dirichlet(alpha2)
    x = dist1.sample(200000)
    estimate = (dist1.log_prob(x).array - dist2.log_prob(x).array).mean(0)
    np.testing.assert_allclose(chainer.kl_divergence(dist1, dist2).array, estimate, atol=0.02)


def test_of_multivariate_normals():
    rng = np.random.RandomState(0)
    loc1, loc2 = rng.normal(size=(4, 1, 3)), rng.normal(size=(2, 3))
    L1 = np.tril(rng.normal(size=(4, 1, 3, 3)), -1) + np.eye(3)
    L2 = np.tril(rng.normal(size=(2, 3, 3)), -1) + 2 * np.eye(3)
    V1, V2 = L1 @ L1.swapaxes(-1, -2), L2 @ L2.swapaxes(-1, -2)
    inverse = np.linalg.inv(V2)
    m = loc2 - loc1
    expected = 0.5 * (
        np.trace(inverse @ V1, axis1=-2, axis2=-1)
        + np.einsum("...i,...ij,...j", m, inverse, m)
        - 3
        + np.log(np.linalg.det(V2) / np.linalg.det(V1))
    )
    found = chainer.kl_divergence(
        D.MultivariateNormal(loc1, scale_tril=L1), D.MultivariateNormal(loc2, scale_tril=L2)
    )
    assert found.shape == (4, 2)
    np.testing.assert_allclose(found.array, expected)


@pytest.mark.parametrize(("cls", "first", "second", "_"), [*CONTINUOUS, *DISCRETE])
def test_gradients(cls, first, second, _):
    arrays = [np.array(v, float) for v in (*first.values(), *second.values())]

    def function(*inputs):
        dist1 = cls(**dict(zip(first, inputs)))
        return chainer.kl_divergence(dist1, cls(**dict(zip(second, inputs[len(first) :]))))

    ones = [np.ones_like(a) for a in arrays]
    gradient_check.check_backward(function, arrays, np.array(1.0), rtol=1e-3)
    gradient_check.check_double_backward(
        function, arrays, np.array(1.0), ones, rtol=1e-2, atol=1e-3
    )


def test_outside_of_the_other_support():
    wide, narrow = (D.Uniform(low=np.zeros(1), high=np.array([h])) for h in (2.0, 1.0))
    assert chainer.kl_divergence(wide, narrow).array == [np.inf]
    assert chainer.kl_divergence(narrow, wide).array == [np.log(2)]
    low, high = (D.Pareto(np.array([s]), np.array([2.0])) for s in (1.0, 2.0))
    assert chainer.kl_divergence(low, high).array == [np.inf]


def test_impossible_values_count_nothing():
    p, q = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    for cls in (D.Categorical, D.OneHotCategorical):
        assert chainer.kl_divergence(cls(p), cls(q)).array == np.log(2)
    dist = D.Bernoulli(np.array([0.0, 1.0]))
    np.testing.assert_allclose(
        chainer.kl_divergence(dist, D.Bernoulli(np.array([0.5, 0.5]))).array, np.log(2)
    )


class TestIndependent:
    def test_sums(self):
        rng = np.random.RandomState(0)
        loc, scale = rng.normal(size=(2, 3, 4)), rng.uniform(1, 2, (2, 3, 4))
        normal, standard = D.Normal(loc, scale), D.Normal(np.zeros(4), np.ones(4))
        first = D.Independent(normal, 1)
        second = D.Independent(standard, 1)
        expected = chainer.kl_divergence(normal, standard).array.sum(-1)
        found = chainer.kl_divergence(first, second)
        assert found.shape == (2, 3)
        np.testing.assert_allclose(found.array, expected)

    def test_event_shapes(self):
        def make(shape, ndim):
            return D.Independent(D.Normal(np.zeros(shape), np.ones(shape)), ndim)

        with pytest.raises(ValueError, match="Event shapes do not match"):
            chainer.kl_divergence(make((2, 3), 1), make((2, 2), 1))
        vectors = D.Independent(D.OneHotCategorical(np.full((2, 3), 1 / 3)), 0)
        with pytest.raises(NotImplementedError, match="inner distributions of one event shape"):
            chainer.kl_divergence(make((2, 3), 1), vectors)


class TestRegistration:
    def test_unregistered(self):
        cauchy = D.Cauchy(np.zeros(1), np.ones(1))
        text = "no Kullback-Leibler divergence of Cauchy and Cauchy"
        with pytest.raises(KeyError, match=text) as info:
            chainer.kl_divergence(cauchy, cauchy)
        assert info.value.args == ((D.Cauchy, D.Cauchy),)

    def test_own_pairs_and_subclasses(self):
        class Mine(D.Normal):
            pass

        mine, normal = Mine(np.zeros(1), np.ones(1)), D.Normal(np.ones(1), np.ones(1))
        assert chainer.kl_divergence(mine, normal).array == [0.5]  # that of the base class

        @chainer.register_kl(Mine, D.Normal)
        def kl(dist1, dist2):
            return F.sum(dist1.loc) + 7

        assert chainer.kl_divergence(mine, normal).array == 7
        assert kl(mine, normal).array == 7
        assert chainer.distribution._KLDIVERGENCE[Mine, D.Normal] is kl

    def test_entropy_that_is_a_method(self):
        class Old(D.Normal):
            def entropy(self):
                return super().entropy

        old = Old(np.zeros(1), np.ones(1))
        np.testing.assert_allclose(
            chainer.cross_entropy(old, old).array, 0.5 * np.log(2 * np.pi * np.e)
        )

"""Behavior of distributions that the tables of formulas do not show."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import chainer
from chainer import distributions as D
from chainer import functions as F
from tests.distributions.cases import CASES, make, points_of

CLASSES = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


class TestBaseClass:
    def test_nothing_is_defined(self):
        dist = chainer.Distribution()
        for name in (
            *("batch_shape", "event_shape", "support", "params", "mean", "mode", "variance"),
            *("stddev", "covariance", "entropy"),
        ):
            with pytest.raises(NotImplementedError):
                getattr(dist, name)
        for name in (
            *("log_prob", "prob", "cdf", "log_cdf", "icdf", "survival_function", "perplexity"),
            *("log_survival_function", "sample_n"),
        ):
            with pytest.raises(NotImplementedError):
                getattr(dist, name)(1)

    def test_distributions_of_users(self):
        class Coin(chainer.Distribution):
            batch_shape = (2,)
            event_shape = ()
            params = {"p": chainer.Variable(np.ones(2))}

            def sample_n(self, n):
                return np.arange(2 * n).reshape(n, 2)

        coin = Coin()
        assert coin.sample().shape == (2,)
        assert coin.sample(3).shape == (3, 2)
        assert coin.sample((3, 4)).shape == (3, 4, 2)
        assert coin.xp is np
        other = coin._copy_to(Coin())
        assert other.__dict__ == coin.__dict__

    @pytest.mark.parametrize(
        ("given", "shape"),
        [((), ()), (2, (2,)), (np.int64(2), (2,)), ([2, 3], (2, 3)), ((0, 3), (0, 3))],
    )
    def test_sample_shapes(self, given, shape):
        dist = D.Normal(np.zeros(4), np.ones(4))
        assert dist.sample(given).shape == (*shape, 4)

    @pytest.mark.parametrize("bad", [1.5, "a", (1.5,)])
    def test_bad_sample_shapes(self, bad):
        with pytest.raises(TypeError):
            D.Normal(np.zeros(4), np.ones(4)).sample(bad)


class TestParameters:
    def test_given_variables_are_returned(self):
        loc = chainer.Variable(np.zeros(2))
        dist = D.Normal(loc, np.ones(2))
        assert dist.loc is loc
        with chainer.no_backprop_mode():
            assert dist.loc is loc
        F.sum(dist.log_prob(np.ones(2))).backward()
        assert loc.grad is not None

    def test_arrays_require_no_gradient(self):
        dist = D.Normal(np.zeros(2), np.ones(2))
        assert not dist.scale.requires_grad
        assert dist.scale is dist.scale

    def test_values_of_the_two_modes_of_backprop(self):
        dist = D.Normal(np.zeros(2), log_scale=chainer.Variable(np.zeros(2)))
        with chainer.no_backprop_mode():
            frozen = dist.scale
            assert frozen.creator is None
            assert dist.scale is frozen
        assert dist.scale.creator is not None
        assert dist.scale is dist.scale is not frozen

    @CLASSES
    @pytest.mark.parametrize("name", ["mean", "variance", "stddev", "entropy"])
    def test_moments_are_computed_once_in_each_mode(self, case, name):
        dist = make(case, wrap=chainer.Variable)
        if isinstance(dist, D.Independent):
            pytest.skip("passes on what its inner distribution computes")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # moments of the Cauchy distribution
                values = getattr(dist, name)
                with chainer.no_backprop_mode():
                    frozen = getattr(dist, name)
                    assert getattr(dist, name) is frozen
        except NotImplementedError:
            pytest.skip("not defined")
        assert getattr(dist, name) is values
        assert frozen is values or frozen.creator is None
        with pytest.raises(AttributeError, match="readonly"):
            setattr(dist, name, 1)

    def test_parameters_are_read_only(self):
        dist = D.Normal(np.zeros(2), np.ones(2))
        with pytest.raises(AttributeError, match="'loc' of .* is readonly"):
            dist.loc = 1
        with pytest.raises(AttributeError, match="readonly"):
            del dist.scale

    def test_numbers(self):
        dist = D.Normal(1.0, 2)
        assert dist.loc.dtype == np.float32
        np.testing.assert_allclose(dist.log_prob(1.0).array, -0.5 * np.log(8 * np.pi), rtol=1e-6)
        with chainer.using_config("dtype", np.float64):
            assert D.Exponential(2.0).mean.dtype == np.float64

    @CLASSES
    def test_names(self, case):
        dist = make(case)
        names = {"Bernoulli": {"logit"}, "Categorical": {"p"}, "Normal": {"loc", "scale"}}
        assert set(dist.params) == names.get(case.cls.__name__, set(case.params))
        assert all(isinstance(v, chainer.Variable) for v in dist.params.values())

    @pytest.mark.parametrize(
        ("make", "match"),
        [
            (lambda: D.Bernoulli(), "Either `p` or `logit`"),
            (lambda: D.Bernoulli(np.ones(1), np.ones(1)), "Either `p` or `logit`"),
            (lambda: D.Categorical(), "Either `p` or `logit`"),
            (lambda: D.Normal(np.ones(1)), "Either `scale` or `log_scale`"),
            (lambda: D.Normal(0, 1, log_scale=0), "Either `scale` or `log_scale`"),
            (lambda: D.Uniform(low=0), "Either `low, high` or `loc, scale`"),
            (lambda: D.Uniform(low=0, high=1, loc=0, scale=1), "Either `low, high`"),
            (lambda: D.MultivariateNormal(np.zeros(2)), "`scale_tril` must have a value"),
            (
                lambda: D.Independent(D.Normal(np.zeros(2), np.ones(2)), 2),
                "reinterpreted_batch_ndims must be less than or equal",
            ),
        ],
    )
    def test_exclusive_arguments(self, make, match):
        with pytest.raises(ValueError, match=match):
            make()

    def test_incomplete_pairs_are_ignored(self):
        dist = D.Uniform(low=5, loc=np.zeros(1), scale=np.ones(1))
        assert dist.low.array == [0]

    @pytest.mark.parametrize(
        "make",
        [lambda: D.Uniform(0, 1), lambda: D.Normal(0, 1, foo=2), lambda: D.Categorical(p=1, q=2)],
    )
    def test_unknown_arguments(self, make):
        with pytest.raises(TypeError):
            make()

    def test_alternative_parameters(self):
        p = np.array([0.25, 0.5])
        logit = np.log(p / (1 - p))
        np.testing.assert_allclose(D.Bernoulli(p).logit.array, logit, atol=1e-12)
        np.testing.assert_allclose(D.Bernoulli(logit=logit).p.array, p)
        np.testing.assert_allclose(D.Normal(0.0, p).log_scale.array, np.log(p))
        dist = D.Uniform(loc=np.ones(1), scale=np.full(1, 2.0))
        assert (dist.low.array, dist.high.array) == ([1], [3])
        classes = D.Categorical(logit=np.log(np.array([0.2, 0.8])) + 5)
        np.testing.assert_allclose(classes.p.array, [0.2, 0.8])
        assert not hasattr(classes, "logit")
        assert D.MultivariateNormal(np.zeros(3), scale_tril=np.eye(3)).d == 3
        np.testing.assert_allclose(D.Dirichlet(np.array([1.0, 2.0])).alpha0.array, 3)


@CLASSES
def test_copies_and_pickles(case):
    dist = make(case)
    points = points_of(case)
    expected = dist.log_prob(points).array
    for other in (copy.copy(dist), copy.deepcopy(dist), pickle.loads(pickle.dumps(dist))):
        assert type(other) is type(dist)
        np.testing.assert_array_equal(other.log_prob(points).array, expected)
    assert case.cls.__name__ in repr(dist)
    assert "batch_shape=(3, 2)" in repr(dist)


@CLASSES
def test_values_of_other_dtypes(case):
    """Arrays are cast to the dtype of the parameters; numbers and lists are taken, too."""
    dist = make(case, "f")
    points = points_of(case)
    assert dist.log_prob(points.astype("d")).dtype == np.float32
    assert dist.log_prob(points.tolist()).dtype == np.float32
    if not case.event_shape:
        assert dist.log_prob(points.flat[0].item()).shape == (3, 2)


class TestOutsideOfTheSupport:
    @pytest.mark.parametrize(
        ("make", "x"),
        [
            (lambda p, q: D.Beta(p, q), [-0.5, 1.5]),
            (lambda p, q: D.Exponential(p), [-1.0, -0.1]),
            (lambda p, q: D.Gamma(p, q), [-1.0, -0.1]),
            (lambda p, q: D.Pareto(p, q), [0.5, 1.0]),
            (lambda p, q: D.Uniform(low=p, high=q), [0.5, 9.0]),
            (lambda p, q: D.Chisquare(p), [-1.0, -0.1]),
            (lambda p, q: D.LogNormal(p, q), [-1.0, 0.0]),
        ],
    )
    def test_minus_infinity_without_gradient(self, make, x):
        p, q = chainer.Variable(np.array([2.0, 2.0])), chainer.Variable(np.array([3.0, 3.0]))
        points = chainer.Variable(np.array(x))
        y = make(p, q).log_prob(points)
        np.testing.assert_array_equal(y.array, -np.inf)
        F.sum(y).backward()
        for variable in (p, q, points):
            assert variable.grad is None or not variable.grad.any()

    def test_at_the_edge(self):
        half, one, two = np.array([0.5]), np.array([1.0]), np.array([2.0])
        zero = np.array([0.0])
        assert D.Beta(two, two).log_prob(zero).array == [-np.inf]
        assert D.Beta(half, two).log_prob(zero).array == [np.inf]
        assert D.Beta(one, one).log_prob(np.array([1.0])).array == [0]
        assert D.Gamma(one, one).log_prob(zero).array == [0]
        assert D.Gamma(half, one).log_prob(zero).array == [np.inf]
        assert D.Exponential(one).log_prob(zero).array == [0]
        assert D.Uniform(low=zero, high=one).log_prob(one).array == [0]
        assert D.Geometric(one).log_prob(one).array == [0]
        assert D.Poisson(zero).log_prob(zero).array == [0]
        assert D.OneHotCategorical(np.array([0.0, 1.0])).log_prob(np.array([0.0, 1.0])).array == 0

    def test_infinite_moments(self):
        dist = D.Pareto(np.ones(3), np.array([0.5, 1.5, 3.0]))
        np.testing.assert_allclose(dist.mean.array, [np.inf, 3, 1.5])
        np.testing.assert_allclose(dist.variance.array, [np.inf, np.inf, 0.75])

    def test_undefined_moments(self):
        dist = D.Cauchy(np.zeros(2), np.ones(2))
        for name in ("mean", "variance"):
            with pytest.warns(RuntimeWarning, match=f"(?i){name} of the cauchy distribution is un"):
                values = getattr(dist, name)
            assert np.isnan(values.array).all()
            assert values.shape == (2,)
            with warnings.catch_warnings():  # the second time the value is there
                warnings.simplefilter("error")
                assert getattr(dist, name) is values


class TestBernoulli:
    def test_large_logits(self):
        dist = D.Bernoulli(logit=np.array([-200.0, 200.0, 0.0], "f"))
        np.testing.assert_allclose(dist.log_prob(np.zeros(3, "f")).array, [0, -200, -np.log(2)])
        other = D.Bernoulli(logit=np.array([-150.0, 150.0, 1.0], "f"))
        assert np.isfinite(chainer.kl_divergence(dist, other).array).all()

    def test_certain_values(self):
        dist = D.Bernoulli(np.array([0.0, 0.0, 1.0, 1.0]))
        y = dist.log_prob(np.array([0, 1, 0, 1]))
        np.testing.assert_array_equal(y.array, [0, -np.inf, -np.inf, 0])
        np.testing.assert_array_equal(dist.entropy.array, 0)
        logit = chainer.Variable(np.array([np.inf, 0.0]))
        F.sum(D.Bernoulli(logit=logit).log_prob(np.array([1, 1]))).backward()
        np.testing.assert_array_equal(logit.grad, [np.nan, 0.5])

    def test_values_between(self):
        p = np.array([0.25])
        gray = D.Bernoulli(p).log_prob(np.array([0.5])).array
        np.testing.assert_allclose(gray, 0.5 * np.log(0.25) + 0.5 * np.log(0.75))
        checked = D.Bernoulli(p, binary_check=True)
        np.testing.assert_array_equal(checked.log_prob(np.array([[0.5], [2.0]])).array, -np.inf)
        np.testing.assert_array_equal(checked.prob(np.array([[0.5], [1.0]])).array, [[0], [0.25]])

    def test_leading_axes(self):
        logit = chainer.Variable(np.zeros(2))
        x = np.ones((3, 2))
        y = D.Bernoulli(logit=logit).log_prob(x)
        assert y.shape == (3, 2)
        F.sum(y).backward()
        np.testing.assert_allclose(logit.grad, 1.5)

    def test_integers_of_samples(self):
        sample = D.Bernoulli(np.full(3, 0.5)).sample(5)
        assert sample.dtype.kind == "i"
        assert sample.requires_grad


class TestCategorical:
    P = np.array([[0.2, 0.8], [0.5, 0.5]])

    def test_numbers_of_classes(self):
        dist = D.Categorical(self.P)
        expected = np.log([0.8, 0.5])
        for x in ([1, 0], [-1, -2], [1.7, 0.2], chainer.Variable(np.array([1, 0]))):
            np.testing.assert_allclose(dist.log_prob(x).array, expected)
        with pytest.raises(IndexError, match=r"x must be in \[-2, 2\)"):
            dist.log_prob([2, 0])
        with pytest.raises(NotImplementedError):
            dist.support

    def test_sum_of_float32_probabilities(self):
        p = np.full(7, 1 / 7, np.float32)
        assert D.Categorical(p).sample(4).shape == (4,)
        with pytest.raises(ValueError, match="sum to 1"):
            D.Categorical(np.full(3, 0.5)).sample(1)

    def test_gradient_of_entropy_at_zero(self):
        p = chainer.Variable(np.array([0.0, 1.0]))
        y = D.Categorical(p).entropy
        with pytest.warns(RuntimeWarning, match="cannot calculate gradient for zero input"):
            y.backward()
        np.testing.assert_allclose(p.grad, [0, -1])


class TestMultivariateNormal:
    def test_only_the_lower_triangle_counts(self):
        L = chainer.Variable(np.array([[1.0, 99.0], [0.5, 2.0]]))
        lower = np.tril(L.array)
        x = np.array([0.3, -0.7])
        y = D.MultivariateNormal(np.zeros(2), scale_tril=L).log_prob(x)
        expected = D.MultivariateNormal(np.zeros(2), scale_tril=lower).log_prob(x)
        np.testing.assert_allclose(y.array, expected.array)
        y.backward()
        assert L.grad[0, 1] == 0

    def test_singular_matrices(self):
        dist = D.MultivariateNormal(np.zeros(2), scale_tril=np.zeros((2, 2)))
        with pytest.raises(np.linalg.LinAlgError):
            dist.log_prob(np.zeros(2))

    def test_covariance_without_a_batch(self):
        L = np.array([[1.0, 0.0], [0.5, 2.0]])
        dist = D.MultivariateNormal(np.zeros(2), scale_tril=L)
        np.testing.assert_allclose(dist.covariance.array, L @ L.T)

    @pytest.mark.parametrize("lower", [True, False])
    def test_triangular_inverses(self, lower):
        from chainer.distributions.multivariate_normal import _triangular_inv

        x = np.random.RandomState(0).uniform(1, 2, (3, 3))
        triangle = np.tril(x) if lower else np.triu(x)
        np.testing.assert_allclose(
            _triangular_inv(x, lower).array, np.linalg.inv(triangle), atol=1e-12
        )
        assert _triangular_inv(np.zeros((0, 0), "f")).shape == (0, 0)
        with pytest.raises(chainer.utils.type_check.InvalidType):
            _triangular_inv(np.zeros((2, 3)))


class TestIndependent:
    def test_shapes(self):
        normal = D.Normal(np.zeros((2, 3, 4)), np.ones((2, 3, 4)))
        assert D.Independent(normal).event_shape == (3, 4)
        assert D.Independent(normal, 1).batch_shape == (2, 3)
        assert D.Independent(normal, 0).event_shape == ()
        number = D.Normal(np.zeros(()), np.ones(()))
        assert D.Independent(number).batch_shape == ()

    def test_functions(self):
        rng = np.random.RandomState(0)
        normal = D.Normal(rng.normal(size=(2, 3)), rng.uniform(1, 2, (2, 3)))
        dist = D.Independent(normal)
        x = rng.normal(size=(5, 2, 3))
        for name in ("log_prob", "log_cdf", "log_survival_function"):
            np.testing.assert_allclose(
                getattr(dist, name)(x).array, getattr(normal, name)(x).array.sum(-1)
            )
        for name in ("prob", "cdf", "survival_function"):
            np.testing.assert_allclose(
                getattr(dist, name)(x).array, getattr(normal, name)(x).array.prod(-1)
            )
        np.testing.assert_allclose(dist.entropy.array, normal.entropy.array.sum(-1))
        assert dist.mean.shape == dist.stddev.shape == dist.mode.shape == (2, 3)
        assert (dist.support, dist.params["loc"], dist.xp) == ("real", normal.loc, np)
        assert dist.sample(5).shape == (5, 2, 3)
        with pytest.raises(RuntimeError, match="not invertible"):
            dist.icdf(x)
        with pytest.raises(NotImplementedError):
            dist.perplexity(x)

    def test_covariance(self):
        rng = np.random.RandomState(0)
        L = np.tril(rng.normal(size=(2, 3, 2, 2)))
        inner = D.MultivariateNormal(np.zeros((2, 3, 2)), scale_tril=L)
        found = D.Independent(inner, 1).covariance.array
        assert found.shape == (2, 6, 6)
        expected = np.zeros((2, 6, 6))
        for i in range(3):
            block = slice(2 * i, 2 * i + 2)
            expected[:, block, block] = inner.covariance.array[:, i]
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(D.Independent(inner, 0).covariance.array, inner.covariance.array)
        scale = rng.uniform(1, 2, (2, 3))
        of_numbers = D.Independent(D.Normal(np.zeros((2, 3)), scale)).covariance.array
        np.testing.assert_allclose(of_numbers, np.eye(3) * scale[:, None] ** 2)


def test_tails():
    dist = D.Normal(np.zeros(1), np.ones(1))
    np.testing.assert_allclose(dist.log_cdf(np.array([-30.0])).array, -454.3212439563, rtol=1e-9)
    np.testing.assert_allclose(dist.log_survival_function(30.0).array, -454.3212439563, rtol=1e-9)


def test_inverses_at_the_ends():
    laplace = D.Laplace(np.zeros(1), np.ones(1))
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(laplace.icdf(np.array([0.0, 1.0])).array, [-np.inf, np.inf])
        assert D.Exponential(np.ones(1)).icdf(1.0).array == [np.inf]
    assert D.Uniform(loc=np.ones(1), scale=np.ones(1)).icdf(2.0).array == [3]


def test_a_variational_autoencoder():
    """The way programs use distributions."""
    rng = np.random.RandomState(0)
    mu, log_sigma = (chainer.Variable(rng.normal(size=(4, 3)).astype("f")) for _ in range(2))
    x = (rng.uniform(size=(4, 5)) > 0.5).astype("f")
    q = D.Independent(D.Normal(loc=mu, log_scale=log_sigma))
    prior = D.Independent(
        D.Normal(np.zeros(3, "f"), scale=np.ones(3, "f")), reinterpreted_batch_ndims=1
    )
    z = q.sample(2)
    h = F.linear(z.reshape(8, 3), rng.normal(size=(5, 3)).astype("f")).reshape(2, 4, 5)
    p_x = D.Independent(D.Bernoulli(logit=h), reinterpreted_batch_ndims=2 - 1)
    reconstruction = F.mean(p_x.log_prob(F.broadcast_to(x[None], (2, 4, 5))))
    loss = F.mean(chainer.kl_divergence(q, prior)) - reconstruction
    loss.backward()
    assert mu.grad.shape == log_sigma.grad.shape == (4, 3)
    assert np.isfinite(mu.grad).all()


def test_names_of_modules():
    import chainer.distributions.normal
    from chainer.distribution import Distribution, kl_divergence

    assert chainer.Distribution is Distribution
    assert chainer.kl_divergence is kl_divergence
    normal = chainer.distributions.normal
    np.testing.assert_allclose(
        [normal.LOGPROBC, normal.ENTROPYC, normal.PROBC],
        [-0.5 * np.log(2 * np.pi), 0.5 * np.log(2 * np.pi * np.e), 1 / np.sqrt(2 * np.pi)],
    )
    assert pytest.approx(np.euler_gamma) == chainer.distributions.gumbel.EULER


@pytest.mark.parametrize("use", [lambda d: d.batch_shape, lambda d: d.sample(2), lambda d: d.mean])
def test_parameters_that_do_not_broadcast(use):
    normal = D.Normal(np.zeros(3, "f"), np.ones(2, "f"))
    text = r"parameters of Normal must .* broadcast, got loc \(3,\), scale \(2,\)"
    with pytest.raises(ValueError, match=text):
        use(normal)

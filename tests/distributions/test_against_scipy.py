"""Densities, distribution functions, moments and samples against SciPy."""

import numpy as np
import pytest

import chainer
from chainer import testing
from tests.distributions.cases import CASES, points_of


def _suite(case, is_variable, sample_shape):
    class Suite(testing.distribution_unittest):
        scipy_onebyone = case.one_by_one
        event_shape = case.event_shape
        shape = (3, 2)

        def setUp_configure(self):
            self.dist = case.cls
            self.scipy_dist = case.scipy
            self.params = dict(case.params)
            self.scipy_params = dict(case.scipy_params)
            self.test_targets = set(case.targets)
            self.support = case.support
            self.continuous = case.continuous
            self.options = case.options
            np.random.seed(0)

        def sample_for_test(self):
            return points_of(case, self.sample_shape)

    Suite.is_variable = is_variable
    Suite.sample_shape = sample_shape
    return Suite


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(("is_variable", "sample_shape"), [(True, (4,)), (False, ())])
def test_suite(case, is_variable, sample_shape):
    suite = _suite(case, is_variable, sample_shape)
    for target in sorted(case.targets - ({"sample"} if is_variable else set())):
        test = suite(f"test_{target}_cpu")
        test.setUp()
        getattr(test, f"test_{target}_cpu")()


def test_unlisted_targets_are_skipped_and_unknown_ones_refused():
    test = _suite(CASES[0], False, ())("test_mean_cpu")
    test.setUp()
    test.test_targets = set()
    with pytest.raises(
        __import__("unittest").SkipTest, match="'mean' does not exist in test_targets"
    ):
        test.test_mean_cpu()

    class Wrong(type(test)):
        def setUp_configure(self):
            super().setUp_configure()
            self.test_targets = {"maen"}

    with pytest.raises(ValueError, match="test_targets must be among"):
        Wrong("test_mean_cpu").setUp()


def test_a_wrong_distribution_is_found():
    class Wrong(chainer.distributions.Normal):
        @property
        def mean(self):
            return self.loc + 1

    test = _suite(CASES[0], False, ())("test_mean_cpu")
    test.setUp()
    test.dist = Wrong
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        test.test_mean_cpu()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_samples_follow_the_distribution(case):
    """Kolmogorov-Smirnov test of samples with a fixed seed; frequencies of discrete ones."""
    from scipy import stats

    if case.one_by_one:
        pytest.skip("compared by moments")
    np.random.seed(0)
    dist = case.cls(**{k: v[0, 0] for k, v in case.params.items()}, **case.options)
    params = {k: v[0, 0] for k, v in case.scipy_params.items()}
    drawn = dist.sample(4000).array
    if case.continuous:
        assert stats.kstest(drawn, lambda x: case.scipy.cdf(x, **params)).pvalue > 0.01
        return
    values, counts = np.unique(drawn, return_counts=True)
    expected = case.scipy.pmf(values, **params)
    np.testing.assert_allclose(counts / 4000, expected, atol=0.03)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_samples_are_those_of_numpy(case):
    """``numpy.random.seed`` makes samples repeatable."""
    draws = []
    for _ in range(2):
        np.random.seed(5)
        draws.append(case.cls(**case.params, **case.options).sample((2,)).array)
    np.testing.assert_array_equal(*draws)
    assert draws[0].shape == (2, 3, 2, *case.event_shape)


@pytest.mark.parametrize("sample_shape", [(), (4,)])
def test_log_prob_without_a_batch(sample_shape):
    from scipy import stats

    class Suite(testing.distribution_unittest):
        scipy_onebyone = True

        def setUp_configure(self):
            self.dist = chainer.distributions.MultivariateNormal
            self.scipy_dist = stats.multivariate_normal
            self.test_targets = {"log_prob"}
            self.shape, self.event_shape, self.sample_shape = (), (3,), sample_shape
            self.is_variable = False
            loc, tril = np.zeros(3, np.float32), np.eye(3, dtype=np.float32)
            self.params = {"loc": loc, "scale_tril": tril}
            self.scipy_params = {"mean": loc, "cov": tril}

    test = Suite("test_log_prob_cpu")
    test.setUp()
    test.test_log_prob_cpu()
    (params,) = test.scipy_onebyone_params_iter()
    assert params["mean"].shape == (3,)

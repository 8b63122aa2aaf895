"""Every distribution gives the numbers on the GPU that it gives on NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import distributions as D
from tests.distributions.cases import CASES, make, points_of
from tests.gpu import place

#: Properties that are compared where the case has them.
PROPERTIES = ("mean", "variance", "stddev", "entropy", "mode", "covariance")

METHODS = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function")

cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def distributions(case, device):
    """Returns the distribution on the host and on the device."""
    return [make(case, "f", send=where.send) for where in (place.HOST, device)]


def with_variables(case, device):
    """Returns the distribution and its parameters, by their names, as Variables."""
    params = {
        name: chainer.Variable(device.send(value.astype("f")))
        for name, value in case.params.items()
    }
    return case.cls(**params, **case.options), params


def values(case, device):
    """Returns the same values on the host and on the device."""
    points = points_of(case, sample_shape=(2,))
    points = points.astype("f" if points.dtype.kind == "f" else "i")
    return points, device.send(points)


def check(actual, expected, device):
    assert chainer.backend.get_device_from_array(actual.array) == device
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(place.to_host(actual.array), expected.array, rtol=1e-3, atol=1e-4)


@cases
def test_functions_of_values(case, device):
    host, moved = distributions(case, device)
    on_host, on_device = values(case, device)
    done = 0
    for name in METHODS:
        try:
            expected = getattr(host, name)(on_host)
        except NotImplementedError:
            continue
        check(getattr(moved, name)(on_device), expected, device)
        done += 1
    assert done


@cases
@pytest.mark.filterwarnings("ignore:.*of the cauchy distribution is undefined:RuntimeWarning")
def test_moments(case, device):
    host, moved = distributions(case, device)
    assert moved.xp is device.xp
    done = 0
    for name in PROPERTIES:
        try:
            expected = getattr(host, name)
        except NotImplementedError:
            continue
        actual = getattr(moved, name)
        assert (actual is None) == (expected is None)
        if expected is not None:
            check(F.cast(actual, "f"), F.cast(expected, "f"), device)
        done += 1
    assert done


@cases
def test_quantiles(case, device):
    if "icdf" not in case.targets:
        pytest.skip("the distribution has no icdf")
    host, moved = distributions(case, device)
    levels = np.random.RandomState(0).uniform(0.1, 0.9, (2, 3, 2)).astype("f")
    check(moved.icdf(device.send(levels)), host.icdf(levels), device)


@cases
def test_gradients(case, device):
    results = []
    for where, points in zip((place.HOST, device), values(case, device), strict=True):
        distribution, params = with_variables(case, where)
        F.sum(distribution.log_prob(points)).backward()
        results.append([params[name].grad for name in sorted(params)])
    for expected, actual in zip(*results, strict=True):
        assert (actual is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(place.to_host(actual), expected, rtol=1e-3, atol=1e-3)


@cases
def test_samples(case, device):
    if "sample" not in case.targets and not case.reparametrized:
        pytest.skip("the distribution draws no samples in release 7 either")
    moved, params = with_variables(case, device)
    sample = moved.sample((5,))
    assert chainer.backend.get_device_from_array(sample.array) == device
    assert sample.shape == (5, 3, 2, *case.event_shape)
    assert np.isfinite(place.to_host(sample.array)).all()
    if case.reparametrized:
        F.sum(sample).backward()
        for name in case.reparametrized:
            assert np.isfinite(place.to_host(params[name].grad)).all()


@cases
def test_divergence(case, device):
    if not case.kl:
        pytest.skip("no divergence is registered")
    host, moved = distributions(case, device)
    other_host, other_moved = distributions(case, device)
    check(
        chainer.kl_divergence(moved, other_moved),
        chainer.kl_divergence(host, other_host),
        device,
    )


def test_divergence_of_different_parameters(device):
    def divergence(where):
        send = where.send
        loc, scale = np.array([0.5, -1], "f"), np.array([0.7, 2], "f")
        return chainer.kl_divergence(
            D.Normal(send(loc), send(scale)), D.Normal(send(-loc), send(scale * 2))
        )

    check(divergence(device), divergence(place.HOST), device)


def test_independent(device):
    def log_prob(where):
        send = where.send
        loc, scale = np.zeros((3, 2), "f"), np.ones((3, 2), "f")
        normal = D.Independent(D.Normal(send(loc), send(scale)), 1)
        return normal.log_prob(send(np.arange(6, dtype="f").reshape(3, 2)))

    check(log_prob(device), log_prob(place.HOST), device)

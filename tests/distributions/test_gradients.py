"""Gradients, dtypes, devices, empty batches."""

import numpy as np
import pytest

import chainer
from chainer import distributions as D
from chainer import gradient_check
from tests.distributions.cases import CASES, make, points_of

CLASSES = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
#: Properties and methods that are differentiable in the parameters.
PROPERTIES = ("mean", "variance", "stddev", "entropy", "covariance")
METHODS = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
#: Values of these are not differentiated.
DISCRETE = (D.Bernoulli, D.Categorical, D.Geometric, D.Poisson, D.OneHotCategorical)


def defined(dist, name, *arguments):
    """Returns a value of a distribution; None if it does not define it."""
    try:
        value = getattr(dist, name)
        return value(*arguments) if arguments else value
    except NotImplementedError:
        return None


@CLASSES
def test_gradients(case):
    points = points_of(case)
    names = list(case.params)
    arrays = tuple(case.params.values())
    rng = np.random.RandomState(0)
    if case.cls is D.Cauchy:
        properties = ("entropy",)
    else:
        properties = PROPERTIES
    checked = 0
    for name in (*properties, *METHODS, "icdf"):
        x = (
            ()
            if name in properties
            else (points if name != "icdf" else rng.uniform(0.2, 0.8, (3, 2)),)
        )
        value = defined(make(case), name, *x)
        if value is None:
            continue
        smooth = bool(x) and not isinstance(value.creator, type(None)) and case.cls not in DISCRETE

        def function(*inputs, name=name, x=x, smooth=smooth):
            dist = case.cls(**dict(zip(names, inputs)), **case.options)
            if not x:
                return getattr(dist, name)
            return getattr(dist, name)(inputs[len(names)] if smooth else x[0])

        inputs = (*arrays, *(x if smooth else ()))
        gy = rng.uniform(-1, 1, value.shape)
        if case.cls is D.Uniform and name == "cdf":
            smooth = False
        ggx = tuple(rng.uniform(-1, 1, a.shape) for a in inputs)
        gradient_check.check_backward(function, inputs, gy, atol=1e-4, rtol=1e-3)
        gradient_check.check_double_backward(function, inputs, gy, ggx, atol=1e-3, rtol=1e-3)
        checked += 1
    assert checked >= 2


@CLASSES
def test_reparametrized_samples(case):
    dist = make(case, wrap=chainer.Variable)
    sample = dist.sample((2,))
    assert sample.requires_grad
    if not case.reparametrized:
        assert sample.creator is None
        return
    np.random.seed(3)

    def draw(*inputs):
        np.random.seed(3)
        return case.cls(**dict(zip(case.params, inputs)), **case.options).sample((2,))

    gradients = chainer.grad([chainer.functions.sum(dist.sample((2,)))], list(dist._given.values()))
    reached = {name for name, g in zip(case.params, gradients) if g is not None}
    assert reached == set(case.reparametrized)
    fixed = [n not in case.reparametrized for n in case.params]
    gradient_check.check_backward(
        draw,
        tuple(case.params.values()),
        np.ones(sample.shape),
        no_grads=fixed,
        atol=1e-4,
        rtol=1e-3,
    )


@CLASSES
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_dtypes(case, dtype):
    dist = make(case, dtype)
    points = points_of(case)
    names = ("entropy",) if case.cls is D.Cauchy else PROPERTIES
    wide = make(case, "d")
    found = {}
    for name in (*names, *METHODS):
        arguments = () if name in names else (points,)
        value = defined(dist, name, *arguments)
        if value is None:
            continue
        assert value.dtype == np.dtype(dtype), name
        expected = defined(wide, name, *arguments).array
        tolerance = {"e": 3e-2, "f": 1e-4, "d": 1e-12}[dtype]
        np.testing.assert_allclose(value.array, expected, rtol=tolerance, atol=tolerance)
        found[name] = value
    assert "log_prob" in found
    sample = dist.sample(2)
    if case.cls not in (D.Bernoulli, D.Categorical):
        assert sample.dtype == np.dtype(dtype)


@CLASSES
def test_on_a_device(case):
    """A backend that refuses to mix its arrays with NumPy's."""
    device = chainer.get_device("@strict:1")
    dist = make(case, send=device.send)
    host = make(case)
    points = points_of(case)
    names = ("entropy",) if case.cls is D.Cauchy else PROPERTIES
    for name in (*names, *METHODS):
        arguments = () if name in names else (points,)
        expected = defined(host, name, *arguments)
        if expected is None:
            continue
        value = getattr(dist, name)
        value = value(*device.send(arguments)) if arguments else value
        assert value.device == device
        np.testing.assert_allclose(
            chainer.get_device("@numpy").send(value.array), expected.array, rtol=1e-6
        )
    sample = dist.sample((4,))
    assert sample.device == device
    assert sample.shape == (4, 3, 2, *case.event_shape)
    if case.kl:
        assert chainer.kl_divergence(dist, dist).device == device


@CLASSES
def test_empty_batches(case):
    params = {k: v[:0] for k, v in case.params.items()}
    dist = case.cls(**params, **case.options)
    assert dist.batch_shape == (0, 2)
    points = points_of(case)[:0]
    assert dist.log_prob(points).shape == (0, 2)
    assert dist.sample((3,)).shape == (3, 0, 2, *case.event_shape)


@CLASSES
def test_broadcast_parameters(case):
    if len(case.params) < 2:
        pytest.skip("one parameter")
    names = list(case.params)
    params = dict(case.params)
    params[names[0]] = params[names[0]][:1, :1]
    dist = case.cls(**params, **case.options)
    full = {k: np.broadcast_to(v, case.params[k].shape).copy() for k, v in params.items()}
    expected = case.cls(**full, **case.options)
    assert dist.batch_shape == (3, 2)
    names = ("entropy",) if case.cls is D.Cauchy else PROPERTIES
    for name in names:
        value = defined(dist, name)
        if value is not None:
            assert value.shape == defined(expected, name).shape, name
            np.testing.assert_allclose(value.array, defined(expected, name).array)
    assert dist.sample((2,)).shape == (2, 3, 2, *case.event_shape)

"""Special functions at exceptional points, without SciPy, and what nodes tell of themselves."""

import math
import re

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable
from chainer.backends.numpy.kernels import special
from chainer.utils import install_command

inf, nan = math.inf, math.nan

#: Function, inputs, and the values of release 7.8.1.
EXCEPTIONAL = {
    "digamma": ([0.0, -0.0, -1, -0.5, 1], [-inf, inf, nan, 0.0364900, -0.5772157]),
    "lgamma": ([0, -1, -0.5, 1], [inf, inf, 1.2655121, 0]),
    "erfinv": ([-1, 1, 2, 0.5], [-inf, inf, nan, 0.47693628]),
    "erfcinv": ([0, 2, 3, -1, 0.5], [inf, -inf, nan, nan, 0.47693628]),
    "erfcx": ([-5, 5, 1e5], [1.44009799e11, 0.11070464, 5.6418958e-06]),
    "ndtr": ([-inf, 0, inf], [0, 0.5, 1]),
    "log_ndtr": ([-30, 0], [-454.32124, -0.6931472]),
    "ndtri": ([0, 1, 2, 0.1], [-inf, inf, nan, -1.2815516]),
}


@pytest.mark.parametrize("name", EXCEPTIONAL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exceptional_points(name, dtype):
    x, expected = EXCEPTIONAL[name]
    y = getattr(F, name)(np.array(x, dtype))
    assert y.dtype == dtype
    np.testing.assert_allclose(y.array, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("digamma", "DiGamma"),
        ("lgamma", "LGamma"),
        ("erfinv", "ErfInv"),
        ("erfcinv", "ErfcInv"),
        ("erfcx", "Erfcx"),
        ("ndtr", "Ndtr"),
        ("log_ndtr", "LogNdtr"),
        ("ndtri", "Ndtri"),
    ],
)
def test_nodes(name, node):
    creator = getattr(F, name)(Variable(np.full(2, 0.5, np.float32))).creator
    assert creator.label == name
    assert type(creator) is getattr(getattr(F.math, name), node)


def test_slope_of_log_ndtr_far_to_the_left():
    """Density and probability underflow there, their quotient does not."""
    x = Variable(np.array([-30.0, -1000.0]))
    F.sum(F.log_ndtr(x)).backward()
    # The quotient is close to -x + 1 / x (Mills' ratio).
    np.testing.assert_allclose(x.grad, [30.03326, 1000.001], rtol=1e-6)


class TestPolygamma:
    def test_order_as_a_number(self):
        x = Variable(np.array([0.5, 1], np.float32))
        y = F.polygamma(1, x)
        assert [node.dtype for node in y.creator.inputs] == [np.int64, np.float32]
        assert y.creator.label == "polygamma"
        np.testing.assert_allclose(y.array, [4.934802, 1.644934], rtol=1e-6)

    def test_order_zero_is_digamma(self):
        x = np.array([0.5, 2.0])
        np.testing.assert_allclose(F.polygamma(0, x).array, F.digamma(x).array)

    def test_negative_order(self):
        assert np.isnan(F.polygamma(-1, np.ones(2)).array).all()

    def test_order_has_no_gradient(self):
        n, x = Variable(np.array([1, 2])), Variable(np.array([1.0, 2.0]))
        F.sum(F.polygamma(n, x)).backward()
        assert n.grad is None
        assert x.grad.shape == (2,)

    def test_orders_of_larger_shape(self):
        """The gradient has the shape of the input; release 7 fails here."""
        n, x = np.array([[0], [1]]), Variable(np.array([0.5, 1.0]))
        F.sum(F.polygamma(n, x)).backward()
        expected = F.polygamma(1, x.array).array + F.polygamma(2, x.array).array
        np.testing.assert_allclose(x.grad, expected)


class TestZeta:
    def test_values(self):
        """Numbers of release 7.8.1."""
        q = Variable(np.array([0.5, -0.5, 1, 0, -1], np.float32))
        y = F.zeta(2, q)
        np.testing.assert_allclose(y.array, [4.934802, 8.934802, 1.644934, inf, inf], rtol=1e-6)
        assert (y.creator.label, y.creator._x) == ("zeta", 2)

    def test_exponents_out_of_range(self):
        assert np.isinf(F.zeta(1, np.ones(2)).array).all()
        assert np.isnan(F.zeta(0.5, np.ones(2)).array).all()

    def test_exponent_is_a_constant(self):
        x, q = Variable(np.array([2.0, 3.0])), Variable(np.array([1.0, 2.0]))
        F.sum(F.zeta(x, q)).backward()
        assert x.grad is None
        np.testing.assert_allclose(q.grad, [-2 * 1.2020569, -3 * 0.0823232], rtol=1e-6)


@pytest.fixture
def no_scipy(monkeypatch):
    monkeypatch.setattr(special, "_has_scipy", lambda: False)


@pytest.mark.parametrize("name", ["erf", "erfc", "ndtr"])
def test_slow_functions_without_scipy(name, no_scipy):
    x = np.array([[-0.5, 0.25]], np.float32)
    with pytest.warns(chainer.warnings.PerformanceWarning, match=f"{name} is computed .*slow"):
        y = getattr(F, name)(x)
    expected = [{"erf": math.erf, "erfc": math.erfc}.get(name, _ndtr)(v) for v in x[0].tolist()]
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.array, [expected], rtol=1e-6)


def _ndtr(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


@pytest.mark.parametrize("name", [n for n in EXCEPTIONAL if n != "ndtr"])
def test_functions_that_need_scipy(name, no_scipy):
    match = re.escape(
        f"SciPy is not available; {name} needs it: {install_command('chainer[scipy]')}"
    )
    with pytest.raises(ImportError, match=match):
        getattr(F, name)(np.ones(2))


def test_polygamma_and_zeta_need_scipy(no_scipy):
    for name in ("polygamma", "zeta"):
        with pytest.raises(ImportError, match=f"{name} needs it"):
            getattr(F, name)(1, np.ones(2))

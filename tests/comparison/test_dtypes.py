"""Every function takes the mixtures of dtypes that release 7.8.1 takes, and gives its dtypes."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from tests.comparison.calls import names
from tests.comparison.dtypes import compare_outcomes, mixed, mixtures, outcome, regular_call
from tests.comparison.intended import intended_name
from tests.comparison.stored import load_dtypes

TABLE = load_dtypes()


@pytest.mark.parametrize("name", TABLE)
def test_mixtures_of_dtypes(name):
    pytest.importorskip("scipy")  # special functions of both releases need it
    found = compare_outcomes(chainer, name, TABLE[name])
    unexpected = [str(difference) for difference in found if intended_name(difference) is None]
    assert not unexpected, "\n".join(unexpected)


def test_all_functions_are_called():
    assert set(TABLE) == {name for name in names() if "wrong" not in name}
    assert sum(len(mixtures) for calls in TABLE.values() for mixtures in calls.values()) > 10_000


@pytest.mark.parametrize("dtype", [chainer.mixed16, np.dtype("float64")])
def test_functions_do_not_look_at_the_configured_dtype(dtype):
    pytest.importorskip("scipy")
    changed = []
    for name, calls in TABLE.items():
        # One mixture of each call: the first that gives a result.
        for number, stored in calls.items():
            mixture = next(key for key, value in stored.items() if type(value["forward"]) is list)
            call = mixed(regular_call(name, int(number)), *mixture.split())
            expected = outcome(chainer, call)
            with chainer.using_config("dtype", dtype):
                if outcome(chainer, call) != expected:
                    changed.append((name, mixture))
    assert not changed


def test_mixtures_of_a_call():
    """The products of the dtypes of both inputs, arrays instead of Variables, and integers."""
    found = [" ".join(mixture) for mixture in mixtures(regular_call("linear_interpolate", 0))]
    assert {"eee vvv", "fed vvv", "ffe rvv", "eff rrr", "fif vvv", "??? vvv"} <= set(found)


def test_mixture_changes_the_call():
    call = regular_call("maximum", 0)
    made = mixed(call, "ed", "vr")
    assert [(x.array.dtype.char, x.variable) for x in made.inputs()] == [("e", True), ("d", False)]
    assert [(x.array.dtype.char, x.variable) for x in call.inputs()] == [("f", True), ("f", True)]
    text = outcome(chainer, made)["forward"]["text"]
    assert "dtype" in text


def test_dtypes_that_are_stored():
    """Rows of the table in the documentation of the releases, written out by hand."""

    def result(name, mixture):
        return next(
            outcomes[mixture]["forward"][0][1]
            for outcomes in TABLE[name].values()
            if mixture in outcomes
        )

    assert result("linear", "ef vv") == "float16"
    assert result("matmul", "ef vv") == "float32"
    assert result("arctan2", "de vv") == "float64"
    assert result("embed_id", "id vv") == "float64"
    assert result("convolution_nd", "fde vvv") == "float32"
    assert result("lambda x, y: x + y", "ed vr") == "float16"


def test_values_of_mixtures():
    """Products of dtypes that this release computes in one dtype are those of NumPy."""
    x = np.array([[1, 2], [3, 4]], "f")
    h = x[::-1].astype("d") / 3
    y = F.zoneout(h, x, 1.0)
    np.testing.assert_array_equal(y.array, h)
    steps = F.transpose_sequence([x, h[:1].astype("e")])
    np.testing.assert_allclose(steps[0].array, [x[0], h[0]], rtol=1e-3)
    loss = F.gaussian_nll(x, h, np.zeros((2, 2), "d"))
    np.testing.assert_allclose(
        loss.array, ((x - h) ** 2 / 2 + np.log(2 * np.pi) / 2).sum(), rtol=1e-12
    )
    W, b = np.eye(2) / 3, np.zeros(2, "f")
    hx = np.zeros((1, 1, 2), "f")
    hy, _ = F.n_step_rnn(1, 0.0, hx, [[W, W]], [[b, b]], [x[:1]])
    np.testing.assert_allclose(hy.array[0], np.tanh(x[:1] / 3), rtol=1e-6)

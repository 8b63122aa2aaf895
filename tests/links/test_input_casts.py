"""``chainer.config.cast_inputs``: inputs that are wider than the parameters of a link."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.links import input_casts


@pytest.fixture(autouse=True)
def fresh_lines(monkeypatch):
    monkeypatch.setattr(input_casts, "_seen", set())


def wide(*shape):
    # NumPy 1 gave float32 here.
    return np.float64(2) * np.ones(shape, np.float32)


def test_off_by_default():
    assert chainer.config.cast_inputs is False
    with pytest.raises(chainer.utils.type_check.InvalidType):
        L.Convolution2D(3, 2, 1)(wide(1, 3, 2, 2))


def test_inputs_are_cast_with_one_warning_that_names_the_line():
    link = L.Convolution2D(3, 2, 1)
    with chainer.using_config("cast_inputs", True), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(3):
            y = link(wide(1, 3, 2, 2))
        z = link(x=chainer.Variable(wide(1, 3, 2, 2)))
    assert y.dtype == z.dtype == np.float32
    assert len(found) == 2 and {warning.filename for warning in found} == {__file__}
    assert "an input of Convolution2D is float64 and its parameters are float32" in str(
        found[0].message
    )


def test_gradients_reach_a_variable_that_was_cast():
    x = chainer.Variable(wide(2, 3))
    with chainer.using_config("cast_inputs", True), pytest.warns(UserWarning, match="cast_inputs"):
        F.sum(chainer.Sequential(L.Linear(3, 2), F.relu)(x)).backward()
    assert x.grad.dtype == np.float64


def narrow(*shape):
    return np.random.RandomState(sum(shape)).normal(size=shape).astype(np.float32)


INTEGERS = np.array([0, 1], np.int32)
#: Links of all kinds: with parameters of links inside, states, lists and several inputs.
LINKS = {
    "LSTM": (lambda: L.LSTM(4, 3), [narrow(2, 4)]),
    "StatelessLSTM": (lambda: L.StatelessLSTM(4, 3), [narrow(2, 3), narrow(2, 3), narrow(2, 4)]),
    "peephole": (lambda: L.StatefulPeepholeLSTM(4, 3), [narrow(2, 4)]),
    "zoneout": (lambda: L.StatefulZoneoutLSTM(4, 3), [narrow(2, 4)]),
    "GRU": (lambda: L.GRU(4, 3), [narrow(2, 4)]),
    "highway": (lambda: L.Highway(4), [narrow(2, 4)]),
    "tree": (lambda: L.ChildSumTreeLSTM(4, 3), [narrow(2, 3)] * 4 + [narrow(2, 4)]),
    "NStepLSTM": (
        lambda: L.NStepLSTM(1, 4, 3, 0.0),
        [None, None, [narrow(3, 4), narrow(2, 4)]],
    ),
    "NStepGRU": (lambda: L.NStepGRU(1, 4, 3, 0.0), [None, (narrow(3, 4), narrow(2, 4))]),
    "CRF1d": (lambda: L.CRF1d(4), [[narrow(2, 4)], [INTEGERS]]),
    "negative samples": (lambda: L.NegativeSampling(4, [1, 2, 3], 2), [narrow(2, 4), INTEGERS]),
    "inception": (lambda: L.Inception(2, 1, 1, 1, 1, 1, 1), [narrow(1, 2, 5, 5)]),
    "convolutions": (lambda: L.MLPConvolution2D(2, (3, 2), 3), [narrow(1, 2, 5, 5)]),
    "bilinear": (lambda: L.Bilinear(3, 4, 2), [narrow(2, 3), narrow(2, 4)]),
}


def outputs_of(name, change):
    make, inputs = LINKS[name]
    np.random.seed(0)
    link = make()
    found = link(*[change(value) for value in inputs])
    flat = [found] if isinstance(found, chainer.Variable) else found
    flat = [y for item in flat for y in (item if isinstance(item, (list, tuple)) else [item])]
    return [chainer.as_array(y) for y in flat]


def widened(value):
    if isinstance(value, (list, tuple)):
        return type(value)([widened(item) for item in value])
    return value.astype(np.float64) if value is not None and value.dtype.kind == "f" else value


@pytest.mark.parametrize("name", LINKS)
def test_links_of_all_kinds(name):
    with chainer.using_config("cast_inputs", True), pytest.warns(UserWarning, match="is float64"):
        found = outputs_of(name, widened)
    expected = outputs_of(name, lambda value: value)
    assert len(found) == len(expected)
    for y, z in zip(found, expected, strict=True):
        assert y.dtype == z.dtype
        np.testing.assert_allclose(y, z, rtol=1e-5, atol=1e-6)


def test_a_chain_of_two_dtypes():
    """An input that one of the links inside can take is left alone."""
    chain = chainer.Sequential(
        lambda x: chainer.functions.cast(x, "float16"),
        L.Linear(3, 3, initialW=chainer.initializers.One(np.float16)),
        lambda x: chainer.functions.cast(x, "float32"),
        L.Linear(3, 2),
    )
    seen = []
    chain.insert(0, lambda x: seen.append(x.dtype) or x)
    chain[2].b.array = chain[2].b.array.astype(np.float16)
    with chainer.using_config("cast_inputs", True), warnings.catch_warnings():
        warnings.simplefilter("error")
        chain(narrow(2, 3))
    assert seen == [np.float32]


def test_other_inputs_are_left_alone():
    half = L.Linear(3, 2, initialW=chainer.initializers.One(dtype=np.float64))
    half.b.array = half.b.array.astype(np.float64)
    with chainer.using_config("cast_inputs", True), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert half(wide(2, 3)).dtype == np.float64
        assert L.EmbedID(3, 2)(np.zeros(2, np.int64)).dtype == np.float32
        assert chainer.Sequential(F.relu)(wide(2)).dtype == np.float64


def test_by_environment_and_for_clients():
    program = (
        "import warnings, numpy as np, chainer, chainer.links as L;"
        "warnings.simplefilter('ignore');"
        "{}; print(L.Linear(3, 2)(np.ones((1, 3))).dtype)"
    )
    for line, variable in (("1", "1"), ("chainer.compat.clients.enable(cast_inputs=True)", "0")):
        line = f"import chainer.compat.clients; {line}"
        result = subprocess.run(
            [sys.executable, "-c", program.format(line)],
            env={"CHAINER_CAST_INPUTS": variable, "PATH": ""},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        assert result.stdout == "float32\n"

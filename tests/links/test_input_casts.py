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

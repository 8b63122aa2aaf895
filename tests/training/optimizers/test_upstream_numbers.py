"""Numbers made with earlier releases.

upstream_numbers.json holds parameters after the third and the twentieth step and the states after
the twentieth, in float64, of the releases named in it. upstream_precision.json holds float16
parameters after twenty steps of release 7.8.1, with and without updates in float32.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from chainer.core.autograd.parameter import Parameter
from chainer.links.link import Link
from chainer.training import optimizers as O
from tests.training.optimizers import make_upstream_precision

NUMBERS = json.loads(Path(__file__).with_name("upstream_numbers.json").read_text())
PRECISION = json.loads(Path(__file__).with_name("upstream_precision.json").read_text())


def gradients():
    random = np.random.RandomState(7)
    g = random.standard_normal((20, 2, 3)) * np.array([1, 0.1, 10])
    g[5] = 0
    g[:, 1, 2] = 0
    return g


@pytest.mark.parametrize("case", NUMBERS)
def test_same_numbers_as_upstream(case):
    name, _, arguments = case.partition("|")
    expected = NUMBERS[case]
    link = Link()
    with link.init_scope():
        link.p = Parameter(np.array([[1, -2, 3], [0.5, 0, -1]], np.float64))
    optimizer = getattr(O, name)(**json.loads(arguments)).setup(link)
    for t, g in enumerate(gradients(), 1):
        link.p.grad = g.copy()
        optimizer.update()
        if t == 3:
            np.testing.assert_allclose(link.p.array, expected["third"], rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(link.p.array, expected["last"], rtol=1e-11, atol=1e-14)
    state = link.p.update_rule.state
    assert set(state) == set(expected["state"])
    for key, value in expected["state"].items():
        np.testing.assert_allclose(state[key], value, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("case", PRECISION)
def test_same_float16_numbers_as_release_7(case):
    name, _, in_float32 = case.partition(" in ")
    result = make_upstream_precision.train(name, bool(in_float32), 8.0 if in_float32 else 1.0)
    assert result.dtype == np.float16
    np.testing.assert_allclose(result, PRECISION[case], rtol=1e-3, atol=1e-6)

"""Arrays of bfloat16 on the GPU: functions like those of float32, and a training."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
from chainer.training import optimizers as O
from tests.backends.test_bfloat16 import BFLOAT16, FUNCTIONS, compare, train
from tests.gpu import place

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("deterministic", [False, True])
def test_like_float32(name, deterministic):
    with chainer.using_config("cudnn_deterministic", deterministic):
        compare(name, place.NAME)


@pytest.mark.parametrize("make", [lambda: O.MomentumSGD(0.05), lambda: O.Adam(0.01)])
def test_training(make):
    losses = train(place.NAME, BFLOAT16, make)
    np.testing.assert_allclose(losses, train("@numpy", BFLOAT16, make), 0.1, 0.05)

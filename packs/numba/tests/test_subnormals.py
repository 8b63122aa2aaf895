"""Updates take numbers below the normal ones of float32 for zero, and change nothing else."""

from __future__ import annotations

import chainer
import chainer.links as L
import numpy as np
import pytest
from chainer import optimizers

from chainer_numba import subnormals

OPTIMIZERS = [
    optimizers.AdaDelta,
    optimizers.AdaGrad,
    optimizers.Adam,
    lambda: optimizers.Adam(amsgrad=True),
    optimizers.AdaBound,
    optimizers.AMSBound,
    optimizers.CorrectedMomentumSGD,
    optimizers.MomentumSGD,
    optimizers.MSVAG,
    optimizers.NesterovAG,
    optimizers.RMSprop,
    optimizers.RMSpropGraves,
    optimizers.SGD,
    optimizers.SMORMS3,
]

#: Arithmetic of NumPy, with a subnormal argument and a subnormal result.
TINY = np.full(64, 3e-40, np.float32)

here = pytest.mark.skipif(not subnormals.IS_THERE, reason="needs a processor of the kind x86-64")


def updated(make, gradients):
    """A parameter and its states after some updates."""
    link = L.Bias(shape=(200,))
    link.b.array[...] = np.linspace(-1, 1, 200)
    optimizer = make().setup(link)
    for gradient in gradients:
        link.b.grad = gradient.copy()
        optimizer.update()
    states = [s for s in link.b.update_rule.state.values() if isinstance(s, np.ndarray)]
    return [link.b.array, *states]


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_updates_are_those_of_the_reference(make, with_numba):
    gradients = np.random.RandomState(0).randn(3, 200).astype(np.float32)
    gradients[:, :50] = 0
    gradients[:, 50:60] *= np.float32(1e-39)
    with chainer.using_config("kernels", ()):
        expected = updated(make, gradients)
    for array, right in zip(updated(make, gradients), expected, strict=True):
        np.testing.assert_allclose(array, right, rtol=1e-5, atol=1e-37)


@here
@pytest.mark.parametrize("make", OPTIMIZERS)
def test_no_subnormal_number_stays(make, with_numba):
    first = np.random.RandomState(0).randn(200).astype(np.float32) * np.float32(1e-18)
    for array in updated(make, [first] + [np.zeros_like(first)] * 1000):
        assert not ((array != 0) & (np.abs(array) < np.finfo("f").tiny)).any()


@pytest.mark.parametrize("threads", [1, 3])
def test_other_arithmetic_is_as_before(threads, with_numba, use_threads):
    use_threads(threads)
    link = L.Linear(700, 700)
    optimizer = optimizers.Adam().setup(link)
    for param in link.params():
        param.grad = np.ones_like(param.array)
    optimizer.update()
    assert (TINY * np.float32(0.5) > 0).all()
    # Products of the threads that have made a part.
    weight = np.full((700, 700), 1e-20, np.float32)
    assert (chainer.functions.linear(weight, weight).array > 0).all()
    assert (chainer.functions.relu(np.full((700, 700), 1e-40, "f")).array > 0).all()

"""Gradients that several variables would see, or that were broadcast, on GPUs."""

import itertools

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.backends import cuda

pytestmark = pytest.mark.gpu


def leaf(*values):
    return chainer.Variable(cuda.to_gpu(np.array(values, np.float32)))


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_leaves_of_an_addition(given, order):
    xs = [leaf(1, 2) for _ in range(3)]
    y = F.add(*xs)
    if given:
        y.grad = given_gradient = cuda.to_gpu(np.ones(2, np.float32))
        y.backward()
        given_gradient *= 9
    else:
        F.sum(F.exp(y)).backward()
    expected = cuda.to_cpu((xs[order[-1]].grad).copy())
    for n in order:
        xs[n].grad *= n + 2
    for n, x in enumerate(xs):
        np.testing.assert_allclose(cuda.to_cpu(x.grad), expected * (n + 2), rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_gradient_of_a_sum_can_be_changed(axis):
    x = chainer.Variable(cuda.to_gpu(np.zeros((3, 4), np.float32)))
    y = F.sum(x, axis)
    F.sum(y * 2).backward()
    x.grad[0, 0] += 1
    expected = np.full((3, 4), 2)
    expected[0, 0] = 3
    assert cuda.to_cpu(x.grad).tolist() == expected.tolist()
    assert 0 not in x.grad.strides

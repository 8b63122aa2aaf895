"""An output that is alive only as the gradient of another output takes part in a backward pass."""

import numpy as np
import pytest

import chainer


class Two(chainer.FunctionNode):
    """Two outputs; it notes which of their gradients it gets."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, inputs):
        return inputs[0] * 1, inputs[0] * 2

    def backward(self, indexes, gys):
        self.seen.append([gy is not None for gy in gys])
        total = sum(gy * (i + 1.0) for i, gy in enumerate(gys) if gy is not None)
        return (total,)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("kept", [0, 1])
def test_output_that_is_the_gradient_of_the_other_one(kept, double):
    """As in release 7.8.1, which reads all gradients of outputs before it stores any."""
    x = chainer.Variable(np.ones(2))
    function = Two()
    outputs = list(function.apply((x,)))
    y, other = outputs[kept], outputs[1 - kept]
    other.grad = np.full(2, 5.0)
    y.grad_var = other
    del outputs, other
    chainer.functions.sum(y).backward(retain_grad=True, enable_double_backprop=double)
    assert function.seen == [[True, True]]
    np.testing.assert_array_equal(x.grad, np.full(2, kept + 1 + 5.0 * (2 - kept)))
    np.testing.assert_array_equal(y.grad, np.ones(2))


@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("several", [False, True])
def test_output_that_is_the_gradient_of_the_root(kept, several):
    x = chainer.Variable(np.ones(2))
    function = Two()
    outputs = list(function.apply((x,)))
    y, other = outputs[kept], outputs[1 - kept]
    other.grad = np.full(2, 5.0)
    y.grad_var = other
    gradient = other.array.copy()
    del outputs, other
    if several:
        chainer.backward([y])
    else:
        y.backward()
    assert function.seen == [[True, True]]
    np.testing.assert_array_equal(x.grad, gradient * (kept + 1) + 5.0 * (2 - kept))
    assert y.grad is None

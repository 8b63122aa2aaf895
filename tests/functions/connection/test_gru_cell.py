"""The node of a GRU step, with the reference kernel: links use it where a provider has another."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import gradient_check
from chainer.backends.operations.gru_cells import gru_cell
from chainer.functions.rnn._gru_cell import GRUCell
from chainer.utils.type_check import InvalidType


def arguments(dtype=np.float64, rows=3, inputs=4, units=2):
    rng = np.random.default_rng(0)
    shapes = [(rows, units), (rows, inputs), *[(units, inputs)] * 3, *[(units, units)] * 3]
    shapes += [(units,)] * 6
    return tuple([rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def expected(h, x, W_r, W_z, W, U_r, U_z, U, b_r, b_z, b, d_r, d_z, d):
    r = sigmoid(x @ W_r.T + b_r + h @ U_r.T + d_r)
    z = sigmoid(x @ W_z.T + b_z + h @ U_z.T + d_z)
    a = np.tanh(x @ W.T + b + (r * h) @ U.T + d)
    return (1 - z) * h + z * a


def function(*inputs):
    return GRUCell().apply(inputs)[0]


# A number between -1 and 1 after some ten operations: as many units of the last place.
@pytest.mark.parametrize(
    ("dtype", "atol"), [(np.float16, 1e-2), (np.float32, 2e-6), (np.float64, 4e-15)]
)
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_values(dtype, atol, rows):
    inputs = arguments(dtype, rows)
    y = function(*inputs)
    assert y.dtype == dtype
    right = expected(*[a.astype(np.float64) for a in inputs])
    np.testing.assert_allclose(y.array, right, rtol=0, atol=atol)


def test_inputs_that_are_not_contiguous():
    inputs = arguments()
    y = function(*[np.repeat(a, 2, axis=0)[::2] for a in inputs])
    np.testing.assert_allclose(y.array, expected(*inputs), rtol=0, atol=4e-15)


def test_gradients():
    inputs = arguments()
    gy = np.random.default_rng(1).uniform(-1, 1, (3, 2))
    gradient_check.check_backward(function, inputs, gy, dtype=np.float64, atol=1e-6, rtol=1e-6)


def test_gradients_of_gradients():
    inputs = arguments()
    rng = np.random.default_rng(2)
    gy = rng.uniform(-1, 1, (3, 2))
    ggs = tuple([rng.uniform(-1, 1, a.shape) for a in inputs])
    gradient_check.check_double_backward(
        function, inputs, gy, ggs, dtype=np.float64, atol=1e-5, rtol=1e-5
    )


def test_some_inputs_need_no_gradient():
    whole = [chainer.Variable(a) for a in arguments()]
    F.sum(function(*whole)).backward()
    for wanted in ((0,), (1, 9), (4, 7, 13)):
        inputs = [a if i not in wanted else chainer.Variable(a) for i, a in enumerate(arguments())]
        F.sum(function(*inputs)).backward()
        for i in wanted:
            np.testing.assert_array_equal(inputs[i].grad, whole[i].grad)


@pytest.mark.parametrize(
    ("index", "change"),
    [
        (0, lambda a: a[:2]),
        (1, lambda a: a[:, :2]),
        (5, lambda a: a[:, :1]),
        (8, lambda a: a[:1]),
        (13, lambda a: a.astype(np.float32)),
    ],
)
def test_arguments_that_do_not_fit(index, change):
    inputs = list(arguments())
    inputs[index] = change(inputs[index])
    with pytest.raises(InvalidType):
        function(*inputs)


def test_without_a_provider_the_links_call_single_functions():
    inputs = arguments()
    assert gru_cell.provided(*inputs[:8]) is None
    layer = L.StatelessGRU(4, 2)
    y = layer(inputs[0].astype("f"), inputs[1].astype("f"))
    assert type(y.creator).__name__ == "LinearInterpolate"

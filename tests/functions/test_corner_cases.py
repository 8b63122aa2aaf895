"""What rare arguments give, and what is said to those that make no sense."""

import numpy as np
import pytest

import chainer
from chainer import Variable
from chainer import functions as F


@pytest.mark.parametrize("batch", [1, 3])
def test_lstm_of_one_unit_leaves_its_input_alone(batch):
    x = np.arange(4 * batch, dtype=np.float32).reshape(batch, 4, order="F")
    x.flags.writeable = False
    a, i, f, o = x.T
    c, h = F.lstm(np.ones((batch, 1), np.float32), x)

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    expected = np.tanh(a) * sigmoid(i) + sigmoid(f)
    np.testing.assert_allclose(c.array[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(h.array[:, 0], sigmoid(o) * np.tanh(expected), rtol=1e-6)


def test_get_item_of_no_elements_by_arrays():
    x = Variable(np.zeros((3, 4, 0), np.float32))
    y = F.get_item(x, (np.array([0, 1]), np.array([0, 1])))
    y.grad = y.array
    y.backward()
    assert x.grad.shape == (3, 4, 0)


@pytest.mark.parametrize("scale", [1e-4, 1e-3, 1, 100])
def test_normalize_in_half_precision(scale):
    array = (np.array([[1, -2, 0.5], [0, 0, 0]]) * scale).astype(np.float16)
    gradients = []
    for double in (False, True):
        x = Variable(array)
        y = F.normalize(x)
        y.grad = np.array([[1, 2, -1], [1, 1, 1]], np.float16) / 100
        y.backward(enable_double_backprop=double)
        gradients.append(x.grad)
    assert np.isfinite(gradients[0]).all()
    np.testing.assert_allclose(*gradients, rtol=1e-2, atol=1e-3 * abs(gradients[0]).max())


@pytest.mark.parametrize("function", [F.classification_summary, F.precision, F.recall, F.f1_score])
def test_negative_labels_of_summaries(function):
    y = np.eye(3, dtype=np.float32)
    with pytest.raises(ValueError, match="labels t must not be negative.*ignore_label=0; got -1"):
        function(y, np.array([0, -1, 2], np.int32), ignore_label=0)
    function(y, np.array([0, -1, 2], np.int32), ignore_label=-1)


def test_inverse_of_what_is_no_permutation():
    with pytest.raises(ValueError, match="indices must be a permutation of 0 to 2"):
        F.permutate(np.ones(3, np.float32), np.array([0, 0, 2], np.int32), inv=True)


def test_accuracy_of_nothing():
    y, t = np.zeros((0, 3), np.float32), np.zeros(0, np.int32)
    assert F.accuracy(y, t, ignore_label=-1).array == 0
    assert np.isnan(F.accuracy(y, t).array)


def test_weighted_average_over_one_axis_in_a_tuple():
    x, weights = np.arange(6.0).reshape(2, 3), np.array([1.0, 3])
    expected = np.average(x, axis=0, weights=weights)
    np.testing.assert_allclose(F.average(x, axis=(0,), weights=weights).array, expected)
    with pytest.raises(ValueError, match="tuple axis is not supported when weights is given"):
        F.average(x, axis=(0, 1), weights=weights)


@pytest.mark.parametrize(
    ("mode", "options"), [("reflect", {"reflect_type": "odd"}), ("mean", {}), ("linear_ramp", {})]
)
def test_gradient_of_padding_that_computes(mode, options):
    x = Variable(np.arange(4.0))
    y = F.pad(x, 2, mode, **options)
    np.testing.assert_allclose(y.array, np.pad(np.arange(4.0), 2, mode, **options))
    y.grad = np.ones_like(y.array)
    with pytest.raises(NotImplementedError, match=f"the gradient of pad .*got mode='{mode}'"):
        y.backward()


@pytest.mark.parametrize("narrow", [np.float16, np.float32])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_division_by_numbers_of_less_precision(narrow, shape):
    """The quotient is as precise as the variable, as it is in NumPy for arrays."""
    x = Variable(np.array([1.0, 2.0]))
    divisor = narrow(3) if shape == () else np.full(shape, 3, narrow)
    np.testing.assert_allclose((x / divisor).array, [1 / 3, 2 / 3], rtol=1e-15)
    assert (Variable(np.ones(2, np.float16)) / divisor).dtype == np.float16
    assert chainer.grad([x / divisor], [x], [Variable(np.ones(2))])[0].array[0] == 1 / 3


@pytest.mark.parametrize(("states", "name"), [((None, 1), "hx"), ((1, None), "cx")])
def test_states_of_recurrent_networks_that_are_missing(states, name):
    weights = [[np.ones((2, 3 if i < 4 else 2), np.float32) for i in range(8)]]
    biases = [[np.zeros(2, np.float32)] * 8]
    hx, cx = (None if state is None else np.zeros((1, 2, 2), np.float32) for state in states)
    with pytest.raises(TypeError, match=f"{name} must be a variable or an array, got None"):
        F.n_step_lstm(1, 0.0, hx, cx, weights, biases, [np.ones((2, 3), np.float32)])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradient_of_selu_at_infinity(dtype):
    x = Variable(np.array([np.inf, -np.inf], dtype))
    y = F.selu(x)
    y.grad = np.ones(2, dtype)
    y.backward()
    np.testing.assert_allclose(x.grad, [1.0507009873554805, 0], rtol=1e-3)

"""The contract as variables and functions see it."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from chainer.core.arrays.backend import backend_of, find_backend, get_device
from chainer.core.autograd.function import Function
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.registry import registries
from chainer.testing.conformance.contract import (
    assert_equal,
    assert_on_device,
    devices_of_results,
    values,
)
from chainer.testing.conformance.refusals import requires


class _Double(FunctionNode):
    def forward(self, inputs):
        self.seen = type(inputs[0]), self.xp
        return (inputs[0] * self.xp.full(inputs[0].shape, 2, inputs[0].dtype),)

    def backward(self, target_input_indexes, grad_outputs):
        return _Double().apply(grad_outputs)


class _Branching(Function):
    """A v1-style function with code of its own for accelerators."""

    def forward_cpu(self, inputs):
        return (inputs[0] + 1,)

    def forward_gpu(self, inputs):
        return (inputs[0] + 2,)

    def backward(self, inputs, grad_outputs):
        return (grad_outputs[0] * 3,)


def test_functions_see_arrays_and_namespace_of_the_backend(backend, device, array):
    node = _Double()
    (y,) = node.apply((array,))
    assert find_backend(node.seen[0]) is backend.xp_backend
    assert node.seen[1] is backend.xp
    assert y.device in devices_of_results(device)
    assert_equal(y, values() * 2)


def test_functions_run_on_the_device_of_their_inputs(backend):
    for entry in backend.devices():
        x = Variable(entry.send(np.ones((), np.float32)))
        (y,) = _Double().apply((x,))
        y.backward()
        assert_on_device(y, entry)
        assert_on_device(x.grad, entry)
        assert_equal(x.grad, 2)


def test_functions_choose_code_by_the_kind_of_backend(backend, device, array):
    x = Variable(array)
    y = _Branching()(x)
    assert_on_device(y, device)
    assert_equal(y, values() + (2 if backend.is_accelerator else 1))
    y.grad = device.send(np.ones((2, 3), np.float32))
    y.backward()
    assert_equal(x.grad, np.full((2, 3), 3))


def test_operators_of_variables(device, array):
    x = values()
    v = Variable(array)
    for y, expected in (
        (v + v, x + x),
        (v - 1, x - 1),
        (2 - v, 2 - x),
        (v * v, x * x),
        (v / 2, x / 2),
        (1 / (v + 1), 1 / (x + 1)),
        (v**2, x**2),
        (-v, -x),
        (abs(v - 2), abs(x - 2)),
        (v @ v.T, x @ x.T),
        (v[1], x[1]),
        (v.reshape(3, 2), x.reshape(3, 2)),
    ):
        assert_on_device(y, device)
        assert y.dtype == np.float32
        assert_equal(y, expected, rtol=1e-5)


def test_gradients_of_gradients(device, array):
    x = Variable(array)
    start = Variable(device.send(np.ones((2, 3), np.float32)))
    (gx,) = grad([x**3], [x], [start], enable_double_backprop=True)
    assert gx is not None
    (ggx,) = grad([gx], [x], [start])
    assert_on_device(ggx, device)
    assert_equal(ggx, 6 * values(), rtol=1e-5)


def test_gradients_are_accumulated(device, array):
    x = Variable(array)
    y = x + x * 2
    y.grad = device.send(np.ones((2, 3), np.float32))
    y.backward()
    y = x * 4
    y.grad = device.send(np.ones((2, 3), np.float32))
    y.backward()
    assert_on_device(x.grad, device)
    assert_equal(x.grad, np.full((2, 3), 7))


def test_losses_start_backward_by_themselves(device, array):
    functions = registries.functions
    x = Variable(array)
    loss = functions.get("sum")(functions.get("exp")(x))
    loss.backward()
    assert_on_device(x.grad, device)
    assert_equal(x.grad, np.exp(values()), rtol=1e-5)


def test_gradients_are_cleared_and_added(device, array):
    x, y = Variable(array), Variable(device.send(values()))
    y.grad = device.send(np.ones((2, 3), np.float32))
    x.addgrad(y)
    assert_equal(x.grad, np.ones((2, 3)))
    x.cleargrad()
    assert x.grad is None


@pytest.mark.parametrize("given", [False, True])
def test_variables_do_not_see_changes_of_the_gradients_of_others(device, given):
    functions = registries.functions
    xs = [Variable(device.send(values())) for _ in range(3)]
    y = functions.get("add")(*xs)
    if given:
        y.grad = device.send(np.ones((2, 3), np.float32))
        y.backward()
        y.grad = None
    else:
        functions.get("sum")(functions.get("identity")(y)).backward()
    with device:
        for n, x in enumerate(xs):
            x.grad[...] = x.grad * (n + 2)
    for n, x in enumerate(xs):
        assert_on_device(x.grad, device)
        assert_equal(x.grad, np.full((2, 3), n + 2))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_elements_of_gradients_are_memory_of_their_own(device, array, axis):
    x = Variable(array)
    functions = registries.functions
    functions.get("sum")(functions.get("sum")(x, axis=axis) * 2).backward()
    expected = np.full((2, 3), 2)
    assert_equal(x.grad, expected)
    x.grad[0, 1] = expected[0, 1] = 7
    assert_equal(x.grad, expected)


def test_repeated_axes(backend, device):
    with device:
        array = backend.xp.broadcast_to(device.send(np.ones((2, 1), np.float32)), (2, 3))
    assert backend.broadcast_axes(array) in ((), (1,))
    assert backend.broadcast_axes(device.send(values())) == ()


def test_variables_move(device):
    x = Variable(values(), grad=values())
    x.to_device(device)
    assert x.device == device
    assert_on_device(x.grad, device)
    x.to_cpu()
    assert type(x.array) is np.ndarray
    np.testing.assert_array_equal(x.grad, values())


def test_data_is_copied_between_host_and_device(device, array):
    x = Variable(array)
    x.copydata(Variable(values() + 5))
    assert x.device == device
    assert_equal(x, values() + 5)
    host = Variable(np.zeros((2, 3), np.float32))
    host.copydata(x)
    assert host.device == get_device("@numpy")
    assert_equal(host, values() + 5)


@requires("pickle")
def test_variables_are_pickled_and_copied(backend, device, array):
    x = Variable(array, name="x")
    for clone in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert clone.name == "x"
        assert backend_of(clone.array) is backend
        assert clone.device == device
        assert_equal(clone, values())
        with device:
            clone.array[...] = clone.array * 0 + 9
        assert_equal(x, values())


def test_copied_arrays_have_memory_of_their_own(device, array):
    # Links have arrays beside parameters, and programs keep arrays in lists.
    (clone,) = copy.deepcopy([array])
    assert_on_device(clone, device)
    with device:
        clone[...] = clone * 0 + 9
    assert_equal(array, values())


def test_variables_are_printed(array):
    assert "5." in repr(Variable(array))
    assert "shape: (2, 3)" in Variable(array).debug_print()


def test_parameters_are_initialised_on_the_device(device):
    parameter = Parameter(3, shape=(2, 2))
    parameter.to_device(device)
    assert parameter.device == device
    assert_equal(parameter, np.full((2, 2), 3))
    late = Parameter(5)
    late.to_device(device)
    late.initialize((2,))
    assert late.device == device
    assert_equal(late, [5, 5])

"""Functions and their gradients compute where their arrays are, whatever device is current."""

from __future__ import annotations

import copy
import importlib.util

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.testing.conformance.harness import Case, flatten, is_float
from chainer.testing.specs import all_specs

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("chainer_strict_backend") is None,
    reason="the distribution in tests/strict_backend is not installed",
)


@pytest.mark.parametrize("spec", all_specs(), ids=lambda s: s.name)
def test_on_another_device_than_the_current(spec):
    device = chainer.get_device("@strict:1")
    for sample in spec.samples(spec.draw()):
        if sample.kind != "regular":
            continue
        case = Case(spec, sample, "float32", 0, device)
        with device:
            variables = [chainer.Variable(a) if is_float(a) else a for a in case.arrays()]
            keywords = case.keywords()
        results = flatten(spec.apply(*variables, **keywords))
        outputs = [y for y in results if getattr(y, "creator", None) is not None]
        if spec.gradient_order and outputs:
            total = F.sum(outputs[0]) + F.sum(outputs[0])
            for y in outputs[1:]:
                total += F.sum(y)
            if total.requires_grad and total.creator is not None:
                total.backward()
                total.backward()
        inputs = [v for v in variables if isinstance(v, chainer.Variable)]
        for variable in (*inputs, *(y for y in results if isinstance(y, chainer.Variable))):
            assert variable.device == device, sample
            if variable.grad is not None:
                assert chainer.backend.get_device_from_array(variable.grad) == device, sample


def test_gradients_that_add_up():
    device = chainer.get_device("@strict:1")
    x = chainer.Variable(device.send(np.array([1, 2, 3], np.float32)))
    y = x * x + x * 2 + x
    for retain_grad in (False, True):
        y.grad = device.send(np.ones(3, np.float32))
        y.backward(retain_grad=retain_grad)
    (gx,) = chainer.grad([F.sum(y), F.sum(y)], [x])
    for array, expected in ((x.grad, [10, 14, 18]), (gx.array, [10, 14, 18])):
        assert chainer.backend.get_device_from_array(array) == device
        assert chainer.get_device("@numpy").send(array).tolist() == expected


def test_copies_stay_on_their_device():
    device = chainer.get_device("@strict:1")
    x = chainer.Variable(device.send(np.array([1, 2], np.float32)))
    x.grad = device.send(np.array([3, 4], np.float32))
    clone = copy.deepcopy(x)
    assert clone.device == chainer.backend.get_device_from_array(clone.grad) == device


class Stray(chainer.Function):
    """Returns a gradient in host memory whatever the input is."""

    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, inputs, grad_outputs):
        return (np.ones(2, np.float32),)


def test_gradient_on_another_device_than_the_data():
    x = chainer.Variable(chainer.get_device("@strict:0").send(np.array([1, 2], np.float32)))
    y = Stray()(x)
    y.grad = x.array
    with pytest.raises(TypeError, match="Type of data and grad mismatch(.|\n)*to one device"):
        y.backward()


def test_mixed_devices():
    device = chainer.get_device("@strict:0")
    host = np.ones((2, 3), np.float32)
    x, t = chainer.Variable(device.send(host)), device.send(np.zeros(2, np.int32))
    for mix in (lambda: F.concat([x, host]), lambda: x + host, lambda: F.add(host, x)):
        with pytest.raises(TypeError, match="mixed in the(.|\n)*Bring them to one device first"):
            mix()
    with pytest.raises(TypeError, match="class_weight is a .*send it to the device of x"):
        F.softmax_cross_entropy(x, t, class_weight=host[0])


def test_inputs_on_two_devices_of_a_backend():
    x, y = (
        chainer.Variable(chainer.get_device(f"@strict:{i}").send(np.ones(3, np.float32)))
        for i in range(2)
    )
    expected = r"inputs of _ \+ _ are on several devices: @strict:0, @strict:1\nBring them"
    with pytest.raises(TypeError, match=expected):
        x + y
    with pytest.raises(TypeError, match="@strict:1, @strict:0, @strict:0"):
        F.concat([y, x, x], axis=0)
    assert F.copy(x, "@strict:1").device == y.device

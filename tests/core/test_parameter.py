import copy
import pickle

import numpy as np
import pytest

from chainer.core.arrays.backend import get_array_module, get_device
from chainer.core.autograd.parameter import Parameter
from chainer.core.config.configuration import using_config
from tests.core.nodes import f32, multiply, var


class Ramp:
    """An initializer: 0, 1, 2, ..."""

    def __init__(self, dtype=None):
        self.dtype = dtype

    def __call__(self, array):
        xp = get_array_module(array)
        array[...] = xp.arange(array.size).reshape(array.shape)


class TestInitialization:
    def test_at_once(self):
        p = Parameter(Ramp(), (2, 2), name="p")
        assert p.array.tolist() == [[0, 1], [2, 3]]
        assert p.dtype == np.float32
        assert p.name == "p"
        assert p.is_initialized

    def test_deferred(self):
        p = Parameter(Ramp())
        assert p.array is None
        assert not p.is_initialized
        assert repr(p) == "variable(None)"
        p.initialize((3,))
        assert p.array.tolist() == [0, 1, 2]

    @pytest.mark.parametrize("shape", [3, (3,), [3], np.int64(3)])
    def test_shapes(self, shape):
        p = Parameter(1, shape)
        assert p.shape == (3,)

    def test_scalar_is_float32(self):
        p = Parameter(2, (2,))
        assert p.array.tolist() == [2, 2]
        assert p.dtype == np.float32

    def test_array_is_used_as_it_is(self):
        array = np.array([1.0, 2.0])
        p = Parameter(array)
        assert p.array is array

    def test_array_with_shape_gives_values(self):
        array = f32(1, 2)
        p = Parameter(array, (2,))
        assert p.array is not array
        assert p.array.tolist() == [1, 2]

    def test_array_of_other_shape_is_refused(self):
        with pytest.raises(ValueError, match=r"shape \(2,\) does not fit an array of shape \(3,\)"):
            Parameter(f32(1, 2), (3,))

    def test_array_is_broadcast_to_the_shape(self):
        assert Parameter(f32(1, 2), (3, 2)).array.tolist() == [[1, 2]] * 3

    def test_without_initializer(self):
        assert np.isnan(Parameter(shape=(2,)).array).all()

    def test_dtype_of_the_initializer(self):
        assert Parameter(Ramp(np.float64), (2,)).dtype == np.float64
        assert Parameter(Ramp(np.float16)).dtype == np.float16

    def test_dtype_of_the_configuration(self):
        with using_config("dtype", np.dtype("float16")):
            assert Parameter(1, (2,)).dtype == np.float16
            assert Parameter(Ramp(), (2,)).dtype == np.float16

    def test_nonsense_is_refused(self):
        with pytest.raises(TypeError, match=r"initializer must be .* got str"):
            Parameter("zeros", (2,))


class TestGradient:
    def test_is_nan_until_cleared(self):
        p = Parameter(1, (2,))
        assert np.isnan(p.grad).all()
        p.cleargrad()
        assert p.grad is None

    def test_of_an_array_is_none(self):
        assert Parameter(f32(1, 2)).grad is None

    def test_forgotten_cleargrad_shows(self):
        p = Parameter(1, (2,))
        y = multiply(p, p)
        y.grad = f32(1, 1)
        y.backward()
        assert np.isnan(p.grad).all()

    def test_after_cleargrad(self):
        p = Parameter(3, (2,))
        p.cleargrad()
        y = multiply(p, p)
        y.grad = f32(1, 1)
        y.backward()
        assert p.grad.tolist() == [6, 6]

    @pytest.mark.parametrize(
        ("method", "expected"), [(None, "nan"), ("cleargrad", None), ("zerograd", 0)]
    )
    def test_deferred(self, method, expected):
        p = Parameter(1)
        if method == "zerograd":
            with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
                p.zerograd()
        elif method == "cleargrad":
            p.cleargrad()
        p.initialize((1,))
        assert p.grad is None if expected is None else str(p.grad[0]) == str(float(expected))

    def test_zerograd(self):
        p = Parameter(1, (2,))
        with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
            p.zerograd()
        assert p.grad.tolist() == [0, 0]

    def test_of_integers_is_none(self):
        assert Parameter(np.array([1, 2])).grad is None


class TestUpdate:
    def test_without_rule(self):
        p = Parameter(1, (2,))
        p.update()
        assert p.array.tolist() == [1, 1]

    def test_with_rule(self):
        class Rule:
            def update(self, param):
                param.array -= 1

        p = Parameter(1, (2,))
        p.update_rule = Rule()
        p.update()
        assert p.array.tolist() == [0, 0]


class TestCopies:
    @pytest.mark.parametrize(
        "clone", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
    )
    def test_initialized(self, clone):
        p = Parameter(3, (2,), name="p")
        p.grad = f32(1, 2)
        q = clone(p)
        assert type(q) is Parameter
        assert q.name == "p"
        assert q.array.tolist() == [3, 3]
        assert q.grad.tolist() == [1, 2]

    @pytest.mark.parametrize(
        "clone", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
    )
    def test_undefined_gradient(self, clone):
        assert np.isnan(clone(Parameter(3, (2,))).grad).all()

    @pytest.mark.parametrize(
        "clone", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
    )
    def test_uninitialized(self, clone):
        q = clone(Parameter(3, name="p"))
        assert q.array is None
        q.initialize((2,))
        assert q.array.tolist() == [3, 3]

    def test_copy_shares_the_array(self):
        p = Parameter(3, (2,))
        assert copy.copy(p).array is p.array
        assert copy.deepcopy(p).array is not p.array

    def test_result_of_arithmetic_is_no_parameter(self):
        p = Parameter(3, (2,))
        assert not isinstance(multiply(p, p), Parameter)


class TestDevices:
    def test_initialized(self):
        p = Parameter(3, (2,))
        p.to_device("@strict:1")
        assert str(p.device) == "@strict:1"
        assert p.grad.device_index == 1
        p.to_cpu()
        assert np.isnan(p.grad).all()

    def test_deferred(self):
        p = Parameter(Ramp())
        p.to_device("@strict:1")
        p.initialize((2,))
        assert str(p.device) == "@strict:1"
        assert p.array.tolist() == [0, 1]

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_gradient_of_zeros(self, when):
        p = Parameter(1)
        p.to_device("@strict:1")
        if when == "before":
            with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
                p.zerograd()
        p.initialize((2,))
        for _ in range(2):
            if when == "after":
                with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
                    p.zerograd()
            assert p.grad.device_index == 1
            assert p.grad.tolist() == [0, 0]

    def test_copied_and_added_between_devices(self):
        p, q = Parameter(1, (2,)), Parameter(2, (2,))
        p.to_device("@strict:1")
        q.to_device("@strict:0")
        p.copydata(q)
        for expected in ([3, 3], [6, 6]):
            q.grad = get_device("@strict:0").send(f32(3, 3))
            if expected == [3, 3]:
                p.cleargrad()
            p.addgrad(q)
            assert p.grad.device_index == p.array.device_index == 1
            assert p.array.tolist() == [2, 2]
            assert p.grad.tolist() == expected

    def test_deferred_survives_pickling(self):
        p = Parameter(1)
        p.to_device("@strict:1")
        q = pickle.loads(pickle.dumps(p))
        q.initialize((2,))
        assert str(q.device) == "@strict:1"

    def test_unknown_device_leaves_it_alone(self):
        p = Parameter(1)
        with pytest.raises(ValueError, match="nonsense"):
            p.to_device("@nonsense")
        p.initialize((1,))
        assert type(p.array) is np.ndarray


def test_addgrad_across_devices():
    p = Parameter(1, (2,))
    p.cleargrad()
    p.to_device("@strict:0")
    q = var(0, 0, grad=f32(1, 2))
    p.addgrad(q)
    p.addgrad(q)
    assert p.grad.tolist() == [2, 4]
    assert str(p.device) == "@strict:0"


@pytest.mark.parametrize("value", ["False", None, [1]])
def test_requires_grad_must_be_a_truth_value(value):
    p = Parameter(1, (2,))
    with pytest.raises(TypeError, match="requires_grad must be True or False, got"):
        p.requires_grad = value
    assert p.requires_grad
    p.requires_grad = np.bool_(False)
    assert p.requires_grad is False

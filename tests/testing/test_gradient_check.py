import numpy as np
import pytest

import chainer
from chainer import gradient_check
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.testing.gradient_check import (
    NondifferentiableError,
    check_backward,
    check_double_backward,
    numerical_grad,
)
from tests.core.nodes import Multiply, NotDifferentiable, Split, add, exp, f32, multiply, var

RANDOM = np.random.default_rng(0)


def draw(*shape, dtype=np.float32):
    return RANDOM.uniform(-1, 1, shape).astype(dtype)


class Relu(FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        return (np.maximum(inputs[0], 0),)

    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (multiply(grad_outputs[0], (x.array > 0).astype(x.dtype)),)


class Floor(FunctionNode):
    def forward(self, inputs):
        return (np.floor(inputs[0]),)


class Wrong(Multiply):
    def backward(self, target_input_indexes, grad_outputs):
        return tuple(add(g, g) for g in super().backward(target_input_indexes, grad_outputs))


def relu(x):
    return Relu().apply((x,))[0]


def floor(x):
    return Floor().apply((x,))[0]


def test_public_name():
    assert gradient_check.check_backward is check_backward
    assert chainer.testing.gradient_check is gradient_check


class TestNumericalGrad:
    @pytest.mark.parametrize("detect", [False, True])
    def test_of_the_guide(self, detect):
        x = draw(4, 3)
        (gx,) = numerical_grad(
            lambda: (x * x,), (x,), (np.ones_like(x),), detect_nondifferentiable=detect
        )
        assert gx.dtype == np.float32
        np.testing.assert_allclose(gx, 2 * x, atol=1e-3)

    def test_weights(self):
        x, gy = draw(3, dtype=np.float64), draw(3, dtype=np.float64)
        (gx,) = numerical_grad(lambda: (x**3,), (x,), (gy,))
        np.testing.assert_allclose(gx, 3 * x**2 * gy, atol=1e-5)

    def test_several_inputs_and_outputs(self):
        x, y = draw(2, 3, dtype=np.float64), draw(3, dtype=np.float64)
        gx, gy = numerical_grad(
            lambda: (x * y, np.array(x.sum())), (x, y), (np.ones((2, 3)), np.array(10.0))
        )
        np.testing.assert_allclose(gx, np.broadcast_to(y, (2, 3)) + 10, rtol=1e-6)
        np.testing.assert_allclose(gy, x.sum(axis=0), rtol=1e-6)

    def test_inputs_are_restored(self):
        x = draw(3)
        before = x.copy()
        numerical_grad(lambda: (x * 2,), (x,), (np.ones(3, np.float32),))
        np.testing.assert_array_equal(x, before)

    def test_inputs_are_restored_after_an_error(self):
        x = draw(3)
        before = x.copy()

        def f():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            numerical_grad(f, (x,), (x,))
        np.testing.assert_array_equal(x, before)

    def test_none_leaves_an_output_out(self):
        x = draw(3)
        (gx,) = numerical_grad(lambda: (x * 2, x * 3), (x,), (None, np.ones(3, np.float32)))
        np.testing.assert_allclose(gx, 3, rtol=1e-3)

    def test_detection_is_more_accurate(self):
        x = np.array([1.0])
        results = [
            numerical_grad(
                lambda: (np.exp(x),), (x,), (np.ones(1),), 1e-2, detect_nondifferentiable=detect
            )[0]
            for detect in (False, True)
        ]
        errors = [abs(float(g[0]) - np.e) for g in results]
        assert errors[1] < 1e-3 * errors[0]

    def test_number_of_evaluations(self):
        calls = []
        x = np.array([1.0])

        def f():
            calls.append(x.copy())
            return (x * 2,)

        numerical_grad(f, (x,), (np.ones(1),))
        assert len(calls) == 2
        calls.clear()
        numerical_grad(f, (x,), (np.ones(1),), detect_nondifferentiable=True)
        assert len(calls) == 5
        calls.clear()
        numerical_grad(
            f, (x,), (np.ones(1),), detect_nondifferentiable=True, center_outputs=(x * 2,)
        )
        assert len(calls) == 4

    def test_of_rounded_steps(self):
        x = np.array([1.7], np.float16)
        (gx,) = numerical_grad(lambda: (x.astype(np.float64) * 3,), (x,), (np.ones(1),))
        np.testing.assert_allclose(gx, 3, rtol=1e-3)

    def test_zero_dimensional_and_empty(self):
        x = np.array(2.0)
        (gx,) = numerical_grad(lambda: (x * x,), (x,), (np.array(1.0),))
        np.testing.assert_allclose(gx, 4)
        empty = np.zeros((0, 2))
        (gx,) = numerical_grad(lambda: (empty * 2,), (empty,), (empty,))
        assert gx.shape == (0, 2)

    def test_on_a_device(self):
        device = chainer.get_device("@strict:1")
        x, gy = device.send((draw(2, 2), draw(2, 2)))
        (gx,) = numerical_grad(lambda: (x * x,), (x,), (gy,))
        assert device.backend.device_of(gx) == device
        with device:
            expected = 2 * x * gy
        chainer.testing.assert_allclose(gx, expected, atol=1e-3, rtol=1e-3)

    @pytest.mark.parametrize(
        ("arguments", "kwargs", "error", "match"),
        [
            (lambda: (np.arange(3), np.ones(3)), {}, RuntimeError, "kind of float, got int64"),
            (lambda: (np.ones(3), np.ones(2)), {}, ValueError, r"shape \(2,\), .* has \(3,\)"),
            (lambda: (np.ones(3), np.ones(3)), {"eps": 0}, ValueError, "eps must be positive"),
            (
                lambda: (np.full(3, 100, np.float16), np.ones(3)),
                {},
                ValueError,
                r"eps=0.001 is too small for float16: inputs\[0\]\[0\] = 100",
            ),
        ],
    )
    def test_bad_arguments(self, arguments, kwargs, error, match):
        x, gy = arguments()
        with pytest.raises(error, match=match):
            numerical_grad(lambda: (x * 2,), (x,), (gy,), **kwargs)

    def test_wrong_number_of_gradients(self):
        x = np.ones(3)
        with pytest.raises(ValueError, match="f returned 1 outputs, but there are 2 grad_outputs"):
            numerical_grad(lambda: (x * 2,), (x,), (x, x))


class TestDetection:
    @pytest.mark.parametrize(
        "f",
        [
            np.abs,
            np.floor,
            lambda x: np.maximum(x, 0),
            lambda x: np.maximum(x - 3e-4, 0),
            lambda x: np.maximum(x + 3e-4, 0),
            np.sign,
            lambda x: np.sqrt(np.abs(x)),
        ],
    )
    def test_found(self, f):
        x = np.array([1.5, 0.0])
        with pytest.raises(NondifferentiableError, match=r"index on x: \(1,\)"):
            numerical_grad(lambda: (f(x),), (x,), (np.ones(2),), detect_nondifferentiable=True)

    def test_edge_of_the_domain(self):
        x = np.array([1e-4])
        with (
            np.errstate(invalid="ignore"),
            pytest.raises(NondifferentiableError, match="nan"),
        ):
            numerical_grad(
                lambda: (np.sqrt(x),), (x,), (np.ones(1),), detect_nondifferentiable=True
            )

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize(
        "f",
        [
            np.sin,
            np.exp,
            lambda x: x * 0 + 3,
            lambda x: x * 1e-3 + 100,
            lambda x: x**2,
            lambda x: np.where(x > 10, np.nan, x),
        ],
    )
    def test_not_found_in_smooth_functions(self, f, dtype):
        x = np.array([0.0, 0.5, -1.0], dtype)
        numerical_grad(lambda: (f(x),), (x,), (np.ones(3),), detect_nondifferentiable=True)

    def test_tolerance(self):
        x = np.array([0.0])
        numerical_grad(
            lambda: (np.abs(x),), (x,), (np.ones(1),), detect_nondifferentiable=True, diff_rtol=1
        )
        numerical_grad(
            lambda: (np.abs(x),), (x,), (np.ones(1),), detect_nondifferentiable=True, diff_atol=1
        )


class TestCheckBackward:
    def test_right(self):
        x = draw(2, 3)
        check_backward(exp, x, draw(2, 3), dtype=np.float64)
        check_backward(multiply, (x, draw(2, 3)), draw(2, 3), dtype=np.float64)

    def test_without_dtype(self):
        check_backward(multiply, (draw(2), draw(2)), draw(2), atol=1e-2, rtol=1e-2)

    @pytest.mark.parametrize(
        "func",
        [
            lambda x, y: multiply(x, y, Wrong),
            lambda x, y: NotDifferentiable().apply((multiply(x, y),))[0],
            lambda x, y: multiply(x.array, y),
        ],
    )
    def test_wrong(self, func):
        with pytest.raises(AssertionError, match="check_backward failed") as error:
            check_backward(func, (draw(2, 3), draw(2, 3)), draw(2, 3), dtype=np.float64)
        for part in ("inputs[1]", "grad_outputs[0]", "directions[0]", "(numeric)", "(backward)"):
            assert part in str(error.value)

    def test_fails_with_certainty(self):
        for _ in range(100):
            with pytest.raises(AssertionError, match="check_backward failed"):
                check_backward(
                    lambda x: multiply(x, x, Wrong),
                    np.ones(3),
                    np.ones(3),
                    atol=0,
                    rtol=1e-4,
                )

    def test_loss_function(self):
        x = Variable(np.array(2.0))
        check_backward(lambda x: multiply(x, x), x.array, None)

    def test_gradient_can_be_left_out_for_losses_only(self):
        with pytest.raises(ValueError, match=r"y_grad argument cannot be omitted.*\n.*\(2,\)"):
            check_backward(exp, draw(2), None)

    def test_several_outputs(self):
        x = draw(3, dtype=np.float64)
        func = lambda x: Split().apply((exp(x),))
        check_backward(func, x, (draw(3, dtype=np.float64), draw(3, dtype=np.float64)))
        check_backward(func, x, (None, draw(3, dtype=np.float64)))
        with pytest.raises(ValueError, match="y_grad must fit the outputs"):
            check_backward(func, x, draw(3, dtype=np.float64))

    def test_parameters(self):
        p = Parameter(draw(3))
        check_backward(lambda x: multiply(x, p), draw(3), draw(3), p, dtype=np.float64)
        assert p.dtype == np.float32
        wrong = lambda x: multiply(x, multiply(p, p, Wrong))
        with pytest.raises(AssertionError, match=r"params\[0\]"):
            check_backward(wrong, draw(3), draw(3), (p,), dtype=np.float64)
        assert p.dtype == np.float32

    def test_parameters_must_be_variables(self):
        with pytest.raises(TypeError, match=r"params\[0\] must be a Variable"):
            check_backward(exp, draw(3), draw(3), draw(3))

    def test_integers_are_left_out(self):
        class Scale(FunctionNode):
            def forward(self, inputs):
                self.retain_inputs((1,))
                return ((inputs[0] * inputs[1]).astype(inputs[0].dtype),)

            def backward(self, target_input_indexes, grad_outputs):
                (n,) = self.get_retained_inputs()
                g = grad_outputs[0]
                return (multiply(g, n.array.astype(g.dtype)),)

        func = lambda x, n: Scale().apply((x, n))[0]
        check_backward(func, (draw(3), np.array([1, 2, 3])), draw(3), dtype=np.float64)

    def test_no_grads(self):
        func = lambda x, y: multiply(x, y.array)
        x, y = draw(3), draw(3)
        check_backward(func, (x, y), draw(3), dtype=np.float64, no_grads=[False, True])
        with pytest.raises(RuntimeError, match=r"no_grads is set for inputs"):
            check_backward(func, (x, y), draw(3), dtype=np.float64, no_grads=[True, False])
        with pytest.raises(ValueError, match="Length of no_grads param and xs should be same"):
            check_backward(func, (x, y), draw(3), no_grads=[True])
        with pytest.raises(ValueError, match="no floating-point input"):
            check_backward(lambda x: x, np.arange(3), np.arange(3))

    def test_detect_nondifferentiable(self):
        x = np.array([1.0, 0.0])
        for func in (relu, floor):
            with pytest.raises(NondifferentiableError):
                check_backward(func, x, np.ones(2), detect_nondifferentiable=True)
        check_backward(relu, np.array([1.0, -1.0]), np.ones(2), detect_nondifferentiable=True)

    def test_dtype_must_be_a_floating_point_type(self):
        with pytest.raises(ValueError, match="`dtype` is allowed only float type"):
            check_backward(exp, draw(2), draw(2), dtype=np.int32)

    def test_function_must_return_variables(self):
        with pytest.raises(TypeError, match="func must return Variables"):
            check_backward(lambda x: x.array, draw(2), draw(2))

    def test_float16(self):
        x, gy = draw(3, dtype=np.float16), draw(3, dtype=np.float16)
        check_backward(exp, x, gy, dtype=np.float64, atol=1e-2, rtol=1e-2)

    def test_on_a_device(self):
        device = chainer.get_device("@strict:1")
        x, gy = device.send((draw(2, 2), draw(2, 2)))
        check_backward(exp, x, gy, dtype=np.float64)

    def test_works_without_backprop_mode(self):
        with chainer.no_backprop_mode():
            check_backward(exp, draw(3), draw(3), dtype=np.float64)


class CutsTheGraph(Multiply):
    def backward(self, target_input_indexes, grad_outputs):
        inputs = self.get_retained_inputs()
        return tuple(multiply(grad_outputs[0], inputs[1 - i].array) for i in target_input_indexes)


class TestCheckDoubleBackward:
    def test_right(self):
        check_double_backward(exp, draw(3), draw(3), draw(3), dtype=np.float64)
        check_double_backward(
            multiply, (draw(3), draw(3)), draw(3), (draw(3), draw(3)), dtype=np.float64
        )

    def test_linear(self):
        check_double_backward(lambda x: add(x, x), draw(3), draw(3), draw(3), dtype=np.float64)

    def test_wrong(self):
        with pytest.raises(AssertionError, match="check_backward failed"):
            check_double_backward(
                lambda x: multiply(x, x, CutsTheGraph),
                draw(3),
                draw(3),
                draw(3),
                dtype=np.float64,
            )

    def test_loss_function(self):
        func = lambda x: multiply(multiply(x, x), x)
        check_double_backward(func, np.array(2.0), None, np.array(0.5))

    def test_several_outputs(self):
        func = lambda x: Split().apply((exp(x),))
        gys = draw(3), draw(3)
        check_double_backward(func, draw(3), gys, draw(3), dtype=np.float64)
        check_double_backward(func, draw(3), (None, gys[1]), draw(3), dtype=np.float64)

    def test_parameters(self):
        p = Parameter(draw(3))
        func = lambda x: multiply(multiply(x, p), p)
        check_double_backward(func, draw(3), draw(3), draw(3), p, draw(3), dtype=np.float64)
        wrong = lambda x: multiply(x, multiply(p, p, CutsTheGraph))
        with pytest.raises(AssertionError, match="check_backward failed"):
            check_double_backward(wrong, draw(3), draw(3), draw(3), (p,), draw(3), dtype=np.float64)

    def test_no_grads(self):
        func = lambda x, y: multiply(multiply(x, x), y.array)
        check_double_backward(
            func,
            (draw(3), draw(3)),
            draw(3),
            (draw(3), None),
            no_grads=[False, True],
            dtype=np.float64,
        )

    def test_wrong_number_of_gradients(self):
        with pytest.raises(ValueError, match="each of the 1 inputs that are checked, got 2"):
            check_double_backward(exp, draw(3), draw(3), (draw(3), draw(3)))

    def test_on_a_device(self):
        x, gy, ggx = chainer.get_device("@strict").send((draw(2), draw(2), draw(2)))
        check_double_backward(exp, x, gy, ggx, dtype=np.float64)


def test_variables_may_be_reused():
    x = var(1, 2)
    check_backward(exp, x.array, f32(1, 1), dtype=np.float64)
    assert x.grad is None

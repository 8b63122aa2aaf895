"""Backward computations, as programs written for releases 4 to 7 see them."""

import numpy as np
import pytest

import chainer
import chainer.functions as F


class Recorder(chainer.FunctionHook):
    name = "Recorder"

    def __init__(self):
        self.calls = []

    def forward_preprocess(self, function, in_data):
        self.calls.append(f"forward {function.label}")

    def backward_preprocess(self, function, in_data, out_grad):
        self.calls.append(f"backward {function.label}")

    def backward_postprocess(self, function, in_data, out_grad):
        self.calls.append(f"end {function.label}")


@pytest.mark.parametrize("by", ["backward", "grad", "double"])
def test_hooks_see_the_functions_of_a_backward_pass(by):
    """A hook is called for the functions that the computation of gradients applies itself."""
    x = chainer.Variable(np.ones(3, "f"))
    y = F.sum(x * x)
    with Recorder() as hook:
        if by == "grad":
            chainer.grad([y], [x])
        else:
            y.backward(enable_double_backprop=by == "double")
    assert hook.calls == [
        *("backward Sum", "forward BroadcastTo", "end Sum"),
        *("backward _ * _", "forward _ * _", "forward _ * _", "forward _ + _", "end _ * _"),
    ]


@pytest.mark.parametrize("by", ["backward", "grad"])
def test_timer_hook_counts_the_functions_of_a_backward_pass(by):
    """TimerHook has three entries for the backward pass of one multiplication."""
    a, b = (chainer.Variable(np.ones(3, "f")) for _ in range(2))
    y = a * b
    y.grad = np.ones(3, "f")
    with chainer.function_hooks.TimerHook() as hook:
        if by == "grad":
            chainer.grad([y], [a, b])
        else:
            y.backward()
    assert [name for name, _ in hook.call_history] == ["Mul"] * 3


@pytest.mark.parametrize("base", [chainer.Function, chainer.FunctionNode])
def test_function_without_gradients_in_debug_mode(base):
    """backward() through functions that return None passes, also in debug mode."""

    class NoGradient(base):
        def forward(self, inputs):
            return inputs

        def backward(self, *args):
            return (None,)

    x = chainer.Variable(np.ones((), "f"))
    y = NoGradient()(x) if base is chainer.Function else NoGradient().apply((x,))[0]
    with chainer.using_config("debug", True):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_root_of_one_element_warns(shape):
    """backward() from one element that is not 0-dimensional is deprecated, and begins with one."""
    x = chainer.Variable(np.ones(shape, "f"))
    y = x * 2
    with pytest.warns(DeprecationWarning, match="only one element"):
        y.backward()
    np.testing.assert_array_equal(x.grad, np.full(shape, 2))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x * 2, (3,)),
        (F.sum, ()),
        (lambda x: F.reshape(x, (3, 1)), (3, 1)),
        (lambda x: F.transpose(F.reshape(x, (3, 1))), (1, 3)),
    ],
)
def test_grad_takes_gradients_of_any_dtype(function, shape, dtype):
    """chainer.grad does not compare the dtype of grad_outputs with that of the outputs."""
    x = chainer.Variable(np.array([1, 2, 3], "f"))
    (gx,) = chainer.grad([function(x)], [x], [chainer.Variable(np.ones(shape, dtype))])
    assert gx.dtype == dtype


def test_grad_of_a_product_checks_dtypes():
    """Where a gradient multiplies the given one by a variable, the check of the product applies."""
    x = chainer.Variable(np.array([1, 2, 3], "f"))
    with pytest.raises(chainer.utils.type_check.InvalidType):
        chainer.grad([x * x], [x], [chainer.Variable(np.ones(3))])


class WithGradients(chainer.Function):
    def __init__(self, gradients):
        self.gradients = gradients

    @property
    def label(self):
        return "the label"

    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, inputs, grad_outputs):
        return self.gradients


def backward_through(gradients):
    x = chainer.Variable(np.ones(3, "f"))
    y = WithGradients(gradients)(x)
    y.grad = np.ones(3, "f")
    y.backward()
    return x.grad


def test_old_function_may_return_a_list_of_gradients():
    """The backward method of a Function may return a list."""
    np.testing.assert_array_equal(backward_through([np.full(3, 5, "f")]), [5, 5, 5])


def test_old_function_with_a_gradient_that_is_not_an_array():
    """A gradient that is not an array is a TypeError that names the function."""
    with pytest.raises(TypeError, match="the label"):
        backward_through([1.0])


@pytest.mark.parametrize(
    ("gradient", "error"),
    [(1.0, TypeError), (np.ones(3), TypeError), (np.ones(2, "f"), ValueError)],
)
@pytest.mark.parametrize("debug", [False, True])
def test_wrong_gradient_tells_where_the_function_was_applied(gradient, error, debug):
    """A wrong gradient shows the stack in debug mode, and asks to report the bug otherwise."""
    with chainer.using_config("debug", debug), pytest.raises(error) as info:
        backward_through((gradient,))
    assert ("Stacktrace" in str(info.value)) == debug
    assert ("test_gradients.py" in str(info.value)) == debug
    assert ("please report" in str(info.value)) != debug


@pytest.mark.parametrize(("x_dtype", "w_dtype"), ["ef", "ed", "fd"])
def test_simplified_dropconnect_of_two_dtypes_twice(x_dtype, w_dtype):
    """Gradients of gradients of simplified_dropconnect have the dtypes of their variables."""
    x = chainer.Variable(np.array([[1, 2, 3]], x_dtype))
    w = chainer.Variable(np.ones((2, 3), w_dtype))
    y = F.simplified_dropconnect(x, w, None, mask=np.ones((1, 2, 3), "?"))
    seed = chainer.Variable(np.ones(y.shape, y.dtype))
    gx, gw = chainer.grad([y], [x, w], [seed], enable_double_backprop=True)
    assert (gx.dtype, gw.dtype) == (x_dtype, w_dtype)
    (ggw,) = chainer.grad([F.sum(gx * gx)], [w])
    assert ggw.dtype == w_dtype
    np.testing.assert_array_equal(ggw.array, np.full((2, 3), 16))  # of (2 (w_1 + w_2))^2

"""Operators of Variable: labels, dtypes, constants, broadcasting, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable, gradient_check
from chainer.utils.type_check import InvalidType


def _variable(*shape: int, dtype: str = "f") -> Variable:
    size = int(np.prod(shape))
    return Variable((np.arange(size, dtype=dtype).reshape(shape) + 1) / 2)


ARRAY = np.ones((3, 4), "f")

# Class names and labels as releases 4.3.1 shows them.
LABELS = [
    (lambda x: x + x, "Add", "_ + _"),
    (lambda x: x + 1, "AddConstant", "_ + 1"),
    (lambda x: 1.5 + x, "AddConstant", "_ + 1.5"),
    (lambda x: x + np.float64(2), "AddConstant", "_ + 2.0"),
    (lambda x: np.float64(2) + x, "AddConstant", "_ + 2.0"),
    (lambda x: x + ARRAY, "AddConstant", "_ + constant array"),
    (lambda x: ARRAY + x, "AddConstant", "_ + constant array"),
    (lambda x: x - x, "Sub", "_ - _"),
    (lambda x: x - 1, "AddConstant", "_ + (-1)"),
    (lambda x: 1 - x, "SubFromConstant", "1 - _"),
    (lambda x: ARRAY - x, "SubFromConstant", "constant array - _"),
    (lambda x: x * x, "Mul", "_ * _"),
    (lambda x: 2 * x, "MulConstant", "_ * 2"),
    (lambda x: ARRAY * x, "MulConstant", "_ * constant array"),
    (lambda x: x / x, "Div", "_ / _"),
    (lambda x: x / 2, "MulConstant", "_ * 0.5"),
    (lambda x: 2 / x, "DivFromConstant", "2 / _"),
    (lambda x: ARRAY / x, "DivFromConstant", "constant array / _"),
    (lambda x: x**x, "PowVarVar", "_ ** _"),
    (lambda x: x**2, "PowVarConst", "_ ** 2"),
    (lambda x: x ** (-1), "PowVarConst", "_ ** (-1)"),
    (lambda x: 2**x, "PowConstVar", "2 ** _"),
    (lambda x: ARRAY**x, "PowConstVar", "constant array ** _"),
    (lambda x: -x, "Neg", "__neg__"),
    (abs, "Absolute", "|_|"),
    (lambda x: x @ x.T, "MatMulVarVar", "_ @ _"),
    (lambda x: F.matmul(x, x, transb=True), "MatMul", "MatMul"),
    (lambda x: F.add(x, x, x), "MultiAdd", "MultiAdd"),
]


@pytest.mark.parametrize(("operation", "name", "label"), LABELS, ids=[row[2] for row in LABELS])
def test_class_and_label(operation, name, label):
    node = operation(_variable(3, 4)).creator_node
    assert type(node).__name__ == name
    assert node.label == label


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "constant",
    [2, 2.5, True, np.float64(2), np.float32(2), np.int64(3), np.array(2.0), np.ones((2, 3))],
    ids=repr,
)
def test_constants_take_on_the_dtype(dtype, constant):
    x = Variable(np.ones((2, 3), dtype))
    for y in (
        x + constant,
        constant + x,
        x - constant,
        constant - x,
        x * constant,
        constant * x,
        x / constant,
        constant / x,
        x**constant,
        constant**x,
        x // constant,
        constant // x,
    ):
        assert isinstance(y, Variable)
        assert y.dtype == dtype
        assert y.shape == (2, 3)


def test_zero_dimensional_variables_stay_arrays():
    x = Variable(np.array(3.0, "f"))
    for y in (x + x, x + 1, -x, abs(x), x * 2, x / x, x**2, x**x, 2**x, x // 2):
        assert type(y.array) is np.ndarray
        assert y.array.shape == ()
        assert y.dtype == "f"


def test_integers_truncate_constants():
    # As release 4.3.1 does.
    x = Variable(np.arange(3))
    np.testing.assert_array_equal((x * 2.5).array, [0, 2, 4])
    np.testing.assert_array_equal((x + 1.5).array, [1, 2, 3])
    np.testing.assert_array_equal((1.5 - x).array, [1, 0, -1])
    unsigned = Variable(np.arange(3, dtype="u1"))
    np.testing.assert_array_equal((unsigned + 300).array, [44, 45, 46])
    np.testing.assert_array_equal((unsigned - 1).array, [255, 0, 1])
    assert (unsigned - 1).dtype == "u1"


def test_unsigned_constants_are_subtracted():
    x = Variable(np.array([1.0, 5.0], "f"))
    np.testing.assert_array_equal((x - np.uint8(3)).array, [-2, 2])
    np.testing.assert_array_equal((x - np.array([1, 2], "u1")).array, [0, 3])
    np.testing.assert_array_equal((x - np.bool_(True)).array, [0, 4])


def test_floor_division_has_no_gradient():
    x = Variable(np.array([1.5, -1.5], "f"))
    y = x // Variable(np.array([0.4, 0.4], "f"))
    np.testing.assert_array_equal(y.array, [3, -4])
    assert y.creator is None
    assert not y.requires_grad
    np.testing.assert_array_equal((Variable(np.arange(5)) // 2).array, [0, 0, 1, 1, 2])
    np.testing.assert_array_equal((np.array([7, 8]) // Variable(np.array([2, 3]))).array, [3, 2])


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: x * y,
        lambda x, y: x / y,
        lambda x, y: x**y,
    ],
    ids=["+", "-", "*", "/", "**"],
)
def test_gradients_of_broadcast_operands_and_constants_agree(operation):
    x, y = _variable(2, 1, 4), _variable(3, 1)
    gy = np.linspace(-1, 1, 24, dtype="f").reshape(2, 3, 4)
    z = operation(x, y)
    z.grad = gy
    z.backward()
    alone = Variable(x.array)
    z = operation(alone, y.array)  # an array is a constant
    assert sum(node.requires_grad for node in z.creator_node.inputs) == 1
    z.grad = gy
    z.backward()
    np.testing.assert_allclose(alone.grad, x.grad, rtol=1e-6)
    alone = Variable(y.array)
    z = operation(x.array, alone)
    z.grad = gy
    z.backward()
    np.testing.assert_allclose(alone.grad, y.grad, rtol=1e-6)


def test_power_of_zero_has_a_finite_gradient():
    for exponent, expected in ((0, [0, 0]), (1, [1, 1]), (2, [0, 4]), (0.0, [0, 0])):
        x = Variable(np.array([0.0, 2.0], "f"))
        F.sum(x**exponent).backward()
        np.testing.assert_array_equal(x.grad, expected)
    x = Variable(np.array([0.0, 0.0, 2.0], "f"))
    F.sum(x ** np.array([0.0, 1.0, 3.0])).backward()
    np.testing.assert_array_equal(x.grad, [0, 1, 12])


def test_power_of_booleans_has_a_gradient():
    x = Variable(np.array([2.0, 3.0], "f"))
    y = x ** np.array([True, False])
    np.testing.assert_array_equal(y.array, [2, 1])
    (gx,) = chainer.grad([F.sum(y * y)], [x], enable_double_backprop=True)
    np.testing.assert_array_equal(gx.array, [4, 0])
    (ggx,) = chainer.grad([F.sum(gx)], [x])
    np.testing.assert_array_equal(ggx.array, [2, 0])
    assert gx.dtype == ggx.dtype == np.float32


def test_third_derivative_of_a_power():
    x = Variable(np.array([1.0, 2.0]))
    y = x**3
    for expected in ([3.0, 12.0], [6.0, 12.0], [6.0, 6.0]):
        (y,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
        np.testing.assert_allclose(y.array, expected)


@pytest.mark.parametrize(
    "operand", [[1, 2], None, "1", {}, object()], ids=lambda value: type(value).__name__
)
def test_refuses_other_operands(operand):
    x = _variable(2)
    for operation in (
        lambda: x + operand,
        lambda: operand + x,
        lambda: x - operand,
        lambda: x * operand,
        lambda: operand / x,
        lambda: x**operand,
        lambda: x // operand,
        lambda: x @ operand,
    ):
        # ValueError in release 4, TypeError later.
        with pytest.raises((TypeError, ValueError), match=r"(?s)Value must be a scalar.*Actual"):
            operation()
    with pytest.raises(ValueError, match="Value must be a scalar"):
        x + operand
    with pytest.raises(TypeError, match="Value must be a scalar"):
        x + operand


def test_refuses_other_dtypes_and_shapes():
    x = _variable(2, 3)
    with pytest.raises(InvalidType) as info:
        x * Variable(np.ones((2, 3)))
    assert info.value.expect == "lhs.dtype == rhs.dtype"
    assert info.value.actual == "float32 != float64"
    assert "Invalid operation is performed in: _ * _ (Forward)" in str(info.value)
    with pytest.raises(InvalidType) as info:
        x + _variable(2)
    assert str(info.value).endswith(
        "cannot broadcast inputs of the following shapes:\nlhs.shape = (2, 3)\nrhs.shape = (2,)"
    )
    with pytest.raises(InvalidType, match="kind == f"):
        Variable(np.arange(3)) / Variable(np.arange(3))
    with pytest.raises(InvalidType, match="kind == f"):
        Variable(np.arange(3)) / 2
    with pytest.raises(InvalidType, match="kind == f"):
        Variable(np.arange(3)) ** 2
    with pytest.raises(ValueError, match="broadcast"):
        x + np.ones(5, "f")


def test_add_takes_any_number_of_operands():
    x = np.ones(3, "f")
    np.testing.assert_array_equal(F.add(x).array, [1, 1, 1])
    np.testing.assert_array_equal(F.add(x, x, x, x).array, [4, 4, 4])
    np.testing.assert_array_equal(x, [1, 1, 1])
    assert type(F.add(x, 1).creator_node).__name__ == "AddConstant"
    with pytest.raises(TypeError, match="at least one operand"):
        F.add()
    with pytest.raises(TypeError, match="int"):
        F.add(x, 1, x)


def test_sum_builtin():
    x = _variable(2)
    np.testing.assert_array_equal(sum([x, x, x]).array, 3 * x.array)


def test_sums_keep_no_operand_alive():
    u, v = _variable(2), _variable(2)
    w = u + v
    assert [node.data for node in w.creator_node.inputs] == [None, None]
    w = u * v
    assert w.creator_node.inputs[0].data is u.array


def test_quotient_by_an_array_whose_inverse_overflows():
    x = np.array([1e-6, 3], np.float16)
    np.testing.assert_array_equal((Variable(x) / x).array, [1, 1])


@pytest.mark.parametrize("shape", [(1, 6, 4), (5, 1, 4), (5, 6, 1), (4,), (1, 1, 1)])
def test_gradient_of_a_broadcast_difference_is_one_node(shape):
    rng = np.random.RandomState(0)
    x0, x1 = Variable(rng.randn(5, 6, 4)), Variable(rng.randn(*shape))
    gy = Variable(rng.randn(5, 6, 4))
    _, gx1 = chainer.grad([x0 - x1], [x0, x1], [gy], enable_double_backprop=True)
    node = gx1.creator_node
    if node.label == "Reshape":  # there is none where the shape has all axes
        (node,) = [x.creator_node for x in node.inputs]
    assert node.label == "SumTo"
    assert node.inputs[0] is gy.node
    np.testing.assert_array_equal(gx1.array, F.sum_to(-gy, shape).array)
    gradient_check.check_double_backward(
        lambda x0, x1: x0 - x1, (x0.array, x1.array), gy.array, (x0.array, x1.array), dtype="d"
    )


def test_function_hooks_see_the_negation_of_a_subtrahend():
    seen = []

    class Hook(chainer.FunctionHook):
        def forward_preprocess(self, function, in_data):
            seen.append(function.label)

    x0, x1 = _variable(3, 4), _variable(4)
    y = x0 - x1
    y.grad = np.ones((3, 4), "f")
    with Hook():
        y.backward(enable_double_backprop=True)
    assert seen == ["__neg__", "SumTo"]


@pytest.mark.parametrize("dtype", "efd")
@pytest.mark.parametrize(
    ("shape", "constant"),
    [
        ((40, 16), (40, 1)),
        ((24, 24, 3), (24, 24, 1)),
        ((40, 25), (40, 1)),
        ((40, 16), (1, 1)),
        ((40, 16), (1, 16)),
        ((4, 2), (4, 1)),
    ],
)
def test_constants_with_a_number_for_each_row(shape, constant, dtype):
    rng = np.random.RandomState(0)
    x, c = Variable(rng.randn(*shape).astype(dtype)), rng.randn(*constant).astype(dtype)
    gy = rng.randn(*shape).astype(dtype)
    for y, expected, slope in (
        (x * c, x.array * c, c),
        (x + c, x.array + c, np.ones((), dtype)),
        (c - x, c - x.array, -np.ones((), dtype)),
    ):
        assert y.dtype == dtype
        np.testing.assert_array_equal(y.array, expected)
        y.grad = gy
        x.cleargrad()
        y.backward()
        np.testing.assert_array_equal(x.grad, gy * slope)


def test_a_constant_is_not_changed_by_its_repetition():
    x, c = _variable(40, 16), np.ones((40, 1), "f")
    y = x * c
    c[...] = 3  # the program's own array: products that were computed stay as they are
    np.testing.assert_array_equal(y.array, x.array)
    assert c.shape == (40, 1)

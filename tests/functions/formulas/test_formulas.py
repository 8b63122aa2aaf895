"""Gradients of elementwise functions as formulas: values, nodes, and what is not a formula."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core.autograd import apply as application
from chainer.functions.rules import KernelFunction, UnaryFunction
from chainer.functions.rules.formulas import tracing
from chainer.functions.rules.formulas.nodes import FirstGradient, FormulaNode
from chainer.functions.rules.formulas.programs import Program
from chainer.functions.rules.formulas.symbols import Pool, SymbolFunctions, UntraceableError

POINTS = np.linspace(0.1, 0.9, 5)


def derivative(y, x):
    return chainer.grad([y], [x], enable_double_backprop=True)[0]


def derivatives(function, order, points=POINTS):
    x = chainer.Variable(points)
    y = function(x)
    found = [y]
    for _ in range(order):
        y = derivative(y, x)
        found.append(y)
    return found


class Cubed(UnaryFunction):
    """A function of a user, with an attribute in its formula."""

    retained_inputs = (0,)

    def __init__(self, factor=1.0):
        self.factor = factor

    def forward(self, inputs):
        return (self.factor * inputs[0] ** 3,)

    def gradient(self, ops, x, gy):
        return 3 * self.factor * (x * x) * gy


class Choice(UnaryFunction):
    retained_inputs = (0,)

    def forward(self, inputs):
        x = inputs[0]
        return (self.xp.where(x > 0.5, x**3, x * x),)

    def gradient(self, ops, x, gy):
        return ops.where(x > 0.5, 3 * x * x, 2 * x) * gy


THIRD = {
    "sqrt": (F.sqrt, lambda x: 3 / 8 * x**-2.5),
    "sin": (F.sin, lambda x: -np.cos(x)),
    "power": (lambda x: x**4, lambda x: 24 * x),
    "reciprocal": (lambda x: 1 / x, lambda x: -6 * x**-4.0),
    "quotient": (lambda x: x / (1 + x), lambda x: 6 * (1 + x) ** -4.0),
    "log2": (F.log2, lambda x: 2 * x**-3.0 / np.log(2)),
    "erf": (F.erf, lambda x: 2 / np.sqrt(np.pi) * (4 * x * x - 2) * np.exp(-x * x)),
    "arctanh": (F.arctanh, lambda x: (6 * x * x + 2) / (1 - x * x) ** 3),
    "sigmoid": (F.sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x)) * _polynomial(_sigmoid(x))),
    "of a user": (lambda x: Cubed(2.0).apply((x,))[0], lambda x: 0 * x + 12),
    "choice": (lambda x: Choice().apply((x,))[0], lambda x: np.where(x > 0.5, 6.0, 0.0)),
}


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _polynomial(s):
    return 1 - 6 * s + 6 * s * s


@pytest.mark.parametrize("name", THIRD)
def test_third_derivatives_have_the_values_of_a_formula(name):
    function, expected = THIRD[name]
    np.testing.assert_allclose(derivatives(function, 3)[3].array, expected(POINTS), rtol=1e-9)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)])
def test_orders_of_tanh_for_any_shape(shape):
    points = np.full(shape, 0.3)
    t = np.tanh(points)
    expected = [t, 1 - t**2, -2 * t * (1 - t**2), (1 - t**2) * (6 * t**2 - 2)]
    for found, value in zip(derivatives(F.tanh, 3, points), expected, strict=True):
        assert found.shape == shape
        np.testing.assert_allclose(found.array, value, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_keep_the_dtype(dtype):
    for found in derivatives(F.tanh, 3, POINTS.astype(dtype)):
        assert found.dtype == dtype


def test_non_contiguous_inputs_are_not_changed():
    points = np.linspace(0.1, 0.9, 12).reshape(3, 4)
    before = points.copy()
    strided = derivatives(lambda x: F.sqrt(x) * F.tanh(x), 3, points.T[::2])
    plain = derivatives(lambda x: F.sqrt(x) * F.tanh(x), 3, points.T[::2].copy())
    np.testing.assert_array_equal(points, before)
    for a, b in zip(strided, plain, strict=True):
        np.testing.assert_allclose(a.array, b.array, rtol=1e-14)


def _count_nodes(monkeypatch, function):
    count = 0
    original = application.apply

    def counting(self, inputs):
        nonlocal count
        count += 1
        return original(self, inputs)

    monkeypatch.setattr(chainer.FunctionNode, "apply", counting)
    function()
    monkeypatch.undo()
    return count


def _perceptron(x, parameters):
    for W, b in parameters[:-1]:
        x = F.tanh(F.linear(x, W, b))
    return F.linear(x, *parameters[-1])


# The nodes that a derivative of each order and its backward pass may apply, for a perceptron
# with two layers of tanh. Without formulas it was 34, 115, 369 and 1165.
@pytest.mark.parametrize(("order", "limit"), [(1, 12), (2, 21), (3, 38), (4, 75)])
def test_number_of_nodes(monkeypatch, order, limit):
    sizes = [(8, 1), (8, 8), (1, 8)]
    parameters = [(chainer.Parameter(0.5, size), chainer.Parameter(0, size[0])) for size in sizes]

    def step():
        x = chainer.Variable(np.linspace(-1, 1, 5, dtype=np.float32)[:, None])
        u = _perceptron(x, parameters)
        for _ in range(order):
            u = derivative(u, x)
        F.mean(u * u).backward()

    step()
    assert _count_nodes(monkeypatch, step) <= limit


def test_an_input_that_is_used_twice_and_a_chain_through_the_output():
    x = chainer.Variable(POINTS)
    t = F.tanh(x)
    g = derivative(t * x, x)
    found = derivative(F.sum(g * F.exp(t)), x)
    y = np.tanh(POINTS)
    dy = 1 - y * y
    value = y + POINTS * dy
    slope = 2 * dy + POINTS * (-2 * y * dy)
    np.testing.assert_allclose(found.array, (slope + value * dy) * np.exp(y), rtol=1e-12)


def test_gradient_with_respect_to_an_output_that_is_a_function_of_the_input():
    # A partial derivative: tanh retains its output, which depends on the input.
    x = chainer.Variable(POINTS)
    y = F.tanh(x)
    gx = derivative(y, x)
    partial = chainer.grad([gx], [y], enable_double_backprop=True)[0]
    np.testing.assert_allclose(partial.array, -2 * np.tanh(POINTS), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_values_at_zero_and_infinity_are_as_on_arrays(order):
    points = np.array([0.0, np.inf, -np.inf, np.nan, 1.0])
    with np.errstate(all="ignore"):
        power = derivatives(lambda x: x**0, order, points)[order].array
        line = derivatives(lambda x: x**1, order, points)[order].array
        root = derivatives(F.sqrt, order, points)[order].array
    np.testing.assert_array_equal(power[[0, 4]], [0, 0])
    np.testing.assert_array_equal(line[[0, 4]], [1, 1] if order == 1 else [0, 0])
    assert np.isinf(root[0])
    assert np.isnan(root[3])


def test_a_choice_hides_infinite_gradients():
    x = chainer.Variable(np.array([0.0, 1.0]))
    with np.errstate(all="ignore"):
        y = F.where(x.array > 0.5, F.sqrt(x), x)
        second = derivative(derivative(y, x), x)
    np.testing.assert_allclose(second.array[1], -0.25)


def test_first_gradients_have_the_bits_of_array_code():
    x = chainer.Variable(np.linspace(-3, 3, 1000, dtype=np.float32))
    for function in (F.tanh, F.sigmoid, F.softplus, F.erf, lambda x: x**3, lambda x: 1 / x):
        recorded = derivative(function(x), x)
        plain = chainer.grad([function(x)], [x])[0]
        assert isinstance(recorded.creator_node, FirstGradient)
        np.testing.assert_array_equal(recorded.array, plain.array)


def test_attributes_are_part_of_the_formula():
    for factor in (1.0, 2.0, 5):
        second = derivatives(lambda x, f=factor: Cubed(f).apply((x,))[0], 2)[2]
        np.testing.assert_allclose(second.array, 6 * factor * POINTS)
    for beta in (1.0, 3.0):
        second = derivatives(lambda x, b=beta: F.softplus(x, beta=b), 2)[2].array
        s = _sigmoid(beta * POINTS)
        np.testing.assert_allclose(second, beta * s * (1 - s))


def test_a_subclass_has_a_formula_of_its_own():
    class Quartic(Cubed):
        def forward(self, inputs):
            return (self.factor * inputs[0] ** 4,)

        def gradient(self, ops, x, gy):
            return 4 * self.factor * (x * x * x) * gy

    derivatives(lambda x: Cubed().apply((x,))[0], 2)
    second = derivatives(lambda x: Quartic().apply((x,))[0], 2)[2]
    np.testing.assert_allclose(second.array, 12 * POINTS**2)


def test_a_property_and_super_are_followed_to_the_attributes():
    class Doubled(Cubed):
        @property
        def doubled(self):
            return 2 * self.factor

        def forward(self, inputs):
            return (2 * super().forward(inputs)[0],)

        def gradient(self, ops, x, gy):
            return super().gradient(ops, x, gy) / self.factor * self.doubled

    for factor in (1.0, 3.0):
        second = derivatives(lambda x, f=factor: Doubled(f).apply((x,))[0], 2)[2]
        np.testing.assert_allclose(second.array, 12 * factor * POINTS)


def test_the_number_of_programs_is_bounded(monkeypatch):
    monkeypatch.setattr(tracing, "LIMIT", 3)

    class Scaled(Cubed):
        pass

    for factor in np.linspace(1, 2, 10):
        second = derivatives(lambda x, f=factor: Scaled(float(f)).apply((x,))[0], 2)[2]
        np.testing.assert_allclose(second.array, 6 * factor * POINTS)
    assert len(Scaled._formulas._programs) == 3


def test_programs_are_gone_with_their_class():
    def use():
        class Temporary(Cubed):
            pass

        derivatives(lambda x: Temporary().apply((x,))[0], 3)
        return weakref.ref(Temporary)

    reference = use()
    gc.collect()
    assert reference() is None


def test_rules_that_are_not_formulas_are_evaluated_as_before():
    class Branching(Cubed):
        def gradient(self, ops, x, gy):
            values = x.array if isinstance(x, chainer.Variable) else x
            return 3 * x * x * gy if (values > 0).all() else -gy

    second = derivatives(lambda x: Branching().apply((x,))[0], 2)[2]
    np.testing.assert_allclose(second.array, 6 * POINTS)
    assert not isinstance(second.creator_node, FormulaNode)


def test_shapes_that_differ_are_not_a_formula():
    a, b = chainer.Variable(POINTS), chainer.Variable(POINTS[:, None])
    g = derivative(F.sum(a / b), b)
    gg = derivative(F.sum(g), a)
    np.testing.assert_allclose(gg.array, [-np.sum(POINTS**-2.0)] * 5)


def test_errors_of_a_wrong_rule_stay():
    class Wrong(Cubed):
        def gradient(self, ops, x, gy, more):
            return gy

    with pytest.raises(TypeError) as caught:
        derivatives(lambda x: Wrong().apply((x,))[0], 1)
    assert "Wrong.gradient() gets ops, 1 retained inputs" in "".join(caught.value.__notes__)

    class NotAVariable(Cubed):
        def gradient(self, ops, x, gy):
            return 3.0

    with pytest.raises((TypeError, AttributeError)):
        derivatives(lambda x: NotAVariable().apply((x,))[0], 1)


def test_a_gradient_of_another_dtype_is_refused_by_the_function():
    x = chainer.Variable(POINTS)
    y = derivative(F.tanh(x), x)
    other = chainer.Variable(np.ones(5, np.float32))
    with pytest.raises(chainer.utils.type_check.InvalidType):
        chainer.grad([y], [x], [other], enable_double_backprop=True)


def test_labels_of_gradient_nodes():
    x = chainer.Variable(POINTS)
    y = F.tanh(x)
    first = derivative(y, x)
    second = derivative(first, y)
    assert first.creator_node.label == "TanhGrad"
    assert second.creator_node.label == "TanhGradGrad"


def test_hooks_see_the_operators_of_a_rule_and_the_gradients_of_kernels():
    class Names(chainer.FunctionHook):
        def __init__(self):
            self.names = []

        def forward_preprocess(self, function, in_data):
            self.names.append(function.label)

    x = chainer.Variable(POINTS)
    y, z = F.sqrt(x), F.tanh(x)
    with Names() as hook:
        derivative(y, x)
        derivative(z, x)
    assert hook.names == ["_ + _", "_ / _", "TanhGrad"]


def test_debug_mode_finds_nan_in_a_formula():
    class Undefined(Cubed):
        def gradient(self, ops, x, gy):
            return ops.sqrt(x - 1) * gy

    x = chainer.Variable(POINTS)
    y = Undefined().apply((x,))[0]
    found = pytest.raises(RuntimeError, match="NaN is detected on .* UndefinedGrad")
    with chainer.using_config("debug", True), np.errstate(all="ignore"), found:
        derivative(y, x)


def test_only_what_gradients_read_is_retained():
    pool = Pool(np.dtype("f"), (2,))
    x, y, gy = (pool.input(i) for i in range(3))
    program = Program(pool, [x, y, gy], [gy * (1 - y * y)])
    assert program.reads == (1, 2)
    node = FormulaNode(program, "test")
    arrays = [chainer.Variable(np.ones(2, "f")) for _ in range(3)]
    node.apply(arrays)
    assert [a.node.data is not None for a in arrays] == [False, True, True]


# -- expressions ----------------------------------------------------------------------------------


def _pool(count=3):
    pool = Pool(np.dtype("d"), (4,))
    return pool, [pool.input(i) for i in range(count)]


def test_equal_expressions_are_one_object():
    _, (x, y, _) = _pool()
    assert (x * y + 1) is (1 + y * x)
    assert (x * 2) * 3 is x * 6
    assert (-x) * y is -(x * y)
    assert x + -y is x - y
    assert (-x).__neg__() is x
    assert x**2 is x * x
    assert 1 * x is x
    assert x * 1.0 is x
    # Equal numbers, but other roundings or other signs.
    assert (x + 0.0) is not (x + -0.0)


def test_sums_of_equal_expressions_are_products_with_a_number():
    pool = Pool(np.dtype("d"), (4,))
    x, y = pool.input(0), pool.input(1)
    product = x * y
    assert product + product is 2 * product
    assert -product - product is -2 * product
    assert 3 * (product + product) is 6 * product
    assert -product - x is not -2 * x
    # Infinity minus infinity is not a number, so a difference stays.
    program = Program(pool, [x, y], [product + product, -product - product, x - x])
    values = np.array([1.0, -2.0, 0.0, np.inf]), np.array([3.0, 0.5, 7.0, 1.0])
    with np.errstate(invalid="ignore"):
        double, negative, zero = program.run(np, values)
    np.testing.assert_array_equal(double, 2 * values[0] * values[1])
    np.testing.assert_array_equal(negative, -2 * values[0] * values[1])
    np.testing.assert_array_equal(zero, [0, 0, 0, np.nan])


def test_programs_compute_what_operators_compute():
    pool, (x, y, z) = _pool()
    ops = SymbolFunctions(pool)
    results = [x * y - z / x, -(x**3) * 2 + ops.exp(-y), ops.where(x > y, x, 0.5), 2 / (1 + z)]
    program = Program(pool, [x, y, z], results)
    a, b, c = np.random.RandomState(0).rand(3, 4)
    expected = [a * b - c / a, -(a**3) * 2 + np.exp(-b), np.where(a > b, a, 0.5), 2 / (1 + c)]
    for arrays in [(a, b, c), (a[0], b[0], c[0])]:
        found = program.run(np, tuple(map(np.asarray, arrays)))
        for one, value in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, value if np.ndim(one) else value[0], rtol=1e-15)


@pytest.mark.parametrize("has_zeros", [True, False])
def test_a_gradient_that_does_not_depend_on_an_input(has_zeros):
    pool = Pool(np.dtype("d"), (4,), has_zeros)
    x, y, g = (pool.input(i) for i in range(3))
    program = Program(pool, [x, y, g], [3 * x * g])
    adjoint = program.adjoint((1, 0), (0,))
    arguments = tuple([np.full(4, 2.0) for _ in (*adjoint.inputs, *adjoint.outputs)])
    gy, gx = adjoint.in_place(adjoint.program.run(np, arguments))
    np.testing.assert_array_equal(gx, np.full(4, 12.0))
    if has_zeros:
        np.testing.assert_array_equal(gy, np.zeros(4))
    else:
        assert gy is None
        assert program.adjoint((1,), (0,)).program is None


def test_a_gradient_of_signs_is_not_connected_to_them():
    # As in release 7: the sign of an input has no gradient.
    a, b = chainer.Variable(POINTS), chainer.Variable(POINTS[::-1].copy())
    (g,) = chainer.grad(
        [F.absolute_error(a, b)],
        [a],
        [chainer.Variable(POINTS)],
        None,
        False,
        enable_double_backprop=True,
    )
    with pytest.warns(UserWarning, match="all gradients are None"):
        assert chainer.grad([g], [a]) == [None]


@pytest.mark.parametrize(
    "rule",
    [
        lambda ops, x: ops.sum(x),
        lambda ops, x: ops.cast(x, "f4"),
        lambda ops, x: ops.sum_to(x, (1,)),
        lambda ops, x: x * np.ones(4),
        lambda ops, x: x**x,
        lambda ops, x: x if x > 0 else -x,
        lambda ops, x: ops.where(np.array(True), x, x),
        lambda ops, x: x + 1j,
    ],
)
def test_what_is_not_a_formula_is_refused(rule):
    pool, (x, *_) = _pool()
    with pytest.raises(UntraceableError):
        rule(SymbolFunctions(pool), x)


def test_kernel_functions_of_users_are_formulas():
    class Cosine(KernelFunction):
        retained_inputs = (0,)

        def forward(self, inputs):
            return (np.cos(inputs[0]),)

        def backward_arrays(self, target_input_indexes, grad_outputs):
            return (-np.sin(self.retained_input_arrays[0]) * grad_outputs[0],)

        def gradients(self, ops, targets, x, gy):
            return (-ops.sin(x) * gy,)

    found = derivatives(lambda x: Cosine().apply((x,))[0], 3)
    np.testing.assert_allclose(found[3].array, np.sin(POINTS), rtol=1e-12)
    assert isinstance(found[2].creator_node, FormulaNode)


def test_inputs_that_are_not_retained_may_be_broadcast():
    # A quotient retains its divisor and its output only: the shape of the dividend differs.
    for shape in [(5,), (1,), (2, 1)]:
        a, b = chainer.Variable(np.full(shape, 2.0)), chainer.Variable(np.full((2, 5), 3.0))
        gb = derivative(F.sum(a / b), b)
        ga = derivative(F.sum(gb * gb), a)
        assert ga.shape == shape
        count = 10 / a.size
        np.testing.assert_allclose(ga.array, np.full(shape, 2 * 2.0 / 81 * count))
        ga = derivative(F.sum(a / b), a)
        np.testing.assert_allclose(derivative(F.sum(ga), b).array, np.full((2, 5), -1 / 9))


def test_what_is_traced_first_does_not_decide_about_other_targets():
    x, y = chainer.Variable(POINTS), chainer.Variable(POINTS[::-1].copy())
    assert not isinstance(derivative(x / y, x).creator_node, FormulaNode)  # one operator
    both = chainer.grad([x / y], [x, y], enable_double_backprop=True)
    assert isinstance(both[1].creator_node, FormulaNode)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), -1])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("function", [F.sum, F.mean])
def test_gradients_of_sums_are_one_node(function, axis, keepdims):
    x = chainer.Variable(np.random.RandomState(0).rand(2, 3, 4))
    y = function(x, axis=axis, keepdims=keepdims)
    seed = chainer.Variable(np.asarray(np.random.RandomState(1).rand(*y.shape)))
    (gx,) = chainer.grad([y], [x], [seed], enable_double_backprop=True)
    assert gx.creator_node.label == "SumGrad"
    direction = np.random.RandomState(2).rand(2, 3, 4)
    (back,) = chainer.grad([gx], [seed], [chainer.Variable(direction)], enable_double_backprop=True)
    np.testing.assert_allclose(back.array, function(direction, axis=axis, keepdims=keepdims).array)

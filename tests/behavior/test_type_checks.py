"""Type checks of functions, as programs written for releases 4 to 7 use them."""

import numpy as np
import pytest

import chainer
from chainer.utils import type_check


def function_with(check, old_style=False):
    """Returns a function that doubles its input, with a ``check_type_forward``."""

    class New(chainer.FunctionNode):
        check_type_forward = check

        def forward(self, inputs):
            return (inputs[0] * 2,)

    class Old(chainer.Function):
        check_type_forward = check

        def forward(self, inputs):
            return (inputs[0] * 2,)

    return Old() if old_style else New()


def run(function, *arrays):
    return function(*arrays) if isinstance(function, chainer.Function) else function.apply(arrays)


@pytest.mark.parametrize("old_style", [False, True])
def test_check_sees_plain_values(old_style):
    """A check may branch on shapes and dtypes, which are plain values when it runs first."""
    seen = []

    def check(self, in_types):
        assert in_types[0].shape == (2, 3)
        if in_types[0].ndim == 2 and in_types[0].dtype.kind == "f":
            seen.append((type(in_types), len(in_types), in_types.size(), int(in_types[1].size)))
        type_check.expect(in_types[0].ndim == 2, in_types[1].dtype == np.int32)
        seen.append(type_check.eval(in_types[0].dtype))

    run(function_with(check, old_style), np.ones((2, 3), "f"), np.ones(4, "i"))
    assert seen == [(type_check.LightTypeInfoTuple, 2, 2, 4), np.float32]


@pytest.mark.parametrize("old_style", [False, True])
def test_check_that_fails_runs_again_for_the_message(old_style):
    """Only a check that raises InvalidType runs a second time, with expressions."""
    kinds = []

    def check(self, in_types):
        kinds.append(type(in_types))
        type_check.expect(in_types.size() == 1, in_types[0].ndim == 3)

    with pytest.raises(type_check.InvalidType) as error:
        run(function_with(check, old_style), np.ones((2, 3), "f"))
    assert kinds == [type_check.LightTypeInfoTuple, type_check.TypeInfoTuple]
    assert str(error.value).endswith("Expect: in_types[0].ndim == 3\nActual: 2 != 3")


def test_failing_check_on_plain_values_is_an_invalid_type():
    """A check that works on plain values only raises InvalidType, without the text of a rule."""

    def check(self, in_types):
        if in_types[0].ndim == 2:
            type_check.expect(in_types[0].shape[0] == 7)

    with pytest.raises(type_check.InvalidType, match=r"float32\(2, 3\)"):
        run(function_with(check), np.ones((2, 3), "f"))


def test_named_values_are_plain_in_the_first_run():
    """make_variable and prod give plain values during the first run of a check."""
    seen = []

    def check(self, in_types):
        n = type_check.make_variable(3, "n")
        seen.append((n, type_check.prod(in_types[0].shape), type_check.same_types(*in_types)))
        if n == in_types[0].shape[1]:
            seen.append("branch")

    run(function_with(check), np.ones((2, 3), "f"))
    assert seen == [(3, 6, True), "branch"]


def test_light_types():
    """get_light_types describes a tuple of arrays by plain values."""
    types = type_check.get_light_types((np.ones((2, 3), "f"), np.float32(1)))
    assert isinstance(types, tuple)
    assert type(types) is type_check.LightTypeInfoTuple
    assert (types[0].shape, types[0].ndim, types[0].size) == ((2, 3), 2, 6)
    assert types[1].shape == ()
    assert types[0].dtype == np.float32
    assert types.size() == 2


def test_mode_is_left_when_a_check_raises():
    """After a failed check, and inside a nested one, expressions work as outside."""

    def inner(self, in_types):
        type_check.expect(in_types[0].ndim == 9)

    modes = []

    def outer(self, in_types):
        with pytest.raises(type_check.InvalidType):
            run(function_with(inner), np.ones(2, "f"))
        modes.append(type_check.in_light_mode())

    run(function_with(outer), np.ones(2, "f"))
    assert modes == [True]
    assert not type_check.in_light_mode()
    assert isinstance(type_check.make_variable(1, "n"), type_check.Expr)


@pytest.mark.parametrize("base", [chainer.FunctionNode, chainer.Function])
def test_check_set_on_an_instance(base):
    """A check_type_forward that is set on one instance is called once per application."""

    class Double(base):
        def forward(self, inputs):
            return (inputs[0] * 2,)

    function = Double()
    calls = []
    function.check_type_forward = calls.append
    run(function, np.ones(3, "f"))
    assert [type(types) for types in calls] == [type_check.LightTypeInfoTuple]


def test_no_check_without_type_check():
    """With config.type_check off no check runs."""
    calls = []
    with chainer.using_config("type_check", False):
        run(function_with(lambda self, in_types: calls.append(in_types)), np.ones(3, "f"))
    assert not calls


X, Y = type_check.Variable(8, "x"), type_check.Variable(2, "y")


@pytest.mark.parametrize(
    ("expression", "text", "value"),
    [
        (X + Y * X, "x + y * x", 24),
        ((X + Y) * X, "(x + y) * x", 80),
        (-X, "-x", -8),
        (~X + Y, "~x + y", -7),
        (~(X + Y), "~(x + y)", -11),
        (X << Y, "x << y", 32),
        (X >> Y, "x >> y", 2),
        (X << (Y + X), "x << y + x", 8192),
        ((X << Y) + X, "(x << y) + x", 40),
        (X & Y, "x & y", 0),
        (X | Y, "x | y", 10),
        (X ^ Y, "x ^ y", 10),
        ((X & Y) | X, "x & y | x", 8),
        ((X | Y) & X, "(x | y) & x", 8),
        ((X | Y) ^ X, "(x | y) ^ x", 2),
        (3 << X, "3 << x", 768),
        (3 & X, "3 & x", 0),
        (3 | X, "3 | x", 11),
        (3 ^ X, "3 ^ x", 11),
        (3 >> X, "3 >> x", 0),
        (X**Y, "x ** y", 64),
        (X // Y % Y, "x // y % y", 0),
    ],
)
def test_operators_of_expressions(expression, text, value):
    """Expressions have all operators of integers; brackets appear where precedence demands them."""
    assert str(expression) == text
    assert expression.eval() == value


@pytest.mark.parametrize("describe", [lambda data: type_check.get_types(data, "x", False)])
@pytest.mark.parametrize("data", [1, None, "array"])
def test_data_that_is_not_a_tuple(describe, data):
    """get_types and get_light_types assert that they get a tuple."""
    with pytest.raises(AssertionError):
        describe(data)
    with pytest.raises(AssertionError):
        type_check.get_light_types(data)

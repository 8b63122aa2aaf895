"""The language of type checks; the texts are those of the guide *Type Checks*."""

import pickle

import numpy as np
import pytest

from chainer.core.config.configuration import using_config
from chainer.core.utils import type_check
from chainer.core.utils.type_check import Expr, InvalidType, TypeInfo, Variable, expect


def types(*shapes, dtype=np.float32):
    return type_check.get_types([np.zeros(shape, dtype) for shape in shapes], "in_types")


def message(*expressions):
    with pytest.raises(InvalidType) as error:
        expect(*expressions)
    return str(error.value)


class TestGuide:
    def test_dimensions(self):
        (x_type,) = types((1, 2, 3))
        assert message(x_type.ndim == 2) == "Expect: in_types[0].ndim == 2\nActual: 3 != 2"

    def test_dtype(self):
        (x_type,) = types((1,))
        assert message(x_type.dtype == np.float64) == (
            "Expect: in_types[0].dtype == <class 'numpy.float64'>\n"
            "Actual: float32 != <class 'numpy.float64'>"
        )

    def test_positive_length_and_kind(self):
        (x_type,) = types((0,), dtype=np.int32)
        assert message(x_type.shape[0] > 0) == "Expect: in_types[0].shape[0] > 0\nActual: 0 <= 0"
        assert message(x_type.dtype.kind == "f") == (
            "Expect: in_types[0].dtype.kind == f\nActual: i != f"
        )

    def test_two_variables(self):
        x_type, y_type = types((3,), (1,))
        assert message(x_type.shape[0] == y_type.shape[0] * 4) == (
            "Expect: in_types[0].shape[0] == in_types[1].shape[0] * 4\nActual: 3 != 4"
        )

    def test_named_value(self):
        (x_type,) = types((3,))
        assert message(x_type.shape[0] == 4) == "Expect: in_types[0].shape[0] == 4\nActual: 3 != 4"
        assert message(x_type.shape[0] == Variable(4, "in_size")) == (
            "Expect: in_types[0].shape[0] == in_size\nActual: 3 != 4"
        )

    def test_call(self):
        (x_type,) = types((3, 4))
        total = Variable(np.sum, "sum")
        expect(total(x_type.shape) == 7)
        assert message(total(x_type.shape) == 10) == (
            "Expect: sum(in_types[0].shape) == 10\nActual: 7 != 10"
        )

    def test_by_hand(self):
        error = InvalidType("Shape is expected to be ...", "Shape is ...")
        assert str(error) == "Expect: Shape is expected to be ...\nActual: Shape is ..."

    def test_eval(self):
        (x_type,) = types((3, 4))
        info = x_type.eval()
        assert isinstance(info, TypeInfo)
        assert (info.shape, info.ndim, info.dtype, info.size) == ((3, 4), 2, np.float32, 12)
        assert x_type.shape[0].eval() == 3

    def test_typical_check(self):
        in_types = types((2, 2, 2), (1,))
        expect(in_types.size() == 2)
        x_type, _ = in_types
        expect(x_type.dtype == np.float32, x_type.ndim == 3, x_type.shape[1] == 2)
        assert message(in_types.size() == 3) == "Expect: in_types.size == 3\nActual: 2 != 3"

    def test_conditions_are_evaluated_lazily(self):
        (x_type,) = types(())
        assert message(x_type.ndim == 3, x_type.shape[1] == 2) == (
            "Expect: in_types[0].ndim == 3\nActual: 0 != 3"
        )


n, m = Variable(3, "n"), Variable(4, "m")
x = Variable(TypeInfo((2, 3), np.dtype("f")), "x")


@pytest.mark.parametrize(
    ("expression", "text", "value"),
    [
        ((n + m) * 2, "(n + m) * 2", 14),
        (n + m * 2, "n + m * 2", 11),
        (n - (m - n), "n - (m - n)", 2),
        ((n - m) - n, "n - m - n", -4),
        (n**m**2, "n ** m ** 2", 3**16),
        ((n**m) ** 2, "(n ** m) ** 2", 81**2),
        (-n, "-n", -3),
        (-(n + m), "-(n + m)", -7),
        ((-n) ** m, "(-n) ** m", 81),
        (-(n**m), "-n ** m", -81),
        (n % m, "n % m", 3),
        (n // m, "n // m", 0),
        (n / m / n, "n / m / n", 0.25),
        (n / (m / n), "n / (m / n)", 2.25),
        (2 * n, "2 * n", 6),
        (2 - n, "2 - n", -1),
        (2 + n, "2 + n", 5),
        (2**n, "2 ** n", 8),
        (7 // n, "7 // n", 2),
        (7 % n, "7 % n", 1),
        (6 / n, "6 / n", 2),
        (n == m, "n == m", False),
        (n <= m, "n <= m", True),
        (x.shape, "x.shape", (2, 3)),
        (x.shape[-1], "x.shape[-1]", 3),
        (x.shape[1:2], "x.shape[1:2]", (3,)),
        (x.shape[:n], "x.shape[:n]", (2, 3)),
        (x.shape[n - 2 :], "x.shape[n - 2:]", (3,)),
        (x.shape[::2], "x.shape[::2]", (2,)),
        (x.dtype.kind, "x.dtype.kind", "f"),
        (Variable({"a": 1}, "d")["a"], "d['a']", 1),
        (Variable(np.arange(3), "a")[...].size, "a[...].size", 3),
        (Variable(max, "max")(n, 1, m), "max(n, 1, m)", 4),
        (Variable("{} {}".format, "text")("a", n), "text('a', n)", "a 3"),
        ((n + m).real, "(n + m).real", 7),
        (type_check.prod(x.shape), "prod(x.shape)", 6),
    ],
)
def test_expressions(expression, text, value):
    assert isinstance(expression, Expr)
    assert str(expression) == text
    assert expression.eval() == value
    assert type_check.eval(expression) == value


@pytest.mark.parametrize(
    ("expression", "actual"),
    [
        (n == m, "3 != 4"),
        (n != 3, "3 == 3"),
        (n < 2, "3 >= 2"),
        (n <= 2, "3 > 2"),
        (n > 3, "3 <= 3"),
        (n >= m, "3 < 4"),
    ],
)
def test_inverse_operators(expression, actual):
    assert message(expression).endswith(f"\nActual: {actual}")


class TestExpr:
    def test_has_no_truth_value(self):
        with pytest.raises(RuntimeError, match="Don't convert Expr to bool"):
            bool(n == m)
        with pytest.raises(RuntimeError, match="Don't convert Expr to bool"):
            expect(n == 3 and m == 4)

    def test_is_neither_hashable_nor_iterable(self):
        with pytest.raises(TypeError, match="unhashable"):
            hash(n)
        with pytest.raises(TypeError, match="eval"):
            list(x.shape)

    def test_missing_attribute(self):
        with pytest.raises(AttributeError, match="foo"):
            x.foo.eval()


class TestExpect:
    def test_holds(self):
        assert expect(n == 3, m == 4, True) is None

    def test_plain_booleans(self):
        assert message(n == 3, False) == "Expect: True\nActual: False"
        assert message(np.bool(False)).startswith("Expect: True")

    def test_others_are_refused(self):
        with pytest.raises(TypeError, match=r"takes comparisons .* got Variable"):
            expect(n)

    def test_switched_off(self):
        """The configuration switches the checks of functions, not this function."""
        with using_config("type_check", False), pytest.raises(InvalidType):
            expect(n == m)


class TestHelpers:
    def test_eval_of_plain_values(self):
        assert type_check.eval(5) == 5

    def test_make_variable(self):
        assert str(type_check.make_variable(3, "q")) == "q"
        assert type_check.make_variable(n, "q") is n
        with using_config("type_check", False):
            assert type_check.make_variable(3, "q") == 3

    def test_get_types(self):
        infos = type_check.get_types([np.zeros((1, 2)), None], "args", accept_none=True)
        assert [str(info) for info in infos] == ["args[0]", "args[1]"]
        assert infos[1].eval().shape == ()
        assert infos.name == "args"
        assert len(infos) == 2

    def test_argname(self):
        infos = types((1,), (2,))
        type_check.argname(infos, ("lhs", "rhs"))
        assert message(infos[0].shape == infos[1].shape) == (
            "Expect: lhs.shape == rhs.shape\nActual: (1,) != (2,)"
        )
        with pytest.raises(InvalidType, match="Invalid number of arguments"):
            type_check.argname(types((1,), (2,)), ("a", "b", "c"))

    def test_same_types(self):
        assert type_check.same_types(np.ones(1), np.ones(1))

    def test_broadcast_shapes(self):
        a, b = types((2, 1), (3,))
        type_check.expect_broadcast_shapes(a.shape, b.shape)
        with pytest.raises(InvalidType) as caught:
            type_check.expect_broadcast_shapes(a.shape, (3, 4))
        assert str(caught.value) == (
            "cannot broadcast inputs of the following shapes:\n"
            "in_types[0].shape = (2, 1)\n(3, 4) = (3, 4)"
        )
        assert caught.value.actual == "(2, 1) and (3, 4)"


class TestInvalidType:
    def test_attributes(self):
        error = InvalidType("a", "b", msg="where")
        assert (error.expect, error.actual) == ("a", "b")
        assert str(error) == "where"

    def test_pickle(self):
        error = pickle.loads(pickle.dumps(InvalidType("a", "b", msg="where")))
        assert (error.expect, error.actual) == ("a", "b")
        assert str(error) == "where"


class TestClassesOfExpressions:
    """The classes of release 7.8.1, with its arguments."""

    def test_kinds(self):
        x = type_check.Variable(np.ones((2, 3)), "x")
        kinds = [x == 3, x + 3, -x, x.shape, x[0], x(1), type_check.Constant(1)]
        names = "BoolBinaryOperator BinaryOperator UnaryOperator GetAttr GetItem Call Constant"
        assert [type(kind).__name__ for kind in kinds] == names.split()
        assert [isinstance(kind, type_check.Atom) for kind in kinds] == [False] * 3 + [True] * 4
        assert [isinstance(kind, type_check.Testable) for kind in kinds] == [True] + [False] * 6

    def test_construction(self):
        x, y = type_check.Variable(3, "x"), type_check.Variable(4, "y")
        equal = type_check.BoolBinaryOperator(x, y, "==", "!=", lambda a, b: a == b)
        with pytest.raises(type_check.InvalidType, match="Expect: x == y\nActual: 3 != 4"):
            type_check.expect(equal)
        add = type_check.BinaryOperator(7, x, y, "+", lambda a, b: a + b)
        assert (add.eval(), str(add)) == (7, "x + y")
        assert type_check.GetAttr(type_check.Variable(3j, "x"), "imag").eval() == 3
        constant = type_check.Constant("a")
        assert (constant.eval(), str(constant)) == ("a", "'a'")

    def test_conditions_of_programs(self):
        class Never(type_check.Testable):
            def expect(self):
                raise type_check.InvalidType("something", "nothing")

        with pytest.raises(type_check.InvalidType, match="something"):
            type_check.expect(Never())

    def test_base_classes_compute_nothing(self):
        with pytest.raises(NotImplementedError):
            type_check.Testable().expect()
        with pytest.raises(NotImplementedError):
            type_check.Expr(8).eval()

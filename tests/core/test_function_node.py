import collections
import copy
import pickle
import threading
import weakref

import numpy as np
import pytest

import chainer
from chainer.core.arrays.backend import get_device
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.utils import type_check
from tests.core.nodes import Add, Exp, Multiply, add, exp, f32, multiply, var


def strict(*values):
    return get_device("@strict:0").send(f32(*values))


class TestApply:
    def test_returns_a_tuple_of_variables(self):
        outputs = Multiply().apply((var(2), var(3)))
        assert isinstance(outputs, tuple)
        assert isinstance(outputs[0], Variable)
        assert outputs[0].array.tolist() == [6]

    @pytest.mark.parametrize("count", [1, 8, 9, 30])
    def test_gradients_of_any_number_of_inputs(self, count):
        class Sum(FunctionNode):
            def forward(self, inputs):
                return (sum(inputs),)

            def backward(self, indexes, grad_outputs):
                return tuple([grad_outputs[0] * (i + 1) for i in indexes])

        xs = [var(1) for _ in range(count)]
        # An array among variables is a constant.
        for inputs in (xs, [f32(1), *xs[1:]]):
            (y,) = Sum().apply(inputs)
            assert y.requires_grad == (count > 1 or inputs is xs)
            if y.requires_grad:
                for x in xs:
                    x.cleargrad()
                y.backward()
                wanted = [x for x in inputs if isinstance(x, Variable)]
                assert [float(x.grad[0]) for x in wanted] == [
                    *range(count - len(wanted) + 1, count + 1)
                ]

    @pytest.mark.parametrize("inputs", [(f32(2), var(3)), [var(2), f32(3)], (f32(2), f32(3))])
    def test_takes_arrays_and_lists(self, inputs):
        assert multiply(*inputs).array.tolist() == [6]

    @pytest.mark.parametrize("count", [0, 1, 2, 3, 9])
    def test_any_number_of_inputs(self, count):
        class Sum(Add):
            def forward(self, inputs):
                assert len(inputs) == count
                return (np.ones(1, np.float32) + sum(inputs),)

        xs = tuple(var(i) for i in range(count))
        (y,) = Sum().apply(xs)
        assert y.array.tolist() == [1 + sum(range(count))]
        assert y.requires_grad is (count > 0)
        y.backward()
        assert [x.grad.tolist() for x in xs] == [[1]] * count

    @pytest.mark.parametrize("backprop", [True, False])
    @pytest.mark.parametrize("bad", [1, 2.0, [1], "a"])
    def test_other_inputs_are_refused(self, bad, backprop):
        with (
            using_config("enable_backprop", backprop),
            pytest.raises(TypeError, match=r"(?s)\(Multiply\).*Actual: <class"),
        ):
            Multiply().apply((var(1), bad))

    @pytest.mark.parametrize("backprop", [True, False])
    def test_uninitialized_input(self, backprop):
        with (
            using_config("enable_backprop", backprop),
            pytest.raises(RuntimeError, match="input 1 of Multiply is an uninitialized variable"),
        ):
            Multiply().apply((var(1), Variable()))

    @pytest.mark.parametrize("backprop", [True, False])
    def test_mixed_backends(self, backprop):
        with (
            using_config("enable_backprop", backprop),
            pytest.raises(
                TypeError,
                match=r"incompatible array types are mixed in the forward input \(Multiply\)\."
                r"\nActual: <class 'numpy.ndarray'>, <class 'chainer_strict_backend",
            ),
        ):
            multiply(f32(1), strict(1))

    @pytest.mark.parametrize("backprop", [True, False])
    @pytest.mark.parametrize("missing", [None, Variable()])
    def test_functions_of_users_get_none_for_a_missing_array(self, missing, backprop):
        # As in releases 4 and 7.
        class Optional(FunctionNode):
            def forward(self, inputs):
                x, b = inputs
                assert b is None
                return (x * 2,)

            def backward(self, target_input_indexes, grad_outputs):
                return multiply(grad_outputs[0], f32(2)), None

        x = var(3)
        with using_config("enable_backprop", backprop):
            (y,) = Optional().apply((x, missing))
        assert y.array.tolist() == [6]
        if backprop:
            y.backward()
            assert x.grad.tolist() == [2]

    def test_several_times(self):
        class Times(FunctionNode):
            def forward(self, inputs):
                self.retain_outputs((0,))
                self.factor = np.asarray(inputs[0].sum())  # what a program keeps between the passes
                return (inputs[0] * self.factor,)

            def backward(self, target_input_indexes, grad_outputs):
                self.seen = self.get_retained_outputs()[0].array
                return (multiply(grad_outputs[0], self.factor),)

        node, first, second = Times(), var(1, 2), var(5)
        (y,) = node.apply((first,))
        (z,) = node.apply((second,))
        assert z.creator is node
        assert type(y.creator) is Times
        assert y.creator_node.inputs == (first.node,)
        assert y.creator_node.outputs[0]() is y.node
        y.grad = f32(1, 1)
        y.backward()
        assert first.grad.tolist() == [3, 3]
        assert second.grad is None
        assert y.creator.seen.tolist() == [3, 6]
        z.backward()
        assert second.grad.tolist() == [5]

    def test_several_times_with_several_outputs(self):
        class Both(FunctionNode):
            def forward(self, inputs):
                return inputs[0], inputs[0].copy()

            def backward(self, target_input_indexes, grad_outputs):
                return tuple(g for g in grad_outputs if g is not None)

        node = Both()
        x, outputs = var(1), []
        for _ in range(3):
            x, other = node.apply((x,))
            outputs += [x, other]
        assert len({id(y.creator) for y in outputs}) == 3
        assert [y.rank for y in outputs] == [1, 1, 2, 2, 3, 3]

    def test_again_when_the_first_outputs_are_gone(self):
        node = Multiply()
        node.apply((var(1), var(2)))
        x = var(3)
        (y,) = node.apply((x, var(4)))
        y.backward()
        assert x.grad.tolist() == [4]

    def test_calling_is_refused(self):
        with pytest.raises(RuntimeError, match=r"apply\(\)"):
            Multiply()(var(1), var(2))

    def test_edges(self):
        x, y = var(1), var(2)
        node = Multiply()
        assert node.inputs is None
        (z,) = node.apply((x, y))
        assert node.inputs == (x.node, y.node)
        assert [reference() for reference in node.outputs] == [z.node]
        assert z.creator_node is node

    def test_outputs_are_held_weakly(self):
        node = Multiply()
        z = node.apply((var(1), var(2)))[0]
        del z
        assert node.outputs[0]() is None


class TestForward:
    @pytest.mark.parametrize("backprop", [True, False])
    @pytest.mark.parametrize(
        ("output", "match"),
        [
            (f32(1), r"forward output must be a tuple \(Bad\)\nActual: <class 'numpy.ndarray'>"),
            ([f32(1)], r"forward output must be a tuple \(Bad\)\nActual: <class 'list'>"),
            (("a",), r"tuple of ndarrays.\nFunction: Bad\nActual output types: \(<class 'str'>,\)"),
            ((f32(1), 2.0), r"Actual output types: \(<class 'numpy.ndarray'>, <class 'float'"),
        ],
    )
    def test_bad_outputs(self, output, match, backprop):
        class Bad(FunctionNode):
            def forward(self, inputs):
                return output

        with using_config("enable_backprop", backprop), pytest.raises(TypeError, match=match):
            Bad().apply((var(1),))

    @pytest.mark.parametrize("backprop", [True, False])
    @pytest.mark.parametrize("others", [(), (f32(5),)])
    def test_outputs_may_be_none(self, others, backprop):
        class Partly(FunctionNode):
            def forward(self, inputs):
                return None, *others

        with using_config("enable_backprop", backprop):
            missing, *rest = Partly().apply((var(1),))
        assert missing.array is None
        assert [y.array.tolist() for y in rest] == [[5]] * len(others)

    def test_named_tuple_of_outputs(self):
        Pair = collections.namedtuple("Pair", "a b")

        class Named(FunctionNode):
            def forward(self, inputs):
                return Pair(inputs[0] * 2, inputs[0] * 3)

        assert [y.array.tolist() for y in Named().apply((var(1),))] == [[2], [3]]

    def test_outputs_of_elementwise_functions_have_one_shape(self):
        class Elementwise(FunctionNode):
            is_elementwise = True

            def forward(self, inputs):
                return inputs[0], inputs[0][: self.length]

        good, bad = Elementwise(), Elementwise()
        good.length, bad.length = 2, 1
        assert len(good.apply((var(1, 2),))) == 2
        with pytest.raises(
            RuntimeError, match=r"(?s)elementwise function.*Input shapes: \(2,\).*: \(2,\), \(1,\)"
        ):
            bad.apply((var(1, 2),))
        assert not FunctionNode.is_elementwise

    def test_mixed_outputs(self):
        class Mixed(FunctionNode):
            def forward(self, inputs):
                return inputs[0], strict(1)

        with pytest.raises(TypeError, match=r"mixed in the forward output \(Mixed\)"):
            Mixed().apply((var(1),))

    @pytest.mark.parametrize("backprop", [True, False])
    def test_numpy_scalars_become_arrays(self, backprop):
        class Total(FunctionNode):
            def forward(self, inputs):
                return (inputs[0].sum(),)

        with using_config("enable_backprop", backprop):
            (y,) = Total().apply((var(1, 2),))
        assert type(y.array) is np.ndarray
        assert y.shape == ()
        assert y.dtype == np.float32

    def test_cpu_and_gpu(self):
        class Both(FunctionNode):
            def forward_cpu(self, inputs):
                return (inputs[0] + 1,)

            def forward_gpu(self, inputs):
                return (inputs[0] + 2,)

        assert Both().apply((f32(1),))[0].array.tolist() == [2]
        assert float(Both().apply((strict(1),))[0].array[0]) == 3

    def test_missing(self):
        class Nothing(FunctionNode):
            pass

        with pytest.raises(NotImplementedError, match="Nothing defines neither forward"):
            Nothing().apply((f32(1),))
        with pytest.raises(NotImplementedError, match=r"Nothing .* forward_gpu"):
            Nothing().apply((strict(1),))

    def test_array_namespace(self):
        seen = []

        class See(FunctionNode):
            def forward(self, inputs):
                seen.append(self.xp)
                return inputs

        See().apply((f32(1),))
        See().apply((strict(1),))
        assert seen == [np, get_device("@strict").xp]

    def test_error_leaves_no_graph(self):
        class Fails(FunctionNode):
            def forward(self, inputs):
                raise KeyError("x")

        x = var(1)
        node = Fails()
        with pytest.raises(KeyError):
            node.apply((x,))
        assert node.inputs is None


class TestRetaining:
    def test_inputs(self):
        class First(Multiply):
            def forward(self, inputs):
                self.retain_inputs((1,))
                return (inputs[0] * inputs[1],)

        x, y = var(2), var(3)
        node = First()
        node.apply((x, y))
        assert x.node.data is None
        assert y.node.data is y.array
        (retained,) = node.get_retained_inputs()
        assert retained is y
        assert node.retained_input_arrays == (y.array,)

    def test_inputs_outlive_their_variables(self):
        x = var(2)
        y = multiply(x, x)
        node = multiply(y, x).creator_node
        reference = weakref.ref(y)
        del y
        assert reference() is None
        assert [v.array.tolist() for v in node.get_retained_inputs()] == [[4], [2]]

    def test_nothing_by_default(self):
        class Plain(FunctionNode):
            def forward(self, inputs):
                return (inputs[0] + 1,)

        x = var(1)
        (y,) = Plain().apply((x,))
        node = y.creator_node
        array = weakref.ref(x.array)
        output = weakref.ref(y.array)
        del x
        assert array() is None
        assert node.get_retained_inputs() == ()
        assert node.get_retained_outputs() == ()
        with pytest.raises(RuntimeError, match="retained output data is gone"):
            node.output_data
        del y
        assert output() is None

    def test_outputs(self):
        y = exp(var(0))
        node = y.creator_node
        (retained,) = node.get_retained_outputs()
        assert retained is y
        assert node.output_data[0] is y.array

    def test_outputs_come_back_after_their_death(self):
        x = var(0)
        node = Exp()
        node.apply((x,))
        assert node.outputs[0]() is None
        (y,) = node.get_retained_outputs()
        assert y.array.tolist() == [1]
        assert y.creator_node is node
        assert node.get_retained_outputs()[0] is y
        y.backward()
        assert x.grad.tolist() == [1]

    def test_some_outputs(self):
        class Second(FunctionNode):
            def forward(self, inputs):
                self.retain_outputs((1,))
                return inputs[0] + 1, inputs[0] + 2

        y, z = Second().apply((var(0),))
        assert z.creator_node.output_data[0] is None
        assert z.creator_node.output_data[1] is z.array
        assert z.creator_node.get_retained_outputs()[0] is z
        assert y.node.data is None


class TestLabel:
    def test_default(self):
        assert Multiply().label == "Multiply"

    def test_override(self):
        class Named(FunctionNode):
            label = "_ named _"

            def forward(self, inputs):
                return 1

        with pytest.raises(TypeError, match=r"\(_ named _\)"):
            Named().apply((var(1),))


class TestTypeCheck:
    class Checked(FunctionNode):
        calls = 0
        type_check_key = ("axis",)

        def __init__(self, axis=0):
            self.axis = axis

        def check_type_forward(self, in_types):
            type(self).calls += 1
            type_check.expect(in_types.size() == 1, in_types[0].ndim > self.axis)

        def forward(self, inputs):
            return (inputs[0] + 1,)

    @pytest.fixture
    def checked(self):
        return type("Checked", (self.Checked,), {"calls": 0})

    @pytest.mark.parametrize("backprop", [True, False])
    def test_message(self, checked, backprop):
        with using_config("enable_backprop", backprop), pytest.raises(type_check.InvalidType) as e:
            checked(2).apply((f32(1),))
        assert str(e.value) == (
            "\nInvalid operation is performed in: Checked (Forward)\n\n"
            "Expect: in_types[0].ndim > 2\nActual: 1 <= 2"
        )
        assert e.value.expect == "in_types[0].ndim > 2"
        assert e.value.actual == "1 <= 2"

    @pytest.mark.parametrize("backprop", [True, False])
    def test_once_per_signature(self, checked, backprop):
        with using_config("enable_backprop", backprop):
            for _ in range(3):
                checked().apply((f32(1),))
            assert checked.calls == 1
            checked().apply((f32(1, 2),))  # another shape
            checked().apply((np.ones(1),))  # another dtype
            assert checked.calls == 3
            with pytest.raises(type_check.InvalidType):
                checked(1).apply((f32(1),))  # another attribute

    def test_failure_is_not_remembered(self, checked):
        for _ in range(2):
            with pytest.raises(type_check.InvalidType):
                checked(1).apply((f32(1),))

    def test_every_time_without_a_key(self):
        seen = []

        class Always(FunctionNode):
            def check_type_forward(self, in_types):
                seen.append(in_types)

            def forward(self, inputs):
                return inputs

        for _ in range(3):
            Always().apply((f32(1),))
        assert len(seen) == 3

    def test_switched_off(self, checked):
        with using_config("type_check", False):
            checked(5).apply((f32(1),))
        assert checked.calls == 0

    def test_subclasses_check_for_themselves(self, checked):
        class Other(checked):
            def check_type_forward(self, in_types):
                type_check.expect(in_types[0].shape[0] == 2)

        checked().apply((f32(1),))
        with pytest.raises(type_check.InvalidType):
            Other().apply((f32(1),))


class TestBackwardAccumulate:
    def test_default_adds(self):
        x, y = var(2), var(3)
        (z,) = Multiply().apply((x, y))
        gxs = z.creator_node.backward_accumulate((0, 1), (var(1),), (var(10), None))
        assert [g.array.tolist() for g in gxs] == [[13], [2]]

    @pytest.mark.parametrize("double", [False, True])
    def test_override(self, double):
        seen = []

        class Fused(Multiply):
            def backward_accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
                seen.append([None if g is None else g.array.tolist() for g in grad_inputs])
                return super().backward_accumulate(target_input_indexes, grad_outputs, grad_inputs)

        x = var(2)
        y = multiply(x, x)
        z = multiply(y, multiply(y, x), Fused)  # x^5
        z.backward(enable_double_backprop=double)
        assert x.grad.tolist() == [80]
        assert seen == [[None, None]]
        x.cleargrad()
        z = add(multiply(x, x, Fused), multiply(x, x, Fused))
        z.backward(enable_double_backprop=double)
        assert x.grad.tolist() == [8]
        # Of two inputs that are one variable only the first brings what there is.
        assert seen[1:] == [[None, None], [[4], None]]

    def test_wrong_number(self):
        class Wrong(Multiply):
            def backward_accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
                return (grad_outputs[0],)

        with pytest.raises(ValueError, match="backward_accumulate of Wrong is incorrect: 1 != "):
            multiply(var(1), var(2), Wrong).backward()


class TestTargets:
    def test_only_what_needs_gradients(self):
        seen = []

        class Watch(Multiply):
            def backward(self, target_input_indexes, grad_outputs):
                seen.append(target_input_indexes)
                return super().backward(target_input_indexes, grad_outputs)

        x = var(2)
        constant = Variable(f32(3), requires_grad=False)
        for pair in ((x, constant), (constant, x), (x, x)):
            multiply(*pair, Watch).backward()
        assert seen == [(0,), (1,), (0, 1)]

    def test_all_inputs_may_be_returned(self):
        class All(Multiply):
            def backward(self, target_input_indexes, grad_outputs):
                return super().backward((0, 1), grad_outputs)

        x = var(2)
        multiply(Variable(f32(3), requires_grad=False), x, All).backward()
        assert x.grad.tolist() == [3]


def test_unchain():
    x = var(2)
    y = multiply(x, x)
    node = y.creator_node
    node.unchain()
    assert y.creator is None
    assert node.inputs is None
    assert node.outputs is None


def test_threads_have_their_own_graphs():
    x = var(2)
    results = []

    def work():
        z = multiply(x, x)
        results.append(z.creator_node)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(node) for node in results}) == 8


class TestDevices:
    def test_device_of_the_inputs_is_current(self):
        from chainer_strict_backend import current

        seen = []

        class Watch(Multiply):
            def forward(self, inputs):
                seen.append(current.get())
                return super().forward(inputs)

            def backward(self, target_input_indexes, grad_outputs):
                seen.append(current.get())
                return super().backward(target_input_indexes, grad_outputs)

        x = Variable(get_device("@strict:1").send(f32(2)))
        multiply(x, x, Watch).backward()
        with using_config("enable_backprop", False):
            multiply(x, x, Watch)
        assert seen == [1, 1, 1]
        assert current.get() == 0
        assert float(x.grad[0]) == 4

    def test_nothing_is_transferred(self):
        from chainer_strict_backend import count_transfers

        x = Variable(strict(0, 1, 2))
        with count_transfers() as transfers:
            y = exp(multiply(x, x))
            y.grad = x.xp.ones_like(y.array)
            y.backward(enable_double_backprop=True)
            g = x.grad_var
            x.cleargrad()
            g.grad = x.xp.ones_like(y.array)
            g.backward()
        assert transfers.total == 0


class TestInputNodes:
    def test_are_the_inputs(self):
        x, y = var(1, 2), var(3, 4)
        node = Multiply()
        node.apply((x, y))
        assert node.input_nodes == (x.node, y.node)

    def test_shape(self):
        node = Add()
        node.apply((Variable(np.zeros((2, 3), np.float32)),))
        assert node.input_shape(0) == (2, 3)

    def test_before_apply(self):
        with pytest.raises(RuntimeError, match=r"Multiply.* has no inputs"):
            Multiply().input_nodes

    def test_after_unchain(self):
        node = Multiply()
        node.apply((var(1), var(2)))
        node.unchain()
        with pytest.raises(RuntimeError, match="has not been applied, or was unchained"):
            node.input_shape(0)


class TestLabelOfSubclasses:
    def test_name_of_the_class(self):
        assert Multiply().label == "Multiply"

    def test_string(self):
        class Short(Multiply):
            label = "short"

        assert Short().label == "short"

    def test_property(self):
        class Computed(Multiply):
            @property
            def label(self):
                return f"_ * {self.factor}"

        node = Computed()
        node.factor = 3
        assert node.label == "_ * 3"


class TestMethodsOfInstances:
    """Methods that are set on one node take the place of those of its class."""

    def test_forward(self):
        node = Multiply()
        node.forward = lambda inputs: (inputs[0] * 7,)
        assert node.apply((var(1), var(2)))[0].array.tolist() == [7]

    def test_backward(self):
        x = var(1)
        node = Multiply()
        (y,) = node.apply((x, f32(2)))
        node.backward = lambda target_input_indexes, grad_outputs: (var(9),)
        y.backward()
        assert x.grad.tolist() == [9]

    @pytest.mark.parametrize("type_check", [False, True])
    def test_check_type_forward(self, type_check):
        checked = []
        node = Multiply()
        node.check_type_forward = checked.append
        with using_config("type_check", type_check):
            node.apply((var(1), var(2)))
        assert len(checked) == type_check
        assert all(len(in_types) == 2 for in_types in checked)


class TestRelease7:
    def test_fallback(self):
        assert repr(chainer.Fallback) == "Fallback"
        assert Multiply().forward_chainerx((f32(1), f32(2))) is chainer.Fallback
        assert type(chainer.Fallback)() is chainer.Fallback
        assert copy.deepcopy(chainer.Fallback) is chainer.Fallback
        assert pickle.loads(pickle.dumps(chainer.Fallback)) is chainer.Fallback

    def test_chainerx_device(self):
        assert Multiply().chainerx_device is None

    def test_layouts_are_checked_before_forward(self):
        seen = []

        class Checked(Multiply):
            def check_layout_forward(self, inputs):
                seen.append(inputs)

        x = var(1)
        Checked().apply((x, f32(2)))
        ((first, second),) = seen
        assert first is x
        assert isinstance(second, Variable)

    def test_lazy_grad_sum_is_taken_from_the_configuration(self):
        node, other = Multiply(), Multiply()
        with using_config("lazy_grad_sum", True):
            assert not node.lazy_grad_sum
            node.apply((var(1), var(2)))
        other.apply((var(1), var(2)))
        assert node.lazy_grad_sum
        assert not other.lazy_grad_sum

    def test_retained_input_whose_array_is_gone(self):
        x = var(1)
        node = Multiply()
        node.apply((x, var(2)))
        x.node.data = None
        del x
        first, second = node.get_retained_inputs()
        assert first is None
        assert second.array.tolist() == [2]


class TestRememberedTypeChecks:
    """A check that passed is skipped for the same types only."""

    def test_types_that_alternate(self):
        class Vectors(chainer.FunctionNode):
            type_check_key = ("length",)

            def __init__(self, length):
                self.length = length

            def check_type_forward(self, in_types):
                type_check.expect(in_types[0].shape[0] == self.length)

            def forward(self, inputs):
                return (inputs[0] * 2,)

        two, three = np.ones(2, "f"), np.ones(3, "f")
        for _ in range(3):
            assert Vectors(2).apply((two,))[0].shape == (2,)
            assert Vectors(3).apply((three,))[0].shape == (3,)
            for length, x in ((2, three), (3, two)):
                with pytest.raises(type_check.InvalidType):
                    Vectors(length).apply((x,))

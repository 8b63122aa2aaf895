import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import chainer
from chainer.core.autograd.variables import Parameter, Variable, VariableNode, as_variable
from tests.core.nodes import Add, Multiply, add, f32, multiply, var

NOT_AN_ARRAY = r"numpy\.ndarray or cuda\.ndarray are expected\.\nActual: <class '{}'>"


class TestConstruction:
    def test_defaults(self):
        x = var(1, 2)
        assert x.name is None
        assert x.grad is None
        assert x.grad_var is None
        assert x.requires_grad
        assert x.creator is None
        assert x.creator_node is None
        assert x.rank == 0
        assert x.loss_scale is None

    def test_holds_the_very_array(self):
        array = f32(1, 2)
        x = Variable(array)
        assert x.array is array
        assert x.data is array

    def test_keywords(self):
        x = Variable(f32(1), name="x", grad=f32(2), requires_grad=False)
        assert x.name == "x"
        assert x.node.name == "x"
        assert x.grad.tolist() == [2]
        assert not x.requires_grad
        assert not x.node.requires_grad

    @pytest.mark.parametrize(
        ("data", "kind"),
        [([1, 2], "list"), (1.0, "float"), (np.float32(1), "numpy.float32"), ("a", "str")],
    )
    def test_data_must_be_an_array(self, data, kind):
        with pytest.raises(TypeError, match=NOT_AN_ARRAY.format(kind)):
            Variable(data)

    def test_without_data(self):
        x = Variable()
        assert x.array is None
        assert repr(x) == "variable(None)"
        for name in ("shape", "dtype", "ndim", "size"):
            with pytest.raises(AttributeError, match="uninitialized"):
                getattr(x, name)

    def test_volatile_is_refused(self):
        with pytest.raises(ValueError, match="volatile argument is not supported anymore"):
            Variable(f32(1), volatile=True)
        with pytest.raises(TypeError, match="keyword arguments"):
            Variable(f32(1), True)

    def test_unknown_keyword_is_refused(self):
        with pytest.raises(TypeError, match="nonsense"):
            Variable(f32(1), nonsense=1)

    def test_array_properties(self):
        x = Variable(np.zeros((2, 3), np.float32))
        assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
        assert x.dtype == np.float32
        assert x.xp is np
        assert str(x.device) == "@numpy"
        assert x.label == "(2, 3), float32"

    def test_names_of_later_modules(self):
        assert chainer.Variable is Variable
        assert chainer.variable.Parameter is Parameter
        assert chainer.variable.VariableNode is VariableNode


class TestArray:
    def test_assignment(self):
        x = var(1, 2)
        node = x.node
        x.array = f32(3, 4, 5)
        assert x.shape == (3,)
        assert node.shape == (3,)
        x.data = f32(1)
        assert x.array.tolist() == [1]

    def test_assignment_refuses_others(self):
        x = var(1)
        with pytest.raises(TypeError, match=NOT_AN_ARRAY.format("list")):
            x.array = [1]

    def test_retained_data_follows(self):
        x = var(1)
        x.retain_data()
        x.array = f32(2)
        assert x.node.data.tolist() == [2]


class TestGrad:
    def test_set_and_clear(self):
        x = var(1, 2)
        gradient = f32(3, 4)
        x.grad = gradient
        assert x.grad is gradient
        assert x.grad_var.array is gradient
        x.cleargrad()
        assert x.grad is None
        assert x.grad_var is None

    def test_grad_var(self):
        x = var(1, 2)
        g = var(3, 4)
        x.grad_var = g
        assert x.grad_var is g
        assert x.grad is g.array
        x.grad = None
        assert x.grad_var is None

    def test_grad_var_is_one_object(self):
        x = Variable(f32(1), grad=f32(2))
        assert x.grad_var is x.grad_var

    def test_dtype_must_match(self):
        with pytest.raises(
            TypeError,
            match=r"Dtype of data and grad mismatch\ngrad: float64 != data: float32",
        ):
            var(1, 2).grad = np.ones(2)

    def test_shape_must_match(self):
        with pytest.raises(
            ValueError, match=r"Shape of data and grad mismatch\ngrad: \(3,\) != data: \(2,\)"
        ):
            var(1, 2).grad = f32(1, 2, 3)

    def test_must_be_an_array(self):
        with pytest.raises(TypeError, match=NOT_AN_ARRAY.format("list")):
            var(1, 2).grad = [1, 2]
        with pytest.raises(TypeError, match="grad_var must be a Variable"):
            var(1, 2).grad_var = f32(1, 2)

    def test_constructor_checks_it(self):
        with pytest.raises(ValueError, match="Shape of data and grad mismatch"):
            Variable(f32(1), grad=f32(1, 2))

    def test_zerograd(self):
        x = var(1, 2)
        with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
            x.zerograd()
        assert x.grad.tolist() == [0, 0]
        x.grad = f32(1, 1)
        with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
            x.zerograd()
        assert x.grad.tolist() == [0, 0]

    def test_zerograd_unchains_the_gradient(self):
        x = var(3)
        y = multiply(x, x)
        y.backward(enable_double_backprop=True)
        assert x.grad_var.creator is not None
        with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
            x.zerograd()
        assert x.grad_var.creator is None


class TestAccumulation:
    def test_addgrad(self):
        x, y = var(1, 2, grad=f32(3, 4)), var(1, 2, grad=f32(1, 1))
        x.addgrad(y)
        assert x.grad.tolist() == [4, 5]
        assert y.grad.tolist() == [1, 1]

    def test_addgrad_to_none_shares_nothing(self):
        x, y = var(1, 2), var(1, 2, grad=f32(1, 1))
        x.addgrad(y)
        x.grad += 1
        assert y.grad.tolist() == [1, 1]

    def test_addgrad_of_none_does_nothing(self):
        x = var(1, 2, grad=f32(3, 4))
        x.addgrad(var(1, 2))
        assert x.grad.tolist() == [3, 4]

    def test_addgrad_initializes(self):
        x = Parameter(5)
        x.cleargrad()
        x.addgrad(var(1, 2, grad=f32(3, 4)))
        assert x.array.tolist() == [5, 5]
        assert x.grad.tolist() == [3, 4]

    def test_copydata(self):
        x, y = var(1, 2), var(3, 4)
        array = x.array
        x.copydata(y)
        assert x.array is array
        assert array.tolist() == [3, 4]

    def test_copydata_broadcast_is_refused_for_other_shapes(self):
        with pytest.raises(ValueError, match="broadcast"):
            var(1, 2).copydata(var(1, 2, 3))

    def test_copydata_initializes_either_side(self):
        x = Parameter(0)
        x.copydata(var(1, 2))
        assert x.array.tolist() == [1, 2]

    def test_copydata_from_uninitialized(self):
        # The initializer of the source decides, as it does in releases 4.3.1 and 7.8.1.
        x, y = var(1, 2), Parameter(7)
        x.copydata(y)
        assert y.array.tolist() == [7, 7]
        assert x.array.tolist() == [7, 7]
        assert not np.shares_memory(x.array, y.array)

    def test_copydata_of_two_uninitialized(self):
        x, y = Parameter(0), Parameter(0)
        x.copydata(y)
        assert x.array is None
        assert y.array is None


class TestText:
    """As the documented release prints them."""

    @pytest.mark.parametrize(
        ("array", "name", "expected"),
        [
            (f32(2), None, "variable([2.])"),
            (f32(2), "x", "variable x([2.])"),
            (np.zeros((0, 3), np.float32), None, "variable([], shape=(0, 3))"),
            (np.zeros((2, 2), np.float32), None, "variable([[0., 0.],\n          [0., 0.]])"),
            (np.array(1.5, np.float32), None, "variable(1.5)"),
        ],
    )
    def test_repr(self, array, name, expected):
        assert repr(Variable(array, name=name)) == expected

    def test_str(self):
        assert str(Variable(np.zeros((2, 2), np.int32))) == "variable([[0 0]\n          [0 0]])"
        assert str(var(1, 2)) == "variable([1. 2.])"

    def test_summary(self):
        assert var(1, name="x").summary() == "<variable x>"
        x = var(1)
        assert x.summary() == f"<variable at {id(x):#x}>"

    def test_debug_print(self):
        x = var(1, 3, name="x")
        x.grad = f32(2, 2)
        assert x.debug_print() == (
            "<variable x>\n- device: CPU\n- backend: <class 'numpy.ndarray'>\n- shape: (2,)\n"
            "- dtype: float32\n- statistics: mean=2.00000000, std=1.00000000\n"
            "- grad: mean=2.00000000, std=0.00000000"
        )
        x.cleargrad()
        assert x.debug_print().endswith("- grad: None")

    def test_name_is_shared_with_the_node(self):
        x = var(1)
        assert x.node.name is None
        x.name = "x"
        assert x.node.name == "x"


class TestRefusedOperators:
    @pytest.mark.parametrize("name", ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"])
    def test_comparisons(self, name):
        with pytest.raises(NotImplementedError, match="array"):
            getattr(var(1), name)(var(1))

    def test_truth_value(self):
        with pytest.raises(NotImplementedError, match="cannot be evaluated as Python bool"):
            bool(var(1))
        with pytest.raises(NotImplementedError, match="cannot be evaluated as Python bool"):
            var(1).__nonzero__()

    def test_hash(self):
        with pytest.raises(TypeError, match="unhashable"):
            hash(var(1))

    def test_membership(self):
        with pytest.raises(NotImplementedError):
            assert var(1) in [var(2)]


class TestCopies:
    def test_copy_shares_arrays_not_the_graph(self):
        x = var(1, 2, grad=f32(3, 4), name="x")
        y = multiply(x, x)
        z = copy.copy(y)
        assert z.array is y.array
        assert z.creator is None
        assert z.node is not y.node
        w = copy.copy(x)
        assert w.grad is x.grad
        assert w.name == "x"

    def test_deepcopy_shares_nothing(self):
        x = var(1, 2, grad=f32(3, 4), name="x")
        y = copy.deepcopy(x)
        x.array[...] = 0
        x.grad[...] = 0
        assert y.array.tolist() == [1, 2]
        assert y.grad.tolist() == [3, 4]
        assert y.name == "x"
        assert copy.deepcopy(multiply(x, x)).creator is None

    def test_deepcopy_keeps_identity_inside_a_structure(self):
        x = var(1)
        first, second = copy.deepcopy([x, x])
        assert first is second

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickle(self, protocol):
        x = Variable(f32(1, 2), grad=f32(3, 4), name="x", requires_grad=False)
        x.mark = "user attribute"
        y = pickle.loads(pickle.dumps(x, protocol))
        assert y.array.tolist() == [1, 2]
        assert y.grad.tolist() == [3, 4]
        assert (y.name, y.requires_grad, y.mark) == ("x", False, "user attribute")

    def test_pickle_leaves_the_graph(self):
        x = var(1, 2)
        assert pickle.loads(pickle.dumps(multiply(x, x))).creator is None

    def test_pickle_without_array(self):
        assert pickle.loads(pickle.dumps(Variable())).array is None


class TestGraph:
    def test_ranks_and_creators(self):
        x = var(1, 2)
        y = multiply(x, x)
        z = multiply(y, x)
        assert (x.rank, y.rank, z.rank) == (0, 1, 2)
        assert type(y.creator) is Multiply
        assert y.creator is y.creator_node
        assert y.creator.rank == 0
        assert z.creator.inputs == (y.node, x.node)
        assert y.creator.outputs[0]() is y.node

    def test_unchain(self):
        x = var(1, 2)
        y = multiply(x, x)
        y.unchain()
        assert y.creator is None
        y.backward()
        assert x.grad is None

    def test_unchained_creator_can_be_set_again(self):
        x = var(1, 2)
        y = multiply(x, x)
        node = y.creator_node
        y.creator_node = None
        assert y.creator is None
        y.creator_node = node
        y.grad = f32(1, 1)
        y.backward()
        assert x.grad.tolist() == [2, 4]

    @pytest.mark.parametrize("method", ["set_creator", "set_creator_node"])
    def test_set_creator(self, method):
        x = var(1, 2)
        y = multiply(x, x)
        z = Variable(y.array)
        getattr(z, method)(y.creator_node)
        assert z.creator is y.creator
        assert z.rank == 1

    def test_unchain_backward(self):
        x = var(1, 2)
        y = multiply(x, x)
        z = multiply(y, y)
        w = multiply(z, x)
        z.unchain_backward()
        assert z.creator is None
        assert y.creator is None
        assert w.creator is not None
        w.grad = f32(1, 1)
        w.backward()
        assert x.grad.tolist() == [1, 16]

    def test_unchain_backward_releases_the_graph(self):
        x = var(1, 2)
        y = multiply(x, x)
        node = weakref.ref(y.node)
        z = multiply(y, y)
        del y
        gc.collect()
        assert node() is not None
        z.unchain_backward()
        assert node() is None

    def test_unchain_backward_of_a_long_chain(self):
        x = y = var(1)
        for _ in range(5000):
            y = add(y, x)
        y.unchain_backward()
        assert y.creator is None

    def test_graph_does_not_keep_outputs_alive(self):
        x = var(1, 2)
        y = Add().apply((x, x))[0]
        array = weakref.ref(y.array)
        z = Add().apply((y, x))[0]
        del y
        assert array() is None
        assert z.creator is not None

    def test_long_chain_is_released_without_recursion(self):
        x = y = var(1)
        for _ in range(50000):
            y = add(y, x)
        node = weakref.ref(y.creator_node)
        del y
        gc.collect()
        assert node() is None


class TestAsVariable:
    def test_array(self):
        array = f32(1)
        x = as_variable(array)
        assert x.array is array
        assert not x.requires_grad

    def test_variable(self):
        x = var(1)
        assert as_variable(x) is x

    def test_others(self):
        with pytest.raises(TypeError, match=NOT_AN_ARRAY.format("list")):
            as_variable([1])


class TestMoves:
    def test_to_cpu(self):
        x = var(1, 2, grad=f32(3, 4))
        array = x.array
        assert x.to_cpu() is None
        assert x.array is array
        assert x.grad.tolist() == [3, 4]

    def test_to_device(self):
        x = var(1, 2, grad=f32(3, 4))
        x.to_device("@strict:1")
        assert str(x.device) == "@strict:1"
        assert x.xp is chainer.get_device("@strict").xp
        assert x.grad.device_index == 1
        assert x.node.dtype == np.float32
        x.to_cpu()
        assert type(x.array) is np.ndarray
        assert x.grad.tolist() == [3, 4]

    def test_unknown_device(self):
        with pytest.raises(ValueError, match="nonsense"):
            var(1).to_device("@nonsense")

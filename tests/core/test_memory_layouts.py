"""Memory layouts of release 7: the shape that programs see and the array that is stored."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import memory_layouts
from chainer.core.config.configuration import using_config
from chainer.core.utils.type_check import InvalidType
from tests.core.nodes import f32

LAST = memory_layouts.CUDNN_CHANNEL_LAST_X
LAST_W = memory_layouts.CUDNN_CHANNEL_LAST_W

REFUSED = "of a variable with non-standard layout"


def raw(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def channels_second(array):
    return np.moveaxis(array, -1, 1)


@pytest.fixture
def x():
    return chainer.Variable(raw(2, 3, 4), layout=LAST)


class ParameterLink(chainer.Link):
    def __init__(self, layout):
        super().__init__()
        with self.init_scope():
            self.p = chainer.Parameter(2, (2, 3, 4), layout=layout)
            self.u = chainer.Parameter(1, layout=layout)


class TestVariable:
    def test_standard(self):
        x = chainer.Variable(raw(2, 3, 4))
        assert x.layout is None
        assert x.raw_array is x.array
        assert x.as_layout(None) is x
        assert memory_layouts.CUDNN_CHANNEL_FIRST_X is memory_layouts.CUDNN_CHANNEL_FIRST_W is None

    def test_shapes(self, x):
        assert (x.layout, x.shape, x.ndim, x.size) == (LAST, (2, 4, 3), 3, 24)
        assert x.label == "(2, 4, 3), float32"
        assert x.node.shape == (2, 4, 3)
        assert type(x.raw_array) is np.ndarray
        np.testing.assert_array_equal(x.raw_array, raw(2, 3, 4))
        assert isinstance(x, chainer.Variable)

    @pytest.mark.parametrize(
        "access",
        [
            lambda x: x.array,
            lambda x: x.data,
            lambda x: x.grad,
            lambda x: len(x),
            lambda x: x.debug_print(),
            lambda x: x.backward(),
            lambda x: setattr(x, "array", raw(2, 3, 4)),
            lambda x: setattr(x, "data", raw(2, 3, 4)),
            lambda x: setattr(x, "grad", raw(2, 3, 4)),
            lambda x: chainer.as_array(x),
        ],
    )
    def test_arrays_are_not_accessible(self, x, access):
        with pytest.raises(RuntimeError, match=REFUSED):
            access(x)

    def test_texts(self, x):
        # In release 7 they raise; but a debugger shows them.
        assert repr(x) == str(x) == f"variable(shape=(2, 4, 3), layout={LAST!r})"

    def test_raw_array_shares_memory(self):
        array = raw(2, 3, 4)
        assert np.shares_memory(chainer.Variable(array, layout=LAST).raw_array, array)

    @pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 5), (0, 3, 4, 5)])
    @pytest.mark.parametrize("layout", [LAST, LAST_W])
    def test_conversions(self, shape, layout):
        array = raw(*shape)
        y = chainer.Variable(array).as_layout(layout)
        assert (y.layout, y.shape) == (layout, shape)
        np.testing.assert_array_equal(y.raw_array, np.moveaxis(array, 1, -1))
        z = y.as_layout(None)
        assert (z.layout, y.as_layout(layout)) == (None, y) or y.as_layout(layout) is y
        np.testing.assert_array_equal(z.array, array)
        assert np.shares_memory(z.array, array) or not array.size

    def test_impossible_conversions(self, x):
        with pytest.raises(AssertionError, match="3 or more dimensions"):
            chainer.Variable(raw(2, 3)).as_layout(LAST)
        with pytest.raises(AssertionError, match="3 or more dimensions"):
            chainer.Variable(raw(2, 3), layout=LAST)
        with pytest.raises(AssertionError, match="standard layout before"):
            x.as_layout(LAST_W)
        with pytest.raises(ValueError, match="unknown conversion"):
            chainer.Variable(raw(2, 3, 4)).as_layout("nonsense")
        with pytest.raises(ValueError, match="unknown conversion"):
            chainer.Variable(raw(2, 3, 4), layout="nonsense")

    @pytest.mark.parametrize(
        "make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
    )
    def test_copies(self, x, make):
        y = make(x)
        assert (y.layout, y.shape) == (LAST, x.shape)
        np.testing.assert_array_equal(y.raw_array, x.raw_array)

    def test_to_device(self, x):
        x.to_device("@strict:0")
        assert (x.layout, x.shape, x.device.name) == (LAST, (2, 4, 3), "@strict:0")
        assert (x + x).layout == LAST
        with pytest.raises(RuntimeError, match="non-standard layouts"):
            F.tanh(x)
        x.to_cpu()
        np.testing.assert_array_equal(x.raw_array, raw(2, 3, 4))

    def test_unchecked(self):
        assert chainer.Variable._init_unchecked(raw(2, 3, 4), layout=LAST).shape == (2, 4, 3)

    def test_shape_functions(self, x):
        shape = memory_layouts.get_semantic_shape
        assert memory_layouts.get_raw_shape(x) == (2, 3, 4)
        assert memory_layouts.get_raw_shape(raw(2, 3, 4)) == (2, 3, 4)
        assert shape(x) == shape(x, assumed_layout=LAST) == (2, 4, 3)
        assert shape(raw(2, 3, 4), assumed_layout=LAST) == (2, 4, 3)
        assert shape(raw(2, 3, 4), assumed_layout=None) == (2, 3, 4)
        with pytest.raises(AssertionError, match="the variable has the layout"):
            shape(x, assumed_layout=None)
        with pytest.raises(ValueError, match="unknown conversion"):
            shape(raw(2, 3, 4), assumed_layout="nonsense")


ELEMENTWISE = {
    "+": lambda x: x + x,
    "+ number": lambda x: x + 1,
    "number +": lambda x: 1 + x,
    "-": lambda x: x - x * x,
    "number -": lambda x: 1 - x,
    "*": lambda x: x * x,
    "* number": lambda x: x * 3,
    "/": lambda x: x / (x + 1),
    "number /": lambda x: 1 / x,
    "**": lambda x: x**x,
    "** number": lambda x: x**3,
    "number **": lambda x: 2**x,
    "negation": lambda x: -x,
    "abs": lambda x: abs(x),
    "add": lambda x: F.add(x, x, x),
    "relu": lambda x: F.relu(x),
}


#: The graph of their gradients contains functions that refuse layouts, as in release 7.
NOT_TWICE = {"/", "**", "abs", "relu"}


class TestFunctions:
    @pytest.mark.parametrize(
        ("name", "double_backprop"),
        [(name, False) for name in ELEMENTWISE]
        + [(name, True) for name in ELEMENTWISE if name not in NOT_TWICE],
    )
    def test_elementwise(self, name, double_backprop):
        function, array = ELEMENTWISE[name], raw(2, 2, 3) / 4
        plain = chainer.Variable(channels_second(array))
        x = chainer.Variable(array.copy(), layout=LAST)
        y, expected = function(x), function(plain)
        assert (y.layout, y.shape) == (LAST, (2, 3, 2))
        np.testing.assert_allclose(channels_second(y.raw_array), expected.array, rtol=1e-6)
        z = y.as_layout(None)
        z.grad = expected.grad = np.random.standard_normal(z.shape).astype("f")
        z.backward(enable_double_backprop=double_backprop)
        expected.backward()
        assert x.grad_var.layout == LAST
        np.testing.assert_allclose(
            channels_second(x.grad_var.raw_array), plain.grad, rtol=1e-5, atol=1e-6
        )

    def test_gradients_are_accumulated(self, x):
        for _ in range(2):
            y = (x * 3).as_layout(None)
            y.grad = np.ones_like(y.array)
            y.backward()
        np.testing.assert_array_equal(x.grad_var.raw_array, np.full((2, 3, 4), 6, "f"))
        x.cleargrad()
        assert x.grad_var is None

    def test_without_graph(self, x):
        with chainer.no_backprop_mode():
            assert (x + x).layout == LAST
            assert x.as_layout(None).creator is None
            with pytest.raises(RuntimeError, match="non-standard layouts"):
                F.tanh(x)

    @pytest.mark.parametrize(
        "call",
        [
            F.tanh,
            F.sum,
            F.identity,
            lambda x: x[0],
            lambda x: x.T,
            lambda x: x.reshape(-1),
            lambda x: F.convolution_nd(x, raw(1, 4, 1)),
            lambda x: F.maximum(x, x),
        ],
    )
    def test_others_refuse(self, x, call):
        with pytest.raises(RuntimeError, match="Inputs with non-standard layouts"):
            call(x)

    def test_mixed_layouts(self, x):
        with pytest.raises(RuntimeError, match="mixed memory layouts"):
            x + chainer.Variable(raw(2, 4, 3))
        with pytest.raises(RuntimeError, match=REFUSED):
            x // x

    def test_batch_normalization_keeps_the_layout(self):
        array, ones = raw(2, 4, 5, 3), np.ones(3, "f")
        x = chainer.Variable(array, layout=LAST)
        y = F.batch_normalization(x, ones, ones)
        assert (y.layout, y.shape) == (LAST, (2, 3, 4, 5))
        expected = F.batch_normalization(channels_second(array), ones, ones)
        np.testing.assert_allclose(channels_second(y.raw_array), expected.array, rtol=1e-5)

    def test_functions_of_programs(self, x):
        seen = []

        class Checking(chainer.FunctionNode):
            def check_layout_forward(self, inputs):
                seen.append((inputs[0].layout, self.input_layouts))

            def forward(self, inputs):
                self.output_layouts = (LAST_W,)
                return (inputs[0] * 1,)

        node = Checking()
        for name in ("input_layouts", "output_layouts"):
            with pytest.raises(AssertionError, match="not applied yet"):
                getattr(node, name)
        (y,) = node.apply((x,))
        assert seen == [(LAST, (LAST,))]
        assert (y.layout, y.shape) == (LAST_W, x.shape)
        assert node.output_layouts == (LAST_W,)
        (y,) = Checking().apply((raw(2, 3, 4),))
        assert seen[1] == (None, (None,))
        assert y.layout == LAST_W

    def test_layouts_of_ordinary_functions(self):
        y = F.tanh(f32(1))
        assert y.creator.input_layouts == y.creator.output_layouts == (None,)
        with pytest.raises(AssertionError, match="must be a tuple"):
            y.creator.output_layouts = [None]


class TestParameter:
    def test_initialize_takes_the_semantic_shape(self):
        p = chainer.Parameter(1, layout=LAST)
        assert (p.layout, p.is_initialized, p.raw_array) == (LAST, False, None)
        p.initialize((2, 3, 4))
        assert (p.shape, p.raw_array.shape) == ((2, 3, 4), (2, 4, 3))
        assert p.raw_array.flags.c_contiguous
        assert p.grad_var.layout == LAST
        assert np.isnan(p.grad_var.raw_array).all()

    def test_shape_is_that_of_the_raw_array(self):
        p = chainer.Parameter(1, (2, 3, 4), layout=LAST)
        assert (p.shape, p.raw_array.shape) == ((2, 4, 3), (2, 3, 4))
        p = chainer.Parameter(raw(2, 3, 4), layout=LAST)
        assert (p.shape, p.raw_array.shape) == ((2, 4, 3), (2, 3, 4))

    @pytest.mark.parametrize("name", ["SGD", "Adam", "MomentumSGD", "RMSprop"])
    def test_updates(self, name):
        optimizers = [getattr(chainer.optimizers, name)() for _ in range(2)]
        links = [ParameterLink(LAST), ParameterLink(None)]
        for link, optimizer in zip(links, optimizers, strict=True):
            optimizer.setup(link)
            link.cleargrads()
            y = (link.p * link.p).as_layout(None)
            y.grad = np.ones_like(y.array)
            y.backward()
            optimizer.update()
        first, second = (link.p.raw_array for link in links)
        np.testing.assert_allclose(first, second, rtol=1e-6)
        assert (first < 2).all()
        with pytest.raises(RuntimeError, match=REFUSED):
            links[0].p.array

    def test_rules_that_are_not_elementwise(self):
        class Rule(chainer.UpdateRule):
            def update_core(self, param):
                pass

        p = chainer.Parameter(1, (2, 3, 4), layout=LAST)
        p.update()
        p.update_rule = Rule()
        with pytest.raises(RuntimeError, match="non-elementwise update rule"):
            p.update()
        p.update_rule.is_elementwise = True
        p.update()

    def test_links(self):
        link = ParameterLink(LAST)
        assert [(name, p.layout) for name, p in link.namedparams()] == [("/p", LAST), ("/u", LAST)]
        with pytest.warns(UserWarning, match="not been initialized"):
            assert link.count_params() == 24
        link.cleargrads()
        link.to_device("@strict:0").to_device("@numpy")
        assert (link.p.layout, link.p.shape) == (LAST, (2, 4, 3))
        assert link.copy("copy").p.layout == LAST
        assert link.copy().p.layout == LAST


def test_type_checks_see_the_semantic_shape(x):
    with using_config("enable_backprop", False), pytest.raises(InvalidType):
        F.add(x, chainer.Variable(raw(2, 3, 4)))

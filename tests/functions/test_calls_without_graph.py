"""Functions that make no function node without a graph: equal values, checks and hooks."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.autograd import known_calls
from chainer.core.autograd.function_node import FunctionNode
from chainer.kernel import Kernel, register_kernel
from chainer.utils.type_check import InvalidType


def array(*shape, dtype=np.float32):
    return np.random.RandomState(len(shape) + shape[0]).uniform(-1, 1, shape).astype(dtype)


def link(make):
    made = make()
    # All rows are the same otherwise.
    for param in made.params():
        param.array[...] = array(*param.shape)
    return made


def attention(x):
    k, v = array(1, 2, 5, 4), array(1, 2, 5, 3)
    return F.scaled_dot_product_attention(F.reshape(x, (1, 2, 1, 4)), k, v, causal=True)


def rotary(x):
    return F.rotary_embedding(x, tables=F.rotary_tables(np.arange(3, 4), 8))


FUNCTIONS = {
    "linear": link(lambda: L.Linear(8, 3)),
    "linear without bias": link(lambda: L.Linear(8, 3, nobias=True)),
    "layer normalization": link(lambda: L.LayerNormalization(8)),
    "RMS normalization": link(lambda: L.RMSNormalization(8)),
    "sum": lambda x: x + F.reshape(x, (1, 8)),
    "product": lambda x: x * F.reshape(x, (1, 8)),
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate=True),
    "silu": F.silu,
    "quick gelu": F.quick_gelu,
    "attention": attention,
    "rotation": rotary,
}
each = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@each
def test_values_and_gradients_required_are_those_of_nodes(function):
    x = chainer.Variable(array(1, 8))
    expected = function(x)
    assert expected.creator_node is not None
    with chainer.no_backprop_mode():
        for _ in range(3):
            y = function(x)
            assert type(y.array) is np.ndarray
            assert y.creator_node is None
            assert y.dtype == expected.dtype
            assert y.requires_grad == expected.requires_grad
            np.testing.assert_allclose(y.array, expected.array, atol=1e-6)


@each
def test_later_calls_apply_no_node(function, monkeypatch):
    x = chainer.Variable(array(1, 8))
    with chainer.no_backprop_mode():
        first = function(x)

        def apply(self, inputs):
            raise AssertionError(f"{type(self).__name__} was applied")

        monkeypatch.setattr(FunctionNode, "apply", apply)
        np.testing.assert_array_equal(function(x).array, first.array)


@each
def test_hooks_see_all_calls(function):
    class Hook(chainer.FunctionHook):
        name = "calls"

        def __init__(self):
            self.labels = []

        def forward_preprocess(self, function, in_data):
            self.labels.append(function.label)

    x = chainer.Variable(array(1, 8))
    with chainer.no_backprop_mode():
        function(x)
        for _ in range(2):
            with Hook() as hook:
                function(x)
            assert hook.labels


@each
def test_debug_mode_finds_nan(function):
    x = chainer.Variable(np.full((1, 8), np.nan, np.float32))
    with chainer.no_backprop_mode():
        assert np.isnan(function(x).array).any()
        with chainer.using_config("debug", True), pytest.raises(RuntimeError, match="NaN"):
            function(x)


@pytest.mark.parametrize(
    "name", ["linear", "linear without bias", "layer normalization", "RMS normalization"]
)
@pytest.mark.parametrize(
    "wrong", [array(1, 8, dtype=np.float64), array(1, 7), np.ones((1, 8), np.int32)]
)
def test_inputs_that_do_not_fit_a_known_call_are_refused(name, wrong):
    function = FUNCTIONS[name]
    with chainer.no_backprop_mode():
        if name == "linear without bias" and wrong.dtype == np.float64:
            # Only a bias needs the dtype of the input.
            assert function(chainer.Variable(wrong)).dtype == np.float64
            return
        function(chainer.Variable(array(1, 8)))
        with pytest.raises(InvalidType):
            function(chainer.Variable(wrong))


def test_operands_that_do_not_fit_are_refused():
    x = chainer.Variable(array(1, 8))
    with chainer.no_backprop_mode():
        for other in (array(1, 8, dtype=np.float64), array(1, 7)):
            for operator in (lambda a, b: a + b, lambda a, b: a * b):
                with pytest.raises(InvalidType):
                    operator(x, chainer.Variable(other))
        with pytest.raises(InvalidType):
            F.gelu(chainer.Variable(np.ones(3, np.int32)))
        with pytest.raises(InvalidType):
            F.silu(chainer.Variable(np.ones(3, np.int32)))
        with pytest.raises(InvalidType):
            F.rotary_embedding(chainer.Variable(array(2, 3)), np.arange(2))
        q, k = array(1, 2, 1, 4), array(1, 2, 5, 4)
        for wrong in (array(1, 2, 5, 3), array(2, 2, 5, 4), array(1, 3, 5, 4), array(2, 5, 4)):
            with pytest.raises(InvalidType):
                F.scaled_dot_product_attention(q, wrong, wrong)
        with pytest.raises(InvalidType):
            F.scaled_dot_product_attention(q, k, array(1, 2, 4, 4))


def test_sums_of_numbers_and_of_broadcast_arrays():
    with chainer.no_backprop_mode():
        for shapes in [((), ()), ((2, 1), (1, 3)), ((0, 3), (0, 3))]:
            a, b = (chainer.Variable(np.full(shape, 2, np.float32)) for shape in shapes)
            assert type((a + b).array) is type((a * b).array) is np.ndarray
            np.testing.assert_array_equal((a + b).array, a.array + b.array)


def test_a_parameter_with_another_array():
    linear = link(lambda: L.Linear(8, 3))
    x = chainer.Variable(array(1, 8))
    with chainer.no_backprop_mode():
        linear(x)
        linear.W.array = linear.W.array * 2
        np.testing.assert_allclose(
            linear(x).array, x.array @ linear.W.array.T + linear.b.array, atol=1e-6
        )
        linear.b.array = linear.b.array + 1
        np.testing.assert_allclose(
            linear(x).array, x.array @ linear.W.array.T + linear.b.array, atol=1e-6
        )
        linear.b = None
        np.testing.assert_allclose(linear(x).array, x.array @ linear.W.array.T, atol=1e-6)
        # The same array, changed in place.
        linear.W.array[...] = 0
        np.testing.assert_array_equal(linear(x).array, np.zeros((1, 3)))
        linear.W.array = np.ones((3, 9), np.float32)
        with pytest.raises(InvalidType):
            linear(x)


def test_another_eps():
    norm = link(lambda: L.LayerNormalization(8))
    x = chainer.Variable(array(1, 8))
    with chainer.no_backprop_mode():
        small = norm(x).array
        norm.eps = 100.0
        assert abs(norm(x).array - norm.beta.array).max() < abs(small - norm.beta.array).max() / 5


class Zeros:
    """A kernel of ``linear`` that returns zeros."""

    def __init__(self, backend):
        pass

    def forward(self, x, W, b):
        return np.zeros((len(x), len(W)), x.dtype)

    backward_data = backward_weight = None


class Plugin:
    """A plugin with that kernel.

    Args:
        options: Of the kernel.
    """

    def __init__(self, **options):
        self.options = options

    def chainer_kernels(self, registry):
        kernel = Kernel("linear", "numpy:ndarray", "zeros", Zeros, **self.options)
        register_kernel(kernel, registry)


@pytest.mark.parametrize("options", [{}, {"unconditional": True}])
def test_kernels_that_are_registered_later(options):
    linear = link(lambda: L.Linear(8, 3))
    x = chainer.Variable(array(1, 8))
    zeros = np.zeros((1, 3), np.float32)
    plugin = Plugin(**options)
    with chainer.no_backprop_mode():
        expected = linear(x).array
        chainer.plugins.register(plugin)
        try:
            np.testing.assert_array_equal(linear(x).array, zeros if options else expected)
            with chainer.using_config("kernels", ("zeros",)):
                np.testing.assert_array_equal(linear(x).array, zeros)
            np.testing.assert_array_equal(linear(x).array, zeros if options else expected)
        finally:
            chainer.plugins.unregister(plugin)
        np.testing.assert_array_equal(linear(x).array, expected)


def test_few_calls_are_remembered(monkeypatch):
    from chainer.functions.connection import linear as module

    monkeypatch.setattr(known_calls, "_MOST_CALLS", 2)
    calls = module._known_products._calls
    with chainer.no_backprop_mode():
        for n in range(1, 6):
            link(lambda n=n: L.Linear(8, n))(chainer.Variable(array(1, 8)))
            assert len(calls) <= 2
        calls.clear()
        L.Linear(8, 3)(chainer.Variable(array(4096, 8)))
        assert not calls
    L.Linear(8, 3)(chainer.Variable(array(1, 8)))
    assert not calls

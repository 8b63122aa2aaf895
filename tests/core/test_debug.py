import traceback

import numpy as np
import pytest

import chainer
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, using_config
from tests.core.nodes import MultiplyArrays, NotDifferentiable, exp, f32, multiply, var


class NaNForward(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * np.float32("nan"),)


class NaNBackward(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 1,)

    def backward(self, target_input_indexes, grad_outputs):
        return (Variable(grad_outputs[0].array * np.float32("nan")),)


class NaNBackwardOnArrays(NaNBackward):
    def backward_arrays(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0] * np.float32("nan"),)


@pytest.fixture
def debug():
    with using_config("debug", True):
        yield


class TestNaN:
    def test_forward(self, debug):
        with pytest.raises(
            RuntimeError, match="NaN is detected on forward computation of NaNForward"
        ):
            NaNForward().apply((var(1),))

    def test_forward_without_graph(self, debug):
        with chainer.no_backprop_mode(), pytest.raises(RuntimeError, match="NaN is detected"):
            NaNForward().apply((var(1),))

    @pytest.mark.parametrize("double", [False, True])
    @pytest.mark.parametrize("node", [NaNBackward, NaNBackwardOnArrays])
    def test_backward(self, debug, node, double):
        (y,) = node().apply((var(1),))
        with pytest.raises(
            RuntimeError, match=f"NaN is detected on backward computation of {node.__name__}"
        ):
            y.backward(enable_double_backprop=double)

    def test_backward_tells_where_the_function_was_applied(self, debug):
        (y,) = NaNBackward().apply((var(1),))
        with pytest.raises(RuntimeError, match=r"(?s)Stacktrace of the function.*test_debug\.py"):
            y.backward()

    def test_grad(self, debug):
        x = var(1)
        (y,) = NaNBackward().apply((x,))
        with pytest.raises(RuntimeError, match="NaN is detected"):
            chainer.grad([y], [x])

    def test_integers_are_not_looked_at(self, debug):
        class Integers(FunctionNode):
            def forward(self, inputs):
                return (np.array([1, 2]),)

        assert Integers().apply((var(1),))[0].array.tolist() == [1, 2]

    def test_not_without_debug_mode(self):
        x = var(1)
        (y,) = NaNForward().apply((x,))
        assert np.isnan(y.array).all()
        (z,) = NaNBackward().apply((x,))
        z.backward()
        assert np.isnan(x.grad).all()

    def test_on_an_accelerator(self, debug):
        x = chainer.get_device("@strict").send(f32(1))
        with pytest.raises(RuntimeError, match="NaN is detected"):
            NaNForward().apply((x,))


class TestStack:
    def test_in_debug_mode(self, debug):
        y = multiply(var(1), var(2))
        assert isinstance(y.creator.stack, traceback.StackSummary)
        assert any("test_debug.py" in frame.filename for frame in y.creator.stack)

    def test_otherwise(self):
        assert multiply(var(1), var(2)).creator.stack is None

    def test_entries_take_effect_after_many_equal_calls(self):
        """The usual case is remembered, and must not hide what was switched on later."""
        x = var(1.0)
        for _ in range(3):
            exp(x)
        with using_config("debug", True):
            assert exp(x).creator.stack is not None
        assert exp(x).creator.stack is None
        with using_config("lazy_grad_sum", True):
            assert exp(x).creator.lazy_grad_sum
        assert not exp(x).creator.lazy_grad_sum
        config.debug = True
        assert exp(x).creator.stack is not None
        del config.debug
        assert exp(x).creator.stack is None


@pytest.mark.parametrize("debug_mode", [False, True])
class TestNothingToPropagate:
    """Silent in debug mode as well, as in releases 4 and 7."""

    def test_leaf(self, debug_mode):
        with using_config("debug", debug_mode):
            x = var(1, 2)
            x.backward()
        assert x.grad is None

    @pytest.mark.filterwarnings("ignore:.*defines neither backward:chainer.MisuseWarning")
    def test_not_differentiable(self, debug_mode):
        with using_config("debug", debug_mode):
            x = var(1)
            NotDifferentiable().apply((x,))[0].backward()
        assert x.grad is None


class TestSwitches:
    def test_set_debug(self):
        assert not chainer.is_debug()
        chainer.set_debug(True)
        try:
            assert chainer.is_debug()
            assert chainer.config.debug
        finally:
            chainer.set_debug(False)
            del chainer.config.debug
        assert not chainer.is_debug()

    def test_debug_mode_context(self):
        with pytest.warns(DeprecationWarning, match="DebugMode"):
            on, off = chainer.DebugMode(True), chainer.DebugMode(False)
        with on:
            assert chainer.is_debug()
            with off:
                assert not chainer.is_debug()
            assert chainer.is_debug()
        assert not chainer.is_debug()
        del chainer.config.debug

    def test_result_is_the_same(self, debug):
        x = var(2)
        multiply(multiply(x, x, MultiplyArrays), x, MultiplyArrays).backward()
        assert x.grad.tolist() == [12]

"""Where releases 4 and 7 differ: each test is named after what programs of one of them rely on."""

from __future__ import annotations

import abc
import inspect
import io
import os
import pickle
import subprocess
import sys
import threading
import unittest
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import _backprop_utils, _runtime_info, testing
from chainer.backends import cuda
from chainer.testing import attr
from chainer.utils import conv_nd
from chainer.utils.type_check import InvalidType
from tests.core.nodes import Multiply, f32, var


def quiet():
    """Fails the test if the block warns, because warnings are errors."""
    return warnings.catch_warnings()


class TestTransfers:
    @pytest.mark.parametrize("method", ["to_cpu"])
    def test_methods_for_one_device_are_deprecated(self, method):
        link = L.Linear(2, 3)
        with pytest.warns(DeprecationWarning, match="to_device"):
            assert getattr(link, method)() is link

    def test_arrays_on_an_accelerator_stay_there(self):
        from chainer.core.arrays.device_resident import HostToDevice

        link = L.Linear(2, 3).to_device("@strict:0")
        link.device_resident_accept(HostToDevice(chainer.get_device("@strict:1")))
        assert link.W.device.name == "@strict:0"

    def test_overriding_to_cpu_is_deprecated(self):
        with pytest.warns(DeprecationWarning, match="Overriding method 'to_cpu'"):

            class Old(chainer.Link):
                def to_cpu(self):
                    return super().to_cpu()

        assert issubclass(Old, chainer.Link)

    @pytest.mark.parametrize("method", ["to_device", "to_chx", "from_chx"])
    def test_final_methods(self, method):
        def override(self, *args):
            return self

        with pytest.raises(TypeError, match=f"method '{method}' is final"):
            type("Bad", (chainer.Link,), {method: override})

    def test_attributes_of_release_4(self):
        link = L.Linear(2, 3)
        assert link._cpu is True
        with pytest.warns(DeprecationWarning, match="_device_id"):
            assert link._device_id is None
        assert link.to_device("@strict:0")._cpu is False

    def test_id_of_the_cpu(self):
        assert cuda.get_device_from_id(-1) is cuda.DummyDevice

    @pytest.mark.parametrize("scalar", [3.0, np.float32(3)])
    def test_to_cpu_of_scalars(self, scalar):
        array = cuda.to_cpu(scalar)
        assert type(array) is np.ndarray
        assert (array.shape, float(array)) == ((), 3)

    def test_stream_of_to_gpu_is_deprecated(self, monkeypatch):
        monkeypatch.setattr(cuda, "check_cuda_available", lambda: (_ for _ in ()).throw(KeyError))
        with pytest.warns(DeprecationWarning, match="stream option"), pytest.raises(KeyError):
            cuda.to_gpu(f32(1), stream=object())

    def test_fuse_without_cupy(self, monkeypatch):
        monkeypatch.setattr("chainer.backends.cupy.library.is_installed", lambda: False)

        def function(x):
            return x

        assert cuda.fuse(function) is function
        assert cuda.fuse(kernel_name="name")(function) is function

    def test_bad_level_of_cudnn(self, monkeypatch):
        monkeypatch.setitem(vars(cuda), "cudnn_enabled", False)
        assert chainer.should_use_cudnn("bad level") is False
        assert chainer.backends.intel64.should_use_ideep("==always") in (False, True)

    def test_parameter_is_made_on_the_device_it_was_moved_to(self):
        parameter = chainer.Parameter(1)
        parameter.to_device("@strict:1")
        parameter.initialize((2,))
        assert parameter.device.name == "@strict:1"


class TestVariables:
    @pytest.mark.parametrize(
        "compare",
        [lambda x: x == x, lambda x: x != x, lambda x: x < x, lambda x: x >= x, bool],
    )
    @pytest.mark.parametrize("error", [TypeError, NotImplementedError])
    def test_comparisons(self, compare, error):
        with pytest.raises(error):
            compare(var(1))

    def test_gradient_of_the_root(self):
        x = var(2)
        for retain, expected in [(False, None), (True, 1)]:
            y = x * x
            y.backward(retain_grad=retain)
            assert y.grad == expected
        y = x * x
        y.grad = f32(1)
        y.backward()
        assert y.grad is None

    def test_backward_of_a_leaf(self):
        x = chainer.Variable(np.array(3, "f"))
        x.backward()
        assert x.grad == 1

    def test_gradients_are_not_added_in_place(self):
        x = var(1, 2)
        x.grad = before = f32(1, 1)
        y = x * 2
        y.grad = f32(1, 1)
        y.backward()
        assert before.tolist() == [1, 1]
        assert x.grad.tolist() == [3, 3]

    def test_gradient_of_an_uninitialized_parameter(self):
        parameter = chainer.Parameter()
        with pytest.raises(RuntimeError, match=r"Cannot retrieve Variable.grad. Either"):
            _ = parameter.grad
        assert parameter.grad_var is None
        parameter.cleargrad()
        assert parameter.grad is None
        for given in (None, f32(1, 2)):
            parameter = chainer.Parameter()
            parameter.grad = given
            assert parameter.grad is given

    @pytest.mark.parametrize("mode", ["copy", "init"])
    def test_copies_of_an_uninitialized_parameter(self, mode):
        parameter = chainer.links.Linear(None, 2).copy(mode=mode).W
        with pytest.raises(RuntimeError, match=r"Cannot retrieve Variable.grad"):
            _ = parameter.grad

    def test_dtype_of_an_uninitialized_parameter(self):
        assert chainer.Parameter(chainer.initializers.One(dtype="d")).dtype == np.float64
        assert chainer.Parameter(chainer.initializers.One()).dtype == np.float32
        with pytest.raises(RuntimeError, match="not determined yet"):
            _ = chainer.Parameter(lambda array: None).dtype

    def test_gradient_of_another_shape_is_refused(self):
        with pytest.raises(ValueError, match="Shape of data and grad"):
            chainer.Variable(f32(1, 2), grad=f32(1))

    def test_data_of_wrong_type(self):
        with pytest.raises(TypeError):
            chainer.Variable([1.0])

    def test_requires_grad_may_be_a_number(self):
        assert chainer.Variable(f32(1), requires_grad=1).requires_grad
        assert not chainer.Variable(f32(1), requires_grad=0).requires_grad

    def test_gradient_of_wrong_shape_from_a_rule(self):
        class Bad(Multiply):
            def backward(self, target_input_indexes, grad_outputs):
                return tuple(F.reshape(grad_outputs[0], (1, -1)) for _ in target_input_indexes)

        (y,) = Bad().apply((var(1, 2), var(1, 2)))
        y.grad = f32(1, 1)
        with pytest.raises(ValueError, match="shape of gradients returned"):
            y.backward()

    def test_grad_with_retain_grad(self):
        x = var(2)
        y = x * x
        z = y * 3
        chainer.grad([z], [x], retain_grad=True)
        assert (z.grad, y.grad, x.grad) == (1, 3, 12)

    def test_grad_outputs_of_wrong_length(self):
        x = var(2)
        with pytest.raises(ValueError, match="grad_outputs"):
            chainer.grad([x * x], [x], grad_outputs=[var(1), var(1)])

    def test_root_with_axes_but_one_element(self):
        y = var(2) * 3
        assert y.shape == (1,)
        with pytest.warns(DeprecationWarning, match="scalar"):
            y.backward()

    def test_loss_scale_of_leaves(self):
        x = chainer.Variable(np.ones((), "f"))
        (x * x).backward(loss_scale=4)
        assert (x.grad, x._loss_scale) == (8, 4)


class TestFunctions:
    def test_hooks_get_one_argument(self):
        seen = []

        class Hook(chainer.FunctionHook):
            name = "hook"

            def added(self, *args, **kwargs):
                seen.append(("added", args, kwargs))

            def deleted(self, *args, **kwargs):
                seen.append(("deleted", args, kwargs))

        with Hook():
            pass
        node = Multiply()
        node.add_hook(Hook())
        node.delete_hook("hook")
        assert seen == [
            ("added", (None,), {}),
            ("deleted", (None,), {}),
            ("added", (node,), {}),
            ("deleted", (node,), {}),
        ]

    def test_hooks_without_argument(self):
        seen = []

        class Hook(chainer.FunctionHook):
            name = "hook"

            def added(self):
                seen.append("added")

            def deleted(self):
                seen.append("deleted")

        with Hook():
            pass
        assert seen == ["added", "deleted"]

    def test_base_methods_of_hooks_without_argument(self):
        chainer.FunctionHook().added()
        chainer.FunctionHook().deleted()

    def test_hooks_see_functions_inside_backward(self):
        seen = []

        class Hook(chainer.FunctionHook):
            name = "hook"

            def forward_postprocess(self, function, in_data):
                seen.append(function.label)

        y = F.sum(F.tanh(var(1, 2)))
        with Hook():
            y.backward()
        assert seen

    @pytest.mark.parametrize("result", [[f32(1)], f32(1), (1.5,), ("text",)])
    def test_forward_of_wrong_type(self, result):
        class Bad(chainer.FunctionNode):
            def forward(self, inputs):
                return result

        with pytest.raises(TypeError, match="forward output must be a tuple"):
            Bad().apply((var(1),))

    def test_wrong_number_of_gradients(self):
        class Bad(Multiply):
            def backward(self, target_input_indexes, grad_outputs):
                return grad_outputs * 3

        (y,) = Bad().apply((var(1), var(1)))
        y.grad = f32(1)
        match = "number of gradients returned from backward is incorrect: 3 != expected 2"
        with pytest.raises(ValueError, match=match):
            y.backward()

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (lambda: var(1, 2) + var(1, 2, 3), "lhs.shape"),
            (lambda: F.linear(f32(1, 2).reshape(1, 2), np.ones((2, 3), "f")), "W.shape"),
            (lambda: F.relu(np.ones(2, "i")), "x.dtype"),
            (lambda: F.softmax_cross_entropy(np.ones((2, 3), "f"), np.ones(3, "i")), "t.shape"),
        ],
    )
    def test_messages_name_arguments(self, call, text):
        with pytest.raises(InvalidType) as caught:
            call()
        assert text in str(caught.value)
        assert "in_types" not in str(caught.value)

    def test_invalid_type_can_be_pickled(self):
        with pytest.raises(InvalidType) as caught:
            F.relu(np.ones(2, "i"))
        restored = pickle.loads(pickle.dumps(caught.value))
        assert str(restored) == str(caught.value)
        assert restored.expect == caught.value.expect

    def test_nothing_was_retained(self):
        class Forgetful(chainer.FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * 2,)

        node = Forgetful()
        node.apply((var(1),))
        assert node.get_retained_inputs() == ()
        assert node.get_retained_outputs() == ()

    def test_lazy_grad_sum_does_not_warn(self):
        with chainer.using_config("lazy_grad_sum", True):
            x = var(1)
            y = x * x + x
            y.grad = f32(1)
            y.backward()
        assert x.grad.tolist() == [3]

    def test_node_classes_are_attributes_of_functions(self):
        assert issubclass(F.MaxPooling2D, chainer.FunctionNode)

    def test_retain_after_backward_is_deprecated(self):
        class Old(chainer.Function):
            def forward(self, inputs):
                self.retain_outputs((0,), retain_after_backward=True)
                return (inputs[0] * 2,)

        with pytest.warns(DeprecationWarning, match="retain_after_backward"):
            Old()(var(1))


class TestConfiguration:
    def test_context_is_entered_twice(self):
        context = chainer.using_config("train", False)
        for _ in range(2):
            with context:
                assert chainer.config.train is False
            assert chainer.config.train is True
        context = chainer.no_backprop_mode()
        for _ in range(2):
            with context:
                assert chainer.config.enable_backprop is False

    def test_links_follow_the_dtype(self):
        assert L.Linear(2, 3).W.dtype == np.float32
        with chainer.using_config("dtype", np.float64):
            assert L.Linear(2, 3).W.dtype == np.float64

    def test_show_lists_all_entries(self):
        stream = io.StringIO()
        chainer.global_config.show(stream)
        names = [line.split()[0] for line in stream.getvalue().splitlines()]
        assert names == sorted(names)
        expected = """
            _will_recompute autotune compute_mode cudnn_deterministic
            cudnn_fast_batch_normalization debug dtype enable_backprop in_recomputing
            keep_graph_on_report lazy_grad_sum schedule_func train type_check use_cudnn
            use_cudnn_tensor_core use_ideep use_static_graph warn_nondeterministic
        """
        assert set(expected.split()) <= set(names)


class Pair(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.z = L.Linear(2, 2)
            self.a = L.Linear(2, 2)
            self.w = chainer.Parameter(1, (2,))
            self.b = chainer.Parameter(1, (2,))


class TestLinks:
    def test_order(self):
        link = Pair()
        names = ["/b", "/w", "/a/W", "/a/b", "/z/W", "/z/b"]
        assert [name for name, _ in link.namedparams()] == names
        assert [id(p) for p in link.params()] == [id(p) for _, p in link.namedparams()]
        assert list(link.children()) == [link.a, link.z]
        assert list(link.links()) == [link, link.a, link.z]

    def test_shared_copies_have_no_gradients(self):
        link = L.Linear(2, 2)
        link.W.grad = np.ones((2, 2), "f")
        replica = link.copy()
        assert replica.W.array is link.W.array
        assert replica.W.grad is None
        assert link.W.grad is not None

    @pytest.mark.parametrize("mode", ["init", "copy"])
    def test_own_parameters_of_a_chain_follow_the_mode(self, mode):
        link = Pair()
        assert link.copy(mode).w.array is not link.w.array
        assert link.copy().w.array is link.w.array

    def test_copyparams_copies_persistent_values(self):
        source, target, other = (L.BatchNormalization(2) for _ in range(3))
        source.avg_mean[...] = 5
        source.N = 7
        array = target.avg_mean
        target.copyparams(source)
        assert target.avg_mean is array
        assert (array.tolist(), target.N) == ([5, 5], 7)
        other.copyparams(source, copy_persistent=False)
        assert (other.avg_mean.tolist(), other.N) == ([0, 0], 0)

    def test_registration_by_arguments_does_not_warn(self):
        with quiet():
            link = chainer.Link(x=(2, 3))
            link.add_param("y", (2,))
            chain = chainer.Chain(child=link)
            chain.add_link("other", L.Linear(2, 2))
        assert {name for name, _ in chain.namedparams()} == {
            "/child/x",
            "/child/y",
            "/other/W",
            "/other/b",
        }

    @pytest.mark.parametrize("error", [TypeError, AttributeError])
    def test_link_without_forward(self, error):
        with pytest.raises(error):
            chainer.Link()(1)

    def test_call_without_the_constructor(self):
        class Forgetful(chainer.Link):
            def __init__(self):
                pass

            def forward(self, x):
                return x

        with pytest.raises(RuntimeError, match=r"Link.__init__\(\) has not been called"):
            Forgetful()(1)

    def test_text(self):
        assert str(L.Linear(3, 2)) == "Linear(in_size=3, out_size=2, nobias=False)"
        text = str(chainer.Sequential(L.Linear(3, 2), F.relu))
        assert text.startswith("Sequential(\n  (0): Linear(in_size=3")
        assert "\n  (1): <function relu at " in text

    def test_empty_sequential(self):
        with pytest.raises(RuntimeError):
            chainer.Sequential()(f32(1))

    def test_chain_list_is_a_mutable_sequence(self):
        from collections.abc import MutableSequence

        chain = chainer.ChainList(L.Linear(1, 1))
        assert isinstance(chain, MutableSequence)
        assert not isinstance(chain, (list, tuple))
        chain.append(value=L.Linear(1, 2))
        chain.append(link=L.Linear(1, 3))
        assert [link.name for link in chain] == ["0", "1", "2"]
        assert chain.pop().out_size == 3
        chain += [L.Linear(1, 4)]
        chain.reverse()
        assert [link.out_size for link in chain] == [4, 2, 1]
        assert [link.name for link in chain] == ["0", "1", "2"]
        with pytest.raises(TypeError):
            chain.append()

    def test_add_link_calls_append_and_insert(self):
        calls = []

        class Listed(chainer.ChainList):
            def append(self, link):
                calls.append("append")
                super().append(link)

            def insert(self, index, link):
                calls.append("insert")
                super().insert(index, link)

        Listed().add_link(L.Linear(1, 1))
        assert calls == ["append", "insert"]

    @pytest.mark.parametrize(
        ("dtype", "expected"), [(np.float16, "e"), (chainer.mixed16, "f"), (np.float64, "d")]
    )
    def test_statistics_of_batch_normalization(self, dtype, expected):
        with chainer.using_config("dtype", dtype):
            link = L.BatchNormalization(2)
        arrays = (link.avg_mean, link.avg_var, link.gamma, link.beta)
        assert {array.dtype.char for array in arrays} == {expected}

    def test_link_hooks_and_call(self):
        class Old(chainer.Link):
            def __call__(self, x):
                return x

        seen = []

        class Hook(chainer.LinkHook):
            name = "hook"

            def forward_preprocess(self, args):
                seen.append(args.link)

        old, new = Old(), L.Linear(1, 1)
        with Hook():
            old(1)
            new(np.ones((1, 1), "f"))
        assert seen == [new]

    def test_metaclass_of_links(self):
        class Abstract(chainer.Link, abc.ABC):
            @abc.abstractmethod
            def forward(self, x): ...

        with pytest.raises(TypeError, match="abstract"):
            Abstract()


class TestOptimizers:
    def test_hooks_without_name(self):
        optimizer = chainer.optimizers.SGD().setup(L.Linear(1, 1))

        def hook(optimizer):
            pass

        optimizer.add_hook(hook)
        optimizer.remove_hook("hook")

    def test_hook_of_a_name_that_is_taken(self):
        def hook(rule, param):
            pass

        rule = chainer.optimizers.SGD().create_update_rule()
        rule.add_hook(hook)
        with pytest.raises(KeyError):
            rule.add_hook(hook)

    def test_hook_before_setup(self):
        with pytest.raises(RuntimeError):
            chainer.optimizers.SGD().add_hook(lambda optimizer: None, name="hook")

    def test_new_epoch_of_an_updater(self):
        optimizer = chainer.optimizers.SGD().setup(L.Linear(1, 1))
        optimizer.new_epoch()
        assert optimizer.epoch == 1
        with pytest.raises(RuntimeError):
            optimizer.new_epoch(auto=True)
        optimizer.use_auto_new_epoch = True
        optimizer.new_epoch(auto=True)
        assert optimizer.epoch == 2
        # As in release 7. Only where an updater set the attribute by default, calls of the program
        # are counted, as in release 4.
        with pytest.raises(RuntimeError, match="duplicated new_epoch"):
            optimizer.new_epoch()
        assert optimizer.epoch == 2

    def test_rules_see_uninitialized_parameters(self):
        seen = []

        class Rule(chainer.UpdateRule):
            def update_core(self, param):
                seen.append(param)

        parameter = chainer.Parameter()
        parameter.update_rule = Rule()
        parameter.update()
        assert len(seen) == 1
        assert seen[0] is parameter


class TestReporter:
    def test_reporters_of_other_threads(self):
        reporter = chainer.Reporter()
        with reporter:
            thread = threading.Thread(target=chainer.report, args=({"a": 1},))
            thread.start()
            thread.join()
        assert reporter.observation == {}

    def test_weights(self):
        summary = chainer.Summary()
        summary.add(1.0, 3)
        summary.add(5.0)
        assert summary.compute_mean() == 2
        summary = chainer.DictSummary()
        summary.add({"a": (1.0, 3)})
        summary.add({"a": 5.0})
        assert summary.compute_mean() == {"a": 2}

    @pytest.mark.parametrize("cls", [chainer.Summary, chainer.DictSummary])
    def test_state_that_was_not_stored(self, cls):
        class Empty(chainer.Deserializer):
            def __getitem__(self, key):
                return self

            def __call__(self, key, value):
                raise KeyError(key)

        with pytest.warns(UserWarning, match="not saved"):
            cls().serialize(Empty())


class TestTesting:
    def test_product_with_several_names(self):
        assert testing.product({"a,b": [(1, 2), (3, 4)], "c": [5]}) == [
            {"a": 1, "b": 2, "c": 5},
            {"a": 3, "b": 4, "c": 5},
        ]

    def test_parameterize_keeps_the_class_of_errors(self):
        class Case(unittest.TestCase):
            def test_it(self):
                raise KeyError(self.x)

        bundle = testing.parameterize({"x": 7})(Case)
        try:
            ((cls, _, name),) = bundle.cases
            assert name == "Case_param_0_{x=7}"
            with pytest.raises(KeyError):
                cls("test_it").test_it()
        finally:
            globals().pop("Case_param_0_{x=7}", None)

    @pytest.mark.parametrize(
        ("names", "params"), [(("test_a",), [{}]), (None, {}), ("test_a", [{}])]
    )
    def test_arguments_of_inject_backend_tests(self, names, params):
        with pytest.raises(TypeError):
            testing.inject_backend_tests(names, params)(unittest.TestCase)

    def test_fix_random_of_a_wrong_object(self):
        parameters = inspect.signature(testing.fix_random).parameters
        assert {"setup_method", "teardown_method"} <= set(parameters)
        with pytest.raises(TypeError, match="got 3"):
            testing.fix_random()(3)

    @pytest.mark.parametrize(("names", "runs"), [(["test_a"], [2, 1]), (None, [2, 2])])
    def test_selected_methods_of_inject_backend_tests(self, names, runs):
        """Selected tests run for each backend, the others once, without its argument."""
        calls = []

        class Case(unittest.TestCase):
            def test_a(self, backend_config):
                calls.append("a")

            def test_b(self, backend_config=None):
                calls.append("b")

        configs = [{}, {"use_ideep": "never", "use_cudnn": "auto"}]
        bundle = testing.inject_backend_tests(names, configs)(Case)
        created = [name for name in globals() if name.startswith("Case_")]
        try:
            load = unittest.defaultTestLoader.loadTestsFromTestCase
            for cls, _, _ in bundle.cases:
                assert load(cls).run(unittest.TestResult()).wasSuccessful()
        finally:
            for name in created:
                del globals()[name]
        assert [calls.count("a"), calls.count("b")] == runs

    def test_marks_without_pytest(self, monkeypatch):
        """They fail where they are used, not when the module is imported."""
        program = """
import sys
sys.modules["pytest"] = None
from chainer.testing import attr
assert not attr.is_available()
for use in (lambda: attr.slow(len), lambda: attr.gpu(len), attr.check_available):
    try:
        use()
    except RuntimeError:
        continue
    raise SystemExit("no error")
"""
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_is_linear_is_deprecated(self):
        with pytest.warns(DeprecationWarning, match="is_linear"):
            decorate = testing.unary_math_function_unittest(F.identity, np.positive, is_linear=True)

        class Case(unittest.TestCase):
            pass

        squared = []

        class Spy(chainer.FunctionHook):
            name = "spy"

            def forward_preprocess(self, function, in_data):
                squared.append(function.label)

        bundle = decorate(Case)
        try:
            cls = bundle.cases[0][0]
            with Spy():
                unittest.TestSuite([cls("test_double_backward_cpu")]).debug()
        finally:
            for name in [name for name in globals() if name.startswith("Case_param")]:
                del globals()[name]
        assert "_ * _" in squared or "_ ** 2.0" in squared

    def test_skip_in_a_repeated_test(self):
        class Case(unittest.TestCase):
            @testing.condition.retry(2)
            def test_it(self):
                pytest.skip("reason")

        with pytest.raises((pytest.skip.Exception, unittest.SkipTest)):
            Case("test_it").test_it()

    def test_marks(self):
        @attr.slow
        def test():
            pass

        assert [mark.name for mark in test.pytestmark] == ["slow"]

    def test_gradient_check_without_y_grad(self):
        with pytest.raises(ValueError):
            chainer.gradient_check.check_backward(lambda x: x * 2, (np.ones(2),), None)

    def test_gradient_check_of_integer_inputs(self):
        def function(x, index):
            return x * index.array

        chainer.gradient_check.check_backward(
            function, (np.ones(2), np.array([2, 3])), np.ones(2), dtype="d"
        )
        with pytest.raises(RuntimeError):
            chainer.gradient_check.numerical_grad(lambda: None, [np.ones(2, "i")], [])

    def test_assert_allclose_of_lists(self):
        testing.assert_allclose([1.0, 2.0], (1.0, 2.0))
        with pytest.raises(AssertionError):
            testing.assert_allclose([1.0], [2.0])


class TestUtilities:
    @pytest.mark.parametrize(("flag", "checked"), [("0", False), ("1", True)])
    def test_type_checks_are_switched_by_the_environment(self, flag, checked):
        program = f"""
import numpy, chainer.functions as F
from chainer.utils.type_check import InvalidType
try:
    F.matmul(numpy.zeros((2, 3), "f"), numpy.zeros((2, 3), "f"))
except Exception as error:
    assert isinstance(error, InvalidType) == {checked}, error
"""
        environment = dict(os.environ, CHAINER_TYPE_CHECK=flag)
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)

    def test_dilation_of_windows(self):
        image = np.arange(25.0).reshape(1, 1, 5, 5)
        columns = conv_nd.im2col_nd_cpu(image, (2, 2), (1, 1), (0, 0), dilate=2)
        assert columns.shape == (1, 1, 2, 2, 3, 3)
        np.testing.assert_array_equal(columns[0, 0, 1, 1], image[0, 0, 2:, 2:])
        again = conv_nd.col2im_nd_cpu(columns, (1, 1), (0, 0), (5, 5), dilate=(2, 2))
        assert again.shape == image.shape
        plain = conv_nd.im2col_nd_cpu(image, (2, 2), (1, 1), (0, 0))
        dilated = conv_nd.im2col_nd_cpu(image, (2, 2), (1, 1), (0, 0), 0, False, (1, 1))
        np.testing.assert_array_equal(plain, dilated)

    def test_unexpected_arguments(self):
        parse = chainer.utils.argument.parse_kwargs
        assert parse({"a": 1}, ("a", 0), ("b", 2)) == (1, 2)
        with pytest.raises(ValueError, match="gone"):
            parse({"c": 1}, ("a", 0), c="gone")

    def test_runtime_info(self):
        stream = io.StringIO()
        chainer.print_runtime_info(stream)
        lines = stream.getvalue().splitlines()
        for name in ("Platform", "Chainer", "ChainerX", "NumPy", "CuPy", "iDeep"):
            assert any(line.startswith(f"{name}:") for line in lines), name

        info = _runtime_info._get_runtime_info()
        assert info.chainer_version == chainer.__version__
        assert info.numpy_version == np.__version__
        assert info.chainerx_available is False
        assert str(info) == stream.getvalue()

    def test_walker_alias_is_a_device_resident(self):
        sampler = chainer.utils.WalkerAlias([1, 2, 3])
        with pytest.warns(DeprecationWarning, match="to_device"):
            assert sampler.to_cpu() is sampler
        assert sampler.to_device("@numpy") is sampler

    def test_defaults_are_not_mutable(self):
        """Programs scan the package for lists and dictionaries as default values."""
        for module in (chainer, F, L, chainer.training, chainer.optimizers, testing):
            for name in dir(module):
                function = getattr(module, name, None)
                if not inspect.isfunction(function):
                    continue
                for parameter in inspect.signature(function).parameters.values():
                    assert not isinstance(parameter.default, (list, dict)), (name, parameter)


class TestBackpropSteps:
    """``chainer._backprop_utils``, for programs that walk graphs by themselves."""

    def test_step(self):
        x = var(3)
        y = x * x
        (function, node) = y.creator_node, x.node
        gradients = {node: [var(1)]}
        step = _backprop_utils.backprop_step
        step(function, (0, 1), (var(1),), gradients, False)
        (gradient,) = gradients[node]
        assert gradient.array.tolist() == [7]
        function.lazy_grad_sum = True
        step(function, (0, 1), (var(1),), gradients, False)
        assert len(gradients[node]) == 3

    def test_nan_in_debug_mode(self):
        x = var(3)
        y = x * 2
        with pytest.raises(RuntimeError, match="NaN is detected on backward"):
            _backprop_utils.backprop_step(y.creator_node, (0,), (var(np.nan),), {x.node: []}, True)

    def test_function_that_accumulates(self):
        class Double(chainer.FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * 2,)

            def backward_accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
                (known,) = grad_inputs
                total = grad_outputs[0] * 2
                return (total if known is None else known + total,)

        x = var(3)
        (y,) = Double().apply((x,))
        gradients = {x.node: [var(1), var(1)]}
        _backprop_utils.backprop_step(y.creator_node, (0,), (var(1),), gradients, False)
        (gradient,) = gradients[x.node]
        assert gradient.array.tolist() == [4]

    def test_reduce(self):
        gradients = [var(1), var(2), var(3)]
        total = _backprop_utils._reduce(gradients)
        assert total.array.tolist() == [6]
        assert len(gradients) == 1
        assert gradients[0] is total
        assert _backprop_utils._reduce([]) is None

"""A test suite as projects wrote them for Chainer 7; it also runs under Chainer 7.8.1 itself.

``test_suite_of_release_7.py`` runs this file with both releases and compares the results.
"""

import unittest

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer import gradient_check, testing
from chainer import links as L
from chainer.testing import attr, condition


@testing.parameterize(
    *testing.product({"shape": [(3, 2), ()], "dtype": [np.float16, np.float32, np.float64]})
)
@testing.inject_backend_tests(
    None,
    [{}, {"autotune": True}]
    + testing.product({"use_cuda": [True], "use_cudnn": ["never", "always"]})
    + [{"use_chainerx": True, "chainerx_device": "native:0"}],
)
class TestSoftplusLike(testing.FunctionTestCase):
    def setUp(self):
        self.check_forward_options.update({"atol": 1e-3, "rtol": 1e-3})
        if self.dtype == np.float16:
            self.check_forward_options.update({"atol": 1e-2, "rtol": 1e-2})
            self.check_backward_options.update({"atol": 1e-2, "rtol": 1e-2})
            self.check_double_backward_options.update({"atol": 5e-2, "rtol": 5e-2})
        else:
            self.check_double_backward_options = {"atol": 1e-3, "rtol": 1e-2}

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, self.shape).astype(self.dtype),)

    def forward(self, inputs, device):
        (x,) = inputs
        return (F.log(1 + F.exp(x)),)

    def forward_expected(self, inputs):
        (x,) = inputs
        return (np.asarray(np.log1p(np.exp(x)), self.dtype),)


@testing.inject_backend_tests(["test_forward"], [{}, {"cudnn_deterministic": True}])
@testing.parameterize_pytest("axis,keepdims", [(0, True), ((0, 1), False)])
class TestSumByOwnTests(testing.FunctionTestCase):
    skip_backward_test = True
    skip_double_backward_test = True

    def before_test(self, test_name):
        assert test_name == self.test_name
        np.random.seed(1)

    def generate_inputs(self):
        values = np.random.uniform(-1, 1, (2, 3)).astype(np.float32)
        assert values[0, 0] == np.float32(2 * 0.417022004702574 - 1)
        return (values,)

    def forward(self, inputs, device):
        assert isinstance(device, chainer.backend.Device)
        return (F.sum(inputs[0], axis=self.axis, keepdims=self.keepdims),)

    def forward_expected(self, inputs):
        return (np.asarray(inputs[0].sum(axis=self.axis, keepdims=self.keepdims)),)

    def test_forward(self, backend_config):
        self.run_test_forward(backend_config)

    test_backward = None
    test_double_backward = None


@testing.inject_backend_tests(None, [{}])
class TestFailures(testing.FunctionTestCase):
    """A wrong function is found, by an error that is an AssertionError."""

    def generate_inputs(self):
        return (np.random.uniform(1, 2, (2, 3)).astype(np.float32),)

    def forward(self, inputs, device):
        return (inputs[0] * 2,)

    def forward_expected(self, inputs):
        return (inputs[0] * 3,)

    def test_forward(self, backend_config):
        with pytest.raises(testing.FunctionTestError, match="do not match"):
            self.run_test_forward(backend_config)


@testing.inject_backend_tests(None, [{}])
@testing.parameterize({"nobias": False}, {"nobias": True})
class TestLinear(testing.LinkTestCase):
    def setUp(self):
        self.param_names = ("W",) if self.nobias else ("W", "b")
        self.check_backward_options.update({"atol": 1e-3, "rtol": 1e-3})

    def generate_params(self):
        W = np.random.uniform(-1, 1, (2, 3)).astype(np.float32)
        if self.nobias:
            return (W,)
        return W, np.random.uniform(-1, 1, (2,)).astype(np.float32)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (4, 3)).astype(np.float32),)

    def create_link(self, initializers):
        if self.nobias:
            return L.Linear(3, 2, nobias=True, initialW=initializers[0])
        W, b = initializers
        return L.Linear(3, 2, initialW=W, initial_bias=b)

    def forward_expected(self, link, inputs):
        (x,) = inputs
        y = x.dot(link.W.array.T)
        return (y if self.nobias else y + link.b.array,)


class TestStatistics(testing.LinkTestCase):
    """``forward_expected`` sees the link after the forward computation."""

    skip_backward_test = True

    def generate_params(self):
        return [np.ones(3, np.float32)]

    def create_link(self, initializers):
        return L.BatchNormalization(3, initial_gamma=initializers[0], decay=0.5)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (5, 3)).astype(np.float32),)

    def forward(self, link, inputs, device):
        link(inputs[0])
        return (chainer.Variable(link.avg_mean),)

    def forward_expected(self, link, inputs):
        np.testing.assert_allclose(link.avg_mean, 0.5 * inputs[0].mean(0), rtol=1e-4)
        return (link.avg_mean,)

    def test_forward(self):
        self.run_it()

    def run_it(self):
        super().test_forward(testing.BackendConfig({}))

    test_backward = None


@testing.inject_backend_tests(None, [{}])
class TestLinearInitializers(testing.LinkInitializersTestCase):
    param_names = ["W", "b"]

    def generate_params(self):
        return np.ones((2, 3), np.float32), np.zeros(2, np.float32)

    def generate_inputs(self):
        return (np.ones((4, 3), np.float32),)

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(3, 2, initialW=W, initial_bias=b)

    def forward(self, link, inputs, device):
        return (link(inputs[0]),)

    def get_initializers(self):
        bias = [chainer.initializers.Constant(2), 3, testing.InitializerArgument(None, 0)]
        return [chainer.initializers.One(), np.full((2, 3), 5, np.float32)], bias


@testing.unary_math_function_unittest(
    F.expm1, make_data=None, backward_options={"atol": 1e-3, "rtol": 1e-3}
)
class TestExpm1(unittest.TestCase):
    pass


@testing.inject_backend_tests(["test_with_backend"], [{}, {"autotune": True}])
@testing.parameterize({"n": 1}, {"n": 2})
class TestMixed(unittest.TestCase):
    def test_with_backend(self, backend_config):
        x = backend_config.get_array(np.arange(3.0, dtype=np.float32))
        assert isinstance(x, np.ndarray)
        with backend_config:
            assert float(F.sum(chainer.Variable(x * self.n)).array) == 3 * self.n

    def test_without(self):
        assert self.n in (1, 2)


class TestAttributes(unittest.TestCase):
    @attr.gpu
    def test_gpu(self):
        raise AssertionError("needs a GPU")

    @attr.multi_gpu(2)
    def test_multi_gpu(self):
        raise AssertionError("needs two GPUs")

    @attr.slow
    def test_slow(self):
        pass

    @condition.retry(3)
    def test_retry(self):
        assert np.random.RandomState(0).rand() < 1

    @condition.repeat(2)
    def test_repeat(self):
        pass

    @testing.with_requires("numpy>=1.0")
    def test_requires(self):
        pass

    @testing.without_requires("numpy>=1.0")
    def test_without_requires(self):
        raise AssertionError("numpy is there")


class TestHelpers(unittest.TestCase):
    def test_product(self):
        assert testing.product({"a,b": [(1, 2), (3, 4)], "c": [5]}) == [
            {"a": 1, "b": 2, "c": 5},
            {"a": 3, "b": 4, "c": 5},
        ]
        assert testing.from_pytest_parameterize("a", [1, 2]) == [{"a": 1}, {"a": 2}]

    def test_backend_config(self):
        config = testing.BackendConfig({"use_cuda": True})
        assert config.cuda_device == 0
        assert config.get_func_str() == (
            "use_chainerx_false__chainerx_device_None__use_cuda_true__cuda_device_0__"
            "use_cudnn_never__cudnn_deterministic_false__autotune_false__"
            "cudnn_fast_batch_normalization_false__use_ideep_never"
        )

    def test_trainer(self):
        trainer = testing.get_trainer_with_mock_updater((4, "iteration"), iter_per_epoch=2)
        assert trainer.updater.previous_epoch_detail is None
        trainer.run()
        assert trainer.updater.iteration == 4
        assert trainer.updater.epoch == 2
        assert trainer.updater.previous_epoch_detail == 1.5
        assert trainer.updater.update_core.call_count == 4

    def test_gradient_checks(self):
        x = np.random.uniform(-1, 1, (2, 3)).astype(np.float32)
        i = np.array([0, 2], np.int32)
        gy = np.random.uniform(-1, 1, (2,)).astype(np.float32)
        gradient_check.check_backward(
            lambda x, i: F.select_item(x * x, i), (x, i), gy, dtype=np.float64, atol=1e-4, rtol=1e-4
        )
        gradient_check.check_double_backward(
            lambda x, i: F.select_item(x * x, i),
            (x, i),
            gy,
            (np.ones_like(x),),
            dtype=np.float64,
            atol=1e-3,
            rtol=1e-3,
        )
        with pytest.raises(AssertionError, match="check_backward failed"):
            gradient_check.check_backward(
                lambda x: F.sigmoid(x) + chainer.Variable(x.array), x, np.ones_like(x)
            )

    def test_errors(self):
        with pytest.raises(TypeError):
            testing.BackendConfig([])
        with pytest.raises(ValueError):
            testing.BackendConfig({"nonsense": 1})
        with pytest.raises(TypeError):
            testing.inject_backend_tests("test_forward", [{}])
        with pytest.raises(TypeError):
            testing.product(([{"a": 1}],))
        with pytest.raises(AssertionError):
            testing.generate_seed()
        with pytest.raises(AssertionError):
            condition.repeat_with_success_at_least(1, 2)


testing.run_module(__name__, __file__)

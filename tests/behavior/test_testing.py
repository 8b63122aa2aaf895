"""chainer.testing and chainer.gradient_check, as test suites for releases 4 to 7 use them."""

import unittest

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import gradient_check, testing
from chainer.testing import condition


@pytest.mark.parametrize("link", [L.Linear(3, 2), L.StatelessLSTM(3, 2), L.ChildSumTreeLSTM(3, 2)])
def test_check_of_wide_inputs_with_narrow_parameters(link):
    """check_backward in float64 works with a link whose float32 parameters are not listed."""
    random = np.random.RandomState(0)
    x, gy = random.randn(4, 3).astype("f"), random.randn(4, 2).astype("f")
    inputs = x if isinstance(link, L.Linear) else (gy, gy, x)
    gys = gy if isinstance(link, L.Linear) else (gy, gy)
    gradient_check.check_backward(link, inputs, gys, (), dtype=np.float64, atol=1e-3, rtol=1e-3)


def test_numerical_half_runs_without_type_checks():
    """The first call of check_backward checks types, those for the finite differences do not."""
    flags = []

    def function(x):
        flags.append(chainer.config.type_check)
        return x * 2

    gradient_check.check_backward(function, np.ones(2), np.ones(2))
    assert flags[0]
    assert not any(flags[1:])
    assert chainer.config.type_check


def test_check_with_all_inputs_excluded():
    """no_grads for every input checks that none gets a gradient."""
    x = np.ones((2, 3), "f")
    gradient_check.check_backward(lambda x: chainer.Variable(x.array * 2), x, x, no_grads=[True])
    with pytest.raises(RuntimeError):
        gradient_check.check_backward(lambda x: x * 2, x, x, no_grads=[True])


@pytest.mark.parametrize("scalar", [1, 0, 0.5, np.float64(2)])
def test_scalar_output_gradients(scalar):
    """numerical_grad takes a scalar for the gradient of every element, and returns a list."""
    x = np.array([1.0, 2.0, 3.0])
    gradients = gradient_check.numerical_grad(lambda: (x**2,), (x,), (scalar,))
    assert type(gradients) is list
    np.testing.assert_allclose(gradients[0], 2 * x * scalar, atol=1e-6)


@pytest.mark.parametrize(
    ("outputs", "eps"), [((1,), 0), ((1,), -1), ((1, 1), 1e-3), ((np.ones(2),), 1e-3), ((), 1e-3)]
)
def test_wrong_arguments_of_numerical_grad(outputs, eps):
    """A step that is not positive, or outputs that do not fit, raise AssertionError."""
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(AssertionError):
        gradient_check.numerical_grad(lambda: (x**2,), (x,), outputs, eps=eps)


def test_numerical_gradient_at_infinity():
    """The numerical gradient at infinity is NaN, also with the search for kinks."""
    x = np.array([np.inf])
    for detect in (False, True):
        (gx,) = gradient_check.numerical_grad(
            lambda: (x * 2,), (x,), (1,), detect_nondifferentiable=detect
        )
        assert np.isnan(gx).all()


EXPECTED_CALLS = []


def sinh(x, dtype):
    EXPECTED_CALLS.append((x.dtype, dtype))
    return np.sinh(x).astype(dtype)


@testing.unary_math_function_unittest(F.sinh, func_expected=sinh, backward_options={"eps": 1e-3})
class TestUnary(unittest.TestCase):
    def test_expected_function(self):
        """func_expected is called as func_expected(x, dtype=x.dtype)."""
        EXPECTED_CALLS.clear()
        self.check_forward(self.x)
        self.check_backward(self.x, self.gy)
        self.check_double_backward(self.x, self.gy, self.ggx)
        assert set(EXPECTED_CALLS) == {(np.dtype(self.dtype), np.dtype(self.dtype))}

    def test_options_are_merged_into_presets(self):
        """Options that are given are merged into the presets, key by key."""
        half = self.dtype == np.float16
        forward = 2**-10 if half else 1e-4
        assert self.forward_options == {"atol": forward, "rtol": forward}
        backward = 2**-4 if half else 1e-4
        preset = {"dtype": np.float64, "atol": backward, "rtol": backward}
        assert self.backward_options == {**preset, "eps": 1e-3}
        assert self.double_backward_options == {**preset, **({"eps": 2**-4} if half else {})}


def test_is_linear_is_deprecated():
    """unary_math_function_unittest(is_linear=...) gives a DeprecationWarning."""
    with pytest.warns(DeprecationWarning, match="is_linear"):
        testing.unary_math_function_unittest(F.sinh, is_linear=False)


def run(case, name="test"):
    result = unittest.TestResult()
    case(name).run(result)
    return result


def test_trials_run_on_new_instances():
    """Each trial of a repeated test has an instance, setUp and tearDown of its own."""
    log = []

    class Case(unittest.TestCase):
        count = 0

        def setUp(self):
            log.append("setUp")

        def tearDown(self):
            log.append("tearDown")

        @condition.repeat(3)
        def test(self):
            self.count += 1
            assert self.count == 1

    assert run(Case).wasSuccessful()
    # Once around the whole, once around each trial.
    assert log == ["setUp", *["setUp", "tearDown"] * 3, "tearDown"]


def test_message_of_repeated_trials():
    """The error of repeated trials has the counts and the first failure only."""
    numbers = iter(range(10))

    class Case(unittest.TestCase):
        @condition.repeat_with_success_at_least(5, 4)
        def test(self):
            number = next(numbers)
            assert number == 0, f"failure {number}"

    ((_, text),) = run(Case).failures
    assert "Fail: 2, Success: 1" in text
    assert "first error message:" in text
    assert "failure 1" in text
    assert "failure 2" not in text


def test_wrong_use_of_trials():
    """More successes than trials, and classes that are not test cases, are AssertionErrors."""
    with pytest.raises(AssertionError):
        condition.repeat_with_success_at_least(2, 3)

    class NoTestCase:
        @condition.retry(2)
        def test(self):
            """Is not run."""

    with pytest.raises(AssertionError):
        NoTestCase().test()


def test_mock_updater():
    """The mock updater counts as a real one does, and calls update_core at each update."""
    trainer = testing.get_trainer_with_mock_updater((2, "epoch"), iter_per_epoch=1.5)
    updater = trainer.updater
    assert updater.previous_epoch_detail is None
    assert updater.epoch_detail == 0
    new_epochs = []
    updater.update_core.side_effect = lambda: new_epochs.append(None)
    flags = []
    for _ in range(5):
        updater.update()
        flags.append(updater.is_new_epoch)
    assert flags == [False, True, True, False, True]
    assert len(new_epochs) == updater.update_core.call_count == 5


def test_trainer_with_mock_updater_runs():
    """A trainer with a mock updater and a stop trigger of epochs runs to the end."""
    trainer = testing.get_trainer_with_mock_updater((2, "epoch"), iter_per_epoch=3)
    trainer.run()
    assert trainer.updater.iteration == 6


def test_tests_that_need_no_backend_run_once():
    """inject_backend_tests leaves other methods to run once per set of parameters."""
    log = []

    @testing.parameterize({"p": 1}, {"p": 2})
    @testing.backend.inject_backend_tests(["test_a"], [{}, {"device": "@strict:0"}])
    class Case(unittest.TestCase):
        def test_a(self, backend_config):
            log.append(("a", self.p))

        def test_b(self):
            log.append(("b", self.p))

    suite = unittest.TestSuite(
        unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in Case
    )
    assert suite.run(unittest.TestResult()).wasSuccessful()
    assert sorted(log) == [("a", 1), ("a", 1), ("a", 2), ("a", 2), ("b", 1), ("b", 2)]


def test_texts_of_backend_configurations():
    """The names of generated classes, and repr(), tell every property with its value."""
    config = testing.BackendConfig({"use_cuda": True})
    names = config.get_func_str().split("__")
    assert "use_cuda_true" in names
    assert "use_cudnn_never" in names
    assert "cuda_device_0" in names
    text = repr(testing.BackendConfig({}))
    assert text.startswith("<BackendConfig use_chainerx=False ")
    assert text.endswith(" use_ideep='never'>")

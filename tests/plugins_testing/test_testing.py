"""``chainer.testing``: assertions, parameters, markers, retries, seeds."""

import os
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer import testing
from chainer.testing import attr, condition
from tests.core.nodes import exp, f32, multiply

ROOT = Path(__file__).parents[2]


def run(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def problems(result):
    return [text for _, text in result.failures + result.errors]


class TestNames:
    def test_all_are_there(self):
        for name in testing.__all__:
            assert callable(getattr(testing, name))
        assert set(testing.__all__) <= set(dir(testing))

    def test_unknown(self):
        with pytest.raises(AttributeError, match="nonsense"):
            testing.nonsense

    def test_import_is_light(self):
        code = (
            "import sys, chainer, chainer.testing, chainer.plugins.testing.pytest_plugin;"
            "print([m for m in ('pytest', 'unittest', 'scipy') if m in sys.modules])"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
        )
        assert result.stdout.strip() == "[]"


class TestAssertAllclose:
    def test_close(self):
        testing.assert_allclose(f32(1, 2), [1, 2.0001])
        testing.assert_allclose(chainer.Variable(f32(1)), np.ones(1))
        testing.assert_allclose(chainer.get_device("@strict").send(f32(1, 2)), f32(1, 2))
        testing.assert_allclose(f32(np.nan, np.inf), f32(np.nan, np.inf))
        testing.assert_allclose(3, 3)

    def test_message_names_the_worst(self):
        with pytest.raises(AssertionError) as error:
            testing.assert_allclose(f32(1, 1, 1), f32(1, 1.5, 3), atol=0.1, rtol=0)
        text = str(error.value)
        assert "assert_allclose failed" in text
        assert "i: (2,)" in text
        assert "x[i]: 1.0" in text
        assert "absolute error[i]: 2.0" in text
        assert "shape: (3,) (3,)" in text
        assert "dtype: float32 float32" in text

    def test_nan_is_the_worst(self):
        with pytest.raises(AssertionError, match=r"i: \(0,\)"):
            testing.assert_allclose(f32(np.nan, 1), f32(1, 100))

    def test_terse(self):
        with pytest.raises(AssertionError) as error:
            testing.assert_allclose(f32(1), f32(2), verbose=False)
        assert "\nx: " not in str(error.value)

    def test_shapes(self):
        with pytest.raises(AssertionError, match="shape"):
            testing.assert_allclose(f32(1, 2), f32(1, 2, 3))

    def test_tolerance(self):
        testing.assert_allclose(f32(1), f32(1.1), atol=0.2)
        testing.assert_allclose(f32(1), f32(1.1), atol=0, rtol=0.1)
        with pytest.raises(AssertionError):
            testing.assert_allclose(f32(1), f32(1.1), atol=0, rtol=0.05)

    def test_others_are_refused(self):
        with pytest.raises(TypeError, match="array"):
            testing.assert_allclose(object(), f32(1))


class TestAssertWarns:
    def test_given(self):
        with testing.assert_warns(DeprecationWarning):
            warnings.warn("old", DeprecationWarning)
        with testing.assert_warns(Warning):
            warnings.warn("any", UserWarning)

    def test_not_given(self):
        with (
            pytest.raises(AssertionError, match="DeprecationWarning not triggered$"),
            testing.assert_warns(DeprecationWarning),
        ):
            pass

    def test_another(self):
        with (
            pytest.raises(AssertionError, match="not triggered; other warnings: UserWarning"),
            testing.assert_warns(DeprecationWarning),
        ):
            warnings.warn("x", UserWarning)


class TestProduct:
    def test_of_values(self):
        assert testing.product({"b": [3, 4], "a": [1, 2]}) == [
            {"a": 1, "b": 3},
            {"a": 1, "b": 4},
            {"a": 2, "b": 3},
            {"a": 2, "b": 4},
        ]
        assert testing.product({}) == [{}]

    def test_of_lists(self):
        assert testing.product([[{"a": 1}], [{"b": 1}, {"b": 2}]]) == [
            {"a": 1, "b": 1},
            {"a": 1, "b": 2},
        ]

    def test_of_dictionaries(self):
        assert testing.product_dict([{"a": 1}, {"a": 2}], [{"b": 1}]) == [
            {"a": 1, "b": 1},
            {"a": 2, "b": 1},
        ]

    def test_of_something_else(self):
        with pytest.raises(TypeError, match="product takes"):
            testing.product("ab")


class TestParameterize:
    def make(self, *params):
        class Case(unittest.TestCase):
            def test_a(self):
                assert self.a == 1, "boom"

        return testing.parameterize(*params)(Case)

    def test_classes(self):
        bundle = self.make({"a": 1}, {"a": 2, "b": [1]})
        assert [case.__name__ for case in bundle] == [
            "Case_param_0_{a=1}",
            "Case_param_1_{a=2, b=[1]}",
        ]
        first, second = bundle
        assert run(first).wasSuccessful()
        (text,) = problems(run(second))
        assert "boom" in text
        assert "Base test method: Case.test_a\nTest parameters:\n  a: 2\n  b: [1]" in text
        assert "Case_param_0_{a=1}" in globals()
        for case in bundle:
            del globals()[case.__name__]

    def test_stacked(self):
        bundle = testing.parameterize({"b": 1}, {"b": 2})(self.make({"a": 1}))
        cases = list(bundle)
        assert [(case.a, case.b) for case in cases] == [(1, 1), (1, 2)]
        assert all(run(case).wasSuccessful() for case in cases)
        assert "Case_param_0_{a=1}" not in globals()
        for case in cases:
            del globals()[case.__name__]

    def test_functions_stay_functions(self):
        (case,) = self.make({"a": 1, "f": lambda x: x + 1})
        assert case("test_a").f(1) == 2
        del globals()[case.__name__]

    def test_of_no_class(self):
        with pytest.raises(TypeError, match="decorates a test class"):
            testing.parameterize({"a": 1})(lambda: None)


@testing.parameterize(*testing.product({"n": [1, 2], "shape": [(), (3,)]}))
class TestParameterizedByPytest(unittest.TestCase):
    def test_attributes(self):
        assert self.n in (1, 2)
        assert self.shape in ((), (3,))


def test_parameterized_classes_are_collected():
    names = [name for name in globals() if name.startswith("TestParameterizedByPytest_param_")]
    assert len(names) == 4


class TestFixRandom:
    def test_function(self):
        drawn = []

        @testing.fix_random()
        def function():
            drawn.append(np.random.uniform())

        before = np.random.get_state()[1].tolist()
        function()
        function()
        assert drawn[0] == drawn[1]
        assert np.random.get_state()[1].tolist() == before

    def test_class(self):
        drawn = []

        @testing.fix_random()
        class Case(unittest.TestCase):
            def setUp(self):
                drawn.append(np.random.uniform())

            def test_a(self):
                drawn.append(np.random.uniform())

            test_b = test_a

        assert run(Case).wasSuccessful()
        assert drawn[:2] == drawn[2:]
        assert drawn[0] != drawn[1]

    def test_parameterized_class(self):
        drawn = []

        class Case(unittest.TestCase):
            def test_a(self):
                drawn.append(np.random.uniform())

        bundle = testing.fix_random()(testing.parameterize({"a": 1}, {"a": 2})(Case))
        for case in bundle:
            assert run(case).wasSuccessful()
            del globals()[case.__name__]
        assert drawn[0] == drawn[1]

    def test_generate_seed(self):
        seeds = []

        @testing.fix_random()
        def function():
            seeds.append((testing.generate_seed(), testing.generate_seed()))

        function()
        function()
        assert seeds[0] == seeds[1]
        assert seeds[0][0] != seeds[0][1]
        with pytest.raises(RuntimeError, match="fix_random"):
            testing.generate_seed()

    def test_nondeterministic(self, monkeypatch):
        monkeypatch.setenv("CHAINER_TEST_RANDOM_NONDETERMINISTIC", "1")
        drawn = []

        @testing.fix_random()
        def function():
            drawn.append(np.random.uniform())

        function()
        function()
        assert drawn[0] != drawn[1]

    def test_restored_after_a_failing_setup(self):
        @testing.fix_random()
        class Case(unittest.TestCase):
            def setUp(self):
                raise ZeroDivisionError

            def test_a(self):
                pass

        before = np.random.get_state()[1].tolist()
        assert problems(run(Case))
        assert np.random.get_state()[1].tolist() == before


class Flaky(unittest.TestCase):
    """Fails as often as it is told."""

    __test__ = False
    log = []

    def setUp(self):
        self.log.append("setUp")

    def tearDown(self):
        self.log.append("tearDown")


def flaky(decorator, failures):
    attempts = iter(range(100))

    class Case(Flaky):
        log = []

        @decorator
        def test_a(self):
            self.log.append("test")
            assert next(attempts) not in failures, "flaky"

    result = run(Case)
    return result.wasSuccessful(), Case.log, problems(result)


class TestCondition:
    def test_retry(self):
        good, log, _ = flaky(condition.retry(3), {0, 1})
        assert good
        assert log == ["setUp", "test", "tearDown"] * 3

    def test_retry_in_vain(self):
        good, log, (text,) = flaky(condition.retry(3), {0, 1, 2})
        assert not good
        assert log.count("test") == 3
        assert "0 of 3 trials succeeded, at least 1 of 3 expected" in text
        assert "trial 2:" in text

    def test_repeat(self):
        good, log, _ = flaky(condition.repeat(3), set())
        assert good
        assert log.count("test") == 3

    def test_repeat_fails_at_once(self):
        good, log, _ = flaky(condition.repeat(3), {1})
        assert not good
        assert log.count("test") == 2

    def test_some_successes(self):
        decorator = condition.repeat_with_success_at_least(5, 3)
        good, log, _ = flaky(decorator, {0, 2})
        assert good
        assert log.count("test") == 5
        assert flaky(decorator, set())[1].count("test") == 3
        assert not flaky(decorator, {0, 1, 2})[0]

    def test_skip(self):
        class Case(unittest.TestCase):
            @condition.retry(3)
            def test_a(self):
                raise unittest.SkipTest("not today")

        assert [reason for _, reason in run(Case).skipped] == ["not today"]

    def test_plain_class(self):
        calls = []

        class Case:
            def setup_method(self):
                calls.append("setup")

            @condition.retry(2)
            def test_a(self):
                calls.append("test")
                assert len(calls) > 2

        Case().test_a()
        assert calls == ["test", "setup", "test"]

    @pytest.mark.parametrize(("times", "least"), [(0, 0), (2, 3), (2, -1)])
    def test_nonsense(self, times, least):
        with pytest.raises(ValueError, match=f"{least} successes of {times} trials"):
            condition.repeat_with_success_at_least(times, least)


def marks(test):
    return {mark.name: mark for mark in getattr(test, "pytestmark", [])}


class TestAttr:
    @pytest.mark.parametrize("name", ["slow", "cudnn", "ideep"])
    def test_plain_markers(self, name):
        @getattr(attr, name)
        def test():
            pass

        assert set(marks(test)) == {name}

    @pytest.mark.parametrize(("limit", "skipped"), [("0", True), ("1", False), ("2", False)])
    def test_gpu(self, monkeypatch, limit, skipped):
        monkeypatch.setenv("CHAINER_TEST_GPU_LIMIT", limit)

        @attr.gpu
        def test():
            pass

        assert set(marks(test)) == {"gpu"}
        assert getattr(test, "__unittest_skip__", False) is skipped

    @pytest.mark.parametrize(("limit", "skipped"), [("0", True), ("1", True), ("2", False)])
    def test_multi_gpu(self, monkeypatch, limit, skipped):
        monkeypatch.setenv("CHAINER_TEST_GPU_LIMIT", limit)

        @attr.multi_gpu(2)
        def test():
            pass

        assert marks(test)["multi_gpu"].args == (2,)
        assert getattr(test, "__unittest_skip__", False) is skipped
        if skipped:
            assert f"CHAINER_TEST_GPU_LIMIT is {limit}" in test.__unittest_skip_why__

    def test_bad_limit(self, monkeypatch):
        monkeypatch.setenv("CHAINER_TEST_GPU_LIMIT", "many")
        with pytest.raises(ValueError, match="CHAINER_TEST_GPU_LIMIT must be an integer"):
            attr.gpu(lambda: None)

    def test_limit_defaults_to_what_is_there(self, monkeypatch):
        monkeypatch.delenv("CHAINER_TEST_GPU_LIMIT", raising=False)
        assert attr.gpu_limit() >= 0


class TestHelpers:
    def test_patch_lets_the_original_work(self):
        with testing.patch("chainer.plugins.testing.matrix.generate_matrix") as mock:
            from chainer.plugins.testing import matrix

            a = matrix.generate_matrix((2, 2), singular_values=1)
        assert a.shape == (2, 2)
        mock.assert_called_once()

    def test_patch_of_something_missing(self):
        with pytest.raises(ModuleNotFoundError, match="no_such_package"):
            testing.patch("no_such_package.thing")

    @pytest.mark.parametrize(
        ("requirements", "satisfied"),
        [
            (["numpy>=2.0"], True),
            (["numpy>=2.0", "numpy<1.0"], False),
            (["no-such-distribution"], False),
        ],
    )
    def test_requirements(self, requirements, satisfied):
        class Case(unittest.TestCase):
            @testing.with_requires(*requirements)
            def test_with(self):
                pass

            @testing.without_requires(*requirements)
            def test_without(self):
                pass

        (skipped,) = run(Case).skipped
        assert ("test_without" in str(skipped[0])) == satisfied

    def test_run_module(self, tmp_path):
        path = tmp_path / "test_it.py"
        path.write_text(
            "from chainer import testing\ndef test_it():\n    assert 1 == 2\n"
            "testing.run_module(__name__, __file__)\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
        result = subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
        assert result.returncode == 1
        assert "1 failed" in result.stdout

    def test_run_module_when_imported(self):
        assert testing.run_module("some.module", "file") is None


class TestGenerateMatrix:
    @pytest.mark.parametrize("shape", [(3, 3), (2, 4), (5, 2, 3, 2)])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
    def test_singular_values(self, shape, dtype):
        rank = min(shape[-2:])
        values = np.arange(1, rank + 1)
        a = testing.generate_matrix(shape, dtype, singular_values=values)
        assert a.shape == shape
        assert a.dtype == dtype
        found = np.linalg.svd(a, compute_uv=False)
        np.testing.assert_allclose(
            np.sort(found, axis=-1), np.broadcast_to(values, found.shape), 1e-4
        )

    @pytest.mark.parametrize(
        ("arguments", "values", "match"),
        [
            (((3,),), 1, "at least 2 dimensions"),
            (((3, 3), int), 1, "floating-point"),
            (((3, 3),), -1, "negative"),
        ],
    )
    def test_errors(self, arguments, values, match):
        with pytest.raises(ValueError, match=match):
            testing.generate_matrix(*arguments, singular_values=values)


def _square(x):
    return multiply(x, x)


class TestUnaryMathFunctionUnittest:
    def run(self, func, **kwargs):
        class Case(unittest.TestCase):
            pass

        bundle = testing.unary_math_function_unittest(func, **kwargs)(Case)
        failed = set()
        for case in bundle:
            result = run(case)
            failed |= {test.id().rpartition(".")[2] for test, _ in result.failures + result.errors}
            del globals()[case.__name__]
        return failed

    def test_right(self):
        assert self.run(exp, label_expected="Exp") == set()

    def test_label(self):
        assert self.run(exp) == {"test_label"}

    def test_expected_values(self):
        expected = lambda x: x * x
        assert self.run(_square, func_expected=expected, label_expected="Multiply") == set()
        failed = self.run(_square, func_expected=np.cos, label_expected="Multiply")
        assert failed == {"test_forward_cpu"}

    def test_no_numpy_function(self):
        with pytest.raises(ValueError, match="NumPy has no function '_square'"):
            testing.unary_math_function_unittest(_square)

    def test_data(self):
        shapes = []

        def make_data(shape, dtype):
            shapes.append((shape, np.dtype(dtype).name))
            return tuple(np.full(shape, 0.5, dtype) for _ in range(3))

        assert self.run(exp, label_expected="Exp", make_data=make_data) == set()
        assert {shape for shape, _ in shapes} == {(), (3, 2)}
        assert {dtype for _, dtype in shapes} == {"float16", "float32", "float64"}

    def test_options(self):
        impossible = {"atol": 0, "rtol": 0}
        failed = self.run(
            exp,
            label_expected="Exp",
            backward_options=impossible,
            double_backward_options=impossible,
        )
        assert failed == {"test_backward_cpu", "test_double_backward_cpu"}

    def test_linear(self):
        double = lambda x: x + x
        failed = self.run(
            double, func_expected=lambda x: 2 * x, label_expected="_ + _", is_linear=True
        )
        assert failed == set()


class TestSerializers:
    def test_save_and_load(self, tmp_path):
        loaded = {}
        testing.save_and_load(
            "content",
            loaded,
            "name.txt",
            lambda path, src: Path(path).write_text(src),
            lambda path, dst: dst.update(text=Path(path).read_text(), name=Path(path).name),
        )
        assert loaded == {"text": "content", "name": "name.txt"}

    @pytest.mark.parametrize("form", ["npz", "hdf5"])
    def test_forms(self, form):
        source, target = chainer.links.Linear(2, 3), chainer.links.Linear(2, 3)
        getattr(testing, f"save_and_load_{form}")(source, target)
        np.testing.assert_array_equal(source.W.array, target.W.array)


class TestTrainer:
    def test_counts(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        seen = []
        trainer = testing.get_trainer_with_mock_updater((6, "iteration"), iter_per_epoch=3)
        updater = trainer.updater
        trainer.extend(
            lambda t: seen.append((updater.iteration, updater.epoch, updater.is_new_epoch)),
            name="watch",
            trigger=(1, "iteration"),
        )
        trainer.run()
        assert seen == [
            (1, 0, False),
            (2, 0, False),
            (3, 1, True),
            (4, 1, False),
            (5, 1, False),
            (6, 2, True),
        ]
        assert updater.epoch_detail == 2

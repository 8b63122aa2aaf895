"""Seeds, repeated trials, markers."""

import unittest

import numpy as np
import pytest

from chainer import testing
from chainer.testing import attr, condition


def run(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def problems(result):
    return [text for _, text in result.failures + result.errors]


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
        with pytest.raises(AssertionError, match="fix_random"):
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
        trials = ["setUp", "test", "tearDown"] * 3
        assert log == ["setUp", *trials, "tearDown"]

    def test_retry_in_vain(self):
        good, log, (text,) = flaky(condition.retry(3), {0, 1, 2})
        assert not good
        assert log.count("test") == 3
        assert "Fail: 3, Success: 0" in text
        assert "first error message:" in text
        assert text.count("AssertionError: flaky") == 1  # that of the first trial only

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

    def test_class_that_is_not_a_test_case(self):
        class Case:
            @condition.retry(2)
            def test_a(self):
                """Is not run."""

        with pytest.raises(AssertionError, match="must be a method of a unittest.TestCase"):
            Case().test_a()

    @pytest.mark.parametrize(("times", "least"), [(0, 0), (2, 3), (2, -1)])
    def test_nonsense(self, times, least):
        with pytest.raises(AssertionError, match=f"got {least} and {times}"):
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

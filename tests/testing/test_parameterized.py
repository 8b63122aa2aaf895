"""Parameterized test cases."""

import unittest

import pytest

from chainer import testing


def run(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def problems(result):
    return [text for _, text in result.failures + result.errors]


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

"""Names of parameterized classes, comma keys, and pairwise combinations."""

import itertools
import types
import unittest

import numpy as np
import pytest

from chainer import testing
from chainer.testing import parameterized


def test_keys_of_several_names():
    assert testing.product({"a,b": [(1, 2), [3, 4]], "c": [5, 6]}) == [
        {"a": 1, "b": 2, "c": 5},
        {"a": 1, "b": 2, "c": 6},
        {"a": 3, "b": 4, "c": 5},
        {"a": 3, "b": 4, "c": 6},
    ]


@pytest.mark.parametrize("value", [(1,), (1, 2, 3), 1, np.zeros(2)])
def test_values_of_a_wrong_length(value):
    with pytest.raises(AssertionError, match="2 parameters 'a,b' need a tuple or list of 2 values"):
        testing.product({"a,b": [value]})
    with pytest.raises(AssertionError, match="got"):
        testing.from_pytest_parameterize("a,b", [value])


def test_blanks_around_names_are_kept():
    assert testing.from_pytest_parameterize("a, b", [(1, 2)]) == [{"a": 1, " b": 2}]


@pytest.mark.parametrize("bad", [([{"a": 1}],), [{"a": 1}], "ab", 1])
def test_product_of_something_else(bad):
    with pytest.raises(TypeError, match="product takes"):
        testing.product(bad)


def test_empty_products():
    assert testing.product({}) == testing.product([]) == testing.product_dict() == [{}]
    assert testing.product_dict([{"a": 1}], []) == []


def test_projects_may_replace_product_dict(monkeypatch):
    monkeypatch.setattr(parameterized, "product_dict", lambda *lists: [{"n": len(lists)}])
    assert testing.product({"a": [1, 2], "b": [3]}) == [{"n": 2}]
    assert parameterized._product_dict_orig([{"a": 1}]) == [{"a": 1}]


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (2, 3, 4), (3, 3, 3, 3), (2, 1, 5, 2, 3)])
def test_pairwise_combinations(sizes):
    lists = [[{f"p{i}": j} for j in range(size)] for i, size in enumerate(sizes)]
    rows = parameterized._pairwise_product_dict(*lists)
    for i, j in itertools.combinations(range(len(sizes)), 2):
        pairs = {(row[f"p{i}"], row[f"p{j}"]) for row in rows}
        assert pairs == set(itertools.product(range(sizes[i]), range(sizes[j])))
    assert len(rows) <= np.prod(sizes)
    if len(sizes) > 3:
        assert len(rows) < np.prod(sizes) / 2
    assert len({tuple(sorted(row.items())) for row in rows}) == len(rows)


def test_names_of_classes():
    class Case(unittest.TestCase):
        def test_a(self):
            pass

    long = "x" * 200
    bundle = testing.parameterize(
        {"dtype": np.float32, "f": len, "m": types, "long": long}, {"b": 2, "a": "1\n2"}
    )(Case)
    first, second = bundle
    shown = repr(long)
    text = f"{shown[:48]}...{shown[-49:]}"
    assert first.__name__ == (f"Case_param_0_{{dtype=float32, f=len, long={text}, m=types}}")
    assert second.__name__ == r"Case_param_1_{a='1\n2', b=2}"
    assert str(second("test_a")).endswith("  parameter: {'b': 2, 'a': '1\\n2'}")
    (case, _) = bundle.cases
    assert case.klass is first
    assert (case.module_name, case.class_name) == (__name__, first.__name__)
    for one in bundle.cases:
        del globals()[one.class_name]


def test_no_parameters_make_no_class():
    bundle = testing.parameterize()(type("Case", (unittest.TestCase,), {}))
    assert list(bundle) == []


class TestInjection:
    def test_arguments(self):
        with pytest.raises(TypeError, match="method_names must be a list of names or None"):
            testing.inject_backend_tests("test_a", [{}])
        with pytest.raises(TypeError, match="params must be a list of dictionaries"):
            testing.inject_backend_tests(None, {})
        with pytest.raises(TypeError, match="params must be a dictionary"):
            testing.inject_backend_tests(None, [1])

    def test_stacked(self):
        seen = []

        @testing.inject_backend_tests(["test_b"], [{}, {"autotune": True}])
        @testing.inject_backend_tests(["test_a"], [{}, {"autotune": True}])
        class Case(unittest.TestCase):
            def test_a(self, backend_config):
                seen.append(("a", backend_config.autotune))

            def test_b(self, backend_config):
                seen.append(("b", backend_config.autotune))

            def test_c(self):
                seen.append("c")

        result = unittest.TestResult()
        for cls in Case:
            unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
        assert result.wasSuccessful()
        assert sorted(map(str, seen)) == sorted(
            map(str, [("a", False), ("a", True), ("b", False), ("b", True), "c"])
        )

    def test_equal_configurations(self):
        class Case(unittest.TestCase):
            def test_a(self, backend_config):
                pass

        bundle = testing.inject_backend_tests(None, [{}, {"use_cuda": False}])(Case)
        assert len(list(bundle)) == 1

    @pytest.mark.parametrize(
        ("params", "names"),
        [
            ({}, set()),
            ({"use_cuda": True}, {"gpu"}),
            (
                {"use_cuda": True, "cuda_device": 1, "use_cudnn": "auto"},
                {"gpu", "multi_gpu", "cudnn"},
            ),
            ({"use_ideep": "auto"}, {"ideep"}),
            ({"use_chainerx": True, "chainerx_device": "native:0"}, {"chainerx"}),
            ({"use_chainerx": True, "chainerx_device": "cuda:0"}, {"chainerx", "gpu"}),
        ],
    )
    def test_marks(self, params, names):
        def test():
            pass

        for mark in testing.BackendConfig(params).get_pytest_marks():
            test = mark(test)
        assert {mark.name for mark in getattr(test, "pytestmark", [])} - {"skip"} == names

    def test_chainerx_needs_a_device(self):
        with pytest.raises(AssertionError, match="needs a string as chainerx_device, got None"):
            testing.BackendConfig({"use_chainerx": True})


class TestRandomNumbers:
    def test_own_seed_wins(self):
        drawn = []

        class Case(testing.FunctionTestCase):
            skip_backward_test = skip_double_backward_test = True

            def setUp(self):
                np.random.seed(3)

            def generate_inputs(self):
                drawn.append(np.random.uniform())
                return (np.ones(2, "f"),)

            def forward(self, inputs, device):
                return inputs

            def forward_expected(self, inputs):
                return inputs

        unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(unittest.TestResult())
        assert drawn == [np.random.RandomState(3).uniform()]

    def test_nested_decorators_seed_once(self):
        drawn = []

        @testing.fix_random()
        class Case(unittest.TestCase):
            def setUp(self):
                drawn.append(np.random.uniform())

            @testing.fix_random()
            def test_a(self):
                drawn.append(np.random.uniform())

        unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(unittest.TestResult())
        assert drawn[0] != drawn[1]

    def test_classes_without_the_methods(self):
        with pytest.raises(AssertionError, match="needs the method 'setUp'"):
            testing.fix_random()(type("Case", (), {}))


def test_options_are_dictionaries_of_each_instance():
    class Case(testing.FunctionTestCase):
        check_forward_options = {"atol": 1.0}

    one, other = Case("test_forward"), Case("test_forward")
    one.check_forward_options.update({"rtol": 2.0})
    one.check_double_backward_options["atol"] = 1
    assert one.check_forward_options == {"atol": 1.0, "rtol": 2.0}
    assert other.check_forward_options == {"atol": 1.0}
    assert other.check_double_backward_options == {}
    assert Case.check_forward_options == {"atol": 1.0}


def test_errors_of_test_cases():
    error = testing.FunctionTestError
    error.check(True, "no")
    with pytest.raises(error, match="yes"):
        error.check([], "yes")
    with (
        pytest.raises(error, match=r"wrong\n\n\(caused by\)\nValueError: why"),
        error.raise_if_fail("wrong", ValueError),
    ):
        raise ValueError("why")
    with pytest.raises(error, match="^as it is$"), error.raise_if_fail("wrong"):
        error.fail("as it is")

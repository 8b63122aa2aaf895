"""The comparison of calls of released packages finds differences, and its programs are complete.

``python -m tests.clients --calls 3`` runs the programs under release 7.8.1 and here.
"""

import ast

import numpy as np
import pytest

import chainer
from tests.clients import calls_of_releases, differences, worker


def outcome(program, seed=0):
    return worker.outcome(program, seed, {})


@pytest.mark.parametrize("package", calls_of_releases.NEEDED)
def test_programs_can_be_read_by_python_3_7(package):
    programs = worker.programs_of(package)
    assert len(programs) > 50
    assert len(set(programs)) == len(programs)
    for program in programs:
        tree = ast.parse(program, feature_version=(3, 7))
        assert isinstance(tree.body[-1], ast.Expr), program


def test_arguments_are_random_and_repeatable():
    program = "[n, m, k, A(2, 3), V(2), ints(9, 4), np.random.rand(), rng.uniform()]"
    assert differences.difference(outcome(program), outcome(program)) is None
    assert differences.difference(outcome(program), outcome(program, 1)) is not None


def test_outputs_and_gradients():
    answer = outcome("link = L.Linear(2, 3, nobias=True)\nG(link, V(4, 2), link=link)")
    _, y, gx, gp = answer["value"]
    assert y[1][1:3] == ["float32", [4, 3]]
    assert gx[1][2] == [4, 2]
    assert gp[1][2] == [3, 2]


@pytest.mark.parametrize(
    ("theirs", "ours", "text"),
    [
        ("np.ones(3)", "np.ones(3, 'f')", "dtype float64 / float32"),
        ("np.ones(3)", "np.ones((3, 1))", "shape"),
        ("np.ones(3)", "np.array([1, 1, 1.01])", "element 2"),
        ("np.ones(1000)", "np.r_[np.ones(999), 1.3]", "sum"),
        ("chainer.Variable(np.ones(1))", "np.ones(1)", "Variable / array"),
        ("[1, 2]", "[1]", "2 items / 1"),
        ("{'a': 1}", "{'b': 1}", "keys"),
        ("1.0", "1.001", "1.0 / 1.001"),
        ("1 // 0", "1", "ZeroDivisionError"),
        ("1", "[][0]", "a value / IndexError"),
    ],
)
def test_differences_are_found(theirs, ours, text):
    assert text in str(differences.difference(outcome(theirs), outcome(ours)))


def test_rounding_is_no_difference():
    x = np.float32(1) + np.finfo(np.float32).eps
    assert (
        differences.difference(outcome("np.ones(9, 'f')"), outcome(f"np.ones(9, 'f') * {x}"))
        is None
    )
    # An error here may belong to the class of an earlier release as well.
    assert differences.difference(outcome("{}['a']"), outcome("{}['b']")) is None


def test_names_that_no_program_calls():
    names = {"relu": ["p.relu", "p"], "tanh": ["p.a"], "exp": ["p.b"], "get_data": ["p.c"]}
    assert differences.uncalled(names, ["y = relu(x)\nexp(y)"], r"get_data$") == ["p.a.tanh"]


def test_reasons():
    program = "d = SparseGraphDataset()"
    assert calls_of_releases.reason_of(program, "result[1]: dtype int32 / int64")
    assert calls_of_releases.reason_of(program, "result[1]: dtype int32 / int16") is None
    assert chainer.__version__.startswith("8")

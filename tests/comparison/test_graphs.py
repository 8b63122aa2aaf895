"""Random programs of backpropagation do what they did in release 7.8.1."""

import copy

import pytest

import chainer
from tests.comparison.graph_differences import first_difference
from tests.comparison.graphs import answer, program_of
from tests.comparison.stored import load_graphs


@pytest.fixture(scope="module")
def stored():
    return load_graphs()


def test_programs(stored):
    for number, theirs in enumerate(stored):
        difference = first_difference(theirs, answer(chainer, number), program_of(number))
        assert difference is None, (number, difference, program_of(number))


@pytest.mark.parametrize(
    "word",
    [
        *("unchain()", "unchain_backward()", "retain_grad=True", "enable_double_backprop=True"),
        *("grad_inputs", "grad_outputs", "set_grad=True", "chainer.backward(", "loss_scale"),
        *("Hook()", "no_backprop_mode", "requires_grad=False", "None, ", "OldLinear(2)"),
        *("Accumulating", "cleargrad()", ".grad_var = ", "lazy_grad_sum", "'debug'"),
    ],
)
def test_every_kind_of_statement_occurs(stored, word):
    lines = [line for number in range(len(stored)) for line in program_of(number)]
    assert sum(word in line for line in lines) >= 5


@pytest.mark.parametrize("position", [0, 1, 2, 3, 4])
def test_a_difference_is_found(stored, position):
    """A change of any part of the state of a variable is a difference."""
    number, name = next(
        (number, name)
        for number, outcomes in enumerate(stored)
        for name, state in outcomes[-1][2].items()
        if len(state) > 4 and state[3] is not None
    )
    ours = copy.deepcopy(stored[number])
    ours[-1][2][name][position] = "something else"
    assert first_difference(stored[number], ours, []) == (len(ours) - 1, "gradients")


def test_a_missing_gradient_is_found(stored):
    ours = copy.deepcopy(stored[0])
    name = next(name for name, state in ours[-1][2].items() if len(state) > 4)
    del ours[-1][2][name][3:]
    assert first_difference(stored[0], ours, []) == (len(ours) - 1, "gradients")


def test_another_error_is_a_difference(stored):
    ours = copy.deepcopy(stored[0])
    ours[0][0] = ["ValueError", "Exception"]
    assert first_difference(stored[0], ours, []) == (0, "error")


def test_what_functions_see_is_compared_in_second_orders_too():
    statements = ["gs = chainer.grad([y], [x], enable_double_backprop=True)", "g.backward()"]
    theirs = [[None, [], None], [None, [["backward", "Stack", [True]], ["Linear", [0]]], None]]
    ours = [[None, [], None], [None, [["backward", "SeparateGrad", [True]], ["Linear", [0]]], None]]
    assert first_difference(theirs, ours, statements) is None
    assert first_difference(theirs, ours, statements[1:] * 2) is not None
    ours[1][1][1] = ["Linear", [1]]
    assert first_difference(theirs, ours, statements) == (1, "what functions and hooks see")


def test_what_hooks_see_is_compared_in_second_orders_too():
    statements = ["gs = chainer.grad([y], [x], enable_double_backprop=True)", "g.backward()"]

    def outcomes(*names):
        seen = [[step, name, [True]] for name in names for step in ("backward", "after")]
        return [[None, [], None], [None, seen, None]]

    theirs = outcomes("Sum", "BroadcastTo", "_ * _", "_ * _")
    assert first_difference(theirs, outcomes("Sum", "SumGrad", "_ * _"), statements) is None
    for names in (("Sum", "_ * _"), ("Sum", "SumGrad", "_ + _"), ("SumGrad", "Sum", "_ * _")):
        assert first_difference(theirs, outcomes(*names), statements) is not None

"""Random programs of links do what they did in release 7.8.1."""

import copy
import json
from pathlib import Path

import pytest

import chainer
from tests.comparison.link_differences import INTENDED, Found, first_difference, intended_name
from tests.comparison.link_trees import answer, program_of
from tests.comparison.stored import load_links

STORED = load_links()


def difference_of(number):
    # As JSON, which has no tuples.
    return first_difference(STORED[number], json.loads(json.dumps(answer(chainer, number))))


@pytest.mark.parametrize("first", range(0, len(STORED), 40))
def test_programs(first):
    for number in range(first, min(first + 40, len(STORED))):
        found = difference_of(number)
        if found is not None:
            program = program_of(number)
            assert intended_name(found, program) is not None, (number, found, program)


def test_most_programs_are_equal():
    assert sum(difference_of(number) is None for number in range(40)) >= 33


@pytest.mark.parametrize(
    "word",
    [
        *("init_scope()", "add_link(", "add_param(", "add_persistent(", "register_persistent("),
        *(".copy(", "copy.copy(", "copy.deepcopy(", "pickled(", ".repeat(", "load(", "'init'"),
        *("cleargrads", "zerograds", "addgrads", "copyparams", "count_params", "update_enabled"),
        *("disable_update", "Note(", "add_hook", "update()", "flatten()", ".name = ", "reverse()"),
    ],
)
def test_every_kind_of_statement_occurs(word):
    lines = [line for number in range(len(STORED)) for line in program_of(number)]
    assert sum(word in line for line in lines) >= 3


def test_most_statements_run():
    outcomes = [outcome for theirs in STORED for outcome in theirs if outcome != "too large"]
    assert sum(outcome[0] is None for outcome in outcomes) > 0.7 * len(outcomes)


@pytest.mark.parametrize("position", [0, 1, 2, 3])
def test_a_difference_is_found(position):
    """Another error, warning, text or state is a difference."""
    theirs = next(theirs for theirs in STORED if theirs[-1][0] is None and theirs[-1][3])
    ours = copy.deepcopy(theirs)
    ours[-1][position] = ["ValueError", "Exception", "a text"]
    found = first_difference(theirs, ours)
    assert found is not None
    assert found.number == len(theirs) - 1


def test_numbers_may_differ_by_rounding_only():
    theirs = [[None, [], [["float32", [2], [1.0, float("nan")]]], {}]]
    ours = copy.deepcopy(theirs)
    ours[0][2][0][2][0] = 1.0001
    assert first_difference(theirs, ours) is None
    ours[0][2][0][2][0] = 1.01
    assert first_difference(theirs, ours) == Found(0, "what is said", 1.0, 1.01)


def test_an_intended_difference_depends_on_the_statement():
    found = Found(0, "error", ["KeyError", "Exception", "'W'"], None)
    assert intended_name(found, ["k0.addgrads(k1)"]) == "addgrads of a Sequential"
    assert intended_name(found, ["k0.cleargrads()"]) is None
    partial = Found(0, "state", 1.0, 2.0)
    assert intended_name(partial, ["k0.copyparams(k1)"]) is None
    failed = Found(0, "state", 1.0, 2.0, failed=True)
    assert intended_name(failed, ["k0.copyparams(k1)"]) == "partial effects"


def test_the_page_names_every_group():
    page = Path(__file__).parents[2] / "docs" / "differences-from-7.md"
    text = page.read_text()
    missing = {group.name for group in INTENDED if f"*{group.name}*" not in text}
    assert not missing

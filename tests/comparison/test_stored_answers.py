"""The functions give what release 7.8.1 gave, except for the differences that are documented."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import chainer
from tests.comparison.calls import GENERATORS, make_call, names
from tests.comparison.compare import Difference, compare_answers, differences
from tests.comparison.intended import INTENDED, NAN_AND_INFINITIES, intended_name
from tests.comparison.stored import load
from tests.comparison.worker import make_answer

PAGE = Path(__file__).parent.parent.parent / "docs" / "differences-from-7.md"

ANSWERS = load()


@pytest.mark.parametrize("name", names())
def test_function_gives_what_release_7_gave(name):
    pytest.importorskip("scipy")  # special functions of both releases need it
    numbers = range(names().index(name), len(ANSWERS), len(names()))
    assert len(numbers) >= 4
    unexpected = [
        str(difference)
        for number in numbers
        for difference in compare_answers(number, ANSWERS[number], make_answer(chainer, number))
        if intended_name(difference) is None
    ]
    assert not unexpected, "\n".join(unexpected)


def test_every_intended_difference_is_explained():
    headings = re.findall(r"^### (.+)$", PAGE.read_text(), re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert set(headings) == {group.name for group in (*NAN_AND_INFINITIES, *INTENDED)}


#: Functions that release 7.8.1 does not have.
NEWER = {
    *("adaptive_average_pooling_2d", "dice_loss", "drop_path", "focal_loss", "geglu", "gelu"),
    *("glu", "hard_swish", "instance_normalization", "label_smoothed_cross_entropy", "mish"),
    *("quick_gelu", "reglu", "rms_normalization", "sigmoid_focal_loss", "silu", "swiglu"),
}


def test_all_functions_are_called():
    packages = (
        "activation array connection evaluation loss math noise normalization pooling rnn util"
    )
    own = {
        name
        for package in packages.split()
        for group in importlib.import_module(f"chainer.functions.{package}").MODULES.values()
        for name in group
        if name.islower()
    }
    assert own - set(GENERATORS) == NEWER


def test_calls_are_the_same_in_every_process():
    call = make_call(1000)
    again = make_call(1000)
    assert repr(call) == repr(again)
    for x, y in zip(call.inputs(), again.inputs(), strict=True):
        np.testing.assert_array_equal(x.array, y.array)


def test_kinds_of_calls():
    """Every kind of argument that the comparison promises occurs among the stored calls."""
    arrays = [x.array for i in range(len(ANSWERS)) for x in make_call(i).inputs()]
    assert {"float16", "float32", "float64", "int32"} <= {a.dtype.name for a in arrays}
    assert any(a.size == 0 for a in arrays)
    assert any(not a.flags.c_contiguous for a in arrays)
    assert sum(isinstance(a["forward"], dict) for a in ANSWERS) > 100
    assert sum(isinstance(a.get("second"), list) for a in ANSWERS) > 500


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda value: ["array", *value[1:]], "kind"),
        (lambda value: [value[0], "float64", *value[2:]], "dtype"),
        (lambda value: [*value[:2], [1, 2], value[3]], "shape"),
        (lambda value: [*value[:3], [1.0, 2.01]], "value"),
        (lambda value: [*value[:3], [1.0, float("nan")]], "value"),
        (lambda value: None, "missing"),
    ],
)
def test_comparison_finds(change, kind):
    value = ["variable", "float32", [2], [1.0, 2.0]]
    found = differences(0, "f", {"forward": [value]}, {"forward": [change(value)]}, "float32")
    assert [difference.kind for difference in found] == [kind]
    assert differences(0, "f", {"forward": [value]}, {"forward": [value]}, "float32") == []


def test_comparison_of_errors():
    error = {"error": ["ValueError", "Exception"], "text": ""}
    both = {"error": ["InvalidValue", "InvalidType", "ValueError"], "text": ""}
    other = {"error": ["TypeError", "Exception"], "text": ""}
    result = [["variable", "float32", [], [1.0]]]

    def kinds(theirs, ours):
        found = differences(0, "f", {"forward": theirs}, {"forward": ours}, "")
        return [difference.kind for difference in found]

    assert kinds(error, both) == []
    assert kinds(error, other) == ["error"]
    assert kinds(error, result) == ["accepts"]
    assert kinds(result, error) == ["refuses"]


def test_unknown_difference_is_not_intended():
    difference = Difference(0, "relu", "forward", "value", [1.0], [2.0])
    assert intended_name(difference) is None

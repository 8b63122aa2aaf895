"""Random networks of Caffe compute what they computed in release 7.8.1."""

import copy
import json
import re
from pathlib import Path

import pytest

import chainer
from tests.comparison.caffe_differences import ACCEPTED, outcome_of_networks
from tests.comparison.caffe_networks import NEW_TYPES, OLD_NAMES, answer, network_of
from tests.comparison.stored import load_caffe

pytest.importorskip("google.protobuf")

STORED = load_caffe()


@pytest.mark.parametrize("first", range(0, len(STORED), 20))
def test_networks(first):
    for number in range(first, first + 20):
        # As JSON, which has no tuples.
        ours = json.loads(json.dumps(answer(chainer, number)))
        text = network_of(number)[0]
        assert outcome_of_networks(STORED[number], ours, text) is not None, (number, text)


def test_every_kind_of_layer_occurs():
    texts = [network_of(number)[0] for number in range(len(STORED))]
    assert len(texts) == 100
    for kind in (*OLD_NAMES.values(), *(f'"{name}"' for name in (*OLD_NAMES, *NEW_TYPES))):
        assert any(f"type: {kind} " in text for text in texts), kind


def test_most_networks_are_computed_and_differentiated():
    assert sum("backward" in found for found in STORED) >= 75
    assert any("error" in found["load"] for found in STORED)


@pytest.mark.parametrize("step", ["load", "test", "train", "backward", "disable"])
def test_a_difference_is_found(step):
    theirs = next(found for found in STORED if len(found) == 5 and "error" not in found[step])
    assert outcome_of_networks(theirs, theirs, "") == "same"
    ours = copy.deepcopy(theirs)
    found = ours[step]["parameters"] if step == "load" else ours[step]
    name = next((key for key, value in found.items() if value is not None), None)
    if name is None:
        pytest.skip("a network without parameters")
    found[name][2][0] += 1.0
    assert outcome_of_networks(theirs, ours, "") is None
    # An error ends the steps.
    steps = list(theirs)
    ours = {name: theirs[name] for name in steps[: steps.index(step)]}
    ours[step] = {"error": ["ValueError"]}
    assert outcome_of_networks(theirs, ours, "") is None


def test_the_page_names_every_group():
    page = (Path(__file__).parents[2] / "docs" / "differences-from-7.md").read_text()
    names = {*ACCEPTED, "blobs that do not fit", "refused with another error"}
    assert {name for name in names if f"*{name}*" not in page} == set()


def test_networks_are_printable():
    assert re.fullmatch(r"layers? \{ name: .*", network_of(0)[0].splitlines()[0])

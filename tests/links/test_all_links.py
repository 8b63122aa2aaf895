"""What holds for every link: numbers of an earlier release, gradients, files, copies, devices."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import chainer
import chainer.links as L
from tests.links import link_cases
from tests.links.link_cases import CASES, Case

UPSTREAM = np.load(pathlib.Path(__file__).parent / "data" / "upstream_links.npz")
"""Made by ``data/make_upstream_links.py`` with release 7.8.1."""

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental:FutureWarning")

all_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
lazy_cases = pytest.mark.parametrize(
    "case", [case for case in CASES if case.lazy], ids=lambda case: case.name
)


def made(case: Case) -> chainer.Link:
    np.random.seed(0)
    return case.make(L)


def lazily_made(case: Case) -> chainer.Link:
    np.random.seed(0)
    return case.lazy(L)


def called(case: Case, link: chainer.Link) -> None:
    with chainer.using_config("train", False):
        case.call(link, *case.inputs)


def outputs(case: Case, link: chainer.Link) -> np.ndarray:
    np.random.seed(42)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        return link_cases.joined(y.array for y in link_cases.flatten(case.call(link, *case.inputs)))


def equals_upstream(actual, case, kind, **tolerance):
    expected = UPSTREAM[f"{kind}/{case.name}"]
    np.testing.assert_allclose(actual, expected, **{"rtol": 1e-4, "atol": 2e-5, **tolerance})


@all_cases
def test_initial_values_are_those_of_earlier_releases(case):
    link = made(case)
    if case.name == "BlackOut":  # there the weight is full of NaN, and so is the loss
        assert not link.W.array.any()
        return
    equals_upstream(link_cases.joined_state(link), case, "initial", rtol=1e-6, atol=1e-7)


@lazy_cases
def test_sizes_are_found_out(case):
    link = lazily_made(case)
    called(case, link)
    equals_upstream(link_cases.joined_state(link), case, "lazy", rtol=1e-6, atol=1e-7)


@all_cases
def test_numbers_are_those_of_earlier_releases(case):
    link = made(case)
    link_cases.perturb(link)
    outputs, gradients = link_cases.run(case, link, chainer.Variable)
    equals_upstream(link_cases.joined(outputs), case, "outputs")
    equals_upstream(link_cases.joined(gradients), case, "inputs")
    grads = link_cases.joined(param.grad for _, param in sorted(link.namedparams()))
    equals_upstream(grads, case, "gradients")
    equals_upstream(link_cases.joined_state(link), case, "after")

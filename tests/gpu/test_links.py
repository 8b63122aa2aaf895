"""Every link gives the numbers on the GPU that it gives on NumPy, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.links as L
from tests.gpu import place
from tests.links import link_cases
from tests.links.link_cases import CASES

pytestmark = pytest.mark.filterwarnings("ignore:.*experimental:FutureWarning")


def made(case):
    np.random.seed(0)
    link = case.make(L)
    link_cases.perturb(link)
    return link


def run(case, link, device):
    def variable(array):
        return chainer.Variable(device.send(array))

    device.backend.random(device).seed(0)
    return link_cases.run(case, link, variable, device.send)


def compare(actual, expected):
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(place.to_host(one), other, rtol=1e-3, atol=1e-4)


def gradients(link):
    return [param.grad for _, param in sorted(link.namedparams())]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_numbers(case, device):
    link = made(case)
    moved = made(case).to_device(device)
    assert moved.device == device
    outputs, inputs = run(case, moved, device)
    for array in [*outputs, *[g for g in inputs if g is not None]]:
        assert chainer.backend.get_device_from_array(array) == device
    if case.random:  # other numbers are drawn; those of the formulas are tested elsewhere
        for array in [*outputs, *inputs, *gradients(moved)]:
            assert array is None or np.isfinite(place.to_host(array)).all()
        return
    expected_outputs, expected_inputs = run(case, link, place.HOST)
    compare(outputs, expected_outputs)
    compare(inputs, expected_inputs)
    compare(gradients(moved), gradients(link))
    moved.to_device(place.HOST)
    np.testing.assert_allclose(
        link_cases.joined_state(moved), link_cases.joined_state(link), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("case", [c for c in CASES if c.lazy], ids=lambda case: case.name)
def test_sizes_are_found_out_on_the_device(case, device):
    link = case.lazy(L).to_device(device)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        case.call(link, *link_cases.map_arrays(device.send, case.inputs))
    for _, param in link.namedparams():
        assert param.device == device
        assert np.isfinite(place.to_host(param.array)).all()

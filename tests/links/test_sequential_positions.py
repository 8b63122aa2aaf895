"""Names of the links of a Sequential are in another order than their calls."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.links.serializers.safetensors_archive import write_safetensors
from chainer.serializers import load_safetensors, save_safetensors


def three():
    return chainer.Sequential(*[L.Linear(2, 2) for _ in range(3)])


@pytest.fixture
def published(tmp_path):
    """A file as PyTorch names it, and the model that it is of."""
    model = three()
    entries = {}
    for i, link in enumerate(model):
        entries[f"{2 * i}.weight"], entries[f"{2 * i}.bias"] = link.W.array, link.b.array
    write_safetensors(tmp_path / "torch.safetensors", entries, {})
    return model, tmp_path / "torch.safetensors"


def outputs(model):
    return model(np.ones((1, 2), np.float32)).array


@pytest.mark.parametrize("nested", [False, True])
def test_positions_in_brackets(published, nested):
    model, file = published
    names = {}
    for i in range(3):
        prefix = "[0]/" if nested else ""
        names |= {f"{prefix}[{i}]/W": f"{2 * i}.weight", f"{prefix}[{i}]/b": f"{2 * i}.bias"}
    other = chainer.Sequential(three()) if nested else three()
    load_safetensors(file, other, names=names)
    np.testing.assert_array_equal(outputs(other), outputs(model))


def test_names_that_count_are_refused(published):
    _, file = published
    other = three()
    before = outputs(other)
    names = {}
    for i in range(3):
        names |= {f"{i}/W": f"{2 * i}.weight", f"{i}/b": f"{2 * i}.bias"}
    with pytest.raises(ValueError, match=r"calls them in the order 0, 2, 1: write positions"):
        load_safetensors(file, other, names=names)
    np.testing.assert_array_equal(outputs(other), before)


def test_right_names_are_accepted(published):
    model, file = published
    other = three()
    names = {}
    for i, link in enumerate(other):
        names |= {f"{link.name}/W": f"{2 * i}.weight", f"{link.name}/b": f"{2 * i}.bias"}
    load_safetensors(file, other, names=names)
    np.testing.assert_array_equal(outputs(other), outputs(model))


def test_a_position_that_does_not_exist(published):
    _, file = published
    with pytest.raises(ValueError, match="Sequential has no link at position 3"):
        load_safetensors(file, three(), names={"[3]/W": "0.weight"})


def test_own_files_are_loaded_as_before(tmp_path):
    model, other = three(), three()
    save_safetensors(tmp_path / "own.safetensors", model)
    load_safetensors(tmp_path / "own.safetensors", other)
    np.testing.assert_array_equal(outputs(other), outputs(model))


def test_the_summary_is_in_the_order_of_calls():
    model = chainer.Sequential(L.Linear(2, 3), L.Linear(3, 4), three_of(4), L.Linear(4, 1))
    found = [layer.path for layer in chainer.summary(model).layers]
    assert found == ["/", "/0", "/3", "/2", "/2/0", "/2/2", "/2/1", "/1"]


def three_of(size):
    return chainer.Sequential(*[L.Linear(size, size) for _ in range(3)])

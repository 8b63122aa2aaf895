"""Links of a Sequential, whose names are in another order than their calls, all of equal shapes."""

from __future__ import annotations

import json
import struct
import warnings

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.serializers import load_npz, load_safetensors, save_npz, save_safetensors

N = 3
X = np.ones((1, N), np.float32)


def make(count=N, cls=chainer.Sequential):
    """Returns a model of equal layers."""
    return cls(*[L.Linear(N, N) for _ in range(count)])


def run(model, x=X):
    """Calls the layers one after the other."""
    for layer in model:
        x = layer(x).array
    return x


@pytest.fixture
def theirs(tmp_path):
    """A file of another framework, which counts layers, and the result of the model."""
    random = np.random.RandomState(0)
    layers = [(random.randn(N, N).astype("f"), random.randn(N).astype("f")) for _ in range(N)]
    x = X
    store = {}
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight.T + bias
        store |= {f"net.{i}.weight": weight, f"net.{i}.bias": bias}
    file = tmp_path / "theirs.safetensors"
    file.write_bytes(safetensors(store))
    return file, x


def safetensors(arrays):
    """Returns the bytes of a file with float32 arrays."""
    header, body = {}, b""
    for name, array in arrays.items():
        data = array.tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": offsets}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_a_file_of_the_model_itself(tmp_path):
    for save, load in ((save_npz, load_npz), (save_safetensors, load_safetensors)):
        model, other = make(), make()
        save(tmp_path / "file", model)
        load(tmp_path / "file", other)
        np.testing.assert_array_equal(run(other), run(model))


def test_names_in_brackets_are_positions(theirs):
    file, expected = theirs
    model = make()
    names = {f"[{i}]/W": f"net.{i}.weight" for i in range(N)}
    names |= {f"[{i}]/b": f"net.{i}.bias" for i in range(N)}
    load_safetensors(file, model, names=names)
    np.testing.assert_allclose(run(model), expected, rtol=1e-5)
    nested = chainer.Chain(body=make())
    load_safetensors(file, nested, names={f"body/{own}": name for own, name in names.items()})
    np.testing.assert_allclose(run(nested.body), expected, rtol=1e-5)


def test_names_that_count_are_refused(theirs):
    file, expected = theirs
    names = {f"{i}/W": f"net.{i}.weight" for i in range(N)}
    names |= {f"{i}/b": f"net.{i}.bias" for i in range(N)}
    model = make()
    before = run(model)
    with pytest.raises(ValueError, match=r"as 0, 1, 2, but it calls them in the order 0, 2, 1"):
        load_safetensors(file, model, names=names)
    np.testing.assert_array_equal(run(model), before)
    with pytest.raises(ValueError, match=r"positions in brackets, such as 'body/\[1\]/W'"):
        load_safetensors(
            file, chainer.Chain(body=model), names={f"body/{k}": v for k, v in names.items()}
        )
    # The children of a ChainList are counted in the order of calls.
    counted = make(cls=chainer.ChainList)
    load_safetensors(file, counted, names=names)
    np.testing.assert_allclose(run(counted), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["[3]/W", "[1]/[0]/W", "body/[0]/W"])
def test_positions_that_do_not_exist(theirs, name):
    file, _ = theirs
    with pytest.raises(ValueError, match=r"has no link at position"):
        load_safetensors(file, make(), names={name: "net.0.weight"})


@pytest.mark.parametrize(
    ("save", "load"), [(save_npz, load_npz), (save_safetensors, load_safetensors)]
)
def test_a_path_with_the_name_of_another_link(tmp_path, save, load):
    model = make()
    save(tmp_path / "file", model)
    other = make()
    for i, layer in enumerate(other):
        if layer.name == str(i):
            continue
        text = rf"path is '{i}/', but the link has the name '{layer.name}'"
        with pytest.warns(chainer.MisuseWarning, match=text) as caught:
            load(tmp_path / "file", layer, path=f"{i}/")
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for layer in other:
            load(tmp_path / "file", layer, path=f"{layer.name}/")
        load(tmp_path / "file", L.Linear(N, N), path="1/")
    np.testing.assert_array_equal(run(other), run(model))


def test_the_summary_has_the_order_of_calls():
    lines = str(chainer.summary(make(), X)).splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["0", "2", "1"]

"""Tensors of a file that are read when they are used."""

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import serializers
from chainer.links.serializers.safetensors_archive import read_safetensors, write_safetensors


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.safetensors"
    arrays = {"a": np.arange(6, dtype="f").reshape(2, 3), "b": np.ones((0, 2), "q")}
    write_safetensors(path, arrays, {"note": "x"})
    return path


def test_names_shapes_and_values(path):
    with serializers.open_safetensors(path) as tensors:
        assert sorted(tensors) == ["a", "b"]
        assert len(tensors) == 2
        assert "a" in tensors
        assert "c" not in tensors
        assert tensors.shape("a") == (2, 3)
        assert tensors.dtype("b") == np.int64
        assert tensors.metadata["note"] == "x"
        part = tensors["a"][1:]
    # What was taken is valid after the file was closed.
    np.testing.assert_array_equal(part, [[3, 4, 5]])
    assert type(part) is np.ndarray
    with pytest.raises(ValueError, match="was closed"):
        tensors["a"]


def test_no_copy_is_made(path):
    tensors = serializers.open_safetensors(path)
    assert np.shares_memory(tensors["a"], tensors["a"])
    with pytest.raises(ValueError, match="read-only"):
        tensors["a"][0, 0] = 1
    writable = serializers.open_safetensors(path, writable=True)
    writable["a"][0, 0] = 7
    assert writable["a"][0, 0] == 7
    assert serializers.open_safetensors(path)["a"][0, 0] == 0


def test_a_missing_name_and_a_damaged_file(path):
    with pytest.raises(KeyError, match=r"a\.safetensors' has no tensor 'c'"):
        serializers.open_safetensors(path)["c"]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(serializers.FileFormatError, match="not a file of safetensors"):
        serializers.open_safetensors(path)
    path.write_bytes(b"1234")
    with pytest.raises(serializers.FileFormatError, match="less than 8 bytes"):
        serializers.open_safetensors(path)


def test_a_tensor_that_is_not_aligned_to_its_elements(path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    arrays = {"b": np.array([1.5], ml_dtypes.bfloat16), "c": np.array([2.5], "f")}
    write_safetensors(path, arrays, {})
    text = path.read_bytes()
    # One space more in front of the header moves all tensors by one byte.
    length = int.from_bytes(text[:8], "little")
    path.write_bytes((length + 1).to_bytes(8, "little") + b" " + text[8:])
    tensors = serializers.open_safetensors(path)
    assert tensors["c"][0] == 2.5
    assert float(tensors["b"][0]) == 1.5


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_float8(path, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.array([0.5, 1.0, 2.0, 4.0], getattr(ml_dtypes, name))
    write_safetensors(path, {"W": values, "x": np.ones(3, "f")}, {})
    found, _ = read_safetensors(path)
    assert found["W"].dtype == values.dtype
    np.testing.assert_array_equal(found["W"].astype("f"), [0.5, 1, 2, 4])
    np.testing.assert_array_equal(serializers.open_safetensors(path)["W"], values)


def test_float8_is_widened_into_a_model(path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    W = np.array([[0.5, 1.0], [2.0, 4.0]], ml_dtypes.float8_e4m3fn)
    write_safetensors(path, {"W": W}, {})
    link = L.Linear(2, 2, nobias=True)
    serializers.load_safetensors(path, link)
    assert link.W.dtype == np.float32
    np.testing.assert_array_equal(link.W.array, [[0.5, 1], [2, 4]])


def test_a_type_of_a_missing_package_is_met_only_if_it_is_used(path, monkeypatch):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    arrays = {"W": np.ones(2, ml_dtypes.float8_e5m2), "x": np.ones(3, "f")}
    write_safetensors(path, arrays, {})
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    tensors = serializers.open_safetensors(path)
    np.testing.assert_array_equal(tensors["x"], 1)
    assert tensors.shape("W") == (2,)
    with pytest.raises(ImportError, match=r"'W' is of float8_e5m2, which needs ml_dtypes: "):
        tensors["W"]


def test_construction_without_initialization():
    with chainer.using_config("initialize", False):
        link = L.Linear(3, 2)
        deferred = L.Linear(None, 2)
        deferred(np.ones((1, 4), "f"))
    for layer in (link, deferred):
        np.testing.assert_array_equal(layer.W.array, 0)
    assert link.W.dtype == np.float32
    # A parameter made of an array keeps the array.
    with chainer.using_config("initialize", False):
        assert chainer.Parameter(np.ones(2, "f")).array[0] == 1
    assert np.any(L.Linear(3, 2).W.array != 0)


def test_construction_without_memory():
    with chainer.using_config("initialize", "shape"), chainer.using_config("dtype", np.float16):
        link = L.Linear(300_000, 300_000)  # 180 GB
    W = link.W.array
    assert (W.shape, W.dtype, W[-1, -1]) == ((300_000, 300_000), np.float16, 0)
    with pytest.raises(ValueError, match="read-only"):
        W[0] = 1
    link.W.array = np.ones((2, 3), np.float16)
    link.W.array[0] = 2
    with pytest.raises(ValueError, match="config.initialize must be True, False or 'shape'"):
        chainer.config.initialize = "shapes"


@pytest.mark.parametrize("form", ["npz", "hdf5", "safetensors"])
def test_files_give_memory(form, tmp_path):
    if form == "hdf5":
        pytest.importorskip("h5py")
    save = getattr(chainer.serializers, f"save_{form}")
    load = getattr(chainer.serializers, f"load_{form}")
    source = chainer.Sequential(L.Linear(3, 1), L.BatchNormalization(1), L.PReLU(()))
    source[0].W.array[...] = 0  # the same numbers as memory that is not written yet
    save(tmp_path / "file", source)
    with chainer.using_config("initialize", "shape"):
        model = chainer.Sequential(L.Linear(3, 1), L.BatchNormalization(1), L.PReLU(()))
    load(tmp_path / "file", model)
    for one, other in zip(source.params(), model.params(), strict=True):
        np.testing.assert_array_equal(one.array, other.array)
        assert other.array.flags.writeable


def test_copies_give_memory():
    source = L.Linear(3, 4)
    with chainer.using_config("initialize", "shape"):
        target = L.Linear(3, 4)
    target.copyparams(source)
    np.testing.assert_array_equal(target.W.array, source.W.array)
    target.W.array[0] = 2


@pytest.mark.parametrize("rule", ["SGD", "Adam", "AdamW", "MomentumSGD"])
def test_updates_need_memory(rule):
    with chainer.using_config("initialize", "shape"):
        link = L.Linear(3, 2)
    assert not link.W.has_memory and chainer.Parameter(0, (1, 1)).has_memory
    assert chainer.Parameter(0, (0, 3)).has_memory and chainer.Parameter(0, ()).has_memory
    optimizer = getattr(chainer.optimizers, rule)().setup(link)
    for parameter in link.params():
        parameter.grad = np.ones(parameter.shape, "f")
    with pytest.raises(ValueError, match=r"W> cannot be updated: .* load one, or call its take_m"):
        optimizer.update()
    for parameter in link.params():
        parameter.take_memory()
        parameter.array[...] = 1
    optimizer.update()
    assert link.W.has_memory and (link.W.array != 1).all()

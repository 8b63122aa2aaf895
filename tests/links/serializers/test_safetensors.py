"""Files in the format safetensors."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import serializers
from chainer.links.serializers.safetensors_archive import read_safetensors, write_safetensors
from chainer.serializers import FileFormatError


class Model(chainer.Chain):
    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.bn = L.BatchNormalization(4)
            self.lazy = L.Linear(None, 2)
        self.add_persistent("text", "été")


def entries(model: chainer.Link) -> dict:
    return serializers.npz.serialize(model)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_round_trip(path):
    model, other = Model(), Model()
    model.bn.avg_mean[...] = [1, 2, 3, 4]
    other.text = "other"
    serializers.save_safetensors(path, model, {"note": "x"})
    serializers.load_safetensors(path, other)
    expected, found = entries(model), entries(other)
    assert list(expected) == list(found)
    for key, value in expected.items():
        assert value.dtype == found[key].dtype
        np.testing.assert_array_equal(value, found[key])
    _, metadata = read_safetensors(path)
    assert metadata["note"] == "x"
    assert metadata["chainer_version"] == chainer.__version__
    assert metadata["class"].endswith("Model")
    assert other.l1.W.array.flags.writeable


def test_names_are_those_of_npz(path):
    serializers.save_safetensors(path, L.Linear(2, 3))
    arrays, _ = read_safetensors(path)
    assert sorted(arrays) == ["W", "b"]


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i2", "u4", "i8", "e", "f", "d", "F", ">f4"])
def test_dtypes(path, dtype):
    x = (np.arange(12).reshape(3, 4) % 5).astype(dtype)
    arrays = {"x": x[:, ::2], "scalar": np.array(1, dtype), "empty": np.zeros((0, 3), dtype)}
    write_safetensors(path, arrays, {})
    found, _ = read_safetensors(path)
    for key, value in arrays.items():
        assert found[key].shape == value.shape
        np.testing.assert_array_equal(found[key], value)


@pytest.mark.parametrize("length", range(1, 66, 7))
def test_data_begin_at_a_line_of_the_cache(path, length):
    x = {"a" * length: np.arange(32, dtype="f"), "b": np.ones(5, "f")}
    write_safetensors(path, x, {})
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    assert start % 64 == 0
    assert len(data) == start + 4 * 37
    found, _ = read_safetensors(path)
    assert all(array.ctypes.data % 64 == 0 for array in found.values())


def test_bfloat16(path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    write_safetensors(path, {"x": x}, {})
    found, _ = read_safetensors(path)
    assert found["x"].dtype == ml_dtypes.bfloat16
    assert (found["x"] == x).all()


def test_the_package_reads_and_writes_the_same(path):
    package = pytest.importorskip("safetensors.numpy")
    x = {"a": np.arange(3, dtype="f"), "b": np.ones((2, 2), "d"), "c": np.array(True)}
    write_safetensors(path, x, {})
    for key, value in package.load_file(path).items():
        np.testing.assert_array_equal(value, x[key])
    package.save_file(x, path, {"k": "v"})
    found, metadata = read_safetensors(path)
    assert metadata == {"k": "v"}
    for key, value in x.items():
        np.testing.assert_array_equal(found[key], value)


def test_refused_dtype(path):
    with pytest.raises(TypeError, match="no type for 'x' of dtype complex128"):
        write_safetensors(path, {"x": np.zeros(2, "D")}, {})


def test_names_of_other_frameworks(path):
    write_safetensors(path, {"fc.weight": np.ones((3, 2), "f"), "fc.bias": np.ones(3, "f")}, {})
    link = L.Linear(2, 3)
    serializers.load_safetensors(path, link, names={"W": "fc.weight", "b": "fc.bias"})
    assert (link.W.array == 1).all()
    assert (link.b.array == 1).all()


def test_path_strict_and_ignored(path):
    model = chainer.Chain(a=L.Linear(2, 3))
    serializers.save_safetensors(path, model)
    link = L.Linear(2, 3)
    serializers.load_safetensors(path, link, path="/a")
    np.testing.assert_array_equal(link.W.array, model.a.W.array)
    with pytest.raises(KeyError, match="'W' is not in"):
        serializers.load_safetensors(path, link)
    serializers.load_safetensors(path, link, strict=False)
    before = L.Linear(2, 3)
    W = before.W.array.copy()
    serializers.load_safetensors(path, before, path="a", ignore_names="a/W")
    np.testing.assert_array_equal(before.W.array, W)


def test_a_failed_load_changes_nothing(path):
    serializers.save_safetensors(path, chainer.Chain(a=L.Linear(2, 3), b=L.Linear(2, 3)))
    model = chainer.Chain(a=L.Linear(2, 3), b=L.Linear(2, 4))
    W = model.a.W.array.copy()
    with pytest.raises(ValueError, match="shape"):
        serializers.load_safetensors(path, model)
    np.testing.assert_array_equal(model.a.W.array, W)


def test_strict_backend(path):
    pytest.importorskip("chainer_strict_backend")
    model = Model()
    serializers.save_safetensors(path, model)
    other = Model()
    other.to_device("@strict:0")
    serializers.load_safetensors(path, other)
    serializers.save_safetensors(path.with_suffix(".2"), other)
    found, _ = read_safetensors(path.with_suffix(".2"))
    np.testing.assert_array_equal(found["l1/W"], model.l1.W.array)


def _file(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


BAD = {
    "empty": b"",
    "short": b"1234",
    "long header": (2**40).to_bytes(8, "little") + b"{}",
    "no JSON": _file(b"{"),
    "no object": _file([1]),
    "no entry": _file({"x": 3}),
    "no offsets": _file({"x": {"dtype": "F32", "shape": [1]}}),
    "unknown type": _file({"x": {"dtype": "F3", "shape": [1], "data_offsets": [0, 4]}}, b"1234"),
    "truncated": _file({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"1234"),
    "huge": _file({"x": {"dtype": "F32", "shape": [2**60], "data_offsets": [0, 4]}}, b"1234"),
    "negative": _file({"x": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}}, b"1234"),
    "backwards": _file({"x": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, b"1234"),
    "overlap": _file(
        {
            "x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
            "y": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        },
        b"12345678",
    ),
    "rest": _file({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"12345678"),
    "nested": _file(b"[" * 100_000),
    "partial overlap": _file(
        {
            "x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
            "y": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        },
        b"12345678",
    ),
    "negative offset": _file({"x": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}),
    "huge offset": _file({"x": {"dtype": "U8", "shape": [1], "data_offsets": [2**64, 2**64 + 1]}}),
    "float offset": _file({"x": {"dtype": "U8", "shape": [1], "data_offsets": [0.5, 1.9]}}, b"1"),
    "text": _file({"x": {"dtype": "U8", "shape": ["1"], "data_offsets": ["0", "1"]}}, b"1"),
    "true": _file({"x": {"dtype": "U8", "shape": [True], "data_offsets": [False, 1]}}, b"1"),
    "NaN": _file({"x": {"dtype": "U8", "shape": [float("nan")], "data_offsets": [0, 1]}}, b"1"),
    "many dimensions": _file(
        {"x": {"dtype": "U8", "shape": [1] * 65, "data_offsets": [0, 1]}}, b"1"
    ),
    "gap": _file({"x": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}}, b"12"),
    "twice": _file(
        b'{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
        b'"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        b"1",
    ),
    "list of metadata": _file({"__metadata__": [1]}),
    "metadata": _file({"__metadata__": {"chainer_values": "{"}}),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name, path):
    path.write_bytes(BAD[name])
    for file in (path, io.BytesIO(BAD[name])):
        with pytest.raises(FileFormatError):
            serializers.load_safetensors(file, L.Linear(2, 3))


@pytest.mark.parametrize("name", [name for name in BAD if name != "metadata"])
def test_bad_files_that_are_mapped(name, path):
    path.write_bytes(BAD[name])
    with pytest.raises(FileFormatError):
        serializers.open_safetensors(path)


def test_mutations(path):
    serializers.save_safetensors(path, Model())
    data = path.read_bytes()
    rng = np.random.RandomState(0)
    header = 8 + int.from_bytes(data[:8], "little")
    for _ in range(1000):
        changed = bytearray(data)
        changed[rng.randint(header)] = rng.randint(256)
        try:
            serializers.load_safetensors(io.BytesIO(changed), Model(), strict=False)
        except (ValueError, TypeError):  # of another shape, of a dtype that is not converted
            pass

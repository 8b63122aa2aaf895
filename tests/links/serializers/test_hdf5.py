import os
import re
import sys

import numpy as np
import pytest

import chainer
from chainer import serializers
from chainer.links.serializers.npz_archive import FileFormatError
from chainer.utils import install_command

h5py = pytest.importorskip("h5py")


class Values:
    def __init__(self, _children=None, **values):
        self.values = values
        self.children = _children or {}

    def serialize(self, serializer):
        for name, value in self.values.items():
            self.values[name] = serializer(name, value)
        for name, child in self.children.items():
            child.serialize(serializer[name])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.h5"


def test_round_trip(path):
    contents = {
        "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "empty": np.zeros((0, 3)),
        "integer": 3,
        "real": 2.5,
        "flag": True,
        "text": "grüße",
        "bytes": b"xy",
        "none": None,
        "names": np.array(["a", "bc"]),
    }
    serializers.save_hdf5(path, Values({"child": Values(x=np.ones(2))}, **contents))
    child = Values(x=np.zeros(2))
    blank = {
        "array": np.zeros((2, 3), np.float32),
        "empty": np.zeros((0, 3)),
        **{"integer": 0, "real": 0.0, "flag": False, "text": "", "bytes": b"", "none": 1},
        "names": None,
    }
    target = Values({"child": child}, **blank)
    serializers.load_hdf5(str(path), target)
    for name, expected in contents.items():
        np.testing.assert_array_equal(target.values[name], expected)
        if np.isscalar(expected):
            assert type(target.values[name]) is type(expected)
    np.testing.assert_array_equal(child.values["x"], 1)


def test_format(path):
    serializers.save_hdf5(
        path, Values({"/l/": Values(W=np.zeros((3, 3)), n=None)}, s=1), compression=7
    )
    with h5py.File(path) as file:
        assert file["l/W"].compression == "gzip"
        assert file["l/W"].compression_opts == 7
        assert file["s"].compression is None
        assert file["l/n"].shape is None


def test_paths(path):
    # as 4.3.1 and 7.8.1 nest them
    with h5py.File(path, "w") as file:
        serializers.HDF5Serializer(file)["/q/r"]["s"]("k", np.ones(3))
        deserializer = serializers.HDF5Deserializer(file)
        np.testing.assert_array_equal(deserializer["/q/r/"]["s"]("/k", None), 1)
        assert "q/r/s/k" in file


def test_failed_save_keeps_the_old_file(path):
    serializers.save_hdf5(path, Values(x=1))
    before = path.read_bytes()
    with pytest.raises(TypeError, match="'y'"):
        serializers.save_hdf5(path, Values(x=2, y=object()))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_strict(path):
    serializers.save_hdf5(path, Values(x=1))
    with pytest.raises(KeyError, match=r"'child' is not in group '/' of .*file\.h5"):
        serializers.load_hdf5(path, Values({"child": Values(y=1)}))
    with pytest.raises(KeyError, match="'y' is not in"):
        serializers.load_hdf5(path, Values(y=1))
    target = Values({"child": Values({"grandchild": Values(z=2)}, y=1)}, x=0)
    serializers.load_hdf5(path, target, strict=False)
    assert target.values == {"x": 1}
    assert target.children["child"].values == {"y": 1}


def test_failed_load_leaves_the_object_unchanged(path):
    serializers.save_hdf5(path, Values(x=np.ones(2), y=1))
    x = np.zeros(2)
    target = Values(x=x, y=0, z=np.zeros(1))
    with pytest.raises(KeyError, match="'z'"):
        serializers.load_hdf5(path, target)
    np.testing.assert_array_equal(x, 0)
    assert target.values["y"] == 0


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (np.zeros(3), r"shape of '/x' must be \(3,\).*file\.h5.* holds \(2,\)"),
        (1, "'x' must be a single int"),
        (np.zeros((1, 2)), "shape"),
    ],
)
def test_wrong_shape(path, value, error):
    serializers.save_hdf5(path, Values(x=np.ones(2)))
    with pytest.raises(ValueError, match=error):
        serializers.load_hdf5(path, Values(x=value))


def test_wrong_dtype(path):
    serializers.save_hdf5(path, Values(x=np.ones(2)))
    with pytest.raises(TypeError, match="'/x' must be int64"):
        serializers.load_hdf5(path, Values(x=np.zeros(2, np.int64)))


def test_group_for_array_and_array_for_group(path):
    serializers.save_hdf5(path, Values({"g": Values(x=1)}, a=1))
    with pytest.raises(FileFormatError, match=r"'/g' .* must be an array"):
        serializers.load_hdf5(path, Values(g=1))
    with pytest.raises(FileFormatError, match=r"'/a' .* must be a group"):
        serializers.load_hdf5(path, Values({"a": Values(x=1)}))


@pytest.mark.parametrize("keep", [0, 0.2, 0.6, 0.95])
def test_truncated_file(path, keep):
    serializers.save_hdf5(path, Values(x=np.random.RandomState(0).rand(1000)))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    target = Values(x=np.zeros(1000))
    with pytest.raises(FileFormatError, match=r"file\.h5"):
        serializers.load_hdf5(path, target)
    np.testing.assert_array_equal(target.values["x"], 0)


def test_damaged_contents(path):
    x = np.random.RandomState(0).rand(1000)
    serializers.save_hdf5(path, Values(a=1, x=x))
    with h5py.File(path) as file:
        chunk = file["x"].id.get_chunk_info(0)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    path.write_bytes(data)
    target = Values(a=0, x=np.zeros(1000))
    with pytest.raises(FileFormatError, match=r"file\.h5' is damaged: its checksum"):
        serializers.load_hdf5(path, target)
    # A file of another writer has no checksum at its end.
    path.write_bytes(data[:-22])
    with pytest.raises(FileFormatError, match=r"'/x' of .*file\.h5' is damaged"):
        serializers.load_hdf5(path, target)
    assert target.values["a"] == 0


def test_foreign_and_missing_file(path):
    with pytest.raises(FileNotFoundError):
        serializers.load_hdf5(path, Values())
    path.write_bytes(b"hello")
    with pytest.raises(FileFormatError, match=r"file\.h5' is not a complete HDF5 file"):
        serializers.load_hdf5(path, Values())


def test_links_to_other_files_are_not_followed(path):
    secret = path.with_name("secret.h5")
    serializers.save_hdf5(secret, Values(x=np.ones(2)))
    raw = path.with_name("raw")
    raw.write_bytes(bytes(16))
    with h5py.File(path, "w") as file:
        file["link"] = h5py.ExternalLink(str(secret), "/x")
        file.create_dataset("external", (2,), "f8", external=[(str(raw), 0, 16)])
        layout = h5py.VirtualLayout((2,), "f8")
        layout[:] = h5py.VirtualSource(str(secret), "x", (2,))
        file.create_virtual_dataset("virtual", layout)
        # The library follows a link of a link, and opens what it names.
        file["soft"] = h5py.SoftLink("/link")
        file["folder"] = h5py.ExternalLink(str(secret), "/")
        file["through"] = h5py.SoftLink("folder/x")
        os.mkfifo(path.with_name("pipe"))
        file["pipe"] = h5py.ExternalLink(str(path.with_name("pipe")), "/x")
        file["soft_pipe"] = h5py.SoftLink("pipe")
    for name, message in (
        ("soft", "link to another"),
        ("through", "link to another"),
        ("pipe", "link to another"),
        ("soft_pipe", "link to another"),
        ("link", "link to another"),
        ("external", "another"),
        ("virtual", "another"),
    ):
        with pytest.raises(FileFormatError, match=message):
            serializers.load_hdf5(path, Values(**{name: None}))


def test_soft_links(tmp_path):
    path = tmp_path / "file"
    with h5py.File(path, "w") as file:
        file["a/b/x"] = np.arange(3)
        file["link"] = h5py.SoftLink("a/./b//x")
        file["folder"] = h5py.SoftLink("/a")
        file["a/up"] = h5py.SoftLink("/folder/b")
        file["deep"] = h5py.SoftLink("/folder/up/x")
        file["nowhere"] = h5py.SoftLink("/a/y")
        file["circle"] = h5py.SoftLink("/circle")
        file["one"] = h5py.SoftLink("two")
        file["two"] = h5py.SoftLink("one")
    values = Values(link=np.zeros(3, int), deep=np.zeros(3, int))
    serializers.load_hdf5(path, values)
    assert values.values["link"].tolist() == values.values["deep"].tolist() == [0, 1, 2]
    with pytest.raises(KeyError, match="'nowhere' is not in group '/'"):
        serializers.load_hdf5(path, Values(nowhere=None))
    for name in ("circle", "one"):
        with pytest.raises(
            FileFormatError, match=f"'{name}' of '.*file' is a link to a link, more"
        ):
            serializers.load_hdf5(path, Values(**{name: None}))


@pytest.mark.parametrize("compression", [-1, 10, "gzip"])
def test_bad_compression(tmp_path, compression):
    path = tmp_path / "file"
    with pytest.raises(ValueError, match=f"level from 0 to 9, got {compression!r}"):
        serializers.save_hdf5(path, Values(x=1), compression=compression)
    assert not path.exists()


def test_huge_declared_size_is_refused(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (1 << 40, 1 << 8), "f8", chunks=(1, 1 << 8))
    with pytest.raises(FileFormatError, match="would take"):
        serializers.load_hdf5(path, Values(x=None))


@pytest.mark.parametrize("dtype", ["f8", h5py.string_dtype()])
def test_declared_size_of_what_was_never_written(path, dtype):
    """A file of some kB may declare gigabytes, which fit into memory."""
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (1 << 27,), dtype, chunks=(1 << 20,))
        file.create_dataset("small", (1 << 10,), "f8", chunks=(1 << 5,), fillvalue=2)
    with pytest.raises(FileFormatError, match="declares .* bytes, of which the file stores 0"):
        serializers.load_hdf5(path, Values(x=None))
    values = Values(small=None)
    serializers.load_hdf5(path, values)
    assert (values.values["small"] == 2).all()


def test_compound_of_objects_is_refused(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (1,), h5py.vlen_dtype(np.float32))
    with pytest.raises(FileFormatError, match="expected numbers or strings"):
        serializers.load_hdf5(path, Values(x=None))


def test_without_h5py(monkeypatch, path):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=re.escape(install_command("chainer[hdf5]"))):
        serializers.save_hdf5(path, Values())
    with pytest.raises(ImportError, match="hdf5"):
        serializers.load_hdf5(path, Values())
    with pytest.raises(ImportError, match="hdf5"):
        serializers.HDF5Serializer(None)
    with pytest.raises(ImportError, match="hdf5"):
        serializers.HDF5Deserializer(None)
    with pytest.raises(RuntimeError, match="hdf5"):  # the class of earlier releases
        serializers.save_hdf5(path, Values())
    assert serializers.hdf5._available is False


def test_available():
    assert serializers.hdf5._available is True


def test_none_needs_a_newer_h5py(monkeypatch, path):
    monkeypatch.setattr(h5py.version, "version_tuple", (2, 6, 0))
    with pytest.raises(RuntimeError, match=r"h5py 2\.7 or newer is required to serialize None"):
        serializers.save_hdf5(path, Values(x=None))
    serializers.save_hdf5(path, Values(x=1))


def test_dictionary(path):
    contents = {"a/b": np.arange(4), "/x": np.ones(1), "s": "abc", "none": None, "list": [1, 2]}
    serializers.save_hdf5(path, contents, compression=7)
    with h5py.File(path) as file:
        assert isinstance(file["a"], h5py.Group)
        assert (file["a/b"].compression, file["a/b"].compression_opts) == ("gzip", 7)
        assert file["x"].compression is None  # a single element
        assert file["none"].shape is None
    child = Values(b=np.zeros(4))
    target = Values({"a": child}, x=np.zeros(1), s="", none=3)
    serializers.load_hdf5(path, target)
    np.testing.assert_array_equal(child.values["b"], [0, 1, 2, 3])
    assert (target.values["s"], target.values["none"]) == ("abc", None)


@pytest.mark.parametrize("value", [{}, object()])
def test_dictionary_with_other_values(path, value):
    with pytest.raises(TypeError, match="value of 'x' must be an array"):
        serializers.save_hdf5(path, {"x": value})
    assert not path.exists()


def test_dictionary_of_a_model(path):
    link = chainer.Link(W=(2, 3), b=(1,))
    serializers.save_hdf5(path, serializers.npz.serialize(link))
    other = chainer.Link(W=(2, 3), b=(1,))
    other.W.array[...] = 0
    serializers.load_hdf5(path, other)
    np.testing.assert_array_equal(other.W.array, link.W.array)


def test_serialize_is_called_once(path):
    class Counting(Values):
        calls: list = []

        def serialize(self, serializer):
            self.calls.append(type(serializer))
            super().serialize(serializer)

    serializers.save_hdf5(path, {"x": 1})
    serializers.load_hdf5(path, Counting(x=0))
    assert Counting.calls == [serializers.HDF5Deserializer]


def test_children_that_save_nothing(path):
    """A dictionary of arrays has no groups for them, and they need none."""
    serializers.save_hdf5(path, {"x": np.array(1)})
    target = Values({"child": Values({"grandchild": Values()})}, x=0)
    serializers.load_hdf5(path, target)
    assert target.values == {"x": 1}


def test_failed_load_puts_children_back(path):
    serializers.save_hdf5(path, {"a/b/x": np.ones(2), "a/n": 3})
    x = np.zeros(2)
    inner = Values(x=x)
    outer = Values({"b": inner}, n=0, missing=0)
    outer.values = {"n": 0}
    outer.children["c"] = Values(y=0)
    with pytest.raises(ValueError, match="'c' is not in group"):
        serializers.load_hdf5(path, Values({"a": outer}))
    np.testing.assert_array_equal(x, 0)
    assert inner.values["x"] is x
    assert outer.values == {"n": 0}


def test_objects_in_groups(path):
    with h5py.File(path, "w") as file:
        for name, value in (("a", 1), ("b/c", 2)):
            serializers.HDF5Serializer(file.create_group(name)).save(Values(x=np.full(2, value)))
    for name, value in (("a", 1), ("/a/", 1), ("b/c", 2), ("b/c/", 2)):
        target = Values(x=np.zeros(2, int))
        serializers.load_hdf5(path, target, path=name)
        assert target.values["x"].tolist() == [value, value]
    target = Values(x=np.zeros(2, int))
    for name in ("d", "b/d", "a//b"):
        with pytest.raises(KeyError, match=f"'{name}' is not in group '/' of '.*file.h5'"):
            serializers.load_hdf5(path, target, path=name)
    serializers.load_hdf5(path, target, strict=False, path="d")
    assert target.values["x"].tolist() == [0, 0]
    with pytest.raises(FileFormatError, match="'/a/x' of '.*' must be a group, not an array"):
        serializers.load_hdf5(path, target, path="a/x")
    with pytest.raises(TypeError, match="path must be a str: names begin with it"):
        serializers.load_hdf5(path, target, path=1)


def test_load_from_a_group_warns_of_positions(path):
    model = chainer.Sequential(*(chainer.links.Linear(1, 1) for _ in range(3)))
    serializers.save_hdf5(path, model)
    with pytest.warns(chainer.MisuseWarning, match="the link has the name"):
        serializers.load_hdf5(path, model[1], path="1")


@pytest.mark.parametrize("name", ["group", "link"])
def test_failed_load_from_a_group_puts_values_back(path, name):
    with h5py.File(path, "w") as file:
        file["group/child/n"] = 3
        file["group/child/x"] = np.ones(2)
        file["link"] = h5py.SoftLink("/group")
    x = np.zeros(2)
    child = Values(n=0, x=x)
    with pytest.raises(KeyError, match="'missing' is not in group '/group'"):
        serializers.load_hdf5(path, Values({"child": child, "missing": Values(y=0)}), path=name)
    assert child.values == {"n": 0, "x": x}
    np.testing.assert_array_equal(x, 0)


def test_path_in_the_place_of_strict(path):
    """``load_npz`` takes the path in this place."""
    with h5py.File(path, "w") as file:
        file["a/x"] = np.ones(2)
    message = "strict of load_hdf5 is the text 'a', which is true: write True or False"
    with pytest.warns(chainer.MisuseWarning, match=message), pytest.raises(KeyError):
        serializers.load_hdf5(path, Values(x=np.zeros(2)), "a")

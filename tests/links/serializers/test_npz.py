import io
import os
import warnings
from unittest import mock

import numpy as np
import pytest

import chainer
from chainer import serializers
from chainer.links.chain import Chain
from chainer.links.serializer import AbstractSerializer, Deserializer, Serializer


class Values:
    """An object of named values; ``children`` are objects below it."""

    def __init__(self, _children=None, **values):
        self.values = values
        self.children = _children or {}

    def serialize(self, serializer):
        for name, value in self.values.items():
            self.values[name] = serializer(name, value)
        for name, child in self.children.items():
            child.serialize(serializer[name])


def model(seed=0):
    """A chain with an initialized, a lazy parameter and persistents."""
    rng = np.random.RandomState(seed)

    class Child(Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.W = chainer.Parameter(rng.rand(2, 3).astype(np.float32))
                self.lazy = chainer.Parameter()

    class Model(Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.child = Child()
                self.b = chainer.Parameter(rng.rand(3).astype(np.float32))
            self.add_persistent("count", seed)
            self.add_persistent("mean", rng.rand(2))
            self.add_persistent("nothing", None)
            self.add_persistent("name_of_it", f"seed {seed}")

    return Model()


def state(link):
    serializer = serializers.DictionarySerializer()
    serializer.save(link)
    return {key: array.copy() for key, array in serializer.target.items()}


def assert_equal_states(actual, expected):
    assert sorted(actual) == sorted(expected)
    for key, array in expected.items():
        assert actual[key].dtype == array.dtype, key
        np.testing.assert_array_equal(actual[key], array)


class TestDictionarySerializer:
    def test_flat_keys(self):
        serializer = serializers.DictionarySerializer()
        serializer.save(model())
        expected = {"child/W", "child/lazy", "b", "count", "mean", "nothing", "name_of_it"}
        assert set(serializer.target) == expected
        assert serializer.target["nothing"].item() is None
        assert serializer.target["child/lazy"].item() is None

    def test_paths(self):
        # as 4.3.1 and 7.8.1 make them
        serializer = serializers.DictionarySerializer()
        serializer["/q/r"]["s/"]("/k", 1)
        serializer("/z", 1)
        serializers.DictionarySerializer(serializer.target, "base/")("x", 1)
        assert set(serializer.target) == {"q/r/s/k", "z", "base/x"}

    def test_returns_the_value_and_does_not_copy_arrays(self):
        serializer = serializers.DictionarySerializer()
        x = np.zeros(2)
        assert serializer("x", x) is x
        assert serializer.target["x"] is x
        assert serializer("n", None) is None

    @pytest.mark.parametrize("value", [{}, object(), [object()]])
    def test_other_objects_are_refused(self, value):
        with pytest.raises(TypeError, match="'x' must be an array, a scalar, a string or None"):
            serializers.DictionarySerializer()("x", value)

    def test_is_a_serializer(self):
        assert issubclass(serializers.DictionarySerializer, Serializer)
        assert issubclass(serializers.NpzDeserializer, Deserializer)
        assert issubclass(Serializer, AbstractSerializer)
        for name in ("Serializer", "Deserializer", "AbstractSerializer"):
            assert getattr(chainer, name).__name__ == name


class TestNpzDeserializer:
    @pytest.mark.parametrize(
        ("stored", "value", "expected"),
        [
            (3, 0, 3),
            (3, 0.5, 3.0),
            (2.5, 0.0, 2.5),
            (True, False, True),
            (True, 0, 1),
            ("text", "", "text"),
            (b"bytes", b"", b"bytes"),
            (3, "", "3"),
            ("3", 0, 3),
            (np.array([3]), 0, 3),
            (np.float64(1.5), np.float32(0), np.float32(1.5)),
            (np.int64(3), np.int32(0), np.int32(3)),
            ([1, 2], [0, 0], [1, 2]),
            ((1, 2), (0, 0), (1, 2)),
        ],
    )
    def test_scalars_take_the_type_of_the_value(self, stored, value, expected):
        loaded = serializers.NpzDeserializer({"x": np.asarray(stored)})("x", value)
        assert loaded == expected
        assert type(loaded) is type(value)

    def test_elements_of_arrays_are_copied_into_the_value(self):
        value = np.zeros((2, 2), np.float32)
        deserializer = serializers.NpzDeserializer({"x": np.arange(4).reshape(2, 2)})
        assert deserializer("x", value) is value
        np.testing.assert_array_equal(value, [[0, 1], [2, 3]])

    def test_none(self):
        stored = np.arange(2)
        deserializer = serializers.NpzDeserializer({"x": stored, "n": np.array(None, dtype=object)})
        np.testing.assert_array_equal(deserializer("x", None), stored)
        value = np.ones(3)
        assert deserializer("n", value) is None
        np.testing.assert_array_equal(value, 1)
        assert deserializer("n", 5) is None
        assert deserializer("n", None) is None

    @pytest.mark.parametrize("shape", [(3,), (2, 1), (2, 3), ()])
    def test_shapes_must_be_equal(self, shape):
        # 4.3.1 broadcasts: a wrong file loads without a word
        deserializer = serializers.NpzDeserializer({"l/x": np.zeros((1, 3))})
        with pytest.raises(ValueError, match=r"'l/x' must be \(.*holds \(1, 3\)"):
            deserializer["l"]("x", np.zeros(shape))

    @pytest.mark.parametrize(
        ("stored", "value"),
        [
            (1.5, np.int64(1)),
            (1.5, False),
            (1j, 1.0),
            (1j, 1),
            (2, False),
            (np.zeros(2), np.zeros(2, int)),
            (np.zeros(2, "U1"), np.zeros(2)),
        ],
    )
    def test_dtypes_must_be_of_the_same_kind(self, stored, value):
        with pytest.raises(TypeError, match="'x' must be"):
            serializers.NpzDeserializer({"x": np.asarray(stored)})("x", value)

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_float_for_a_python_int(self, dtype):
        # The text is the one of 7.8.1.
        text = f"^Cannot safely deserialize from numpy array with dtype={np.dtype(dtype)} into a "
        with pytest.raises(TypeError, match=text + "variable of type <class 'int'>."):
            serializers.NpzDeserializer({"x": np.asarray(0.25, dtype)})("x", 0)

    @pytest.mark.parametrize(
        ("stored", "value"), [(2**40, np.int32(0)), (-(2**40), np.int32(0)), (300, np.int8(0))]
    )
    def test_integers_that_do_not_fit(self, stored, value):
        deserializer = serializers.NpzDeserializer({"x": np.array(stored)})
        with pytest.raises(TypeError, match=f"'x' must be of dtype {value.dtype}.* holds {stored}"):
            deserializer("x", value)

    def test_array_for_a_scalar(self):
        with pytest.raises(ValueError, match="'x' must be a single int"):
            serializers.NpzDeserializer({"x": np.zeros(2, int)})("x", 1)

    def test_strict(self):
        with pytest.raises(KeyError, match="'l/x' is not in"):
            serializers.NpzDeserializer({})["l"]("x", 1)
        deserializer = serializers.NpzDeserializer({}, strict=False)
        value = np.zeros(2)
        assert deserializer["l"]("x", value) is value
        assert deserializer("y", 3) == 3

    def test_path(self):
        deserializer = serializers.NpzDeserializer({"a/b/x": np.array(1)}, path="a/")
        assert deserializer["b"]("x", 0) == 1
        assert deserializer["/b/"]("/x", 0) == 1

    @pytest.mark.parametrize(
        ("ignore_names", "expected"),
        [
            # as in 4.3.1 and 7.8.1: names are full keys
            ("W", (0, 1, 3)),
            ("l/W", (2, 0, 3)),
            (["W", "m/l/W"], (0, 1, 0)),
            (lambda name: name.endswith("l/W"), (2, 0, 0)),
            (["W", lambda name: name.startswith("m")], (0, 1, 0)),
        ],
    )
    def test_ignore_names(self, ignore_names, expected):
        npz = {"l/W": np.array(1), "W": np.array(2), "m/l/W": np.array(3)}
        deserializer = serializers.NpzDeserializer(npz, ignore_names=ignore_names)
        got = deserializer("W", 0), deserializer["l"]("W", 0), deserializer["m"]["l"]("W", 0)
        assert got == expected

    @pytest.mark.parametrize("ignore_names", [[1], 1, ["x", 1]])
    def test_bad_ignore_names(self, ignore_names, tmp_path):
        # Earlier releases raise ValueError too, and not before an entry is asked for.
        deserializer = serializers.NpzDeserializer({"x": np.array(1)}, ignore_names=ignore_names)
        with pytest.raises(ValueError, match="ignore_names must be a string, a callable or a list"):
            deserializer("x", 0)
        with pytest.raises(ValueError, match="ignore_names must"):
            deserializer["child"]("x", 0)
        serializers.save_npz(tmp_path / "file", {"x": 1})
        with pytest.raises(ValueError, match="ignore_names must"):
            serializers.load_npz(tmp_path / "file", Values(x=0), ignore_names=ignore_names)

    def test_ignore_names_may_be_any_iterable(self):
        for names in (("x",), {"x"}, iter(["x"])):
            deserializer = serializers.NpzDeserializer({"x": np.array(1)}, ignore_names=names)
            assert [deserializer("x", 0), deserializer("x", 0)] == [0, 0]

    def test_reads_what_numpy_load_returns(self, tmp_path):
        path = tmp_path / "file.npz"
        serializers.save_npz(path, Values(x=np.arange(2), n=None))
        with np.load(path) as npz:
            deserializer = serializers.NpzDeserializer(npz)
            np.testing.assert_array_equal(deserializer("x", None), [0, 1])
            assert deserializer("n", 1) is None
            with pytest.raises(KeyError, match=r"file\.npz"):
                deserializer("missing", 1)

    def test_pickles_in_what_numpy_load_returns_are_refused(self, tmp_path):
        path = tmp_path / "file.npz"
        np.savez(path, x=np.array({1: 2}, dtype=object))
        with np.load(path) as npz, pytest.raises(ValueError, match="allow_pickle"):
            serializers.NpzDeserializer(npz)("x", None)


class TestSaveAndLoad:
    @pytest.mark.parametrize("compression", [True, False])
    def test_round_trip(self, tmp_path, compression):
        path = tmp_path / "model"  # no suffix is appended
        source, target = model(0), model(1)
        serializers.save_npz(str(path), source, compression)
        assert os.listdir(tmp_path) == ["model"]
        serializers.load_npz(str(path), target)
        assert_equal_states(state(target), state(source))
        assert target.count == 0
        assert target.name_of_it == "seed 0"

    def test_compression(self, tmp_path):
        values = Values(x=np.zeros(10000))
        serializers.save_npz(tmp_path / "a", values)
        serializers.save_npz(tmp_path / "b", values, compression=False)
        assert (tmp_path / "a").stat().st_size < 1000
        assert (tmp_path / "b").stat().st_size > 80000

    def test_lazy_parameter_is_initialized_by_loading(self, tmp_path):
        source, target = model(0), model(1)
        source.child.lazy.initialize((4,))
        serializers.save_npz(tmp_path / "model", source)
        serializers.load_npz(tmp_path / "model", target)
        np.testing.assert_array_equal(target.child.lazy.array, source.child.lazy.array)

    def test_saved_none_does_not_touch_an_initialized_parameter(self, tmp_path):
        source, target = model(0), model(1)
        target.child.lazy.array = np.ones(2, np.float32)
        serializers.save_npz(tmp_path / "model", source)
        with pytest.warns(chainer.MisuseWarning, match="no values of parameter 'lazy'"):
            serializers.load_npz(tmp_path / "model", target)
        np.testing.assert_array_equal(target.child.lazy.array, 1)

    def test_file_objects(self):
        class NotSeekable(io.RawIOBase):
            def __init__(self, data):
                self._file = io.BytesIO(data)

            def readable(self):
                return True

            def readinto(self, buffer):
                return self._file.readinto(buffer)

            def seekable(self):
                return False

        file = io.BytesIO()
        source = model(0)
        serializers.save_npz(file, source)
        for readable in (io.BytesIO(file.getvalue()), NotSeekable(file.getvalue())):
            target = model(1)
            serializers.load_npz(readable, target)
            assert_equal_states(state(target), state(source))

    @pytest.mark.parametrize("path", ["updater/model", "updater/model/", "/updater/model/"])
    def test_path(self, tmp_path, path):
        serializers.save_npz(
            tmp_path / "snapshot", Values({"updater": Values({"model": model(0)}, iteration=3)})
        )
        target = model(1)
        serializers.load_npz(tmp_path / "snapshot", target, path=path)
        assert_equal_states(state(target), state(model(0)))

    def test_damage_outside_the_path_does_not_matter(self, tmp_path):
        path = tmp_path / "snapshot"
        serializers.save_npz(path, Values({"a": Values(x=np.arange(9)), "b": Values(y=1)}), False)
        data = bytearray(path.read_bytes())
        data[data.index(np.arange(9).tobytes())] ^= 1
        path.write_bytes(data)
        target = Values(y=0)
        serializers.load_npz(path, target, path="b/")
        assert target.values == {"y": 1}

    def test_not_strict(self, tmp_path):
        serializers.save_npz(tmp_path / "file", Values(x=1))
        target = Values(x=0, y=5)
        serializers.load_npz(tmp_path / "file", target, strict=False)
        assert target.values == {"x": 1, "y": 5}

    def test_ignore_names(self, tmp_path):
        serializers.save_npz(tmp_path / "file", Values(x=1, y=2))
        target = Values(x=0, y=5)
        serializers.load_npz(tmp_path / "file", target, ignore_names="y")
        assert target.values == {"x": 1, "y": 5}

    def test_missing_file_and_directory(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="missing"):
            serializers.load_npz(tmp_path / "missing", model())
        with pytest.raises(FileNotFoundError, match="nowhere"):
            serializers.save_npz(tmp_path / "nowhere" / "file", model())


class TestFailures:
    def test_failed_save_keeps_the_old_file(self, tmp_path):
        path = tmp_path / "file"
        serializers.save_npz(path, Values(x=1))
        before = path.read_bytes()
        with pytest.raises(TypeError, match="'y'"):
            serializers.save_npz(path, Values(x=2, y=object()))
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["file"]

    @pytest.mark.parametrize("keep", [0, 0.3, 0.6, 0.9, 0.99])
    def test_truncated_file_leaves_the_model_unchanged(self, tmp_path, keep):
        path = tmp_path / "broken.npz"
        serializers.save_npz(path, model(0))
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * keep)])
        target = model(1)
        before = state(target)
        with pytest.raises(ValueError, match=r"broken\.npz"):
            serializers.load_npz(path, target)
        assert_equal_states(state(target), before)

    def test_file_of_another_model_leaves_the_model_unchanged(self, tmp_path):
        path = tmp_path / "other.npz"
        other = state(model(0))
        del other["name_of_it"]  # serialized last, when the rest was loaded
        np.savez(path, **other)
        target = model(1)
        before = state(target)
        with pytest.raises(KeyError, match=r"'name_of_it'.*other\.npz"):
            serializers.load_npz(path, target)
        assert_equal_states(state(target), before)

    def test_wrong_shape_leaves_the_model_unchanged_and_lazy(self, tmp_path):
        path = tmp_path / "other.npz"
        other = state(model(0))
        other["child/lazy"] = np.ones(5, np.float32)
        other["child/W"] = np.ones((4, 4), np.float32)
        other["mean"] = np.ones(7)
        for key in ("child/W", "mean"):
            content = {**state(model(0)), "child/lazy": other["child/lazy"], key: other[key]}
            np.savez(path, **content)
            target = model(1)
            before = state(target)
            with pytest.raises(ValueError, match=rf"{key}.*other\.npz"):
                serializers.load_npz(path, target)
            assert_equal_states(state(target), before)
            assert not target.child.lazy.is_initialized
            target.child.lazy.initialize((2,))
            assert target.child.lazy.shape == (2,)

    def test_error_of_the_object_itself_takes_everything_back(self, tmp_path):
        class Bad(Values):
            def serialize(self, serializer):
                super().serialize(serializer)
                if isinstance(serializer, serializers.NpzDeserializer):
                    raise RuntimeError("no")

        serializers.save_npz(tmp_path / "file", Values(x=np.ones(2), y=1))
        x = np.zeros(2)
        target = Bad(x=x, y=0)
        with pytest.raises(RuntimeError, match="no"):
            serializers.load_npz(tmp_path / "file", target)
        np.testing.assert_array_equal(x, 0)
        assert target.values["y"] == 0

    def test_arrays_and_objects_stay_the_same_ones_after_an_error(self, tmp_path):
        serializers.save_npz(tmp_path / "file", {"x": np.ones(2), "y": np.ones(2), "n": 1})
        x, replaced = np.zeros(2), np.zeros(3)
        target = Values(x=x, n=None, y=replaced)
        with pytest.raises(ValueError, match="'y'"):
            serializers.load_npz(tmp_path / "file", target)
        assert target.values["x"] is x
        assert target.values["n"] is None
        np.testing.assert_array_equal(x, 0)

    def test_array_that_is_loaded_twice(self, tmp_path):
        class Twice(Values):
            def serialize(self, serializer):
                serializer("x", self.values["x"])
                serializer("z", self.values["x"])
                serializer("missing", 0)

        serializers.save_npz(tmp_path / "file", {"x": np.ones(2), "z": np.full(2, 2.0)})
        x = np.zeros(2)
        with pytest.raises(KeyError, match="missing"):
            serializers.load_npz(tmp_path / "file", Twice(x=x))
        np.testing.assert_array_equal(x, 0)

    def test_failed_load_below_a_path(self, tmp_path):
        serializers.save_npz(tmp_path / "file", {"a/child/x": 1, "a/child/y": 2})
        child = Values(x=0, missing=0)
        with pytest.raises(KeyError, match="a/child/missing"):
            serializers.load_npz(tmp_path / "file", Values({"child": child}), path="a/")
        assert child.values == {"x": 0, "missing": 0}

    def test_serialize_is_called_once(self, tmp_path):
        class Counting(Values):
            calls: list = []

            def serialize(self, serializer):
                self.calls.append(type(serializer))
                super().serialize(serializer)

        serializers.save_npz(tmp_path / "file", {"x": 1})
        serializers.load_npz(tmp_path / "file", Counting(x=0))
        assert Counting.calls == [serializers.NpzDeserializer]

    def test_object_whose_state_cannot_be_saved(self, tmp_path):
        class Unsaved(Values):
            def serialize(self, serializer):
                if isinstance(serializer, Serializer):
                    raise RuntimeError("nothing to save yet")
                super().serialize(serializer)

        serializers.save_npz(tmp_path / "file", {"x": 1})
        target = Unsaved(x=0)
        serializers.load_npz(tmp_path / "file", target)
        assert target.values == {"x": 1}

    @pytest.mark.parametrize("make", [mock.Mock, mock.MagicMock])
    def test_mocked_object(self, tmp_path, make):
        serializers.save_npz(tmp_path / "file", {"x": 1})
        obj = make()
        serializers.load_npz(tmp_path / "file", obj)
        ((deserializer,), _) = obj.serialize.call_args
        assert obj.serialize.call_count == 1
        assert isinstance(deserializer, serializers.NpzDeserializer)
        assert deserializer("x", 0) == 1

    def test_error_in_an_object_without_a_former_state(self, tmp_path):
        # What the object raises while its values are put back does not hide the first error.
        class Bad(Values):
            def serialize(self, serializer):
                super().serialize(serializer)
                raise RuntimeError(type(serializer).__name__)

        serializers.save_npz(tmp_path / "file", {"x": 1})
        with pytest.raises(RuntimeError, match="NpzDeserializer"):
            serializers.load_npz(tmp_path / "file", Bad(x=0))


class TestDictionaries:
    def test_serialize(self):
        contents = serializers.npz.serialize(model())
        assert_equal_states(contents, state(model()))

    def test_save(self, tmp_path):
        class Forwarding(dict):
            """Snapshots hand a dictionary like this one to functions that save."""

            def serialize(self, serializer):
                raise AssertionError("a dictionary is saved as it is")

        contents = {"a/b": np.arange(3), "/x": 2, "text": "abc", "none": None, "list": [1, 2]}
        serializers.save_npz(tmp_path / "file", Forwarding(contents))
        with np.load(tmp_path / "file", allow_pickle=True) as npz:
            assert set(npz.files) == set(contents)
            np.testing.assert_array_equal(npz["a/b"], [0, 1, 2])
            assert npz["text"] == "abc"
            assert npz["none"].item() is None
        target = Values({"a": Values(b=None)}, none=1)
        serializers.load_npz(tmp_path / "file", target)
        np.testing.assert_array_equal(target.children["a"].values["b"], [0, 1, 2])
        assert target.values["none"] is None

    def test_round_trip_by_way_of_a_dictionary(self, tmp_path):
        serializers.save_npz(tmp_path / "one", model())
        serializers.save_npz(tmp_path / "two", serializers.npz.serialize(model()))
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()

    @pytest.mark.parametrize("value", [{}, object(), chainer.Variable(np.ones(1))])
    def test_values_that_cannot_be_saved(self, tmp_path, value):
        with (
            pytest.raises(TypeError, match="value of 'x' must be an array, a scalar, a string"),
            warnings.catch_warnings(),
        ):
            # NumPy makes an array of a Variable, which is told.
            warnings.simplefilter("ignore", RuntimeWarning)
            serializers.save_npz(tmp_path / "file", {"x": value})
        assert not (tmp_path / "file").exists()

    def test_optimizer_that_fails_to_load_is_as_before(self, tmp_path):
        def trained(steps):
            link = chainer.Link(W=(2,))
            link.W.array[...] = 1
            optimizer = chainer.optimizers.Adam().setup(link)
            for _ in range(steps):
                link.W.grad = np.ones(2, np.float32)
                optimizer.update()
            return optimizer

        contents = serializers.npz.serialize(trained(3))
        contents["W/v"] = np.ones(5)
        serializers.save_npz(tmp_path / "file", contents)
        for steps in (0, 1):
            optimizer = trained(steps)
            before = serializers.npz.serialize(optimizer)
            before = {key: array.copy() for key, array in before.items()}
            if steps == 0:  # nothing to compare shapes with: the state is that of the file
                del contents["W/v"]
                serializers.save_npz(tmp_path / "lacking", contents)
            file, error = [("lacking", KeyError), ("file", ValueError)][steps]
            with pytest.raises(error, match="W/v"):
                serializers.load_npz(tmp_path / file, optimizer)
            assert_equal_states(serializers.npz.serialize(optimizer), before)

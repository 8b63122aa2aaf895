"""Sequential: layers called one after the other."""

from __future__ import annotations

import copy
import pickle
import re
from functools import partial

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Sequential

X = np.random.RandomState(0).uniform(-1, 1, (5, 3)).astype(np.float32)


@pytest.fixture
def model():
    return Sequential(L.Linear(3, 4), F.relu, L.Linear(None, 2), partial(F.dropout, ratio=0.1))


def names(model):
    return [
        layer.__name__ if hasattr(layer, "__name__") else type(layer).__name__ for layer in model
    ]


class TestCall:
    def test_layers_in_turn(self, model):
        with chainer.using_config("train", False):
            y = model(X)
            np.testing.assert_array_equal(y.array, model[2](F.relu(model[0](X))).array)
            np.testing.assert_array_equal(model.forward(X).array, y.array)

    def test_several_values(self):
        model = Sequential(lambda a, b: (a + b, a), lambda c, a: (c, a, c - a))
        assert model(3, 4) == (7, 3, 4)

    def test_no_layers(self):
        with pytest.raises(RuntimeError, match="Sequential does not have any layer"):
            Sequential()(1)

    def test_results_that_are_no_variables(self):
        def keep(*values):
            return values

        assert Sequential(lambda x: (x,))(3) == (3,)
        assert Sequential(lambda x: None, keep)(3) == (None,)
        assert Sequential(lambda x: [x, x], keep)(3) == ([3, 3],)
        assert Sequential(lambda x: (), keep)(3) == ()

    def test_functions_with_arguments(self):
        assert Sequential(partial(F.reshape, shape=(3, 5)))(X).shape == (3, 5)

    def test_function_node(self):
        # As in the documentation of Sequential; earlier releases refused it when called.
        model = chainer.Sequential(F.relu, F.Reshape((2, 2, 3)), lambda x: x * 2)
        x = chainer.Variable(np.arange(-6, 6, dtype=np.float32).reshape(2, 6))
        for _ in range(2):  # each call grows a graph of its own
            y = model(x)
            np.testing.assert_array_equal(y.array, 2 * np.maximum(x.array, 0).reshape(2, 2, 3))
        F.sum(y).backward()
        np.testing.assert_array_equal(x.grad, 2 * (x.array > 0))
        assert "Reshape" in str(model)


class TestList:
    def test_access(self, model):
        assert len(model) == 4
        assert model[1] is F.relu
        assert model[-4] is model[0]
        assert model[1:3] == [F.relu, model[2]]
        assert list(model)[1] is F.relu
        assert next(reversed(model)) is model[3]
        assert F.relu in model
        assert F.tanh not in model
        with pytest.raises(IndexError):
            model[4]
        for error in (IndexError, ValueError):
            with pytest.raises(error, match="index 4 is out of range for 4 layers"):
                model[4] = F.relu

    def test_append_and_insert(self, model):
        model.append(F.tanh)
        model.add_link(L.Linear(2, 2))
        model.insert(0, F.sigmoid)
        model.insert(-1, F.elu)
        assert names(model) == [
            "sigmoid",
            "Linear",
            "relu",
            "Linear",
            "partial",
            "tanh",
            "elu",
            "Linear",
        ]

    def test_insert_out_of_range(self, model):
        for i in (5, -5):
            with pytest.raises(IndexError, match=f"Index out of range: {i}"):
                model.insert(i, F.relu)
        model.insert(4, F.relu)
        model.insert(-5, F.tanh)
        assert names(model) == ["tanh", "Linear", "relu", "Linear", "partial", "relu"]

    def test_set_and_delete(self, model):
        first = L.Linear(1, 1)
        model[0] = first
        model[-1] = F.tanh
        assert model[0] is first
        assert names(model) == ["Linear", "relu", "Linear", "tanh"]
        del model[1]
        assert names(model) == ["Linear", "Linear", "tanh"]
        del model[1:]
        assert names(model) == ["Linear"]
        model[1:] = [F.relu, L.Linear(1, 2)]
        assert names(model) == ["Linear", "relu", "Linear"]
        assert len(list(model.params())) == 4

    def test_pop_remove_clear(self, model):
        first, last = model[0], model[3]
        assert model.pop() is last
        assert model.pop(0) is first
        model.remove(F.relu)
        assert names(model) == ["Linear"]
        with pytest.raises(ValueError, match="relu is not in the Sequential"):
            model.remove(F.relu)
        model.clear()
        assert len(model) == 0
        assert list(model.params()) == []

    def test_index_and_count(self, model):
        model.append(F.relu)
        assert model.index(F.relu) == 1
        assert model.index(F.relu, 2) == 4
        assert model.index(model[2], 1, 3) == 2
        assert model.count(F.relu) == 2
        assert model.count(model[0]) == 1
        with pytest.raises(ValueError, match="is not in the Sequential"):
            model.index(F.relu, 2, 4)

    def test_reverse(self, model):
        model.reverse()
        assert names(model) == ["partial", "Linear", "relu", "Linear"]

    def test_addition(self, model):
        other = Sequential(L.Linear(2, 2), F.sigmoid)
        both = model + other
        assert names(both) == [*names(model), "Linear", "sigmoid"]
        assert len(model) == 4
        assert both[0] is model[0]
        model += other
        assert len(model) == 6
        model.extend([F.tanh])
        model.extend(other)
        assert len(model) == 9
        with pytest.raises(ValueError, match="supports only objects of Sequential class"):
            model + [F.relu]
        with pytest.raises(ValueError, match="supports only objects of Sequential class"):
            model += 1

    def test_extension_by_itself(self, model):
        model.extend(model)
        assert len(model) == 8

    @pytest.mark.parametrize(
        "call",
        [
            lambda model: Sequential(3),
            lambda model: model.append(3),
            lambda model: model.insert(0, 3),
            lambda model: model.extend([3]),
            lambda model: model.__setitem__(0, 3),
            lambda model: model.__setitem__(slice(0, 1), [3]),
        ],
    )
    def test_layers_must_be_callable(self, model, call):
        with pytest.raises(ValueError, match="should be callable. But given 3 is not callable"):
            call(model)
        assert names(model) == ["Linear", "relu", "Linear", "partial"]


class TestByName:
    def test_count(self, model):
        assert model.count_by_layer_type("Linear") == 2
        assert model.count_by_layer_type("relu") == 1
        assert model.count_by_layer_type("dropout") == 1
        assert model.count_by_layer_type("tanh") == 0

    def test_remove(self, model):
        model.remove_by_layer_type("Linear")
        assert names(model) == ["relu", "partial"]
        assert list(model.children()) == []
        model.remove_by_layer_type("dropout")
        assert names(model) == ["relu"]

    def test_flatten(self, model):
        nested = Sequential(F.tanh, Sequential(model, F.tanh), model)
        flat = nested.flatten()
        assert names(flat) == ["tanh", *names(model), "tanh", *names(model)]
        assert len(nested) == 3


class TestChildren:
    """Numbers of children are those of releases 4.3.1 and 7.8.1, so that files load."""

    def shapes(self, model):
        return [(path, param.shape) for path, param in model.namedparams() if path.endswith("W")]

    def make(self):
        def linear(n):
            return L.Linear(n, n, nobias=True)

        return Sequential(linear(1), F.relu, linear(2), F.relu, linear(3), linear(4))

    def test_all_but_the_first_in_reversed_order(self):
        expected = [("/0/W", (1, 1)), ("/1/W", (4, 4)), ("/2/W", (3, 3)), ("/3/W", (2, 2))]
        model = self.make()
        assert self.shapes(model) == expected
        assert [child.name for child in model.children()] == ["0", "1", "2", "3"]
        for replica in (model.copy(), model.copy("copy"), model.copy("init"), model.flatten()):
            assert self.shapes(replica) == expected
        assert self.shapes(copy.deepcopy(model)) == expected
        assert self.shapes(pickle.loads(pickle.dumps(model))) == expected

    def test_after_a_function(self):
        model = Sequential(F.relu, *self.make())
        sizes = [shape[0] for _, shape in self.shapes(model)]
        assert sizes == [1, 2, 4, 3]

    def test_changes(self):
        model = self.make()
        model.insert(0, L.Linear(5, 5, nobias=True))
        model.pop(1)
        model[2] = L.Linear(6, 6, nobias=True)
        assert [shape[0] for _, shape in self.shapes(model)] == [5, 6, 4, 3]
        assert names(model).count("Linear") == 4

    @pytest.mark.parametrize("mode", ["share", "copy", "init"])
    def test_copies_have_the_numbers_of_appended_layers(self, mode):
        model = self.make()
        model.insert(0, F.relu)
        model.insert(1, L.Linear(5, 5, nobias=True))
        assert [shape[0] for _, shape in self.shapes(model)] == [1, 5, 4, 3, 2]
        again = Sequential(*model)
        sizes = [shape[0] for _, shape in self.shapes(again)]
        assert sizes == [5, 1, 4, 3, 2]
        replica = model.copy(mode)
        assert [shape[0] for _, shape in self.shapes(replica)] == sizes
        assert [shape[0] for _, shape in self.shapes(model.repeat(1, mode)[0])] == sizes

    def test_names_of_a_link_in_two_lists(self):
        a, b, c = (L.Linear(n, n) for n in (1, 2, 3))
        model = Sequential(a, b, c)
        twice = model + model
        assert [link.name for link in twice] == ["3", "5", "4"] * 2
        model[2] = F.relu  # the third link is the second child: the one behind it is renamed
        assert [link.name for link in (a, b)] == ["3", "1"]
        model[2] = F.tanh  # no child changes
        model[1] = b
        assert [link.name for link in (a, b)] == ["3", "1"]

    def test_names_of_removed_layers(self):
        layers = [L.Linear(1, 1) for _ in range(3)]
        Sequential(*layers).remove_by_layer_type("Linear")
        assert [link.name for link in layers] == ["0", "1", "0"]

    def test_one_link_twice(self):
        link = L.Linear(2, 2, nobias=True)
        model = Sequential(link, F.relu, link)
        assert [path for path, _ in model.namedparams()] == ["/0/W", "/1/W"]
        replica = model.copy()
        assert len(list(replica.children())) == 2
        del model[0]
        assert [path for path, _ in model.namedparams()] == ["/0/W"]

    def test_registration(self):
        model = self.make()
        with model.init_scope():
            model.scale = chainer.Parameter(0, 2)
            with pytest.raises(TypeError, match="cannot register a new link"):
                model.link = L.Linear(2, 2)
        assert next(model.namedparams())[0] == "/scale"

    def test_part_of_a_chain(self):
        model = chainer.Chain(s=self.make()).copy()
        assert model.s.name == "s"
        assert [path for path, _ in model.namedparams()] == [f"/s/{i}/W" for i in range(4)]


class Scaled(Sequential):
    def __init__(self, *layers):
        super().__init__(*layers)
        with self.init_scope():
            self.scale = chainer.Parameter(1, (1,))
        self.add_persistent("count", np.zeros(1))


class TestCopy:
    @pytest.mark.parametrize("mode", ["share", "copy", "init"])
    def test_modes(self, model, mode):
        replica = model.copy(mode)
        assert names(replica) == names(model)
        assert replica[0] is not model[0]
        assert (replica[0].W.array is model[0].W.array) == (mode == "share")
        same = np.array_equal(replica[0].W.array, model[0].W.array)
        assert same == (mode != "init")
        assert replica[2].W.array is None
        replica.append(F.relu)
        assert len(model) == 4

    @pytest.mark.parametrize("mode", ["share", "copy", "init"])
    def test_what_a_subclass_adds(self, mode):
        model = Scaled(L.Linear(2, 2), F.relu)
        model.scale.array[...] = 5
        replica = model.copy(mode)
        assert type(replica) is Scaled
        assert replica.scale is not model.scale
        assert (replica.scale.array is model.scale.array) == (mode == "share")
        assert (replica.count is model.count) == (mode == "share")
        assert replica.scale.array.tolist() == [1 if mode == "init" else 5]
        assert [path for path, _ in replica.namedparams()] == ["/scale", "/0/W", "/0/b"]

    def test_callable_objects(self):
        class Times:
            def __call__(self, x):
                return 2 * x

        model = Sequential(F.relu, Times())
        for mode in ("share", "copy", "init"):
            replica = model.copy(mode)
            assert replica[0] is F.relu
            assert replica[1] is not model[1]

    def test_copyparams(self, model):
        source = model.copy("init")
        source(X)
        source.append(F.relu)  # further layers do not matter
        model.copyparams(source)
        for ours, theirs in zip(model.params(), source.params(), strict=True):
            np.testing.assert_array_equal(ours.array, theirs.array)
        with pytest.raises(ValueError, match="Objects other than Sequential"):
            model.copyparams(chainer.ChainList(*model.children()))

    def test_unknown_mode(self, model):
        with pytest.raises(ValueError, match="either 'init','copy', or 'share'"):
            model.copy("x")

    @pytest.mark.parametrize("mode", ["share", "copy", "init"])
    def test_repeat(self, model, mode):
        model.pop(2)
        repeated = model.repeat(2, mode)
        assert len(repeated) == 2
        assert all(isinstance(part, Sequential) and len(part) == 3 for part in repeated)
        first, second = repeated[0][0].W, repeated[1][0].W
        assert (first.array is second.array) == (mode == "share")
        assert np.array_equal(first.array, second.array) == (mode != "init")
        assert [path for path, _ in repeated.namedparams()][0] == "/0/0/W"

    def test_repeat_not_at_all(self, model):
        assert len(model.repeat(0)) == 0


class TestPickling:
    def test_named_functions(self, model):
        restored = pickle.loads(pickle.dumps(model))
        assert names(restored) == names(model)
        np.testing.assert_array_equal(restored[0].W.array, model[0].W.array)

    def test_lambda(self):
        model = Sequential(F.relu, lambda x: x)
        with pytest.raises(ValueError, match="lambda function as its member cannot be pickled"):
            pickle.dumps(model)
        assert len(copy.deepcopy(model)) == 2
        assert len(model.copy("copy")) == 2


def test_printed_form(model):
    model.append(Sequential(L.Linear(2, 2), F.tanh))
    model.append(L.Classifier(L.Linear(2)))
    model.append(chainer.ChainList(L.Linear(2)))
    model.append(lambda x: x * 2)
    text = re.sub(r" at 0x[0-9a-f]+", "", str(model))
    assert text == (
        "Sequential(\n"
        "  (0): Linear(in_size=3, out_size=4, nobias=False),\n"
        "  (1): <function relu>,\n"
        "  (2): Linear(in_size=None, out_size=2, nobias=False),\n"
        "  (3): functools.partial(<function dropout>, ratio=0.1),\n"
        "  (4): Sequential(\n"
        "    (0): Linear(in_size=2, out_size=2, nobias=False),\n"
        "    (1): <function tanh>,\n"
        "  ),\n"
        "  (5): Classifier(\n"
        "    (predictor): Linear(in_size=None, out_size=2, nobias=False),\n"
        "  ),\n"
        "  (6): ChainList(\n"
        "    (0): Linear(in_size=None, out_size=2, nobias=False),\n"
        "  ),\n"
        "  (7): model.append(lambda x: x * 2),\n"
        ")"
    )
    assert str(Sequential()) == "Sequential()"
    assert str(Sequential(eval("lambda x: x"))).startswith("Sequential(\n  (0): <function <lambda>")
    assert repr(Sequential(L.Linear(2, 2), F.relu)) == "Sequential(Linear, relu)"


@pytest.mark.parametrize("suffix", ["npz", "h5"])
def test_files(model, suffix, tmp_path):
    save, load = {
        "npz": (chainer.serializers.save_npz, chainer.serializers.load_npz),
        "h5": (chainer.serializers.save_hdf5, chainer.serializers.load_hdf5),
    }[suffix]
    if suffix == "h5":
        pytest.importorskip("h5py")
    other = model.copy("init")
    model(X)
    save(tmp_path / "model", model)
    load(tmp_path / "model", other)
    with chainer.using_config("train", False):
        np.testing.assert_array_equal(other(X).array, model(X).array)


def test_device(model):
    pytest.importorskip("chainer_strict_backend")
    device = chainer.get_device("@strict:0")
    assert model.to_device(device) is model
    assert model(device.send(X)).shape == (5, 2)
    assert model[2].xp is device.xp
    assert model.to_device("@numpy")[2].xp is np

"""Links made of links: chains and lists of links."""

from __future__ import annotations

import pickle
from collections.abc import MutableSequence

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import serializers


class MLP(chainer.Chain):
    def __init__(self, n_hidden=3, n_out=2):
        super().__init__()
        with self.init_scope():
            self.l2 = L.Linear(None, n_hidden)
            self.scale = chainer.Parameter(1, ())
            self.l1 = L.Linear(n_hidden, n_out)

    def forward(self, x):
        return self.l1(F.relu(self.l2(x)))


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.mlp = MLP()
            self.list = chainer.ChainList(L.EmbedID(2, 2), L.Linear(2, 2, nobias=True))


def paths(link):
    return [path for path, _ in link.namedparams()]


PATHS = [
    "/list/0/W",
    "/list/1/W",
    "/mlp/scale",
    "/mlp/l1/W",
    "/mlp/l1/b",
    "/mlp/l2/W",
    "/mlp/l2/b",
]


class TestHierarchy:
    def test_order_is_that_of_names(self):
        model = Model()
        assert [child.name for child in model.children()] == ["list", "mlp"]
        assert [child.name for child in model.mlp.children()] == ["l1", "l2"]
        assert paths(model) == PATHS
        assert [id(p) for p in model.params()] == [id(p) for _, p in model.namedparams()]

    def test_links(self):
        model = Model()
        named = dict(model.namedlinks())
        assert list(named) == [
            "/",
            "/list",
            "/list/0",
            "/list/1",
            "/mlp",
            "/mlp/l1",
            "/mlp/l2",
        ]
        assert list(model.links()) == list(named.values())
        assert list(model.links(skipself=True)) == list(named.values())[1:]
        assert list(dict(model.namedlinks(skipself=True))) == list(named)[1:]
        assert named["/list/1"] is model.list[1]

    def test_uninitialized_parameters(self):
        model = Model()
        initialized = [path for path, _ in model.namedparams(include_uninit=False)]
        assert initialized == [path for path in PATHS if path != "/mlp/l2/W"]
        assert len(list(model.params(include_uninit=False))) == 6
        with pytest.warns(UserWarning, match="Parameter '/mlp/l2/W' has not been initialized"):
            assert model.count_params() == 3 + 1 + 6 + 2 + 4 + 4

    def test_calls_reach_everything(self):
        model = Model()
        model.mlp(np.zeros((1, 4), np.float32))
        for param in model.params():
            param.grad = np.ones_like(param.array)
        other = model.copy("copy")
        other.addgrads(model)
        assert all((param.grad == 2).all() for param in other.params())
        with pytest.warns(DeprecationWarning, match=r"zerograds? is deprecated"):
            other.zerograds()
        assert not any(param.grad.any() for param in other.params())
        other.cleargrads()
        assert all(param.grad is None for param in other.params())
        chainer.optimizers.SGD().setup(model)
        assert model.update_enabled
        model.list.disable_update()
        assert [p.update_rule.enabled for p in model.params()] == [False] * 2 + [True] * 5
        model.disable_update()
        assert not model.update_enabled
        model.enable_update()
        assert all(p.update_rule.enabled for p in model.params())


class TestChain:
    def test_constructor_and_add_link(self):
        a, b = L.Linear(2, 2), L.Linear(2, 3)
        chain = chainer.Chain(a=a)
        chain.add_link("b", b)
        assert (chain.a, chain["b"]) == (a, b)
        assert (a.name, b.name) == ("a", "b")
        with pytest.raises(AttributeError, match="no attribute 'c'"):
            chain["c"]

    @pytest.mark.parametrize("wrong", [3, F.relu, None])
    def test_child_that_is_no_link(self, wrong):
        with pytest.raises(TypeError, match="cannot register a non-link object as a child"):
            chainer.Chain(a=wrong)

    def test_name_must_be_a_string(self):
        with pytest.raises(TypeError, match="string"):
            chainer.Chain().add_link(3, L.Linear(2, 2))

    def test_name_in_use(self):
        chain = chainer.Chain(a=L.Linear(2, 2))
        message = "cannot register a new link a: attribute exists"
        with pytest.raises(AttributeError, match=message):
            chain.add_link("a", L.Linear(2, 2))
        with pytest.raises(AttributeError, match=message), chain.init_scope():
            chain.a = L.Linear(2, 2)
        with pytest.raises(AttributeError, match="attribute exists"), chain.init_scope():
            chain.forward = chain.children = L.Linear(2, 2)

    def test_outside_of_init_scope(self):
        chain = chainer.Chain()
        with pytest.warns(chainer.MisuseWarning, match="assigned outside of init_scope"):
            chain.a = L.Linear(2, 2)
        assert list(chain.children()) == []
        assert paths(chain) == []

    def test_replacement(self):
        chain = MLP()
        chain.l1 = L.Linear(5, 4)
        assert [path for path, _ in chain.namedlinks(skipself=True)] == ["/l1", "/l2"]
        assert dict(chain.namedparams())["/l1/W"].shape == (4, 5)

    def test_deletion(self):
        chain = MLP()
        del chain.l2, chain.scale
        assert paths(chain) == ["/l1/W", "/l1/b"]
        assert not hasattr(chain, "l2")
        with chain.init_scope():
            chain.l2 = L.Linear(1, 1)
        assert paths(chain) == ["/l1/W", "/l1/b", "/l2/W", "/l2/b"]
        with pytest.raises(AttributeError):
            del chain.nothing

    def test_registration_with_another_chain_changes_the_name(self):
        link = L.Linear(2, 2)
        first, second = chainer.Chain(a=link), chainer.Chain(b=link)
        assert link.name == "b"
        assert paths(first) == ["/a/W", "/a/b"]
        assert paths(second) == ["/b/W", "/b/b"]

    def test_without_super_init(self):
        class Forgetful(chainer.Chain):
            def __init__(self):
                with self.init_scope():
                    self.l = L.Linear(2, 2)

        with pytest.raises(RuntimeError, match=r"Link.__init__\(\) has not been called"):
            Forgetful()

    def test_printed_form(self):
        assert str(chainer.Chain(a=L.Linear(2, 3), b=chainer.Chain(c=L.EmbedID(2, 4)))) == (
            "Chain(\n"
            "  (a): Linear(in_size=2, out_size=3, nobias=False),\n"
            "  (b): Chain(\n"
            "    (c): EmbedID(in_size=2, out_size=4, ignore_label=None),\n"
            "  ),\n"
            ")"
        )
        assert repr(chainer.Chain()) == "Chain()"
        assert repr(MLP()) == "<MLP l1=Linear, l2=Linear>"


class TestCopy:
    def test_share(self):
        model = Model()
        replica = model.copy()
        assert paths(replica) == PATHS
        assert replica.mlp is not model.mlp
        assert replica.mlp.name == "mlp"
        assert replica.list[1].name == "1"
        assert model.mlp.name == "mlp"
        for ours, theirs in zip(replica.params(), model.params(), strict=True):
            assert ours is not theirs
            assert ours.array is theirs.array
        with replica.init_scope():
            replica.more = L.Linear(1, 1)
        replica.list.append(L.Linear(1, 1))
        del replica.mlp.l1
        assert paths(model) == PATHS

    def test_copy_and_init(self):
        model = Model()
        copied, fresh = model.copy("copy"), model.copy("init")
        assert paths(copied) == paths(fresh) == PATHS
        W = model.list[0].W.array
        np.testing.assert_array_equal(copied.list[0].W.array, W)
        assert copied.list[0].W.array is not W
        assert not np.array_equal(fresh.list[0].W.array, W)
        assert copied.mlp.name == "mlp"

    def test_state_is_not_shared(self):
        class RNN(chainer.Chain):
            def __init__(self):
                super().__init__()
                with self.init_scope():
                    self.l = L.LSTM(2, 2)

        model = RNN()
        model.l(np.zeros((1, 2), np.float32))
        replica = model.copy()
        replica.l.reset_state()
        assert model.l.h is not None

    def test_initialization_of_lstm(self):
        # Its weights are not filled by the initializers of its parameters.
        fresh = chainer.Chain(l=L.LSTM(2, 3)).copy("init").l
        assert fresh.upward.W.array.all()
        assert fresh.lateral.W.array.all()
        assert fresh.upward.b.array.tolist() == [0, 0, 1, 0] * 3


def test_pickling():
    restored = pickle.loads(pickle.dumps(Model()))
    assert paths(restored) == PATHS
    assert restored.mlp.name == "mlp"


@pytest.mark.parametrize("suffix", ["npz", "h5"])
def test_files(suffix, tmp_path):
    save, load = {
        "npz": (serializers.save_npz, serializers.load_npz),
        "h5": (serializers.save_hdf5, serializers.load_hdf5),
    }[suffix]
    if suffix == "h5":
        pytest.importorskip("h5py")
    model = Model()
    model.mlp(np.zeros((1, 4), np.float32))
    save(tmp_path / "model", model)
    other = Model()
    load(tmp_path / "model", other)
    for ours, theirs in zip(other.params(), model.params(), strict=True):
        np.testing.assert_array_equal(ours.array, theirs.array)


class TestDevice:
    @pytest.fixture(autouse=True)
    def strict(self):
        pytest.importorskip("chainer_strict_backend")
        return chainer.get_device("@strict:0")

    def test_hierarchy_moves(self, strict):
        model = Model()
        assert model.to_device(strict) is model
        assert all(link.device == strict for link in model.links())
        y = model.mlp(strict.send(np.zeros((1, 4), np.float32)))
        assert chainer.backend.get_device_from_array(y.array) == strict
        assert model.to_device("@numpy") is model
        assert all(link.xp is np for link in model.links())


class TestChainList:
    def test_list(self):
        links = [L.Linear(2, n) for n in range(1, 5)]
        chain = chainer.ChainList(*links[:2])
        chain.append(links[2])
        chain.add_link(links[3])
        assert len(chain) == 4
        assert list(chain) == links
        assert list(chain.children()) == links
        assert chain[1] is links[1]
        assert chain[-1] is links[3]
        assert chain[1:3] == links[1:3]
        assert [link.name for link in chain] == ["0", "1", "2", "3"]
        with pytest.raises(IndexError):
            chain[4]
        with pytest.raises(IndexError):
            chain[-5] = L.Linear(2, 2)

    def test_changes(self):
        a, b, c, d = (L.Linear(2, n) for n in range(1, 5))
        chain = chainer.ChainList(a, b)
        chain.insert(1, c)
        assert list(chain) == [a, c, b]
        assert b.name == "2"
        chain[-1] = d
        assert list(chain) == [a, c, d]
        assert d.name == "2"
        del chain[0]
        chain.extend([a, b])
        assert list(chain) == [c, d, a, b]
        assert [link.name for link in chain] == ["0", "1", "2", "3"]
        assert paths(chain)[:2] == ["/0/W", "/0/b"]

    def test_mutable_sequence(self):
        a, b, c = (L.Linear(2, n) for n in range(1, 4))
        chain = chainer.ChainList(a, b)
        assert isinstance(chain, MutableSequence)
        assert not isinstance(chain, (list, tuple))
        chain += [c]
        assert chain.pop(0) is a and chain.pop() is c
        assert list(chain) == [b] and b.name == "0"
        chain[1:] = [a, c]
        assert [link.name for link in chain] == ["0", "1", "2"]
        assert chain.index(c) == 2 and chain.count(a) == 1 and c in chain
        chain.reverse()
        assert list(chain) == [c, a, b] == list(reversed(list(reversed(chain))))
        assert [link.name for link in chain] == ["0", "1", "2"]
        chain.remove(a)
        assert list(chain) == [c, b]
        chain[-1] = a
        assert a.name == "1"
        with pytest.raises(ValueError):
            chain.remove(b)
        with pytest.raises(IndexError):
            chain.pop(7)
        with pytest.raises(TypeError, match="indices must be integers or slices, not str"):
            chain["x"] = a
        with pytest.raises(TypeError, match="children of a ChainList must be links"):
            chain[:1] = [F.relu]
        assert len(chain) == 2
        chain.clear()
        assert len(chain) == 0

    def test_names_of_an_argument_in_releases_4_and_7(self):
        chain = chainer.ChainList()
        chain.append(link=L.Linear(2, 2))
        chain.append(value=L.Linear(2, 2))
        chain.add_link(link=L.Linear(2, 2))
        assert len(chain) == 3

    def test_names_of_a_link_in_two_lists(self):
        links = [L.Linear(1, 1) for _ in range(2)]
        first, second = chainer.ChainList(*links), chainer.ChainList(L.Linear(1, 1), *links)
        for change, names in (
            (lambda: first.append(L.Linear(1, 1)), ["1", "2"]),
            (lambda: first.__setitem__(2, L.Linear(1, 1)), ["1", "2"]),
            (lambda: first.insert(2, L.Linear(1, 1)), ["0", "1"]),
            (lambda: second.__delitem__(0), ["0", "1"]),
            (lambda: second.insert(0, L.Linear(1, 1)), ["1", "2"]),
            (lambda: first.__delitem__(3), ["0", "1"]),
        ):
            change()
            assert [link.name for link in links] == names

    def test_calls_of_a_subclass(self):
        inserted = []

        class Own(chainer.ChainList):
            def insert(self, index, link):
                inserted.append(index)
                super().insert(index, link)

        chain = Own(L.Linear(1, 1))
        chain.add_link(L.Linear(1, 1))
        chain.append(L.Linear(1, 1))
        chain.extend([L.Linear(1, 1)])
        assert inserted == [0, 1, 2, 3]

    def test_members_must_be_links(self):
        chain = chainer.ChainList(L.Linear(2, 2))
        for call in (
            lambda: chainer.ChainList(F.relu),
            lambda: chain.append(F.relu),
            lambda: chain.insert(0, F.relu),
            lambda: chain.__setitem__(0, F.relu),
        ):
            with pytest.raises(TypeError, match="children of a ChainList must be links"):
                call()

    def test_attributes(self):
        chain = chainer.ChainList(L.Linear(2, 2, nobias=True))
        with chain.init_scope():
            chain.scale = chainer.Parameter(0, 2)
            with pytest.raises(TypeError, match="cannot register a new link within"):
                chain.link = L.Linear(2, 2)
        assert paths(chain) == ["/scale", "/0/W"]

    def test_printed_form(self):
        assert str(chainer.ChainList(L.Linear(2, 3))) == (
            "ChainList(\n  (0): Linear(in_size=2, out_size=3, nobias=False),\n)"
        )

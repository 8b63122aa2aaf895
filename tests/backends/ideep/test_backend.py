"""Arrays of iDeep: devices, moves, and what code for NumPy gets of them."""

import copy
import pickle

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import intel64
from chainer.core.arrays.backend import get_backend
from chainer.core.arrays.opaque_layouts import ReferenceOnXpArrays


@pytest.fixture
def mdarray():
    return intel64.mdarray


def test_sample_of_the_guide(mdarray):
    x = np.ones((3, 3), dtype="f")
    with chainer.using_config("use_ideep", "auto"):
        y = chainer.functions.relu(x)
    assert str(type(y.data)) == "<class 'ideep4py.mdarray'>"
    assert type(y.data) is mdarray


def test_references_get_arrays_of_numpy_in_tuples_as_well(mdarray):
    class Reference:
        def forward(self, *args):
            return args

    wrapped = ReferenceOnXpArrays(Reference(), ("forward",), in_place=False)
    plain = np.ones(3, "f"), None, 2
    (found,) = wrapped.forward(plain)
    assert found is plain  # nothing to convert
    for given in ((mdarray(np.ones(3, "f")), None), ((mdarray(np.ones(3, "f")),), None)):
        (found,) = wrapped.forward(given)
        array = found[0][0] if isinstance(found[0], tuple) else found[0]
        assert type(array) is np.ndarray
        np.testing.assert_array_equal(array, np.ones(3, "f"))


class TestDevice:
    @pytest.mark.parametrize("name", ["@ideep", "@intel64", "ideep"])
    def test_names(self, name):
        device = chainer.get_device(name)
        assert device.name == "@intel64"
        assert device.xp is np

    def test_of_array(self, mdarray):
        array = mdarray(np.ones(3, "f"))
        assert chainer.backend.get_device_from_array(array).name == "@intel64"
        assert chainer.backend.get_array_module(array) is np

    def test_version_names_the_library(self):
        assert "oneDNN" in get_backend("ideep").version()

    def test_no_second_device(self):
        with pytest.raises(ValueError, match="must have no number"):
            chainer.get_device("@ideep:1")


class TestMoves:
    @pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 3, 4, 5)])
    def test_suited(self, mdarray, rng, shape):
        value = rng.randn(*shape).astype("f")
        x = chainer.Variable(value)
        x.grad = value + 1
        x.to_intel64()
        assert type(x.array) is mdarray
        assert type(x.grad) is mdarray
        np.testing.assert_array_equal(x.array, value)
        x.to_cpu()
        assert type(x.array) is np.ndarray
        assert type(x.grad) is np.ndarray
        np.testing.assert_array_equal(x.grad, value + 1)

    @pytest.mark.parametrize(
        "value",
        [
            np.ones((2, 3)),
            np.ones((2, 3), "e"),
            np.ones(3, "i"),
            np.ones((), "f"),
            np.ones((1, 1, 1, 1, 1), "f"),
            np.ones((0, 3), "f"),
        ],
        ids=["float64", "float16", "int", "zero-dim", "5-dim", "empty"],
    )
    def test_not_suited(self, value):
        x = chainer.Variable(value)
        x.to_intel64()
        assert type(x.array) is np.ndarray
        assert x.array.dtype == value.dtype
        np.testing.assert_array_equal(x.array, value)

    def test_not_contiguous(self, mdarray, rng):
        value = rng.randn(4, 6).astype("f")[::2, ::-3]
        x = chainer.Variable(value)
        x.to_intel64()
        assert type(x.array) is mdarray
        np.testing.assert_array_equal(x.array, value)

    def test_the_way_back_shares_no_memory(self, mdarray):
        array = mdarray(np.ones(3, "f"))
        host = chainer.get_device("@numpy").send(array)
        host += 1
        np.testing.assert_array_equal(array, [1, 1, 1])

    def test_link(self, mdarray):
        link = L.BatchNormalization(3)
        assert link.to_device("@ideep") is link
        assert link.device.name == "@intel64"
        assert {type(a) for a in (link.gamma.array, link.avg_mean)} == {mdarray}
        link.to_device("@numpy")
        assert {type(a) for a in (link.gamma.array, link.avg_mean)} == {np.ndarray}

    def test_chain_with_sizes_still_unknown(self, mdarray):
        chain = chainer.Sequential(L.Linear(None, 4), L.Linear(4, 2))
        chain.to_device("@ideep")
        chain(np.ones((2, 3), "f"))
        assert type(chain[0].W.array) is mdarray


class TestPlain:
    def test_dense_arrays_are_seen(self, mdarray):
        array = mdarray(np.zeros((2, 3), "f"))
        plain = get_backend("ideep").to_xp(array)
        plain[0, 0] = 5
        assert array[0, 0] == 5

    def test_blocks_stay(self, blocked):
        layout = blocked.layout
        plain = get_backend("ideep").to_xp(blocked)
        assert type(plain) is np.ndarray
        assert blocked.layout is layout
        np.testing.assert_array_equal(plain, blocked)

    def test_view_of_blocks_shares_memory(self, blocked):
        view = get_backend("ideep").xp_view(blocked)
        view[...] = 3
        np.testing.assert_array_equal(blocked, np.full(blocked.shape, 3))

    def test_looking_at_an_array_does_not_reorder_it(self, blocked):
        layout = blocked.layout
        with chainer.using_config("use_ideep", "auto"):
            x = chainer.Variable(blocked)
            F.relu(x)
            chainer.explain("relu", x)
            F.tanh(x)
            F.sum(x)
        assert blocked.layout is layout


@pytest.fixture
def blocked(rng):
    from ideep4py import ops

    y = ops.convolution(rng.randn(2, 8, 6, 6).astype("f"), rng.randn(16, 8, 3, 3).astype("f"))
    assert not y.layout.dense
    return y


class TestGradients:
    def test_have_the_type_of_the_variable(self, auto, mdarray, rng):
        for kind in (np.ndarray, mdarray):
            x = chainer.Variable(rng.randn(3, 4).astype("f"))
            if kind is mdarray:
                x.to_intel64()
            F.sum(F.relu(x)).backward()
            assert type(x.grad) is kind or kind is mdarray
            np.testing.assert_array_equal(x.grad, np.asarray(x.array) > 0)

    def test_add_up(self, auto, rng):
        value = rng.randn(2, 3, 4, 4).astype("f")
        x = chainer.Variable(value)
        h = F.relu(x)
        y = F.sigmoid(h) + h + F.relu(h) + h * 2 + F.tanh(h)
        F.sum(y).backward()
        got = x.grad
        with chainer.using_config("use_ideep", "never"):
            x = chainer.Variable(value)
            h = F.relu(x)
            y = F.sigmoid(h) + h + F.relu(h) + h * 2 + F.tanh(h)
            F.sum(y).backward()
        np.testing.assert_allclose(got, x.grad, rtol=1e-5)

    def test_are_not_shared(self, auto):
        x, y = (chainer.Variable(intel64.mdarray(np.ones((2, 3), "f"))) for _ in range(2))
        z = F.relu(x + F.reshape(y, (2, 3)))
        z.grad = intel64.mdarray(np.ones((2, 3), "f"))
        z.backward(retain_grad=True)  # keeps the gradient of z, too
        x.grad *= 5
        np.testing.assert_array_equal(y.grad, np.ones((2, 3)))
        np.testing.assert_array_equal(z.grad, np.ones((2, 3)))

    def test_of_gradients(self, auto, rng):
        value = rng.randn(2, 3, 5, 5).astype("f")
        weight = rng.randn(4, 3, 3, 3).astype("f")

        def second(mode):
            with chainer.using_config("use_ideep", mode):
                x, W = chainer.Variable(value), chainer.Variable(weight)
                y = F.sigmoid(F.convolution_2d(x, W))
                (gx,) = chainer.grad([F.sum(y * y)], [x], enable_double_backprop=True)
                F.sum(gx * gx).backward()
                return x.grad, W.grad

        for got, expected in zip(second("auto"), second("never"), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)

    def test_modes_may_be_mixed_in_a_graph(self, rng):
        value = rng.randn(2, 3, 6, 6).astype("f")
        weight = rng.randn(4, 3, 3, 3).astype("f")

        def gradients(first, second):
            x, W = chainer.Variable(value), chainer.Variable(weight)
            with chainer.using_config("use_ideep", first):
                h = F.convolution_2d(x, W)
            with chainer.using_config("use_ideep", second):
                h = F.max_pooling_2d(F.relu(h), 2)
            F.sum(h * h).backward()
            return x.grad, W.grad

        expected = gradients("never", "never")
        for modes in (("auto", "never"), ("never", "auto")):
            for got, want in zip(gradients(*modes), expected, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


class TestCopies:
    def test_pickle_of_a_link(self, mdarray):
        link = L.Linear(3, 2).to_device("@ideep")
        loaded = pickle.loads(pickle.dumps(link))
        assert type(loaded.W.array) is mdarray
        assert loaded.device.name == "@intel64"
        np.testing.assert_array_equal(loaded.W.array, link.W.array)

    def test_deepcopy_of_a_link(self, mdarray):
        link = L.Linear(3, 2).to_device("@ideep")
        twin = copy.deepcopy(link)
        twin.W.array[...] = 0
        assert type(twin.W.array) is mdarray
        assert np.any(np.asarray(link.W.array))

    @pytest.mark.parametrize("suffix", ["npz", "h5"])
    def test_serializers(self, tmp_path, mdarray, suffix):
        if suffix == "h5":
            pytest.importorskip("h5py")
        save = chainer.serializers.save_npz if suffix == "npz" else chainer.serializers.save_hdf5
        load = chainer.serializers.load_npz if suffix == "npz" else chainer.serializers.load_hdf5
        path = str(tmp_path / f"model.{suffix}")
        source = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)).to_device("@ideep")
        save(path, source)
        for target in (
            chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)),
            chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)).to_device("@ideep"),
            chainer.Sequential(L.Linear(None, 4), L.BatchNormalization(4)).to_device("@ideep"),
        ):
            kind = np.ndarray if target.device.name == "@numpy" else mdarray
            load(path, target)
            np.testing.assert_array_equal(target[0].W.array, source[0].W.array)
            np.testing.assert_array_equal(target[1].avg_var, source[1].avg_var)
            assert type(target[0].W.array) is kind

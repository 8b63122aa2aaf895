"""Link hooks that replace weights: spectral normalization and weight standardization."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import gradient_check
from chainer.link_hooks import SpectralNormalization, WeightStandardization
from chainer.link_hooks import spectral_normalization as module
from tests.links.link_cases import floats

LINKS = {
    "Linear": (lambda: L.Linear(3, 4), (2, 3), 0),
    "EmbedID": (lambda: L.EmbedID(5, 3), None, 0),
    "Convolution1D": (lambda: L.Convolution1D(3, 4, 2), (2, 3, 5), 0),
    "Convolution2D": (lambda: L.Convolution2D(3, 4, 2), (2, 3, 5, 5), 0),
    "ConvolutionND": (lambda: L.ConvolutionND(3, 3, 4, 2), (2, 3, 4, 4, 4), 0),
    "Deconvolution2D": (lambda: L.Deconvolution2D(3, 4, 2), (2, 3, 5, 5), 1),
    "Deconvolution3D": (lambda: L.Deconvolution3D(3, 4, 2), (2, 3, 3, 3, 3), 1),
}
links = pytest.mark.parametrize("name", LINKS)


class Spy(chainer.LinkHook):
    """Keeps the weights that links use."""

    name = "Spy"

    def __init__(self):
        self.weights = []

    def forward_postprocess(self, args):
        self.weights.append(args.link.W)


def make(name):
    create, shape, axis = LINKS[name]
    x = np.array([0, 4, 1], np.int32) if shape is None else floats(*shape)
    return create(), x, axis


def matrix_of(array, axis):
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)


def used_weight(link, x):
    spy = Spy()
    # It is registered before, so that the other hook still runs when it looks.
    hooks = dict(link.local_link_hooks)
    link.local_link_hooks.clear()
    link.local_link_hooks.update({"Spy": spy, **hooks})
    link(x)
    del link.local_link_hooks["Spy"]
    return spy.weights[0]


class TestSpectralNormalization:
    @links
    def test_largest_singular_value_is_one(self, name):
        link, x, axis = make(name)
        link.add_hook(SpectralNormalization(n_power_iteration=100))
        assert link.W_u.shape == (link.W.shape[axis],)
        assert link.W_u.dtype == np.float32
        raw = link.W.array.copy()
        sigma = np.linalg.svd(matrix_of(raw, axis))[1][0]
        weight = used_weight(link, x)
        np.testing.assert_allclose(weight.array, raw / sigma, rtol=1e-3, atol=1e-5)
        assert isinstance(link.W, chainer.Parameter)
        np.testing.assert_array_equal(link.W.array, raw)

    def test_steps_of_the_iteration(self):
        link = L.Linear(3, 2).add_hook(SpectralNormalization(n_power_iteration=2, factor=3.0))
        u, W = link.W_u.astype(float), link.W.array.astype(float)
        for _ in range(2):
            v = u @ W
            v /= np.linalg.norm(v) + 1e-6
            u = W @ v
            u /= np.linalg.norm(u) + 1e-6
        kept = link.W_u
        weight = used_weight(link, floats(1, 3))
        np.testing.assert_allclose(weight.array, W / (u @ W @ v / 3), rtol=1e-4)
        np.testing.assert_allclose(link.W_u, u, rtol=1e-4)
        assert link.W_u is kept

    def test_numbers_of_release_7(self):
        link = L.Linear(3, 2).add_hook(SpectralNormalization())
        link.W.array[...] = [
            [1.0184761, 0.23103087, 0.5650746],
            [1.2937803, 1.0782351, -0.56423163],
        ]
        link.W_u[...] = [0.3, 0.4]
        x = chainer.Variable(np.ones((2, 3), np.float32))
        link.cleargrads()
        y = link(x)
        y.grad = np.arange(4, dtype=np.float32).reshape(2, 2)
        y.backward()
        np.testing.assert_allclose(link.W_u, [0.49096856, 0.8711767], rtol=1e-5)
        np.testing.assert_allclose(y.array, [[0.9322525, 0.9287602]] * 2, rtol=1e-5)
        expected = [[-0.1728754, 0.29740554, 1.1094341], [-0.07494855, 0.75952005, 2.2003872]]
        np.testing.assert_allclose(link.W.grad, expected, rtol=1e-4)

    def test_test_mode_is_repeatable(self):
        link = L.Linear(3, 2).add_hook(SpectralNormalization())
        u = link.W_u.copy()
        with chainer.using_config("train", False):
            first, second = link(floats(1, 3)).array, link(floats(1, 3)).array
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(link.W_u, u)

    def test_recomputation(self):
        np.random.seed(0)
        link = L.Linear(3, 2).add_hook(SpectralNormalization())
        twin = link.copy("copy")
        x, z = chainer.Variable(floats(4, 3)), chainer.Variable(floats(4, 3))
        link.cleargrads()
        twin.cleargrads()
        for y in (F.forget(link, x), twin(z)):
            y.grad = floats(4, 2)
            y.backward()
        np.testing.assert_array_equal(link.W_u, twin.W_u)
        np.testing.assert_allclose(x.grad, z.grad, rtol=1e-5)
        np.testing.assert_allclose(link.W.grad, twin.W.grad, rtol=1e-5, atol=1e-6)

    def test_gradient(self):
        link = L.Linear(3, 2).add_hook(SpectralNormalization())
        W = link.W

        # The vectors are constants in the gradient, so that only converged ones have the true one.
        for _ in range(200):
            link(floats(1, 3))
        link.local_link_hooks["SpectralNormalization"].n_power_iteration = 200
        y = link(floats(2, 3))
        y.grad = floats(2, 2)
        W.cleargrad()
        y.backward()

        def loss(array):
            sigma = np.linalg.svd(array)[1][0]
            return (floats(2, 3).astype(float) @ (array / sigma).T * floats(2, 2)).sum()

        array = W.array.astype(float)
        numerical = np.zeros_like(array)
        for i in np.ndindex(array.shape):
            step = np.zeros_like(array)
            step[i] = 1e-5
            numerical[i] = (loss(array + step) - loss(array - step)) / 2e-5
        np.testing.assert_allclose(W.grad, numerical, rtol=1e-3, atol=1e-4)

    def test_gamma(self):
        link = L.Linear(3, 4).add_hook(SpectralNormalization(100, use_gamma=True))
        sigma = np.linalg.svd(link.W.array)[1][0]
        np.testing.assert_allclose(link.gamma.array, sigma, rtol=1e-5)
        assert link.gamma.shape == () and link.gamma.dtype == np.float32
        assert [path for path, _ in link.namedparams()] == ["/W", "/b", "/gamma"]
        np.testing.assert_allclose(
            link(floats(2, 3)).array, floats(2, 3) @ link.W.array.T, rtol=1e-3, atol=1e-4
        )
        link.cleargrads()
        F.sum(link(floats(2, 3))).backward()
        assert link.gamma.grad is not None
        link.delete_hook("SpectralNormalization")
        assert not hasattr(link, "gamma") and not hasattr(link, "W_u")
        assert list(link._params) == ["W", "b"] and not link._persistent

    def test_lazy_link(self):
        link = L.Linear(None, 4).add_hook(SpectralNormalization(use_gamma=True))
        # As in 7.8.1 there is no vector before the first call.
        assert not hasattr(link, "W_u") and link.gamma.array is None
        assert not link._persistent
        y = link(x=floats(2, 3, 5))
        assert y.shape == (2, 4)
        assert link.W_u.shape == (4,) and link.gamma.array is not None
        lazy = L.Convolution2D(None, 4, 2).add_hook(SpectralNormalization())
        assert lazy(floats(2, 3, 5, 5)).shape == (2, 4, 4, 4)
        assert lazy.in_channels == 3
        L.Linear(3).add_hook(SpectralNormalization()).delete_hook("SpectralNormalization")

    def test_one_hook_for_several_links(self):
        hook = SpectralNormalization(100)
        first, second = L.Linear(3, 4).add_hook(hook), L.Deconvolution2D(None, 5, 2).add_hook(hook)
        for link, x in ((first, floats(2, 3)), (second, floats(2, 3, 4, 4))):
            link(x)
        assert (first.W_u.shape, second.W_u.shape) == ((4,), (5,))
        model = chainer.Sequential(L.Linear(3, 3).add_hook(hook), L.Linear(3, 3).add_hook(hook))
        model(floats(2, 3))
        assert all(isinstance(link.W, chainer.Parameter) for link in model)

    def test_the_normalized_weight_without_a_call(self):
        link = L.Deconvolution2D(3, 4, 2)
        hook = SpectralNormalization(n_power_iteration=50)
        link.add_hook(hook)
        assert hook.reshape_W(link.W).shape == hook.reshape_W(link.W.array).shape == (4, 12)
        weight = hook.normalize_weight(link)
        assert isinstance(weight, chainer.Variable)
        singular = np.linalg.svd(hook.reshape_W(weight.array))[1]
        assert singular[0] == pytest.approx(1, rel=1e-3)

    def test_a_subclass_may_choose_another_matrix(self):
        class Columns(SpectralNormalization):
            def reshape_W(self, W):
                return W.reshape(-1, 2)

        link = L.Convolution2D(1, 4, 2)
        spy = Spy()
        link.add_hook(spy).add_hook(Columns(n_power_iteration=50))
        link.W_u = floats(8)
        link(floats(1, 1, 3, 3))
        matrix = spy.weights[0].array.reshape(8, 2)
        assert np.linalg.svd(matrix)[1][0] == pytest.approx(1, rel=1e-3)

    def test_other_weights_and_names(self):
        link = L.Bilinear(2, 3, 4).add_hook(SpectralNormalization(weight_name="V1", name="first"))
        link.add_hook(SpectralNormalization(weight_name="V2"))
        assert list(link.local_link_hooks) == ["first", "SpectralNormalization"]
        link(floats(5, 2), floats(5, 3))
        assert (link.V1_u.shape, link.V2_u.shape) == ((2,), (3,))
        assert link.local_link_hooks["first"].vector_name == "V1_u"

    def test_an_exception_leaves_the_parameter(self):
        link = L.Linear(3, 4).add_hook(SpectralNormalization())
        with pytest.raises(chainer.utils.type_check.InvalidType):
            link(floats(2, 5))
        assert isinstance(link.W, chainer.Parameter)
        link(floats(2, 3))

    @pytest.mark.parametrize("suffix", ["npz", "h5"])
    @pytest.mark.parametrize("lazy", [False, True])
    def test_files(self, suffix, lazy, tmp_path):
        if suffix == "h5":
            pytest.importorskip("h5py")
        save = getattr(chainer.serializers, "save_npz" if suffix == "npz" else "save_hdf5")
        load = getattr(chainer.serializers, "load_npz" if suffix == "npz" else "load_hdf5")
        link = L.Linear(3, 4).add_hook(SpectralNormalization(use_gamma=True))
        link(floats(2, 3))
        save(tmp_path / "link", link)
        other = L.Linear(None if lazy else 3, 4).add_hook(SpectralNormalization(use_gamma=True))
        load(tmp_path / "link", other)
        np.testing.assert_array_equal(other.W_u, link.W_u)
        np.testing.assert_array_equal(other.gamma.array, link.gamma.array)
        with chainer.using_config("train", False):
            np.testing.assert_array_equal(other(floats(2, 3)).array, link(floats(2, 3)).array)

    def test_copies(self):
        link = L.Linear(3, 4).add_hook(SpectralNormalization())
        for replica in (link.copy(), link.copy("copy"), copy.deepcopy(link), link.copy("init")):
            assert replica(floats(2, 3)).shape == (2, 4)
            assert isinstance(replica.W, chainer.Parameter)
        assert link.copy("copy").W_u is not link.W_u

    def test_device(self):
        pytest.importorskip("chainer_strict_backend")
        device = chainer.get_device("@strict:0")
        link = L.Linear(3, 4).add_hook(SpectralNormalization(use_gamma=True))
        with chainer.using_config("train", False):
            expected = link(floats(2, 3)).array
            y = link.to_device(device)(device.send(floats(2, 3)))
        assert chainer.backend.get_device_from_array(y.array, link.W_u) == device
        np.testing.assert_allclose(device.backend.to_host(y.array), expected, rtol=1e-4)
        lazy = L.Linear(4).add_hook(SpectralNormalization(use_gamma=True)).to_device(device)
        lazy(device.send(floats(2, 3)))
        assert chainer.backend.get_device_from_array(lazy.W_u) == device

    def test_errors(self):
        for error in (AssertionError, ValueError):
            with pytest.raises(error, match="n_power_iteration must be positive, got 0"):
                SpectralNormalization(n_power_iteration=0)
        with pytest.raises(NotImplementedError, match="context manager"):
            SpectralNormalization().__enter__()
        with pytest.raises(ValueError, match="Weight 'V' does not exist!"):
            L.Linear(3, 4).add_hook(SpectralNormalization(weight_name="V"))
        with pytest.raises(ValueError, match=r"Expect W.shape\[0\] > 0"):
            L.Linear(3, 0).add_hook(SpectralNormalization())

    def test_functions_of_the_module(self):
        W, u = floats(3, 4), floats(3)
        new_u, v = module.update_approximate_vectors(chainer.Variable(W), u, 200, 1e-12)
        left, s, right = np.linalg.svd(W)
        np.testing.assert_allclose(np.abs(new_u), np.abs(left[:, 0]), rtol=1e-4)
        np.testing.assert_allclose(np.abs(v), np.abs(right[0]), rtol=1e-4)
        sigma = module.calculate_max_singular_value(chainer.Variable(W), new_u, v)
        assert sigma.shape == ()
        np.testing.assert_allclose(sigma.array, s[0], rtol=1e-5)
        unit = module.l2normalize(np, floats(5), 0.0)
        np.testing.assert_allclose(np.linalg.norm(unit), 1, rtol=1e-6)
        assert unit.dtype == np.float32


class TestWeightStandardization:
    @links
    def test_statistics(self, name):
        link, x, _ = make(name)
        link.add_hook(WeightStandardization(eps=1e-3))
        raw = link.W.array.copy()
        weight = used_weight(link, x).array
        axes = tuple(range(1, raw.ndim))
        mean, var = raw.mean(axes, keepdims=True), raw.var(axes, keepdims=True)
        np.testing.assert_allclose(weight, (raw - mean) / np.sqrt(var + 1e-3), rtol=1e-4, atol=1e-5)
        assert isinstance(link.W, chainer.Parameter)
        np.testing.assert_array_equal(link.W.array, raw)
        assert not link._persistent

    def test_gradient_reaches_the_parameter(self):
        def call(x, W):
            link.W = W
            return link(x)

        with chainer.using_config("dtype", np.float64):
            link = L.Linear(3, 2).add_hook(WeightStandardization())
        x, W = floats(2, 3).astype(float), floats(2, 3).astype(float)
        gradient_check.check_backward(call, (x, W), floats(2, 2).astype(float), atol=1e-4)
        link = L.Linear(3, 2).add_hook(WeightStandardization())
        link.cleargrads()
        F.sum(link(floats(2, 3)) ** 2).backward()
        assert link.W.grad.any()

    def test_lazy_and_devices(self):
        link = L.Convolution2D(None, 4, 2).add_hook(WeightStandardization())
        assert link(floats(2, 3, 4, 4)).shape == (2, 4, 3, 3)
        pytest.importorskip("chainer_strict_backend")
        device = chainer.get_device("@strict:0")
        link.to_device(device)(device.send(floats(2, 3, 4, 4)))

    def test_errors(self):
        with pytest.raises(NotImplementedError, match="context manager"):
            WeightStandardization().__enter__()
        with pytest.raises(ValueError, match="Weight 'V' does not exist!"):
            L.Linear(3, 4).add_hook(WeightStandardization(weight_name="V"))
        with pytest.raises(TypeError):
            WeightStandardization(1e-3)
        with pytest.raises(ValueError, match="weight 'b' must have at least 2 axes"):
            L.Bias(1, (3,)).add_hook(WeightStandardization(weight_name="b"))(floats(2, 3))
        assert WeightStandardization(name="x").name == "x"


def test_public_names():
    assert chainer.link_hooks.SpectralNormalization is SpectralNormalization
    assert sorted(chainer.link_hooks.MODULES) == [
        "cast_inputs",
        "spectral_normalization",
        "timer",
        "weight_standardization",
    ]

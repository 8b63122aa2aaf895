"""Links: parameters, modes, what they promise of sequences."""

import copy

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers, serializers, testing
from chainer.testing.specs.attention import attention


class TestRMSNormalization(testing.LinkTestCase):
    skip_double_backward_test = skip_serialization_test = False
    param_names = ("gamma",)
    dtypes = ("float32", "float64")
    layouts = ("contiguous", "strided")
    check_backward_options = {"atol": 1e-3, "rtol": 1e-3}
    check_double_backward_options = {"atol": 1e-2, "rtol": 1e-2}

    def generate_params(self):
        return (np.random.uniform(0.5, 1.5, 4),)

    def create_link(self, initializers):
        return L.RMSNormalization(None, initial_gamma=initializers[0])

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (2, 3, 4)),)

    def forward_expected(self, link, inputs):
        (x,) = inputs
        y = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + link.eps) * link.gamma.array
        return (y.astype(x.dtype),)


class TestRMSNormalizationWithOffset(TestRMSNormalization):
    def create_link(self, initializers):
        return L.RMSNormalization(None, initial_gamma=initializers[0], offset=1.0)

    def forward_expected(self, link, inputs):
        (x,) = inputs
        y = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + link.eps) * (1 + link.gamma.array)
        return (y.astype(x.dtype),)


def test_an_offset_changes_nothing_at_first():
    x = np.random.default_rng(0).standard_normal((2, 3)).astype("f")
    plain, offset = L.RMSNormalization(3), L.RMSNormalization(3, offset=1.0)
    np.testing.assert_array_equal(offset.gamma.array, 0)
    np.testing.assert_array_equal(plain(x).array, offset(x).array)


class TestLayerScale(testing.LinkTestCase):
    skip_double_backward_test = skip_serialization_test = False
    param_names = ("gamma",)
    dtypes = ("float32", "float64")
    layouts = ("contiguous", "strided")
    check_backward_options = {"atol": 1e-3, "rtol": 1e-3}
    check_double_backward_options = {"atol": 1e-2, "rtol": 1e-2}

    def generate_params(self):
        return (np.random.uniform(0.5, 1.5, 3),)

    def create_link(self, initializers):
        return L.LayerScale(None, initializers[0], axis=1)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (2, 3, 4)),)

    def forward_expected(self, link, inputs):
        return (inputs[0] * link.gamma.array[:, None],)


def test_layer_scale_of_vectors():
    link = L.LayerScale(3)
    np.testing.assert_allclose(link(np.ones((2, 4, 3), "f")).array, 1e-5)
    with pytest.raises(ValueError, match=r"must have the axis 1 of the channels, got \(3,\)"):
        L.LayerScale(3, axis=1)(np.ones(3, "f"))


class TestSqueezeExcitation(testing.LinkTestCase):
    skip_double_backward_test = skip_serialization_test = False
    param_names = ("squeeze/W", "squeeze/b", "expand/W", "expand/b")
    dtypes = ("float64",)
    layouts = ("contiguous", "strided")

    def generate_params(self):
        shapes = (2, 4), (2,), (4, 2), (4,)
        return tuple(np.random.uniform(0.5, 1.5, shape) for shape in shapes)

    def create_link(self, initializers):
        link = L.SqueezeExcitation(4, 2, activation=F.tanh)
        parameters = link.squeeze.W, link.squeeze.b, link.expand.W, link.expand.b
        for parameter, initializer in zip(parameters, initializers, strict=True):
            parameter.array = np.array(initializer)
        return link

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (3, 4, 2, 3)),)

    def forward_expected(self, link, inputs):
        (x,) = inputs
        hidden = np.tanh(x.mean(axis=(2, 3)) @ link.squeeze.W.array.T + link.squeeze.b.array)
        factors = 1 / (1 + np.exp(-(hidden @ link.expand.W.array.T + link.expand.b.array)))
        return (x * factors[:, :, None, None],)


def test_sizes_of_squeeze_excitation():
    assert L.SqueezeExcitation(64).squeeze.W.shape == (4, 64)
    assert L.SqueezeExcitation(3).squeeze.W.shape == (1, 3)
    with pytest.raises(ValueError, match="must be positive, got 8 and 0"):
        L.SqueezeExcitation(8, 0)
    with pytest.raises(ValueError, match=r"x must have the shape \(B, C, ...\), got \(2, 8\)"):
        L.SqueezeExcitation(8)(np.ones((2, 8), "f"))


class TestMultiHeadAttention(testing.LinkTestCase):
    param_names = ("query/W", "key/b", "value/W", "output/b")
    dtypes = ("float64",)
    layouts = ("contiguous", "strided")
    skip_double_backward_test = skip_serialization_test = False

    def generate_params(self):
        return (np.random.uniform(-0.5, 0.5, (4, 4)),)

    def create_link(self, initializers):
        return L.MultiHeadAttention(2, 4, initialW=initializers[0], initial_bias=0.1)

    def generate_inputs(self):
        return np.random.uniform(-1, 1, (2, 3, 4)), np.random.uniform(-1, 1, (2, 5, 4))

    def forward_expected(self, link, inputs):
        x, other = inputs

        def heads(child, x):
            y = x @ child.W.array.T + child.b.array
            return y.reshape(*y.shape[:2], 2, 2).transpose(0, 2, 1, 3)

        y = attention(heads(link.query, x), heads(link.key, other), heads(link.value, other))
        y = y.transpose(0, 2, 1, 3).reshape(x.shape)
        return ((y @ link.output.W.array.T + link.output.b.array).astype(x.dtype),)


def _sequences(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("f")


_LINKS = {
    "instance": (lambda size: L.InstanceNormalization(size), (2, 6, 5), 6),
    "rms": (lambda size: L.RMSNormalization(size), (2, 5, 6), 6),
    "attention": (lambda size: L.MultiHeadAttention(2, 6, size), (2, 5, 6), 6),
    "encoder": (lambda size: L.TransformerEncoderLayer(6, 2), (2, 5, 6), None),
    "decoder": (
        lambda size: L.TransformerDecoderLayer(6, 2, encoder_size=size),
        (2, 5, 6),
        6,
    ),
}


def _call(link, x):
    return link(x, x) if isinstance(link, L.TransformerDecoderLayer) else link(x)


@pytest.mark.parametrize("name", _LINKS)
def test_lazy_saved_copied(name, tmp_path):
    make, shape, size = _LINKS[name]
    x = _sequences(*shape)
    link = make(None)
    with chainer.using_config("train", False):
        y = _call(link, x).array
        assert y.shape == shape
        serializers.save_npz(tmp_path / "link.npz", link)
        for other in (make(None), make(size)):
            serializers.load_npz(tmp_path / "link.npz", other)
            np.testing.assert_array_equal(_call(other, x).array, y)
        np.testing.assert_array_equal(_call(copy.deepcopy(link), x).array, y)
    assert str(link)


@pytest.mark.parametrize("name", _LINKS)
def test_runs_on_another_device(name):
    pytest.importorskip("chainer_strict_backend", reason="the strict backend is not installed")
    make, shape, size = _LINKS[name]
    link = make(size)
    device = chainer.get_device("@strict:0")
    x = device.send(_sequences(*shape))
    link.to_device(device)
    y = _call(link, x)
    loss = F.sum(y * y)
    link.cleargrads()
    loss.backward()
    assert all(type(p.grad) is type(x) for p in link.params())


def test_initializers():
    link = L.RMSNormalization(3, initial_gamma=0.5)
    np.testing.assert_array_equal(link.gamma.array, [0.5] * 3)
    link = L.MultiHeadAttention(2, 4, initialW=0, initial_bias=3)
    np.testing.assert_array_equal(link(_sequences(1, 2, 4)).array, np.full((1, 2, 4), 3))


def test_instance_normalization_without_parameters():
    link = L.InstanceNormalization(use_gamma=False, use_beta=False)
    assert not list(link.params())
    x = _sequences(2, 3, 4)
    np.testing.assert_array_equal(link(x).array, F.instance_normalization(x).array)
    assert [p.name for p in L.InstanceNormalization(3, use_gamma=False).params()] == ["beta"]


def test_printed():
    assert str(L.RMSNormalization()) == "RMSNormalization(size=None, eps=1e-06)"
    assert "use_beta=False" in str(L.InstanceNormalization(use_beta=False))


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("normalization", ["layer", "rms"])
def test_causal_layer_does_not_see_the_future(normalization, rotary):
    layer = L.TransformerEncoderLayer(8, 2, normalization=normalization, rotary=rotary)
    x = _sequences(2, 6, 8)
    changed = x.copy()
    changed[:, 4:] *= -1
    with chainer.using_config("train", False):
        y, z = layer(x, causal=True).array, layer(changed, causal=True).array
        np.testing.assert_array_equal(y[:, :4], z[:, :4])
        assert np.abs(y[:, 4:] - z[:, 4:]).max() > 0.1
        assert np.abs(layer(x).array - layer(changed).array)[:, :4].max() > 1e-3


def test_padding_is_not_seen():
    layer = L.TransformerDecoderLayer(8, 2)
    x, encoded = _sequences(2, 4, 8), _sequences(2, 5, 8)
    seen = np.array([[1, 1, 1, 0, 0]] * 2, bool)[:, None, None]
    with chainer.using_config("train", False):
        y = layer(x, encoded, encoded_mask=seen).array
        np.testing.assert_allclose(y, layer(x, encoded[:, :3]).array, rtol=1e-5, atol=1e-6)
        assert np.abs(y - layer(x, encoded).array).max() > 1e-3


def test_attention_without_positions_ignores_the_order():
    x = _sequences(1, 5, 8)
    order = [3, 0, 4, 1, 2]
    plain, rotary = (L.MultiHeadAttention(2, 8, rotary=flag) for flag in (False, True))
    np.testing.assert_allclose(
        plain(x[:, order]).array, plain(x).array[:, order], rtol=1e-4, atol=1e-5
    )
    assert np.abs(rotary(x[:, order]).array - rotary(x).array[:, order]).max() > 1e-3


def test_dropout_in_training_only():
    layer = L.TransformerEncoderLayer(8, 2, dropout=0.5)
    x = _sequences(2, 3, 8)
    assert np.abs(layer(x).array - layer(x).array).max() > 1e-3
    with chainer.using_config("train", False):
        np.testing.assert_array_equal(layer(x).array, layer(x).array)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="n_heads must be a divisor of size, got 3 and 8"):
        L.MultiHeadAttention(3, 8)
    with pytest.raises(ValueError, match="rotary needs an even size of the heads, got 6 / 2 = 3"):
        L.MultiHeadAttention(2, 6, rotary=True)
    with pytest.raises(ValueError, match=r"dropout must be in the range \[0, 1\), got 1.5"):
        L.MultiHeadAttention(2, 6, dropout=1.5)
    with pytest.raises(ValueError, match="normalization must be one of 'layer', 'rms', got 'x'"):
        L.TransformerEncoderLayer(8, 2, normalization="x")
    with pytest.raises(ValueError, match=r"dropout must be in the range \[0, 1\), got -1"):
        L.TransformerDecoderLayer(8, 2, dropout=-1)
    with pytest.raises(ValueError, match=r"key must have the shape \(B, T, size\), got \(3, 8\)"):
        L.MultiHeadAttention(2, 8)(_sequences(1, 3, 8), _sequences(3, 8))


def test_layers_learn_to_copy():
    # The sequence is to be moved by one: attention has to find the vector before.
    np.random.seed(0)
    x = np.random.default_rng(0).standard_normal((8, 6, 8)).astype("f")
    target = np.roll(x, 1, axis=1)
    target[:, 0] = 0
    model = L.TransformerEncoderLayer(8, 2, dropout=0.0, rotary=True, normalization="rms")
    optimizer = optimizers.Adam(0.01).setup(model)
    losses = []
    for _ in range(200):
        loss = F.mean_squared_error(model(x, causal=True) - x, target)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    assert losses[-1] < losses[0] / 5

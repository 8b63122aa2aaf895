"""Points in which earlier releases differ from each other, and what this one does."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import initializers
from chainer.links.model.vision import resnet, vgg
from tests.links.link_cases import IMAGE, X2, floats


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("lstm", "LSTM"),
        ("gru", "StatefulGRU"),
        ("mgu", "StatelessMGU"),
        ("n_step_lstm", "NStepLSTM"),
        ("n_step_gru", "NStepBiGRU"),
        ("n_step_rnn", "NStepRNNTanh"),
        ("peephole", "StatefulPeepholeLSTM"),
        ("tree_lstm", "NaryTreeLSTM"),
        ("zoneoutlstm", "StatefulZoneoutLSTM"),
    ],
)
def test_modules_of_recurrent_links_have_the_names_of_both_releases(old, name):
    module = importlib.import_module(f"chainer.links.connection.{old}")
    assert module is importlib.import_module(f"chainer.links.rnn.{old}")
    assert getattr(module, name) is getattr(L, name)


class TestStatistics:
    @pytest.mark.parametrize("kind", [L.BatchNormalization, L.BatchRenormalization])
    def test_first_values(self, kind):
        link = kind(3)
        np.testing.assert_array_equal(link.avg_mean, 0)
        np.testing.assert_array_equal(link.avg_var, 1)  # 0 in release 4

    @pytest.mark.parametrize("kind", [L.BatchNormalization, L.BatchRenormalization])
    def test_given_values(self, kind):
        link = kind(3, initial_avg_mean=2, initial_avg_var=np.array([1, 2, 3]))
        np.testing.assert_array_equal(link.avg_mean, 2)
        np.testing.assert_array_equal(link.avg_var, [1, 2, 3])

    def test_position_of_batch_renormalization(self):
        # Position 11 was freeze_running_statistics in release 4.
        link = L.BatchRenormalization(3, 1, 0, 0.9, 1e-5, None, True, True, None, None, 1.5)
        np.testing.assert_array_equal(link.avg_mean, 1.5)
        frozen = L.BatchRenormalization(3, freeze_running_statistics=True)
        frozen(X2)
        np.testing.assert_array_equal(frozen.avg_mean, 0)


class TestAttributes:
    def test_sizes_of_convolutions(self):
        link = L.ConvolutionND(2, 3, 4, 3, stride=2, pad=1)
        assert (link.ksize, link.stride, link.pad, link.dilate) == (
            (3, 3),
            (2, 2),
            (1, 1),
            (1, 1),
        )
        assert (L.Deconvolution2D(3, 4, 3).outsize, L.DeconvolutionND(2, 3, 4, 3).outsize) == (
            (None, None),
            None,
        )

    def test_inferred_size_is_filled_in(self):
        link = L.Linear(2)
        assert link.in_size is None
        link(X2)
        assert link.in_size == 3

    @pytest.mark.parametrize("cls", [L.StatefulMGU, L.LSTM, L.StatefulGRU])
    def test_state_has_the_dtype_of_the_input(self, cls):
        link = cls(3, 2)
        for param in link.params():
            param.array = param.array.astype(np.float64)
        assert link(X2.astype(np.float64)).dtype == np.float64
        assert link.h.dtype == np.float64

    def test_dtype_of_hierarchical_softmax(self):
        link = L.BinaryHierarchicalSoftmax(3, ((0, 1), 2), dtype=np.float64)
        assert link.W.dtype == np.float64
        loss = link(X2.astype(np.float64), np.array([0, 1, 2, 1], np.int32))
        assert loss.dtype == np.float64

    def test_link_hooks_without_an_import(self):
        assert chainer.link_hooks.TimerHook.name == "TimerHook"

    def test_lists_as_values_and_shapes(self):
        array = np.zeros(2, np.float32)
        initializers.Constant([1, 2])(array)
        np.testing.assert_array_equal(array, [1, 2])
        assert chainer.initializer.get_fans([2, 3]) == (3, 2)
        np.testing.assert_array_equal(
            L.BatchNormalization(axis=[0, 2, 3])(IMAGE).array,
            L.BatchNormalization(axis=(0, 2, 3))(IMAGE).array,
        )

    def test_initializers_are_not_changed(self):
        initializer = initializers.Constant(1)
        L.BatchNormalization(3, dtype=np.float16, initial_gamma=initializer)
        assert initializer.dtype is None


class TestResNet:
    X = floats(1, 3, 4, 4)

    def test_block(self):
        block = resnet.BuildingBlock(3, 3, 2, 4, 2)
        assert block._forward == ["a", "b1", "b2"]
        assert block(self.X).shape == (1, 4, 2, 2)
        assert block.forward(self.X).shape == (1, 4, 2, 2)

    def test_old_name_of_an_argument(self):
        with pytest.warns(DeprecationWarning, match="'n_layer' .* Use 'n_layers' instead"):
            block = resnet.BuildingBlock(n_layer=2, in_channels=3, mid_channels=2, out_channels=4)
        assert block._forward == ["a", "b1"]

    @pytest.mark.parametrize(("fb", "strides"), [(False, (2, 1, 2)), (True, (1, 2, 2))])
    def test_where_blocks_take_their_stride(self, fb, strides):
        block = resnet.BuildingBlock(2, 3, 2, 4, 2, downsample_fb=fb)
        convolutions = (block.a.conv1, block.a.conv2, block.a.conv4)
        assert tuple(link.stride[0] for link in convolutions) == strides
        assert block.b1.conv2.stride == (1, 1)
        assert block(self.X).shape == (1, 4, 2, 2)
        model = L.ResNet50Layers(None, downsample_fb=fb)
        assert model.res3.a.conv1.stride[0] == strides[0]
        assert model.res2.a.conv2.stride == (1, 1)  # the stage that keeps the size

    def test_average_over_the_image(self):
        y = resnet._global_average_pooling_2d(chainer.Variable(IMAGE))
        np.testing.assert_allclose(y.array, IMAGE.mean(axis=(2, 3)), rtol=1e-5, atol=1e-6)


def test_vgg_19_has_three_layers_more():
    # Weights of zeros cost no time.
    class VGG(vgg.VGGLayers):
        def _load_pretrained(self, *args):
            pass

    models = {n: VGG("no file", n) for n in (16, 19)}
    layers = {n: set(model.available_layers) for n, model in models.items()}
    assert layers[19] - layers[16] == {"conv3_4", "conv4_4", "conv5_4"}
    assert layers[16] < layers[19]
    link = models[19].conv4_4
    assert (link.W.shape, link.pad) == ((512, 512, 3, 3), (1, 1))
    with pytest.raises(ValueError, match="either 16 or 19, but 17 was given"):
        VGG(None, 17)

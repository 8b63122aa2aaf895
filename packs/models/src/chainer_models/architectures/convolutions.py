"""Convolutional networks: ConvNeXt and ResNet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.typing import VariableLike

from chainer_models.architectures.image_names import Convolutional, normalized
from chainer_models.architectures.vision import count_classes
from chainer_models.blocks import activation
from chainer_models.errors import ModelFileError
from chainer_models.model import Model
from chainer_models.names import Row, norm, weights
from chainer_models.options import Options


def _sizes(config: Options, name: str, default: list[int]) -> list[int]:
    """Returns an option that is a list of sizes."""
    values = config.sequence(name) or default
    for value in values:
        Options({name: value}, config.source).integer(name)
    return values


def _channels_last(norm: Any, x: Variable) -> Variable:
    """Normalizes the channels of images."""
    return F.transpose(norm(F.transpose(x, (0, 2, 3, 1))), (0, 3, 1, 2))


class ConvNeXtLayer(chainer.Chain):
    """A layer of ConvNeXt: a depthwise convolution, and a network for each position.

    Args:
        size: Number of channels.
        function: Name of the activation.
        scale: Factors of the output at first; 0 for none.
    """

    def __init__(self, size: int, function: str, scale: float) -> None:
        super().__init__()
        self.function = function
        with self.init_scope():
            self.depthwise = L.Convolution2D(size, size, 7, pad=3, groups=size)
            # transformers has 1e-6 here for all files: the option layer_norm_eps is for the last
            # normalization.
            self.norm = L.LayerNormalization(size, 1e-6)
            self.up = L.Linear(size, 4 * size)
            self.down = L.Linear(4 * size, size)
            if scale > 0:
                self.scale = L.LayerScale(size, scale)
        self.is_scaled = scale > 0

    def forward(self, x: Variable) -> Variable:
        """Computes the output.

        Args:
            x: Images, shape ``(B, C, height, width)``.
        """
        # Files have the 1x1 convolutions as linear layers, which read the channels of each
        # position.
        h = F.transpose(self.depthwise(x), (0, 2, 3, 1))
        shape = h.shape
        h = self.norm(F.reshape(h, (-1, shape[-1])))
        h = self.down(activation(self.function)(self.up(h)))
        h = self.scale(h) if self.is_scaled else h
        return x + F.transpose(F.reshape(h, shape), (0, 3, 1, 2))


class ConvNeXtStage(chainer.Chain):
    """Layers of one size, after a convolution that halves height and width.

    Args:
        inputs: Number of channels of the input.
        size: Number of channels.
        depth: Number of layers.
        is_first: Whether nothing is halved.
        function: Name of the activation.
        scale: Factors of the outputs at first.
    """

    def __init__(
        self, inputs: int, size: int, depth: int, is_first: bool, function: str, scale: float
    ) -> None:
        super().__init__()
        self.is_first = is_first
        with self.init_scope():
            if not is_first:
                self.norm = L.LayerNormalization(inputs, 1e-6)
                self.down = L.Convolution2D(inputs, size, 2, stride=2)
            layers = [ConvNeXtLayer(size, function, scale) for _ in range(depth)]
            self.layers = chainer.ChainList(*layers)

    def forward(self, x: Variable) -> Variable:
        """Computes the output.

        Args:
            x: Images, shape ``(B, inputs, height, width)``.
        """
        if not self.is_first:
            x = self.down(_channels_last(self.norm, x))
        for layer in self.layers:
            x = layer(x)
        return x


class ConvNeXt(Model):
    """ConvNeXt (``model_type`` "convnext").

    See: `A ConvNet for the 2020s <https://arxiv.org/abs/2201.03545>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("convnext.",)

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        sizes = _sizes(config, "hidden_sizes", [96, 192, 384, 768])
        depths = _sizes(config, "depths", [3, 3, 9, 3])
        if len(sizes) != len(depths):
            raise ModelFileError(
                f"'depths' of {config.source} must have as many values as 'hidden_sizes', got "
                f"{depths} and {sizes}"
            )
        function = config.text("hidden_act", default="gelu")
        # An unknown name is an error here, before all layers are made.
        activation(function)
        scale = config.number("layer_scale_init_value", default=1e-6)
        patch = config.integer("patch_size", default=4)
        self.n_channels = config.integer("num_channels", default=3)
        self.has_head = self.head_of(config, {"ForImageClassification": "classes"})
        config.skip("num_stages", "image_size", "out_features", "out_indices", "stage_names")
        # Stochastic depth, which changes nothing in test mode.
        config.skip("drop_path_rate")
        with self.init_scope():
            self.patch = L.Convolution2D(self.n_channels, sizes[0], patch, stride=patch)
            self.patch_norm = L.LayerNormalization(sizes[0], 1e-6)
            self.stages = chainer.ChainList(
                *[
                    # The first stage reads patches, which have its number of channels already.
                    ConvNeXtStage(sizes[max(i - 1, 0)], size, depth, i == 0, function, scale)
                    for i, (size, depth) in enumerate(zip(sizes, depths, strict=True))
                ]
            )
            self.norm = L.LayerNormalization(
                sizes[-1], config.number("layer_norm_eps", default=1e-12)
            )
            if self.has_head:
                self.head = L.Linear(sizes[-1], count_classes(config))

    def forward(self, pixels: VariableLike) -> Variable:
        """Computes logits of classes, or a vector for each image if the model has no head.

        Args:
            pixels: Images, shape ``(B, channels, height, width)``.

        Returns:
            Variable: Shape ``(B, classes)`` or ``(B, C)``.
        """
        h = _channels_last(self.patch_norm, self.patch(pixels))
        for stage in self.stages:
            h = stage(h)
        h = self.norm(F.average(h, axis=(2, 3)))
        return self.head(h) if self.has_head else h

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        stage, file = "/stages/*", "convnext.encoder.stages.*"
        own, layer = f"{stage}/layers/*", f"{file}.layers.*"
        return [
            *weights("/patch", "convnext.embeddings.patch_embeddings"),
            *norm("/patch_norm", "convnext.embeddings.layernorm"),
            *norm(f"{stage}/norm", f"{file}.downsampling_layer.0"),
            *weights(f"{stage}/down", f"{file}.downsampling_layer.1"),
            *weights(f"{own}/depthwise", f"{layer}.dwconv"),
            *norm(f"{own}/norm", f"{layer}.layernorm"),
            *weights(f"{own}/up", f"{layer}.pwconv1"),
            *weights(f"{own}/down", f"{layer}.pwconv2"),
            Row(f"{own}/scale/gamma", f"{layer}.layer_scale_parameter"),
            *norm("/norm", "convnext.layernorm"),
            *weights("/head", "classifier"),
        ]


class NormalizedConvolution(chainer.Chain):
    """A convolution without bias, and batch normalization.

    Args:
        inputs: Number of channels of the input.
        size: Number of channels.
        kernel: Size of the kernel.
        stride: Stride.
    """

    def __init__(self, inputs: int, size: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(inputs, size, kernel, stride, kernel // 2, nobias=True)
            # The default of PyTorch; Chainer's is 2e-5.
            self.bn = L.BatchNormalization(size, eps=1e-5)

    def forward(self, x: Variable) -> Variable:
        """Computes the output.

        Args:
            x: Images.
        """
        return self.bn(self.conv(x))


class ResNetLayer(chainer.Chain):
    """A layer of ResNet: two convolutions, or three with fewer channels in the middle.

    Args:
        inputs: Number of channels of the input.
        size: Number of channels.
        stride: Stride of the layer.
        kind: ``"basic"`` or ``"bottleneck"``.
        function: Name of the activation.
        stride_first: Whether the first convolution of three has the stride.
    """

    def __init__(
        self, inputs: int, size: int, stride: int, kind: str, function: str, stride_first: bool
    ) -> None:
        super().__init__()
        self.function = function
        self.has_shortcut = inputs != size or stride != 1
        if kind == "basic":
            parts = [(inputs, size, 3, stride), (size, size, 3, 1)]
        else:
            middle = size // 4
            # ResNet 1.5 has the stride in the convolution of 3x3, the paper in the first one of
            # 1x1.
            first, second = (stride, 1) if stride_first else (1, stride)
            parts = [(inputs, middle, 1, first), (middle, middle, 3, second), (middle, size, 1, 1)]
        with self.init_scope():
            if self.has_shortcut:
                self.shortcut = NormalizedConvolution(inputs, size, 1, stride)
            self.parts = chainer.ChainList(*[NormalizedConvolution(*part) for part in parts])

    def forward(self, x: Variable) -> Variable:
        """Computes the output.

        Args:
            x: Images.
        """
        function = activation(self.function)
        h = x
        for i, part in enumerate(self.parts):
            # No activation follows the last convolution: it is applied to the sum below.
            h = part(h if i == 0 else function(h))
        return function(h + (self.shortcut(x) if self.has_shortcut else x))


class ResNet(Convolutional):
    """ResNet 1.5 (``model_type`` "resnet").

    Statistics of batch normalization are used as they are while ``chainer.config.train`` is False.

    See: `Deep Residual Learning for Image Recognition <https://arxiv.org/abs/1512.03385>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("resnet.",)

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        kind = config.choice("layer_type", ("basic", "bottleneck"), "bottleneck")
        first = config.integer("embedding_size", default=64)
        sizes = _sizes(config, "hidden_sizes", [256, 512, 1024, 2048])
        depths = _sizes(config, "depths", [3, 4, 6, 3])
        if len(sizes) != len(depths):
            raise ModelFileError(
                f"'depths' of {config.source} must have as many values as 'hidden_sizes', got "
                f"{depths} and {sizes}"
            )
        self.function = config.text("hidden_act", default="relu")
        activation(self.function)
        halves = config.flag("downsample_in_first_stage")
        stride_first = config.flag("downsample_in_bottleneck")
        self.has_head = self.head_of(config, {"ForImageClassification": "classes"})
        config.skip("out_features", "out_indices", "stage_names")
        n_channels = config.integer("num_channels", default=3)
        stages: list[chainer.ChainList] = []
        inputs = first
        for i, (size, depth) in enumerate(zip(sizes, depths, strict=True)):
            # The pooling before the stages has halved the images already.
            strides = [2 if i or halves else 1] + [1] * (depth - 1)
            layers: list[ResNetLayer] = []
            for stride in strides:
                layers.append(ResNetLayer(inputs, size, stride, kind, self.function, stride_first))
                inputs = size
            stages.append(chainer.ChainList(*layers))
        with self.init_scope():
            self.stem = NormalizedConvolution(n_channels, first, 7, 2)
            self.stages = chainer.ChainList(*stages)
            if self.has_head:
                self.head = L.Linear(sizes[-1], count_classes(config))

    def forward(self, pixels: VariableLike) -> Variable:
        """Computes logits of classes, or a vector for each image if the model has no head.

        Args:
            pixels: Images, shape ``(B, channels, height, width)``.

        Returns:
            Variable: Shape ``(B, classes)`` or ``(B, C)``.
        """
        h = activation(self.function)(self.stem(pixels))
        # By default Chainer rounds the size of the output up, PyTorch down.
        h = F.max_pooling_2d(h, 3, 2, 1, cover_all=False)
        for stage in self.stages:
            for layer in stage:
                h = layer(h)
        h = F.average(h, axis=(2, 3))
        return self.head(h) if self.has_head else h

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        own, file = "/stages/*/*", "resnet.encoder.stages.*.layers.*"
        return [
            *_convolution("/stem", "resnet.embedder.embedder"),
            *_convolution(f"{own}/shortcut", f"{file}.shortcut"),
            *_convolution(f"{own}/parts/*", f"{file}.layer.*"),
            # Layer 0 of the head only flattens, and has no tensors.
            *weights("/head", "classifier.1"),
        ]


def _convolution(own: str, file: str) -> list[Row]:
    return normalized(own, f"{file}.convolution", f"{file}.normalization")

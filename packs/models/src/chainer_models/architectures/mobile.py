"""Networks of inverted residuals: EfficientNet and MobileNetV3, with names of timm and torchvision.

A layer widens the channels, filters each by itself, weights them by squeeze-and-excitation, and
narrows them again. The two networks are one class; tables say what distinguishes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.typing import VariableLike

from chainer_models.architectures.image_names import (
    POINTWISE,
    Convolutional,
    class_count,
    library_and_variant,
    normalized,
)
from chainer_models.names import Row, weights
from chainer_models.options import Options

Function = Callable[[Variable], Variable]


def _hard_gate(x: Variable) -> Variable:
    """Returns ``relu6(x + 3) / 6``."""
    return F.clip(x / 6 + 0.5, 0.0, 1.0)


def _identity(x: Variable) -> Variable:
    return x


class LayerOptions(NamedTuple):
    """Sizes of a layer.

    Attributes:
        kernel: Size of the kernel of the depthwise convolution.
        inner: Number of channels in the middle.
        size: Number of channels of the output.
        squeeze: Size of the layer of squeeze-and-excitation; 0 for none.
        function: Activation.
        stride: Stride.
    """

    kernel: int
    inner: int
    size: int
    squeeze: int
    function: Function
    stride: int


@dataclass(frozen=True)
class MobileOptions:
    """The options in which the networks differ.

    Attributes:
        stem: Number of channels of the first convolution.
        stages: Layers of each stage.
        last: Number of channels of the last convolution.
        hidden: Size of the layer before the head; 0 for none.
        function: Activation of the first and last convolution, and of the hidden layer.
        gate: Function that makes the factors of squeeze-and-excitation.
        squeezed: Activation of squeeze-and-excitation.
        eps: Added to variances.
        is_same: Whether images are padded as TensorFlow does: more at the end.
    """

    stem: int
    stages: tuple[tuple[LayerOptions, ...], ...]
    last: int
    hidden: int
    function: Function
    gate: Function
    squeezed: Function
    eps: float
    is_same: bool


class Filter(chainer.Chain):
    """A convolution without bias, batch normalization and an activation.

    Args:
        inputs: Number of channels of the input.
        size: Number of channels.
        kernel: Size of the kernel.
        stride: Stride.
        function: Activation.
        options: The options in which the networks differ.
        groups: Number of groups of channels.
    """

    def __init__(
        self,
        inputs: int,
        size: int,
        kernel: int,
        stride: int,
        function: Function,
        options: MobileOptions,
        groups: int = 1,
    ) -> None:
        super().__init__()
        self.function = function
        # With stride 1 TensorFlow pads both sides alike, as the convolution itself can.
        self.kernel, self.stride, self.is_same = kernel, stride, options.is_same and stride > 1
        pad = 0 if self.is_same else kernel // 2
        with self.init_scope():
            self.conv = L.Convolution2D(
                inputs, size, kernel, stride, pad, nobias=True, groups=groups
            )
            self.bn = L.BatchNormalization(size, eps=options.eps)

    def forward(self, x: VariableLike) -> Variable:
        """Computes the output.

        Args:
            x: Images.
        """
        if self.is_same:
            x = F.pad(x, [(0, 0), (0, 0), *map(self._padding, x.shape[2:])], "constant")
        return self.function(self.bn(self.conv(x)))

    def _padding(self, size: int) -> tuple[int, int]:
        """Returns how many elements TensorFlow adds before and after an axis."""
        total = max((-(-size // self.stride) - 1) * self.stride + self.kernel - size, 0)
        return total // 2, total - total // 2


class InvertedResidual(chainer.Chain):
    """A layer: channels are widened, filtered, weighted and narrowed.

    Args:
        inputs: Number of channels of the input.
        layer: Sizes.
        options: The options in which the networks differ.
    """

    def __init__(self, inputs: int, layer: LayerOptions, options: MobileOptions) -> None:
        super().__init__()
        inner, function = layer.inner, layer.function
        self.is_widened = inner != inputs
        self.is_squeezed = layer.squeeze > 0
        self.is_added = layer.stride == 1 and inputs == layer.size
        with self.init_scope():
            if self.is_widened:
                self.widen = Filter(inputs, inner, 1, 1, function, options)
            self.depthwise = Filter(
                inner, inner, layer.kernel, layer.stride, function, options, groups=inner
            )
            if self.is_squeezed:
                self.weight = L.SqueezeExcitation(
                    inner, layer.squeeze, options.squeezed, options.gate
                )
            self.narrow = Filter(inner, layer.size, 1, 1, _identity, options)

    def forward(self, x: Variable) -> Variable:
        """Computes the output.

        Args:
            x: Images.
        """
        h = self.depthwise(self.widen(x) if self.is_widened else x)
        h = self.narrow(self.weight(h) if self.is_squeezed else h)
        return x + h if self.is_added else h


class MobileNetwork(Convolutional):
    """A network of inverted residuals.

    Args:
        config: Options of ``config.json``.
    """

    # transformers saves timm's models in a wrapper, whose attribute has this name.
    prefixes = ("timm_model.",)

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        self.library, variant = library_and_variant(config)
        self.options = options = self.variant_options(self.library, variant)
        classes = class_count(config)
        self.has_head = classes > 0
        layers = [layer for stage in options.stages for layer in stage]
        inputs = [options.stem, *[layer.size for layer in layers]]
        with self.init_scope():
            self.stem = Filter(3, options.stem, 3, 2, options.function, options)
            self.layers = chainer.ChainList(
                *[
                    InvertedResidual(before, layer, options)
                    for before, layer in zip(inputs, layers, strict=False)
                ]
            )
            self.last = Filter(inputs[-1], options.last, 1, 1, options.function, options)
            if options.hidden:
                self.hidden = L.Linear(options.last, options.hidden)
            if self.has_head:
                self.head = L.Linear(options.hidden or options.last, classes)

    def variant_options(self, library: str, variant: str) -> MobileOptions:
        """Returns what distinguishes a network.

        Args:
            library: ``"timm"`` or ``"torchvision"``.
            variant: Name of the network.
        """
        raise NotImplementedError(f"{type(self).__name__} must define variant_options()")

    def forward(self, pixels: VariableLike) -> Variable:
        """Computes logits of classes, or a vector for each image if the model has no head.

        Args:
            pixels: Images, shape ``(B, 3, height, width)``.

        Returns:
            Variable: Shape ``(B, classes)`` or ``(B, C)``.
        """
        h = self.stem(pixels)
        for layer in self.layers:
            h = layer(h)
        h = F.average(self.last(h), axis=(2, 3))
        if self.options.hidden:
            h = self.options.function(self.hidden(h))
        return self.head(h) if self.has_head else h

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        is_timm = self.library == "timm"
        rows = normalized("/stem", *(("conv_stem", "bn1") if is_timm else _pair("features.0")))
        for i, (stage, j) in enumerate(self._places()):
            own, layer = f"/layers/{i}", self.layers[i]
            file = f"blocks.{stage}.{j}" if is_timm else self._torchvision_name(i, stage, j)
            rows += _timm_rows(own, file, layer) if is_timm else _torchvision_rows(own, file, layer)
        return [*rows, *(self._timm_ends() if is_timm else self._torchvision_ends())]

    def _places(self) -> Iterator[tuple[int, int]]:
        """Yields the stage of each layer, and its number in it."""
        for stage, layers in enumerate(self.options.stages):
            for j in range(len(layers)):
                yield stage, j

    def _torchvision_name(self, i: int, stage: int, j: int) -> str:
        """Returns the name of a layer: MobileNetV3 has no stages there."""
        return f"features.{i + 1}" if self.options.hidden else f"features.{stage + 1}.{j}"

    def _timm_ends(self) -> list[Row]:
        if not self.options.hidden:
            return [*normalized("/last", "conv_head", "bn2"), *weights("/head", "classifier")]
        last = f"blocks.{len(self.options.stages)}.0"
        return [
            *normalized("/last", f"{last}.conv", f"{last}.bn1"),
            *weights("/hidden", "conv_head", POINTWISE),
            *weights("/head", "classifier"),
        ]

    def _torchvision_ends(self) -> list[Row]:
        hidden = self.options.hidden
        count = len(self.layers) if hidden else len(self.options.stages)
        return [
            *normalized("/last", *_pair(f"features.{count + 1}")),
            *weights("/hidden", "classifier.0"),
            *weights("/head", "classifier.3" if hidden else "classifier.1"),
        ]


class EfficientNet(MobileNetwork):
    """EfficientNet B0 to B7 of timm or torchvision, such as ``architecture`` "efficientnet_b0".

    timm's "tf_efficientnet_b0" have the paddings and eps of TensorFlow.

    See: `EfficientNet <https://arxiv.org/abs/1905.11946>`_

    Args:
        config: Options of ``config.json``.
    """

    def variant_options(self, library: str, variant: str) -> MobileOptions:
        """Returns what distinguishes a network.

        Args:
            library: ``"timm"`` or ``"torchvision"``.
            variant: Name of the network.
        """
        width, depth = EFFICIENTNETS[variant.removeprefix("tf_")]
        is_tensorflow = variant.startswith("tf_")
        # torchvision took the weights of B5 to B7 from TensorFlow, with their eps.
        is_converted = is_tensorflow or (library == "torchvision" and variant[-1] in "567")
        inputs = stem = _divisible(32 * width)
        stages: list[tuple[LayerOptions, ...]] = []
        for ratio, kernel, stride, size, count in EFFICIENTNET_STAGES:
            layers: list[LayerOptions] = []
            size = _divisible(size * width)
            for i in range(math.ceil(count * depth)):
                squeeze = max(inputs // 4, 1)
                first = stride if i == 0 else 1
                layers.append(LayerOptions(kernel, inputs * ratio, size, squeeze, F.silu, first))
                inputs = size
            stages.append(tuple(layers))
        return MobileOptions(
            stem,
            tuple(stages),
            4 * inputs,
            0,
            F.silu,
            F.sigmoid,
            F.silu,
            1e-3 if is_converted else 1e-5,
            is_tensorflow,
        )


class MobileNetV3(MobileNetwork):
    """MobileNetV3 of timm or torchvision: "mobilenetv3_small_100", "mobilenet_v3_large".

    timm's "tf_mobilenetv3_small_100" have the paddings and eps of TensorFlow.

    See: `Searching for MobileNetV3 <https://arxiv.org/abs/1905.02244>`_

    Args:
        config: Options of ``config.json``.
    """

    def variant_options(self, library: str, variant: str) -> MobileOptions:
        """Returns what distinguishes a network.

        Args:
            library: ``"timm"`` or ``"torchvision"``.
            variant: Name of the network.
        """
        is_large = "large" in variant
        percents = re.search(r"_(\d\d\d)$", variant)
        width = int(percents[1]) / 100 if percents else 1.0
        is_tensorflow = variant.startswith("tf_")
        # Narrow networks keep the width of the first convolution.
        inputs = stem = 16 if width < 0.75 else _divisible(16 * width)
        full = 16
        stages: list[tuple[LayerOptions, ...]] = []
        for stage in MOBILENET_STAGES["large" if is_large else "small"]:
            layers: list[LayerOptions] = []
            for kernel, inner, size, is_squeezed, function, stride in stage:
                # The tables have the sizes of width 1; other widths have the same ratio of
                # widening.
                widened = _divisible(inputs * inner / full)
                squeeze = _divisible(widened / 4) if is_squeezed else 0
                channels = _divisible(size * width)
                layers.append(LayerOptions(kernel, widened, channels, squeeze, function, stride))
                inputs, full = channels, size
            stages.append(tuple(layers))
        return MobileOptions(
            stem,
            tuple(stages),
            _divisible(6 * full * width),
            1280 if is_large else 1024,
            F.hard_swish,
            _hard_gate,
            F.relu,
            1e-3 if is_tensorflow or library == "torchvision" else 1e-5,
            is_tensorflow,
        )


#: Variant -> factors of the numbers of channels and of layers (section 5 of the paper).
EFFICIENTNETS = {
    "efficientnet_b0": (1.0, 1.0),
    "efficientnet_b1": (1.0, 1.1),
    "efficientnet_b2": (1.1, 1.2),
    "efficientnet_b3": (1.2, 1.4),
    "efficientnet_b4": (1.4, 1.8),
    "efficientnet_b5": (1.6, 2.2),
    "efficientnet_b6": (1.8, 2.6),
    "efficientnet_b7": (2.0, 3.1),
}

#: Factor of the channels in the middle, kernel, stride, channels, number of layers (Table 1).
EFFICIENTNET_STAGES = (
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
)

#: Kernel, channels in the middle, channels, squeeze-and-excitation, activation, stride.
MOBILENET_STAGES: dict[str, tuple[tuple[tuple[int, int, int, bool, Function, int], ...], ...]] = {
    "large": (
        ((3, 16, 16, False, F.relu, 1),),
        ((3, 64, 24, False, F.relu, 2), (3, 72, 24, False, F.relu, 1)),
        ((5, 72, 40, True, F.relu, 2), *[(5, 120, 40, True, F.relu, 1)] * 2),
        (
            (3, 240, 80, False, F.hard_swish, 2),
            (3, 200, 80, False, F.hard_swish, 1),
            *[(3, 184, 80, False, F.hard_swish, 1)] * 2,
        ),
        ((3, 480, 112, True, F.hard_swish, 1), (3, 672, 112, True, F.hard_swish, 1)),
        ((5, 672, 160, True, F.hard_swish, 2), *[(5, 960, 160, True, F.hard_swish, 1)] * 2),
    ),
    "small": (
        ((3, 16, 16, True, F.relu, 2),),
        ((3, 72, 24, False, F.relu, 2), (3, 88, 24, False, F.relu, 1)),
        ((5, 96, 40, True, F.hard_swish, 2), *[(5, 240, 40, True, F.hard_swish, 1)] * 2),
        ((5, 120, 48, True, F.hard_swish, 1), (5, 144, 48, True, F.hard_swish, 1)),
        ((5, 288, 96, True, F.hard_swish, 2), *[(5, 576, 96, True, F.hard_swish, 1)] * 2),
    ),
}


def _divisible(size: float) -> int:
    """Returns a multiple of 8 near a number of channels, at least nine tenths of it."""
    nearest = max(8, int(size + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * size else nearest + 8


def _pair(file: str) -> tuple[str, str]:
    """Returns the names of a convolution and its normalization in a Sequential."""
    return f"{file}.0", f"{file}.1"


def _timm_rows(own: str, file: str, layer: InvertedResidual) -> list[Row]:
    first, second = ("conv_pw", "conv_pwl") if layer.is_widened else ("", "conv_pw")
    # Normalizations are numbered, and the first one is missing where channels are not widened.
    number = 1 if layer.is_widened else 0
    return [
        *normalized(f"{own}/widen", f"{file}.{first}", f"{file}.bn1"),
        *normalized(f"{own}/depthwise", f"{file}.conv_dw", f"{file}.bn{number + 1}"),
        *weights(f"{own}/weight/squeeze", f"{file}.se.conv_reduce", POINTWISE),
        *weights(f"{own}/weight/expand", f"{file}.se.conv_expand", POINTWISE),
        *normalized(f"{own}/narrow", f"{file}.{second}", f"{file}.bn{number + 2}"),
    ]


def _torchvision_rows(own: str, file: str, layer: InvertedResidual) -> list[Row]:
    names = ["widen"] * layer.is_widened + ["depthwise"] + ["weight"] * layer.is_squeezed
    rows: list[Row] = []
    for i, name in enumerate([*names, "narrow"]):
        part = f"{file}.block.{i}"
        if name == "weight":
            rows += weights(f"{own}/weight/squeeze", f"{part}.fc1", POINTWISE)
            rows += weights(f"{own}/weight/expand", f"{part}.fc2", POINTWISE)
        else:
            rows += normalized(f"{own}/{name}", *_pair(part))
    return rows

"""ResNet and ConvNeXt with the names of timm and torchvision."""

from __future__ import annotations

from collections.abc import Sequence

from chainer_models.architectures.convolutions import ConvNeXt, ResNet
from chainer_models.architectures.image_names import (
    common_options,
    library_and_variant,
    normalized,
)
from chainer_models.names import Row, Transform, norm, weights
from chainer_models.options import Options

#: Variant -> kind of the layers, and their number in each stage (Table 1 of the paper).
RESNETS = {
    "resnet18": ("basic", [2, 2, 2, 2]),
    "resnet34": ("basic", [3, 4, 6, 3]),
    "resnet50": ("bottleneck", [3, 4, 6, 3]),
    "resnet101": ("bottleneck", [3, 4, 23, 3]),
    "resnet152": ("bottleneck", [3, 8, 36, 3]),
}

#: Variant -> number of channels, and of layers, in each stage (section 3 of the paper).
CONVNEXTS = {
    "convnext_tiny": ([96, 192, 384, 768], [3, 3, 9, 3]),
    "convnext_small": ([96, 192, 384, 768], [3, 3, 27, 3]),
    "convnext_base": ([128, 256, 512, 1024], [3, 3, 27, 3]),
    "convnext_large": ([192, 384, 768, 1536], [3, 3, 27, 3]),
}


class NamedResNet(ResNet):
    """ResNet of timm or torchvision, such as ``architecture`` "resnet50"; both have the same names.

    See: `Deep Residual Learning for Image Recognition <https://arxiv.org/abs/1512.03385>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes = ("timm_model.",)

    def __init__(self, config: Options) -> None:
        _, variant = library_and_variant(config)
        kind, depths = RESNETS[variant]
        widest = 4 if kind == "bottleneck" else 1
        sizes = [widest * size for size in (64, 128, 256, 512)]
        values = {"layer_type": kind, "depths": depths, "hidden_sizes": sizes}
        super().__init__(common_options(config, values))
        self.config = config

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        rows = normalized("/stem", "conv1", "bn1")
        for i, stage in enumerate(self.stages):
            for j, layer in enumerate(stage):
                own, file = f"/stages/{i}/{j}", f"layer{i + 1}.{j}"
                rows += normalized(
                    f"{own}/shortcut", f"{file}.downsample.0", f"{file}.downsample.1"
                )
                for k in range(len(layer.parts)):
                    names = f"{file}.conv{k + 1}", f"{file}.bn{k + 1}"
                    rows += normalized(f"{own}/parts/{k}", *names)
        return [*rows, *weights("/head", "fc")]


#: torchvision stores the factors of layer scale for images of shape (C, height, width).
_FACTORS = Transform(lambda array: array.reshape(-1), lambda array: array.reshape((-1, 1, 1)))


class NamedConvNeXt(ConvNeXt):
    """ConvNeXt of timm or torchvision, such as ``architecture`` "convnext_tiny".

    See: `A ConvNet for the 2020s <https://arxiv.org/abs/2201.03545>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes = ("timm_model.",)

    def __init__(self, config: Options) -> None:
        self.library, variant = library_and_variant(config)
        sizes, depths = CONVNEXTS[variant]
        values = {"hidden_sizes": sizes, "depths": depths, "layer_norm_eps": 1e-6}
        super().__init__(common_options(config, values))
        self.config = config

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        return self._timm_rows() if self.library == "timm" else self._torchvision_rows()

    @staticmethod
    def _timm_rows() -> list[Row]:
        own, layer = "/stages/*/layers/*", "stages.*.blocks.*"
        return [
            *weights("/patch", "stem.0"),
            *norm("/patch_norm", "stem.1"),
            *norm("/stages/*/norm", "stages.*.downsample.0"),
            *weights("/stages/*/down", "stages.*.downsample.1"),
            *weights(f"{own}/depthwise", f"{layer}.conv_dw"),
            *norm(f"{own}/norm", f"{layer}.norm"),
            *weights(f"{own}/up", f"{layer}.mlp.fc1"),
            *weights(f"{own}/down", f"{layer}.mlp.fc2"),
            Row(f"{own}/scale/gamma", f"{layer}.gamma"),
            *norm("/norm", "head.norm"),
            *weights("/head", "head.fc"),
        ]

    def _torchvision_rows(self) -> list[Row]:
        rows = [*weights("/patch", "features.0.0"), *norm("/patch_norm", "features.0.1")]
        for i in range(len(self.stages)):
            # Convolutions between stages are stages themselves: stage i is at 2 i + 1.
            own, file = f"/stages/{i}/layers/*", f"features.{2 * i + 1}.*"
            rows += [
                *norm(f"/stages/{i}/norm", f"features.{2 * i}.0"),
                *weights(f"/stages/{i}/down", f"features.{2 * i}.1"),
                *weights(f"{own}/depthwise", f"{file}.block.0"),
                *norm(f"{own}/norm", f"{file}.block.2"),
                *weights(f"{own}/up", f"{file}.block.3"),
                *weights(f"{own}/down", f"{file}.block.5"),
                Row(f"{own}/scale/gamma", f"{file}.layer_scale", _FACTORS),
            ]
        return [*rows, *norm("/norm", "classifier.0"), *weights("/head", "classifier.2")]

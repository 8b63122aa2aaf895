"""The pack of the distribution. Imported when Chainer looks for a name; light itself."""

from __future__ import annotations

from typing import Any

chainer_api = 1

#: Sizes of ConvNeXt.
_SIZES = ("tiny", "small", "base", "large")

#: ``model_type`` of a file ``config.json`` -> module and class.
ARCHITECTURES = {
    "gpt2": "decoders:GPT2",
    "llama": "decoders:Llama",
    "mistral": "decoders:Mistral",
    "qwen2": "decoders:Qwen2",
    "qwen3": "decoders:Qwen3",
    "gemma": "decoders:Gemma",
    "gemma2": "decoders:Gemma2",
    "bert": "encoders:BERT",
    "roberta": "encoders:RoBERTa",
    "distilbert": "encoders:DistilBERT",
    "t5": "t5:T5",
    "vit": "vision:ViT",
    "dinov2": "vision:DINOv2",
    "clip": "clip:CLIP",
    "whisper": "whisper:Whisper",
    "convnext": "convolutions:ConvNeXt",
    "resnet": "convolutions:ResNet",
}

#: Library whose names the files have -> network in it -> module and class. Files of timm have the
#: option ``architecture`` in place of ``model_type``.
NAMED = {
    "timm": {
        **{f"resnet{n}": "named_networks:NamedResNet" for n in (18, 34, 50, 101, 152)},
        **{f"convnext_{n}": "named_networks:NamedConvNeXt" for n in _SIZES},
        **{f"{tf}efficientnet_b{n}": "mobile:EfficientNet" for tf in ("", "tf_") for n in range(8)},
        "mobilenetv3_small_050": "mobile:MobileNetV3",
        **{
            f"{tf}mobilenetv3_{size}_{width}": "mobile:MobileNetV3"
            for tf in ("", "tf_")
            for size in ("small", "large")
            for width in ("075", "100")
        },
    },
    "torchvision": {
        **{f"resnet{n}": "named_networks:NamedResNet" for n in (18, 34, 50, 101, 152)},
        **{f"convnext_{n}": "named_networks:NamedConvNeXt" for n in _SIZES},
        **{f"efficientnet_b{n}": "mobile:EfficientNet" for n in range(8)},
        **{f"mobilenet_v3_{size}": "mobile:MobileNetV3" for size in ("small", "large")},
    },
}


def chainer_model_architectures(registry: Any) -> None:
    """Registers the architectures; a module is imported when a model of it is made."""
    for model_type, target in ARCHITECTURES.items():
        registry.register(model_type, f"chainer_models.architectures.{target}")
    for library, networks in NAMED.items():
        for name, target in networks.items():
            registry.register(f"{library}/{name}", f"chainer_models.architectures.{target}")


def chainer_operations(registry: Any) -> None:
    """Registers the product with packed weights, so that others can register kernels for it."""
    registry.register("packed_product", "chainer_models.packed_products:packed_product")

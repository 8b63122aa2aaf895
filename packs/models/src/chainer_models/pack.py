"""The pack of the distribution. Imported when Chainer looks for a name; light itself."""

from __future__ import annotations

from typing import Any

chainer_api = 1

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


def chainer_model_architectures(registry: Any) -> None:
    """Registers the architectures; a module is imported when a model of it is made."""
    for model_type, target in ARCHITECTURES.items():
        registry.register(model_type, f"chainer_models.architectures.{target}")

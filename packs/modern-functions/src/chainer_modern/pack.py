"""What the distribution supplies. Imported when Chainer looks for a name; light itself."""

from __future__ import annotations

from typing import Any

chainer_api = 1

FUNCTIONS = (
    "adaptive_average_pooling_2d",
    "dice_loss",
    "drop_path",
    "focal_loss",
    "geglu",
    "gelu",
    "glu",
    "hard_swish",
    "instance_normalization",
    "label_smoothed_cross_entropy",
    "mish",
    "positional_encoding",
    "reglu",
    "rms_normalization",
    "rotary_embedding",
    "scaled_dot_product_attention",
    "sigmoid_focal_loss",
    "silu",
    "swiglu",
)
LINKS = (
    "InstanceNormalization",
    "MultiHeadAttention",
    "RMSNormalization",
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
)
OPERATIONS = ("rms_normalization", "scaled_dot_product_attention")


def chainer_functions(registry: Any) -> None:
    """Registers the functions."""
    for name in FUNCTIONS:
        registry.register(name, f"chainer_modern.functions:{name}")


def chainer_links(registry: Any) -> None:
    """Registers the links."""
    for name in LINKS:
        registry.register(name, f"chainer_modern.links:{name}")


def chainer_operations(registry: Any) -> None:
    """Registers the operations, so that others can register kernels for them."""
    for name in OPERATIONS:
        registry.register(f"modern.{name}", f"chainer_modern.operations:{name}")

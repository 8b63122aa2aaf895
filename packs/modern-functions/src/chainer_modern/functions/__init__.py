"""Differentiable functions; with the distribution installed also in ``chainer.functions``."""

from __future__ import annotations

from chainer.functions.normalization.group_normalization import group_normalization
from chainer_modern.functions.activation.gated_linear_units import geglu, glu, reglu, swiglu
from chainer_modern.functions.activation.gelu import gelu
from chainer_modern.functions.activation.hard_swish import hard_swish
from chainer_modern.functions.activation.mish import mish
from chainer_modern.functions.activation.silu import silu
from chainer_modern.functions.array.positional_encoding import positional_encoding
from chainer_modern.functions.array.rotary_embedding import rotary_embedding
from chainer_modern.functions.attention.scaled_dot_product_attention import (
    scaled_dot_product_attention,
)
from chainer_modern.functions.loss.dice_loss import dice_loss
from chainer_modern.functions.loss.focal_losses import focal_loss, sigmoid_focal_loss
from chainer_modern.functions.loss.label_smoothed_cross_entropy import label_smoothed_cross_entropy
from chainer_modern.functions.noise.drop_path import drop_path
from chainer_modern.functions.normalization.instance_normalization import instance_normalization
from chainer_modern.functions.normalization.rms_normalization import rms_normalization
from chainer_modern.functions.pooling.adaptive_average_pooling_2d import (
    adaptive_average_pooling_2d,
)

__all__ = [
    "adaptive_average_pooling_2d",
    "dice_loss",
    "drop_path",
    "focal_loss",
    "geglu",
    "gelu",
    "glu",
    "group_normalization",
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
]

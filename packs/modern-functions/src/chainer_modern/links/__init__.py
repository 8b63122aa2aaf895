"""Links; with the distribution installed also in ``chainer.links``."""

from __future__ import annotations

from chainer.links import GroupNormalization
from chainer_modern.links.attention.multi_head_attention import MultiHeadAttention
from chainer_modern.links.attention.transformer_layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from chainer_modern.links.normalization.instance_normalization import InstanceNormalization
from chainer_modern.links.normalization.rms_normalization import RMSNormalization

__all__ = [
    "GroupNormalization",
    "InstanceNormalization",
    "MultiHeadAttention",
    "RMSNormalization",
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
]

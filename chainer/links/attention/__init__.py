"""Attention and layers of Transformers."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "multi_head_attention": ("MultiHeadAttention",),
    "transformer_layers": ("TransformerDecoderLayer", "TransformerEncoderLayer"),
}

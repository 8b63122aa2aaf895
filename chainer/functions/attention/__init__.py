"""Attention and positions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "position_biases": ("alibi_bias", "relative_position_bias"),
    "positional_encoding": ("positional_encoding",),
    "rotary_embedding": ("rotary_embedding",),
    "rotary_tables": ("rotary_tables",),
    "scaled_dot_product_attention": ("scaled_dot_product_attention",),
}

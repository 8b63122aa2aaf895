"""Attention and positions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "positional_encoding": ("positional_encoding",),
    "rotary_embedding": ("rotary_embedding",),
    "scaled_dot_product_attention": ("scaled_dot_product_attention",),
}

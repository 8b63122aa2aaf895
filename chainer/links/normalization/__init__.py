"""Normalization links."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("BatchNormalization",),
    "batch_renormalization": ("BatchRenormalization",),
    "layer_normalization": ("LayerNormalization",),
}

"""Normalization links."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("BatchNormalization",),
    "batch_renormalization": ("BatchRenormalization",),
    "layer_normalization": ("LayerNormalization",),
}

"""Normalization functions."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("batch_normalization", "fixed_batch_normalization"),
    "batch_renormalization": ("batch_renormalization", "fixed_batch_renormalization"),
    "l2_normalization": ("NormalizeL2", "normalize"),
    "layer_normalization": ("LayerNormalization", "layer_normalization"),
    "local_response_normalization": (
        "LocalResponseNormalization",
        "local_response_normalization",
    ),
}

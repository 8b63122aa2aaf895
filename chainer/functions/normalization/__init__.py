"""Normalization functions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("batch_normalization", "fixed_batch_normalization"),
    "batch_renormalization": ("batch_renormalization", "fixed_batch_renormalization"),
    "decorrelated_batch_normalization": (
        "decorrelated_batch_normalization",
        "fixed_decorrelated_batch_normalization",
    ),
    "group_normalization": ("group_normalization",),
    "instance_normalization": ("instance_normalization",),
    "l2_normalization": ("NormalizeL2", "normalize"),
    "layer_normalization": ("LayerNormalization", "layer_normalization"),
    "local_response_normalization": (
        "LocalResponseNormalization",
        "local_response_normalization",
    ),
    "rms_normalization": ("rms_normalization",),
}

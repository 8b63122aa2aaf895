"""Normalization links."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("BatchNormalization",),
    "batch_renormalization": ("BatchRenormalization",),
    "decorrelated_batch_normalization": ("DecorrelatedBatchNormalization",),
    "group_normalization": ("GroupNormalization",),
    "instance_normalization": ("InstanceNormalization",),
    "layer_normalization": ("LayerNormalization",),
    "layer_scale": ("LayerScale",),
    "rms_normalization": ("RMSNormalization",),
}

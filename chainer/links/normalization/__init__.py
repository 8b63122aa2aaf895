"""Normalization links."""

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("BatchNormalization",),
    "batch_renormalization": ("BatchRenormalization",),
    "layer_normalization": ("LayerNormalization",),
}

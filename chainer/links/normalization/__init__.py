"""Normalization links."""

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("BatchNormalization",),
}

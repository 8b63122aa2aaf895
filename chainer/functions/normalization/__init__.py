"""Normalization functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "batch_normalization": ("batch_normalization", "fixed_batch_normalization"),
}

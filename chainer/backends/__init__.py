"""Array backends and their kernels."""

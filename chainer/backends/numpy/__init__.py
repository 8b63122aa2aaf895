"""The NumPy backend: the embedded default, and the package of the reference kernels."""

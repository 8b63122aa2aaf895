"""The NumPy backend: the embedded default, and the home of the reference kernels."""

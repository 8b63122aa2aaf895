"""Reference kernels: NumPy-API code that serves every NumPy-like backend."""

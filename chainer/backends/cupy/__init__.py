"""The CuPy backend: arrays in the memory of CUDA devices."""

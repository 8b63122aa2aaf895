"""Array backends, devices, operations and their kernels."""

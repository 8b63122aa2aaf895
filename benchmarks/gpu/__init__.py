"""Benchmarks on a GPU against PyTorch on the same card: ``python -m benchmarks.gpu``."""

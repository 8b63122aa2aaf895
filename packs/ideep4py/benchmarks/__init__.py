"""Measures ideep4py against PyTorch on the CPU: ``python -m benchmarks`` in this distribution's
directory.
"""

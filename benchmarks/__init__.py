"""Benchmarks against peers in the same run; see README.md beside this file. Run as ``python -m benchmarks``."""

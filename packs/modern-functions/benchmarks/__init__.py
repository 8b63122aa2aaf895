"""Benchmarks of the functions."""

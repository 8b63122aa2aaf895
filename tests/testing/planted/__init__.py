"""Faults planted into a small plugin, to prove that a certification finds them.

``python -m tests.testing.planted`` plants every fault in turn, and prints which ones are found. The
small plugin is a backend with kernels of its own, a kernel provider for NumPy's arrays, and three
functions. Only the tests near a fault run; the whole suite would find no less.
"""

"""Kernels for Chainer: a softmax for NumPy arrays."""

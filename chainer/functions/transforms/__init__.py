"""Transforms of functions: :func:`chainer.vjp`, :func:`~chainer.jvp` and others.

Inputs of a transformed function are results of :func:`~chainer.functions.identity`. So a derivative
within another one stays partial, and both may be of the same Variable.
"""

"""Captured steps: :func:`chainer.capture`."""

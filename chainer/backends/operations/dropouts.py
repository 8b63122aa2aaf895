"""Dropout."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation, Recording


class Dropout(Operation):
    """Dropout: random elements become zero.

    ``select(x, ratio=)``.

    Methods:
        ``forward(x, ratio) -> (y, mask)``: ``mask`` has the shape and dtype of ``x``; each
        element is 0 with probability ``ratio`` and ``1 / (1 - ratio)`` otherwise. ``y = x *
        mask``. Random numbers come from the random state of the backend, so that a seed repeats a
        run.

        ``backward(gy, mask) -> gx``.
    """

    name = "dropout"
    reference = "chainer.backends.numpy.kernels.dropouts:DropoutKernel"
    recording = Recording.STEPS


dropout = Dropout()

"""Embeddings: rows of a table selected by indices."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.arrays.kernel import JoinedRows, Operation


class Embedding(Operation):
    """Selection of rows, and its adjoint.

    ``select(x, W)``: ``x`` integers of any shape, ``W`` of shape ``(V, D)``, floating point.
    Negative indices count from the end. Indices outside ``W`` raise IndexError if the backend can
    check them without waiting for a device.

    Methods:
        ``forward(x, W, ignore_label) -> y`` of shape ``(*x.shape, D)``: rows of ``W``, or zeros
        where ``x`` equals ``ignore_label`` (an int or None).

        ``backward(x, gy, shape, ignore_label) -> gW`` of the given shape ``(V, D)`` and the dtype
        of ``gy``: rows of ``gy`` added up by index.

        ``gradient_sum(total)``: optional; returns None, or an object that adds gradients to an
        array of the shape of ``W``. Its ``add(x, gy, ignore_label)`` returns whether it takes a
        gradient, and ``finish()`` completes the sum.

        ``backward_outer(x, factors, vectors, shape) -> gW``: optional; for ``x`` of shape ``(N,
        K)`` the same as ``backward(x, factors[:, :, None] * vectors[:, None], shape, None)``
        without so large an array. ``factors`` has the shape of ``x``, ``vectors`` is ``(N, D)``,
        and ``gW`` has the dtype of ``factors``.
    """

    name = "embedding"
    reference = "chainer.backends.numpy.kernels.embeddings:EmbeddingKernel"
    pure = True
    joined_rows: ClassVar = {
        "forward": JoinedRows((0,)),
        "backward": JoinedRows((0, 1), adds=True),
    }


embedding = Embedding()

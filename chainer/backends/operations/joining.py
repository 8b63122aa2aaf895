"""Joining and splitting arrays."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation, Recording


class Concat(Operation):
    """Joins arrays along an axis.

    ``select(*xs, axis=...)``: ``xs`` of one dtype, whose shapes differ along ``axis`` only;
    negative axes count from the end.

    Methods:
        ``forward(xs, axis) -> y``: ``xs`` a tuple.

        ``backward(gy, bounds, axis) -> gxs``: the pieces of ``gy``; the i-th piece is from
        ``bounds[i]`` to ``bounds[i + 1]``. They may be views.
    """

    name = "concat"
    # In a captured step the parts are views, and a copy of a part may belong to another loop.
    recording = Recording.STEPS
    reference = "chainer.backends.numpy.kernels.joining:ConcatKernel"


class SplitAxis(Operation):
    """Splits an array along an axis.

    ``select(x, axis=...)``: ``x`` of at least one dimension; negative axes count from the end.

    Methods:
        ``forward(x, bounds, axis) -> ys``: tuple of the pieces between neighbors in ``bounds``,
        positions along ``axis`` that begin with 0 and end with its length. They may be views.

        ``backward(gys, shape, dtype, bounds, axis) -> gx``: the gradient, of ``shape`` and
        ``dtype``; ``gys`` has None where there is no gradient. Where positions are not sorted,
        pieces overlap and add up.
    """

    name = "split_axis"
    reference = "chainer.backends.numpy.kernels.joining:SplitAxisKernel"


concat = Concat()
split_axis = SplitAxis()

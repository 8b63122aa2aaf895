"""Views of the memory of arrays."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class AsStrided(Operation):
    """View of the memory in which an array lives, by strides.

    The buffer of an array is the block of memory that it is a part of: its own allocation or, for a
    view, the allocation of the base array. Its elements have the dtype of the array. Strides and
    offsets count elements.

    ``select(x)``: ``x`` of any shape and dtype.

    Methods:
        ``geometry(x) -> (strides, offset, size)``: strides of ``x``, index of its first element in
        the buffer, and number of elements of the buffer. Raises TypeError if the kernel cannot
        tell.

        ``forward(x, shape, strides, offset) -> y``: the view, which shares the memory of ``x``
        where the array library has views by strides.

        ``convert(array, source, target) -> y``: adds the elements of an array to a buffer of zeros,
        where a view of geometry ``source`` has them, and reads the buffer by ``target``. A geometry
        is ``(shape, strides, offset)``. 16-bit types are added in float32.
    """

    name = "as_strided"
    methods = ("geometry", "forward", "convert")
    reference = "chainer.backends.numpy.kernels.strided_views:AsStridedKernel"


as_strided = AsStrided()

"""Addition at indices."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class ScatterAdd(Operation):
    """Addition to selected elements of an array.

    ``select(a, b)``: ``a`` is the array that changes, ``b`` contains the values.

    Methods:
        ``add_at(a, slices, b)``: adds ``b`` to ``a[slices]``, in place, returns None. ``slices`` is
        any index of NumPy, integer and boolean arrays included. If an element is selected several
        times, all its values are added. ``b`` has the shape of ``a[slices]`` and
        the dtype of ``a``.
    """

    name = "scatter_add"
    methods = ("add_at",)
    in_place = True
    reference = "chainer.backends.numpy.kernels.indexing:ScatterAddKernel"


scatter_add = ScatterAdd()

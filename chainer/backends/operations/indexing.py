"""Scattering of values into arrays."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class ScatterAdd(Operation):
    """Addition to selected elements of an array.

    ``select(a, b)``: ``a`` is the array that is added to, ``b`` the values.

    Methods:
        ``add_at(a, slices, b)``: adds ``b`` to ``a[slices]``, in place, returns None. ``slices`` is
        anything NumPy can index with, integer and boolean arrays included; where an element is
        selected several times, all its values are added. ``b`` has the shape of ``a[slices]`` and
        the dtype of ``a``.
    """

    name = "scatter_add"
    methods = ("add_at",)
    in_place = True
    reference = "chainer.backends.numpy.kernels.indexing:ScatterAddKernel"


scatter_add = ScatterAdd()

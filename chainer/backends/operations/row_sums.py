"""Sums of selected rows, as messages between the nodes of a graph make them."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class SelectedRowSums(Operation):
    """Addition of rows of one matrix to rows of another one.

    Captured steps make it of a selection of rows (``embed_id``, ``get_item``) whose result is only
    added at other rows (``scatter_add``, gradients of selections). The selected rows then take no
    memory. A recorder keeps the two calls where a provider computes other bits than they do.

    ``select(a, b)``: ``a`` and ``b`` matrices of one floating-point dtype.

    Methods:
        ``add(a, targets, b, sources) -> bool``: adds ``b[sources[i]]`` to ``a[targets[i]]``, in
        place, one ``i`` after the other. ``a`` and ``b`` are contiguous and share no memory;
        ``targets`` and ``sources`` are integer arrays of one size, in C order. Negative ones count
        from the end. The result is False if an index is out of bounds; then ``a`` is not changed.
    """

    name = "selected_row_sums"
    methods = ("add",)
    in_place = True
    reference = "chainer.backends.numpy.kernels.row_sums:SelectedRowSumsKernel"


selected_row_sums = SelectedRowSums()

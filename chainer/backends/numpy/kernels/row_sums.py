"""Reference kernel of sums of selected rows."""

from __future__ import annotations

from chainer.backends.numpy.kernels._row_scatter import COLUMN_BLOCK, scatter_add_rows
from chainer.core.arrays.chunks import chunks
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import HostArray


class SelectedRowSumsKernel(ReferenceKernel):
    """Selects and adds rows block by block."""

    def add(self, a: HostArray, targets: HostArray, b: HostArray, sources: HostArray) -> bool:
        """See the operation."""
        targets, sources = targets.reshape(-1), sources.reshape(-1)
        for indices, count in (targets, len(a)), (sources, len(b)):
            if indices.size and (indices.min() < -count or indices.max() >= count):
                return False
        for part in chunks(len(targets), 1, COLUMN_BLOCK):
            scatter_add_rows(a, targets[part], b[sources[part]])
        return True

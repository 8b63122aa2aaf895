"""Kernel of products with packed weights: numbers are widened in registers, one row at a time.

A weight is read once for a few vectors, as text is generated. Such a product waits for
memory, so weights of half or a quarter of the bytes take less time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba.launching import dense, launch, summing
from chainer_numba.packed_int4 import int4_vector_product, serves
from chainer_numba.packed_rows import bfloat16_product, int8_product

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO, _LOW, _FOUR = f(0), numpy.uint8(15), numpy.uint8(4)


@summing
def int4_product(part, start, stop, even, odd, sums, codes, scales, minima, half, y):
    for i in range(start, stop):
        for n in range(len(even)):
            total = _ZERO
            for g in range(scales.shape[1]):
                # Slices of both columns, so that the loop has no strides.
                row = codes[i, g * half : (g + 1) * half]
                low, high = even[n, g * half : (g + 1) * half], odd[n, g * half : (g + 1) * half]
                inner = _ZERO
                for j in range(len(row)):
                    inner += f(row[j] & _LOW) * low[j] + f(row[j] >> _FOUR) * high[j]
                total += inner * scales[i, g] + sums[n, g] * minima[i, g]
            y[n, i] = total


class PackedProductKernel:
    """Kernel of ``packed_product``, an operation of chainer-models.

    Sums are taken in another order than in the reference: results agree to the rounding of float32,
    and with ``int4`` the minimum of a group is multiplied by the sum of the inputs.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        # Training has many vectors, for which widened blocks and BLAS are faster.
        self._reference = get_operation("packed_product").reference_for(backend)
        self.backward_data = self._reference.backward_data

    def forward(
        self,
        x: Array,
        codes: Array,
        scales: Array,
        minima: Array | None,
        places: Array | None,
        remainders: Array | None,
        *,
        columns: int,
        group: int,
    ) -> Array:
        x = dense(x)
        y = numpy.empty((len(x), len(codes)), f)
        if places is not None:
            arrays = _all_readable((codes, scales, places, remainders))
            launch(bfloat16_product, len(codes), codes.size, x, *arrays, y)
        elif minima is None:
            launch(int8_product, len(codes), codes.size, x, *_all_readable((codes, scales)), y)
        else:
            codes, scales, minima = _all_readable((codes, scales, minima))
            padded = numpy.zeros((len(x), 2 * codes.shape[1]), f)
            padded[:, :columns] = x
            even, odd = padded[:, ::2].copy(), padded[:, 1::2].copy()
            sums = padded.reshape(len(x), scales.shape[1], group).sum(axis=2)
            if not numpy.isfinite(sums).all():
                # A number is the sum of a code, which may be 0, and the minimum of its group: zero
                # times infinity is NaN, where the product of the sum is infinite.
                return self._reference.forward(
                    x, codes, scales, minima, places, remainders, columns=columns, group=group
                )
            arguments = even, odd, sums, codes, scales, minima
            if serves(group):
                launch(int4_vector_product, len(codes), codes.size, *arguments, y)
            else:
                launch(int4_product, len(codes), codes.size, *arguments, group // 2, y)
        return y


def _all_readable(arrays: tuple[Array | None, ...]) -> tuple[Any, ...]:
    """Returns contiguous and writable arrays: others are another type in Numba.

    Without a call for each of them in the usual case.
    """
    for array in arrays:
        if array is not None and not array.flags.carray:
            return tuple([a if a is None else numpy.require(a, None, ("C", "W")) for a in arrays])
    return arrays

"""Products of vectors with packed weights: the operation, and its kernel for any array library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import chainer.functions as F
from chainer import FunctionNode, Variable
from chainer.kernel import Operation, ReferenceKernel
from chainer.typing import Array
from chainer.utils import type_check

from chainer_models import bfloat16

if TYPE_CHECKING:
    from chainer_models.packing import PackedMatrix

#: Rows that are widened at a time: a few MB, whatever the size of a matrix.
ROWS = 1024


class PackedArrays(NamedTuple):
    """The arrays of a packed matrix of shape ``(O, I)``; those that its kind has not are None.

    Attributes:
        codes: The packed numbers.
        scales: Scales of rows or groups, float32.
        minima: Minima of groups, float32.
        places: Columns of numbers with a remainder, int32 of shape ``(O, K)``.
        remainders: What has to be added to these numbers, float32 of shape ``(O, K)``. Rows with
            fewer of them are filled up by zeros.
    """

    codes: Array
    scales: Array
    minima: Array | None = None
    places: Array | None = None
    remainders: Array | None = None

    def of(self, rows: Any) -> PackedArrays:
        """Returns some rows, by a slice or an array of their numbers."""
        return PackedArrays(*[None if a is None else a[rows] for a in self])  # type: ignore[arg-type]


def widened(xp: Any, arrays: PackedArrays, columns: int, group: int) -> Array:
    """Returns a packed matrix, or some rows of it, in float32.

    Args:
        xp: The array module.
        arrays: The matrix.
        columns: Number of columns.
        group: Numbers in a group of int4.
    """
    codes, scales, minima, places, remainders = arrays
    if minima is None:
        if places is None or remainders is None:
            return codes.astype(xp.float32) * scales[:, None]
        weight = bfloat16.widened(xp, codes, scales, columns)
        bfloat16.add_remainders(xp, weight, places, remainders)
        return weight
    half = xp.empty((len(codes), codes.shape[1], 2), xp.float32)
    half[..., 0] = codes & 15
    half[..., 1] = codes >> 4
    groups = half.reshape(len(codes), -(-columns // group), group)
    groups *= scales[:, :, None]
    groups += minima[:, :, None]
    # The last group of a row may be filled up.
    return half.reshape(len(codes), 2 * codes.shape[1])[:, :columns]


class PackedProductKernel(ReferenceKernel):
    """Reference kernel: some rows of the weight are widened at a time."""

    def forward(self, x: Array, *arrays: Array, columns: int, group: int) -> Array:
        y = self.xp.empty((len(x), len(arrays[0])), self.xp.float32)
        for rows, weight in self._blocks(arrays, columns, group):
            y[:, rows] = x @ weight.T
        return y

    def backward_data(self, gy: Array, *arrays: Array, columns: int, group: int) -> Array:
        gx = self.xp.zeros((len(gy), columns), self.xp.float32)
        for rows, weight in self._blocks(arrays, columns, group):
            gx += gy[:, rows] @ weight
        return gx

    def _blocks(
        self, arrays: Sequence[Array], columns: int, group: int
    ) -> Iterator[tuple[slice, Array]]:
        packed = PackedArrays(*arrays)
        for start in range(0, len(packed.codes), ROWS):
            rows = slice(start, start + ROWS)
            yield rows, widened(self.xp, packed.of(rows), columns, group)


class PackedProduct(Operation):
    """Product of vectors with a packed weight, which is not widened as a whole.

    ``select(x, codes, scales, minima, places, remainders, columns=, group=)``: ``x`` of float32 and
    shape ``(N, I)``, and the arrays of a matrix, see :class:`PackedArrays`. ``codes`` are one of

    - int8 of shape ``(O, I)``, with ``scales`` of shape ``(O,)``;
    - uint8 of shape ``(O, 3 / 2 I')``: numbers of bfloat16 in 12 bits, see
      :mod:`chainer_models.bfloat16`, where ``I'`` is ``I`` rounded up to a multiple of 64.
      ``scales`` of shape ``(O,)`` are powers of two. ``places`` and ``remainders`` complete the
      numbers that 12 bits do not hold;
    - uint8 of shape ``(O, I' / 2)``: two numbers of 4 bits each, the lower bits first, where ``I'``
      is ``I`` rounded up to whole groups. ``scales`` and ``minima`` have the shape ``(O, groups)``.

    ``columns`` is ``I``, ``group`` the number of columns in a group.

    Methods:
        ``forward(x, *arrays, columns, group) -> y`` of float32 and shape ``(N, O)``.

        ``backward_data(gy, *arrays, columns, group) -> gx`` of float32 and shape ``(N, I)``.

    Implementations may sum in any order: results agree to the rounding of float32, 1e-6 of the sum
    of the absolute products.
    """

    name = "packed_product"
    methods = ("forward", "backward_data")
    reference = PackedProductKernel


packed_product = PackedProduct()


class PackedProductFunction(FunctionNode):
    """Product of vectors with a packed weight, or with its transpose.

    The inputs are the vectors and, if there is one, the bias that is added to each product. While a
    text is generated a step has hundreds of small functions, so that an addition apart would cost
    more than its numbers.

    Args:
        link: The layer with the weight.
        transposed: Whether the product is with the transpose. It is the gradient of the other one,
            which makes gradients of any order.
    """

    # One check is enough for each signature of inputs and shape of the matrix.
    type_check_key = ("_shape",)

    def __init__(self, link: PackedMatrix, transposed: bool = False) -> None:
        super().__init__()
        self._link = link
        self._transposed = transposed
        outputs, inputs = link.shape
        self._shape = (inputs, outputs) if transposed else (outputs, inputs)

    def check_type_forward(self, in_types: Any) -> None:
        # Kernels do not check: they would read numbers behind the end of the weight.
        type_check.expect(in_types[0].ndim == 2, in_types[0].shape[1] == self._shape[1])
        for bias in in_types[1:]:
            type_check.expect(
                bias.dtype == in_types[0].dtype, bias.ndim == 1, bias.shape[0] == self._shape[0]
            )

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x = inputs[0].astype(self._link.xp.float32, copy=False)
        arrays, attributes = self._link.packed_arrays()
        kernel = packed_product.select(x, *arrays, **attributes)
        method = kernel.backward_data if self._transposed else kernel.forward
        y = method(x, *arrays, **attributes).astype(inputs[0].dtype, copy=False)
        for bias in inputs[1:]:
            # The kernel has made the array, which belongs to nothing else.
            y += bias
        return (y,)

    def backward(
        self, target_input_indexes: Sequence[int], grad_outputs: Sequence[Any]
    ) -> tuple[Variable, ...]:
        (gy,) = grad_outputs
        opposite = PackedProductFunction(self._link, not self._transposed)
        return tuple(
            [F.sum(gy, axis=0) if i else opposite.apply((gy,))[0] for i in target_input_indexes]
        )

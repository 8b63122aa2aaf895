"""Einstein summation."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayModule, Arrays, Indexes, Shape, Variables
from chainer.core.utils import type_check
from chainer.core.warnings import PerformanceWarning
from chainer.functions.math._einsum_subscripts import (
    LETTERS,
    axes_of,
    check_ranks,
    check_sums,
    parse_operands,
    without_ellipsis,
)
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values

#: Products of elements from which on two operands are worth the search for matrix products, which
#: takes as long as these in a loop over all subscripts.
MANY_PRODUCTS = 1 << 15


class DiagEinSum(ExpressionFunction):
    """Einstein summation whose output may have subscripts twice, or ones that no input has.

    If an input has a subscript twice, its gradient is written on the diagonal of zeros. Along an
    axis that no input has, the output is repeated. The gradients of these functions are functions
    of the same kind.

    Args:
        in_subs (str): Subscripts of the inputs, separated by commas; ``@`` is an ellipsis.
        out_sub (str): Subscripts of the output.
        out_shape (tuple of int): Shape of the output.
    """

    is_multilinear = True

    type_check_key = ("in_subs", "out_sub")

    def __init__(self, in_subs: str, out_sub: str, out_shape: Shape | None) -> None:
        self.in_subs = in_subs
        self.out_sub = out_sub
        self.out_shape = out_shape

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        subscripts = self.in_subs.split(",")
        type_check.argname(in_types, tuple([f"x{i}" for i in range(len(subscripts))]))
        for in_type in in_types:
            type_check.expect(in_type.dtype.kind == "f")
        ranks = [type_check.eval(in_type.ndim) for in_type in in_types]
        check_ranks(subscripts, ranks)
        # Axes with one label have one length. There is no broadcasting, not of an ellipsis either.
        first: dict[str, Any] = {}
        for in_type, subs, rank in zip(in_types, subscripts, ranks, strict=True):
            for label, axes in axes_of(subs, rank).items():
                for axis in axes:
                    length = in_type.shape[axis]
                    type_check.expect(first.setdefault(label, length) == length)

    def forward(self, inputs: Arrays) -> Arrays:
        if len(inputs) > 1:  # a function of one input is linear
            self.retain_inputs(range(len(inputs)))
        y = _summed(self.xp, self.in_subs.split(","), inputs, self.out_sub, self.out_shape)
        return (y,)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        used = set(self.in_subs + self.out_sub)
        label = next((letter for letter in LETTERS if letter not in used), None)
        if label is None:
            return None
        subscripts = zip(self.in_subs.split(","), are_batched, strict=True)
        node = copy.copy(self)
        node.in_subs = ",".join([label + subs if b else subs for subs, b in subscripts])
        node.out_sub = label + self.out_sub
        node.out_shape = None if self.out_shape is None else (size, *self.out_shape)
        return node.apply(inputs)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        *inputs, gy = values
        return tuple(
            [ops.cast(self._gradient(i, inputs, gy), self._input_node(i).dtype) for i in targets]
        )

    def _input_node(self, index: int) -> Any:
        return (self.inputs or ())[index]

    def _gradient(self, index: int, inputs: list[Any], gy: Array) -> Any:
        """Returns the sum of products of the other inputs and the gradient, in its dtype."""
        subscripts = self.in_subs.split(",")
        target = subscripts.pop(index)
        others = [x for i, x in enumerate(inputs) if i != index]
        subscripts.append(self.out_sub)
        shape = self._input_node(index).shape
        if isinstance(gy, Variable):
            function = DiagEinSum(",".join(subscripts), target, shape)
            return function.apply((*others, gy))[0]
        return _summed(self.xp, subscripts, (*others, gy), target, shape)


class EinSum(DiagEinSum):
    """Einstein summation.

    Args:
        in_subs (str): Subscripts of the inputs, separated by commas; ``@`` is an ellipsis.
        out_sub (str): Subscripts of the output.
    """

    def __init__(self, in_subs: str, out_sub: str) -> None:
        super().__init__(in_subs, out_sub, None)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        ranks = [type_check.eval(in_type.ndim) for in_type in in_types]
        check_sums(self.in_subs.split(","), self.out_sub, ranks)


def _summed(
    xp: ArrayModule,
    subscripts: Sequence[str],
    arrays: Sequence[Array],
    output: str,
    out_shape: Shape | None,
) -> Array:
    """Sums products of arrays; with a shape of the output, see :class:`DiagEinSum`."""
    shapes = [array.shape for array in arrays]
    if out_shape is None:
        *subscripts, output = without_ellipsis([*subscripts, output], [*shapes, ()])
        return _contracted(xp, subscripts, arrays, output)
    *subscripts, output = without_ellipsis([*subscripts, output], [*shapes, out_shape])
    known = set("".join(subscripts))
    labels = "".join(dict.fromkeys(output))  # each once
    kept = "".join([label for label in labels if label in known])
    y = _contracted(xp, subscripts, arrays, kept)
    if kept == output:
        return y
    # Axes for labels that no input has, along which the sums are repeated.
    lengths = dict(zip(output, out_shape, strict=True))
    y = y.reshape([lengths[label] if label in known else 1 for label in labels])
    y = xp.broadcast_to(y, tuple([lengths[label] for label in labels]))
    if labels == output:
        return y
    diagonal = xp.zeros(out_shape, y.dtype)
    axes = {label: xp.arange(lengths[label]) for label in labels}
    places = [(-1,) + (1,) * (len(labels) - 1 - labels.index(label)) for label in output]
    diagonal[tuple([axes[i].reshape(p) for i, p in zip(output, places, strict=True)])] = y
    return diagonal


def _contracted(
    xp: ArrayModule, subscripts: Sequence[str], arrays: Sequence[Array], output: str
) -> Array:
    """Calls the einsum of the array library, in the way that is fast for the sizes at hand."""
    text = f"{','.join(subscripts)}->{output}"
    dtype = numpy.result_type(*[array.dtype for array in arrays])
    lengths = dict(zip("".join(subscripts), [n for array in arrays for n in array.shape]))
    if len(lengths) == len(output) and len(arrays) == 1:
        return xp.einsum(text, *arrays)  # a transpose or a diagonal: nothing is summed
    if is_half(dtype):
        # Matrix products of halves are slow and sum in halves.
        arrays = [array.astype(numpy.float32) for array in arrays]
    products = 1
    for length in lengths.values():
        products *= length
    if len(arrays) < 3 and (len(arrays) == 1 or products < MANY_PRODUCTS):
        y = xp.einsum(text, *arrays)
    else:
        y = _optimized(xp, text, arrays)
    return y.astype(dtype, copy=False)


def _optimized(xp: ArrayModule, text: str, arrays: Sequence[Array]) -> Array:
    try:
        return xp.einsum(text, *arrays, optimize=True)
    except TypeError:
        warnings.warn(
            f"{xp.__name__}.einsum does not take the argument optimize: products of several "
            "operands may be slow",
            PerformanceWarning,
        )
        return xp.einsum(text, *arrays)


def einsum(*operands: Any) -> Variable:
    """Einstein summation.

    Sums products of elements of arrays over subscripts. Unlike :func:`numpy.einsum`, arrays are not
    broadcast: axes with one subscript have one length, and the axes of an ellipsis have the same
    shape in all operands.

    Args:
        operands: The subscripts, as text, and the arrays: ``einsum('ij,jk->ik', a, b)``. Without
            ``->`` the output has the subscripts that occur once, in the order of the alphabet. Or
            each array is followed by a list of its subscripts, ints and Ellipsis, and a last list
            may give the subscripts of the output: ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. Arrays
            are floating point, Variables or not.

    Returns:
        ~chainer.Variable: The sums. The dtype is that to which the dtypes of the arrays are
        promoted.

    Raises:
        ValueError: If the subscripts are wrong, or do not fit the numbers of dimensions.
        InvalidType: If the lengths of axes do not fit, or an array is not floating point.
        TypeError: If a list contains other objects than ints and Ellipsis.

    .. seealso:: :func:`numpy.einsum`

    Example:
        >>> a = np.array([[1., 2., 3.], [4., 5., 6.]])
        >>> F.einsum('ij,kj->ik', a, a)
        variable([[14., 32.],
                  [32., 77.]])
        >>> F.einsum(a, [0, 1], [1])
        variable([5., 7., 9.])
        >>> F.einsum('...i->...', a)
        variable([ 6., 15.])
    """
    inputs, output, arrays = parse_operands(operands)
    return EinSum(",".join(inputs), output).apply(arrays)[0]

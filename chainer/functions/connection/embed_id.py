"""Embedding of integers."""

from __future__ import annotations

import numpy

from chainer import functions
from chainer.backends.operations.embeddings import embedding as operation
from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, threads
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._label_range import label_error
from chainer.functions.rules import PiecewiseLinearFunction, expect_kinds
from chainer.functions.rules.batching import with_samples
from chainer.functions.rules.constants import constant


class EmbedIDFunction(PiecewiseLinearFunction):
    """Rows of ``W`` by their numbers.

    Args:
        ignore_label (int): Number whose rows are zeros.
    """

    type_check_key = ()
    retained_inputs = (0,)

    def __init__(self, ignore_label: int | None = None) -> None:
        if ignore_label is not None and not isinstance(ignore_label, (int, numpy.integer)):
            raise TypeError(f"ignore_label must be an int or None, got {ignore_label!r}")
        self.ignore_label = ignore_label

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, w_type = expect_kinds(in_types, "if")
        type_check.expect(
            x_type.ndim >= 1,
            w_type.ndim == 2,
        )

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        if not are_batched[1]:
            return self.apply(inputs)
        # One table of the rows of all samples.
        x, W = with_samples(inputs, are_batched, size)
        with x.device:
            first_rows = W.shape[1] * self.xp.arange(size).reshape((size, *[1] * (x.ndim - 1)))
            offsets = Variable(self.xp.broadcast_to(first_rows, x.shape), requires_grad=False)
        numbers = constant(lambda x, o: self._joined(x, o, W.shape[1], size), x, offsets)
        return self.apply((numbers, functions.reshape(W, (size * W.shape[1], W.shape[2]))))

    def _joined(self, x: Array, offsets: Array, count: int, size: int) -> Array:
        """Turns numbers of rows in the table of each sample into numbers in a joined table."""
        xp = backend_of(x).xp
        x = x.astype(offsets.dtype)
        if config.debug:
            self._check_range(x, count)
        # A number beyond the table of its sample must not be a row of another one. Negative numbers
        # count from the end of a table.
        rows = xp.where((x >= -count) & (x < count), x % max(count, 1) + offsets, size * count)
        return rows if self.ignore_label is None else xp.where(x == self.ignore_label, x, rows)

    def forward(self, inputs: Arrays) -> Arrays:
        x, W = inputs
        # On a device, checking values waits for it: in debug mode only.
        if threads.state.debug:
            self._check_range(x, len(W))
        # The gradient needs the shape of the weights only, which are therefore not retained.
        self._shape = W.shape
        self._kernel = operation.select(x, W, ignore_label=self.ignore_label)
        try:
            return (self._kernel.forward(x, W, self.ignore_label),)
        except IndexError as error:
            raise label_error(error, "x", x, len(W), self.ignore_label) from error

    def _check_range(self, x: Array, limit: int) -> None:
        valid = (x >= 0) & (x < limit)
        if self.ignore_label is not None:
            valid |= x == self.ignore_label
        if not bool(valid.all()):
            raise ValueError("Each not ignored `x` value need to satisfy `0 <= x < len(W)`")

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        (x,) = self.retained_input_arrays
        return (self._kernel.forward(x, tangents[0], self.ignore_label),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,) = self.retained_input_arrays
        return tuple(
            [
                None if i == 0 else self._weight_gradient(x, grad_outputs[0])
                for i in target_input_indexes
            ]
        )

    def _weight_gradient(self, x: Array, gy: Array) -> Array:
        """Returns the gradient of W, or the array of the sum to which its kernel adds it."""
        make = getattr(self._kernel, "gradient_sum", None)
        if make is not None:
            found = self.gradient_sum(1, make)
            if found is not None and found[0].add(x, gy, self.ignore_label):
                return found[1]
            gradient = self._kernel.backward(x, gy, self._shape, self.ignore_label)
            return self.made_gradient(1, gradient)
        return self._kernel.backward(x, gy, self._shape, self.ignore_label)


@explained_keywords
def embed_id(x: VariableLike, W: VariableLike, ignore_label: int | None = None) -> Variable:
    r"""Efficient linear function for one-hot input.

    This function implements so called *word embeddings*: it takes a set of IDs (words) ``x`` and a
    table ``W`` of one row for each ID, and returns the rows. It is differentiable w.r.t. ``W``
    only.

    Args:
        x (:class:`~chainer.Variable` or array): IDs, signed integers of any shape
            :math:`(s_1, ..., s_n)`, :math:`n \ge 1`.
        W (:class:`~chainer.Variable` or array): Representation of each ID, floating point, shape
            :math:`(V, d)`.
        ignore_label (int or None): If given, rows of the output whose ID equals it are filled
            with zeros and pass no gradient.

    Returns:
        ~chainer.Variable: Output of shape :math:`(s_1, ..., s_n, d)` and the dtype of ``W``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If ``W`` has no row for an ID.
        ValueError: In debug mode, if an ID that is not ignored is not in ``0 <= x < V``.

    .. seealso:: :class:`~chainer.links.EmbedID`

    Example:
        >>> x = np.array([2, 1]).astype(np.int32)
        >>> W = np.array([[0, 0, 0],
        ...               [1, 1, 1],
        ...               [2, 2, 2]]).astype(np.float32)
        >>> F.embed_id(x, W).array
        array([[2., 2., 2.],
               [1., 1., 1.]], dtype=float32)
        >>> F.embed_id(x, W, ignore_label=1).array
        array([[2., 2., 2.],
               [0., 0., 0.]], dtype=float32)
    """
    return EmbedIDFunction(ignore_label).apply((x, W))[0]

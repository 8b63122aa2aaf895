"""Linear function (affine transformation)."""

# The rules read private state of the graph for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer import functions
from chainer.backends.operations.linears import linear as operation
from chainer.backends.operations.reductions import axes_sum
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.known_calls import KnownCalls
from chainer.core.autograd.variable import Variable, shape_of
from chainer.core.autograd.variable_node import NO_GRADIENT
from chainer.core.config.configuration import threads
from chainer.core.typing import (
    Array,
    ArrayGrads,
    Arrays,
    DType,
    Grads,
    Indexes,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules import expect_bias, expect_weighted
from chainer.functions.rules.batching import with_samples

#: Products of few rows without a graph.
_known_products = KnownCalls(operation)


class LinearFunction(FunctionNode):
    """Affine transformation of a batch of vectors."""

    argument_names = ("x", "W", "b")

    accepts_opaque_arrays = True
    is_rule_pure = True
    type_check_key = ()
    # As retain_inputs((0, 1)) would declare at each call.
    _retained_inputs = (0, 1)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, w_type = expect_weighted(in_types)
        type_check.expect(
            x_type.ndim == 2,
            w_type.ndim == 2,
            x_type.shape[1] == w_type.shape[1],
        )
        expect_bias(in_types)

    def forward(self, inputs: Arrays) -> Arrays:
        # Kernels add the bias in the same pass as the product.
        if len(inputs) == 3:
            x, W, b = inputs
        else:
            x, W = inputs
            b = None
        kernel = self._kernel = operation.select(x, W, b)
        return (kernel.forward(x, W, b),)

    # The gradients are nodes of their own, which function hooks see under the names below.
    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        (gy,) = grad_outputs
        gradients: list[Variable] = []
        for i in target_input_indexes:
            if i == 0:
                W = self._retained_input(1)
                gradients.append(LinearGradData(self._kernel).apply((W, gy))[0])
            elif i == 1:
                dtype = self.input_nodes[1].dtype
                x = self._retained_input(0)
                gradients.append(LinearGradWeight(self._kernel, dtype).apply((x, gy))[0])
            else:
                gradients.append(sum_axes(gy, axis=0))
        return tuple(gradients)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        x, W, *bias = inputs
        if not any(are_batched[1:]):  # one longer batch
            y = LinearFunction().apply((x.reshape((-1, x.shape[2])), W, *bias))[0]
            return (y.reshape((*x.shape[:2], y.shape[1])),)
        y = functions.matmul(x, W, transb=True)
        for b in bias:
            y = y + (b.reshape((size, 1, b.shape[1])) if are_batched[2] else b)
        return (y,)

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        # The product of x and W, and the sum with b, if that moves.
        if moving == (0,):  # the usual case: parameters are constant
            (tangent,) = tangents
            array, node = tangent._array, self.input_nodes[1]
            state = threads.state
            if (
                type(array) is type(node.data) is numpy.ndarray
                and self._converted is None
                and not (state.enable_backprop or state.hooks or state.debug)
            ):
                requires_grad = tangent._requires_grad or not node._marks & NO_GRADIENT
                y = self._kernel.forward(array, node.data, None)
                return (Variable._from_array(y, requires_grad),)
            return LinearFunction().apply((tangent, self._retained_input(1)))
        found = dict(zip(moving, tangents, strict=True))
        bias = found.pop(2, None)
        total = None
        for i, tangent in found.items():
            x, W = self.get_retained_inputs()
            inputs = (x, tangent) if i else (tangent, W)
            # The kernel adds the tangent of the bias in the same pass.
            taken, bias = (inputs, None) if bias is None else ((*inputs, bias), None)
            part = LinearFunction().apply(taken)[0]
            total = part if total is None else total + part
        if total is None and bias is not None:
            shape = (self.input_shape(0)[0], bias.shape[0])
            total = broadcast_to(bias, shape)
        return (total,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, W = self.retained_input_arrays
        (gy,) = grad_outputs
        kernel = self._kernel
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gradients.append(kernel.backward_data(gy, W))
            elif i == 1:
                gradients.append(weight_gradient(self, 1, kernel, x, gy, W.dtype))
            else:
                gradients.append(_bias_gradient(self, kernel, gy))
        return tuple(gradients)


def weight_gradient(
    function: FunctionNode, index: int, kernel: Any, x: Array, gy: Array, dtype: DType
) -> Array:
    """Returns the gradient of a weight, or the array of the sum to which its kernel adds it.

    Args:
        function: The function whose input the weight is.
        index: Index of that input.
        kernel: Kernel of ``linear``.
        x: Rows that were multiplied with the weight.
        gy: Gradients of the products.
        dtype: Data type of the weight.
    """
    make = getattr(kernel, "weight_gradient_sum", None)
    if make is not None:
        found = function.gradient_sum(index, make)
        if found is not None and found[0].add(x, gy):
            return found[1]
        return function.made_gradient(index, kernel.backward_weight(x, gy, dtype))
    return kernel.backward_weight(x, gy, dtype)


def _bias_gradient(function: LinearFunction, kernel: Any, gy: Array) -> Array:
    """Does for the bias what :func:`weight_gradient` does for the weight."""
    make = getattr(kernel, "bias_gradient_sum", None)
    if make is not None:
        found = function.gradient_sum(2, make)
        if found is not None and found[0].add(gy):
            return found[1]
    gradient = axes_sum.select(gy).forward(gy, 0, False)
    # A sum over an axis is a new array in NumPy, where kernels with sums of their own are.
    return gradient if make is None else function.made_gradient(2, gradient)


# A linear function and its two gradients are the gradients of each other, so that gradients of any
# order are computed by the same kernel, and by one node for each.


class LinearGradData(FunctionNode):
    """Gradient of a linear function w.r.t. its input, a function of ``W`` and ``gy``."""

    is_multilinear = True
    is_rule_pure = True

    accepts_opaque_arrays = True
    type_check_key = ()
    _retained_inputs = (0, 1)

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        W, gy = inputs
        if are_batched[0]:
            W, gy = with_samples(inputs, are_batched, size)
            return (functions.matmul(gy, W),)
        (gx,) = self.apply((W, gy.reshape((-1, gy.shape[2]))))
        return (gx.reshape((*gy.shape[:2], gx.shape[1])),)

    def forward(self, inputs: Arrays) -> Arrays:
        W, gy = inputs
        return (self._kernel.backward_data(gy, W),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        (ggx,) = grad_outputs
        gradients: list[Variable] = []
        for i in target_input_indexes:
            if i == 0:
                dtype = self.input_nodes[0].dtype
                gy = self._retained_input(1)
                gradients.append(LinearGradWeight(self._kernel, dtype).apply((ggx, gy))[0])
            else:
                W = self._retained_input(0)
                gradients.append(LinearFunction().apply((ggx, W))[0])
        return tuple(gradients)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        W, gy = self.retained_input_arrays
        (ggx,) = grad_outputs
        kernel = self._kernel
        if target_input_indexes == (1,):  # the usual case: weights that are constant
            return (kernel.forward(ggx, W, None),)
        return tuple(
            [
                kernel.forward(ggx, W, None) if i else kernel.backward_weight(ggx, gy, W.dtype)
                for i in target_input_indexes
            ]
        )


class LinearGradWeight(FunctionNode):
    """Gradient of a linear function w.r.t. its weight, a function of ``x`` and ``gy``."""

    is_multilinear = True
    is_rule_pure = True

    accepts_opaque_arrays = True
    type_check_key = ()
    _retained_inputs = (0, 1)

    def __init__(self, kernel: Any, w_dtype: DType) -> None:
        self._kernel = kernel
        self._w_dtype = w_dtype

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        x, gy = with_samples(inputs, are_batched, size)
        return (functions.cast(functions.matmul(gy, x, transa=True), self._w_dtype),)

    def forward(self, inputs: Arrays) -> Arrays:
        x, gy = inputs
        return (self._kernel.backward_weight(x, gy, self._w_dtype),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        (ggW,) = grad_outputs
        gradients: list[Variable] = []
        for i in target_input_indexes:
            if i == 0:
                gy = self._retained_input(1)
                gradients.append(LinearGradData(self._kernel).apply((ggW, gy))[0])
            else:
                x = self._retained_input(0)
                gradients.append(LinearFunction().apply((x, ggW))[0])
        return tuple(gradients)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, gy = self.retained_input_arrays
        (ggW,) = grad_outputs
        kernel = self._kernel
        return tuple(
            [
                kernel.forward(x, ggW, None) if i else kernel.backward_data(gy, ggW)
                for i in target_input_indexes
            ]
        )


def linear(
    x: VariableLike, W: VariableLike, b: VariableLike | None = None, n_batch_axes: int = 1
) -> Variable:
    r"""Linear function, or affine transformation.

    It computes :math:`Y = xW^\top + b` of a minibatch ``x``, a weight matrix ``W`` and optionally a
    bias vector ``b``.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(s_1, s_2, ..., s_n)`. The
            first ``n_batch_axes`` dimensions are the batch; the others are treated as one
            dimension of size :math:`N`.
        W (:class:`~chainer.Variable` or array): Weight of shape :math:`(M, N)`.
        b (:class:`~chainer.Variable` or array): Bias of shape :math:`(M,)` and the dtype of ``x``
            (optional).
        n_batch_axes (int): Number of batch axes, at least one.

    Returns:
        ~chainer.Variable: Output of shape :math:`(s_1, ..., s_{\mathrm{n\_batch\_axes}}, M)` and
        the dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``n_batch_axes`` is not positive.

    .. seealso:: :class:`~chainer.links.Linear`

    Example:
        >>> x = np.random.uniform(0, 1, (3, 4)).astype(np.float32)
        >>> W = np.random.uniform(0, 1, (5, 4)).astype(np.float32)
        >>> b = np.random.uniform(0, 1, (5,)).astype(np.float32)
        >>> y = F.linear(x, W, b)
        >>> y.shape
        (3, 5)
    """
    if n_batch_axes <= 0:
        raise ValueError(f"n_batch_axes should be greater than 0. Actual: {n_batch_axes}")
    # Without the calls of a property.
    array = x._array if type(x) is Variable else None
    shape = shape_of(x) if array is None else array.shape
    batch_shape = None
    if n_batch_axes > 1:
        batch_shape = shape[:n_batch_axes]
        x = reshape(x, (prod(batch_shape), prod(shape[n_batch_axes:])))
    elif len(shape) > 2:
        # Not (N, -1): an empty batch leaves the other size undecided.
        x = reshape(x, (shape[0], prod(shape[1:])))
    # Text is decoded by hundreds of linear functions of few numbers, with weights that stay the
    # same: these calls need no function node.
    kernel = _known_products.kernel(x, W, b)
    if kernel is not None:
        y = kernel.forward(x._array, W._array, None if b is None else b._array)
        y = _known_products.output(y, x, W, b)
    else:
        y = LinearFunction().apply((x, W) if b is None else (x, W, b))[0]
        _known_products.remember(y, x, W, b)
    return y if batch_shape is None else reshape(y, (*batch_shape, y.shape[1]))

"""A step of gated recurrent units as one node of the graph, where a provider's kernel makes it."""

# The rules read private state of the graph for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from chainer.backends.operations.gru_cells import gru_cell as operation
from chainer.backends.operations.linears import linear as linear_operation
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.connection.linear import linear, weight_gradient
from chainer.functions.math.linear_interpolate import linear_interpolate
from chainer.functions.rules import ComposedFunction, expect_one_dtype

Layer: TypeAlias = Callable[[VariableLike], Variable]
"""An affine transformation."""

#: Numbers of the weights among the inputs: of the products with ``x``, then with ``h``.
_FIRST_WEIGHT, _FIRST_BIAS = 2, 8
_PARAMETERS = tuple(range(_FIRST_WEIGHT, 14))


class GRUCell(ComposedFunction):
    """Gated recurrent units: inputs are ``h``, ``x``, six weights and their biases."""

    argument_names = (
        *("h", "x", "W_r", "W_z", "W", "U_r", "U_z", "U"),
        *("b_r", "b_z", "b", "d_r", "d_z", "d"),
    )

    type_check_key = ()
    # All of them: biases are small, and the composition needs them.
    retained_inputs = tuple(range(14))

    def __init__(self, kernel: Any = None) -> None:
        """Keeps the kernel that serves the inputs, or None to look for it."""
        super().__init__()
        self._kernel = kernel

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        expect_one_dtype(in_types, 14)
        h_type, x_type = in_types[:2]
        type_check.expect(h_type.ndim == 2, x_type.ndim == 2, h_type.shape[0] == x_type.shape[0])
        for i in range(6):
            W_type, b_type = in_types[_FIRST_WEIGHT + i], in_types[_FIRST_BIAS + i]
            type_check.expect(
                W_type.ndim == 2,
                W_type.shape[0] == h_type.shape[1],
                W_type.shape[1] == (x_type if i < 3 else h_type).shape[1],
                b_type.ndim == 1,
                b_type.shape[0] == h_type.shape[1],
            )

    def forward(self, inputs: Arrays) -> Arrays:
        kernel = self._kernel
        if kernel is None:
            kernel = self._kernel = operation.select(*inputs[:_FIRST_BIAS])
        h, x = inputs[:_FIRST_WEIGHT]
        weights = inputs[_FIRST_WEIGHT:_FIRST_BIAS]
        y, self._saved = kernel.forward(h, x, weights, inputs[_FIRST_BIAS:])
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        h, x, *parameters = self.retained_input_arrays
        weights = tuple(parameters[: _FIRST_BIAS - _FIRST_WEIGHT])
        (gh,) = grad_outputs
        g_h, g_x, sources, rh = self._kernel.backward(h, x, weights, self._saved, gh)
        rows = (x, x, x, h, h, rh)
        has_all = target_input_indexes[-len(_PARAMETERS) :] == _PARAMETERS
        sums = self._parameter_sums(rows) if has_all else None
        if sums is not None:
            sums.add(rows, sources)
            gradients: Any = (g_h, g_x, *sums.totals)
            return tuple([gradients[i] for i in target_input_indexes])
        g_biases = sources.sum(axis=1)
        gradients = []
        for i in target_input_indexes:
            if i < _FIRST_WEIGHT:
                gradients.append(g_x if i else g_h)
            elif i < _FIRST_BIAS:
                n = i - _FIRST_WEIGHT
                kernel = linear_operation.select(rows[n], weights[n], None)
                dtype = weights[n].dtype
                gradients.append(weight_gradient(self, i, kernel, rows[n], sources[n % 3], dtype))
            else:
                gradients.append(g_biases[(i - _FIRST_BIAS) % 3])
        return tuple(gradients)

    def _parameter_sums(self, rows: Sequence[Array]) -> _ParameterSums | None:
        """Returns what adds the gradients of all parameters to their sums, where it may.

        Args:
            rows: What each weight was multiplied with.
        """
        state = threads.state
        sums = state.gradient_sums
        if sums is None or state.recorder is not None or self.inputs is None:
            return None
        nodes = self.inputs[_FIRST_WEIGHT:]
        found: _ParameterSums | None = sums.kept.get(nodes)
        if found is None:
            # The first steps make the arrays of the sums.
            totals = [sums.total_of(node) for node in nodes]
            if any([total is None for total in totals]):
                return None
            adds: list[Any] = []
            for node, x, total in zip(nodes, rows, totals):
                make = getattr(linear_operation.select(x, total, None), "weight_gradient_sum", None)
                opened = None if make is None else sums.open_sum(node, make)
                if opened is None:
                    return None
                adds.append(opened[0].add)
            found = sums.kept[nodes] = _ParameterSums(self._kernel, adds, totals)
        return found

    def compose(self, *inputs: Variable) -> Variables:
        h, x, *parameters = inputs
        pairs = zip(parameters[:6], parameters[6:], strict=True)
        return (next_state([partial(linear, W=W, b=b) for W, b in pairs], h, x),)


class _ParameterSums:
    """Adds the gradients of the parameters of a cell to their sums, by few calls for each step.

    Args:
        kernel: Kernel of the cell.
        adds: For each weight what adds a gradient, or returns False if it does not take it.
        totals: Arrays of the sums, of the weights and then of the biases.

    Attributes:
        totals: As the argument.
    """

    __slots__ = ("_add_biases", "_adds", "totals")

    def __init__(self, kernel: Any, adds: Sequence[Any], totals: Sequence[Any]) -> None:
        self.totals = tuple(totals)
        self._adds = tuple(adds)
        biases = self.totals[len(adds) :]
        make = getattr(kernel, "bias_gradient_sums", None)
        add = None if make is None else make(biases)
        self._add_biases = partial(_add_biases, biases) if add is None else add

    def add(self, rows: Sequence[Array], sources: Array) -> None:
        """Adds the gradients of a step.

        Args:
            rows: What each weight was multiplied with.
            sources: Gradients of the three sums of products, shape ``(3, B, n)``.
        """
        g_r, g_z, g = sources
        adds, totals = self._adds, self.totals
        for add, x, gy, total in zip(adds, rows, (g_r, g_z, g, g_r, g_z, g), totals):
            if not add(x, gy):  # such as more rows than pay
                kernel = linear_operation.select(x, total, None)
                total += kernel.backward_weight(x, gy, total.dtype)
        self._add_biases(sources)


def _add_biases(totals: Sequence[Array], sources: Array) -> None:
    """Adds the gradients of the biases to their sums."""
    for n, gradient in enumerate(sources.sum(axis=1)):
        for total in (totals[n], totals[n + 3]):
            total += gradient


def next_state(layers: Sequence[Layer], h: VariableLike, x: VariableLike) -> Variable:
    """Returns the next state of gated recurrent units, composed of differentiable functions.

    Args:
        layers: The layers ``W_r``, ``W_z``, ``W``, ``U_r``, ``U_z`` and ``U``.
        h: States of shape ``(B, n)``.
        x: Inputs of shape ``(B, I)``.
    """
    W_r, W_z, W, U_r, U_z, U = layers
    # Earlier releases call the layers in this order, on which the bits of gradients depend.
    z = W_z(x)
    h_bar = W(x)
    r = sigmoid(W_r(x) + U_r(h))
    z = z + U_z(h)
    h_bar = h_bar + U(r * h)
    return linear_interpolate(sigmoid(z), tanh(h_bar), h)


def next_state_at_once(
    weights: Sequence[Variable], biases: Sequence[Variable], h: VariableLike, x: VariableLike
) -> Variable | None:
    """Returns the next state as one node of the graph, if a provider has a kernel for it.

    Args:
        weights: Weights of the layers, in the order of :func:`next_state`.
        biases: Their biases.
        h: As there.
        x: As there.

    Returns:
        Variable: None if no provider serves the arrays. None, too, where functions are observed,
            since the functions of which the step consists would not be seen, and while a step is
            recorded, because a recorder finds the steps of a layer by these functions.
    """
    state = threads.state
    if state.hooks or not state.is_common or state.recorder is not None:
        return None
    # Without the calls of a property and of as_variable(): a step is one of many.
    if not isinstance(h, Variable):
        h = as_variable(h)
    if not isinstance(x, Variable):
        x = as_variable(x)
    if x._array.ndim != 2:
        return None
    kernel = operation.provided(h._array, x._array, *[W._array for W in weights])
    if kernel is None:
        return None
    # The choice is not made again: it reads shapes, dtypes and layouts of eight arrays.
    return GRUCell(kernel).apply((h, x, *weights, *biases))[0]

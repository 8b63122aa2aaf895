"""Long short-term memory as an activation function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.backends.operations.lstm_cells import lstm_cell
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.concat import concat
from chainer.functions.array.separate import separate
from chainer.functions.rnn._gates import _extract_gates as _extract_gates
from chainer.functions.rnn._gates import _grad_sigmoid as _grad_sigmoid
from chainer.functions.rnn._gates import _grad_tanh as _grad_tanh
from chainer.functions.rnn._gates import _sigmoid as _sigmoid
from chainer.functions.rules import ComposedFunction, expect_one_dtype


class LSTM(ComposedFunction):
    """LSTM units with forget gates.

    The batch of the input may be smaller than the batch of the cell state. The rest of the state is
    then passed on unchanged.
    """

    argument_names = ("c", "x")

    type_check_key = ()
    retained_inputs = (0, 1)
    retained_outputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        c_type, x_type = expect_one_dtype(in_types, 2)
        type_check.expect(
            c_type.ndim >= 2,
            x_type.ndim >= 2,
            c_type.ndim == x_type.ndim,
            x_type.shape[0] <= c_type.shape[0],
            x_type.shape[1] == 4 * c_type.shape[1],
        )
        for i in range(2, type_check.eval(c_type.ndim)):
            type_check.expect(x_type.shape[i] == c_type.shape[i])

    def forward(self, inputs: Arrays) -> Arrays:
        c_prev, x = inputs
        batch = len(x)
        self._kernel = lstm_cell.select(c_prev, x)
        if batch == len(c_prev):
            c, h, self._saved = self._kernel.forward(c_prev, x)
            return c, h
        # Sequences are sorted by length: ended sequences are last, and keep their cells.
        updated, h, self._saved = self._kernel.forward(c_prev[:batch], x)
        c = self.xp.empty_like(c_prev)
        c[:batch] = updated
        c[batch:] = c_prev[batch:]
        return c, h

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        c_prev, x = self.retained_input_arrays
        (c,) = self.retained_output_arrays
        gc, gh = grad_outputs
        batch = len(x)
        if batch == len(c_prev):
            gradients = self._kernel.backward(c_prev, x, c, self._saved, gc, gh)
        else:
            # The cells that were passed on pass their gradients back.
            active_gc = None if gc is None else gc[:batch]
            gc_prev = self.xp.zeros_like(c_prev)
            gc_prev[:batch], gx = self._kernel.backward(
                c_prev[:batch], x, c[:batch], self._saved, active_gc, gh
            )
            if gc is not None:
                gc_prev[batch:] = gc[batch:]
            gradients = (gc_prev, gx)
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, c_prev: Variable, x: Variable) -> Variables:
        a, i, f, o = separate(four_sources(x), axis=2)
        active, rest = c_prev[: len(x)], c_prev[len(x) :]
        c = tanh(a) * sigmoid(i) + active * sigmoid(f)
        return concat([c, rest], axis=0) if len(rest) else c, sigmoid(o) * tanh(c)


class LSTMGrad:
    """Gradient of :class:`LSTM`, as a function of its inputs and of the gradients of its outputs.

    It is called with ``c_prev``, ``x``, ``c_next``, ``gc`` and ``gh`` and returns ``gc_prev`` and
    ``gx``, which can be differentiated again. A gradient that is None counts as zeros.
    """

    def __call__(
        self, c_prev: Any, x: Any, c_next: Any, gc: Any, gh: Any
    ) -> tuple[Variable | None, ...]:
        """Computes the gradients.

        Args:
            c_prev: Cell states.
            x: Sources of the gates.
            c_next: New cell states; they are computed again.
            gc: Gradient of the new cell states.
            gh: Gradient of the outputs.
        """
        return differentiate(lstm, (c_prev, x), (gc, gh))


def differentiate(
    function: Callable[..., Any], inputs: tuple[Any, ...], gradients: tuple[Any, ...]
) -> tuple[Variable | None, ...]:
    """Returns the differentiable gradients of all inputs of a function.

    Args:
        function: Function of several outputs.
        inputs: Its inputs.
        gradients: Gradients of its outputs; None for zeros.
    """
    xs = [as_variable(x) for x in inputs]
    # An output without gradient contributes nothing.
    pairs = [(y, g) for y, g in zip(function(*xs), gradients, strict=True) if g is not None]
    ys, gys = [y for y, _ in pairs], [as_variable(g) for _, g in pairs]
    return tuple(grad(ys, xs, gys, enable_double_backprop=True))


def four_sources(x: Variable) -> Variable:
    """Separates the four sources of each unit, which are neighbors: ``(B, n, 4, ...)``."""
    return x.reshape((x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))


def lstm(c_prev: VariableLike, x: VariableLike) -> tuple[Variable, Variable]:
    """Long Short-Term Memory units as an activation function.

    The input ``x`` holds the sources of cell input ``a``, input gate ``i``, forget gate ``f`` and
    output gate ``o``; the four of a unit are neighbors along the second axis. Then
    ``c = tanh(a) sigmoid(i) + c_prev sigmoid(f)`` and ``h = tanh(c) sigmoid(o)``.

    The batch of ``x`` may be smaller than the batch of ``c_prev``. Then only ``c[0:len(x)]`` is
    updated, and the rest does not change. So sort input sequences by descending length.

    See Long Short-Term Memory in Recurrent Neural Networks (Gers, 2001).

    Args:
        c_prev (Variable or array): Previous cell state of shape ``(B, n)``, floating point: zeros
            or the output of the previous call.
        x (Variable or array): Sources of shape ``(b, 4 n)``, ``b <= B``, of the same dtype.

    Returns:
        tuple of Variable: Cell state ``c`` of shape ``(B, n)`` and outgoing signal ``h`` of shape
            ``(b, n)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> c, h = F.lstm(np.zeros((1, 2), np.float32), np.ones((1, 8), np.float32))
        >>> c.shape, h.shape
        ((1, 2), (1, 2))
    """
    c, h = LSTM().apply((c_prev, x))
    return c, h

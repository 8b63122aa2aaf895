"""S-LSTM units: LSTM applied to binary trees."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.lstm_cells import s_lstm_cell
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.separate import separate
from chainer.functions.rnn._gates import _extract_gates as _extract_gates
from chainer.functions.rnn._gates import _grad_sigmoid as _grad_sigmoid
from chainer.functions.rnn._gates import _grad_tanh as _grad_tanh
from chainer.functions.rnn._gates import _sigmoid as _sigmoid
from chainer.functions.rnn.lstm import differentiate, four_sources
from chainer.functions.rules import ComposedFunction, expect_one_dtype


class SLSTM(ComposedFunction):
    """LSTM units with two children."""

    argument_names = ("c_prev1", "c_prev2", "x1", "x2")

    type_check_key = ()
    retained_inputs = (0, 1, 2, 3)
    retained_outputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        c1_type, c2_type, x1_type, x2_type = expect_one_dtype(in_types, 4)
        type_check.expect(
            c1_type.ndim >= 2,
            c2_type.ndim >= 2,
            x1_type.ndim >= 2,
            x2_type.ndim >= 2,
            c1_type.ndim == x1_type.ndim,
            c1_type.ndim == c2_type.ndim,
            c1_type.ndim == x2_type.ndim,
            c1_type.shape[0] == x1_type.shape[0],
            c1_type.shape[0] == c2_type.shape[0],
            c1_type.shape[0] == x2_type.shape[0],
            x1_type.shape[1] == 4 * c1_type.shape[1],
            x2_type.shape[1] == 4 * c2_type.shape[1],
            c1_type.shape[1] == c2_type.shape[1],
        )
        for i in range(2, type_check.eval(c1_type.ndim)):
            type_check.expect(
                x1_type.shape[i] == c1_type.shape[i],
                c2_type.shape[i] == c1_type.shape[i],
                x2_type.shape[i] == c1_type.shape[i],
            )

    def forward(self, inputs: Arrays) -> Arrays:
        self._kernel = s_lstm_cell.select(*inputs)
        c, h, self._saved = self._kernel.forward(*inputs)
        return c, h

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (c,) = self.retained_output_arrays
        gradients = self._kernel.backward(self.retained_input_arrays, c, self._saved, *grad_outputs)
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, c1: Variable, c2: Variable, x1: Variable, x2: Variable) -> Variables:
        a1, i1, f1, o1 = separate(four_sources(x1), axis=2)
        a2, i2, f2, o2 = separate(four_sources(x2), axis=2)
        c = tanh(a1) * sigmoid(i1) + tanh(a2) * sigmoid(i2) + sigmoid(f1) * c1 + sigmoid(f2) * c2
        return c, tanh(c) * sigmoid(o1 + o2)


class SLSTMGrad:
    """Gradient of :class:`SLSTM`, as a function of its inputs and of the gradients of its outputs.

    It is called with ``c_prev1``, ``c_prev2``, ``x1``, ``x2``, ``c_next``, ``gc`` and ``gh`` and
    returns the gradients of the first four, which can be differentiated again.
    """

    def __call__(
        self, c_prev1: Any, c_prev2: Any, x1: Any, x2: Any, c_next: Any, gc: Any, gh: Any
    ) -> tuple[Variable | None, ...]:
        """Computes the gradients.

        Args:
            c_prev1: Cell states of the first source.
            c_prev2: Cell states of the second source.
            x1: Sources of the gates.
            x2: Further sources of the gates.
            c_next: New cell states; they are computed again.
            gc: Gradient of the new cell states; None for zeros.
            gh: Gradient of the outputs; None for zeros.
        """
        # Differentiated as a composition: the new cell states need not be given.
        return differentiate(slstm, (c_prev1, c_prev2, x1, x2), (gc, gh))


def slstm(
    c_prev1: VariableLike, c_prev2: VariableLike, x1: VariableLike, x2: VariableLike
) -> tuple[Variable, Variable]:
    """S-LSTM units as an activation function: an extension of LSTM units to binary trees.

    With the sources ``a, i, f, o`` of each child as in :func:`lstm`,
    ``c = tanh(a1) sigmoid(i1) + tanh(a2) sigmoid(i2) + c_prev1 sigmoid(f1) + c_prev2 sigmoid(f2)``
    and ``h = tanh(c) sigmoid(o1 + o2)``. See Long Short-Term Memory Over Tree Structures
    (https://arxiv.org/abs/1503.04881).

    Note:
        The reference of Chainer 4 prints ``tanh(a1 + a2) sigmoid(i1 + i2)`` for the first two
        summands. Its releases compute what stands above, and so does this function: trained models
        depend on it.

    Args:
        c_prev1 (Variable or array): Cell state of the first child, shape ``(B, n)``, floating
            point.
        c_prev2 (Variable or array): Cell state of the second child, of the same shape and dtype.
        x1 (Variable or array): Sources from the first child, shape ``(B, 4 n)`` and the same dtype.
        x2 (Variable or array): Sources from the second child, of the same shape and dtype.

    Returns:
        tuple of Variable: Cell state ``c`` and outgoing signal ``h``, both of shape ``(B, n)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> c = np.zeros((1, 2), np.float32)
        >>> x = np.ones((1, 8), np.float32)
        >>> [y.shape for y in F.slstm(c, c, x, x)]
        [(1, 2), (1, 2)]
    """
    c, h = SLSTM().apply((c_prev1, c_prev2, x1, x2))
    return c, h

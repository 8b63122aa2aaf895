"""TreeLSTM units."""

from __future__ import annotations

from chainer.backends.operations.lstm_cells import tree_lstm_cell
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions._callable import CallableNode
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.split_axis import split_axis
from chainer.functions.rnn._gates import _grad_sigmoid as _grad_sigmoid
from chainer.functions.rnn._gates import _grad_tanh as _grad_tanh
from chainer.functions.rnn._gates import _sigmoid as _sigmoid
from chainer.functions.rules import ComposedFunction


class TreeLSTM(CallableNode, ComposedFunction):
    """LSTM units with any number of children."""

    type_check_key = ()
    retained_outputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() >= 2)
        c_types = list(in_types)[:-1]
        x_type = in_types[len(in_types) - 1]
        n_ary = len(c_types)
        type_check.expect(x_type.ndim >= 2)
        for c_type in c_types:
            type_check.expect(
                c_type.dtype.kind == "f",
                x_type.dtype == c_type.dtype,
                c_type.ndim >= 2,
                c_type.ndim == x_type.ndim,
                x_type.shape[0] == c_type.shape[0],
                x_type.shape[1] == (3 + n_ary) * c_type.shape[1],
            )
            for i in range(2, type_check.eval(c_type.ndim)):
                type_check.expect(x_type.shape[i] == c_type.shape[i])

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        *cs, x = inputs
        self._kernel = tree_lstm_cell.select(x, *cs)
        c, h, self._saved = self._kernel.forward(cs, x)
        return c, h

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        *cs, x = self.retained_input_arrays
        (c,) = self.retained_output_arrays
        gcs, gx = self._kernel.backward(cs, x, c, self._saved, *grad_outputs)
        gradients = [*gcs, gx]
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, *inputs: Variable) -> Variables:
        *cs, x = inputs
        a, i, o, *fs = split_axis(x, 3 + len(cs), axis=1)
        c = tanh(a) * sigmoid(i)
        for c_prev, f in zip(cs, fs, strict=True):
            c = c + c_prev * sigmoid(f)
        return c, tanh(c) * sigmoid(o)


def tree_lstm(*inputs: VariableLike) -> tuple[Variable, Variable]:
    """TreeLSTM units as an activation function, for N-ary and child-sum TreeLSTM.

    The last input is split along the second axis into the sources ``a, i, o, f_1, ..., f_N``; then
    ``c = tanh(a) sigmoid(i) + c_1 sigmoid(f_1) + ... + c_N sigmoid(f_N)`` and
    ``h = tanh(c) sigmoid(o)``. See Improved Semantic Representations From Tree-Structured LSTM
    Networks (https://arxiv.org/abs/1503.00075) and A Fast Unified Model for Parsing and Sentence
    Understanding (https://arxiv.org/abs/1603.06021).

    Args:
        inputs (list of Variable or array): Cell states of the ``N`` children, each of shape
            ``(B, n)``, floating point, and the sources of shape ``(B, (N + 3) n)``.

    Returns:
        tuple of Variable: Cell state ``c`` and output ``h``, each of shape ``(B, n)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> c = np.zeros((1, 2), np.float32)
        >>> [y.shape for y in F.tree_lstm(c, c, np.ones((1, 10), np.float32))]
        [(1, 2), (1, 2)]
    """
    c, h = TreeLSTM().apply(inputs)
    return c, h


def _extract_gates(  # pyright: ignore[reportUnusedFunction]
    x: Array, n_split: int = 5
) -> list[Array]:
    """Returns views of the gates of a tree LSTM; programs with units of their own import it.

    Args:
        x: Array of shape ``(batch, n_split * units, ...)``; the units of a gate are beside each
            other.
        n_split: Number of gates.
    """
    gates = x.reshape((len(x), n_split, x.shape[1] // n_split, *x.shape[2:]))
    return [gates[:, i] for i in range(n_split)]

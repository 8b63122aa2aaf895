"""TreeLSTM units."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.lstm_cells import tree_lstm_cell
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class TreeLSTM(FunctionNode):
    """LSTM units with any number of children."""

    type_check_key = ()

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

    def _split(self, x: Any, n_ary: int) -> list[Any]:
        size = x.shape[1] // (3 + n_ary)
        return [x[:, k * size : (k + 1) * size] for k in range(3 + n_ary)]

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs(range(len(inputs)))
        self.retain_outputs((0,))
        *cs, x = inputs
        self._kernel = tree_lstm_cell.select(x, *cs)
        c, h, self._saved = self._kernel.forward(cs, x)
        return c, h

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        *cs, x = self.retained_input_arrays
        (c,) = self.retained_output_arrays
        gcs, gx = self._kernel.backward(cs, x, c, self._saved, *grad_outputs)
        gradients = [*gcs, gx]
        return tuple([gradients[i] for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.activation.sigmoid import sigmoid
        from chainer.functions.activation.tanh import tanh
        from chainer.functions.array.concat import concat

        *cs, x = self.get_retained_inputs()
        (c,) = self.get_retained_outputs()
        gc, gh = grad_outputs
        a, i, o, *fs = self._split(x, len(cs))
        a, i, o = tanh(a), sigmoid(i), sigmoid(o)
        fs = [sigmoid(f) for f in fs]
        tanh_c = tanh(c)
        total = None if gh is None else gh * o * (1 - tanh_c * tanh_c)
        if gc is not None:
            total = gc if total is None else total + gc
        if gh is None:
            go = Variable(self.xp.zeros(o.shape, dtype=o.dtype))
        else:
            go = gh * tanh_c * o * (1 - o)

        def gx() -> Variable:
            gfs = [total * p * f * (1 - f) for p, f in zip(cs, fs, strict=True)]
            return concat([total * i * (1 - a * a), total * a * i * (1 - i), go, *gfs], axis=1)

        return tuple([gx() if k == len(cs) else total * fs[k] for k in target_input_indexes])


def tree_lstm(*inputs: Any) -> tuple[Variable, Variable]:
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
        tuple of Variable: Cell state ``c`` and outgoing signal ``h``, both of shape ``(B, n)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> c = np.zeros((1, 2), np.float32)
        >>> [y.shape for y in F.tree_lstm(c, c, np.ones((1, 10), np.float32))]
        [(1, 2), (1, 2)]
    """
    return TreeLSTM().apply(inputs)  # type: ignore[return-value]

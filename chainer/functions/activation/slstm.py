"""S-LSTM units: LSTM applied to binary trees."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.lstm_cells import s_lstm_cell
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class SLSTM(FunctionNode):
    """LSTM units with two children."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 4)
        c1_type, c2_type, x1_type, x2_type = in_types
        type_check.expect(
            c1_type.dtype.kind == "f",
            c2_type.dtype == c1_type.dtype,
            x1_type.dtype == c1_type.dtype,
            x2_type.dtype == c1_type.dtype,
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

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1, 2, 3))
        self.retain_outputs((0,))
        c1, c2, x1, x2 = inputs
        self._kernel = s_lstm_cell.select(c1, c2, x1, x2)
        c, h, self._saved = self._kernel.forward(c1, c2, x1, x2)
        return c, h

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        c1, c2, x1, x2 = self.retained_input_arrays
        (c,) = self.retained_output_arrays
        gradients = self._kernel.backward(c1, c2, x1, x2, c, self._saved, *grad_outputs)
        return tuple([gradients[i] for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.activation.sigmoid import sigmoid
        from chainer.functions.activation.tanh import tanh
        from chainer.functions.array.separate import separate
        from chainer.functions.array.stack import stack

        c1, c2, x1, x2 = self.get_retained_inputs()
        (c,) = self.get_retained_outputs()
        gc, gh = grad_outputs
        a1, i1, f1, o1 = separate(_units(x1), axis=2)
        a2, i2, f2, o2 = separate(_units(x2), axis=2)
        o = sigmoid(o1 + o2)
        tanh_c = tanh(c)
        total = None if gh is None else gh * o * (1 - tanh_c * tanh_c)
        if gc is not None:
            total = gc if total is None else total + gc
        if gh is None:
            go = Variable(self.xp.zeros(o.shape, dtype=o.dtype))
        else:
            go = gh * tanh_c * o * (1 - o)

        def gx(c_prev: Any, a: Any, i: Any, f: Any) -> Variable:
            a, i, f = tanh(a), sigmoid(i), sigmoid(f)
            ga = total * i * (1 - a * a)
            gi = total * a * i * (1 - i)
            gf = total * c_prev * f * (1 - f)
            return stack([ga, gi, gf, go], axis=2).reshape(x1.shape)

        gradients = {
            0: lambda: total * sigmoid(f1),
            1: lambda: total * sigmoid(f2),
            2: lambda: gx(c1, a1, i1, f1),
            3: lambda: gx(c2, a2, i2, f2),
        }
        return tuple([gradients[i]() for i in target_input_indexes])


def _units(x: Any) -> Any:
    """Separates the four sources of each unit, which are neighbours: ``(B, n, 4, ...)``."""
    return x.reshape((x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))


def slstm(c_prev1: Any, c_prev2: Any, x1: Any, x2: Any) -> tuple[Variable, Variable]:
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
    return SLSTM().apply((c_prev1, c_prev2, x1, x2))  # type: ignore[return-value]

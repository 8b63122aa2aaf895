"""S-LSTM units: LSTM applied to binary trees."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


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

    def _split(self, x: Any) -> tuple[Any, ...]:
        y = x.reshape((x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))
        return tuple([y[:, :, k] for k in range(4)])

    def _sigmoid(self, x: Any) -> Any:
        return self.xp.tanh(x * 0.5) * 0.5 + 0.5

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1, 2, 3))
        self.retain_outputs((0,))
        c1, c2, x1, x2 = inputs
        a1, i1, f1, o1 = self._split(x1)
        a2, i2, f2, o2 = self._split(x2)
        xp = self.xp
        c = xp.tanh(a1 + a2) * self._sigmoid(i1 + i2)
        c += c1 * self._sigmoid(f1)
        c += c2 * self._sigmoid(f2)
        return c, xp.tanh(c) * self._sigmoid(o1 + o2)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.activation.sigmoid import sigmoid
        from chainer.functions.activation.tanh import tanh
        from chainer.functions.array.separate import separate
        from chainer.functions.array.stack import stack

        c1, c2, x1, x2 = self.get_retained_inputs()
        (c,) = self.get_retained_outputs()
        gc, gh = grad_outputs
        shape = (x1.shape[0], x1.shape[1] // 4, 4, *x1.shape[2:])
        a1, i1, f1, o1 = separate(x1.reshape(shape), axis=2)
        a2, i2, f2, o2 = separate(x2.reshape(shape), axis=2)
        a, i, o = tanh(a1 + a2), sigmoid(i1 + i2), sigmoid(o1 + o2)
        f1, f2 = sigmoid(f1), sigmoid(f2)
        tanh_c = tanh(c)
        total = None if gh is None else gh * o * (1 - tanh_c * tanh_c)
        if gc is not None:
            total = gc if total is None else total + gc
        ga = total * i * (1 - a * a)
        gi = total * a * i * (1 - i)
        if gh is None:
            go = Variable(self.xp.zeros(o.shape, dtype=o.dtype))
        else:
            go = gh * tanh_c * o * (1 - o)
        gf1 = total * c1 * f1 * (1 - f1)
        gf2 = total * c2 * f2 * (1 - f2)
        gradients = {
            0: lambda: total * f1,
            1: lambda: total * f2,
            2: lambda: stack([ga, gi, gf1, go], axis=2).reshape(x1.shape),
            3: lambda: stack([ga, gi, gf2, go], axis=2).reshape(x2.shape),
        }
        return tuple([gradients[i]() for i in target_input_indexes])


def slstm(c_prev1: Any, c_prev2: Any, x1: Any, x2: Any) -> tuple[Variable, Variable]:
    """S-LSTM units as an activation function: an extension of LSTM units to binary trees.

    With the sources ``a, i, f, o`` of each child as in :func:`lstm`,
    ``c = tanh(a1 + a2) sigmoid(i1 + i2) + c_prev1 sigmoid(f1) + c_prev2 sigmoid(f2)`` and
    ``h = tanh(c) sigmoid(o1 + o2)``. See Long Short-Term Memory Over Tree Structures
    (https://arxiv.org/abs/1503.04881).

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

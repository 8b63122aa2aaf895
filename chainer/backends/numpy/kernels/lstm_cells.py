"""Reference kernels of LSTM cells."""

from __future__ import annotations

from typing import Any

from chainer.core.kernel import ReferenceKernel


def sigmoid_in_place(xp: Any, x: Any) -> None:
    """Replaces an array by its sigmoid; by tanh, which neither overflows nor loses digits."""
    x *= 0.5
    xp.tanh(x, out=x)
    x *= 0.5
    x += 0.5


class LSTMCellKernel(ReferenceKernel):
    """LSTM cell; the gates are kept apart, each contiguous, for backward."""

    def forward(self, c_prev: Any, x: Any) -> tuple[Any, Any, Any]:
        xp = self.xp
        gates = self._apart(x)
        xp.tanh(gates[0], out=gates[0])
        self.sigmoid_in_place(gates[1:])
        a, i, f, o = gates
        c = a * i
        c += c_prev * f
        h = xp.tanh(c)
        h *= o
        return c, h, gates

    def sigmoid_in_place(self, x: Any) -> None:
        """Replaces a contiguous array by its sigmoid."""
        sigmoid_in_place(self.xp, x)

    def _apart(self, x: Any) -> Any:
        """Splits neighbours into four contiguous arrays."""
        shape = (x.shape[0], x.shape[1] // 4, 4, *x.shape[2:])
        order = (2, 0, 1, *range(3, len(shape)))
        return self.xp.ascontiguousarray(x.reshape(shape).transpose(order))

    def _together(self, gates: Any, shape: tuple[int, ...]) -> Any:
        order = (1, 2, 0, *range(3, gates.ndim))
        return gates.transpose(order).reshape(shape)

    def backward(
        self, c_prev: Any, x: Any, c: Any, saved: Any, gc: Any, gh: Any
    ) -> tuple[Any, Any]:
        xp = self.xp
        a, i, f, o = saved
        gx = xp.empty_like(saved)
        ga, gi, gf, go = gx
        if gh is None:
            go[...] = 0
            total = gc
        else:
            tanh_c = xp.tanh(c)
            xp.multiply(gh, tanh_c, out=go)
            tanh_c *= tanh_c
            total = gh * o
            total -= total * tanh_c
            if gc is not None:
                total += gc
            go *= o - o * o
        xp.multiply(total, i - i * i, out=gi)
        gi *= a
        xp.multiply(total, 1 - a * a, out=ga)
        ga *= i
        xp.multiply(total, f - f * f, out=gf)
        gf *= c_prev
        return total * f, self._together(gx, x.shape)

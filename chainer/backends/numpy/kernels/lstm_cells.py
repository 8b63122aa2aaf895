"""Reference kernels of LSTM cells."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.kernel import ReferenceKernel


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
        """Copies neighbours into four contiguous arrays."""
        shape = (x.shape[0], x.shape[1] // 4, 4, *x.shape[2:])
        order = (2, 0, 1, *range(3, len(shape)))
        return x.reshape(shape).transpose(order).copy()

    def _parts(self, x: Any) -> list[Any]:
        """Returns views of the four sources, whose units are neighbours."""
        units = x.reshape((x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))
        return [units[:, :, k] for k in range(4)]

    def backward(
        self, c_prev: Any, x: Any, c: Any, saved: Any, gc: Any, gh: Any
    ) -> tuple[Any, Any]:
        xp = self.xp
        a, i, f, o = saved
        gx = xp.empty(x.shape, saved.dtype)
        ga, gi, gf, go = self._parts(gx)
        if gh is None:
            go[...] = 0
            total = gc
        else:
            tanh_c = xp.tanh(c)
            slope = o - o * o
            slope *= tanh_c
            slope *= gh
            go[...] = slope
            tanh_c *= tanh_c
            xp.multiply(gh, o, out=slope)
            tanh_c *= slope
            total = xp.subtract(slope, tanh_c, out=slope)
            if gc is not None:
                total += gc
            del tanh_c
        slope = i - i * i
        slope *= total
        slope *= a
        gi[...] = slope
        xp.multiply(a, a, out=slope)
        xp.subtract(1, slope, out=slope)
        slope *= total
        slope *= i
        ga[...] = slope
        xp.multiply(f, f, out=slope)
        xp.subtract(f, slope, out=slope)
        slope *= total
        slope *= c_prev
        gf[...] = slope
        return xp.multiply(total, f, out=slope), gx

"""Padding."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import (
    Array,
    ArrayGrads,
    ArrayLike,
    Arrays,
    Indexes,
    VariableLike,
    Variables,
)
from chainer.functions.rules import OneFloat, Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsAxes

#: The modes of :func:`numpy.pad`.
_MODES = frozenset(
    {
        *("constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum"),
        *("reflect", "symmetric", "wrap"),
    }
)


class UnknownModeError(KeyError, ValueError):
    """A mode that :func:`numpy.pad` does not know; earlier releases raise KeyError."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would put quotes around it


class Pad(ShiftsAxes, OneFloat, UnaryFunction):
    """Pads an array; the gradient of an element sums over its position and its copies."""

    def __init__(self, pad_width: Any, mode: str, **keywords: Any) -> None:
        if not callable(mode) and mode not in _MODES:
            raise UnknownModeError(f"mode must be one of {sorted(_MODES)}, got {mode!r}")
        self.mode = mode
        self.keywords = keywords
        self.pad_width = pad_width

    def _widths(self, ndim: int) -> list[tuple[int, int]]:
        widths = numpy.broadcast_to(numpy.asarray(self.pad_width), (ndim, 2))
        return [(int(before), int(after)) for before, after in widths]

    @property
    def pad_bw(self) -> Any:
        """Widths before and after each axis: an integer array of shape ``(ndim, 2)``."""
        return numpy.array(self._widths(len(self.input_shape(0)))).reshape(-1, 2)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # Values for each axis, and functions that look at axes, would have to know the samples.
        if callable(self.mode) or any(numpy.ndim(v) for v in self.keywords.values()):
            return None
        return super().batched(inputs, are_batched, size)

    def attributes_of_batch(self, ndim: int) -> dict[str, Any]:
        return {"pad_width": [(0, 0), *self._widths(ndim)]}

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        if x.ndim == 0:  # it has no axis to pad; numpy.pad refuses the empty list of widths
            self._inner: tuple[slice, ...] = ()
            return (x.copy(),)
        widths = self._widths(x.ndim)
        # Where the input is in the output.
        self._inner = tuple([slice(b, b + n) for (b, _), n in zip(widths, x.shape, strict=True)])
        return (self.xp.pad(x, widths, mode=self.mode, **self.keywords),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        if not self._inner:
            return gy
        if self.mode == "constant":
            return gy[self._inner]
        if self.mode not in _COPYING or self.keywords.get("reflect_type", "even") != "even":
            options = "".join([f", {name}={value!r}" for name, value in self.keywords.items()])
            raise NotImplementedError(
                f"the gradient of pad is defined for the modes 'constant', "
                f"{', '.join(map(repr, sorted(_COPYING)))}, which copy; "
                f"got mode={self.mode!r}{options}"
            )
        xp = self.xp
        shape = self.input_shape(0)
        # Where each output element was copied from: pad the positions the same way.
        positions = xp.arange(math.prod(shape)).reshape(shape)
        origin = xp.pad(positions, self._widths(len(shape)), mode=self.mode, **self.keywords)
        zeros = xp.zeros(math.prod(shape), dtype=gy.dtype)
        return ops.scatter_add(zeros, origin.ravel(), gy.reshape((origin.size,))).reshape(shape)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        inner = self._inner
        node = self.input_nodes[0]
        if (
            self.mode == "constant"
            and node.creator_node is None
            and inner
            and gy.shape[-1] <= 2 * node.shape[-1]
        ):
            # The gradient of a leaf may not be a view of another gradient. Copying whole rows is
            # faster than copying them without their ends.
            return (gy[inner[:-1]].copy()[..., inner[-1]],)
        return super().backward_arrays(target_input_indexes, grad_outputs)


#: Modes that fill with copies of elements.
_COPYING = frozenset({"edge", "reflect", "symmetric", "wrap"})


def pad(x: VariableLike, pad_width: ArrayLike, mode: str, **keywords: Any) -> Variable:
    """Pads an input variable.

    Args:
        x (Variable or array): Input of any shape, floating point.
        pad_width (int or array-like): Number of values padded to the edges of each axis: one
            number, a pair ``(before, after)``, or a pair for each axis.
        mode (str): How the periphery is filled; passed to :func:`numpy.pad`.
        constant_values (int or array-like): Values of the periphery in mode ``'constant'``; zero by
            default.

    Returns:
        Variable: The padded variable.

    Raises:
        InvalidType: If the dtype does not fit.
        UnknownModeError: (a ValueError and a KeyError) If the mode is unknown.
        NotImplementedError: When differentiated in a mode that computes values (``'mean'``, ...).

    Example:
        >>> F.pad(np.array([1., 2.]), 1, 'constant')
        variable([0., 1., 2., 0.])
    """
    return Pad(pad_width, mode, **keywords).apply((x,))[0]

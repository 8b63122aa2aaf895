"""Padding."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Pad(FunctionNode):
    """Pads an array; an element's gradient is that of its own place and of its copies."""

    type_check_key = ()

    def __init__(self, pad_width: Any, mode: str, **keywords: Any) -> None:
        self.mode = mode
        self.keywords = keywords
        self.pad_width = pad_width

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def _widths(self, ndim: int) -> list[tuple[int, int]]:
        widths = numpy.broadcast_to(numpy.asarray(self.pad_width), (ndim, 2))
        return [(int(before), int(after)) for before, after in widths]

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        widths = self._widths(x.ndim)
        # Where the input is in the output.
        self._inner = tuple([slice(b, b + n) for (b, _), n in zip(widths, x.shape, strict=True)])
        return (self.xp.pad(x, widths, mode=self.mode, **self.keywords),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (gy,) = grad_outputs
        if self.mode != "constant":
            (gx,) = self.backward(target_input_indexes, (Variable(gy, requires_grad=False),))
            return (gx.array,)
        inner = self._inner
        node = self.inputs[0]  # type: ignore[index]
        if node.creator_node is None and inner and gy.shape[-1] <= 2 * node.shape[-1]:
            # The gradient of a leaf may not be a view of another gradient. Copying whole rows is
            # faster than copying them without their ends.
            rows = gy[inner[:-1]]
            return (rows.copy()[..., inner[-1]],)
        return (gy[inner],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.array.scatter_add import scatter_add

        (gy,) = grad_outputs
        shape = self.inputs[0].shape  # type: ignore[index]
        if self.mode == "constant":
            return (gy[self._inner],)
        if self.mode not in _COPYING or self.keywords.get("reflect_type", "even") != "even":
            options = "".join([f", {name}={value!r}" for name, value in self.keywords.items()])
            raise NotImplementedError(
                f"the gradient of pad is defined for the modes 'constant', "
                f"{', '.join(map(repr, sorted(_COPYING)))}, which copy; "
                f"got mode={self.mode!r}{options}"
            )
        widths = self._widths(len(shape))
        # Where each output element was copied from: pad the positions the same way.
        size = int(numpy.prod(shape))
        positions = self.xp.arange(size).reshape(shape)
        origin = self.xp.pad(positions, widths, mode=self.mode, **self.keywords)
        index = origin.ravel()
        zeros = self.xp.zeros(size, dtype=gy.dtype)
        return (scatter_add(zeros, index, gy.reshape(index.shape)).reshape(shape),)


#: Modes that fill with copies of elements.
_COPYING = frozenset({"edge", "reflect", "symmetric", "wrap"})


def pad(x: Any, pad_width: Any, mode: str, **keywords: Any) -> Variable:
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
        NotImplementedError: When differentiated in a mode that computes values (``'mean'``, ...).

    Example:
        >>> F.pad(np.array([1., 2.]), 1, 'constant')
        variable([0., 1., 2., 0.])
    """
    return Pad(pad_width, mode, **keywords).apply((x,))[0]

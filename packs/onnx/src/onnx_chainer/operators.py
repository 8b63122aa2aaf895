"""Operators; the differences between operator sets are here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.typing import DTypeLike
from onnx_chainer.application_nodes import ApplicationNodes
from onnx_chainer.tensors import element_type

if TYPE_CHECKING:
    from chainer.typing import Array


class Operators(ApplicationNodes):
    """Base of :class:`~onnx_chainer.nodes.Nodes`: methods that add one operator or a few."""

    def cast(self, x: str, dtype: DTypeLike) -> str:
        """Converts the elements to a dtype."""
        return self("Cast", x, to=element_type(dtype))

    def equal(self, a: str, b: str, dtype: DTypeLike = None) -> str:
        """Compares elements, which are of the dtype of the first input unless one is given."""
        kind = numpy.dtype(self.dtype() if dtype is None else dtype).kind
        if self.opset >= 11 or kind in "iub":
            return self("Equal", a, b)
        # Equal took integers only; a NaN does not occur where this is used.
        return self("Not", self("Or", self("Less", a, b), self("Less", b, a)))

    def squeeze(self, x: str, axes: Sequence[int]) -> str:
        """Removes axes of length 1."""
        return self._with_axes("Squeeze", x, axes, 13)

    def unsqueeze(self, x: str, axes: Sequence[int]) -> str:
        """Inserts axes of length 1."""
        return self._with_axes("Unsqueeze", x, axes, 13)

    def _with_axes(
        self, operator: str, x: str, axes: Sequence[int], since: int, **more: Any
    ) -> str:
        # Until one version axes were an attribute, from that version on an input.
        if self.opset >= since:
            return self(operator, x, self.ints(list(axes), "axes"), **more)
        return self(operator, x, axes=list(axes), **more)

    def reduce(self, operator: str, x: str, axes: Any, keepdims: bool = False) -> str:
        """Reduces axes.

        Args:
            operator: Such as ``'ReduceSum'``.
            x: Name of the input.
            axes: Axes counted from the front; None for all.
            keepdims: Whether reduced axes stay with length 1.
        """
        if axes is None:
            return self(operator, x, keepdims=int(keepdims))
        if not list(axes):
            # Without axes the operator would reduce all of them.
            return self("Identity", x)
        since = 13 if operator == "ReduceSum" else 18
        return self._with_axes(operator, x, axes, since, keepdims=int(keepdims))

    def split(self, x: str, sizes: Sequence[int], axis: int) -> list[str]:
        """Splits an axis into parts of given lengths."""
        count = len(sizes)
        if self.opset >= 13:
            parts = self("Split", x, self.ints(list(sizes), "split"), outputs=count, axis=axis)
        else:
            parts = self("Split", x, outputs=count, axis=axis, split=list(sizes))
        return [parts] if count == 1 else list(parts)

    def slice(
        self,
        x: str,
        starts: Sequence[int | str],
        ends: Sequence[int | str],
        axes: Sequence[int],
        steps: Sequence[int] | None = None,
    ) -> str:
        """Slices axes; bounds may be names as of :meth:`length`."""
        if steps is not None and all([step == 1 for step in steps]):
            steps = None
        if self.opset < 10:
            if steps is not None:
                self.require_opset(10, "with steps of slices")
            if any([isinstance(bound, str) for bound in (*starts, *ends)]):
                self.require_opset(10, "with slices that depend on axes that have names")
            return self("Slice", x, starts=list(starts), ends=list(ends), axes=list(axes))
        bounds = [self.vector(starts, "starts"), self.vector(ends, "ends")]
        inputs = [x, *bounds, self.ints(axes, "axes")]
        if steps is not None:
            inputs.append(self.ints(steps, "steps"))
        return self("Slice", *inputs)

    def clip(self, x: str, low: float | None, high: float | None, dtype: DTypeLike = None) -> str:
        """Limits elements to an interval; None for no bound."""
        if low is None and high is None:
            return self("Identity", x)
        if self.opset < 11:
            return self(
                "Clip",
                x,
                min=None if low is None else float(low),
                max=None if high is None else float(high),
            )
        inputs = [x, "" if low is None else self.const(low, dtype, "x_min")]
        if high is not None:
            inputs.append(self.const(high, dtype, "x_max"))
        return self("Clip", *inputs)

    def pad(self, x: str, before: Any, after: Any, value: Array = 0, mode: str = "constant") -> str:
        """Pads all axes."""
        pads = [*before, *after]
        if self.opset < 11:
            return self("Pad", x, mode=mode, pads=pads, value=float(value))
        inputs = [x, self.ints(pads, "pads")]
        if mode == "constant":
            inputs.append(self.const(value, name="constant_value"))
        return self("Pad", *inputs, mode=mode)

    def transpose(self, x: str, perm: Sequence[int]) -> str:
        """Permutes axes."""
        return self("Transpose", x, perm=list(perm))

    def gather(self, x: str, indices: Any, axis: int = 0) -> str:
        """Selects elements along an axis; the indexes are a name or a list."""
        return self(
            "Gather",
            x,
            indices if isinstance(indices, str) else self.ints(indices, "indices"),
            axis=axis,
        )

    def softmax(self, x: str, axis: int, ndim: int, operator: str = "Softmax") -> str:
        """Applies Softmax or LogSoftmax along one axis."""
        axis %= ndim
        if self.opset >= 13 or axis == ndim - 1:
            return self(operator, x, axis=axis)
        # Before opset 13 the operator flattened the axes from ``axis`` on into one.
        perm = list(range(ndim))
        perm[axis], perm[-1] = perm[-1], perm[axis]
        return self.transpose(self(operator, self.transpose(x, perm), axis=ndim - 1), perm)

    def one_hot(self, indices: str, depth: int, dtype: DTypeLike, axis: int = -1) -> str:
        """Returns vectors of zeros with a one at each index."""
        values = self.const([0, 1], dtype)
        # ONNX Runtime has this operator for few combinations of dtypes only.
        indices = self.cast(indices, numpy.int64)
        return self("OneHot", indices, self.ints(depth), values, axis=axis)

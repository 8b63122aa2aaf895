"""Makes the nodes of one function: shapes and arrays that may depend on the inputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy

from chainer.typing import Array, DTypeLike, Shape
from onnx_chainer.application_nodes import differences
from onnx_chainer.frozen_values import differ, warn_frozen
from onnx_chainer.onnx_helper import get_func_name
from onnx_chainer.operators import Operators
from onnx_chainer.tensors import as_numpy


class Nodes(Operators):
    """The nodes that express one application of a function.

    ``nodes('Mul', a, b)`` adds a node and returns the name of its output. Attributes are keyword
    arguments. Methods write operators whose form depends on the operator set: what is an attribute
    in an old one may be an input in a new one.

    Args:
        params: The application to convert.
        version: Version of the converter in use.

    Attributes:
        func: The function node.
        opset: Version of the operator set.
        context: Context of the export.
    """

    def array(self, value: Array, other: Array = None) -> str:
        """Returns an array that a function holds, such as a condition.

        It is a value of the graph if it is the array of one, such as of an input; else a constant.

        Args:
            value: The array.
            other: The array in the second run; None if there was none.
        """
        known = self.context.find_name(value)
        if known is not None:
            return known
        array = array_of(value)
        if other is not None and array_of(other).shape != array.shape:
            return self.dynamic_constant(array, array_of(other))
        return self.const(array, array.dtype)

    # -- shapes that depend on the inputs ----------------------------------------------------------

    def reshape(self, x: str, shape: Sequence[int], twin: Sequence[int] | None = None) -> str:
        """Changes the shape.

        Args:
            x: Name of the input.
            shape: The shape in the sample.
            twin: The shape in the second run; None if it is the same whatever the inputs are.
        """
        changing = differences(shape, twin)
        if len(changing) == 1:
            # The one length that follows from the others.
            shape = [-1 if i in changing else n for i, n in enumerate(shape)]
            # ONNX copies the length of the input for a 0, so that -1 cannot be inferred with it.
            if 0 not in shape:
                return self("Reshape", x, self.ints(shape, "shape"))
            shape = [n if n != -1 else 0 for n in shape]
        if 0 in shape and self.opset >= 14:
            return self("Reshape", x, self.shape_value(shape, twin), allowzero=1)
        return self("Reshape", x, self.shape_value(shape, twin))

    def expand(self, x: str, shape: Sequence[int], twin: Sequence[int] | None = None) -> str:
        """Broadcasts to a shape; arguments as of :meth:`reshape`."""
        return self("Expand", x, self.shape_value(shape, twin))

    def shape_value(self, shape: Sequence[int], twin: Sequence[int] | None = None) -> str:
        """Returns the name of a shape, a constant unless it depends on the axes with names."""
        changing = differences(shape, twin)
        if not changing or twin is None:
            return self.ints(list(shape), "shape")
        return self.vector([self.length(shape[i], twin[i]) for i in range(len(shape))])

    def length(self, number: int, other: int) -> int | str:
        """Returns a number that may depend on the lengths of axes that have names.

        Args:
            number: The number in the sample.
            other: The number in the second run.

        Returns:
            int or str: The number if it is the same in both; else the name of a vector of one
                element that computes it.
        """
        number, other = int(number), int(other)
        if number == other:
            return number
        twin = self.params.application.twin
        # An axis of an input of the function itself is the nearest explanation.
        for i, array in enumerate(self.arrays if twin is not None else ()):
            if array is None or twin is None:
                continue
            if i >= len(self.params.input_names):
                break
            for axis, sizes in enumerate(zip(array.shape, twin.inputs[i].shape)):
                if sizes == (number, other):
                    return self.axis_length(self.params.input_names[i], axis)
        source = self.context.dynamic_axes.source((number, other))
        if source is None:
            self.warn(
                f"the number {number} depends on axes that have names, in a way that is not "
                "known; it is a constant of the exported model"
            )
            return number
        axis, factor = source
        length = self.axis_length(axis.input_name, axis.axis)
        return length if factor == 1 else self("Mul", length, self.ints([factor]))

    def axis_length(self, x: str, axis: int) -> str:
        """Returns the length of an axis, as a vector of one element."""
        return self.gather(self("Shape", x), [axis])

    def dynamic_constant(self, array: Array, other: Array) -> str:
        """Returns an array that the model makes as long as its inputs, such as a state of zeros.

        Args:
            array: The array in the sample.
            other: The array in the second run.
        """
        array, other = as_numpy(array), as_numpy(other)
        if array.ndim == other.ndim and array.size:
            changing = differences(array.shape, other.shape)
            row = array[tuple([slice(0, 1 if i in changing else None) for i in range(array.ndim)])]
            if (array == row).all():
                return self.expand(self.const(row, array.dtype), array.shape, other.shape)
        self.warn(
            f"an array of the model of shape {array.shape} is as long as axes that have names; "
            "the exported model has the array of the sample"
        )
        return self.const(array, array.dtype)

    def number(self, value: Array, other: Array, dtype: DTypeLike = None) -> str | None:
        """Returns a factor that is proportional to a product of lengths, or to one over it.

        The lengths belong to the first input, or to the value that it was computed from.

        Args:
            value: The factor in the sample.
            other: The factor in the second run.
            dtype: Dtype of the factor; by default the dtype of the first input.

        Returns:
            str: Its name; None if it does not depend on the lengths in this way.
        """
        twin = self.params.application.twin
        if twin is None or not value or not other:
            return None
        x, other_x = self.params.application.node.input_nodes[0], twin.node.input_nodes[0]
        name = self._product(x, other_x, value, other, dtype)
        before, other_before = x.creator_node, other_x.creator_node
        if name is None and before is not None and other_before is not None:
            # A mean is a sum, which no longer has the axes, times a number.
            x, other_x = before.input_nodes[0], other_before.input_nodes[0]
            if self.context.find_name(x) is not None:
                name = self._product(x, other_x, value, other, dtype)
        return name

    def _product(
        self, x: Array, twin: Any, value: Array, other: Array, dtype: DTypeLike
    ) -> str | None:
        """Returns a factor that is proportional to a product of lengths, or to one over it."""
        lengths = list(zip(x.shape, twin.shape, strict=True))
        for count in range(1, len(lengths) + 1):
            for axes in itertools.combinations(range(len(lengths)), count):
                a, b = (math.prod([lengths[i][k] for i in axes]) for k in (0, 1))
                for inverse in (False, True):
                    if not a or not b:
                        continue
                    expected = b / a if inverse else a / b
                    # Of float16 constants, such as one over a length, few digits are known.
                    if not numpy.isclose(value / other, expected, rtol=2e-3, atol=0):
                        continue
                    shape = self("Shape", self.context.get_name(x))
                    size = self.reduce("ReduceProd", self.gather(shape, list(axes)), [0])
                    size = self.cast(size, self.dtype() if dtype is None else dtype)
                    size = self("Reciprocal", size) if inverse else size
                    factor = value * a if inverse else value / a
                    if numpy.isclose(factor, 1, rtol=2e-3, atol=0):
                        return size
                    return self("Mul", size, self.const(factor, dtype))
        return None

    @property
    def twin(self) -> Any:
        """The function node of the second run; None if there was none."""
        twin = self.params.application.twin
        return None if twin is None else twin.function

    @property
    def probe(self) -> Any:
        """The function node of the run with other values; None if there was none."""
        probe = self.params.application.probe
        return None if probe is None else probe.function

    def warn_if_frozen(self, attribute: str, what: str) -> None:
        """Warns if a constant of the function depends on the values of the inputs.

        Args:
            attribute: The attribute of the function that has it.
            what: Description of the value.
        """
        if self.probe is not None and differ(
            getattr(self.func, attribute), getattr(self.probe, attribute)
        ):
            warn_frozen(self.params.name, what, stacklevel=3)

    @property
    def twin_out_shape(self) -> Shape | None:
        """The shape of the first output in the second run; None if there was none."""
        twin = self.params.application.twin
        node = None if twin is None else twin.output_nodes()[0]
        return None if node is None else tuple(node.shape)

    # -- the end -----------------------------------------------------------------------------------

    def finish(self, results: Any) -> tuple[Any, ...]:
        """Returns the nodes, with the outputs of the function under their names.

        Args:
            results: Name of the output, or names of several. None for an output that nothing uses.
        """
        if results is None:
            raise TypeError(
                f"the converter of {self.params.name} must return the name of its output, got None"
            )
        names = [results] if isinstance(results, str) else list(results)
        wanted = self.params.output_names
        if len(names) != len(wanted):
            raise RuntimeError(
                f"the converter of {self.params.name} returned {len(names)} names, "
                f"but the function has {len(wanted)} outputs"
            )
        made = {output: (node, i) for node in self._nodes for i, output in enumerate(node.output)}
        renamed: dict[str, str] = {}
        for name, output in zip(names, wanted, strict=True):
            if name is None:
                continue
            if name in made and name not in renamed:
                renamed[name] = output
            else:
                # An input, a constant, or a value that is two outputs has to keep its name.
                self.op_output_named("Identity", [renamed.get(name, name)], [output])
        for node in self._nodes:
            for i, value in enumerate(node.input):
                if value in renamed:
                    node.input[i] = renamed[value]
            for i, value in enumerate(node.output):
                if value in renamed:
                    node.output[i] = renamed[value]
        # The others keep the names of their temporary outputs.
        if self._nodes and get_func_name():
            self._nodes[-1].name = get_func_name()
        return tuple(self._nodes)


def array_of(value: Array) -> Array:
    """Returns a constant of a function as an array of NumPy."""
    return as_numpy(getattr(value, "array", value))

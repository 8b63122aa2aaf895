"""Makes the nodes of one function; the differences between operator sets are here."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.typing import Array, DType, DTypeLike, Shape
from onnx_chainer.frozen_values import differ, warn_frozen
from onnx_chainer.onnx_helper import GraphBuilder, get_func_name
from onnx_chainer.tensors import as_numpy, element_type

if TYPE_CHECKING:
    from onnx_chainer.converter_call import ConverterCall


class Nodes(GraphBuilder):
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

    def __init__(self, params: ConverterCall, version: int | None = None) -> None:
        super().__init__()
        self.params = params
        self.func = params.func
        self.opset = params.opset_version
        self.version = self.opset if version is None else version
        self.context = params.context
        self._constants: dict[Any, str] = {}
        self._constant_names: set[str] = set()

    def __call__(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Adds a node.

        Args:
            operator: Operator.
            inputs: Names of the inputs; empty for an input that is left out.
            outputs: Number of outputs.
            attributes: Attributes of the operator. Those that are None are left out.

        Returns:
            str or tuple of str: Name of the output, or names of several.
        """
        given = {name: value for name, value in attributes.items() if value is not None}
        return self.op(operator, list(inputs), outputs, **given)

    # -- what is known about the application -------------------------------------------------------

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The input arrays of the sample."""
        return self.params.application.inputs

    def shape(self, index: int = 0) -> Shape:
        """Returns the shape of an input in the sample."""
        return tuple(self.arrays[index].shape)

    def ndim(self, index: int = 0) -> int:
        """Returns the number of axes of an input."""
        return len(self.shape(index))

    def dtype(self, index: int = 0) -> DType:
        """Returns the dtype of an input."""
        return numpy.dtype(self.arrays[index].dtype)

    @property
    def out_shapes(self) -> list[Shape | None]:
        """The shape of each output in the sample; None for those that nothing uses."""
        outputs = self.params.application.output_nodes()
        return [None if node is None else tuple(node.shape) for node in outputs]

    @property
    def out_shape(self) -> Shape:
        """The shape of the first output in the sample."""
        shape = self.out_shapes[0]
        assert shape is not None, "the function is converted because its output is used"
        return shape

    @property
    def out_dtype(self) -> DType:
        """The dtype of the first output."""
        for node in self.params.application.output_nodes():
            if node is not None:
                return numpy.dtype(node.dtype)
        return self.dtype()

    def axis(self, axis: int, ndim: int | None = None) -> int:
        """Returns an axis counted from the front."""
        return axis % max(self.ndim() if ndim is None else ndim, 1)

    def axes(self, axis: Any, ndim: int | None = None) -> list[int]:
        """Returns axes counted from the front; all axes for None."""
        ndim = self.ndim() if ndim is None else ndim
        if axis is None:
            return list(range(ndim))
        return [a % ndim for a in ((axis,) if isinstance(axis, int) else axis)]

    def unsupported(self, what: str) -> ValueError:
        """Returns the error of a function that is used in a way that cannot be exported."""
        return ValueError(f"{self.params.name} cannot be exported with {what}")

    def require_opset(self, opset: int, what: str = "") -> None:
        """Raises an error if the operator set is too old.

        Args:
            opset: The oldest one that has the operator.
            what: The way the function is used, if others are possible with older ones.

        Raises:
            RuntimeError: If the operator set in use is older.
        """
        if self.opset < opset:
            how = f" {what}" if what else ""
            raise RuntimeError(
                f"{self.params.name}{how} cannot be exported to opset {self.opset}: "
                f"it needs opset {opset} or later"
            )

    def warn(self, message: str) -> None:
        """Warns about the exported function."""
        warnings.warn(f"{self.params.name}: {message}", UserWarning, stacklevel=2)

    def warn_of_lengths(self, axes: Sequence[int] | None = None, index: int = 0) -> None:
        """Warns if an axis of an input has a name, but the exported function needs its length.

        Args:
            axes: The axes whose lengths it needs; all axes for None.
            index: Index of the input.
        """
        twin = self.params.application.twin
        if twin is None:
            return
        changing = _differences(self.shape(index), twin.inputs[index].shape)
        found = [i for i in changing if axes is None or i in axes]
        if found:
            self.warn(
                f"input {index} must have the length of the sample along "
                f"{'axis' if len(found) == 1 else 'axes'} {', '.join(map(str, found))}, "
                "which depends on axes that have names"
            )

    # -- constants ---------------------------------------------------------------------------------

    def const(self, value: Any, dtype: DTypeLike = None, name: str | None = None) -> str:
        """Adds a constant, unless there is an equal one.

        Args:
            value: A number, a list or an array.
            dtype: Its dtype; by default that of the first input.
            name: Its name within the function; by default a number.

        Returns:
            str: Its name.
        """
        array = numpy.asarray(value, self.dtype() if dtype is None else dtype)
        key = (array.tobytes(), array.dtype.str, array.shape)
        if key not in self._constants:
            number = str(len(self._constants))
            if name is None:
                name = number
            elif name in self._constant_names:
                name = f"{name}_{number}"
            self._constant_names.add(name)
            self._constants[key] = self.context.add_const(array, name)
        return self._constants[key]

    def ints(self, values: Any, name: str | None = None) -> str:
        """Adds a constant of int64, which ONNX has for shapes, axes and indexes."""
        return self.const(values, numpy.int64, name)

    def array(self, value: Any, other: Any = None) -> str:
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

    # -- operators whose form changed --------------------------------------------------------------

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

    def pad(self, x: str, before: Any, after: Any, value: Any = 0, mode: str = "constant") -> str:
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
        return self("OneHot", indices, self.ints(depth), values, axis=axis)

    # -- shapes that depend on the inputs ----------------------------------------------------------

    def reshape(self, x: str, shape: Sequence[int], twin: Sequence[int] | None = None) -> str:
        """Changes the shape.

        Args:
            x: Name of the input.
            shape: The shape in the sample.
            twin: The shape in the second run; None if it is the same whatever the inputs are.
        """
        changing = _differences(shape, twin)
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
        changing = _differences(shape, twin)
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

    def vector(self, numbers: Sequence[int | str], name: str | None = None) -> str:
        """Joins numbers, of which some may be names as of :meth:`length`, to a vector."""
        if all([isinstance(n, int) for n in numbers]):
            return self.ints(list(numbers), name)
        parts = [n if isinstance(n, str) else self.ints([n]) for n in numbers]
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=0)

    def dynamic_constant(self, array: Array, other: Array) -> str:
        """Returns an array that the model makes as long as its inputs, such as a state of zeros.

        Args:
            array: The array in the sample.
            other: The array in the second run.
        """
        array, other = as_numpy(array), as_numpy(other)
        if array.ndim == other.ndim and array.size:
            changing = _differences(array.shape, other.shape)
            row = array[tuple([slice(0, 1 if i in changing else None) for i in range(array.ndim)])]
            if (array == row).all():
                return self.expand(self.const(row, array.dtype), array.shape, other.shape)
        self.warn(
            f"an array of the model of shape {array.shape} is as long as axes that have names; "
            "the exported model has the array of the sample"
        )
        return self.const(array, array.dtype)

    def number(self, value: Any, other: Any, dtype: DTypeLike = None) -> str | None:
        """Returns a factor that is proportional to a product of lengths, or to one over it.

        The lengths are those of the first input, or of the value that it was computed from.

        Args:
            value: The factor in the sample.
            other: The factor in the second run.
            dtype: Dtype of the factor; that of the first input by default.

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

    def _product(self, x: Any, twin: Any, value: Any, other: Any, dtype: DTypeLike) -> str | None:
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
            what: What it is.
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


def _differences(shape: Sequence[int], twin: Sequence[int] | None) -> list[int]:
    """Returns the indexes at which two shapes differ."""
    if twin is None or len(twin) != len(shape):
        return []
    return [i for i, (a, b) in enumerate(zip(shape, twin, strict=True)) if a != b]


def array_of(value: Any) -> Array:
    """Returns a constant of a function as an array of NumPy."""
    return as_numpy(getattr(value, "array", value))

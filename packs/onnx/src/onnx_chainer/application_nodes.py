"""The function whose nodes are made: shapes and values, and constants in the graph."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.typing import DType, DTypeLike, Shape
from onnx_chainer.onnx_helper import GraphBuilder

if TYPE_CHECKING:
    from chainer.typing import Array
    from onnx_chainer.converter_call import ConverterCall


class ApplicationNodes(GraphBuilder):
    """Base of :class:`~onnx_chainer.nodes.Nodes`, which describes the arguments and attributes."""

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
        changing = differences(self.shape(index), twin.inputs[index].shape)
        found = [i for i in changing if axes is None or i in axes]
        if found:
            self.warn(
                f"input {index} must have the length of the sample along "
                f"{'axis' if len(found) == 1 else 'axes'} {', '.join(map(str, found))}, "
                "which depends on axes that have names"
            )

    # -- constants ---------------------------------------------------------------------------------

    def const(self, value: Array, dtype: DTypeLike = None, name: str | None = None) -> str:
        """Adds a constant, unless there is an equal one.

        Args:
            value: A number, a list or an array.
            dtype: Its dtype; by default the dtype of the first input.
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

    def vector(self, numbers: Sequence[int | str], name: str | None = None) -> str:
        """Joins numbers, of which some may be names as of :meth:`length`, to a vector."""
        if all([isinstance(n, int) for n in numbers]):
            return self.ints(list(numbers), name)
        parts = [n if isinstance(n, str) else self.ints([n]) for n in numbers]
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=0)


def differences(shape: Sequence[int], twin: Sequence[int] | None) -> list[int]:
    """Returns the indexes at which two shapes differ."""
    if twin is None or len(twin) != len(shape):
        return []
    return [i for i, (a, b) in enumerate(zip(shape, twin, strict=True)) if a != b]

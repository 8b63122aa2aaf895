"""``onnx_chainer.load``: a model of ONNX as a Chain."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy

import chainer
from chainer import Parameter, Variable
from chainer.serializers import FileFormatError
from onnx_chainer.importing.attributes import attributes_of
from onnx_chainer.importing.operators import OPERATORS
from onnx_chainer.optional import require

#: Inputs that are not weights although they are floating-point numbers of the file.
_NOT_TRAINED = {"BatchNormalization": (3, 4), "Clip": (1, 2), "Dropout": (1,), "Resize": (1, 2)}

#: Elements from which on a size that a file declares without data is refused.
_LARGEST_TENSOR = 2**33


class ONNXFormatError(FileFormatError):
    """The file is not a valid model of ONNX; a FileFormatError of ``chainer.serializers``."""


class UnsupportedOperatorError(ValueError):
    """The model has operators that Chainer has no function for.

    Attributes:
        names: Their names.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(
            f"the model has operators that cannot be loaded: {', '.join(names)}; "
            f"there are functions for {', '.join(sorted(OPERATORS))}"
        )
        self.names = names


class ONNXModel(chainer.Chain):
    """A model of ONNX. Calling it computes its graph with Chainer's functions.

    Weights are parameters, running statistics are persistent arrays; both have the names of the
    file, in which characters that Python's names do not have are underscores. In training mode
    Dropout drops, and BatchNormalization uses the statistics of the batch.

    Args:
        proto (onnx.ModelProto): The model.

    Attributes:
        input_names: Names of the inputs.
        output_names: Names of the outputs.
    """

    def __init__(self, proto: Any) -> None:
        super().__init__()
        graph = proto.graph
        version = {o.domain: o.version for o in proto.opset_import}.get("", 1)
        _check_operators(graph)
        self._nodes = [
            (
                OPERATORS[node.op_type],
                attributes_of(node, version),
                list(node.input),
                list(node.output),
            )
            for node in graph.node
        ]
        arrays = {tensor.name: _array_of(tensor) for tensor in graph.initializer}
        trained = _trained(graph, arrays)
        self._attributes: dict[str, str] = {}
        for name, array in arrays.items():
            attribute = self._attribute(name)
            self._attributes[name] = attribute
            if name in trained:
                with self.init_scope():
                    setattr(self, attribute, Parameter(array))
            else:
                self.add_persistent(attribute, array)
        self.input_names = [x.name for x in graph.input if x.name not in arrays]
        self.output_names = [y.name for y in graph.output]

    def _attribute(self, name: str) -> str:
        """Returns a free attribute for a name of the file."""
        base = attribute = re.sub(r"\W", "_", name) or "_"
        if base[0].isdigit() or base.startswith("_"):
            base = attribute = f"v{base}"
        count = 0
        while hasattr(self, attribute):
            count += 1
            attribute = f"{base}_{count}"
        return attribute

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs.

        Args:
            args: The inputs, in the order of :attr:`input_names`.
            kwargs: Inputs by their names.

        Returns:
            Variable or tuple of Variable: The output, or all of them if there are several.

        Raises:
            TypeError: If inputs are missing or there are too many.
        """
        names = self.input_names
        values: dict[str, Any] = {"": None, **dict(zip(names, args)), **kwargs}
        given = len(args) + len(kwargs)
        if given != len(names) or any([name not in values for name in names]):
            raise TypeError(f"the model takes the inputs {names}, got {given} values")
        for name, attribute in self._attributes.items():
            values[name] = getattr(self, attribute)
        for function, attributes, inputs, outputs in self._nodes:
            results = function(attributes, *[values[name] for name in inputs])
            if not isinstance(results, (tuple, list)):
                results = (results,)
            values.update(zip(outputs, results))
        found = [
            y if isinstance(y, Variable) else Variable(_whole(y))
            for y in [values[name] for name in self.output_names]
        ]
        return found[0] if len(found) == 1 else tuple(found)


def load(path: Any) -> ONNXModel:
    """Reads a model of ONNX.

    Args:
        path (str, file object or onnx.ModelProto): The model.

    Returns:
        ONNXModel: A :class:`~chainer.Chain` that computes the model.

    Raises:
        ImportError: If the package onnx is not installed.
        ONNXFormatError: If the file is not a valid model; a ``ValueError``.
        OSError: If the file cannot be read.
        UnsupportedOperatorError: If operators have no counterpart; a ``ValueError`` that lists all.

    Example:
        >>> import io, onnx_chainer
        >>> file = io.BytesIO()
        >>> _ = onnx_chainer.export(L.Linear(3, 2), np.zeros((1, 3), np.float32), file)
        >>> model = onnx_chainer.load(io.BytesIO(file.getvalue()))
        >>> model(np.zeros((4, 3), np.float32)).shape
        (4, 2)
    """
    onnx = require("onnx")
    if isinstance(path, onnx.ModelProto):
        proto = path
    else:
        proto = _read(path)
    try:
        _check_sizes(proto.graph)
    except ONNXFormatError as error:
        raise ONNXFormatError(f"{_describe(path)} is not a valid model: {error}") from error
    try:
        onnx.checker.check_model(proto)
        return ONNXModel(proto)
    except (UnsupportedOperatorError, ONNXFormatError):
        raise
    except Exception as error:
        # The checker and the conversion of tensors raise errors of several classes.
        raise ONNXFormatError(f"{_describe(path)} is not a valid model: {error}") from error


def _read(path: Any) -> Any:
    onnx = require("onnx")
    try:
        if hasattr(path, "read"):
            return onnx.ModelProto.FromString(path.read())
        with open(path, "rb") as file:
            proto = onnx.ModelProto.FromString(file.read())
        onnx.load_external_data_for_model(proto, os.path.dirname(os.path.abspath(path)))
        return proto
    except OSError:
        raise
    except Exception as error:
        raise ONNXFormatError(f"{_describe(path)} is not a file of ONNX: {error}") from error


def _describe(path: Any) -> str:
    """Returns the name of a file for messages."""
    onnx = require("onnx")
    return "the model" if isinstance(path, onnx.ModelProto) else repr(getattr(path, "name", path))


def _check_sizes(graph: Any) -> None:
    """Refuses tensors whose declared size the data cannot have, before memory is allocated."""
    tensors = [*graph.initializer]
    for node in graph.node:
        tensors += [a.t for a in node.attribute if a.HasField("t")]
    for tensor in tensors:
        size = 1
        for length in tensor.dims:
            if length < 0:
                raise ONNXFormatError(f"tensor {tensor.name!r} has the negative length {length}")
            size *= length
        # A bit for each element is the least that any type takes.
        if size > _LARGEST_TENSOR or size > 8 * max(tensor.ByteSize(), 8):
            raise ONNXFormatError(
                f"tensor {tensor.name!r} declares {size} elements, but has "
                f"{tensor.ByteSize()} bytes"
            )


def _check_operators(graph: Any) -> None:
    unknown: list[str] = []
    for node in graph.node:
        name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        if name not in OPERATORS and name not in unknown:
            unknown.append(name)
    if unknown:
        raise UnsupportedOperatorError(unknown)


def _whole(value: Any) -> Any:
    """Returns an array of no axes for what NumPy makes a scalar of."""
    return numpy.asarray(value) if isinstance(value, numpy.generic) else value


def _array_of(tensor: Any) -> Any:
    return numpy.array(require("onnx").numpy_helper.to_array(tensor))


def _trained(graph: Any, arrays: dict[str, Any]) -> set[str]:
    """Returns the names of the initializers that are weights."""
    trained = {name for name, array in arrays.items() if array.dtype.kind == "f"}
    for node in graph.node:
        for index in _NOT_TRAINED.get(node.op_type, ()):
            if index < len(node.input):
                trained.discard(node.input[index])
    return trained

"""``onnx_chainer.load``: a model of ONNX as a Chain."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

import chainer
from chainer import Parameter, Variable
from onnx_chainer.importing.errors import ONNXFormatError, ONNXModelError, UnsupportedOperatorError
from onnx_chainer.importing.graph import Compiler, Graph, Operator
from onnx_chainer.importing.limits import new_budget, size_of
from onnx_chainer.importing.operators import Lookup, constant_inputs
from onnx_chainer.importing.safety import check_external_data, check_sizes
from onnx_chainer.importing.shared_weights import with_own_statistics
from onnx_chainer.importing.values import Value, is_float, whole
from onnx_chainer.optional import require

if TYPE_CHECKING:
    from chainer.typing import Array

__all__ = ["ONNXFormatError", "ONNXModel", "UnsupportedOperatorError", "load"]

Trainable: TypeAlias = "bool | str | Iterable[str] | Callable[[str], bool] | None"
"""Which weights are parameters: all or none, patterns of names, or a function of the name."""


class ONNXModel(chainer.Chain):
    """A model of ONNX. Calling it computes its graph with Chainer's functions.

    Weights are parameters, running statistics and frozen weights are persistent arrays. Both have
    the names of the file, in which characters that Python's names do not have are underscores. In
    training mode Dropout drops, and BatchNormalization uses the statistics of the batch.

    Args:
        proto (onnx.ModelProto): The model.
        trainable: See :func:`load`.
        operators: See :func:`load`.

    Attributes:
        input_names: Names of the inputs.
        output_names: Names of the outputs.
        names: Name in the file -> name of the attribute, for weights and other arrays.
    """

    def __init__(
        self,
        proto: Any,
        trainable: Trainable = None,
        operators: Mapping[str, Operator] | None = None,
    ) -> None:
        super().__init__()
        graph = proto.graph
        compiler = Compiler(proto, Lookup(operators))
        self._graph: Graph = compiler.compile(graph, initializers=False)
        if compiler.unknown:
            raise UnsupportedOperatorError(compiler.unknown)
        arrays = {tensor.name: _array_of(tensor) for tensor in graph.initializer}
        arrays.update({s.values.name: _dense_of(s) for s in graph.sparse_initializer})
        self._graph = with_own_statistics(self._graph, arrays)
        trained = _trained(self._graph, arrays, trainable)
        self.names: dict[str, str] = {}
        for name, array in arrays.items():
            attribute = self._attribute(name)
            self.names[name] = attribute
            if name in trained:
                with self.init_scope():
                    setattr(self, attribute, Parameter(array))
            elif array.dtype.kind in "OUS":
                # Strings are not saved: the file of the model has them.
                setattr(self, attribute, array)
            else:
                self.add_persistent(attribute, array)
        # Before version 4 of the format, weights were among the inputs, too.
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

    def forward(self, *args: Array, **kwargs: Any) -> Any:
        """Computes the outputs.

        Args:
            args: The inputs, in the order of :attr:`input_names`. A sequence is a list of tensors,
                an optional without a value is None.
            kwargs: Inputs by their names.

        Returns:
            Variable or tuple of Variable: The output, or all of them if there are several. A
            sequence is a list, strings are an array of NumPy.

        Raises:
            TypeError: If inputs are missing or there are too many.
        """
        names = self.input_names
        values: dict[str, Any] = {"": None, **dict(zip(names, args)), **kwargs}
        given = len(args) + len(kwargs)
        if given != len(names) or any([name not in values for name in names]):
            raise TypeError(f"the model takes the inputs {names}, got {given} values")
        for name in names:
            values[name] = _as_input(values[name])
        for name, attribute in self.names.items():
            values[name] = getattr(self, attribute)
        # The sizes of weights and inputs bound the sizes of results: see limits.
        size = sum([size_of(value) for value in values.values()])
        with new_budget(size):
            found = [_as_output(y) for y in self._graph.run_in(values)]
        return found[0] if len(found) == 1 else tuple(found)


def load(
    path: Any,
    *,
    trainable: Trainable = None,
    operators: Mapping[str, Operator] | None = None,
) -> ONNXModel:
    """Reads a model of ONNX.

    Args:
        path (str, file object or onnx.ModelProto): The model.
        trainable: Which weights are parameters. None or True: all floating-point weights. False:
            none. A string or several: patterns of names in the file, such as ``'fc.*'``, as of
            :mod:`fnmatch`. A function gets a name and returns a bool. The others are persistent
            arrays: they are saved, but optimizers do not change them.
        operators: Operators that this package does not know, or other functions for those it
            knows: name -> function of the attributes (a dict) and the inputs, which returns the
            output or a tuple. Names of other domains than ONNX's own begin with the domain and a
            dot.

    Returns:
        ONNXModel: A :class:`~chainer.Chain` that computes the model.

    Raises:
        ImportError: If the package onnx is not installed.
        ONNXFormatError: If the file is not a valid model. All errors about a model are an
            ``ONNXModelError`` and a ``ValueError``, also when it is called.
        OSError: If the file cannot be read.
        UnsupportedOperatorError: If operators have no counterpart; the message lists all.
        ValueError: If ``trainable`` has a pattern that no weight has.

    Example:
        >>> import io, onnx_chainer
        >>> file = io.BytesIO()
        >>> _ = onnx_chainer.export(L.Linear(3, 2), np.zeros((1, 3), np.float32), file)
        >>> model = onnx_chainer.load(io.BytesIO(file.getvalue()), trainable="*b")
        >>> model(np.zeros((4, 3), np.float32)).shape
        (4, 2)
        >>> [name for name, _ in model.namedparams()]
        ['/param_b']
    """
    onnx = require("onnx")
    if isinstance(path, onnx.ModelProto):
        proto, folder = path, None
    else:
        proto, folder = _read(path)
    try:
        # Both come before external data are read: a file may name any path and any size.
        check_sizes(proto)
        check_external_data(proto, folder)
    except ONNXFormatError as error:
        raise ONNXFormatError(f"{_describe(path)} is not a valid model: {error}") from error
    try:
        if folder is not None:
            onnx.load_external_data_for_model(proto, folder)
        onnx.checker.check_model(proto)
        return ONNXModel(proto, trainable, operators)
    except (ONNXModelError, _NoSuchWeight):
        raise
    except Exception as error:
        # The checker and the conversion of tensors raise errors of several classes.
        raise ONNXFormatError(f"{_describe(path)} is not a valid model: {error}") from error


def _read(path: Any) -> tuple[Any, str | None]:
    """Returns a model, and the folder of its file if there is one."""
    onnx = require("onnx")
    try:
        if hasattr(path, "read"):
            return onnx.ModelProto.FromString(path.read()), None
        with open(path, "rb") as file:
            return onnx.ModelProto.FromString(file.read()), os.path.dirname(os.path.abspath(path))
    except OSError:
        raise
    except Exception as error:
        raise ONNXFormatError(f"{_describe(path)} is not a file of ONNX: {error}") from error


def _describe(path: Any) -> str:
    """Returns the name of a file for messages."""
    onnx = require("onnx")
    return "the model" if isinstance(path, onnx.ModelProto) else repr(getattr(path, "name", path))


class _NoSuchWeight(ValueError):
    """A pattern of ``trainable`` that no weight has."""


def _as_input(value: Array) -> Value:
    """Returns an input as a value; arrays of floating-point numbers as Variables.

    A product of an array and a number of Python can have another dtype; of a Variable it cannot.
    """
    if isinstance(value, list):
        return [_as_input(v) for v in value]
    value = whole(value)
    if value is None or isinstance(value, Variable) or not is_float(value):
        return value
    return Variable(value, requires_grad=False)


def _as_output(value: Value) -> Any:
    if value is None or isinstance(value, Variable):
        return value
    if isinstance(value, list):
        return [_as_output(v) for v in value]
    return value if value.dtype.kind in "OUS" else Variable(value)


def _array_of(tensor: Any) -> Any:
    return numpy.array(require("onnx").numpy_helper.to_array(tensor))


def _dense_of(sparse: Array) -> Any:
    from onnx_chainer.importing.attributes import dense

    return dense(sparse)


def _trained(graph: Graph, arrays: dict[str, Any], trainable: Trainable) -> set[str]:
    """Returns the names of the initializers that become parameters."""
    weights = {name for name, array in arrays.items() if array.dtype.kind == "f"}
    weights -= _read_as_constants(graph)
    if trainable is None or trainable is True:
        return weights
    if trainable is False:
        return set()
    if callable(trainable):
        return {name for name in weights if trainable(name)}
    patterns = [trainable] if isinstance(trainable, str) else list(trainable)
    chosen: set[str] = set()
    for pattern in patterns:
        found = set(fnmatch.filter(weights, pattern))
        if not found:
            raise _NoSuchWeight(
                f"trainable: no weight has the name {pattern!r}; there are {sorted(weights)}"
            )
        chosen |= found
    return chosen


def _read_as_constants(graph: Graph) -> set[str]:
    """Returns the names that operators read as constants, such as running statistics."""
    found: set[str] = set()
    for node in graph.nodes:
        for index in constant_inputs(node.function, len(node.inputs)):
            found.add(node.inputs[index])
        for value in node.attributes.values():
            if isinstance(value, Graph):
                found |= _read_as_constants(value)
    return found

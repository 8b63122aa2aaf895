"""``onnx_chainer.export``: a model as a graph of ONNX."""

from __future__ import annotations

import contextlib
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import Link, Parameter, Variable
from onnx_chainer import onnx_helper
from onnx_chainer.arguments import Arguments, fit_names, flatten_outputs
from onnx_chainer.context import Context
from onnx_chainer.converter_registry import Converter, ConverterLookup
from onnx_chainer.dynamic_axes import Axis, as_length, as_name, enlarge, factors_of
from onnx_chainer.frozen_values import other_values
from onnx_chainer.graph_conversion import GraphConversion, add_identity, warn_experimental
from onnx_chainer.link_calls import LinkConverter, LinkConverters
from onnx_chainer.model_files import check_model, file_version, with_inferred_outputs, write_model
from onnx_chainer.optional import require
from onnx_chainer.tensors import tensor_of, value_info
from onnx_chainer.tracing import Trace
from onnx_chainer.versions import (
    DEFAULT_OPSET_VERSION,
    MAXIMUM_OPSET_VERSION,
    MINIMUM_OPSET_VERSION,
)

if TYPE_CHECKING:
    from chainer.typing import Array


def export(
    model: Link,
    args: Array,
    filename: Any = None,
    export_params: bool = True,
    graph_name: str = "Graph",
    save_text: bool = False,
    opset_version: int | None = None,
    input_names: Any = None,
    output_names: Any = None,
    train: bool = False,
    return_named_inout: bool = False,
    external_converters: Mapping[str, Converter] | None = None,
    external_opset_imports: Mapping[str, int] | None = None,
    input_shapes: Any = None,
    no_testcase: bool = False,
    external_link_converters: Mapping[type[Link], LinkConverter] | None = None,
) -> Any:
    """Exports a model to ONNX.

    The model is called once with ``args``. Each function that it applies becomes one or more
    operators. Results of NumPy calls and branches of Python become constants of the graph.

    Args:
        model (chainer.Link): The model. It is called as ``model(*args)``, as ``model(**args)`` for
            a dict, or as ``model(args)`` for one array or Variable.
        args (array, Variable, or list, tuple or dict of them): Sample of the arguments.
        filename (str or file object): Where to write the model. None: it is not written.
        export_params (bool): If False, parameters are inputs of the graph without values.
        graph_name (str): Name of the graph.
        save_text (bool): If True, a readable text is written to ``<filename>.txt`` too.
        opset_version (int): Version of the operator set. None: 21, or the newest that the installed
            package onnx defines if that is older.
        input_names (str, list or dict): Names of the inputs; by default ``Input_0``, ``Input_1``...
        output_names (str, list or dict): Names of the outputs; by default the names of the
            functions that compute them, such as ``Softmax_0``.
        train (bool): Value of ``chainer.config.train`` while the model runs. Running statistics are
            the same afterwards.
        return_named_inout (bool): If True, returns the names of inputs and outputs too.
        external_converters (dict): Converters by names of functions. They precede the built-in
            ones.
        external_opset_imports (dict): Versions of the domains that external converters use.
        input_shapes (tuple, list or dict): Shapes of the inputs, in which an axis may have a name
            instead of a length. The exported model takes any length there. The model is called a
            second time, with longer inputs, to see what depends on these axes.
        no_testcase (bool): Has no effect; kept for programs of Chainer 7.
        external_link_converters (dict): Converters of whole links, by their classes. Such a link is
            one node of the graph; the converter gets a
            :class:`~onnx_chainer.link_calls.LinkCall` with the link, the names of its parameters,
            its inputs and its outputs.

    Returns:
        onnx.ModelProto: The model. With ``return_named_inout`` a tuple of the model, and of two
            ordered dicts of names and Variables: the inputs and the outputs.

    Raises:
        ImportError: If the package onnx is not installed.
        MissingConverterError: If functions have no converter; a ``ValueError`` that lists all.
        RuntimeError: If a converter has no form for the operator set, or the model returns
            something else than Variables.
        ValueError: If an argument does not fit, or a function is used in a way that ONNX cannot
            express.
        onnx.checker.ValidationError: If a converter made an invalid graph.

    Example:
        >>> import onnx_chainer
        >>> model = chainer.Sequential(L.Linear(4, 3), F.softmax)
        >>> proto = onnx_chainer.export(model, np.zeros((2, 4), np.float32))
        >>> [node.op_type for node in proto.graph.node]
        ['Gemm', 'Softmax']
    """
    require("onnx")
    if isinstance(model, type):
        raise ValueError(f"model must be a Link, got the class {model.__name__}: make an object")
    if not isinstance(model, Link):
        raise ValueError(f"model must be a Link, got {type(model)}")
    for function, external in (external_converters or {}).items():
        if not callable(external):
            raise TypeError(f"external_converters[{function!r}] must be callable, got {external!r}")
    if return_named_inout:
        warn_experimental("return_named_inout")
    if external_converters:
        warn_experimental("external_converters")
    if external_opset_imports:
        warn_experimental("external_opset_imports")
    arguments = Arguments(args)
    names = arguments.names(input_names)
    # In a graph of ONNX inputs and weights share one space of names.
    if export_params and set(names.values()) & set(_parameter_names(model).values()):
        raise ValueError(f"input_names must differ from names of parameters, got {names}")
    link_converters = LinkConverters(external_link_converters)
    exporter = _Exporter(
        model, arguments, names, arguments.shapes(input_shapes), _opset(opset_version)
    )
    # The links have other classes only while the model is called.
    with link_converters.applied_to(model):
        exporter.trace(train)
    exporter.convert(output_names, ConverterLookup(external_converters))
    proto = exporter.make_model(graph_name, export_params, dict(external_opset_imports or {}))
    has_external = bool(external_converters) or bool(link_converters)
    check_model(proto, has_external, bool(external_opset_imports))
    if filename is not None:
        write_model(proto, filename, save_text)
    if return_named_inout:
        return proto, exporter.named_inputs(), exporter.named_outputs()
    return proto


def _opset(version: int | None) -> int:
    newest = require("onnx").defs.onnx_opset_version()
    if version is None:
        return min(DEFAULT_OPSET_VERSION, MAXIMUM_OPSET_VERSION, newest)
    if isinstance(version, bool) or not isinstance(version, (int, numpy.integer)):
        raise ValueError(f"opset_version must be an int, got {version!r}")
    if not MINIMUM_OPSET_VERSION <= version <= MAXIMUM_OPSET_VERSION:
        warnings.warn(
            f"opset_version {version} is not tested: supported are {MINIMUM_OPSET_VERSION} to "
            f"{MAXIMUM_OPSET_VERSION}",
            UserWarning,
            stacklevel=3,
        )
    return int(version)


def _parameter_names(model: Link) -> dict[str, str]:
    """Returns the name in ONNX of each parameter, by its path in the model."""
    return {path: onnx_helper.cleanse_param_name(path) for path, _ in model.namedparams()}


@contextlib.contextmanager
def _unchanged_persistents(model: Link) -> Iterator[None]:
    """Keeps what a call in training mode changes: running statistics and counts."""
    saved: list[tuple[Link, str, Any, Any]] = []
    for link in model.links():
        for name in link._persistent:
            value = getattr(link, name)
            copy = value.copy() if hasattr(value, "shape") else value
            saved.append((link, name, value, copy))
    try:
        yield
    finally:
        for link, name, value, copy in saved:
            # Others may refer to the array, so that it is restored in place.
            if hasattr(value, "shape") and value.shape != ():
                value[...] = copy
                setattr(link, name, value)
            else:
                setattr(link, name, copy)


class _Exporter:
    """The steps of one export."""

    def __init__(
        self,
        model: Link,
        arguments: Arguments,
        names: dict[Any, str],
        shapes: dict[Any, Any],
        opset_version: int,
    ) -> None:
        self.model = model
        self.arguments = arguments
        self.names = names
        self.shapes = {
            key: tuple([as_name(d, n) for d, n in zip(shape, actual, strict=True)])
            for (key, shape), actual in zip(
                shapes.items(), [x.shape for x in arguments.variables.values()], strict=True
            )
        }
        self.opset_version = opset_version
        self.outputs: dict[str, Variable] = {}
        self.parameters: dict[str, Parameter] = {}

    def trace(self, train: bool) -> None:
        """Runs the model, twice if axes have names."""
        # Functions may change their inputs in place, and constants must have the values of the
        # sample.
        arrays = {key: x.array for key, x in self.arguments.variables.items()}
        self.probe = None if train else self._trace_probe(arrays)
        with chainer.using_config("train", train), _unchanged_persistents(self.model):
            self.main = Trace(
                lambda: self.arguments.call(self.model), self.arguments.variables.values()
            )
            self.results = flatten_outputs(self.main.outputs)
            self.main.select(self.results.values())
        if self.probe is not None and not self.main.pair_with(self.probe, "probe"):
            warnings.warn(
                "the model applies other functions to other values of its inputs; the exported "
                "model does what the sample did",
                UserWarning,
                stacklevel=4,
            )
        self.twin: Trace | None = None
        self.twin_results: dict[Any, Variable] = {}
        factors = factors_of(self.shapes)
        if factors:
            longer = {key: enlarge(arrays[key], self.shapes[key], factors) for key in arrays}
            self._trace_twin(self.arguments.replaced(longer), train)

    def _trace_probe(self, arrays: Mapping[Any, Any]) -> Trace | None:
        """Runs a copy of the model with other values of the inputs.

        It comes before the run with the sample, whose state a stateful model keeps.

        Returns:
            The run. None if the model is not initialized, or cannot be called with these values.
        """
        if any([parameter.array is None for parameter in self.model.params()]):
            return None
        arguments = self.arguments.replaced({k: other_values(x) for k, x in arrays.items()})
        # A copy, because attributes such as the state of an LSTM would change.
        model = self.model.copy("share")
        # Nor do reports of the copy reach the caller.
        reporter = chainer.Reporter()
        reporter.add_observer("main", model)
        reporter.add_observers("main", model.namedlinks(skipself=True))
        try:
            with (
                warnings.catch_warnings(),
                numpy.errstate(all="ignore"),
                chainer.using_config("train", False),
                chainer.using_config("debug", False),
                reporter,
                _unchanged_persistents(model),
            ):
                warnings.simplefilter("ignore")
                trace = Trace(lambda: arguments.call(model), arguments.variables.values())
                trace.select(flatten_outputs(trace.outputs).values())
        except Exception:
            # Other values may be invalid for the model: only what could be found is not found.
            return None
        # Its inputs belong to the applications.
        self._probe_arguments = arguments
        return trace

    def _trace_twin(self, arguments: Arguments, train: bool) -> None:
        self.twin_arguments = arguments
        try:
            with chainer.using_config("train", train), _unchanged_persistents(self.model):
                twin = Trace(lambda: arguments.call(self.model), arguments.variables.values())
                results = flatten_outputs(twin.outputs)
                twin.select(results.values())
        except Exception as error:
            warnings.warn(
                "the model cannot be called with longer inputs along the axes that have names "
                f"({type(error).__name__}: {error}); constant shapes of the exported model are "
                "those of the sample",
                UserWarning,
                stacklevel=5,
            )
            return
        if self.main.pair_with(twin):
            # Kept, as long as the applications are converted.
            self.twin = twin
            self.twin_results = results
        else:
            warnings.warn(
                "the model applies other functions to longer inputs; the exported model does what "
                "the sample did",
                UserWarning,
                stacklevel=5,
            )

    def convert(self, output_names: Any, lookup: ConverterLookup) -> None:
        """Converts the functions."""
        context = self.context = Context(self.model)
        for key, x in self.arguments.variables.items():
            context.set_name(x, self.names[key], pinned=True)
        self._add_dynamic_axes()
        for path, parameter in self.model.namedparams():
            if parameter.array is None:
                warnings.warn(
                    f"parameter {path} is not initialized, and is left out of the exported model",
                    UserWarning,
                    stacklevel=4,
                )
            elif context.find_name(parameter.node) is None:
                name = onnx_helper.cleanse_param_name(path)
                context.set_name(parameter, name, pinned=True)
                self.parameters[name] = parameter
        self.conversion = GraphConversion(context, self.opset_version, lookup)
        wanted = None
        if output_names is not None:
            wanted = fit_names(output_names, list(self.results), "output_names")
            self._pin_outputs(wanted)
        self.conversion.convert(self.main.applications)
        self._collect_outputs(wanted)

    def _add_dynamic_axes(self) -> None:
        if self.twin is None:
            return
        for key, shape in self.shapes.items():
            for axis, length in enumerate(shape):
                if isinstance(length, str):
                    sizes = (
                        self.arguments.variables[key].shape[axis],
                        self.twin_arguments.variables[key].shape[axis],
                    )
                    axes = self.context.dynamic_axes.axes
                    axes.append(Axis(self.names[key], axis, sizes))

    def _pin_outputs(self, wanted: dict[Any, str]) -> None:
        taken = {*self.names.values(), *self.parameters}
        for key, y in self.results.items():
            if wanted[key] in taken:
                raise ValueError(f"output_names has {wanted[key]!r}, the name of an input")
            if not self.context.is_pinned(y) and y.node.creator_node is not None:
                self.context.set_name(y, wanted[key], pinned=True)

    def _collect_outputs(self, wanted: dict[Any, str] | None) -> None:
        """Names the outputs; those that no function computes get an operator."""
        context = self.context
        for i, (key, y) in enumerate(self.results.items()):
            if context.find_name(y) is None:
                # Neither inputs nor parameters led to it: a constant.
                name = f"Constant_{i}"
                context.implicit_inputs[name] = tensor_of(y.array, name)
                context.set_name(y, name)
            name = context.get_name(y)
            target = name if wanted is None else wanted[key]
            computed = name not in self.names.values() and name not in self.parameters
            computed = computed and name not in context.implicit_inputs
            if name != target or not computed or target in self.outputs:
                if wanted is None:
                    target = f"Identity_output_{i}"
                add_identity(self.conversion, name, target)
            self.outputs[target] = y

    def make_model(
        self, graph_name: str, export_params: bool, external_opset_imports: dict[str, int]
    ) -> Any:
        """Returns the model, with the smallest version of the format that holds it."""
        onnx = require("onnx")
        context = self.context
        used = {name for node in self.conversion.nodes for name in node.input}
        inputs = [
            value_info(
                name,
                self.arguments.variables[key].dtype,
                [as_length(d) for d in self.shapes[key]],
            )
            for key, name in self.names.items()
        ]
        tensors: list[Any] = []
        for name, parameter in self.parameters.items():
            if export_params:
                tensors.append(tensor_of(parameter.array, name))
            else:
                inputs.append(value_info(name, parameter.dtype, parameter.shape))
        tensors += [t for t in context.implicit_inputs.values() if t.name in used]
        tensors += [
            t
            for t in context.parameters.values()
            if t.name not in {tensor.name for tensor in tensors}
        ]
        has_names = any([isinstance(d, str) for shape in self.shapes.values() for d in shape])
        outputs = [
            value_info(name, y.dtype, self._output_shape(key, y) if has_names else tuple(y.shape))
            for (name, y), key in zip(self.outputs.items(), self.results, strict=True)
        ]
        graph = onnx.helper.make_graph(
            self.conversion.nodes, graph_name, inputs, outputs, initializer=tensors
        )
        imports = [onnx.helper.make_opsetid("", self.opset_version)]
        domains = {**self.conversion.opset_imports, **external_opset_imports}
        imports += [onnx.helper.make_opsetid(name, version) for name, version in domains.items()]
        proto = onnx.helper.make_model(
            graph,
            producer_name="Chainer",
            producer_version=chainer.__version__,
            opset_imports=imports,
            ir_version=file_version(self.opset_version),
        )
        return with_inferred_outputs(proto, self.outputs) if has_names else proto

    def _output_shape(self, key: Any, y: Variable) -> list[Any] | None:
        """Returns the shape of an output, in which axes have the names of the inputs' axes.

        Args:
            key: Position or key of the output.
            y: The output.

        Returns:
            list: Lengths, names, and None where the length depends on an input in another way.
                None if nothing is known.
        """
        other = self.twin_results.get(key)
        if other is None or len(other.shape) != len(y.shape):
            return None
        names = {
            (self.names[k], i): d
            for k, shape in self.shapes.items()
            for i, d in enumerate(shape)
            if isinstance(d, str)
        }
        shape: list[Any] = []
        for first, second in zip(y.shape, other.shape, strict=True):
            source = self.context.dynamic_axes.source((first, second))
            if first == second:
                shape.append(first)
            elif source is not None and source[1] == 1:
                shape.append(as_length(names[source[0].input_name, source[0].axis]))
            else:
                shape.append(None)
        return shape

    def named_inputs(self) -> OrderedDict[str, Variable]:
        """Returns the inputs by their names."""
        return OrderedDict([(self.names[key], x) for key, x in self.arguments.variables.items()])

    def named_outputs(self) -> OrderedDict[str, Variable]:
        """Returns the outputs by their names."""
        return OrderedDict(self.outputs)

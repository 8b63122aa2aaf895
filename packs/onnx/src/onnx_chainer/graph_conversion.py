"""Converts the functions that a model applied to nodes of ONNX."""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from chainer import Variable
from chainer.plugins import EntryLoadError
from chainer.variable import VariableNode
from onnx_chainer import onnx_helper, own_forward
from onnx_chainer.context import Context
from onnx_chainer.converter_call import ConverterCall
from onnx_chainer.converter_registry import Converter, ConverterLookup, registry, version_of
from onnx_chainer.frozen_values import differ, warn_frozen
from onnx_chainer.tensors import as_numpy, tensor_of
from onnx_chainer.tracing import Application, Trace

if TYPE_CHECKING:
    from chainer.typing import Array


class MissingConverterError(ValueError):
    """Functions of the model have no converter to ONNX.

    Attributes:
        names: Names of the functions.
    """

    def __init__(self, message: str, names: list[str]) -> None:
        super().__init__(message)
        self.names = names


class GraphConversion:
    """The nodes of a graph, and the conversion of functions to them.

    Args:
        context: Names of the values.
        opset_version: Version of the operator set.
        lookup: Where converters are looked up.

    Attributes:
        nodes: The nodes, in topological order.
        opset_imports: Versions of the other domains that converters use.
    """

    def __init__(self, context: Context, opset_version: int, lookup: ConverterLookup) -> None:
        self.context = context
        self.opset_version = opset_version
        self.lookup = lookup
        self.nodes: list[Any] = []
        self.opset_imports: dict[str, int] = {}
        self._counts: Counter[str] = Counter()

    def convert(self, applications: Sequence[Application]) -> None:
        """Converts applications of functions, in forward order.

        Args:
            applications: The applications.

        Raises:
            MissingConverterError: If functions have no converter.
            RuntimeError: If a converter has no form for the operator set.
            ValueError: If a function is used in a way that ONNX cannot express.
        """
        converters = self._find_all(applications)
        for application, converter in zip(applications, converters, strict=True):
            name = f"{application.name}_{self._counts[application.name]}"
            self._counts[application.name] += 1
            onnx_helper.set_func_name(name)
            self._name_inputs(application, name)
            self._name_outputs(application, name)
            self.nodes += self.convert_one(application, converter)

    def _find_all(self, applications: Sequence[Application]) -> list[Converter]:
        """Finds the converter of each application; all that lack one are in one error."""
        found: list[Converter] = []
        missing: list[tuple[Application, str]] = []
        for application in applications:
            try:
                converter = self.lookup.find(application)
            except EntryLoadError as error:
                missing.append((application, f"its converter could not be loaded: {error}"))
                continue
            if converter is None:
                reason = own_forward.why_not(application)
                if reason is not None:
                    missing.append((application, reason))
                    continue
                converter = own_forward.run_on_variables
            found.append(converter)
        if missing:
            raise _missing_error(missing)
        return found

    def convert_one(self, application: Application, converter: Converter) -> list[Any]:
        """Converts one application whose values have names.

        Args:
            application: The application.
            converter: Its converter.

        Returns:
            list of onnx.NodeProto: Constants, and the nodes of the function.
        """
        params = ConverterCall(
            application,
            [self.context.get_name(x) for x in application.node.input_nodes],
            _output_names(application, self.context),
            self,
        )
        opsets = getattr(converter, "opsets", ())
        # Of converters without the decorator; the decorator checks for itself.
        if opsets and not hasattr(converter, "rule"):
            version_of(converter, opsets, params)
        domain = getattr(converter, "domain", "")
        if domain:
            self.opset_imports[domain] = getattr(converter, "domain_version", 1)
        try:
            made = converter(params)
        except Exception as error:
            shapes = ", ".join([f"{x.dtype}{list(x.shape)}" for x in application.inputs])
            error.add_note(f"This happened in the converter of {application.name}({shapes}).")
            raise
        if made is None:
            raise TypeError(f"the converter of {application.name} must return nodes, got None")
        return [*self.context.take_constants(), *made]

    def _name_inputs(self, application: Application, name: str) -> None:
        """Gives names to inputs that no function of the graph computes: constants."""
        context = self.context
        names = getattr(self.lookup.find(application), "constant_names", ())
        for i, (node, array) in enumerate(
            zip(application.node.input_nodes, application.inputs, strict=True)
        ):
            if array is None:
                continue
            found = context.find_name(node)
            if found is not None:
                context.note_array(array, found)
                continue
            known = context.find_name(array)
            if known is not None:
                # An array that was taken out of a Variable, or a persistent array of a link.
                if known in context.persistents:
                    context.implicit_inputs[known] = tensor_of(array, known)
                context.set_name(node, known)
                continue
            probe = application.probe
            if probe is not None and differ(array, probe.inputs[i]):
                warn_frozen(application.name, f"input {i}", stacklevel=6)
            has_name = i < len(names) and names[i]
            constant = f"{name}_param_{names[i]}" if has_name else f"{name}_input_{i}"
            twin = application.twin
            other = None if twin is None else twin.inputs[i]
            if other is not None and tuple(other.shape) != tuple(array.shape):
                self._add_dynamic_constant(application, i, constant, other)
            else:
                if other is not None and differ(array, other):
                    warnings.warn(
                        f"{application.name}: input {i} depends on axes that have names, but was "
                        "not computed by functions of Chainer. The exported model has that of the "
                        "sample.",
                        UserWarning,
                        stacklevel=5,
                    )
                context.implicit_inputs[constant] = tensor_of(array, constant)
            context.set_name(node, constant)

    def _add_dynamic_constant(
        self, application: Application, index: int, name: str, other: Array
    ) -> None:
        """Adds an array that the model makes as long as its inputs, such as a state of zeros."""
        from onnx_chainer.nodes import Nodes

        # The names of inputs are not known yet, and a constant does not depend on them.
        nodes = Nodes(ConverterCall(application, [], [name], self))
        made = nodes.finish(nodes.dynamic_constant(application.inputs[index], other))
        # The last node has the name of the function, which its own node will have.
        made[-1].name = name
        self.nodes += [*self.context.take_constants(), *made]

    def _name_outputs(self, application: Application, name: str) -> None:
        outputs = application.output_nodes()
        for i, node in enumerate(outputs):
            if node is not None:
                self.context.set_name(node, name if len(outputs) == 1 else f"{name}_{i}")

    def expand(
        self,
        params: ConverterCall,
        compose: Any,
        twin_compose: Any = None,
        probe_compose: Any = None,
    ) -> list[Any]:
        """Converts a function that is a composition of others by running the composition.

        Args:
            params: The application.
            compose: The composition, a function of Variables that returns a tuple of Variables.
            twin_compose: The composition of the second run.
            probe_compose: The composition of the run with other values.

        Returns:
            list of onnx.NodeProto: The nodes.
        """
        application = params.application
        inputs = [Variable(x, requires_grad=False) for x in application.inputs]
        trace = Trace(lambda: compose(*inputs), inputs)
        outputs: tuple[Variable, ...] = trace.outputs
        wanted = application.output_nodes()
        used = [y for y, node in zip(outputs, wanted, strict=True) if node is not None]
        trace.select(used)
        # Kept until the end: the inputs of the applications inside belong to them.
        others: list[Trace] = []
        runs: list[tuple[Literal["twin", "probe"], Any]] = [
            ("twin", twin_compose),
            ("probe", probe_compose),
        ]
        for run, function in runs:
            partner: Application | None = getattr(application, run)
            if partner is not None and function is not None:
                other = _run_again(function, partner, wanted)
                trace.pair_with(other, run)
                others.append(other)
        for x, name in zip(inputs, params.input_names, strict=True):
            self.context.set_name(x, name)
        return self._convert_inner(params, trace, outputs)

    def _convert_inner(
        self, params: ConverterCall, trace: Trace, outputs: Sequence[Variable]
    ) -> list[Any]:
        """Converts the applications inside of a function."""
        before, self.nodes = self.nodes, []
        try:
            base = onnx_helper.get_func_name()
            converters = self._find_all(trace.applications)
            for application, converter in zip(trace.applications, converters, strict=True):
                name = onnx_helper.make_unique_name()
                count = onnx_helper.get_count()
                # Names of the inner function begin with the name of the outer one.
                onnx_helper.set_func_name(name)
                self._name_inputs(application, name)
                self._name_outputs(application, name)
                self.nodes += self.convert_one(application, converter)
                onnx_helper.set_func_name(base, count)
            names = [self.context.find_name(y) for y in outputs]
            for y, name, wanted in zip(outputs, names, params.output_names, strict=True):
                if name is None:
                    # The composition returned a constant.
                    name = self.context.add_const(as_numpy(y.array), wanted)
                    self.nodes += self.context.take_constants()
                self.nodes.append(onnx_helper.make_node("Identity", [name], [wanted], name=wanted))
            return self.nodes
        finally:
            self.nodes = before


def _run_again(compose: Any, application: Application, wanted: Sequence[Any]) -> Trace:
    """Runs a composition with the inputs of another run."""
    inputs = [Variable(x, requires_grad=False) for x in application.inputs]
    trace = Trace(lambda: compose(*inputs), inputs)
    trace.select([y for y, node in zip(trace.outputs, wanted) if node is not None])
    return trace


def _output_names(application: Application, context: Context) -> list[str]:
    names: list[str] = []
    for i, node in enumerate(application.output_nodes()):
        if node is None:
            # Nothing uses it, but an operator may have to compute it.
            names.append(f"{onnx_helper.get_func_name()}_{i}")
        else:
            names.append(context.get_name(node))
    return names


def _missing_error(
    missing: Iterable[tuple[Application, str]],
) -> MissingConverterError:
    """Returns the error that lists all functions without a converter."""
    missing = list(missing)
    lines: list[str] = []
    names: list[str] = []
    for application, reason in missing:
        cls = type(application.function)
        names.append(application.name)
        lines.append(f"{application.name} is not supported ({cls.__module__}.{cls.__qualname__})")
        shapes = ", ".join(
            [f"{node.dtype}{list(node.shape or ())}" for node in application.node.input_nodes]
        )
        lines.append(f"  inputs: {shapes}")
        lines.append(f"  {reason}")
        if application.node.stack is not None:
            lines.append("  applied at (most recent call last):")
            for entry in traceback.format_list(application.node.stack):
                lines += [f"    {line}" for line in entry.rstrip().splitlines()]
    if all([application.node.stack is None for application, _ in missing]):
        lines.append("To see where they are applied, export with chainer.config.debug = True.")
    lines += _unavailable_plugins()
    first = missing[0][0].name
    lines.append(
        inspect.cleandoc(
            f"""
            A converter is a function that adds nodes of ONNX, for example:

                @onnx_chainer.converter("{first}")
                def convert_{first.lower()}(nodes, *inputs):
                    return nodes("Identity", inputs[0])

            Or pass external_converters={{"{first}": converter}} to export().
            """
        )
    )
    return MissingConverterError("\n".join(lines), names)


def _unavailable_plugins() -> list[str]:
    """Returns lines about plugins that could have supplied a converter but did not load."""
    provider = getattr(registry, "_provider", None)
    if provider is None:
        return []
    return [
        f"A plugin that was not loaded may have its converter: {plugin.description}"
        for plugin in provider.unavailable(registry)
    ]


def add_identity(conversion: GraphConversion, source: str, name: str) -> None:
    """Gives a value another name."""
    conversion.nodes.append(onnx_helper.make_node("Identity", [source], [name], name=name))


def warn_experimental(what: str) -> None:
    """Warns about a feature whose interface may change."""
    warnings.warn(f"{what} is experimental. The interface can change in the future.", FutureWarning)


__all__ = ["GraphConversion", "MissingConverterError", "VariableNode", "add_identity"]

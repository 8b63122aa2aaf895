"""Converters: functions that express an application of a Chainer function by nodes of ONNX."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chainer.plugins import EntryLoadError, registries
from onnx_chainer.converter_call import ConverterCall
from onnx_chainer.nodes import Nodes
from onnx_chainer.registrations import Registration
from onnx_chainer.tracing import Application

Converter = Callable[[ConverterCall], Iterable[Any]]
"""Function of the application to convert that returns its nodes, in topological order."""

Rule = Callable[..., Any]
"""Function of :class:`~onnx_chainer.nodes.Nodes` and the names of the inputs that adds nodes and
returns the name of the output, or the names of several."""

registry = registries.onnx_converters
"""All converters by the names of the classes of function nodes."""


def register_converter(name: str, function: Converter, *, override: bool = False) -> Registration:
    """Registers a converter.

    Args:
        name (str): Name of the class of the function node, such as ``'Swish2'``. With the module in
            front, ``'chainer_swish.functions.Swish2'``, it is preferred to the short name.
        function (callable): Gets the application (:class:`~onnx_chainer.converter_call
            .ConverterCall`), returns nodes of ONNX.
        override (bool): Whether to replace a converter that has the name.

    Returns:
        Registration: Its ``undo()`` removes the converter again.

    Raises:
        chainer.plugins.NameConflictError: If the name has a converter already and
            ``override`` is False.
        TypeError: If ``function`` cannot be called.

    Example:
        >>> import onnx_chainer
        >>> from onnx import helper
        >>> def convert(call):
        ...     return [helper.make_node("Relu", call.input_names, call.output_names)]
        >>> registration = onnx_chainer.register_converter("MyReLU", convert)
        >>> registration.undo()
    """
    if not callable(function):
        raise TypeError(f"function must be callable, got {type(function)}")
    registry.register(name, function, override=override)
    return Registration(registry, [name])


def converter(
    *names: str, opsets: Sequence[int] = (), register: bool = True, override: bool = False
) -> Callable[[Rule], Converter]:
    """Decorator that makes a converter of a rule and registers it.

    The rule gets a :class:`~onnx_chainer.nodes.Nodes` and the names of the inputs. It adds nodes,
    and returns the name of the output, or a sequence of names if the function has several outputs.

    Args:
        names (str): Names of the classes of function nodes.
        opsets (sequence of int): Versions of the operator set at which the rule changes. The least
            is the oldest that it supports; ``nodes.version`` is the greatest that is not newer than
            the one in use.
        register (bool): Whether to register it now. A pack registers a lazy reference in its hook
            ``chainer_onnx_converters`` instead.
        override (bool): Whether to replace converters that have the names.

    Returns:
        callable: The decorator. It returns the converter, which has the form that
            :func:`register_converter` and ``external_converters`` take.

    Example:
        >>> import onnx_chainer
        >>> @onnx_chainer.converter('Swish2')
        ... def convert_swish2(nodes, x):
        ...     return nodes('Mul', x, nodes('Sigmoid', x))
        >>> onnx_chainer.converter_registry.registry.unregister('Swish2').name
        'Swish2'
    """

    def decorate(rule: Rule) -> Converter:
        @functools.wraps(rule)
        def convert(params: ConverterCall) -> Iterable[Any]:
            nodes = Nodes(params, version=version_of(rule, opsets, params))
            return nodes.finish(rule(nodes, *params.input_names))

        convert.__dict__["rule"] = rule
        convert.__dict__["opsets"] = tuple(opsets)
        if register:
            for name in names:
                registry.register(name, convert, override=override)
        return convert

    return decorate


def version_of(function: Any, opsets: Sequence[int], params: ConverterCall) -> int:
    """Returns the version of a converter to use.

    Args:
        function: The converter, for the message.
        opsets: The versions it has; empty if it has one for all.
        params: The application to convert.

    Raises:
        RuntimeError: If all versions are newer than the operator set in use.
    """
    usable = [n for n in opsets if n <= params.opset_version]
    if opsets and not usable:
        raise RuntimeError(
            f"{params.name} cannot be exported to opset {params.opset_version}: its converter "
            f"{getattr(function, '__name__', function)} needs opset {min(opsets)} or later"
        )
    return max(usable, default=params.opset_version)


class ConverterLookup:
    """Finds converters for an export.

    Args:
        external: Converters of the call, by names of functions.
    """

    def __init__(self, external: Mapping[str, Converter] | None = None) -> None:
        self.external = dict(external or {})

    def find(self, application: Application) -> Converter | None:
        """Returns the converter of an application.

        Args:
            application: The application.

        Returns:
            callable: The converter. None if neither the call, a plugin, the class nor one of its
                base classes has one.

        Raises:
            EntryLoadError: If it is registered but cannot be imported.
        """
        function = application.function
        cls = type(function)
        of_link = getattr(function, "link_converter", None)
        if of_link is not None:
            # Not looked up by name: a function may have the name of the class of the link.
            return of_link
        if application.name in self.external:
            return self.external[application.name]
        names = [f"{cls.__module__}.{cls.__qualname__}", application.name]
        for name in names:
            found = _registered(name)
            if found is not None:
                return found
        own = getattr(function, "onnx_converter", None)
        if own is not None:
            return own
        # A subclass computes what its base class does, unless it says otherwise.
        for base in cls.__mro__[1:-1]:
            if base.__name__ in self.external:
                return self.external[base.__name__]
            found = _registered(base.__name__)
            if found is not None:
                return found
        return None


def _registered(name: str) -> Converter | None:
    return registry.get(name) if name in registry else None


__all__ = [
    "Converter",
    "ConverterLookup",
    "EntryLoadError",
    "Registration",
    "converter",
    "register_converter",
    "registry",
]

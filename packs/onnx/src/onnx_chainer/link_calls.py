"""Makes calls of chosen links single nodes of the graph, for converters of whole links."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from chainer import Link
from onnx_chainer.converter_call import ConverterCall
from onnx_chainer.replace_func import WrappedFunction, as_node
from onnx_chainer.tensors import tensor_of

if TYPE_CHECKING:
    from chainer.typing import Array

LinkConverter = Callable[["LinkCall"], Any]
"""Function of the call of a link that returns its nodes, in topological order."""


class LinkCall(ConverterCall):
    """One call of a link that is to be converted as a whole.

    It has what :class:`~onnx_chainer.converter_call.ConverterCall` has, and:

    Attributes:
        link: The :class:`~chainer.Link` that was called.
        param_names: Name of each parameter and persistent array in the graph, by its path in the
            link, such as ``'conv/W'``. A custom operator that needs them has them as inputs.
    """

    def __init__(self, call: ConverterCall, link: Link) -> None:
        super().__init__(call.application, call.input_names, call.output_names, call.conversion)
        self.link = link
        self.param_names = {
            path.removeprefix("/"): self.context.get_name(parameter)
            for path, parameter in link.namedparams()
        }
        for prefix, child in link.namedlinks():
            for name in sorted(child._persistent):
                array = getattr(child, name)
                known = self.context.find_name(array)
                if known is not None:
                    self.context.implicit_inputs[known] = tensor_of(array, known)
                    self.param_names[f"{prefix.rstrip('/')}/{name}".lstrip("/")] = known


class LinkConverters:
    """Converters of links, by their classes.

    Args:
        converters: Class of links -> converter. A converter serves subclasses, too.

    Raises:
        TypeError: If a key is not a class of links, or a value cannot be called.
    """

    def __init__(self, converters: Mapping[type[Link], LinkConverter] | None) -> None:
        self._converters = dict(converters or {})
        for cls, converter in self._converters.items():
            if not isinstance(cls, type) or not issubclass(cls, Link):
                raise TypeError(
                    f"external_link_converters has the key {cls!r}, not a class of links"
                )
            if not callable(converter):
                raise TypeError(
                    f"external_link_converters has {converter!r} for {cls.__name__}, "
                    "which cannot be called"
                )

    def __bool__(self) -> bool:
        return bool(self._converters)

    def _find(self, cls: type[Link]) -> LinkConverter | None:
        """Returns the converter of the nearest base class that has one."""
        for base in cls.__mro__:
            if base in self._converters:
                return self._converters[base]
        return None

    @contextlib.contextmanager
    def applied_to(self, model: Link) -> Iterator[None]:
        """Makes each call of a link that has a converter a single node of the graph.

        Args:
            model: The model. Its links are as before afterwards.
        """
        # The class of the link is replaced by a subclass: a call is looked up there, whether the
        # author of the link wrote ``forward`` or ``__call__``, and nothing global changes.
        changed: list[tuple[Link, type[Link]]] = []
        try:
            for link in model.links():
                cls = type(link)
                converter = self._find(cls)
                if converter is not None:
                    link.__class__ = _single_node_class(cls, converter)
                    changed.append((link, cls))
            yield
        finally:
            for link, cls in changed:
                link.__class__ = cls


def _single_node_class(cls: type[Link], converter: LinkConverter) -> type[Link]:
    """Returns a subclass of which each call is a single node of the graph."""

    class LinkFunction(WrappedFunction):
        @staticmethod
        def link_converter(call: ConverterCall) -> Any:
            return converter(LinkCall(call, call.func.func.args[0]))

    def __call__(self: Link, *args: Array, **kwargs: Any) -> Any:
        call = functools.partial(cls.__call__, self)
        return as_node(call, cls.__name__, {}, LinkFunction)(*args, **kwargs)

    return type(cls.__name__, (cls,), {"__call__": __call__, "__module__": cls.__module__})

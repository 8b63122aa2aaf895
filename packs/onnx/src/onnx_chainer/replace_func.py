"""Makes any function one node of the graph, so that a converter can export it as a whole."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import chainer
from chainer import FunctionNode, Variable
from chainer.backend import find_backend
from chainer.typing import Arrays, Grads, Indexes
from onnx_chainer.graph_conversion import warn_experimental

if TYPE_CHECKING:
    from chainer.typing import Array


class WrappedFunction(FunctionNode):
    """One call of a function as a node of the graph.

    Attributes:
        custom_function_node_name: Name by which converters find it.
        func: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        arg_vars: The Variables among them, in order.
    """

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        attributes: dict[str, Any],
    ) -> None:
        self.custom_function_node_name = name
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.arg_vars = list(_variables([*args, *kwargs.values()]))
        for attribute, value in attributes.items():
            setattr(self, attribute, value)
        self._results: list[Any] = []
        self._structure: Any = None

    def forward(self, inputs: Arrays) -> Arrays:
        """Calls the function."""
        # Its own graph is kept for backward; the outer graph has this node only.
        self._inner = [Variable(x) for x in inputs]
        inner = iter(self._inner)
        args = [_replaced(value, inner) for value in self.args]
        kwargs = {key: _replaced(value, inner) for key, value in self.kwargs.items()}
        # backward() needs the graph inside, also where a node is called within no_backprop_mode.
        with chainer.using_config("enable_backprop", True):
            self._structure = self.func(*args, **kwargs)
        self._results = list(_leaves(self._structure))
        return tuple([y.array if isinstance(y, Variable) else y for y in self._results])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        """Differentiates what happened inside of the function."""
        if not all([isinstance(y, Variable) for y in self._results]):
            raise ValueError(
                f"{self.custom_function_node_name} cannot be differentiated: it returned arrays "
                "that are not Variables"
            )
        pairs = [
            (y, gy) for y, gy in zip(self._results, grad_outputs, strict=True) if gy is not None
        ]
        return tuple(
            chainer.grad(
                [y for y, _ in pairs],
                [self._inner[i] for i in target_input_indexes],
                [gy for _, gy in pairs],
            )
        )

    def reconstruct(self, values: Sequence[Any]) -> Any:
        """Returns the structure that the function returned, with other leaves."""
        return _filled(self._structure, iter(values))


def fake_as_funcnode(
    alt_func: Callable[..., Any],
    name: str,
    rename_attributes: Sequence[tuple[int | str, str]] | None = None,
    experimental_warning: bool = True,
) -> Callable[..., Any]:
    """Returns a function that is one node of the graph.

    Variables among the arguments, also in lists and tuples, are the inputs of the node. Other
    arguments become its attributes: positional ones ``arg<index>``, those with keywords and
    defaults under their names.

    Args:
        alt_func (callable): The function. It returns arrays or Variables, or a list, tuple or dict
            of them.
        name (str): Name by which the converter is found.
        rename_attributes (list of tuple): Pairs of the index or keyword of an argument, and the
            name of its attribute.
        experimental_warning (bool): Whether to warn that the interface can change.

    Returns:
        callable: The function. Its ``reconstruct_return_value(values)`` returns the structure of
            the last result with other leaves.

    Raises:
        ValueError: When it is called without Variables, with lists that mix Variables and other
            values, or returns something else than arrays and Variables.
    """
    if experimental_warning:
        warn_experimental("fake_as_funcnode")
    return as_node(alt_func, name, dict(rename_attributes or ()))


def as_node(
    alt_func: Callable[..., Any],
    name: str,
    names: dict[int | str, str],
    node_class: type[WrappedFunction] = WrappedFunction,
) -> Callable[..., Any]:
    """Is :func:`fake_as_funcnode` with the class of the node.

    Args:
        alt_func: The function.
        name: Name by which the converter is found.
        names: Index or keyword of an argument -> name of its attribute.
        node_class: Class of the node.
    """
    signature = inspect.signature(alt_func)
    last: list[WrappedFunction] = []

    @functools.wraps(alt_func)
    def wrapped(*args: Array, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        passed = len(args)
        attributes: dict[str, Any] = {}
        inputs: list[Variable] = []
        for index, (key, value) in enumerate(_arguments(signature, given)):
            found = _checked_variables(value)
            if found:
                inputs += found
                continue
            # A default counts as a keyword, whether or not its parameter could be positional.
            positional = index < passed
            default = f"arg{index}" if positional else key
            attributes[names.get(index, names.get(key, default))] = value
        if not inputs:
            raise ValueError(f"{name} must have at least one Variable among its arguments")
        node = node_class(name, alt_func, given.args, given.kwargs, attributes)
        outputs = node.apply(node.arg_vars)
        # For reconstruct_return_value, which has no access to the node.
        last[:] = [node]
        return node.reconstruct(outputs)

    def reconstruct_return_value(values: Sequence[Any]) -> Any:
        if not last:
            raise RuntimeError(f"{name} has not been called yet")
        return last[0].reconstruct(values)

    # The type of a function has no such attribute: type checkers would refuse an assignment.
    wrapped.__dict__["reconstruct_return_value"] = reconstruct_return_value
    return wrapped


def as_funcnode(
    name: str, rename_attributes: Sequence[tuple[int | str, str]] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that makes a function, or a method, one node of the graph.

    Args:
        name (str): Name by which the converter is found.
        rename_attributes (list of tuple): As of :func:`fake_as_funcnode`. ``self`` of a method is
            an argument, too.

    Returns:
        callable: The decorator.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return fake_as_funcnode(function, name, rename_attributes, experimental_warning=False)

    return decorate


def _arguments(
    signature: inspect.Signature, given: inspect.BoundArguments
) -> Iterator[tuple[str, Any]]:
    """Yields names and values of arguments, including each of ``*args`` and ``**kwargs``."""
    for key, value in given.arguments.items():
        kind = signature.parameters[key].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            yield from [(key, element) for element in value]
        elif kind is inspect.Parameter.VAR_KEYWORD:
            yield from value.items()
        else:
            yield key, value


def _variables(value: Array) -> Iterator[Variable]:
    if isinstance(value, Variable):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _variables(element)


def _checked_variables(value: Array) -> list[Variable]:
    """Returns the Variables of an argument; a list must have nothing else."""
    found = list(_variables(value))
    if found and isinstance(value, (list, tuple)):
        for element in value:
            if not isinstance(element, Variable) and not _checked_variables(element):
                raise ValueError(
                    "a list or tuple must consist of Variables or have none, got one with "
                    f"{type(element)}"
                )
    return found


def _replaced(value: Array, variables: Iterator[Variable]) -> Any:
    """Returns an argument with other Variables."""
    if isinstance(value, Variable):
        return next(variables)
    if isinstance(value, (list, tuple)) and any([True for _ in _variables(value)]):
        return type(value)([_replaced(element, variables) for element in value])
    return value


def _leaves(value: Array) -> Iterator[Any]:
    if isinstance(value, Variable) or find_backend(type(value)) is not None:
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _leaves(element)
    elif isinstance(value, dict):
        for element in value.values():
            yield from _leaves(element)
    else:
        raise ValueError(f"the function must return arrays or Variables, got {type(value)}")


def _filled(structure: Any, values: Iterator[Any]) -> Any:
    if isinstance(structure, dict):
        return {key: _filled(value, values) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)):
        return type(structure)([_filled(value, values) for value in structure])
    return next(values)

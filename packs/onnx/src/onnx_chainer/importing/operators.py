"""The functions that compute operators of ONNX: the registry ``onnx_operators`` has them.

This package fills the registry in its pack, as a third party does in the hook
``chainer_onnx_operators``. The operators of this package are attributes of this module, whose
modules are imported when a model has their operators.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from chainer.plugins import registries
from onnx_chainer import pack
from onnx_chainer.importing.graph import Operator
from onnx_chainer.registrations import Registration

registry = registries.onnx_operators
"""All operators by name. Names of other domains than ONNX's own begin with the domain."""

_MODULE_OF = {name: module for module, names in pack.OPERATORS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"onnx_chainer.importing.{_MODULE_OF[name]}")
    return module.OPERATORS[name]


def register_operator(name: str, function: Operator, *, override: bool = False) -> Registration:
    """Registers a function that computes an operator of ONNX in all models that are loaded.

    A package registers its operators in the hook ``chainer_onnx_operators`` instead. For a single
    model there is the argument ``operators`` of :func:`onnx_chainer.load`.

    Args:
        name (str): Name of the operator. Names of other domains than ONNX's own begin with the
            domain and a dot: ``'com.example.Swish2'``.
        function (callable): Gets the attributes of the node (a dict with the further attributes
            ``operator``, ``opset`` and ``outputs``) and the inputs: Variables or arrays, None for
            an input that is left out. It returns the output, or a tuple of the outputs. If it
            consists of functions of Chainer, it has gradients.
        override (bool): Whether to replace a function that the operator has.

    Returns:
        Registration: Its ``undo()`` removes the function again.

    Raises:
        chainer.plugins.NameConflictError: If the operator has a function already and
            ``override`` is False.
        TypeError: If ``function`` cannot be called.

    Example:
        >>> import onnx_chainer
        >>> def swish2(attributes, x):
        ...     return x * F.sigmoid(attributes.get('beta', 1.0) * x)
        >>> registration = onnx_chainer.register_operator('com.example.Swish2', swish2)
        >>> registration.undo()
    """
    if not callable(function):
        raise TypeError(f"function must be callable, got {type(function)}")
    registry.register(name, function, override=override)
    return Registration(registry, [name])


class Lookup:
    """Finds the functions of operators for one model.

    Args:
        given: Functions of the call by names of operators; they are preferred.
    """

    def __init__(self, given: Mapping[str, Operator] | None = None) -> None:
        self._given = dict(given or {})

    def find(self, name: str) -> Operator | None:
        """Returns the function of an operator, or None if there is none.

        Args:
            name: The name with its domain, which ONNX's own operators do not have.

        Raises:
            EntryLoadError: If it is registered but cannot be imported.
        """
        if name in self._given:
            return self._given[name]
        return registry.get(name) if name in registry else None


def constant_inputs(function: Operator, count: int) -> list[int]:
    """Returns the positions of inputs that an operator reads as constants, not as weights.

    Args:
        function: The operator.
        count: Number of inputs of the node.
    """
    declared = getattr(function, "constant_inputs", ())
    return [i for i in range(count) if declared == "all" or i in declared]

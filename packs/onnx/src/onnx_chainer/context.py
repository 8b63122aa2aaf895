"""The model and the graph that is being made, as converters see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import Link, Variable
from chainer.backend import find_backend
from chainer.typing import Array
from chainer.variable import VariableNode
from onnx_chainer import onnx_helper
from onnx_chainer.dynamic_axes import DynamicAxes
from onnx_chainer.tensors import as_numpy, constant_tensor, tensor_of

if TYPE_CHECKING:
    from chainer import Parameter
    from onnx_chainer.converter_call import ConverterCall


class Context:
    """Names of all values of an export, and what the converters add to the graph.

    Args:
        model (chainer.Link): The model.

    Attributes:
        parameters: Initializers that converters added, name -> TensorProto.
        constants: Nodes of constants that are not yet placed before a function.
        implicit_inputs: Arrays that the model used although they are neither inputs nor parameters,
            name -> TensorProto.
        persistents: Arrays that are saved with links, by name.
        dynamic_axes: The axes of the inputs that have a name instead of a length.
        poolings: Max poolings that were converted, whose indexes other functions may have.
    """

    def __init__(self, model: Link) -> None:
        self.parameters: dict[str, Any] = {}
        self.constants: list[Any] = []
        self.implicit_inputs: dict[str, Any] = {}
        self.dynamic_axes = DynamicAxes()
        self.poolings: list[ConverterCall] = []
        self._names: dict[int, str] = {}
        self._array_names: dict[int, str] = {}
        self._pinned: set[int] = set()
        self._alive: list[Any] = []
        self._links: dict[int, tuple[str, Link]] = {}
        self._fresh = 0
        self.persistents: dict[str, Any] = {}
        for path, link in model.namedlinks():
            name = onnx_helper.cleanse_param_name("" if path == "/" else path)
            for parameter_path, parameter in link.namedparams():
                # A longer path belongs to a parameter of a child, which has its turn.
                if parameter_path.count("/") == 1:
                    self._links.setdefault(id(parameter.node), (name, link))
            # The arrays that are saved with a link, such as running statistics, have its name.
            for array_name in () if path == "/" else sorted(link._persistent):
                array = getattr(link, array_name)
                if find_backend(type(array)) is not None:
                    self.persistents[f"{name}_{array_name}"] = array
                    self.set_name(array, f"{name}_{array_name}")

    def get_name(self, variable: Any) -> str:
        """Returns the name of a value; a new one if it has none.

        Args:
            variable (Variable or array): The value. The array of a Variable that has a name is
                known too.
        """
        found = self.find_name(variable)
        if found is not None:
            return found
        name = f"v{self._fresh}"
        self._fresh += 1
        self.set_name(variable, name)
        return name

    def find_name(self, variable: Any) -> str | None:
        """Returns the name of a value; None if it has none.

        Args:
            variable (Variable, VariableNode or array): The value.
        """
        name = self._names.get(_key(variable))
        if name is None and isinstance(variable, Variable):
            variable = variable.array
        return self._array_names.get(id(variable)) if name is None else name

    def set_name(self, variable: Any, name: str, pinned: bool = False) -> None:
        """Sets the name of a value.

        Args:
            variable (Variable, VariableNode or array): The value.
            name (str): The name.
            pinned (bool): Whether the name stays when another one is set later.

        Raises:
            ValueError: If the name is to be pinned and another one is pinned already.
        """
        key = _key(variable)
        if key in self._pinned:
            if pinned and self._names[key] != name:
                raise ValueError(
                    f"the value has the pinned name {self._names[key]!r}, "
                    f"which cannot be changed to {name!r}"
                )
            return
        # Names are found by identity, so that the objects must not be replaced by others.
        self._alive.append(variable)
        self._names[key] = name
        array = variable.array if isinstance(variable, Variable) else variable
        if array is not None and not isinstance(array, VariableNode):
            # Two Variables may have one array: that has the name of the first.
            self._alive.append(array)
            self._array_names.setdefault(id(array), name)
        if pinned:
            self._pinned.add(key)

    def note_array(self, array: Array, name: str) -> None:
        """Remembers the array of a value, by which functions may hold it.

        Args:
            array (array): The array.
            name (str): Name of the value.
        """
        self._alive.append(array)
        self._array_names.setdefault(id(array), name)

    def is_pinned(self, variable: Any) -> bool:
        """Returns whether the name of a value is pinned.

        Args:
            variable (Variable, VariableNode or array): The value.
        """
        return _key(variable) in self._pinned

    def add_param(self, array: Array, name: str, use_original_name: bool = False) -> str:
        """Adds an initializer.

        Args:
            array (array): Its value.
            name (str): Its name within the function that is converted.
            use_original_name (bool): If True, ``name`` is used as it is.

        Returns:
            str: The name in the graph.
        """
        if not use_original_name:
            name = f"{onnx_helper.get_func_name()}_param_{name}"
        self.parameters[name] = tensor_of(array, name)
        return name

    def add_const(self, array: Array, name: str) -> str:
        """Adds a node with a constant before the nodes of the function that is converted.

        Args:
            array (array or number): Its value.
            name (str): Its name within the function; without slashes.

        Returns:
            str: The name in the graph.
        """
        if "/" in name:
            raise ValueError(f"name must not contain a slash, got {name!r}")
        name = f"{onnx_helper.get_func_name()}_const_{name}"
        tensor = constant_tensor(numpy.asarray(as_numpy(array)), name)
        self.constants.append(
            onnx_helper.make_node("Constant", [], [name], value=tensor, name=name)
        )
        return name

    def take_constants(self) -> list[Any]:
        """Returns the nodes of new constants, which then count as placed."""
        constants, self.constants = self.constants, []
        return constants

    def get_link(self, param: Parameter) -> tuple[str, Link] | None:
        """Returns the link that a parameter belongs to.

        Args:
            param (Variable or VariableNode): The parameter.

        Returns:
            tuple: The name of the link in ONNX, such as ``'param_bn1'``, and the link. None if no
                link of the model has the parameter.
        """
        node = param.node if isinstance(param, Variable) else param
        return self._links.get(id(node))


def _key(value: Array) -> int:
    """Returns what a value is known by: the node of a Variable, or the array itself."""
    return id(value.node) if isinstance(value, Variable) else id(value)

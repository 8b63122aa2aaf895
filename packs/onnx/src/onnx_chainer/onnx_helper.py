"""Helpers to make nodes of ONNX in converters."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

from chainer.typing import Array
from onnx_chainer.optional import require


class _Names(threading.local):
    """The name of the function that is being converted, and the count of names made for it."""

    function = ""
    count = 0


_names = _Names()


def set_func_name(func_name: str, count: int = 0) -> None:
    """Sets the base name of the nodes that are made next, and restarts their numbers.

    Args:
        func_name (str): Name of the function that is converted, such as ``'ReLU_0'``.
        count (int): The first number.
    """
    _names.function = func_name
    _names.count = count


def get_count() -> int:
    """Returns the number of the next intermediate value."""
    return _names.count


def get_func_name() -> str:
    """Returns the base name in use, such as ``'ReLU_0'``."""
    return _names.function


def make_unique_name() -> str:
    """Returns a name for an intermediate value of the function that is converted."""
    name = f"{_names.function}_tmp_{_names.count}"
    _names.count += 1
    return name


def make_node(
    op_type: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
) -> Any:
    """Makes a node, named after the function that is converted.

    Args:
        op_type (str): Operator.
        inputs (list of str): Names of the inputs.
        outputs (list of str): Names of the outputs.
        attributes: Attributes of the operator; ``name``, ``domain`` and ``doc_string`` as in
            ``onnx.helper.make_node``.

    Returns:
        onnx.NodeProto: The node.
    """
    name = attributes.pop("name", None) or _names.function
    return require("onnx").helper.make_node(op_type, inputs, outputs, name=name, **attributes)


class GraphBuilder:
    """Makes several nodes for one function.

    Example:
        >>> from onnx_chainer import onnx_helper
        >>> onnx_helper.set_func_name('Swish2_0')
        >>> builder = onnx_helper.GraphBuilder()
        >>> y = builder.op('Mul', ['x', builder.op('Sigmoid', ['x'])])
        >>> [(node.op_type, list(node.output)) for node in builder.nodes(['y'])]
        [('Sigmoid', ['Swish2_0_tmp_0']), ('Mul', ['y'])]
    """

    def __init__(self) -> None:
        self._nodes: list[Any] = []

    def op(
        self, op_name: str, input_names: Sequence[str], num_outputs: int = 1, **attributes: Any
    ) -> Any:
        """Adds a node, with new names for its outputs.

        Args:
            op_name (str): Operator.
            input_names (list of str): Names of the inputs.
            num_outputs (int): Number of outputs.
            attributes: Attributes of the operator.

        Returns:
            str or tuple of str: Name of the output; names if there are several.
        """
        name = make_unique_name()
        names = [name] if num_outputs == 1 else [f"{name}_{i}" for i in range(num_outputs)]
        attributes.setdefault("name", name)
        self.op_output_named(op_name, input_names, names, **attributes)
        return names[0] if num_outputs == 1 else tuple(names)

    def op_output_named(
        self,
        op_name: str,
        input_names: Sequence[str],
        output_names: Sequence[str],
        **attributes: Any,
    ) -> Any:
        """Adds a node whose outputs have the given names.

        Args:
            op_name (str): Operator.
            input_names (list of str): Names of the inputs.
            output_names (list of str): Names of the outputs.
            attributes: Attributes of the operator.

        Returns:
            str or tuple of str: ``output_names``; the only one without a tuple around it.
        """
        # A string is a sequence of strings too: without this check its letters were the names.
        assert not isinstance(input_names, str), "input_names must be a list of names"
        assert not isinstance(output_names, str), "output_names must be a list of names"
        # The node has the name of its first output, which is unique in the graph.
        attributes.setdefault("name", output_names[0] if output_names else None)
        self._nodes.append(make_node(op_name, list(input_names), list(output_names), **attributes))
        return output_names[0] if len(output_names) == 1 else tuple(output_names)

    def nodes(self, output_names: Sequence[str] | None = None) -> tuple[Any, ...]:
        """Returns the nodes.

        Args:
            output_names (list of str): New names for the outputs of the last node; by default they
                keep theirs.

        Returns:
            tuple of onnx.NodeProto: The nodes, in the order in which they were added.
        """
        if output_names is not None:
            assert not isinstance(output_names, str), "output_names must be a list of names"
            if not self._nodes:
                raise ValueError("no node was added, so that there is no output to name")
            last = self._nodes[-1]
            if len(last.output) != len(output_names):
                raise ValueError(
                    f"output_names must have {len(last.output)} names, one for each output of "
                    f"{last.op_type}, got {len(output_names)}"
                )
            del last.output[:]
            last.output.extend(output_names)
            last.name = _names.function or last.name
        return tuple(self._nodes)


def write_tensor_pb(filename: str | os.PathLike[str], name: str, array: Array) -> None:
    """Writes an array as a serialized TensorProto.

    Args:
        filename (str): Path of the file.
        name (str): Name of the tensor.
        array (array): Its value.
    """
    from onnx_chainer.tensors import tensor_of

    with open(filename, "wb") as file:
        file.write(tensor_of(array, name).SerializeToString())


def cleanse_param_name(name: str) -> str:
    """Returns the name of a parameter in ONNX: ``'/l1/W'`` becomes ``'param_l1_W'``.

    Args:
        name (str): Path of the parameter in the model.
    """
    return "param" + name.replace("/", "_")

"""Export of networks as models of Caffe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chainer.core.autograd.function_hook import FunctionHook
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import Arrays
from chainer.core.utils.atomic_file import replacing
from chainer.links.caffe import _schema
from chainer.links.caffe._wire import write_message
from chainer.links.caffe.exporters._layers import layers_of
from chainer.links.errors import InvalidArgumentTypeError


def export(
    model: Callable[..., object],
    args: Sequence[Variable],
    directory: str | os.PathLike[str] | None = None,
    export_params: bool = True,
    graph_name: str = "Graph",
) -> None:
    """(Experimental) Export a computational graph as Caffe format.

    The model is called once, in test mode, and the graph of that call is written as
    ``chainer_model.prototxt`` (the network) and ``chainer_model.caffemodel`` (with its parameters).
    :class:`~chainer.links.caffe.CaffeFunction` reads the latter. Layers and blobs are named by
    function, position and number, as ``Convolution2DFunction-0-1``; the inputs are ``data``,
    ``data2``, ...

    Supported functions: :func:`~chainer.functions.linear`,
    :func:`~chainer.functions.convolution_2d`, :func:`~chainer.functions.deconvolution_2d`,
    :func:`~chainer.functions.max_pooling_2d`, :func:`~chainer.functions.average_pooling_2d`,
    :func:`~chainer.functions.batch_normalization` (by :class:`~chainer.links.BatchNormalization`),
    :func:`~chainer.functions.local_response_normalization`, :func:`~chainer.functions.relu`,
    :func:`~chainer.functions.leaky_relu`, :func:`~chainer.functions.sigmoid`,
    :func:`~chainer.functions.concat`, :func:`~chainer.functions.softmax`,
    :func:`~chainer.functions.reshape` and :func:`~chainer.functions.add`. Among others GoogLeNet,
    ResNet and VGG can be exported.

    Args:
        model (Chain): The model, a link or another callable that returns a variable, or a list,
            tuple or dictionary of them.
        args (list of ~chainer.Variable): The arguments the model is called with.
        directory (str): The directory to write to, made if need be. If None, nothing is written.
        export_params (bool): If False, only the network is written, no parameters.
        graph_name (str): Name of the network in the files.

    Raises:
        TypeError: If an argument or a result is not a Variable.
        ValueError: If the model uses a function, or a mode of one, that Caffe does not have.

    Example:
        >>> from chainer.exporters import caffe
        >>> model = chainer.Sequential(L.Convolution2D(3, 4, 3), F.relu, L.Linear(None, 2))
        >>> x = chainer.Variable(np.zeros((1, 3, 8, 8), np.float32))
        >>> caffe.export(model, [x], directory=None)
    """
    if not isinstance(args, (tuple, list)) or not all(isinstance(x, Variable) for x in args):
        raise InvalidArgumentTypeError(f"args must be a list of variables, got {_types(args)}")
    recorder = _Recorder()
    with (
        using_config("train", False),
        using_config("enable_backprop", True),
        using_config("type_check", True),
        recorder,
    ):
        outputs = _variables(model(*args))
    layers = layers_of(args, outputs, recorder.inputs)
    if directory is None:
        return
    os.makedirs(directory, exist_ok=True)
    network = [{k: v for k, v in layer.items() if k != "blobs"} for layer in layers]
    text = _text({"name": graph_name, "layer": network})
    _write(os.path.join(directory, "chainer_model.prototxt"), text.encode("utf-8"))
    if export_params:
        data = write_message(_schema.NET, {"name": graph_name, "layer": layers})
        _write(os.path.join(directory, "chainer_model.caffemodel"), data)


def _write(path: str, data: bytes) -> None:
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(data)


class _Recorder(FunctionHook):
    """Keeps the input arrays of all functions; variables forget them when they are not needed."""

    name = "CaffeExportRecorder"

    def __init__(self) -> None:
        self.inputs: dict[int, tuple[FunctionNode, Arrays]] = {}

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        # The function is kept, too, so that its id stays its own.
        self.inputs[id(function)] = (function, tuple(in_data))


def _types(values: object) -> str:
    if isinstance(values, (tuple, list)):
        return f"a {type(values).__name__} of {[type(value).__name__ for value in values]}"
    return type(values).__name__


def _variables(result: object) -> list[Variable]:
    values: Iterable[Any] = (result,)
    if isinstance(result, Mapping):
        values = result.values()
    elif isinstance(result, (tuple, list)):
        values = result
    given = list(values)
    variables = [value for value in given if isinstance(value, Variable)]
    if not variables or len(variables) < len(given):
        raise TypeError(f"the model must return variables, got {_types(result)}")
    return variables


def _text(values: Mapping[str, Any], indent: str = "") -> str:
    """Returns the text form of a message."""
    lines: list[str] = []
    for name, value in values.items():
        for element in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(element, Mapping):
                lines.append(f"{indent}{name} {{\n{_text(element, indent + '  ')}{indent}}}\n")
            else:
                lines.append(f"{indent}{name}: {_scalar(element)}\n")
    return "".join(lines)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return repr(value)

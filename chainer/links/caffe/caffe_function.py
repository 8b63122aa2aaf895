"""Emulator of Caffe models."""

from __future__ import annotations

import importlib
import os
import stat
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.utils.argument import check_unexpected_kwargs, parse_kwargs
from chainer.links.caffe import _schema
from chainer.links.caffe._functions import TestMode
from chainer.links.caffe._layers import DATA_LAYERS, LAYERS, parameters
from chainer.links.caffe._wire import Message, WireError, read_message
from chainer.links.chain import Chain
from chainer.links.errors import MissingOutputError, UnsupportedOptionError
from chainer.links.link import Link
from chainer.links.serializers.file_format import PARSER_ERRORS, FileFormatError


class UnsupportedLayerError(FileFormatError, UnsupportedOptionError):
    """A model has a layer with an option that is not supported."""


class CaffeFunction(Chain):
    """Caffe emulator based on the model file of Caffe.

    Reads a ``.caffemodel``, a protocol buffers file with layers and their parameters, and computes
    the network on Variables. Supported types of layers: BatchNorm, Concat, Convolution,
    Deconvolution, Dropout, Eltwise, InnerProduct, LRN (across channels), Pooling (MAX, AVE), ReLU,
    Reshape, Scale, Sigmoid, Slice, Softmax, SoftmaxWithLoss and Split.

    .. note::
        CaffeFunction ignores layers that it does not support (with a warning; silently data
        layers), layers that have no top blobs, and layers whose bottom blobs are incomplete (i.e.,
        some or all of them are neither given nor computed).

    .. warning::
        It does not support full compatibility against Caffe: average pooling never covers a part of
        a window at the border, for instance.

    Args:
        model_path (str): Path to the binary-proto model file of Caffe.

    Attributes:
        forwards (dict): Layer name -> function or link.
        layers (list): Tuples of layer name, names of bottom blobs and names of top blobs.
        split_map (dict): Name of a blob that a Split layer makes -> name of the blob it copies.

    Raises:
        FileFormatError: (a ValueError) If the file is not such a model, or if parameters of a layer
            are not supported or do not fit each other.
        FileNotFoundError: If there is no such file.

    Example:
        The log class probabilities of images, unnormalized, by the reference CaffeNet of BVLC
        (http://dl.caffe.berkeleyvision.org/bvlc_reference_caffenet.caffemodel)::

            func = CaffeFunction('path/to/bvlc_reference_caffenet.caffemodel')
            x = np.empty((10, 3, 227, 227), dtype=np.float32)
            ...  # (fill the minibatch here)
            with chainer.using_config('train', False):
                y, = func(inputs={'data': x}, outputs=['fc8'])

        The graph is recorded as usual, so that gradients of ``y`` can be computed.
    """

    def __init__(self, model_path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.forwards: dict[str, Callable[..., Any]] = {}
        self.layers: list[tuple[str, list[str], list[str]]] = []
        self.split_map: dict[str, str] = {}
        self._test_mode: set[str] = set()
        for layer in _read_layers(model_path):
            try:
                self._add_layer(layer)
            except PARSER_ERRORS as error:
                # A file may be sound, and have what is not supported.
                unsupported = isinstance(error, UnsupportedOptionError)
                raise (UnsupportedLayerError if unsupported else FileFormatError)(
                    f"{os.fspath(model_path)}: layer {layer.name!r} of type {layer.type}: {error}"
                ) from error

    def _add_layer(self, layer: Message) -> None:
        if not layer.top or layer.type in DATA_LAYERS:
            return
        if layer.type not in LAYERS:
            warnings.warn(
                f"Skip the layer {layer.name!r}, since CaffeFunction does not support layers of "
                f"type {layer.type}",
                stacklevel=4,
            )
            return
        make, inputs = LAYERS[layer.type]
        if len(layer.bottom) not in inputs:
            raise ValueError(f"the layer cannot have {len(layer.bottom)} inputs")
        function = make(layer)
        if layer.name in self.forwards:
            raise ValueError("the model has two layers of this name")
        if isinstance(function, Link):
            if hasattr(self, layer.name):
                raise ValueError("links have an attribute of this name")
            self.add_link(layer.name, function)
            if parameters(layer, "batch_norm_param").use_global_stats:
                self._test_mode.add(layer.name)
        if layer.type == "Split":
            source = self.split_map.get(layer.bottom[0], layer.bottom[0])
            self.split_map.update(dict.fromkeys(layer.top, source))
        self.forwards[layer.name] = function
        self.layers.append((layer.name, list(layer.bottom), list(layer.top)))

    def _function(self, name: str) -> Callable[..., Any]:
        # A link is looked up anew, so that copies of the chain use their own.
        function = getattr(self, name) if name in self._children else self.forwards[name]
        return TestMode(function) if name in self._test_mode else function

    def forward(
        self,
        inputs: Mapping[str, Any],
        outputs: Iterable[str],
        disable: Iterable[str] = (),
        **kwargs: Any,
    ) -> tuple[Variable, ...]:
        """Executes a sub-network of the network.

        This function acts as an interpreter of the network definition: one layer after another is
        computed if its bottom blobs are known, until all outputs are. Dropout and batch
        normalization follow ``chainer.config.train``.

        Args:
            inputs (dict): Blob name -> Variable or array.
            outputs (iterable): Names of the blobs to return.
            disable (iterable): Names of layers to ignore.

        Returns:
            tuple: Variables of the outputs, in their order.

        Raises:
            ValueError: If an output cannot be computed from the inputs, or the removed argument
                ``train`` is given.
        """
        check_unexpected_kwargs(
            kwargs, train="train argument is not supported anymore. Use chainer.using_config"
        )
        parse_kwargs(kwargs)
        if isinstance(outputs, str):
            raise TypeError(f"outputs must be a list of blob names, got the string {outputs!r}")
        disabled, outputs = set(disable), list(outputs)
        variables = {name: as_variable(value) for name, value in inputs.items()}
        for name, bottoms, tops in self._needed(set(variables), set(outputs), disabled):
            results = self._function(name)(*(variables[bottom] for bottom in bottoms))
            if not isinstance(results, (tuple, list)):
                results = [results] * len(tops)
            variables.update(zip(tops, results))
        missing = [name for name in outputs if name not in variables]
        if missing:
            raise MissingOutputError(
                f"outputs {missing} cannot be computed from inputs {sorted(inputs)}"
            )
        return tuple(variables[name] for name in outputs)

    def _needed(
        self, known: set[str], outputs: set[str], disabled: set[str]
    ) -> list[tuple[str, list[str], list[str]]]:
        """Returns the layers that can be computed and that outputs depend on, in order."""
        computable: list[tuple[str, list[str], list[str]]] = []
        for name, bottoms, tops in self.layers:
            if name not in disabled and known.issuperset(bottoms):
                computable.append((name, bottoms, tops))
                known.update(tops)
        # Backwards; a layer that writes where it reads (in place) keeps its blob needed.
        needed: list[tuple[str, list[str], list[str]]] = []
        wanted = set(outputs)
        for name, bottoms, tops in reversed(computable):
            if not wanted.isdisjoint(tops):
                wanted.difference_update(tops)
                wanted.update(bottoms)
                needed.append((name, bottoms, tops))
        return needed[::-1]


def _read_layers(path: str | os.PathLike[str]) -> list[Message]:
    """Returns the layers of a file. Layers in the old format get their type as text."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would never end
        raise FileFormatError(f"{os.fspath(path)} is not a regular file")
    with open(path, "rb") as file:
        data = file.read()
    try:
        net = read_message(_schema.NET, data)
    except WireError as error:
        raise FileFormatError(f"{os.fspath(path)} is not a model file of Caffe: {error}") from error
    layers = list(net.layer)
    if not layers:
        for layer in net.layers:
            layer.type = _schema.V1_TYPES.get(layer.type, f"{layer.type} (old number)")
            layers.append(layer)
    if not layers:
        raise FileFormatError(f"{os.fspath(path)} is not a model file of Caffe: it has no layers")
    return layers


def __getattr__(name: str) -> Any:
    # Programs written for release 7 take the classes of Caffe's messages from here. They need the
    # protobuf library, which this module does without.
    if name != "caffe_pb":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module("chainer.links.caffe.protobuf3.caffe_pb2")
    except ImportError as error:
        # An AttributeError, so that hasattr() and inspection of the module work.
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {error}") from error
    globals()[name] = module
    return module

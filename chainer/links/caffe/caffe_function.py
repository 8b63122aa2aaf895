"""Emulator of Caffe models."""

from __future__ import annotations

import importlib
import os
import stat
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.utils.argument import check_unexpected_kwargs, parse_kwargs
from chainer.links.caffe import _layers, _schema
from chainer.links.caffe._functions import (
    _CallChildLink,
    _EltwiseFunction,
    _ListArgumentFunction,
    _SingleArgumentFunction,
    _SingleArgumentFunctionTestMode,
    _SingleArgumentFunctionWithCudnn,
)
from chainer.links.caffe._wire import Message, WireError, read_message
from chainer.links.chain import Chain
from chainer.links.errors import MissingOutputError, UnsupportedOptionError
from chainer.links.link import Link
from chainer.links.serializers.file_format import PARSER_ERRORS, FileFormatError

# The names of release 7, for subclasses with methods for further layers.
_get_ksize, _get_stride, _get_pad = _layers.get_ksize, _layers.get_stride, _layers.get_pad
_ListArgumentFcuntion = _ListArgumentFunction

__all__ = ["CaffeFunction", "_EltwiseFunction", "_SingleArgumentFunctionWithCudnn"]

Setup: TypeAlias = "Callable[[Any, Any], None]"
"""Method of :class:`CaffeFunction` that adds a layer to the model."""

_type_to_method: dict[str, Setup] = {}
_oldname_to_method: dict[int, Setup] = {}


def _layer(typ: str, oldname: str | int | None) -> Callable[[Setup], Setup]:
    """Returns a decorator that registers a method for a type of layers.

    Args:
        typ: Type of the layers, such as ``'ReLU'``.
        oldname: Name or number of the type in files until 2014; None if they do not have it.
    """

    def decorator(method: Setup) -> Setup:
        _type_to_method[typ] = method
        if isinstance(oldname, str):
            _oldname_to_method[_schema.V1_NAMES[oldname]] = method
        elif oldname is not None:
            _oldname_to_method[oldname] = method
        return method

    return decorator


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
        for layer, setup in _read_layers(model_path):
            if not layer.top or layer.type in _layers.DATA_LAYERS:
                continue
            if setup is None:
                warnings.warn(
                    f"Skip the layer {layer.name!r}, since CaffeFunction does not support layers "
                    f"of type {layer.type}",
                    stacklevel=2,
                )
                continue
            try:
                setup(self, layer)
            except PARSER_ERRORS as error:
                # A file may be sound, and have what is not supported.
                unsupported = isinstance(error, UnsupportedOptionError)
                raise (UnsupportedLayerError if unsupported else FileFormatError)(
                    f"{os.fspath(model_path)}: layer {layer.name!r} of type {layer.type}: {error}"
                ) from error

    def _add_layer(self, layer: Message) -> None:
        """Adds the names of a layer, whose function is in ``forwards``, to the model."""
        bottoms = [str(self.split_map.get(name, name)) for name in layer.bottom]
        self.layers.append((layer.name, bottoms, list(layer.top)))
        for name in layer.top:
            # A layer that writes in place makes a blob of its own of a copy.
            self.split_map.pop(name, None)

    def _use(
        self, layer: Message, make: Callable[[Message], Any], inputs: range = range(1, 2)
    ) -> None:
        """Adds a layer that a function or link computes.

        Args:
            layer: Layer.
            make: Makes the function or link of the layer.
            inputs: Numbers of inputs that the layer can have.
        """
        if len(layer.bottom) not in inputs:
            raise ValueError(f"the layer cannot have {len(layer.bottom)} inputs")
        function = make(layer)
        if layer.name in self.forwards:
            raise ValueError("the model has two layers of this name")
        if isinstance(function, Link):
            if hasattr(self, layer.name):
                raise ValueError("links have an attribute of this name")
            self.add_link(layer.name, function)
            function = _CallChildLink(self, layer.name)
        self.forwards[layer.name] = function
        self._add_layer(layer)

    @_layer("Concat", "CONCAT")
    def _setup_concat(self, layer: Message) -> None:
        self._use(layer, _layers.make_concat, range(1, _layers.MAX_SIZE))

    @_layer("Convolution", "CONVOLUTION")
    def _setup_convolution(self, layer: Message) -> None:
        self._use(layer, _layers.make_convolution)

    @_layer("Deconvolution", "DECONVOLUTION")
    def _setup_deconvolution(self, layer: Message) -> None:
        self._use(layer, _layers.make_deconvolution)

    @_layer("Dropout", "DROPOUT")
    def _setup_dropout(self, layer: Message) -> None:
        self._use(layer, _layers.make_dropout)

    @_layer("InnerProduct", "INNER_PRODUCT")
    def _setup_inner_product(self, layer: Message) -> None:
        self._use(layer, _layers.make_inner_product)

    @_layer("LRN", "LRN")
    def _setup_lrn(self, layer: Message) -> None:
        self._use(layer, _layers.make_lrn)

    @_layer("Pooling", "POOLING")
    def _setup_pooling(self, layer: Message) -> None:
        self._use(layer, _layers.make_pooling)

    @_layer("ReLU", "RELU")
    def _setup_relu(self, layer: Message) -> None:
        self._use(layer, _layers.make_relu)

    @_layer("Reshape", None)
    def _setup_reshape(self, layer: Message) -> None:
        self._use(layer, _layers.make_reshape)

    @_layer("Eltwise", "ELTWISE")
    def _setup_eltwise(self, layer: Message) -> None:
        self._use(layer, _layers.make_eltwise, range(1, _layers.MAX_SIZE))

    @_layer("Scale", None)
    def _setup_scale(self, layer: Message) -> None:
        self._use(layer, _layers.make_scale, range(1, 3))

    @_layer("Slice", "SLICE")
    def _setup_slice(self, layer: Message) -> None:
        self._use(layer, _layers.make_slice)

    @_layer("Softmax", "SOFTMAX")
    def _setup_softmax(self, layer: Message) -> None:
        self._use(layer, _layers.make_softmax)

    @_layer("Sigmoid", "SIGMOID")
    def _setup_sigmoid(self, layer: Message) -> None:
        self._use(layer, _layers.make_sigmoid)

    @_layer("SoftmaxWithLoss", "SOFTMAX_LOSS")
    def _setup_softmax_with_loss(self, layer: Message) -> None:
        self._use(layer, _layers.make_softmax_with_loss, range(2, 3))

    @_layer("BatchNorm", None)
    def _setup_batchnorm(self, layer: Message) -> None:
        self._use(layer, _layers.make_batch_norm)
        fixed = _layers.parameters(layer, "batch_norm_param").use_global_stats
        kind = _SingleArgumentFunctionTestMode if fixed else _SingleArgumentFunction
        self.forwards[layer.name] = kind(_CallChildLink(self, layer.name), finetune=False)

    @_layer("Split", "SPLIT")
    def _setup_split(self, layer: Message) -> None:
        if len(layer.bottom) != 1:
            raise ValueError(f"the layer cannot have {len(layer.bottom)} inputs")
        source = self.split_map.get(layer.bottom[0], layer.bottom[0])
        self.split_map.update(dict.fromkeys(layer.top, source))

    @_layer("Data", "DATA")
    def _setup_data(self, layer: Message) -> None:
        """Does nothing: the caller gives the data."""

    def _function(self, name: str) -> Callable[..., Any]:
        # Bound to this model: copies share the functions of the original, not its links.
        function = self.forwards[name]
        if isinstance(function, _CallChildLink):
            return _CallChildLink(self, name)
        if isinstance(function, _SingleArgumentFunction) and isinstance(
            function.func, _CallChildLink
        ):
            return type(function)(_CallChildLink(self, name), *function.args, **function.kwargs)
        return function

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
        sources = {
            name: name if name in variables else self.split_map.get(name, name) for name in outputs
        }
        wanted = set(sources.values())
        for name, bottoms, tops in self._needed(set(variables), wanted, disabled):
            results = self._function(name)(*(variables[bottom] for bottom in bottoms))
            if not isinstance(results, (tuple, list)):
                results = [results] * len(tops)
            variables.update(zip(tops, results))
        missing = [name for name in outputs if sources[name] not in variables]
        if missing:
            raise MissingOutputError(
                f"outputs {missing} cannot be computed from inputs {sorted(inputs)}"
            )
        return tuple(variables[sources[name]] for name in outputs)

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


def _read_layers(path: str | os.PathLike[str]) -> list[tuple[Message, Setup | None]]:
    """Returns the layers of a file and the methods that add them; None where there is none.

    Layers in the old format get their type as text.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would never end
        raise FileFormatError(f"{os.fspath(path)} is not a regular file")
    with open(path, "rb") as file:
        data = file.read()
    try:
        net = read_message(_schema.NET, data)
    except WireError as error:
        raise FileFormatError(f"{os.fspath(path)} is not a model file of Caffe: {error}") from error
    layers = [(layer, _type_to_method.get(layer.type)) for layer in net.layer]
    if not layers:
        for layer in net.layers:
            layers.append((layer, _oldname_to_method.get(layer.type)))
            layer.type = _schema.V1_TYPES.get(layer.type, f"{layer.type} (old number)")
    if not layers:
        raise FileFormatError(f"{os.fspath(path)} is not a model file of Caffe: it has no layers")
    return layers


def _get_num(blob: Message) -> int:
    """Returns the first length of a blob."""
    return blob.num if blob.num > 0 else blob.shape.dim[0]


def _get_channels(blob: Message) -> int:
    """Returns the second length of a blob."""
    return blob.channels if blob.channels > 0 else blob.shape.dim[1]


def _get_height(blob: Message) -> int:
    """Returns the third length of a blob."""
    return blob.height if blob.height > 0 else blob.shape.dim[2]


def _get_width(blob: Message) -> int:
    """Returns the last length of a blob."""
    return blob.width if blob.width > 0 else blob.shape.dim[3]


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

"""Base class of the pretrained networks: features by layer name, and loading of weights."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy

from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import Array, FilePath, VariableLike
from chainer.core.utils.argument import check_unexpected_kwargs, parse_kwargs
from chainer.functions.array.reshape import reshape
from chainer.functions.math.average import average
from chainer.links.caffe.caffe_function import CaffeFunction
from chainer.links.chain import Chain
from chainer.links.link import Link
from chainer.links.model.vision._images import ImageLike, ImageSize, center_crop, ten_crops
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.links.serializers.npz import load_npz, save_npz

_DIRECTORY = "pfnet/chainer/models"
_RESIZED, _CROPPED = 256, 224


class PretrainedNetwork(Chain):
    """Base class of networks that return features of images by layer name.

    Subclasses define :attr:`functions` and :meth:`_prepare`.
    """

    #: Layers that do not follow the one before, with the layer they branch off.
    _branches: ClassVar[Mapping[str, str]] = {}
    #: The layer that :meth:`extract` returns if none is asked for.
    _feature_layer: ClassVar[str]
    #: The argument by which version 1 chose between training and testing.
    _removed_argument: ClassVar[str] = "test"

    def __init__(self, pretrained_model: FilePath | None = "auto") -> None:
        super().__init__()

    @property
    def functions(self) -> dict[str, list[Callable[[VariableLike], Variable]]]:
        """Layer name -> functions that are applied one after another, in order of computation."""
        raise NotImplementedError(f"{type(self).__name__} must define 'functions'")

    @property
    def available_layers(self) -> list[str]:
        """Names of the layers that can be asked for."""
        return list(self.functions)

    def _prepare(self, image: ImageLike, size: ImageSize | None) -> Array:
        raise NotImplementedError(f"{type(self).__name__} must define '_prepare'")

    def forward(
        self, x: VariableLike, layers: Sequence[str] | None = None, **kwargs: Any
    ) -> dict[str, Variable]:
        """Computes all the feature maps specified by layers.

        ``chainer.config.train`` decides whether dropout and batch normalization are in training
        mode. Layers behind the last requested one are not computed.

        Args:
            x (Variable or array): Images of shape ``(B, 3, height, width)`` as ``prepare`` makes
                them.
            layers (list of str): Names of the layers; ``['prob']`` by default.

        Returns:
            dict: Layer name -> Variable.

        Raises:
            ValueError: If a layer is not among :attr:`available_layers`, or a removed argument is
                given.
        """
        self._refuse(kwargs, self._removed_argument)
        # Layers are computed in order until all wanted ones are known. A layer that continues an
        # earlier one than its predecessor finds the output of that one in ``kept``.
        wanted = set(_names(["prob"] if layers is None else layers))
        functions = self.functions
        unknown = wanted.difference(functions)
        if unknown:
            raise ValueError(f"layers must be among {list(functions)}, got {sorted(unknown)}")
        sources = set(self._branches.values())
        kept: dict[str, Variable] = {}
        features: dict[str, Variable] = {}
        h = x
        for name, steps in functions.items():
            if len(features) == len(wanted):
                break
            if name in self._branches:
                if name not in wanted:
                    continue
                h = kept[self._branches[name]]
            for step in steps:
                h = step(h)
            if name in sources:
                kept[name] = h
            if name in wanted:
                features[name] = h
        return features

    def extract(
        self,
        images: Iterable[Any],
        layers: Sequence[str] | None = None,
        size: Sequence[int] | None = (_CROPPED, _CROPPED),
        **kwargs: Any,
    ) -> dict[str, Variable]:
        """Extracts all the feature maps of given images: ``prepare``, then a call.

        Unlike :meth:`predict` this method does not override ``chainer.config.train`` and
        ``chainer.config.enable_backprop``. To extract features in test mode, without a graph::

            with chainer.using_config('train', False):
                with chainer.using_config('enable_backprop', False):
                    feature = model.extract([image])

        Args:
            images (iterable of PIL.Image or numpy.ndarray): Input images, RGB.
            layers (list of str): Names of the layers. The default is ``['fc7']`` for VGG,
                ``['pool5']`` for GoogLeNet and ResNet.
            size (pair of ints): Width and height the images are resized to. If None, they are not
                resized; then all must have the same size.

        Returns:
            dict: Layer name -> Variable.

        Raises:
            ValueError: If a layer is unknown, or a removed argument is given.
            ImportError: If Pillow is not installed.
        """
        self._refuse(kwargs, self._removed_argument, "volatile")
        x = _stack([self._prepare(image, size) for image in images])
        return self(
            as_variable(device_of(self).send(x)),
            [self._feature_layer] if layers is None else layers,
        )

    def predict(self, images: Iterable[Any], oversample: bool = True) -> Variable:
        """Computes all the probabilities of given images, in test mode and without a graph.

        The images are resized to 256 x 256, of which parts of 224 x 224 are used.

        Args:
            images (iterable of PIL.Image or numpy.ndarray): Input images, RGB.
            oversample (bool): If True, the result is the average over center, corners and
                their mirror images. Otherwise only the center is used.

        Returns:
            Variable: Probabilities, of shape ``(B, 1000)``.

        Raises:
            ImportError: If Pillow is not installed.
        """
        x = _stack([self._prepare(image, (_RESIZED, _RESIZED)) for image in images])
        x = ten_crops(x, _CROPPED) if oversample else center_crop(x, _CROPPED)
        with using_config("train", False), using_config("enable_backprop", False):
            y = self(as_variable(device_of(self).send(x)))["prob"]
            if oversample:
                y = average(reshape(y, (y.shape[0] // 10, 10, *y.shape[1:])), axis=1)
        return y

    @staticmethod
    def _refuse(kwargs: dict[str, Any], *removed: str) -> None:
        texts = {
            name: f"{name} argument is not supported anymore. Use chainer.using_config"
            for name in removed
        }
        check_unexpected_kwargs(kwargs, **texts)
        parse_kwargs(kwargs)

    # -- weights ----------------------------------------------------------------------------------

    @classmethod
    def convert_caffemodel_to_npz(cls, path_caffemodel: FilePath, path_npz: FilePath) -> None:
        """Converts a pre-trained caffemodel to a chainer model.

        Args:
            path_caffemodel (str): Path of the pre-trained caffemodel.
            path_npz (str): Path of the converted chainer model.

        Raises:
            ValueError: If the file is not a caffemodel of this network.
        """
        model = cls(None)
        model._copy_caffemodel(path_caffemodel)
        save_npz(path_npz, model, compression=False)

    def _load_pretrained(self, path: FilePath, npz: str, caffemodel: Callable[[], str]) -> None:
        """Loads weights.

        Args:
            path: File to load (npz), or ``'auto'``.
            npz: Name of the file in the directory of models that ``'auto'`` means.
            caffemodel: Called if that file is not there; returns the path of the caffemodel to
                convert.
        """
        if path != "auto":
            load_npz(path, self)
            return
        target = model_file(npz)
        if os.path.exists(target):
            load_npz(target, self)
            return
        # Conversion takes long, so that its result is kept for the next time.
        self._copy_caffemodel(caffemodel())
        os.makedirs(os.path.dirname(target), exist_ok=True)
        save_npz(target, self, compression=False)

    def _copy_caffemodel(self, path: FilePath) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define '_copy_caffemodel'")


def _names(layers: Sequence[str]) -> Sequence[str]:
    if isinstance(layers, str):
        raise TypeError(f"layers must be a list of layer names, got the string {layers!r}")
    return layers


def _stack(arrays: list[Array]) -> Array:
    if not arrays:
        raise ValueError("images must not be empty")
    if len({array.shape for array in arrays}) > 1:
        shapes = sorted({array.shape[1:] for array in arrays})
        raise ValueError(f"images must have the same size unless they are resized, got {shapes}")
    return numpy.stack(arrays)


def _dataset() -> Any:
    # Links do not import the package of training, which is a layer above them. This is the only
    # exception: users set the directory for all downloaded files there.
    return importlib.import_module("chainer.training.dataset.download")


def model_file(name: str) -> str:
    """Returns the path of a file in the directory of models, which may not exist."""
    directory = _dataset().get_dataset_directory(_DIRECTORY, create_directory=False)
    return os.path.join(directory, name)


def downloaded_caffemodel(url: str, sha1: str | None, npz: str) -> str:
    """Downloads a caffemodel, unless that was done before, and returns its path.

    Args:
        url: Where the authors publish it.
        sha1: SHA-1 sum of the file; None if it is not known.
        npz: Name of the converted file in the directory of models.

    Raises:
        DownloadError: (an OSError) If that fails; says how to do it by hand.
        ImportError: If pooch is not installed; says the same.
    """

    def verify(path: str) -> None:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha1").hexdigest()
        if sha1 is not None and found != sha1:
            raise ValueError(f"the SHA-1 sum of the file must be {sha1}, got {found}")

    advice = (
        f"Without a connection, download the caffemodel from {url} elsewhere, convert it by "
        f"'convert_caffemodel_to_npz(path_caffemodel, path_npz)', and place the result on "
        f"{model_file(npz)}"
    )
    return _dataset().download([url], verify=verify, advice=advice)


def retrieve(
    npz: str, caffemodel: Callable[[], str], model: PretrainedNetwork
) -> PretrainedNetwork:
    """Loads the weights that ``pretrained_model='auto'`` means.

    The modules of the networks have it as ``_retrieve``, the name that programs with networks of
    their own import.

    Args:
        npz: Name of the converted file in the directory of models.
        caffemodel: Called if that file is not there; returns the path of the caffemodel.
        model: Network that gets the weights.

    Returns:
        PretrainedNetwork: The network.
    """
    model._load_pretrained("auto", npz, caffemodel)
    return model


def make_npz(path_npz: FilePath, caffemodel: str, model: PretrainedNetwork) -> PretrainedNetwork:
    """Converts a caffemodel and loads the result; the modules of the networks have ``_make_npz``.

    Args:
        path_npz: Path of the file that is written.
        caffemodel: Path of the caffemodel.
        model: Network that gets the weights.

    Returns:
        PretrainedNetwork: The network.
    """
    model._copy_caffemodel(caffemodel)
    save_npz(path_npz, model, compression=False)
    return model


def copy_weights(
    source: CaffeFunction, layer: str, target: Link, names: Sequence[str] = ("W", "b")
) -> None:
    """Copies parameters of a layer read from a caffemodel.

    Args:
        source: The model, a ``CaffeFunction``.
        layer: Name of the layer.
        target: Link of the network.
        names: Names of the parameters.

    Raises:
        ValueError: If the model has no such layer, or its shapes differ.
    """
    link = _layer(source, layer)
    for name in names:
        _copy(getattr(link, name, None), getattr(target, name), f"{name!r} of layer {layer!r}")


def copy_normalization(
    source: CaffeFunction, layer: str, separator: str, target: BatchNormalization
) -> None:
    """Copies statistics and scale of a layer that Caffe writes as two, ``bn*`` and ``scale*``.

    Args:
        source: The model, a ``CaffeFunction``.
        layer: Name of the convolution normalized.
        separator: Text between ``bn`` or ``scale`` and the name.
        target: Batch normalization of the network.

    Raises:
        ValueError: If the model has no such layers, or their shapes differ.
    """
    name = f"bn{separator}{layer}"
    link = _layer(source, name)
    _copy(getattr(link, "avg_mean", None), target.avg_mean, f"mean of layer {name!r}")
    _copy(getattr(link, "avg_var", None), target.avg_var, f"variance of layer {name!r}")
    name = f"scale{separator}{layer}"
    link = _layer(source, name)
    _copy(getattr(link, "W", None), target.gamma, f"scale of layer {name!r}")
    bias = getattr(link, "bias", None)
    _copy(getattr(bias, "b", None), target.beta, f"bias of layer {name!r}")


def _layer(source: CaffeFunction, name: str) -> Any:
    link = getattr(source, name, None)
    if link is None:
        raise ValueError(f"the caffemodel has no layer {name!r} with parameters")
    return link


def _copy(value: VariableLike | None, target: VariableLike, what: str) -> None:
    if value is None:
        raise ValueError(f"the caffemodel has no {what}")
    if value.shape != target.shape:
        raise ValueError(
            f"the {what} of the caffemodel must have shape {target.shape}, got {value.shape}"
        )
    array: Array = target.array if isinstance(target, Variable) else target
    array[...] = value.array if isinstance(value, Variable) else value

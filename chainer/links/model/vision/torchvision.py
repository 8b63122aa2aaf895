"""Networks with weights of torchvision, read from files in the format safetensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.config.dtype import get_dtype
from chainer.core.typing import Array, FilePath, VariableLike
from chainer.functions.pooling.max_pooling_2d import max_pooling_2d
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.model.vision._images import ImageLike, ImageSize, prepare_image
from chainer.links.model.vision.resnet import BuildingBlock, ResNetLayers
from chainer.links.model.vision.vgg import VGGLayers
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.links.serializers.safetensors import load_safetensors

# Mean and standard deviation of the channels red, green and blue, of images from 0 to 255
# (documentation of torchvision.models, "transforms": 0.485, 0.456, 0.406 and 0.229, 0.224, 0.225).
_MEAN = (123.675, 116.28, 103.53)
_DEVIATION = (58.395, 57.12, 57.375)

#: torchvision's default of BatchNorm2d; Chainer's is 2e-5.
_EPS = 1e-5

#: Names of the arrays of a layer: name in Chainer -> name in torchvision.
_WEIGHTS = {"W": "weight", "b": "bias"}
_STATISTICS = {
    "gamma": "weight",
    "beta": "bias",
    "avg_mean": "running_mean",
    "avg_var": "running_var",
    "N": "num_batches_tracked",
}


class TorchvisionResNetLayers(ResNetLayers):
    """ResNet as torchvision defines it, so that weights from there give the same features.

    It differs from :class:`~chainer.links.ResNet50Layers` in four things: the convolutions of 3 x 3
    shrink the images, the first convolution has no bias, the first pooling pads the image by one
    pixel, and the normalizations add 1e-5 to the variance. Images are prepared by
    :func:`~chainer.links.model.vision.torchvision.prepare`.

    See `Deep Residual Learning for Image Recognition <https://arxiv.org/abs/1512.03385>`_.

    Args:
        weights (str): Path of a file in the format safetensors with the names that torchvision
            gives the weights. If None, the weights are initialized at random.
        n_layers (int): Number of layers: 50, 101 or 152.

    Raises:
        ValueError: If ``n_layers`` is another number, or arrays of the file have other shapes.
        KeyError: If the file lacks weights.

    Example:
        Write the file once, with PyTorch::

            import safetensors.torch
            import torchvision

            model = torchvision.models.resnet50(weights="DEFAULT")
            safetensors.torch.save_file(model.state_dict(), "resnet50.safetensors")

        and read it with Chainer::

            model = TorchvisionResNetLayers("resnet50.safetensors", 50)
            with chainer.using_config("train", False):
                feature = model.extract([PIL.Image.open("cat.jpg")])["pool5"]
    """

    def __init__(self, weights: FilePath | None = None, n_layers: int = 50) -> None:
        super().__init__(None, n_layers, downsample_fb=True)
        initial = self.conv1.W.initializer
        del self.conv1
        with self.init_scope():
            self.conv1 = Convolution2D(3, 64, 7, 2, 3, nobias=True, initialW=initial)
        for link in self.links():
            if isinstance(link, BatchNormalization):
                link.eps = _EPS
        if weights is not None:
            load_torchvision(weights, self)

    @property
    def functions(self) -> dict[str, list[Callable[[VariableLike], Variable]]]:
        """Layer name -> functions that are applied one after another, in order of computation."""
        return {**super().functions, "pool1": [_padded_max_pool]}

    def _prepare(self, image: ImageLike, size: ImageSize | None) -> Array:
        return prepare(image, size)


def torchvision_names(model: VGGLayers | ResNetLayers) -> dict[str, str]:
    """Returns what torchvision calls the arrays of a network.

    Args:
        model (Link): A VGG network, or a ResNet of this module.

    Returns:
        dict: Name of an array in the model, such as ``'conv1_1/W'`` -> name in torchvision, such as
            ``'features.0.weight'``. It is the argument ``names`` of
            :func:`chainer.serializers.load_safetensors`.

    Raises:
        TypeError: If ``model`` is another link.

    Example:
        >>> from chainer.links.model.vision.torchvision import (
        ...     TorchvisionResNetLayers, torchvision_names)
        >>> torchvision_names(TorchvisionResNetLayers())['res3/b2/bn1/gamma']
        'layer2.2.bn1.weight'
    """
    if isinstance(model, VGGLayers):
        return _vgg_names(model)
    if isinstance(model, TorchvisionResNetLayers):
        return _resnet_names(model)
    raise TypeError(
        "model must be a VGG16Layers, VGG19Layers or TorchvisionResNetLayers, "
        f"got {type(model).__name__}"
    )


def load_torchvision(file: FilePath, model: VGGLayers | ResNetLayers) -> None:
    """Loads weights of torchvision into a network.

    Prepare images for such a network with
    :func:`chainer.links.model.vision.torchvision.prepare`.

    Args:
        file (str): Path of a file in the format safetensors.
        model (Link): A VGG network, or a ResNet of this module.

    Raises:
        TypeError: If ``model`` is another link.
        KeyError: If the file lacks weights.
        ValueError: If arrays have other shapes, or the file is damaged.
    """
    load_safetensors(file, model, names=torchvision_names(model))


def prepare(image: ImageLike, size: ImageSize | None = (224, 224)) -> Array:
    """Converts an image to the array that networks of torchvision take.

    The image is resized, and mean and standard deviation of each channel become 0 and 1.

    Args:
        image (PIL.Image or numpy.ndarray): Input image; see
            :func:`chainer.links.model.vision.vgg.prepare`.
        size (pair of ints): Width and height of the result. If None, the image is not resized.

    Returns:
        numpy.ndarray: RGB array of shape ``(3, height, width)`` and dtype ``chainer.config.dtype``.

    Raises:
        ImportError: If Pillow is not installed.

    Example:
        >>> from chainer.links.model.vision.torchvision import prepare
        >>> image = np.full((10, 20, 3), 255, np.uint8)
        >>> [round(float(x), 3) for x in prepare(image, size=None)[:, 0, 0]]
        [2.249, 2.429, 2.64]
    """
    bgr = prepare_image(image, size, _MEAN[::-1])
    deviation = numpy.array(_DEVIATION, get_dtype()).reshape(3, 1, 1)
    return bgr[::-1] / deviation


def _padded_max_pool(x: VariableLike) -> Variable:
    return cast("Variable", max_pooling_2d(x, ksize=3, stride=2, pad=1, cover_all=False))


def _vgg_names(model: VGGLayers) -> dict[str, str]:
    names: dict[str, str] = {}
    # torchvision numbers what is applied one after another: convolution, ReLU, ..., pooling.
    place = 0
    for stage, sizes in enumerate(model._stages, 1):
        for i in range(1, len(sizes) + 1):
            names |= _layer_names(f"conv{stage}_{i}", f"features.{place}", _WEIGHTS)
            place += 2
        place += 1
    for name, place in (("fc6", 0), ("fc7", 3), ("fc8", 6)):
        names |= _layer_names(name, f"classifier.{place}", _WEIGHTS)
    return names


def _resnet_names(model: TorchvisionResNetLayers) -> dict[str, str]:
    names = {"conv1/W": "conv1.weight"}
    names |= _layer_names("bn1", "bn1", _STATISTICS)
    for stage in range(1, 5):
        block = f"res{stage + 1}"
        count = len(cast("BuildingBlock", model[block]).bottlenecks())
        for i in range(count):
            own, theirs = f"{block}/{f'b{i}' if i else 'a'}", f"layer{stage}.{i}"
            for k in (1, 2, 3):
                names[f"{own}/conv{k}/W"] = f"{theirs}.conv{k}.weight"
                names |= _layer_names(f"{own}/bn{k}", f"{theirs}.bn{k}", _STATISTICS)
            if i == 0:
                names[f"{own}/conv4/W"] = f"{theirs}.downsample.0.weight"
                names |= _layer_names(f"{own}/bn4", f"{theirs}.downsample.1", _STATISTICS)
    return names | _layer_names("fc6", "fc", _WEIGHTS)


def _layer_names(own: str, theirs: str, arrays: dict[str, str]) -> dict[str, str]:
    return {f"{own}/{a}": f"{theirs}.{b}" for a, b in arrays.items()}

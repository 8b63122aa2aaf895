"""The networks of 16 and 19 layers by the VGG team."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, FilePath, VariableLike
from chainer.functions.activation.relu import relu
from chainer.functions.activation.softmax import softmax
from chainer.functions.noise.dropout import dropout
from chainer.functions.pooling.max_pooling_2d import max_pooling_2d
from chainer.links.caffe.caffe_function import CaffeFunction
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.linear import Linear
from chainer.links.initializers.constant import Constant
from chainer.links.initializers.normal import Normal
from chainer.links.model.vision._images import ImageLike, ImageSize, prepare_image, prepare_sections
from chainer.links.model.vision._pretrained import (
    PretrainedNetwork,
    copy_weights,
    downloaded_caffemodel,
    make_npz,
    retrieve,
)

_URL = "https://www.robots.ox.ac.uk/%7Evgg/software/very_deep/caffe/{}.caffemodel"
_MEAN = (103.939, 116.779, 123.68)

#: Number of layers -> output channels of the convolutions, stage by stage.
_STAGES = {
    16: ((64,) * 2, (128,) * 2, (256,) * 3, (512,) * 3, (512,) * 3),
    19: ((64,) * 2, (128,) * 2, (256,) * 4, (512,) * 4, (512,) * 4),
}
#: Number of layers -> SHA-1 sum of the caffemodel. The sum of the larger network is not known here;
#: a wrong file is noticed when it is converted.
_SHA1 = {16: "9363e1f6d65f7dba68c4f27a1e62105cdf6c4e24", 19: None}


class VGGLayers(PretrainedNetwork):
    """A pre-trained CNN model provided by VGG team: base class of the two sizes.

    Weights are downloaded as a caffemodel, converted and kept at the first use of ``'auto'``. The
    model serves to extract features of images or to be fine-tuned on other data. The pre-trained
    models are released under Creative Commons Attribution License.

    See `Very Deep Convolutional Networks for Large-Scale Image Recognition
    <https://arxiv.org/abs/1409.1556>`_.

    Args:
        pretrained_model (str): Path of a chainer model serialized as a ``.npz`` file. If
            ``'auto'``, the file is
            ``$CHAINER_DATASET_ROOT/pfnet/chainer/models/VGG_ILSVRC_{n_layers}_layers.npz`` and made
            from the caffemodel if need be, where ``$CHAINER_DATASET_ROOT`` is
            ``~/.chainer/dataset`` unless set as an environment variable. If None, nothing is
            loaded and the weights are initialized as in the original paper, by
            ``chainer.initializers.Normal(scale=0.01)``.
        n_layers (int): Number of layers: 16 or 19.

    Attributes:
        available_layers (list of str): Names of the layers to ask ``__call__`` and :meth:`extract`
            for: ``conv1_1`` ... ``conv5_3`` (or ``conv5_4``), ``pool1`` ... ``pool5``, ``fc6``,
            ``fc7``, ``fc8``, ``prob``. Convolutions include ReLU; ``fc6`` and ``fc7`` include ReLU
            and dropout.

    Raises:
        ValueError: If ``n_layers`` is another number.
        FileNotFoundError: If the given file does not exist.
        DownloadError: (an OSError) If the caffemodel cannot be downloaded; the text says what to do
            by hand.
        ImportError: If a package to download with is not installed.

    Example:
        Features of an image, as a vector::

            model = L.VGG16Layers()
            with chainer.using_config('train', False), chainer.no_backprop_mode():
                feature = model.extract([PIL.Image.open('cat.jpg')], layers=['fc7'])['fc7']
    """

    _feature_layer = "fc7"

    def __init__(self, pretrained_model: FilePath | None = "auto", n_layers: int = 16) -> None:
        super().__init__()
        if n_layers not in _STAGES:
            raise ValueError(
                f"The n_layers argument should be either 16 or 19, but {n_layers} was given."
            )
        # To draw random numbers for 138 million weights before loading would be a waste.
        init = Normal(0.01) if pretrained_model is None else Constant(0)
        self._stages = _STAGES[n_layers]
        channels = 3
        with self.init_scope():
            for stage, sizes in enumerate(self._stages, 1):
                for i, size in enumerate(sizes, 1):
                    convolution = Convolution2D(channels, size, 3, 1, 1, initialW=init)
                    setattr(self, f"conv{stage}_{i}", convolution)
                    channels = size
            self.fc6 = Linear(512 * 7 * 7, 4096, initialW=init)
            self.fc7 = Linear(4096, 4096, initialW=init)
            self.fc8 = Linear(4096, 1000, initialW=init)
        if pretrained_model is not None:
            name = f"VGG_ILSVRC_{n_layers}_layers"
            url, sha1 = _URL.format(name), _SHA1[n_layers]
            self._load_pretrained(
                pretrained_model,
                f"{name}.npz",
                lambda: downloaded_caffemodel(url, sha1, f"{name}.npz"),
            )

    @property
    def functions(self) -> dict[str, list[Callable[[VariableLike], Variable]]]:
        """Layer name -> functions that are applied one after another, in order of computation."""
        functions: dict[str, list[Callable[[VariableLike], Variable]]] = {}
        for stage, sizes in enumerate(self._stages, 1):
            for i in range(1, len(sizes) + 1):
                name = f"conv{stage}_{i}"
                functions[name] = [self[name], relu]
            functions[f"pool{stage}"] = [_max_pooling_2d]
        functions["fc6"] = [self.fc6, relu, dropout]
        functions["fc7"] = [self.fc7, relu, dropout]
        functions["fc8"] = [self.fc8]
        functions["prob"] = [softmax]
        return functions

    def _copy_caffemodel(self, path: FilePath) -> None:
        source = CaffeFunction(path)
        for path, child in self.namedlinks(skipself=True):
            copy_weights(source, path.removeprefix("/"), child)

    def _prepare(self, image: ImageLike, size: ImageSize | None) -> Array:
        return prepare(image, size)


class VGG16Layers(VGGLayers):
    """A pre-trained CNN model with 16 layers provided by VGG team.

    Args:
        pretrained_model (str): Path of a ``.npz`` file, ``'auto'`` or None; see
            :class:`~chainer.links.model.vision.vgg.VGGLayers`.

    Attributes:
        available_layers (list of str): Names of the layers to ask for.

    Example:
        Without weights; ``'auto'`` reads the file of the Caffe model.

        >>> model = L.VGG16Layers(pretrained_model=None)
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> with chainer.using_config("train", False), chainer.no_backprop_mode():
        ...     found = model.extract([image], layers=["fc7", "prob"])
        >>> found["fc7"].shape, found["prob"].shape
        ((1, 4096), (1, 1000))
    """

    def __init__(self, pretrained_model: FilePath | None = "auto") -> None:
        super().__init__(pretrained_model, 16)


class VGG19Layers(VGGLayers):
    """A pre-trained CNN model with 19 layers provided by VGG team.

    It has the same arguments and attributes as :class:`VGG16Layers`.

    Example:
        Without weights; ``'auto'`` reads the file of the Caffe model.

        >>> model = L.VGG19Layers(pretrained_model=None)
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> with chainer.using_config("train", False), chainer.no_backprop_mode():
        ...     found = model.extract([image], layers=["fc7", "prob"])
        >>> found["fc7"].shape, found["prob"].shape
        ((1, 4096), (1, 1000))
    """

    def __init__(self, pretrained_model: FilePath | None = "auto") -> None:
        super().__init__(pretrained_model, 19)


@prepare_sections()
def prepare(image: ImageLike, size: ImageSize | None = (224, 224)) -> Array:
    """Converts the given image to the numpy array for VGG models.

    Example:
        >>> from chainer.links.model.vision.vgg import prepare
        >>> prepare(np.zeros((10, 20), np.uint8), size=(8, 6)).shape
        (3, 6, 8)
    """
    return prepare_image(image, size, _MEAN)


def _max_pooling_2d(x: VariableLike) -> Variable:
    return cast("Variable", max_pooling_2d(x, ksize=2))


def _retrieve(name: str, url: str, model: VGGLayers) -> PretrainedNetwork:
    """Loads the converted weights of a caffemodel, which is downloaded if need be."""
    return retrieve(name, lambda: downloaded_caffemodel(url, None, name), model)


def _make_npz(path_npz: str, url: str, model: VGGLayers) -> PretrainedNetwork:
    """Downloads and converts a caffemodel; see `make_npz`."""
    return make_npz(path_npz, downloaded_caffemodel(url, None, path_npz), model)

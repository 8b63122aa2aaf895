"""GoogLeNet, the first network of inception modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, FilePath, VariableLike
from chainer.functions.activation.relu import relu
from chainer.functions.activation.softmax import softmax
from chainer.functions.noise.dropout import dropout
from chainer.functions.normalization.local_response_normalization import (
    local_response_normalization,
)
from chainer.functions.pooling.average_pooling_2d import average_pooling_2d
from chainer.functions.pooling.max_pooling_2d import max_pooling_2d
from chainer.links.caffe.caffe_function import CaffeFunction
from chainer.links.chain import Chain
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.inception import Inception
from chainer.links.connection.linear import Linear
from chainer.links.initializers.constant import Constant
from chainer.links.initializers.uniform import LeCunUniform
from chainer.links.model.vision._images import ImageLike, ImageSize, prepare_image, prepare_sections
from chainer.links.model.vision._pretrained import (
    PretrainedNetwork,
    copy_weights,
    downloaded_caffemodel,
    make_npz,
    retrieve,
)

_URL = "http://dl.caffe.berkeleyvision.org/bvlc_googlenet.caffemodel"
_SHA1 = "405fc5acd08a3bb12de8ee5e23a96bec22f08204"
_NPZ = "bvlc_googlenet.npz"
_MEAN = (104.0, 117.0, 123.0)

#: Arguments of the inception modules: input channels, 1x1, projection and 3x3, projection and 5x5,
#: projection after pooling.
_INCEPTIONS = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}

#: Names of layers outside of inception modules -> their names in the caffemodel.
_CAFFE_NAMES = {
    "conv1": "conv1/7x7_s2",
    "conv2_reduce": "conv2/3x3_reduce",
    "conv2": "conv2/3x3",
    "loss3_fc": "loss3/classifier",
    "loss1_conv": "loss1/conv",
    "loss1_fc1": "loss1/fc",
    "loss1_fc2": "loss1/classifier",
    "loss2_conv": "loss2/conv",
    "loss2_fc1": "loss2/fc",
    "loss2_fc2": "loss2/classifier",
}
_CAFFE_PATHS = {
    "conv1": "1x1",
    "proj3": "3x3_reduce",
    "conv3": "3x3",
    "proj5": "5x5_reduce",
    "conv5": "5x5",
    "projp": "pool_proj",
}


class GoogLeNet(PretrainedNetwork):
    """A pre-trained GoogLeNet model provided by BVLC.

    GoogLeNet, also called Inception-v1, is an architecture of convolutional neural networks of
    2014. It is small and needs little memory in training compared with later ones such as ResNet;
    those are more accurate.

    The `original model <https://github.com/BVLC/caffe/tree/master/models/bvlc_googlenet>`_ is
    downloaded, converted and kept at the first use of ``'auto'``. See `Going Deeper with
    Convolutions <https://arxiv.org/abs/1409.4842>`_.

    Args:
        pretrained_model (str): Path of a chainer model serialized as a ``.npz`` file. If
            ``'auto'``, the file is
            ``$CHAINER_DATASET_ROOT/pfnet/chainer/models/bvlc_googlenet.npz`` and made from the
            caffemodel if need be, where ``$CHAINER_DATASET_ROOT`` is ``~/.chainer/dataset``
            unless set as an environment variable. If None, nothing is loaded and the weights are
            initialized as BVLC does, by ``chainer.initializers.LeCunUniform(scale=1.0)``, which
            Caffe calls ``xavier``.

    Attributes:
        available_layers (list of str): Names of the layers to ask ``__call__`` and :meth:`extract`
            for. ``loss1_fc2`` and ``loss2_fc2`` are the auxiliary classifiers, before softmax.

    Raises:
        FileNotFoundError: If the given file does not exist.
        DownloadError: (an OSError) If the caffemodel cannot be downloaded; the text says what to do
            by hand.
        ImportError: If a package to download with is not installed.

    Example:
        >>> model = L.GoogLeNet(pretrained_model=None)
        >>> x = np.zeros((1, 3, 64, 64), np.float32)
        >>> model(x, layers=['inception_3a'])['inception_3a'].shape
        (1, 256, 8, 8)
    """

    _branches = {"loss1_fc2": "inception_4a", "loss2_fc2": "inception_4d"}
    _feature_layer = "pool5"
    _removed_argument = "train"

    def __init__(self, pretrained_model: FilePath | None = "auto") -> None:
        super().__init__()
        # The values are overwritten if a file is loaded; constants are made faster.
        init = LeCunUniform(scale=1.0) if pretrained_model is None else Constant(0)
        with self.init_scope():
            self.conv1 = Convolution2D(3, 64, 7, stride=2, pad=3, initialW=init)
            self.conv2_reduce = Convolution2D(64, 64, 1, initialW=init)
            self.conv2 = Convolution2D(64, 192, 3, pad=1, initialW=init)
            for name, sizes in _INCEPTIONS.items():
                setattr(self, f"inc{name}", Inception(*sizes, conv_init=init))
            self.loss3_fc = Linear(1024, 1000, initialW=init)
            self.loss1_conv = Convolution2D(512, 128, 1, initialW=init)
            self.loss1_fc1 = Linear(2048, 1024, initialW=init)
            self.loss1_fc2 = Linear(1024, 1000, initialW=init)
            self.loss2_conv = Convolution2D(528, 128, 1, initialW=init)
            self.loss2_fc1 = Linear(2048, 1024, initialW=init)
            self.loss2_fc2 = Linear(1024, 1000, initialW=init)
        if pretrained_model is not None:
            self._load_pretrained(pretrained_model, _NPZ, _download)

    @property
    def functions(self) -> dict[str, list[Callable[[VariableLike], Variable]]]:
        """Layer name -> functions that are applied one after another, in order of computation.

        ``loss1_fc2`` continues ``inception_4a`` and ``loss2_fc2`` continues ``inception_4d``.
        """
        functions: dict[str, list[Callable[[VariableLike], Variable]]] = {
            "conv1": [self.conv1, relu],
            "pool1": [_max_pooling_2d, _local_response_normalization],
            "conv2_reduce": [self.conv2_reduce, relu],
            "conv2": [self.conv2, relu, _local_response_normalization],
            "pool2": [_max_pooling_2d],
        }
        # The names of features come from the paper.
        pool_after = {"3b": "pool3", "4e": "pool4"}
        for name in _INCEPTIONS:
            functions[f"inception_{name}"] = [self[f"inc{name}"]]
            if name in pool_after:
                functions[pool_after[name]] = [_max_pooling_2d]
        functions["pool5"] = [_average_pooling_2d_k7]
        functions["loss3_fc"] = [_dropout, self.loss3_fc]
        functions["prob"] = [softmax]
        for loss in ("loss1", "loss2"):
            functions[f"{loss}_fc2"] = [
                _average_pooling_2d_k5,
                self[f"{loss}_conv"],
                relu,
                self[f"{loss}_fc1"],
                relu,
                self[f"{loss}_fc2"],
            ]
        return functions

    def _copy_caffemodel(self, path: FilePath) -> None:
        _transfer_googlenet(CaffeFunction(path), self)

    def _prepare(self, image: ImageLike, size: ImageSize | None) -> Array:
        return prepare(image, size)


def _transfer_googlenet(src: CaffeFunction, dst: GoogLeNet) -> None:
    """Copies the parameters of a caffemodel."""
    for name, caffe_name in _CAFFE_NAMES.items():
        copy_weights(src, caffe_name, dst[name])
    _transfer_inception(src, dst, _INCEPTIONS)


def _transfer_inception(src: CaffeFunction, dst: Chain, names: Iterable[str]) -> None:
    """Copies the parameters of inception modules.

    Args:
        src: The caffemodel.
        dst: Chain with the modules as ``inc3a``, ``inc3b``, ...
        names: Names of the modules, such as ``3a``.
    """
    for name in names:
        for path_name, caffe_path in _CAFFE_PATHS.items():
            target = getattr(dst[f"inc{name}"], path_name)
            copy_weights(src, f"inception_{name}/{caffe_path}", target)


@prepare_sections()
def prepare(image: ImageLike, size: ImageSize | None = (224, 224)) -> Array:
    """Converts the given image to the numpy array for GoogLeNet.

    Example:
        >>> from chainer.links.model.vision.googlenet import prepare
        >>> prepare(np.zeros((10, 20, 3), np.uint8)).shape
        (3, 224, 224)
    """
    return prepare_image(image, size, _MEAN)


def _max_pooling_2d(x: VariableLike) -> Variable:
    return cast("Variable", max_pooling_2d(x, ksize=3, stride=2))


def _average_pooling_2d_k5(x: VariableLike) -> Variable:
    return average_pooling_2d(x, ksize=5, stride=3)


def _average_pooling_2d_k7(x: VariableLike) -> Variable:
    return average_pooling_2d(x, ksize=7, stride=1)


def _local_response_normalization(x: VariableLike) -> Variable:
    return local_response_normalization(x, n=5, k=1, alpha=1e-4 / 5)


def _dropout(x: VariableLike) -> Variable:
    return dropout(x, ratio=0.4)


def _download() -> str:
    return downloaded_caffemodel(_URL, _SHA1, _NPZ)


def _retrieve(name_npz: str, url: str, model: GoogLeNet) -> PretrainedNetwork:
    """Loads the converted weights of a caffemodel, which is downloaded if need be."""
    return retrieve(name_npz, lambda: downloaded_caffemodel(url, None, name_npz), model)


def _make_npz(path_npz: str, url: str, model: GoogLeNet) -> PretrainedNetwork:
    """Downloads and converts a caffemodel; see `make_npz`."""
    return make_npz(path_npz, downloaded_caffemodel(url, None, path_npz), model)

"""Deep residual networks of 50, 101 and 152 layers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import cast

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, FilePath, InitializerLike, VariableLike
from chainer.core.utils.argument import renamed_arguments
from chainer.functions.activation.relu import relu
from chainer.functions.activation.softmax import softmax
from chainer.functions.array.reshape import reshape
from chainer.functions.pooling.average_pooling_2d import average_pooling_2d
from chainer.functions.pooling.max_pooling_2d import max_pooling_2d
from chainer.links.caffe.caffe_function import CaffeFunction
from chainer.links.chain import Chain
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.linear import Linear
from chainer.links.initializers.constant import Constant
from chainer.links.initializers.normal import HeNormal
from chainer.links.link import Link
from chainer.links.model.vision._images import ImageLike, ImageSize, prepare_image, prepare_sections
from chainer.links.model.vision._pretrained import (
    PretrainedNetwork,
    copy_normalization,
    copy_weights,
    make_npz,
    model_file,
    retrieve,
)
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.links.serializers.npz import save_npz

_URL = "https://github.com/KaimingHe/deep-residual-networks"
_MEAN = (103.063, 115.903, 123.152)

#: Number of layers -> number of bottlenecks in res2, res3, res4 and res5.
_BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class _Bottleneck(Chain):
    """Three convolutions, the middle one of 3 x 3, each followed by a normalization."""

    def __init__(
        self,
        in_channels: int | None,
        mid_channels: int,
        out_channels: int,
        strides: tuple[int, int],
        initialW: InitializerLike,
    ) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = _convolution(in_channels, mid_channels, 1, strides[0], 0, initialW)
            self.bn1 = BatchNormalization(mid_channels)
            self.conv2 = _convolution(mid_channels, mid_channels, 3, strides[1], 1, initialW)
            self.bn2 = BatchNormalization(mid_channels)
            self.conv3 = _convolution(mid_channels, out_channels, 1, 1, 0, initialW)
            self.bn3 = BatchNormalization(out_channels)

    def _residual(self, x: VariableLike) -> Variable:
        h = relu(self.bn1(self.conv1(x)))
        h = relu(self.bn2(self.conv2(h)))
        return self.bn3(self.conv3(h))


class BottleneckA(_Bottleneck):
    """First bottleneck of a stage, whose shortcut has a convolution.

    Args:
        in_channels (int or None): Channels of the input; inferred at the first call if None.
        mid_channels (int): Channels within the bottleneck.
        out_channels (int): Channels of the output.
        stride (int): Factor by which the bottleneck shrinks the image.
        initialW (initializer): Initializer of the weights.
        downsample_fb (bool): Whether the 3 x 3 convolution has the stride, as in the network of
            Facebook; otherwise the first convolution has it, as in the network of Microsoft.
    """

    def __init__(
        self,
        in_channels: int | None,
        mid_channels: int,
        out_channels: int,
        stride: int = 2,
        initialW: InitializerLike = None,
        downsample_fb: bool = False,
    ) -> None:
        # The paper halves the image in the first convolution, the Torch version in the second one.
        strides = (1, stride) if downsample_fb else (stride, 1)
        super().__init__(in_channels, mid_channels, out_channels, strides, initialW)
        with self.init_scope():
            self.conv4 = _convolution(in_channels, out_channels, 1, stride, 0, initialW)
            self.bn4 = BatchNormalization(out_channels)

    def forward(self, x: VariableLike) -> Variable:
        """Returns features of shape ``(B, out_channels, h / stride, w / stride)``."""
        return relu(self._residual(x) + self.bn4(self.conv4(x)))


class BottleneckB(_Bottleneck):
    """Bottleneck whose shortcut is the identity.

    Args:
        in_channels (int): Channels of input and output.
        mid_channels (int): Channels within the bottleneck.
        initialW (initializer): Initializer of the weights.
    """

    def __init__(
        self, in_channels: int, mid_channels: int, initialW: InitializerLike = None
    ) -> None:
        super().__init__(in_channels, mid_channels, in_channels, (1, 1), initialW)

    def forward(self, x: VariableLike) -> Variable:
        """Returns features of the shape of ``x``."""
        return relu(self._residual(x) + x)


class BuildingBlock(Chain):
    """A stage: bottleneck ``a`` followed by ``b1``, ``b2``, ...

    Args:
        n_layers (int): Number of bottlenecks.
        in_channels (int or None): Channels of the input; inferred at the first call if None.
        mid_channels (int): Channels within the bottlenecks.
        out_channels (int): Channels of the output.
        stride (int): Stride of the first bottleneck.
        initialW (initializer): Initializer of the weights.
        downsample_fb (bool): See :class:`BottleneckA`.
    """

    # All arguments have a default because release 7 has them; without the sizes it fails, too.
    @renamed_arguments(n_layer="n_layers")
    def __init__(
        self,
        n_layers: int | None = None,
        in_channels: int | None = None,
        mid_channels: int | None = None,
        out_channels: int | None = None,
        stride: int | None = None,
        initialW: InitializerLike = None,
        downsample_fb: bool | None = None,
    ) -> None:
        if n_layers is None or mid_channels is None or out_channels is None:
            raise TypeError("BuildingBlock needs n_layers, mid_channels and out_channels")
        super().__init__()
        #: Names of the bottlenecks in the order of their calls.
        self._forward = ["a", *(f"b{i}" for i in range(1, n_layers))]
        with self.init_scope():
            self.a = BottleneckA(
                in_channels,
                mid_channels,
                out_channels,
                1 if stride is None else stride,
                initialW,
                bool(downsample_fb),
            )
            for name in self._forward[1:]:
                setattr(self, name, BottleneckB(out_channels, mid_channels, initialW))

    def bottlenecks(self) -> list[Link]:
        """Returns the bottlenecks in the order of their calls."""
        return [self[name] for name in self._forward]

    def forward(self, x: VariableLike) -> Variable:
        """Returns features of shape ``(B, out_channels, h / stride, w / stride)``."""
        for bottleneck in self.bottlenecks():
            x = bottleneck(x)
        return as_variable(x)


class ResNetLayers(PretrainedNetwork):
    """A pre-trained CNN model provided by MSRA.

    Unlike :class:`~chainer.links.VGG16Layers` it does not download the caffemodel, which can be
    obtained from `GitHub <https://github.com/KaimingHe/deep-residual-networks>`_.

    See `Deep Residual Learning for Image Recognition <https://arxiv.org/abs/1512.03385>`_.

    Args:
        pretrained_model (str): Path of a chainer model serialized as a ``.npz`` file. If
            ``'auto'``, the caffemodel
            ``$CHAINER_DATASET_ROOT/pfnet/chainer/models/ResNet-{n_layers}-model.caffemodel`` is
            converted to a file ``.npz`` next to it, which is used from the second time on;
            ``$CHAINER_DATASET_ROOT`` is ``~/.chainer/dataset`` unless set as an environment
            variable. If None, nothing is loaded and the weights are initialized as in the original
            paper, by ``chainer.initializers.HeNormal(scale=1.0)``.
        n_layers (int): Number of layers: 50, 101 or 152.
        downsample_fb (bool): Whether the 3 x 3 convolutions shrink the images, as in the networks
            of Facebook; otherwise the 1 x 1 convolutions do, as in the original networks.

    Attributes:
        available_layers (list of str): Names of the layers to ask ``__call__`` and :meth:`extract`
            for: ``conv1``, ``pool1``, ``res2``, ``res3``, ``res4``, ``res5``, ``pool5``, ``fc6``,
            ``prob``.

    Raises:
        ValueError: If ``n_layers`` is another number.
        FileNotFoundError: If the file does not exist; the text says where to get the caffemodel and
            where to put it.

    Example:
        >>> from chainer.links.model.vision.resnet import ResNetLayers
        >>> model = ResNetLayers(None, 50)
        >>> x = np.zeros((1, 3, 64, 64), np.float32)
        >>> with chainer.using_config('train', False):
        ...     features = model(x, layers=['res2', 'pool5'])
        >>> features['res2'].shape, features['pool5'].shape
        ((1, 256, 16, 16), (1, 2048))
    """

    _feature_layer = "pool5"

    def __init__(
        self, pretrained_model: FilePath | None, n_layers: int, downsample_fb: bool = False
    ) -> None:
        super().__init__()
        if n_layers not in _BLOCKS:
            raise ValueError(
                f"The n_layers argument should be either 50, 101, or 152, but {n_layers} was given."
            )
        # The values are overwritten if a file is loaded; constants are made faster.
        init = HeNormal(scale=1.0) if pretrained_model is None else Constant(0)
        blocks = _BLOCKS[n_layers]
        with self.init_scope():
            self.conv1 = Convolution2D(3, 64, 7, 2, 3, initialW=init)
            self.bn1 = BatchNormalization(64)
            self.res2 = BuildingBlock(blocks[0], 64, 64, 256, 1, init, downsample_fb)
            self.res3 = BuildingBlock(blocks[1], 256, 128, 512, 2, init, downsample_fb)
            self.res4 = BuildingBlock(blocks[2], 512, 256, 1024, 2, init, downsample_fb)
            self.res5 = BuildingBlock(blocks[3], 1024, 512, 2048, 2, init, downsample_fb)
            self.fc6 = Linear(2048, 1000)
        if pretrained_model is not None:
            name = f"ResNet-{n_layers}-model"
            self._load_pretrained(
                pretrained_model, f"{name}.npz", lambda: _present(f"{name}.caffemodel")
            )

    @property
    def functions(self) -> dict[str, list[Callable[[VariableLike], Variable]]]:
        """Layer name -> functions that are applied one after another, in order of computation."""
        return {
            "conv1": [self.conv1, self.bn1, relu],
            "pool1": [_max_pool],
            "res2": [self.res2],
            "res3": [self.res3],
            "res4": [self.res4],
            "res5": [self.res5],
            "pool5": [_global_average_pooling_2d],
            "fc6": [self.fc6],
            "prob": [softmax],
        }

    @classmethod
    def convert_caffemodel_to_npz(
        cls,
        path_caffemodel: FilePath,
        path_npz: FilePath,
        n_layers: int = 50,
    ) -> None:
        """Converts a pre-trained caffemodel to a chainer model.

        Args:
            path_caffemodel (str): Path of the pre-trained caffemodel.
            path_npz (str): Path of the converted chainer model.
            n_layers (int): Number of layers: 50, 101 or 152.

        Raises:
            ValueError: If the file is not a caffemodel of this network.
        """
        model = ResNetLayers(None, n_layers)
        model._copy_caffemodel(path_caffemodel)
        save_npz(path_npz, model, compression=False)

    def _copy_caffemodel(self, path: FilePath) -> None:
        _transfer_resnet(CaffeFunction(path), self)

    def _prepare(self, image: ImageLike, size: ImageSize | None) -> Array:
        return prepare(image, size)


class ResNet50Layers(ResNetLayers):
    """A pre-trained CNN model with 50 layers provided by MSRA.

    ResNet50 has 25,557,096 trainable parameters, 43% and 58% fewer than ResNet101 and ResNet152,
    while the top-5 accuracy on ImageNet is only 0.7% and 1.1% lower: often the best balance of
    accuracy and size.

    It has the same arguments and attributes as
    :class:`~chainer.links.model.vision.resnet.ResNetLayers`, without ``n_layers``. The model
    ``'auto'`` is made from ``ResNet-50-model.caffemodel``.

    Example:
        Without weights; ``'auto'`` reads the file of the Caffe model.

        >>> model = L.ResNet50Layers(pretrained_model=None)
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> with chainer.using_config("train", False), chainer.no_backprop_mode():
        ...     found = model.extract([image], layers=["pool5", "prob"])
        >>> found["pool5"].shape, found["prob"].shape
        ((1, 2048), (1, 1000))
    """

    def __init__(
        self, pretrained_model: FilePath | None = "auto", downsample_fb: bool = False
    ) -> None:
        super().__init__(pretrained_model, 50, downsample_fb)


class ResNet101Layers(ResNetLayers):
    """A pre-trained CNN model with 101 layers provided by MSRA.

    ResNet101 has 44,549,224 trainable parameters, 26% fewer than ResNet152, while the top-5
    accuracy on ImageNet is 1.1% lower at most.

    It has the same arguments and attributes as
    :class:`~chainer.links.model.vision.resnet.ResNetLayers`, without ``n_layers``. The model
    ``'auto'`` is made from ``ResNet-101-model.caffemodel``.

    Example:
        Without weights; ``'auto'`` reads the file of the Caffe model.

        >>> model = L.ResNet101Layers(pretrained_model=None)
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> with chainer.using_config("train", False), chainer.no_backprop_mode():
        ...     found = model.extract([image], layers=["pool5", "prob"])
        >>> found["pool5"].shape, found["prob"].shape
        ((1, 2048), (1, 1000))
    """

    def __init__(
        self, pretrained_model: FilePath | None = "auto", downsample_fb: bool = False
    ) -> None:
        super().__init__(pretrained_model, 101, downsample_fb)


class ResNet152Layers(ResNetLayers):
    """A pre-trained CNN model with 152 layers provided by MSRA.

    ResNet152 has 60,192,872 trainable parameters; it is the deepest of the three and achieved the
    best result on ImageNet classification in ILSVRC 2015.

    It has the same arguments and attributes as
    :class:`~chainer.links.model.vision.resnet.ResNetLayers`, without ``n_layers``. The model
    ``'auto'`` is made from ``ResNet-152-model.caffemodel``.

    Example:
        Without weights; ``'auto'`` reads the file of the Caffe model.

        >>> model = L.ResNet152Layers(pretrained_model=None)
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> with chainer.using_config("train", False), chainer.no_backprop_mode():
        ...     found = model.extract([image], layers=["pool5", "prob"])
        >>> found["pool5"].shape, found["prob"].shape
        ((1, 2048), (1, 1000))
    """

    def __init__(
        self, pretrained_model: FilePath | None = "auto", downsample_fb: bool = False
    ) -> None:
        super().__init__(pretrained_model, 152, downsample_fb)


@prepare_sections()
def prepare(image: ImageLike, size: ImageSize | None = (224, 224)) -> Array:
    """Converts the given image to the numpy array for ResNets.

    Example:
        >>> from chainer.links.model.vision.resnet import prepare
        >>> prepare(np.zeros((10, 20), np.uint8), size=None).shape
        (3, 10, 20)
    """
    return prepare_image(image, size, _MEAN)


def _convolution(
    n_in: int | None, n_out: int, ksize: int, stride: int, pad: int, initialW: InitializerLike
) -> Convolution2D:
    return Convolution2D(n_in, n_out, ksize, stride, pad, nobias=True, initialW=initialW)


def _max_pool(x: VariableLike) -> Variable:
    return cast("Variable", max_pooling_2d(x, ksize=3, stride=2))


def _global_average_pooling_2d(x: Variable) -> Variable:
    n, channels, height, width = x.shape
    return reshape(average_pooling_2d(x, (height, width), stride=1), (n, channels))


def _transfer_resnet(src: CaffeFunction, dst: ResNetLayers) -> None:
    """Copies the parameters of a caffemodel."""
    # The first convolution has a bias in the model of 50 layers only.
    bias = getattr(getattr(src, "conv1", None), "b", None) is not None
    copy_weights(src, "conv1", dst.conv1, ("W", "b") if bias else ("W",))
    copy_normalization(src, "conv1", "_", dst.bn1)
    copy_weights(src, "fc1000", dst.fc6)
    for stage in ("res2", "res3", "res4", "res5"):
        block = getattr(dst, stage)
        _transfer_block(src, block, _caffe_suffixes(src, stage, block), stage[-1])


# Programs know the function by the names that release 7 has for each number of layers.
_transfer_resnet50 = _transfer_resnet101 = _transfer_resnet152 = _transfer_resnet


def _transfer_block(
    src: CaffeFunction, dst: BuildingBlock, names: Sequence[str], stage: str = ""
) -> None:
    """Copies the parameters of a stage.

    Args:
        src: The caffemodel.
        dst: The stage.
        names: Names of its bottlenecks in the caffemodel, such as ``2a``.
        stage: Prefix of the names.
    """
    for bottleneck, name in zip(dst.bottlenecks(), names):
        _transfer_bottleneck(src, bottleneck, f"{stage}{name}")


def _transfer_bottleneck(src: CaffeFunction, dst: Link, name: str) -> None:
    """Copies the parameters of a bottleneck.

    Args:
        src: The caffemodel.
        dst: The bottleneck.
        name: Its name in the caffemodel, such as ``2a``.
    """
    for i in range(1, 5):
        convolution = getattr(dst, f"conv{i}", None)
        if convolution is not None:
            branch = "branch1" if i == 4 else f"branch2{'abc'[i - 1]}"
            bname = f"{name}_{branch}"
            _transfer_components(src, convolution, getattr(dst, f"bn{i}"), bname, bname)


def _transfer_components(
    src: CaffeFunction, dst_conv: Convolution2D, dst_bn: BatchNormalization, bname: str, cname: str
) -> None:
    """Copies the parameters of a convolution and of the batch normalization behind it.

    Args:
        src: The caffemodel.
        dst_conv: The convolution.
        dst_bn: The batch normalization.
        bname: Name of the batch normalization in the caffemodel, without ``bn``.
        cname: Name of the convolution in the caffemodel, without ``res``.
    """
    copy_weights(src, f"res{cname}", dst_conv, ("W",))
    copy_normalization(src, bname, "", dst_bn)


# The names of release 7 for the bottlenecks with and without a convolution beside them.
_transfer_bottleneckA = _transfer_bottleneckB = _transfer_bottleneck


def _retrieve(
    n_layers: int, name_npz: str, name_caffemodel: str, model: ResNetLayers
) -> PretrainedNetwork:
    """Loads the converted weights of a caffemodel in the directory of models; see `retrieve`."""
    return retrieve(name_npz, lambda: _present(name_caffemodel), model)


def _make_npz(
    path_npz: str, path_caffemodel: str, model: ResNetLayers, n_layers: int
) -> PretrainedNetwork:
    """Converts a caffemodel; see `make_npz`."""
    return make_npz(path_npz, path_caffemodel, model)


def _caffe_suffixes(source: CaffeFunction, name: str, stage: BuildingBlock) -> list[str]:
    """Returns the letters by which the caffemodel names the bottlenecks of a stage.

    The models call them a, b, c, ... in short stages, and a, b1, b2, ... in long ones.
    """
    numbered = getattr(source, f"{name}b1_branch2a", None) is not None
    return [
        f"b{i}" if numbered and i else "abcdefghijklmnopqrstuvwxyz"[i % 26]
        for i in range(len(stage.bottlenecks()))
    ]


def _present(caffemodel: str) -> str:
    path = model_file(caffemodel)
    if not os.path.exists(path):
        raise FileNotFoundError(
            "The pre-trained caffemodel does not exist. Please download it from "
            f"{_URL!r}, and place it on {path}"
        )
    return path

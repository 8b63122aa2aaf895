"""The MNIST dataset."""

from __future__ import annotations

import numpy

from chainer.core.typing import DTypeLike
from chainer.training.datasets.mnist_format import (
    MnistLike,
    load_mnist_like,
    load_part,
    mnist_sections,
    mnist_splits,
)
from chainer.training.datasets.raw_files import Arrays

_NAME = "pfnet/chainer/mnist"

# The authors' server, which earlier releases used, does not always answer.
_OLD_URL = "http://yann.lecun.com/exdb/mnist/"
_URLS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    _OLD_URL,
)

# Sums published with the copies of torchvision.
_FILES = mnist_splits(
    *_URLS,
    train=("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432"),
    test=("9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
    cache_url=_OLD_URL,
)


def _retrieve_mnist_training() -> Arrays:
    return load_part(_NAME, _FILES, "train")


def _retrieve_mnist_test() -> Arrays:
    return load_part(_NAME, _FILES, "test")


@mnist_sections()
def get_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeLike = None,
    label_dtype: DTypeLike = numpy.int32,
    rgb_format: bool = False,
) -> MnistLike:
    """Gets the MNIST dataset.

    `MNIST <http://yann.lecun.com/exdb/mnist/>`_ is a set of hand-written digits represented by
    gray-scale 28x28 images. In the original images, each pixel is represented by one-byte unsigned
    integer. This function scales the pixels to floating point values in the interval ``[0,
    scale]``.

    This function returns the training set and the test set of the official MNIST dataset. If
    ``withlabel`` is ``True``, each dataset consists of tuples of images and labels, otherwise it
    only consists of images.

    Files are looked for in ``pfnet/chainer/mnist`` below the dataset root before they are
    downloaded: ``train.npz`` and ``test.npz`` (arrays ``x``, uint8 of shape (n, 784), and ``y``,
    uint8 of shape (n,)), or the official ones, ``train-images-idx3-ubyte.gz`` and so on, compressed
    or not, with any number of images.

    Example:
        >>> train, test = chainer.datasets.get_mnist()
        >>> image, label = train[0]
        >>> image.shape, image.dtype.name, label.dtype.name
        ((784,), 'float32', 'int32')
        >>> train, test = chainer.datasets.get_mnist(withlabel=False, ndim=3)
        >>> train[0].shape
        (1, 28, 28)
    """
    # Looked up at each call: programs without a network replace these functions.
    parts = {"train": _retrieve_mnist_training, "test": _retrieve_mnist_test}
    return load_mnist_like(_NAME, parts, withlabel, ndim, scale, dtype, label_dtype, rgb_format)

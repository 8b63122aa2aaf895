"""The Fashion-MNIST dataset."""

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

_NAME = "pfnet/chainer/fashion-mnist"

_URLS = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
)

# Debian's package dataset-fashion-mnist.
_DIRECTORIES = ("/usr/share/datasets/fashion-mnist",)

# Sums published by the authors.
_FILES = mnist_splits(
    *_URLS,
    train=("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe"),
    test=("bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
    cache_url=_URLS[0],
    directories=_DIRECTORIES,
)

_LABELS = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)


def get_fashion_mnist_labels() -> list[str]:
    """Gets the names of the ten labels of the Fashion-MNIST dataset.

    Returns:
        list of str: Names by label.

    Example:
        >>> chainer.datasets.get_fashion_mnist_labels()[:3]
        ['T-shirt/top', 'Trouser', 'Pullover']
    """
    return list(_LABELS)


def _retrieve_fashion_mnist_training() -> Arrays:
    return load_part(_NAME, _FILES, "train")


def _retrieve_fashion_mnist_test() -> Arrays:
    return load_part(_NAME, _FILES, "test")


@mnist_sections()
def get_fashion_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeLike = None,
    label_dtype: DTypeLike = numpy.int32,
    rgb_format: bool = False,
) -> MnistLike:
    """Gets the Fashion-MNIST dataset.

    `Fashion-MNIST <https://github.com/zalandoresearch/fashion-mnist/>`_ is a set of fashion
    articles represented by gray-scale 28x28 images. In the original images, each pixel is
    represented by one-byte unsigned integer. This function scales the pixels to floating point
    values in the interval ``[0, scale]``.

    This function returns the training set and the test set of the official Fashion-MNIST dataset.
    If ``withlabel`` is ``True``, each dataset consists of tuples of images and labels, otherwise it
    only consists of images.

    Files are looked for in ``pfnet/chainer/fashion-mnist`` below the dataset root before they are
    downloaded, as by :func:`~chainer.datasets.get_mnist`, and where Debian's package
    ``dataset-fashion-mnist`` installs them.

    Example:
        >>> train, test = chainer.datasets.get_fashion_mnist()
        >>> image, label = train[0]
        >>> image.shape, image.dtype.name, label.dtype.name
        ((784,), 'float32', 'int32')
        >>> train, test = chainer.datasets.get_fashion_mnist(withlabel=False, ndim=3)
        >>> train[0].shape
        (1, 28, 28)
    """
    # Looked up at each call: programs without a network replace these functions.
    parts = {"train": _retrieve_fashion_mnist_training, "test": _retrieve_fashion_mnist_test}
    return load_mnist_like(_NAME, parts, withlabel, ndim, scale, dtype, label_dtype, rgb_format)

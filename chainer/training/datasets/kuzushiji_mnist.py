"""The Kuzushiji-MNIST dataset."""

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

_NAME = "pfnet/chainer/kuzushiji_mnist"

_URL = "http://codh.rois.ac.jp/kmnist/dataset/kmnist/"

# Sums published with torchvision.
_FILES = mnist_splits(
    _URL,
    train=("bdb82020997e1d708af4cf47b453dcf7", "e144d726b3acfaa3e44228e80efcd344"),
    test=("5c965bf0a639b31b8f53240b1b52f4d7", "7320c461ea6c1c855c0b718fb2a4b134"),
    cache_url=_URL,
)

_LABELS = (
    *(("o", "お"), ("ki", "き"), ("su", "す"), ("tsu", "つ"), ("na", "な")),
    *(("ha", "は"), ("ma", "ま"), ("ya", "や"), ("re", "れ"), ("wo", "を")),
)


def get_kuzushiji_mnist_labels() -> list[tuple[str, str]]:
    """Gets the names of the ten labels of the Kuzushiji-MNIST dataset.

    Returns:
        list of tuples: Romanized name and Hiragana character by label.

    Example:
        >>> len(chainer.datasets.get_kuzushiji_mnist_labels())
        10
    """
    return list(_LABELS)


def _retrieve_kuzushiji_mnist_training() -> Arrays:
    return load_part(_NAME, _FILES, "train")


def _retrieve_kuzushiji_mnist_test() -> Arrays:
    return load_part(_NAME, _FILES, "test")


@mnist_sections()
def get_kuzushiji_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeLike = None,
    label_dtype: DTypeLike = numpy.int32,
    rgb_format: bool = False,
) -> MnistLike:
    """Gets the Kuzushiji-MNIST dataset.

    `Kuzushiji-MNIST <http://codh.rois.ac.jp/kmnist/index.html.en>`_ is a set of hand-written
    Japanese characters (ten kinds of Hiragana in cursive script) represented by gray-scale 28x28
    images. In the original images, each pixel is represented by one-byte unsigned integer. This
    function scales the pixels to floating point values in the interval ``[0, scale]``.

    This function returns the training set (60,000 images) and the test set (10,000 images). If
    ``withlabel`` is ``True``, each dataset consists of tuples of images and labels, otherwise it
    only consists of images.

    Files are looked for in ``pfnet/chainer/kuzushiji_mnist`` below the dataset root before they are
    downloaded, as by :func:`~chainer.datasets.get_mnist`.

    Example:
        >>> train, test = chainer.datasets.get_kuzushiji_mnist()
        >>> image, label = train[0]
        >>> image.shape, image.dtype.name, label.dtype.name
        ((784,), 'float32', 'int32')
        >>> train, test = chainer.datasets.get_kuzushiji_mnist(withlabel=False, ndim=3)
        >>> train[0].shape
        (1, 28, 28)
    """
    # Looked up at each call: programs without a network replace these functions.
    parts = {"train": _retrieve_kuzushiji_mnist_training, "test": _retrieve_kuzushiji_mnist_test}
    return load_mnist_like(_NAME, parts, withlabel, ndim, scale, dtype, label_dtype, rgb_format)

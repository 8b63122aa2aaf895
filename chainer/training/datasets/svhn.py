"""The SVHN dataset."""

from __future__ import annotations

import math

import numpy

from chainer.core.config.dtype import get_dtype
from chainer.core.installation import install_command
from chainer.core.typing import DTypeLike, HostArray
from chainer.links.serializers.file_format import FileFormatError, format_errors
from chainer.training.datasets.raw_files import Arrays, RawFile, load_arrays, require, scaled
from chainer.training.datasets.tuple_dataset import TupleDataset

_NAME = "pfnet/chainer/svhn"
_URL = "http://ufldl.stanford.edu/housenumbers/"

# Sums published with torchvision.
_FILES = {
    split: RawFile(f"{split}_32x32.mat", (f"{_URL}{split}_32x32.mat",), md5)
    for split, md5 in (
        ("train", "e26dedcc434d2e4c54c9b2d4a06d8373"),
        ("test", "eb5a983be6a315427106f1b164d9cef3"),
        ("extra", "a93ce644f1a588dc4d68dda5feec44a7"),
    )
}


def get_svhn(
    withlabel: bool = True,
    scale: float = 1.0,
    dtype: DTypeLike = None,
    label_dtype: DTypeLike = numpy.int32,
    add_extra: bool = False,
) -> tuple[TupleDataset | HostArray, ...]:
    """Gets the SVHN dataset.

    `The Street View House Numbers (SVHN) dataset <http://ufldl.stanford.edu/housenumbers/>`_ is a
    dataset similar to MNIST but composed of cropped images of house numbers. The functionality of
    this function is identical to the counterpart for the MNIST dataset
    (:func:`~chainer.datasets.get_mnist`), with the exception that there is no ``ndim`` argument:
    the shape of each image is ``(3, 32, 32)``. The label of the digit zero is 0.

    Files are looked for in ``pfnet/chainer/svhn`` below the dataset root before they are
    downloaded: ``train.npz``, ``test.npz`` and ``extra.npz`` (arrays ``x``, uint8 of shape
    (32, 32, 3, n), and ``y``, uint8 of shape (n, 1)), or the official ``train_32x32.mat``,
    ``test_32x32.mat`` and ``extra_32x32.mat``, with any number of images.

    .. note::
        `SciPy <https://www.scipy.org/>`_ is required to read the official files.

    Args:
        withlabel (bool): If ``True``, it returns datasets with labels. In this case, each example
            is a tuple of an image and a label. Otherwise, the datasets only contain images.
        scale (float): Pixel value scale. If it is 1 (default), pixels are scaled to the interval
            ``[0, 1]``.
        dtype: Data type of resulting image arrays; ``chainer.config.dtype`` by default.
        label_dtype: Data type of the labels.
        add_extra (bool): If ``True``, the extra training set (531,131 images) is returned as well.

    Returns:
        A tuple of two datasets, or of three: training, test and extra. If ``withlabel`` is
        ``True``, they are :class:`~chainer.datasets.TupleDataset` instances. Otherwise, they are
        arrays of images.

    Raises:
        ValueError: If a file is damaged.
        OSError: If a file can neither be found nor downloaded.
        ImportError: If SciPy, or pooch for the download, is needed and not installed.

    Example:
        >>> train, test = chainer.datasets.get_svhn()
        >>> image, label = train[0]
        >>> image.shape, image.dtype.name, label.dtype.name
        ((3, 32, 32), 'float32', 'int32')
    """
    dtype = get_dtype(dtype)
    # Looked up at each call: programs without a network replace these functions.
    parts = {
        "train": _retrieve_svhn_training,
        "test": _retrieve_svhn_test,
        "extra": _retrieve_svhn_extra,
    }

    def load(split: str) -> TupleDataset | HostArray:
        arrays = parts[split]()
        require(arrays, f"{_NAME}/{split}", x=(32, 32, 3, None))
        require(arrays, f"{_NAME}/{split}", y=(arrays["x"].shape[3], 1))
        # The files have the number of the image as their last axis.
        images = scaled(numpy.ascontiguousarray(arrays["x"].transpose(3, 2, 0, 1)), scale, dtype)
        if not withlabel:
            return images
        labels = arrays["y"][:, 0].astype(label_dtype)
        labels[labels == 10] = 0  # the digit zero has label 10 in the files
        return TupleDataset(images, labels)

    return tuple([load(split) for split in ("train", "test", "extra")[: 3 if add_extra else 2]])


def _load_part(split: str) -> Arrays:
    """Returns the arrays ``x`` of shape (32, 32, 3, n) and ``y`` of shape (n, 1) of a part."""
    return load_arrays(_NAME, f"{split}.npz", (_FILES[split],), _parse)


def _retrieve_svhn_training() -> Arrays:
    return _load_part("train")


def _retrieve_svhn_test() -> Arrays:
    return _load_part("test")


def _retrieve_svhn_extra() -> Arrays:
    return _load_part("extra")


#: Size of the largest array that is read. The part 'extra' has 1.6e9 numbers of one byte.
_MAX_ELEMENTS = 1 << 31


def _parse(path: str) -> Arrays:
    try:
        from scipy.io import loadmat, whosmat
        from scipy.io.matlab import MatReadError
    except ImportError as error:
        raise ImportError(
            f"SciPy is required to read the SVHN files: {install_command('chainer[datasets]')}"
        ) from error
    more = MatReadError, AssertionError, MemoryError
    with format_errors(f"{path!r} is damaged or not an SVHN file", *more):
        for name, shape, _ in whosmat(path):
            if name in ("X", "y") and math.prod(shape) > _MAX_ELEMENTS:
                raise FileFormatError(
                    f"{path!r} declares {name!r} of shape {shape}, more than the {_MAX_ELEMENTS:,} "
                    "numbers of any part of SVHN"
                )
        try:
            content = loadmat(path, variable_names=("X", "y"))
        except OSError as error:
            if error.errno is not None:
                raise
            # SciPy, of a file that ends before what it declares.
            raise FileFormatError(f"{path!r} is damaged or not an SVHN file: {error}") from error
        return {"x": content["X"], "y": content["y"]}

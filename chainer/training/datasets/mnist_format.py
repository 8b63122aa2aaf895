"""The IDX format, and what the loaders of MNIST and of similar datasets share."""

from __future__ import annotations

import functools
import gzip
import math
import struct
from collections.abc import Callable
from typing import TypeAlias

import numpy

from chainer.core.config.dtype import get_dtype
from chainer.core.typing import DTypeLike, HostArray
from chainer.links.serializers.file_format import FileFormatError, format_errors
from chainer.training.datasets.raw_files import (
    Arrays,
    RawFile,
    image_sections,
    load_arrays,
    require,
    scaled,
)
from chainer.training.datasets.tuple_dataset import TupleDataset

#: Code of unsigned bytes in the third byte of a file.
_UBYTE = 0x08

#: Size of the largest array that is read, in bytes. The largest dataset of this format, EMNIST, has
#: 0.5 GiB.
_MAX_BYTES = 1 << 30

MnistLike: TypeAlias = tuple[TupleDataset | HostArray, TupleDataset | HostArray]
"""Training set and test set: pairs of images and labels, or an array of images."""


#: Sections shared by the docstrings of the loaders of MNIST and of similar datasets.
mnist_sections = functools.partial(
    image_sections,
    shapes="""\
        - ``ndim == 1``: the shape is ``(784,)``
        - ``ndim == 2``: the shape is ``(28, 28)``
        - ``ndim == 3``: the shape is ``(1, 28, 28)``""",
    labels="""\
    label_dtype: Data type of the labels.
    rgb_format (bool): if ``ndim == 3`` and ``rgb_format`` is ``True``, the image will be
        converted to rgb format by duplicating the channels so the image shape is (3, 28, 28).
        Default is ``False``.
""",
)


def read_idx(path: str) -> HostArray:
    """Reads a file in IDX format, compressed by gzip or not.

    Args:
        path: Path to the file.

    Returns:
        numpy.ndarray: Array of uint8.

    Raises:
        FileFormatError: If the file is cut off or not an IDX file of unsigned bytes.
        OSError: If the file cannot be read.
    """
    # The magic number of gzip decides, because names of files may have lost their suffix.
    with format_errors(f"{path!r} is damaged or cut off", gzip.BadGzipFile):
        with open(path, "rb") as raw:
            compressed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path) if compressed else open(path, "rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] != _UBYTE:
                raise FileFormatError(f"{path!r} is not a file of unsigned bytes in IDX format")
            axes = file.read(4 * head[3])
            if len(axes) < 4 * head[3]:
                raise FileFormatError(f"{path!r} is cut off in its header")
            shape = struct.unpack(f">{head[3]}I", axes)
            size = math.prod(shape)
            if size > _MAX_BYTES:
                raise FileFormatError(
                    f"{path!r} declares {size:,} bytes, more than the {_MAX_BYTES:,} of any "
                    "dataset of this format"
                )
            # One more than expected tells whether it is longer: a file may expand to any size.
            data = file.read(size + 1)
    if len(data) != size:
        found = str(len(data)) if len(data) < size else f"more than {size}"
        raise FileFormatError(f"{path!r} must hold {size} bytes for its shape {shape}, got {found}")
    try:
        return numpy.frombuffer(data, numpy.uint8).reshape(shape)
    except ValueError as error:  # an empty array with a huge axis, or more axes than NumPy has
        raise FileFormatError(f"{path!r} declares a shape that no array has: {error}") from error


def mnist_files(
    urls: tuple[str, ...],
    split: str,
    md5: tuple[str | None, str | None],
    cache_url: str,
    directories: tuple[str, ...] = (),
) -> tuple[RawFile, RawFile]:
    """Returns the files of images and labels of one part of a dataset.

    Args:
        urls: Addresses of the directories on the servers, with a slash at the end.
        split: ``'train'`` or ``'t10k'``.
        md5: MD5 sums of the two files, None where they are not known.
        cache_url: The one of the addresses that earlier releases used.
        directories: Directories in which systems install the files.
    """
    names = (f"{split}-images-idx3-ubyte.gz", f"{split}-labels-idx1-ubyte.gz")
    images, labels = (
        RawFile(
            name,
            tuple(url + name for url in urls),
            checksum,
            cache_url + name,
            # The other names in use for the uncompressed files.
            alternatives=(name[:-3], name[:-3].replace("-idx", ".idx")),
            directories=directories,
        )
        for name, checksum in zip(names, md5)
    )
    return images, labels


def mnist_splits(
    *urls: str,
    train: tuple[str | None, str | None],
    test: tuple[str | None, str | None],
    cache_url: str,
    directories: tuple[str, ...] = (),
) -> dict[str, tuple[RawFile, RawFile]]:
    """Returns the files of both parts of a dataset, ``'train'`` and ``'test'``.

    Args:
        urls: Addresses of the directories on the servers, with a slash at the end.
        train: MD5 sums of the images and of the labels, None where they are not known.
        test: MD5 sums of the files of the test part.
        cache_url: The one of the addresses that earlier releases used.
        directories: Directories in which systems install the files.
    """
    return {
        "train": mnist_files(urls, "train", train, cache_url, directories),
        "test": mnist_files(urls, "t10k", test, cache_url, directories),
    }


def _parse(images_path: str, labels_path: str) -> Arrays:
    images, labels = read_idx(images_path), read_idx(labels_path)
    require({"images": images}, images_path, images=(None, 28, 28))
    require({"labels": labels}, labels_path, labels=(len(images),))
    return {"x": images.reshape(len(images), 784), "y": labels}


def load_part(dataset_name: str, files: dict[str, tuple[RawFile, RawFile]], split: str) -> Arrays:
    """Returns the arrays ``x`` of shape (n, 784) and ``y`` of shape (n,) of a part.

    Args:
        dataset_name: Name of the directory below the dataset root.
        files: Files by name of the part: ``'train'`` and ``'test'``.
        split: Name of the part.
    """
    return load_arrays(dataset_name, f"{split}.npz", files[split], _parse)


def load_mnist_like(
    dataset_name: str,
    parts: dict[str, Callable[[], Arrays]],
    withlabel: bool,
    ndim: int,
    scale: float,
    dtype: DTypeLike,
    label_dtype: DTypeLike,
    rgb_format: bool,
) -> MnistLike:
    """Returns training and test set in the form that was asked for.

    Args:
        dataset_name: Name of the directory below the dataset root.
        parts: Functions that return the arrays, by name of the part: ``'train'`` and ``'test'``.
        withlabel: See :func:`~chainer.datasets.get_mnist`, as for the others.
        ndim: Number of dimensions of each image.
        scale: Value that white is scaled to.
        dtype: Data type of the images; ``chainer.config.dtype`` if None.
        label_dtype: Data type of the labels.
        rgb_format: Whether to have three equal channels.
    """
    if ndim not in (1, 2, 3):
        raise ValueError(f"invalid ndim for MNIST dataset: expected 1, 2 or 3, got {ndim}")

    dtype = get_dtype(dtype)

    def load(split: str) -> TupleDataset | HostArray:
        arrays = parts[split]()
        source = f"{dataset_name}/{split}"
        require(arrays, source, x=(None, 784), y=(len(arrays.get("x", ())),))
        images = scaled(arrays["x"], scale, dtype)
        if ndim == 2:
            images = images.reshape(-1, 28, 28)
        elif ndim == 3:
            images = images.reshape(-1, 1, 28, 28)
            if rgb_format:
                # A copy, because programs change images in place.
                images = numpy.broadcast_to(images, (len(images), 3, 28, 28)).copy()
        if not withlabel:
            return images
        return TupleDataset(images, arrays["y"].astype(label_dtype))

    return load("train"), load("test")

"""Finding the files popular datasets are distributed in: on the disk first, then on the network.

A loader ``get_NAME`` looks, in this order, for

1. the converted file of this and earlier releases, such as ``pfnet/chainer/mnist/train.npz`` below
   the dataset root;
2. the file the authors distribute, put by the user into the same directory under its original name,
   or installed by the system; it is read each time, however small it is, and nothing is written;
3. the same file in the download cache;
4. the same file on the servers listed with the loader.

Files of the last two are converted to the first form.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy

from chainer.core.typing import DType, HostArray
from chainer.core.utils.documentation import SharedSections
from chainer.links.serializers.npz_archive import FileFormatError, read_npz, write_npz
from chainer.training.dataset import download

Arrays = Mapping[str, HostArray]


#: Sections shared by the docstrings of the loaders of images.
image_sections = SharedSections(
    """
    Args:
        withlabel (bool): If ``True``, it returns datasets with labels. In this case, each example
            is a tuple of an image and a label. Otherwise, the datasets only contain images.
        ndim (int): Number of dimensions of each image. The shape of each image is determined
            depending on ``ndim`` as follows:

    $shapes

        scale (float): Pixel value scale. If it is 1 (default), pixels are scaled to the interval
            ``[0, 1]``.
        dtype: Data type of resulting image arrays; ``chainer.config.dtype`` by default.
    $labels
    Returns:
        A tuple of two datasets. If ``withlabel`` is ``True``, both datasets are
        :class:`~chainer.datasets.TupleDataset` instances. Otherwise, both datasets are arrays of
        images.

    Raises:
        ValueError: If ``ndim`` is invalid, or a file is damaged.
        OSError: If a file can neither be found nor downloaded.
        ImportError: If a file has to be downloaded and pooch is not installed.
    """,
    labels="",
)


@dataclass(frozen=True)
class RawFile:
    """A file as the authors of a dataset distribute it.

    Attributes:
        name: Original name.
        urls: Where it can be had, in the order to try.
        cache_url: URL that earlier releases used, whose cache is shared; the first one by default.
        md5: MD5 sum of what the servers have, if it was published.
        verify: Raises a ValueError if a downloaded file is not what it should be.
        alternatives: Other names under which it is accepted on the disk.
        directories: Directories in which systems install it.
    """

    name: str
    urls: tuple[str, ...]
    md5: str | None = None
    cache_url: str | None = None
    verify: Callable[[str], None] | None = None
    alternatives: tuple[str, ...] = ()
    directories: tuple[str, ...] = field(default=())

    def local(self, dataset_name: str) -> str | None:
        """Returns the path of the file where the user or the system put it, or None."""
        own = download.get_dataset_directory(dataset_name, create_directory=False)
        for directory in (own, *self.directories):
            for name in (self.name, *self.alternatives):
                path = os.path.join(directory, name)
                if os.path.exists(path):
                    return path
        return None

    def fetch(self, dataset_name: str) -> str:
        """Returns the path of the file in the download cache; downloads it if necessary."""
        own = download.get_dataset_directory(dataset_name, create_directory=False)
        advice = (
            f"Without network, put the file {self.name} into {own} "
            "(below the dataset root, which CHAINER_DATASET_ROOT sets)"
        )
        return download.download(self.urls, self.md5, self.verify, advice, self.cache_url)


def load_arrays(
    dataset_name: str,
    npz_name: str,
    files: tuple[RawFile, ...],
    parse: Callable[..., Arrays],
) -> Arrays:
    """Returns the arrays of a dataset, from the first place that has its files.

    Args:
        dataset_name: Name of the directory below the dataset root.
        npz_name: Name of the converted file.
        files: Files it is made of.
        parse: Called with the paths of the files; returns the arrays by key.

    Raises:
        FileFormatError: If a file is damaged.
        OSError: If a file cannot be read or downloaded.
        ImportError: If a package is missing that is needed to download or read a file.
    """
    directory = download.get_dataset_directory(dataset_name, create_directory=False)
    npz_path = os.path.join(directory, npz_name)
    if os.path.exists(npz_path):
        return load_converted(npz_path)
    paths = [file.local(dataset_name) for file in files]
    # Not converted: the user may replace the files, and few images are read quickly.
    if all(paths):
        return parse(*paths)

    def create(path: str) -> Arrays:
        arrays = parse(*(local or file.fetch(dataset_name) for local, file in zip(paths, files)))
        # Images compress well, and are read once in a program.
        write_npz(path, arrays, compression=True)
        return arrays

    return download.cache_or_load_file(npz_path, create, load_converted)


def load_converted(path: str) -> Arrays:
    """Reads a converted file.

    Raises:
        FileFormatError: If it is damaged.
    """
    try:
        return read_npz(path)
    except FileFormatError as error:
        raise FileFormatError(f"{error}. Remove it to have it made again") from error


def require(arrays: Arrays, path: str, **shapes: tuple[int | None, ...]) -> None:
    """Checks the shapes of arrays of integers.

    Args:
        arrays: Arrays by key.
        path: Where they come from, for the message.
        shapes: Expected shape by key; None means any length.

    Raises:
        FileFormatError: If an array is missing or has another shape or dtype.
    """
    for key, expected in shapes.items():
        array = arrays.get(key)
        got = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
        if (
            array is None
            or array.dtype.kind not in "iu"
            or array.ndim != len(expected)
            or any(n is not None and n != m for n, m in zip(expected, array.shape))
        ):
            raise FileFormatError(
                f"{key!r} of {path!r} must be integers of shape {expected}, got {got}"
            )


def scaled(images: HostArray, scale: float, dtype: DType) -> HostArray:
    """Returns byte images as ``dtype``, with 255 scaled to ``scale``."""
    # Integers would lose everything below the scale if they were multiplied afterwards.
    if dtype.kind in "biu":
        return numpy.rint(images * (scale / 255.0)).astype(dtype)
    result = images.astype(dtype)
    result *= dtype.type(scale / 255.0)
    return result

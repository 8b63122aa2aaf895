"""Datasets of image files in zip archives."""

from __future__ import annotations

import functools
import lzma
import os
import struct
import threading
import zipfile
from collections.abc import Sequence

import numpy

from chainer.core.config.dtype import get_dtype
from chainer.core.typing import DType, DTypeLike, FilePath, HostArray
from chainer.core.utils.argument import renamed_arguments
from chainer.training.dataset.dataset_mixin import DatasetMixin
from chainer.training.datasets.concatenated_dataset import ConcatenatedDataset
from chainer.training.datasets.image_dataset import (
    LabeledPairs,
    pillow_image,
    read_image,
    read_pairs,
)
from chainer.training.datasets.shared_file import ProcessLocalFile

#: Size of the largest member that is read, in bytes, unpacked.
_MAX_BYTES = 1 << 30


class _Archive:
    """A zip archive that threads, forked processes and pickles may share."""

    def __init__(self, path: FilePath) -> None:
        self._lock = threading.Lock()
        self._file = ProcessLocalFile(functools.partial(_open_archive, os.fspath(path)))

    def names(self) -> list[str]:
        """Returns the names of all members that are not directories."""
        with self._lock:
            names = [info.filename for info in self._file.get().infolist()]
        # Not by is_dir(), which looks at the last letter: a damaged archive has members without a
        # name.
        return [name for name in names if not name.endswith("/")]

    def read(self, name: str, dtype: DType) -> HostArray:
        """Returns an image.

        Raises:
            KeyError: If there is no member of that name.
            OSError: If the member is not an image.
            zipfile.BadZipFile: If the member is damaged, encrypted or larger than 1 GiB.
        """
        with self._lock:
            archive = self._file.get()
        size = archive.getinfo(name).file_size
        if size > _MAX_BYTES:
            raise zipfile.BadZipFile(
                f"{name!r} in {archive.filename!r} has {size:,} bytes, more than {_MAX_BYTES:,}"
            )
        try:
            # ZipFile itself locks its file, so that images are decoded in parallel.
            with archive.open(name) as file:
                return read_image(file, dtype)
        # Passwords, methods of compression that Python lacks, and damaged streams.
        except (RuntimeError, ValueError, lzma.LZMAError) as error:
            raise zipfile.BadZipFile(
                f"{name!r} in {archive.filename!r} cannot be read: {error}"
            ) from error

    def __getstate__(self) -> ProcessLocalFile[zipfile.ZipFile]:
        return self._file

    # A lock cannot be pickled.
    def __setstate__(self, file: ProcessLocalFile[zipfile.ZipFile]) -> None:
        self._lock = threading.Lock()
        self._file = file


def _open_archive(path: str) -> zipfile.ZipFile:
    if not (isinstance(path, (str, os.PathLike)) or hasattr(path, "seek")):
        raise TypeError(f"the ZIP file must be a path or an open file, got {type(path).__name__}")
    try:
        return zipfile.ZipFile(path)
    # Also what damaged bytes are taken for: a later version of the format, names, dates.
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise zipfile.BadZipFile(f"{path!r} cannot be read: {error}") from error


class ZippedImageDataset(DatasetMixin):
    """Dataset of images built from a zip file.

    This dataset reads an external image file in the given zipfile. The zipfile must contain only
    image files. It replaces :class:`ImageDataset` and works better on NFS and other networked file
    systems. If the file becomes too large, consider :class:`MultiZippedImageDataset`.

    It may be pickled, used by several threads and inherited by forked processes.

    Args:
        zipfilename (str): a string to point zipfile path
        dtype: Data type of resulting image arrays; ``chainer.config.dtype`` by default.

    Raises:
        ImportError: If Pillow is not installed.
        zipfile.BadZipFile: If the file is not a zip file.
        OSError: If the file cannot be read.

    Example:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 3), (255, 0, 0)).save("red.png")
        >>> import zipfile
        >>> with zipfile.ZipFile("images.zip", "w") as archive:
        ...     archive.write("red.png")
        ...
        >>> dataset = chainer.datasets.ZippedImageDataset("images.zip")
        >>> len(dataset), dataset[0].shape
        (1, (3, 3, 4))
    """

    def __init__(self, zipfilename: FilePath, dtype: DTypeLike = None) -> None:
        # A missing package is reported here rather than in a worker process.
        pillow_image()
        self._archive = _Archive(os.fspath(zipfilename))
        self._paths = self._archive.names()
        self._dtype = get_dtype(dtype)

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._paths)

    @renamed_arguments(i="i_or_filename")
    def get_example(self, i_or_filename: int | str) -> HostArray:
        """Returns an example.

        Args:
            i_or_filename (int or str): The index of the example, in the order of the archive, or
                the name of a file in the archive.

        Returns:
            numpy.ndarray: Image, an array of shape (channels, height, width).

        Raises:
            IndexError: If the index is out of range.
            KeyError: If the archive lacks the file.
            OSError: If the file is not an image.
        """
        if isinstance(i_or_filename, str):
            return self._archive.read(i_or_filename, self._dtype)
        return self._archive.read(self._paths[i_or_filename], self._dtype)


class MultiZippedImageDataset(DatasetMixin):
    """Dataset of images built from a list of paths to zip files.

    This dataset reads an external image file in given zipfiles. The zipfiles must contain only
    image files. It replaces :class:`ImageDataset` and works better on NFS and other networked file
    systems. Choose a good balance between the size and the number of the zip files.

    Args:
        zipfilenames (list of strings): List of zipped archive filename.
        dtype: Data type of resulting image arrays; ``chainer.config.dtype`` by default.

    Raises:
        ImportError: If Pillow is not installed.
        TypeError: If ``zipfilenames`` is a single name.
        zipfile.BadZipFile: If a file is not a zip file.
        OSError: If a file cannot be read.

    Example:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 3), (255, 0, 0)).save("red.png")
        >>> import zipfile
        >>> with zipfile.ZipFile("images.zip", "w") as archive:
        ...     archive.write("red.png")
        ...
        >>> dataset = chainer.datasets.MultiZippedImageDataset(["images.zip", "images.zip"])
        >>> len(dataset)
        2
    """

    def __init__(self, zipfilenames: Sequence[FilePath], dtype: DTypeLike = None) -> None:
        if isinstance(zipfilenames, (str, os.PathLike)):
            raise TypeError(f"zipfilenames must be a list of file names, got {zipfilenames!r}")
        self._images = ConcatenatedDataset(
            *(ZippedImageDataset(name, dtype) for name in zipfilenames)
        )

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._images)

    def get_example(self, i: int) -> HostArray:
        """Returns the i-th example.

        Args:
            i (int): The index of the example, counted through all archives.

        Returns:
            numpy.ndarray: Image, an array of shape (channels, height, width).
        """
        return self._images[i]


class LabeledZippedImageDataset(LabeledPairs):
    """Dataset of image and label pairs built from a zip file and a list of labels.

    Args:
        zipfilename (str): Path to a zip file of images.
        labelfilename (str): Path to a text file with lines of a name in the zip file and a label,
            separated by white spaces.
        dtype: Data type of resulting image arrays; ``chainer.config.dtype`` by default.
        label_dtype: Data type of the labels.

    Raises:
        ImportError: If Pillow is not installed.
        ValueError: If a line of the list is not a pair of a name and an integer.
        zipfile.BadZipFile: If the file is not a zip file.
        OSError: If a file cannot be read.

    Example:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 3), (255, 0, 0)).save("red.png")
        >>> import zipfile
        >>> with zipfile.ZipFile("images.zip", "w") as archive:
        ...     archive.write("red.png")
        ...
        >>> with open("labels.txt", "w") as file:
        ...     print("red.png 3", file=file)
        ...
        >>> dataset = chainer.datasets.LabeledZippedImageDataset("images.zip", "labels.txt")
        >>> dataset[0][0].shape, int(dataset[0][1])
        ((3, 3, 4), 3)
    """

    def __init__(
        self,
        zipfilename: FilePath,
        labelfilename: FilePath,
        dtype: DTypeLike = None,
        label_dtype: DTypeLike = numpy.int32,
    ) -> None:
        # A missing package is reported here rather than in a worker process.
        pillow_image()
        self._archive = _Archive(os.fspath(zipfilename))
        # A damaged archive is reported here rather than with the first example.
        self._archive.names()
        self._pairs = read_pairs(labelfilename)
        self._dtype = get_dtype(dtype)
        self._label_dtype = label_dtype

    def get_example(self, i: int) -> tuple[HostArray, HostArray]:
        """Returns the i-th example.

        Args:
            i (int): The index of the example, in the order of the list.

        Returns:
            tuple: Image and label, as from :class:`~chainer.datasets.LabeledImageDataset`.

        Raises:
            KeyError: If the archive lacks the image.
            OSError: If the member is not an image.
        """
        name, label = self._pairs[i]
        image = self._archive.read(os.fspath(name), self._dtype)
        return image, numpy.array(label, dtype=self._label_dtype)

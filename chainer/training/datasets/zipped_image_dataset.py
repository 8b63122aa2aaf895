"""Datasets of image files in zip archives."""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.training.dataset.dataset_mixin import DatasetMixin
from chainer.training.datasets.concatenated_dataset import ConcatenatedDataset
from chainer.training.datasets.image_dataset import pillow_image, read_image, read_pairs

if TYPE_CHECKING:
    from chainer.core.typing import DTypeLike


class _Archive:
    """A zip archive that threads, forked processes and pickles may share."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._opened: tuple[int, zipfile.ZipFile] | None = None

    def names(self) -> list[str]:
        with self._lock:
            return [info.filename for info in self._zip().infolist() if not info.is_dir()]

    def read(self, name: str, dtype: DTypeLike) -> numpy.ndarray[Any, Any]:
        with self._lock:
            zip_file = self._zip()
        # ZipFile itself locks its file, so that images are decoded in parallel.
        with zip_file.open(name) as file:
            return read_image(file, dtype)

    def _zip(self) -> zipfile.ZipFile:
        # A forked process shares the position in an open file with its parent, so each has its own.
        if self._opened is None or self._opened[0] != os.getpid():
            try:
                self._opened = (os.getpid(), zipfile.ZipFile(self.path))
            except zipfile.BadZipFile as error:
                raise zipfile.BadZipFile(f"{self.path!r} cannot be read: {error}") from error
        return self._opened[1]

    def __reduce__(self) -> Any:
        return (_Archive, (self.path,))


class ZippedImageDataset(DatasetMixin):
    """Dataset of images built from a zip file.

    This dataset reads an external image file in the given zipfile. The zipfile must contain only
    image files. This class can replace ImageDataset. It works better on NFS and other
    networked file systems. If zipfile becomes too large you may consider
    :class:`MultiZippedImageDataset` as a handy alternative.

    It may be pickled, used by several threads and inherited by forked processes.

    Args:
        zipfilename (str): a string to point zipfile path
        dtype: Data type of resulting image arrays

    Raises:
        ImportError: If Pillow is not installed.
        zipfile.BadZipFile: If the file is not a zip file.
        OSError: If the file cannot be read.
    """

    def __init__(
        self, zipfilename: str | os.PathLike[str], dtype: DTypeLike = numpy.float32
    ) -> None:
        pillow_image()
        self._archive = _Archive(os.fspath(zipfilename))
        self._paths = self._archive.names()
        self._dtype = dtype

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._paths)

    def get_example(self, i: int) -> numpy.ndarray[Any, Any]:
        """Returns the i-th example.

        Args:
            i (int): The index of the example, in the order of the archive.

        Returns:
            numpy.ndarray: Image, an array of shape (channels, height, width).

        Raises:
            OSError: If the member is not an image.
        """
        return self._archive.read(self._paths[i], self._dtype)


class MultiZippedImageDataset(DatasetMixin):
    """Dataset of images built from a list of paths to zip files.

    This dataset reads an external image file in given zipfiles. The zipfiles must contain only
    image files. This class can replace ImageDataset. It works better on NFS and other
    networked file systems. Find a good balance between zipfile size and number of
    zipfiles (e.g. granularity)

    Args:
        zipfilenames (list of strings): List of zipped archive filename.
        dtype: Data type of resulting image arrays

    Raises:
        ImportError: If Pillow is not installed.
        TypeError: If ``zipfilenames`` is a single name.
        zipfile.BadZipFile: If a file is not a zip file.
        OSError: If a file cannot be read.
    """

    def __init__(
        self, zipfilenames: Sequence[str | os.PathLike[str]], dtype: DTypeLike = numpy.float32
    ) -> None:
        if isinstance(zipfilenames, (str, os.PathLike)):
            raise TypeError(f"zipfilenames must be a list of file names, got {zipfilenames!r}")
        self._images = ConcatenatedDataset(
            *(ZippedImageDataset(name, dtype) for name in zipfilenames)
        )

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._images)

    def get_example(self, i: int) -> numpy.ndarray[Any, Any]:
        """Returns the i-th example.

        Args:
            i (int): The index of the example, counted through all archives.

        Returns:
            numpy.ndarray: Image, an array of shape (channels, height, width).
        """
        return self._images[i]


class LabeledZippedImageDataset(DatasetMixin):
    """Dataset of image and label pairs built from a zip file and a list of labels.

    Args:
        zipfilename (str): Path to a zip file of images.
        labelfilename (str): Path to a text file with lines of a name in the zip file and a label,
            separated by white spaces.
        dtype: Data type of resulting image arrays.
        label_dtype: Data type of the labels.

    Raises:
        ImportError: If Pillow is not installed.
        ValueError: If a line of the list is not a pair of a name and an integer.
        zipfile.BadZipFile: If the file is not a zip file.
        OSError: If a file cannot be read.
    """

    def __init__(
        self,
        zipfilename: str | os.PathLike[str],
        labelfilename: str | os.PathLike[str],
        dtype: DTypeLike = numpy.float32,
        label_dtype: DTypeLike = numpy.int32,
    ) -> None:
        pillow_image()
        self._archive = _Archive(os.fspath(zipfilename))
        self._archive.names()
        self._pairs = read_pairs(labelfilename)
        self._dtype = dtype
        self._label_dtype = label_dtype

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._pairs)

    def get_example(self, i: int) -> tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
        """Returns the i-th example.

        Args:
            i (int): The index of the example, in the order of the list.

        Returns:
            tuple: Image (an array of shape (channels, height, width)) and label (of shape ()).

        Raises:
            KeyError: If the archive lacks the image.
            OSError: If the member is not an image.
        """
        name, label = self._pairs[i]
        image = self._archive.read(name, self._dtype)
        return image, numpy.array(label, dtype=self._label_dtype)

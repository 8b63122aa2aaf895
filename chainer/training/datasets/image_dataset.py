"""Datasets of image files."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from types import ModuleType
from typing import IO, Any

import numpy

from chainer.core.config.dtype import get_dtype
from chainer.core.installation import install_command
from chainer.core.lazy import lazy_module
from chainer.core.typing import DType, DTypeLike, FilePath, HostArray
from chainer.core.utils import installed
from chainer.training.dataset.dataset_mixin import DatasetMixin


def pillow_image() -> ModuleType:
    """Returns the module ``PIL.Image``.

    Raises:
        ImportError: If Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"Pillow is required to read images: {install_command('chainer[image]')}"
        ) from error
    return Image


# Computed when it is asked for: importing Pillow takes time that most programs need not spend.
def _pillow_is_installed(name: str) -> bool:
    return installed.is_installed("PIL")


# The datasets of archives are in their own module, which imports this one.
__getattr__, __dir__ = lazy_module(
    globals(),
    {
        "available": _pillow_is_installed,
        **dict.fromkeys(
            ("LabeledZippedImageDataset", "MultiZippedImageDataset", "ZippedImageDataset"),
            ".zipped_image_dataset",
        ),
    },
)


def read_image(file: FilePath | IO[bytes], dtype: DType) -> HostArray:
    """Reads an image.

    Args:
        file: Path, or a binary file.
        dtype: Data type of the array.

    Returns:
        numpy.ndarray: Array of shape (channels, height, width).

    Raises:
        PIL.UnidentifiedImageError: (an OSError) If the file is not an image of a known format.
        OSError: If the image is damaged.
        PIL.Image.DecompressionBombError: If it has more pixels than twice
            ``PIL.Image.MAX_IMAGE_PIXELS``, by default 178,956,970. A small file can declare any
            number of them.
    """
    return _postprocess_image(_read_image_as_array(file, dtype))


# The two halves have the names of release 7: datasets of programs call them.


def _read_image_as_array(file: FilePath | IO[bytes], dtype: DType) -> HostArray:
    """Returns an image as Pillow has it: (height, width, channels), or (height, width) if gray."""
    pillow = pillow_image()
    name = file if isinstance(file, (str, os.PathLike)) else getattr(file, "name", file)
    try:
        with pillow.open(file) as image:
            return numpy.asarray(image, dtype=dtype)
    except pillow.DecompressionBombError as error:
        raise pillow.DecompressionBombError(
            f"image {name!r} is refused: {error}. If you trust it, set PIL.Image.MAX_IMAGE_PIXELS "
            "to half of its number of pixels or more, or to None"
        ) from error
    # Decoders of Pillow raise whatever damaged bytes lead to.
    except (SyntaxError, EOFError, IndexError, ValueError, struct.error, zlib.error) as error:
        raise OSError(f"image {name!r} is damaged: {error}") from error


def _postprocess_image(image: HostArray) -> HostArray:
    """Returns an image with channels as the first axis."""
    if image.ndim == 2:
        return image[numpy.newaxis].copy()
    return image.transpose(2, 0, 1)


_check_pillow_availability = pillow_image


class ImageDataset(DatasetMixin):
    """Dataset of images built from a list of paths to image files.

    This dataset reads an external image file on every call of the :meth:`__getitem__` operator. The
    paths to the image to retrieve is given as either a list of strings or a text file that contains
    paths in distinct lines.

    Each image is automatically converted to arrays of shape ``channels, height, width``, where
    ``channels`` represents the number of channels in each pixel (e.g., 1 for gray-scale images, and
    3 for RGB-color images).

    .. note::
        This dataset requires the Pillow package being installed. In order to use this dataset,
        install Pillow (e.g. by using the command ``pip install "chainer[image]"``).

    .. warning::
        You are responsible for preprocessing the images before feeding them to a model. For
        example, if your dataset contains both RGB and grayscale images, make sure that you convert
        them to the same format. Otherwise you will get errors because the input dimensions are
        different for RGB and grayscale images.

    Args:
        paths (str or list of strs): If it is a string, it is a path to a text file that contains
            paths to images in distinct lines (blank lines are skipped). If it is a list of paths,
            the ``i``-th element represents the path to the ``i``-th image. In both cases, each path
            is a relative one from the root path given by another argument.
        root (str): Root directory to retrieve images from.
        dtype: Data type of resulting image arrays; ``chainer.config.dtype`` by default.

    Raises:
        ImportError: If Pillow is not installed.
        OSError: If the list cannot be read.

    Example:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 3), (255, 0, 0)).save("red.png")
        >>> dataset = chainer.datasets.ImageDataset(["red.png"])
        >>> dataset[0].shape, dataset[0].max()
        ((3, 3, 4), 255.0)
    """

    def __init__(
        self,
        paths: FilePath | Sequence[FilePath],
        root: FilePath = ".",
        dtype: DTypeLike = None,
    ) -> None:
        # A missing package is reported here rather than in a worker process.
        pillow_image()
        if isinstance(paths, (str, os.PathLike)):
            paths = [line for _, line in read_lines(paths)]
        self._paths = paths
        self._root = root
        self._dtype = get_dtype(dtype)

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._paths)

    def get_example(self, i: int) -> HostArray:
        """Returns the i-th example.

        Args:
            i (int): The index of the example.

        Returns:
            numpy.ndarray: Image, an array of shape (channels, height, width).

        Raises:
            OSError: If the file cannot be read, or is not an image.
        """
        return read_image(os.path.join(self._root, self._paths[i]), self._dtype)


class LabeledPairs(DatasetMixin):
    """Base of datasets that are a list of pairs: where an image is, and its label."""

    _pairs: Sequence[tuple[FilePath, Any]]

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._pairs)


class LabeledImageDataset(LabeledPairs):
    """Dataset of image and label pairs built from a list of paths and labels.

    This dataset reads an external image file like :class:`ImageDataset`. The difference from
    :class:`ImageDataset` is that this dataset also returns a label integer. The paths and labels
    are given as either a list of pairs or a text file contains paths/labels pairs in distinct
    lines. In the latter case, each path and corresponding label are separated by white spaces. This
    format is same as one used in Caffe.

    Pillow and preprocessing are needed as for :class:`ImageDataset`.

    Args:
        pairs (str or list of tuples): If it is a string, it is a path to a text file that contains
            paths to images and labels in distinct lines (blank lines are skipped). If it is a list
            of pairs, the ``i``-th element represents a pair of the path to the ``i``-th image and
            the corresponding label. In both cases, each path is a relative one from the root path
            given by another argument.
        root (str): Root directory to retrieve images from.
        dtype: Data type of resulting image arrays; ``chainer.config.dtype`` by default.
        label_dtype: Data type of the labels.

    Raises:
        ImportError: If Pillow is not installed.
        ValueError: If a line of the file is not a pair of a path and an integer.
        OSError: If the list cannot be read.

    Example:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 3), (255, 0, 0)).save("red.png")
        >>> dataset = chainer.datasets.LabeledImageDataset([("red.png", 3)])
        >>> image, label = dataset[0]
        >>> image.shape, int(label)
        ((3, 3, 4), 3)
    """

    def __init__(
        self,
        pairs: FilePath | Sequence[tuple[FilePath, Any]],
        root: FilePath = ".",
        dtype: DTypeLike = None,
        label_dtype: DTypeLike = numpy.int32,
    ) -> None:
        # A missing package is reported here rather than in a worker process.
        pillow_image()
        if isinstance(pairs, (str, os.PathLike)):
            pairs = read_pairs(pairs)
        self._pairs = pairs
        self._root = root
        self._dtype = get_dtype(dtype)
        self._label_dtype = label_dtype

    def get_example(self, i: int) -> tuple[HostArray, HostArray]:
        """Returns the i-th example.

        Args:
            i (int): The index of the example.

        Returns:
            tuple: Image (an array of shape (channels, height, width)) and label (of shape ()).

        Raises:
            OSError: If the file cannot be read, or is not an image.
        """
        path, label = self._pairs[i]
        image = read_image(os.path.join(self._root, path), self._dtype)
        return image, numpy.array(label, dtype=self._label_dtype)


def read_lines(path: FilePath) -> list[tuple[int, str]]:
    """Returns the lines of a text file that are not blank, with their numbers (from 1)."""
    with open(path, encoding="utf-8") as file:
        return [(i, line.strip()) for i, line in enumerate(file, 1) if line.strip()]


def read_pairs(path: FilePath) -> list[tuple[str, int]]:
    """Reads a list of paths and labels.

    Raises:
        ValueError: If a line is not a pair of a path and an integer.
    """
    pairs: list[tuple[str, int]] = []
    for number, line in read_lines(path):
        # The last word is the label, so that paths may contain spaces.
        image_path, _, label = line.replace("\t", " ").rpartition(" ")
        try:
            pairs.append((image_path.rstrip(), int(label)))
        except ValueError:
            image_path = ""
        if not image_path:
            raise ValueError(
                f"invalid format at line {number} in file {os.fspath(path)}: "
                f"expected a path and an integer label, got {line!r}"
            )
    return pairs

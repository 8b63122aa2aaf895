"""Conversion of images to the arrays that networks trained by Caffe expect."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeAlias

import numpy

from chainer.core.config.dtype import get_dtype
from chainer.core.installation import install_command
from chainer.core.typing import Array
from chainer.core.utils.documentation import SharedSections

#: A ``PIL.Image`` or an array.
ImageLike: TypeAlias = Any
#: Width and height.
ImageSize: TypeAlias = Sequence[int]


def _pillow_image() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"Pillow is required to prepare images: {install_command('chainer[image]')}"
        ) from error
    return Image


#: Sections shared by the docstrings of ``prepare``, which each model has.
prepare_sections = SharedSections(
    """
    The image is resized, converted from RGB to BGR, and the mean of the training data subtracted.

    Args:
        image (PIL.Image or numpy.ndarray): Input image. An array must have shape ``(height,
            width)``, ``(height, width, channels)`` or ``(channels, height, width)``, and its
            channels the order RGB.
        size (pair of ints): Width and height of the result. If None, the image is not resized.

    Returns:
        numpy.ndarray: Array of shape ``(3, height, width)`` and dtype ``chainer.config.dtype``.

    Raises:
        ImportError: If Pillow is not installed.
    """
)


def prepare_image(image: ImageLike, size: ImageSize | None, mean: Sequence[float]) -> Array:
    """Converts an RGB image to a BGR array around zero.

    Args:
        image: A ``PIL.Image``, or an array of shape ``(height, width)``, ``(height, width,
            channels)`` or ``(channels, height, width)`` in RGB order, with values 0 to 255.
        size: Width and height to resize to; None to keep them.
        mean: Mean of the blue, green and red channel, which is subtracted.

    Returns:
        Array of shape ``(3, height, width)`` and dtype ``chainer.config.dtype``.

    Raises:
        TypeError: If ``image`` is something else.
        ValueError: If its shape is another one.
        ImportError: If Pillow is not installed.
    """
    pillow = _pillow_image()
    if isinstance(image, numpy.ndarray):
        image = pillow.fromarray(_height_width_channels(image))
    elif not isinstance(image, pillow.Image):
        raise TypeError(f"image must be a PIL.Image or numpy.ndarray, got {type(image).__name__}")
    # Gray images get three equal channels, transparency is dropped.
    image = image.convert("RGB")
    if size is not None:
        image = image.resize(tuple(size))
    # Caffe reads images by OpenCV, which has the channels in this order.
    bgr = numpy.asarray(image, dtype=numpy.float32)[:, :, ::-1]
    bgr = bgr - numpy.asarray(mean, dtype=numpy.float32)
    return bgr.transpose(2, 0, 1).astype(get_dtype(), copy=False)


def _height_width_channels(image: Array) -> Array:
    shape = image.shape
    if image.ndim == 3:
        if shape[0] == 1:
            image = image[0]
        elif shape[0] == 3:
            image = image.transpose(1, 2, 0)
        elif shape[2] == 1:
            image = image[:, :, 0]
    if image.ndim != 2 and not (image.ndim == 3 and image.shape[2] in (2, 3, 4)):
        raise ValueError(
            "image must have shape (height, width), (height, width, channels) or "
            f"(channels, height, width), got {shape}"
        )
    return numpy.ascontiguousarray(image, dtype=numpy.uint8)


def center_crop(images: Array, size: int) -> Array:
    """Returns the middle of images.

    Args:
        images: Array of shape ``(B, C, height, width)``.
        size: Height and width of the result.
    """
    top, left = ((length - size) // 2 for length in images.shape[2:])
    return images[:, :, top : top + size, left : left + size]


def ten_crops(images: Array, size: int) -> Array:
    """Returns corners and center of images, each also mirrored.

    Args:
        images: Array of shape ``(B, C, height, width)``.
        size: Height and width of the crops.

    Returns:
        Array of shape ``(10 * B, C, size, size)``; the crops of an image follow each other.
    """
    batch, channels = images.shape[:2]
    crops = [
        images[:, :, :size, :size],
        images[:, :, :size, -size:],
        images[:, :, -size:, :size],
        images[:, :, -size:, -size:],
        center_crop(images, size),
    ]
    crops += [crop[..., ::-1] for crop in crops]
    return numpy.stack(crops, axis=1).reshape(10 * batch, channels, size, size)

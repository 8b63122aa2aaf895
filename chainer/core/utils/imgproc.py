"""Image processing (public module ``chainer.utils.imgproc``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy

from chainer.core.typing import Array


def oversample(images: Iterable[Array], crop_dims: Sequence[int]) -> Array:
    """Crops images at the four corners and the center, and mirrors the crops.

    Args:
        images: Images of shape ``(C, H, W)``.
        crop_dims: Height and width of the crops.

    Returns:
        numpy.ndarray: Ten crops of each image: those at the top left, top right, bottom left and
        bottom right corner, that at the center, and the same five mirrored from left to right; of
        shape ``(10 * len(images), C, *crop_dims)``, in the dtype of the images.
    """
    height, width = crop_dims
    crops: list[Array] = []
    for image in images:
        h, w = image.shape[1:]
        center = int(h / 2 - height / 2), int(w / 2 - width / 2)
        corners = [(0, 0), (0, w - width), (h - height, 0), (h - height, w - width), center]
        five = [image[:, y : y + height, x : x + width] for y, x in corners]
        crops += [*five, *[crop[:, :, ::-1] for crop in five]]
    return numpy.stack(crops)

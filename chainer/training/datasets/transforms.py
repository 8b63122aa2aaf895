"""Random and fixed transforms of images, NumPy arrays of shape (channels, height, width).

A transform is a function of an image, and :class:`Compose` calls several. Each gives an array of
the same dtype. Random ones draw from ``numpy.random``, which
:class:`~chainer.iterators.MultiprocessIterator` seeds for each example: orders and images repeat,
however many workers there are. With ``random_state`` they draw from a generator of their own.

    dataset = chainer.datasets.TransformDataset(
        data, lambda example: (augment(example[0]), example[1])
    )
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from chainer.core.utils.repr_texts import ShowsArguments

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "Cutout",
    "Mixup",
    "Normalize",
    "RandomCrop",
    "RandomFlip",
    "Resize",
]

Image: TypeAlias = np.ndarray[Any, Any]
Transform: TypeAlias = Callable[[Image], Image]
Random: TypeAlias = np.random.RandomState | int | None


def _generator(random_state: Random) -> Any:
    if random_state is None:
        return np.random
    if isinstance(random_state, (int, np.integer)):
        return np.random.RandomState(random_state)
    return random_state


def _pair(name: str, value: int | tuple[int, int]) -> tuple[int, int]:
    height, width = (value, value) if isinstance(value, int) else value
    if height <= 0 or width <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return height, width


def _check(image: Image) -> Image:
    if not isinstance(image, np.ndarray) or image.ndim != 3:
        what = f"shape {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise ValueError(f"image must be an array of shape (channels, height, width), got {what}")
    return image


def _rounded(image: Image, dtype: np.dtype[Any]) -> Image:
    """Returns an image in a dtype; integers are rounded and stay in their range."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        image = np.clip(np.rint(image), limits.min, limits.max)
    return image.astype(dtype, copy=False)


class Compose:
    """Several transforms, one after another.

    Args:
        transforms: The transforms.

    Example:
        >>> from chainer.datasets import transforms
        >>> transform = transforms.Compose(transforms.CenterCrop(4), transforms.Normalize(0.5, 0.5))
        >>> transform(np.ones((3, 6, 6), np.float32)).shape
        (3, 4, 4)
    """

    def __init__(self, *transforms: Transform) -> None:
        for transform in transforms:
            if not callable(transform):
                raise TypeError(f"transforms must be callable, got {type(transform).__name__}")
        self.transforms = transforms

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.transforms))})"

    def __call__(self, image: Image) -> Image:
        """Returns the transformed image."""
        for transform in self.transforms:
            image = transform(image)
        return image


class CenterCrop(ShowsArguments):
    """The middle of an image.

    Args:
        size: Height and width, or one number for both.

    Example:
        >>> image = np.ones((3, 6, 6), np.float32)
        >>> transform = chainer.datasets.transforms.CenterCrop(4)
        >>> transform(image).shape
        (3, 4, 4)
    """

    def __init__(self, size: int | tuple[int, int]) -> None:
        self.size = _pair("size", size)

    def __call__(self, image: Image) -> Image:
        """Returns the middle; ValueError if the image is smaller."""
        top, left = _free(_check(image), self.size)
        return image[:, top // 2 : top // 2 + self.size[0], left // 2 : left // 2 + self.size[1]]


class RandomCrop(ShowsArguments):
    """A random part of an image, which may be padded before.

    Args:
        size: Height and width, or one number for both.
        pad: Number of pixels added on each side.
        value: Value of these pixels.
        random_state: Generator or seed; ``numpy.random`` by default.

    Example:
        >>> image = np.ones((3, 6, 6), np.float32)
        >>> transform = chainer.datasets.transforms.RandomCrop(4)
        >>> transform(image).shape
        (3, 4, 4)
    """

    def __init__(
        self,
        size: int | tuple[int, int],
        pad: int = 0,
        value: float = 0,
        random_state: Random = None,
    ) -> None:
        self.size = _pair("size", size)
        if pad < 0:
            raise ValueError(f"pad must not be negative, got {pad!r}")
        self.pad = pad
        self.value = value
        self._random = _generator(random_state)

    def __call__(self, image: Image) -> Image:
        """Returns a part; ValueError if the image is smaller."""
        _check(image)
        if self.pad:
            border = (self.pad, self.pad)
            image = np.pad(image, ((0, 0), border, border), constant_values=self.value)
        free_rows, free_columns = _free(image, self.size)
        top = self._random.randint(free_rows + 1)
        left = self._random.randint(free_columns + 1)
        return image[:, top : top + self.size[0], left : left + self.size[1]]


def _free(image: Image, size: tuple[int, int]) -> tuple[int, int]:
    rows, columns = image.shape[1] - size[0], image.shape[2] - size[1]
    if rows < 0 or columns < 0:
        raise ValueError(f"the image of shape {image.shape} is smaller than size {size}")
    return rows, columns


class RandomFlip(ShowsArguments):
    """A mirror image, with some probability.

    Args:
        horizontal: Probability that left and right are swapped.
        vertical: Probability that top and bottom are swapped.
        random_state: Generator or seed; ``numpy.random`` by default.

    Example:
        >>> image = np.ones((3, 6, 6), np.float32)
        >>> transform = chainer.datasets.transforms.RandomFlip()
        >>> transform(image).shape
        (3, 6, 6)
    """

    def __init__(
        self, horizontal: float = 0.5, vertical: float = 0.0, random_state: Random = None
    ) -> None:
        for name, value in (("horizontal", horizontal), ("vertical", vertical)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {value!r}")
        self.horizontal = horizontal
        self.vertical = vertical
        self._random = _generator(random_state)

    def __call__(self, image: Image) -> Image:
        """Returns the image or a mirror image of it."""
        _check(image)
        if self._random.random_sample() < self.horizontal:
            image = image[:, :, ::-1]
        if self._random.random_sample() < self.vertical:
            image = image[:, ::-1]
        return image


class Resize(ShowsArguments):
    """The image in another size, by linear interpolation between the centers of pixels.

    Args:
        size: Height and width, or one number for both.

    Example:
        >>> image = np.ones((3, 6, 6), np.float32)
        >>> transform = chainer.datasets.transforms.Resize(4)
        >>> transform(image).shape
        (3, 4, 4)
    """

    def __init__(self, size: int | tuple[int, int]) -> None:
        self.size = _pair("size", size)

    def __call__(self, image: Image) -> Image:
        """Returns the image in the new size."""
        _check(image)
        compute = np.result_type(image.dtype, np.float32)
        result = image.astype(compute, copy=False)
        for axis, size in ((1, self.size[0]), (2, self.size[1])):
            result = _resized(result, axis, size)
        return _rounded(result, image.dtype)


def _resized(image: Image, axis: int, size: int) -> Image:
    length = image.shape[axis]
    if length == size:
        return image
    places = np.clip((np.arange(size) + 0.5) * length / size - 0.5, 0, length - 1)
    low = places.astype(int)
    share = (places - low).astype(image.dtype)
    share = share.reshape([-1 if i == axis else 1 for i in range(image.ndim)])
    first, second = image.take(low, axis), image.take(np.minimum(low + 1, length - 1), axis)
    return first + (second - first) * share


class ColorJitter(ShowsArguments):
    """Random brightness, contrast and saturation, each by a factor near one.

    Args:
        brightness: The factor is between ``1 - brightness`` and ``1 + brightness``.
        contrast: The same for the distance from the mean of the image.
        saturation: The same for the distance from gray; images of three channels only.
        random_state: Generator or seed; ``numpy.random`` by default.

    Example:
        >>> image = np.ones((3, 6, 6), np.float32)
        >>> transform = chainer.datasets.transforms.ColorJitter(brightness=0.5)
        >>> transform(image).shape
        (3, 6, 6)
    """

    def __init__(
        self,
        brightness: float = 0.0,
        contrast: float = 0.0,
        saturation: float = 0.0,
        random_state: Random = None,
    ) -> None:
        for name, value in (
            ("brightness", brightness),
            ("contrast", contrast),
            ("saturation", saturation),
        ):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {value!r}")
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self._random = _generator(random_state)

    def _factor(self, width: float) -> float:
        return 1 + width * (2 * self._random.random_sample() - 1)

    def __call__(self, image: Image) -> Image:
        """Returns the image in other colors."""
        _check(image)
        result = image.astype(np.result_type(image.dtype, np.float32))
        result *= self._factor(self.brightness)
        mean = result.mean()
        result = mean + (result - mean) * self._factor(self.contrast)
        factor = self._factor(self.saturation)
        if len(image) == 3:
            gray = result.mean(axis=0, keepdims=True)
            result = gray + (result - gray) * factor
        return _rounded(result, image.dtype)


class Normalize(ShowsArguments):
    """``(image - mean) / std`` of each channel, as float32.

    Args:
        mean: One number for each channel, or one for all.
        std: The same.

    Example:
        >>> image = np.full((3, 2, 2), 0.75, np.float32)
        >>> transform = chainer.datasets.transforms.Normalize(0.5, 0.25)
        >>> transform(image)[0]
        array([[1., 1.],
               [1., 1.]], dtype=float32)
    """

    def __init__(self, mean: float | Sequence[float], std: float | Sequence[float]) -> None:
        self.mean = np.asarray(mean, np.float32).reshape(-1, 1, 1)
        self.std = np.asarray(std, np.float32).reshape(-1, 1, 1)
        if not (self.std > 0).all():
            raise ValueError(f"std must be positive, got {std!r}")

    def __call__(self, image: Image) -> Image:
        """Returns the normalized image."""
        return (_check(image) - self.mean) / self.std


class Cutout(ShowsArguments):
    """A random square of the image is replaced by a value.

    See: `Improved Regularization of Convolutional Neural Networks with Cutout
    <https://arxiv.org/abs/1708.04552>`_. The center is anywhere in the image, so that a part of the
    square may be outside.

    Args:
        size: Length of the square's sides.
        value: Value of its pixels.
        random_state: Generator or seed; ``numpy.random`` by default.

    Example:
        >>> image = np.ones((3, 6, 6), np.float32)
        >>> transform = chainer.datasets.transforms.Cutout(2)
        >>> transform(image).shape
        (3, 6, 6)
    """

    def __init__(self, size: int, value: float = 0, random_state: Random = None) -> None:
        self.size = _pair("size", size)[0]
        self.value = value
        self._random = _generator(random_state)

    def __call__(self, image: Image) -> Image:
        """Returns a copy of the image with a square in it."""
        image = _check(image).copy()
        top = self._random.randint(image.shape[1]) - self.size // 2
        left = self._random.randint(image.shape[2]) - self.size // 2
        image[:, max(0, top) : top + self.size, max(0, left) : left + self.size] = self.value
        return image


class Mixup(ShowsArguments):
    """Mixes the examples of a batch in pairs: a converter for batches of images and labels.

    See: `mixup: Beyond Empirical Risk Minimization <https://arxiv.org/abs/1710.09412>`_. The loss
    is ``share * loss(y, t1) + (1 - share) * loss(y, t2)`` of what :meth:`__call__` returns.

    Args:
        alpha: Parameter of the beta distribution of the share.
        random_state: Generator or seed; ``numpy.random`` by default.

    Example:
        >>> images, labels = np.ones((2, 3, 4, 4), np.float32), np.array([0, 1])
        >>> mixup = chainer.datasets.transforms.Mixup(0.2, random_state=0)
        >>> x, t1, t2, share = mixup(images, labels)
        >>> x.shape, t2.shape
        ((2, 3, 4, 4), (2,))
    """

    def __init__(self, alpha: float = 0.2, random_state: Random = None) -> None:
        if not alpha > 0:
            raise ValueError(f"alpha must be positive, got {alpha!r}")
        self.alpha = alpha
        self._random = _generator(random_state)

    def __call__(self, images: Image, labels: Image) -> tuple[Image, Image, Image, np.float32]:
        """Mixes a batch.

        Args:
            images: Images, or any other inputs of floating point numbers; shape ``(n, ...)``.
            labels: Labels, shape ``(n, ...)``.

        Returns:
            The mixed images, the labels, the labels of the partners, and the share of the former.
        """
        share = np.float32(self._random.beta(self.alpha, self.alpha))
        partners = self._random.permutation(len(images))
        mixed = share * images + (1 - share) * images[partners]
        return mixed.astype(images.dtype, copy=False), labels, labels[partners], share

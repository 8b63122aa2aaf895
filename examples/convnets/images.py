"""Labeled images: the digits of scikit-learn, or those in a directory."""

import pathlib
import sys

import numpy as np

import chainer


def get_digits(channels, size):
    """Returns 1,797 handwritten digits of 8x8 pixels, enlarged, with a margin if needed."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit(
            f"the digits come with scikit-learn: {chainer.utils.install_command('scikit-learn')}"
        )
    digits = load_digits()
    factor, rest = divmod(size, 8)
    if factor == 0:
        sys.exit(f"--size must be at least 8, not {size}")
    images = (digits.images / 16).astype(np.float32)
    images = images.repeat(factor, axis=1).repeat(factor, axis=2)
    margin = (rest // 2, rest - rest // 2)
    images = np.pad(images, ((0, 0), margin, margin))
    images = np.broadcast_to(images[:, None], (len(images), channels, size, size))
    names = [str(i) for i in range(10)]
    return chainer.datasets.TupleDataset(images, digits.target.astype(np.int32)), names


def get_folder(root, channels, size):
    """Returns the images in the subdirectories of a directory, one for each class."""
    try:
        from PIL import Image
    except ImportError:
        sys.exit(f"images are read by Pillow: {chainer.utils.install_command('chainer[image]')}")
    root = pathlib.Path(root)
    names = sorted(path.name for path in root.iterdir() if path.is_dir())
    endings = Image.registered_extensions()
    pairs = [
        (str(path.relative_to(root)), label)
        for label, name in enumerate(names)
        for path in sorted((root / name).iterdir())
        if path.suffix.lower() in endings
    ]
    if not pairs:
        sys.exit(f"{root} has no subdirectories with images")

    def resize(pair):
        image, label = pair
        if len(image) in (2, 4):
            image = image[:-1]  # transparency
        pixels = np.stack(
            [np.asarray(Image.fromarray(channel).resize((size, size))) for channel in image]
        )
        if channels == 1:
            pixels = pixels.mean(axis=0, keepdims=True)
        return np.broadcast_to(pixels / np.float32(255), (channels, size, size)), label

    dataset = chainer.datasets.LabeledImageDataset(pairs, str(root))
    return chainer.datasets.TransformDataset(dataset, resize), names

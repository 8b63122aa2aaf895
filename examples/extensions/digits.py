"""Handwritten digits: 1,797 real images of 8x8 pixels that come with scikit-learn."""

import sys

import numpy as np

import chainer


def get_digits(seed):
    """Returns training and held-out data: pairs of 64 pixels in [0, 1] and a label."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit(
            f"this example needs scikit-learn: {chainer.utils.install_command('scikit-learn')}"
        )
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    dataset = chainer.datasets.TupleDataset(images, digits.target.astype(np.int32))
    return chainer.datasets.split_dataset_random(dataset, len(dataset) * 3 // 4, seed=seed)

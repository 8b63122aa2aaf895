import numpy as np
import pytest

import chainer
from chainer.datasets import transforms as T

IMAGE = np.arange(3 * 6 * 8, dtype=np.float32).reshape(3, 6, 8)

RANDOM = [
    lambda seed: T.RandomCrop(4, pad=1, random_state=seed),
    lambda seed: T.RandomFlip(0.5, 0.5, random_state=seed),
    lambda seed: T.ColorJitter(0.5, 0.5, 0.5, random_state=seed),
    lambda seed: T.Cutout(3, random_state=seed),
]


def test_crops():
    np.testing.assert_array_equal(T.CenterCrop((2, 4))(IMAGE), IMAGE[:, 2:4, 2:6])
    crop = T.RandomCrop(3, random_state=0)
    tops = {tuple(np.argwhere(IMAGE[0] == crop(IMAGE)[0, 0, 0])[0]) for _ in range(300)}
    assert tops == {(i, j) for i in range(4) for j in range(6)}
    padded = T.RandomCrop((10, 12), pad=2, value=7)(IMAGE)
    np.testing.assert_array_equal(padded[:, 2:-2, 2:-2], IMAGE)
    assert (padded[:, :2] == 7).all()
    with pytest.raises(ValueError, match=r"shape \(3, 6, 8\) is smaller than size \(9, 9\)"):
        T.CenterCrop(9)(IMAGE)


def test_flips():
    np.testing.assert_array_equal(T.RandomFlip(1, 0)(IMAGE), IMAGE[:, :, ::-1])
    np.testing.assert_array_equal(T.RandomFlip(0, 1)(IMAGE), IMAGE[:, ::-1])
    np.testing.assert_array_equal(T.RandomFlip(0, 0)(IMAGE), IMAGE)


@pytest.mark.parametrize("size", [(6, 8), (12, 16), (3, 4), (5, 1)])
def test_resize_equals_pillow(size):
    Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    result = T.Resize(size)(IMAGE)
    assert result.shape == (3, *size) and result.dtype == np.float32
    if size < (6, 8):  # Pillow averages where an image gets smaller
        return
    for channel, expected in zip(result, IMAGE, strict=True):
        image = Image.fromarray(expected).resize(size[::-1], Image.Resampling.BILINEAR)
        np.testing.assert_allclose(channel, np.asarray(image), rtol=1e-5, atol=1e-5)


def test_integers_stay_integers_in_their_range():
    image = np.full((3, 4, 4), 250, np.uint8)
    for transform in (T.Resize(7), T.ColorJitter(1.0, random_state=3)):
        result = transform(image)
        assert result.dtype == np.uint8
    bright = [T.ColorJitter(1.0, random_state=seed)(image).max() for seed in range(20)]
    assert max(bright) == 255


def test_color_keeps_what_it_should():
    image = np.random.RandomState(0).rand(3, 5, 5).astype(np.float32)
    contrast = T.ColorJitter(contrast=0.9, random_state=1)(image)
    np.testing.assert_allclose(contrast.mean(), image.mean(), rtol=1e-5)
    saturation = T.ColorJitter(saturation=0.9, random_state=1)(image)
    np.testing.assert_allclose(saturation.mean(axis=0), image.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(T.ColorJitter()(image), image, rtol=1e-6)


def test_normalize():
    result = T.Normalize([0, 1, 2], [1, 2, 4])(IMAGE)
    expected = [(IMAGE[i] - i) / s for i, s in enumerate((1, 2, 4))]
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_cutout():
    result = T.Cutout(3, value=-1, random_state=0)(IMAGE)
    assert 0 < (result[0] == -1).sum() <= 9 and not (IMAGE == -1).any()


def test_mixup():
    x, t = np.eye(4, dtype=np.float32), np.arange(4)
    mixed, first, second, share = T.Mixup(0.5, random_state=0)(x, t)
    np.testing.assert_allclose(mixed, share * x[first] + (1 - share) * x[second])
    assert mixed.dtype == np.float32 and sorted(second) == [0, 1, 2, 3]


@pytest.mark.parametrize("make", RANDOM)
def test_seeds(make):
    first = [make(5)(IMAGE) for _ in range(2)]
    np.testing.assert_array_equal(*first)
    np.random.seed(3)
    from_global = [make(None)(IMAGE) for _ in range(2)]
    np.random.seed(3)
    for each in from_global:
        np.testing.assert_array_equal(make(None)(IMAGE), each)


class Augmented(chainer.dataset.DatasetMixin):
    augment = T.Compose(T.RandomCrop(4, pad=2), T.RandomFlip())

    def __len__(self):
        return 6

    def get_example(self, i):
        return self.augment(IMAGE + i)


def test_workers_draw_the_same_as_one_worker():
    def batches(n_processes):
        np.random.seed(0)
        iterator = chainer.iterators.MultiprocessIterator(Augmented(), 3, n_processes=n_processes)
        try:
            return [np.stack(iterator.next()) for _ in range(4)]
        finally:
            iterator.finalize()

    for a, b in zip(batches(1), batches(3), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.RandomFlip(2), "horizontal must be from 0 to 1, got 2"),
        (lambda: T.Resize((0, 2)), r"size must be positive, got \(0, 2\)"),
        (lambda: T.Normalize(0, 0), "std must be positive, got 0"),
        (lambda: T.Mixup(0), "alpha must be positive, got 0"),
        (lambda: T.RandomCrop(2, pad=-1), "pad must not be negative, got -1"),
        (lambda: T.Resize(3)(IMAGE[0]), r"\(channels, height, width\), got shape \(6, 8\)"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
    with pytest.raises(TypeError, match="transforms must be callable, got int"):
        T.Compose(3)

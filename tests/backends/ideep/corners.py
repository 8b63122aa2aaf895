"""Which inputs ReLU lets pass and which element a maximum is: kept from one run for another.

At these corners the gradient jumps. Float32 rounding carries an input within 1e-6 of zero to the
other side, and in a network of 50 layers that one element changes gradients by 1e-3. Where two runs
go the same way at every corner, their gradients differ by rounding only, and can be compared.
"""

import numpy as np

import chainer.functions as F


class Recorder:
    """Replaces ``F.relu`` and ``F.max_pooling_2d`` and records which way they went.

    Args:
        monkeypatch: The fixture of pytest that replaces them.
    """

    def __init__(self, monkeypatch):
        self.ways = []
        self._relu, self._max_pooling_2d = F.relu, F.max_pooling_2d
        monkeypatch.setattr(F, "relu", self.relu)
        monkeypatch.setattr(F, "max_pooling_2d", self.max_pooling_2d)

    def relu(self, x):
        y = self._relu(x)
        self.ways.append(elements(y) > 0)
        return y

    def max_pooling_2d(self, x, *window):
        y = self._max_pooling_2d(x, *window)
        self.ways.append(places_of_maxima(elements(x), elements(y), *window))
        return y


class Follower:
    """Replaces the same functions and goes the ways that a :class:`Recorder` recorded.

    Args:
        monkeypatch: The fixture of pytest that replaces them.
        ways: What was recorded.

    Attributes:
        margin: How far the way taken is from the one that these inputs would have taken, as the
            largest distance from a corner relative to the standard deviation of the inputs.
    """

    def __init__(self, monkeypatch, ways):
        self.margin = 0.0
        self._ways = iter(ways)
        monkeypatch.setattr(F, "relu", self.relu)
        monkeypatch.setattr(F, "max_pooling_2d", self.max_pooling_2d)

    def relu(self, x):
        passes = next(self._ways)
        y = x * passes.astype(x.dtype)
        self._measure(x.array, np.maximum(x.array, 0) - y.array)
        return y

    def max_pooling_2d(self, x, *window):
        places = next(self._ways)
        y = F.reshape(F.reshape(x, (-1,))[places.ravel()], places.shape)
        self._measure(x.array, largest(x.array, places.shape[2:], *window) - y.array)
        return y

    def _measure(self, x, distances):
        self.margin = max(self.margin, abs(distances).max() / x.std())


def elements(x):
    """Returns a NumPy copy; ``numpy.asarray`` would lay an array in blocks out anew."""
    return np.array(x.array.copy())


def windows(x, out_size, ksize, stride=None, pad=0):
    """Returns what each window of a pooling sees, -inf beyond the images: (n, c, h, w, k * k)."""
    stride = stride or ksize
    ends = [(o - 1) * stride + ksize - pad - i for o, i in zip(out_size, x.shape[2:], strict=True)]
    widths = [(0, 0), (0, 0), *((pad, max(end, 0)) for end in ends)]
    padded = np.pad(x, widths, constant_values=-np.inf)
    view = np.lib.stride_tricks.sliding_window_view(padded, (ksize, ksize), (2, 3))
    view = view[:, :, ::stride, ::stride][:, :, : out_size[0], : out_size[1]]
    return view.reshape(*view.shape[:4], -1)


def largest(x, out_size, *window):
    """Returns the maximum of each window."""
    return windows(x, out_size, *window).max(-1)


def places_of_maxima(x, y, *window):
    """Returns which element of ``x``, counted through, each element of ``y`` is."""
    n, c, height, width = x.shape
    counted = np.arange(x.size, dtype="d").reshape(n, c, height, width)
    found = windows(x, y.shape[2:], *window) == y[..., None]
    assert found.any(-1).all()
    places = windows(counted, y.shape[2:], *window)
    first = np.argmax(found, -1)[..., None]
    return np.take_along_axis(places, first, -1)[..., 0].astype(int)

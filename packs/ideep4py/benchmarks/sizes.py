"""From which sizes on oneDNN and Numba are faster than NumPy, for the rules of ``accelerate``.

    python packs/ideep4py/benchmarks/sizes.py

For each function and size: time of the reference / time of a provider, forward and backward, on
NumPy arrays. The providers take turns, and the smallest of the samples counts. The result and the
gradient are read as NumPy arrays, so that a conversion of layouts is part of the time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import chainer
import chainer.functions as F
import numpy as np

#: Configuration of each peer; the reference comes first.
PEERS = {
    "reference": {},
    "ideep": {"use_ideep": "auto"},
    "numba": {"kernels": ("numba",)},
}

#: Affine transformations: rows, and the shape of the weights, whose size decides.
_AFFINE = (
    (32, 100, 100),
    (16, 256, 1024),
    (512, 256, 256),
    (32, 512, 512),
    (1024, 512, 512),
    (100, 784, 1000),
    (32, 1000, 1000),
    (256, 1000, 1000),
    (512, 1000, 1000),
    (1024, 1000, 1000),
    (20, 650, 2600),
    (128, 768, 3072),
    (20, 1000, 4000),
    (64, 2000, 2000),
    (20, 1000, 10000),
)


def random(*shape: int) -> np.ndarray:
    """Returns an array of normal random numbers in float32."""
    return np.random.randn(*shape).astype(np.float32)


def cases() -> Iterator[tuple[str, int, Callable[..., chainer.Variable], list[np.ndarray]]]:
    """Yields the name, the number of elements or weights, the function, and its inputs."""
    for rows in (1, 4, 16, 64, 256):
        x = random(rows, 256)
        for name in ("relu", "leaky_relu", "sigmoid", "elu", "softmax", "log_softmax"):
            yield name, x.size, getattr(F, name), [x]
        labels = np.zeros(rows, np.int32)
        yield "cross entropy", x.size, lambda x, t=labels: F.softmax_cross_entropy(x, t), [x]
        yield "lstm", rows * 256, F.lstm, [random(rows, 256), random(rows, 1024)]
        yield "dropout", rows * 256, F.dropout, [x]
    for rows, inner, columns in _AFFINE:
        arrays = [random(rows, inner), random(columns, inner), random(columns)]
        yield f"linear, {rows} rows", inner * columns, F.linear, arrays
    for rows, size in ((128, 128), (512, 64), (128, 768), (512, 1024)):
        arrays = [random(rows, size), random(size), random(size)]
        yield "layer normalization", rows * size, F.layer_normalization, arrays
    for batch, heads, length in ((16, 4, 32), (1, 12, 128), (1, 12, 197), (8, 12, 128)):
        # As layers of a Transformer have them: heads are axes in the middle of memory.
        arrays = [random(batch, length, heads, 64).transpose(0, 2, 1, 3) for _ in range(3)]
        yield "attention", batch * heads * length**2, F.scaled_dot_product_attention, arrays
    for batch, channels, side in ((1, 1, 8), (1, 4, 8), (2, 8, 8), (8, 16, 14), (16, 32, 28)):
        x, size = random(batch, channels, side, side), batch * channels * side * side
        W = random(channels, channels, 3, 3)
        yield "convolution", size * channels * 9, lambda x, W: F.convolution_2d(x, W, pad=1), [x, W]
        yield "max pooling", size, lambda x: F.max_pooling_2d(x, 2), [x]
        yield "average pooling", size, lambda x: F.average_pooling_2d(x, 2), [x]
        scale = [random(channels), random(channels)]
        yield "batch normalization", size, F.batch_normalization, [x, *scale]
        yield "response normalization", size, F.local_response_normalization, [x]
        yield "relu of images", size, F.relu, [x]


def once(function: Callable[..., chainer.Variable], arrays: list[np.ndarray]) -> float:
    """Returns the seconds of one forward and backward pass."""
    inputs = [chainer.Variable(array) for array in arrays]
    begin = time.perf_counter()
    y = function(*inputs)
    y = y[-1] if isinstance(y, tuple) else y
    out = np.asarray(y.array)
    y.grad = np.ones_like(out)
    y.backward()
    for x in inputs:
        np.asarray(x.grad)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=40)
    samples = parser.parse_args().samples
    for name, size, function, arrays in cases():
        best = dict.fromkeys(PEERS, float("inf"))
        for sample in range(samples + 2):
            for peer, entries in PEERS.items():
                with chainer.using_config("use_ideep", "never"):
                    for key, value in entries.items():
                        setattr(chainer.config, key, value)
                    seconds = once(function, arrays)
                    chainer.config.kernels = ()
                if sample > 1:  # the first calls compile
                    best[peer] = min(best[peer], seconds)
        ratios = [f"{peer} {best['reference'] / best[peer]:5.2f}" for peer in PEERS]
        print(f"{name:24} {size:10} {best['reference'] * 1e6:9.1f} us  {'  '.join(ratios[1:])}")


if __name__ == "__main__":
    main()

"""Operations that only move data, by NumPy and by loops in Numba: why the provider has no kernels.

    python packs/numba/benchmarks/copies.py

Each row is the time of the reference / the time of a bare loop in Numba, which take turns in one
thread. A kernel adds the time of its call, which is about 5 microseconds.
"""

from __future__ import annotations

import time

import chainer
import numba
import numpy as np
from chainer.kernel import get_operation
from chainer.utils.conv import get_conv_outsize

compiled = numba.njit(nogil=True, error_model="numpy")


@compiled
def im2col(x, y, stride, pad):
    n, c, kh, kw, oh, ow = y.shape
    for image in range(n):
        for channel in range(c):
            for i in range(kh):
                for j in range(kw):
                    for row in range(oh):
                        at, target = row * stride + i - pad, y[image, channel, i, j, row]
                        if at < 0 or at >= x.shape[2]:
                            target[:] = 0
                            continue
                        source = x[image, channel, at]
                        for column in range(ow):
                            k = column * stride + j - pad
                            target[column] = source[k] if 0 <= k < len(source) else 0


@compiled
def col2im(y, x, stride, pad):
    n, c, kh, kw, oh, ow = y.shape
    x[...] = 0
    for image in range(n):
        for channel in range(c):
            for i in range(kh):
                for j in range(kw):
                    for row in range(oh):
                        at = row * stride + i - pad
                        if at < 0 or at >= x.shape[2]:
                            continue
                        target, source = x[image, channel, at], y[image, channel, i, j, row]
                        first = max(0, (pad - j + stride - 1) // stride)
                        for column in range(first, ow):
                            k = column * stride + j - pad
                            if k < len(target):
                                target[k] += source[column]


@compiled
def join(a, b, y):
    for row in range(len(y)):
        y[row, : a.shape[1]] = a[row]
        y[row, a.shape[1] :] = b[row]


@compiled
def join_broadcast(a, b, y):
    for row in range(len(y)):
        for k in range(a.shape[1]):
            y[row, k] = a[row, k]
        for k in range(len(b)):
            y[row, a.shape[1] + k] = b[k]


def patches_of(shape, ksize, stride, pad):
    """Returns the row's calls for images of a shape: im2col and col2im, by both."""
    from chainer.backends.operations.convolutions import ConvolutionGeometry

    x = np.random.rand(*shape).astype(np.float32)
    kernel = get_operation("im2col").reference_for(chainer.get_device("@numpy").backend)
    out = tuple(get_conv_outsize(size, ksize, stride, pad) for size in shape[2:])
    geometry = ConvolutionGeometry((stride,) * 2, (pad,) * 2, (1, 1), 1)

    def by_loop():
        y = np.empty((*shape[:2], ksize, ksize, *out), np.float32)
        im2col(x, y, stride, pad)
        return y

    patches = by_loop()

    def back_by_loop():
        gx = np.empty(shape, np.float32)
        col2im(patches, gx, stride, pad)
        return gx

    return [
        ("im2col", lambda: kernel.forward(x, (ksize,) * 2, out, geometry), by_loop),
        ("col2im", lambda: kernel.backward(patches, shape[2:], geometry), back_by_loop),
    ]


def joins_of(rows, columns):
    """Returns calls that join two arrays, and an array and a broadcast vector."""
    a, b = np.random.rand(2, rows, columns).astype(np.float32)

    def by(loop, second):
        y = np.empty((rows, 2 * columns), np.float32)
        loop(a, second, y)
        return y

    wide = np.broadcast_to(b[0], b.shape)
    return [
        ("concat", lambda: np.concatenate([a, b], 1), lambda: by(join, b)),
        (
            "concat of a broadcast",
            lambda: np.concatenate([a, wide], 1),
            lambda: by(join_broadcast, b[0]),
        ),
    ]


def smallest_times(functions, seconds=1.0):
    """Returns the smallest time of each function; they take turns."""
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, function in enumerate(functions):
            for _ in range(3):
                start = time.perf_counter()
                function()
                best[i] = min(best[i], time.perf_counter() - start)
    return best


def main():
    print("| operation | arrays | reference / loop |")
    print("|---|---|---:|")
    for shape, ksize, stride, pad in (
        ((8, 16, 28, 28), 3, 1, 1),
        ((16, 32, 56, 56), 3, 1, 1),
        ((16, 32, 56, 56), 3, 2, 1),
    ):
        rows = patches_of(shape, ksize, stride, pad)
        show(rows, f"{' x '.join(map(str, shape))}, windows of {ksize}, stride {stride}")
    for size in ((64, 256), (4096, 2048)):
        show(joins_of(*size), f"{size[0]} x {size[1]}")


def show(rows, text):
    for name, reference, loop in rows:
        np.testing.assert_allclose(reference(), loop(), rtol=1e-5)
        first, second = smallest_times([reference, loop])
        print(f"| {name} | {text} | {first / second:.2f} |", flush=True)


if __name__ == "__main__":
    main()

"""Reference kernels of convolutions: patches are copied out, then matrix products are taken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.numpy.window_phases import window_phases
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.arrays.chunks import chunks
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.windows import add_patches, copy_patches, reaches_padding, sum_patches
from chainer.core.freed_memory import keep_freed_memory
from chainer.core.typing import Array, ArrayModule, DType, DTypeLike, Shape

# The patches of one block of samples stay in the processor's cache while the product reads them.
_BLOCK_BYTES = 1 << 20
# With at most this many output positions, one product over all samples of a block is faster than
# one product per sample: small matrices do not fill the registers of a BLAS.
_FEW_POSITIONS = 64
# Copies of patches are runs of a few elements. With the samples last in memory, runs are as many
# times longer, and the stride makes no gaps in them (see window_phases). From this number of
# samples in a block on, convolutions took 0.7 to 1.0 of the time, and gradients of the input with a
# stride 0.4 to 1.0 (AMD Zen 3, one thread; 3 to 64 channels, 8 to 64 samples, 4 to 32 positions in
# a row).
_MANY_SAMPLES = 8
# If windows have less elements than this multiple of the output's channels, transposing the output
# takes longer than is saved: 1.1 to 1.9 of the time, unless there are few positions.
_MANY_ROWS = 3
# From this number of channels on, patches of few positions whose channels are last in memory took
# 0.7 to 1.0 of the time for the gradient of the weight. So did, with a stride, the samples last for
# many positions or fewer channels. With stride 1 these took up to 1.5 of the time.
_MANY_CHANNELS = 8


class ConvolutionNDKernel(ReferenceKernel):
    """Convolution as a matrix product of the weight with patches of the input.

    The weight of a group is a matrix ``(O / G, C / G * K)``. Its product with the patches of a
    sample, arranged as ``(C / G * K, positions)``, is the output in the layout that the caller
    expects. Where there are few positions, the patches of a block of samples are arranged side by
    side, as ``(C / G * K, samples * positions)``, or with the samples last in memory.
    """

    def forward(
        self, x: Array, W: Array, b: Array | None, out_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        xp = self.xp
        n, c = x.shape[:2]
        o, ksize = W.shape[0], W.shape[2:]
        groups = geometry.groups
        dtype = compute_dtype(x.dtype, W.dtype)
        y = xp.empty((n, o, *out_size), x.dtype)
        positions = prod(out_size)
        rows = c // groups * prod(ksize)
        weight = W.reshape(groups, o // groups, rows).astype(dtype, copy=False)
        products = y.reshape(n, groups, o // groups, positions)
        bias = None if b is None else b.reshape(groups, o // groups, 1)
        if _is_pointwise(geometry, ksize, x.shape[2:], out_size):
            # The patches are the input itself: nothing needs to be copied.
            patches = x.reshape(n, groups, rows, positions).astype(dtype, copy=False)
            if products.dtype == dtype:
                xp.matmul(weight, patches, out=products)
            else:
                products[...] = xp.matmul(weight, patches)
            if bias is not None:
                products += bias
            return y
        side_by_side = positions <= _FEW_POSITIONS
        samples_last = _puts_samples_last(n, rows * groups, out_size, dtype, o)
        for part, block, buffer in _blocks(xp, x.shape, ksize, out_size, dtype, geometry):
            images, target = x[block, _channels(part, c // groups)], products[block, part]
            if samples_last:
                result = xp.matmul(weight[part], buffer.gather_samples_last(images))
                result = result.reshape(len(result), o // groups, positions, -1)
                target[...] = result.transpose(3, 0, 1, 2)
            elif side_by_side:
                result = xp.matmul(weight[part], buffer.gather_side_by_side(images))
                result = result.reshape(len(result), o // groups, -1, positions)
                target[...] = result.transpose(2, 0, 1, 3)
            elif y.dtype == dtype:
                xp.matmul(weight[part], buffer.gather(images), out=target)
            else:
                target[...] = xp.matmul(weight[part], buffer.gather(images))
            # The bias is added while the block is still in the cache.
            if bias is not None:
                target += bias[part]
        return y

    def backward_data(
        self, gy: Array, W: Array, b: Array | None, in_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        n, o = gy.shape[:2]
        groups, ksize = geometry.groups, W.shape[2:]
        c = W.shape[1] * groups
        dtype = compute_dtype(gy.dtype, W.dtype)
        weight = W.reshape(groups, o // groups, -1).astype(dtype, copy=False).transpose(0, 2, 1)
        if _is_pointwise(geometry, ksize, in_size, gy.shape[2:]):
            positions = prod(in_size)  # not -1, which an empty batch leaves undecided
            gradients = gy.reshape(n, groups, o // groups, positions).astype(dtype, copy=False)
            gx = self.xp.matmul(weight, gradients).reshape(n, c, *in_size)
        elif set(geometry.stride) != {1} and _puts_samples_last(
            n, c * prod(ksize), gy.shape[2:], dtype
        ):
            gx = self._data_gradient_with_samples_last(gy, weight, c, (in_size, ksize), geometry)
        elif o <= 2 * c and (set(geometry.stride) == {1} or set(geometry.dilate) == {1}):
            # Copying patches out is three times as fast as adding them up, which pays unless there
            # are many more channels to copy than to add.
            gx = self._data_gradient_by_phases(gy, W, in_size, geometry)
        else:
            gx = self._data_gradient_by_patches(gy, weight, c, (in_size, ksize), geometry)
        if b is not None:
            gx += b.reshape(c, *[1] * len(ksize))
        return gx.astype(gy.dtype, copy=False)

    def _data_gradient_by_patches(
        self,
        gy: Array,
        weight: Array,
        channels: int,
        sizes: tuple[Shape, Shape],
        geometry: ConvolutionGeometry,
    ) -> Array:
        """Computes the gradients of patches by products, and adds these up.

        Args:
            gy: Gradient of the output.
            weight: Transposed weights of the groups, in the dtype to compute in.
            channels: Number of channels of the input.
            sizes: Spatial sizes of the input and of the weight.
            geometry: Geometry of the convolution.
        """
        xp = self.xp
        in_size, ksize = sizes
        n, o = gy.shape[:2]
        groups, out_size = geometry.groups, gy.shape[2:]
        positions, dtype = prod(out_size), weight.dtype
        gradients = gy.reshape(n, groups, o // groups, positions).astype(dtype, copy=False)
        gx = xp.zeros((n, channels, *in_size), dtype)
        side_by_side = positions <= _FEW_POSITIONS
        patches_of_block: Array = None
        bytes_of_sample = channels * prod(ksize) * positions * dtype.itemsize
        for block in chunks(n, bytes_of_sample, _BLOCK_BYTES):
            part = gradients[block]
            count = len(part)
            if side_by_side:
                part = part.transpose(1, 2, 0, 3).reshape(groups, o // groups, -1)
                patches = xp.matmul(weight, part).reshape(channels, *ksize, count, *out_size)
                patches = _samples_first(patches, len(ksize))
            else:
                # All blocks share one buffer. The first block is the largest.
                if patches_of_block is None:
                    patches_of_block = xp.empty((count, groups, weight.shape[1], positions), dtype)
                patches = xp.matmul(weight, part, out=patches_of_block[:count])
                patches = patches.reshape(count, channels, *ksize, *out_size)
            add_patches(patches, gx[block], geometry.stride, geometry.pad, geometry.dilate)
        return gx

    def _data_gradient_with_samples_last(
        self,
        gy: Array,
        weight: Array,
        channels: int,
        sizes: tuple[Shape, Shape],
        geometry: ConvolutionGeometry,
    ) -> Array:
        """Does the work of :meth:`_data_gradient_by_patches` with the samples last in memory.

        Patches are added to the phases of the images in long runs, and to images at the end.
        """
        xp = self.xp
        in_size, ksize = sizes
        n, o = gy.shape[:2]
        groups, out_size = geometry.groups, gy.shape[2:]
        dtype = weight.dtype
        windows = window_phases(ksize, in_size, out_size, *geometry[:3])
        # Elements that no window meets get no gradient.
        new = xp.empty if windows.covers_image else xp.zeros
        gx = new((n, channels, *in_size), gy.dtype)
        if xp is numpy:
            keep_freed_memory()
        bytes_of_sample = channels * prod(ksize) * prod(out_size) * dtype.itemsize
        buffer: Array = None
        for block in chunks(n, bytes_of_sample, _BLOCK_BYTES):
            part = _samples_last(gy[block]).astype(dtype, copy=False)
            part = part.reshape(groups, o // groups, -1)
            # All blocks but a shorter last one share one buffer.
            if buffer is None or buffer.shape[2] != part.shape[2]:
                buffer = xp.empty((groups, weight.shape[1], part.shape[2]), dtype)
            patches = xp.matmul(weight, part, out=buffer).reshape(channels, *ksize, *out_size, -1)
            phases = windows.zeros(xp, channels, patches.shape[-1], dtype)
            windows.add(patches, phases)
            windows.join(phases, gx[block])
        return gx

    def _data_gradient_by_phases(
        self, gy: Array, W: Array, in_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        """Computes the gradient with respect to the input as convolutions of ``gy`` with stride 1.

        A phase is a position of the input modulo the stride. Each phase has its own convolution,
        with those elements of the weight that ever meet positions of this phase.
        """
        stride, pad, dilate, groups = geometry
        if set(stride) == {1}:
            # The one phase is the whole image.
            pads = [d * (k - 1) - p for d, k, p in zip(dilate, W.shape[2:], pad, strict=True)]
            turned = ConvolutionGeometry(stride, tuple(pads), dilate, groups)
            return self.forward(gy, _flipped(self.xp, W, groups), None, in_size, turned)
        gx = self.xp.zeros((len(gy), W.shape[1] * groups, *in_size), gy.dtype)
        if set(stride) != {1} and prod(gy.shape[2:]) <= _FEW_POSITIONS and len(gy) >= _MANY_SAMPLES:
            # Once, and not in each of the phases.
            gy = _with_samples_last(self.xp, gy)
        for phase in product(*map(range, stride)):
            part = W[(..., *[slice(i, None, s) for i, s in zip(phase, stride, strict=True)])]
            # The window that starts the phase, its position, and the number of positions.
            first = [-((i - p) // s) for i, p, s in zip(phase, pad, stride, strict=True)]
            start = [f * s - p + i for f, i, p, s in zip(first, phase, pad, stride, strict=True)]
            count = tuple(
                [-((q - size) // s) for q, size, s in zip(start, in_size, stride, strict=True)]
            )
            if part.size == 0 or min(count) <= 0:
                continue  # no window meets this phase: its gradient stays zero
            pad_of_phase = tuple(
                [d * (k - 1) - f for d, k, f in zip(dilate, part.shape[2:], first, strict=True)]
            )
            positions = [slice(q, None, s) for q, s in zip(start, stride, strict=True)]
            gx[(..., *positions)] = self.forward(
                gy,
                _flipped(self.xp, part, groups),
                None,
                count,
                ConvolutionGeometry((1,) * len(stride), pad_of_phase, dilate, groups),
            )
        return gx

    def backward_weight(
        self, x: Array, gy: Array, ksize: Shape, dtype: DTypeLike, geometry: ConvolutionGeometry
    ) -> Array:
        xp = self.xp
        n, c = x.shape[:2]
        groups = geometry.groups
        o, out_size = gy.shape[1], gy.shape[2:]
        positions = prod(out_size)
        rows = c // groups * prod(ksize)
        sum_dtype = compute_dtype(x.dtype, gy.dtype)
        gradients = gy.reshape(n, groups, o // groups, positions)
        total = xp.zeros((groups, o // groups, rows), sum_dtype)
        pointwise = _is_pointwise(geometry, ksize, x.shape[2:], out_size)
        if pointwise:
            samples = x.reshape(n, groups, rows, positions)
            for block in chunks(n, c * positions * sum_dtype.itemsize, _BLOCK_BYTES):
                part = _side_by_side(gradients[block]).astype(sum_dtype, copy=False)
                patches = _side_by_side(samples[block]).astype(sum_dtype, copy=False)
                total += xp.matmul(part, patches.transpose(0, 2, 1))
        elif groups == 1 and c >= _MANY_CHANNELS and positions <= _FEW_POSITIONS:
            # The products are the same, with the elements of a window in another order.
            for _, block, buffer in _blocks(xp, x.shape, ksize, out_size, sum_dtype, geometry):
                part = _side_by_side(gradients[block]).astype(sum_dtype, copy=False)
                total += xp.matmul(part, buffer.gather_channels_last(x[block]))
            total = total.reshape(o, *ksize, c)
            total = xp.ascontiguousarray(total.transpose(0, -1, *range(1, len(ksize) + 1)))
        elif set(geometry.stride) != {1} and _puts_samples_last(
            n, rows * groups, out_size, sum_dtype, o
        ):
            for which, block, buffer in _blocks(xp, x.shape, ksize, out_size, sum_dtype, geometry):
                part = _samples_last(gradients[block, which]).astype(sum_dtype, copy=False)
                part = part.reshape(len(total[which]), o // groups, -1)
                patches = buffer.gather_samples_last(x[block, _channels(which, c // groups)])
                total[which] += xp.matmul(part, patches.transpose(0, 2, 1))
        else:
            for which, block, buffer in _blocks(xp, x.shape, ksize, out_size, sum_dtype, geometry):
                part = _side_by_side(gradients[block, which]).astype(sum_dtype, copy=False)
                patches = buffer.gather_side_by_side(x[block, _channels(which, c // groups)])
                total[which] += xp.matmul(part, patches.transpose(0, 2, 1))
        return total.reshape(o, c // groups, *ksize).astype(dtype, copy=False)


def _blocks(
    xp: ArrayModule,
    shape: Shape,
    ksize: Shape,
    out_size: Shape,
    dtype: DType,
    geometry: ConvolutionGeometry,
) -> Iterator[tuple[slice, slice, _PatchBuffer]]:
    """Yields slices of the groups and of the samples whose patches fit into the cache.

    Groups are divided if the patches of one sample need too much memory, so that sums over samples
    are made in the same order.

    Yields:
        tuple: Slice of the groups, slice of the samples, and the buffer for their patches.
    """
    if xp is numpy:
        keep_freed_memory()  # else new memory for patches takes longer than to copy them
    samples, channels = shape[:2]
    groups = geometry.groups
    nbytes = channels * prod(ksize) * prod(out_size) * dtype.itemsize
    buffer: _PatchBuffer | None = None
    parts = chunks(groups, nbytes // groups, _BLOCK_BYTES)
    for part in parts if nbytes > _BLOCK_BYTES else [slice(0, groups)]:
        count = part.stop - part.start
        own = samples, channels // groups * count, *shape[2:]
        if buffer is None or own[1] != buffer.channels:
            buffer = _PatchBuffer(xp, own, ksize, out_size, dtype, geometry._replace(groups=count))
        for block in chunks(samples, nbytes * count // groups, _BLOCK_BYTES):
            yield part, block, buffer


def _channels(groups: slice, each: int) -> slice:
    """Returns the channels of groups of a given number of channels each."""
    return slice(groups.start * each, groups.stop * each)


def _puts_samples_last(
    samples: int, rows: int, out_size: Shape, dtype: DType, outputs: int = 0
) -> bool:
    """Returns whether patches whose samples are last in memory take less time.

    Args:
        samples: Number of samples.
        rows: Number of elements of a window, of all channels.
        out_size: Spatial size of the output.
        dtype: Dtype of the patches.
        outputs: Number of channels whose positions are transposed as well, if that counts.
    """
    positions = prod(out_size)
    if positions > _FEW_POSITIONS and rows < _MANY_ROWS * outputs:
        return False
    samples_of_block = _BLOCK_BYTES // max(1, rows * positions * dtype.itemsize)
    return min(samples, samples_of_block) >= _MANY_SAMPLES


def _samples_last(images: Array) -> Array:
    """Views ``(N, C, ...)`` as ``(C, ..., N)``."""
    return images.transpose(*range(1, images.ndim), 0)


def _with_samples_last(xp: ArrayModule, images: Array) -> Array:
    """Returns equal images whose samples are last in memory."""
    copied = xp.ascontiguousarray(_samples_last(images))
    return copied.transpose(images.ndim - 1, *range(images.ndim - 1))


def _channels_last(xp: ArrayModule, images: Array) -> Array:
    """Returns equal images whose channels are last in memory."""
    others = [i for i in range(images.ndim) if i != 1]
    copied = xp.ascontiguousarray(images.transpose(*others, 1))
    return copied.transpose(0, images.ndim - 1, *range(1, images.ndim - 1))


def _side_by_side(images: Array) -> Array:
    """Returns ``(N, groups, rows, positions)`` as ``(groups, rows, N * positions)``."""
    groups, rows = images.shape[1:3]
    return images.transpose(1, 2, 0, 3).reshape(groups, rows, len(images) * images.shape[3])


class _PatchBuffer:
    """Buffer for the patches of one block of samples, in one of several arrangements.

    The elements in the padding are the same for every block. They are set to zero once, when the
    buffer is made.

    Args:
        xp: Array namespace.
        shape: Shape of the input.
        ksize: Spatial size of the weight.
        out_size: Spatial size of the output.
        dtype: Dtype of the patches.
        geometry: Geometry of the convolution.
    """

    def __init__(
        self,
        xp: ArrayModule,
        shape: Shape,
        ksize: Shape,
        out_size: Shape,
        dtype: DType,
        geometry: ConvolutionGeometry,
    ) -> None:
        self._xp = xp
        self.channels = shape[1]
        self._ksize = ksize
        self._out_size = out_size
        self._dtype = dtype
        self._geometry = geometry
        windows = geometry.stride, geometry.pad, geometry.dilate
        padded = reaches_padding(ksize, shape[2:], out_size, *windows)
        self._new = xp.zeros if padded else xp.empty
        self._buffer: Array = None
        self._phases: Array = None

    def gather(self, x: Array) -> Array:
        """Returns patches of shape ``(samples, groups, rows, positions)``."""
        count = len(x)
        if self._buffer is None:
            shape = (count, self.channels, *self._ksize, *self._out_size)
            self._buffer = self._new(shape, self._dtype)
        patches = self._buffer[:count]
        self._copy(x, patches)
        return patches.reshape(count, self._geometry.groups, -1, prod(self._out_size))

    def gather_side_by_side(self, x: Array) -> Array:
        """Returns patches of shape ``(groups, rows, samples * positions)``."""
        count, groups = len(x), self._geometry.groups
        shape = (self.channels, *self._ksize, count, *self._out_size)
        # The last block may have fewer samples, which are not contiguous in this arrangement.
        if self._buffer is None or self._buffer.shape != shape:
            self._buffer = self._new(shape, self._dtype)
        self._copy(x, _samples_first(self._buffer, len(self._ksize)))
        rows = self.channels // groups * prod(self._ksize)
        return self._buffer.reshape(groups, rows, count * prod(self._out_size))

    def gather_samples_last(self, x: Array) -> Array:
        """Returns patches of shape ``(groups, rows, positions * samples)``."""
        xp, (count, channels) = self._xp, x.shape[:2]
        windows = window_phases(self._ksize, x.shape[2:], self._out_size, *self._geometry[:3])
        shape = (channels, *self._ksize, *self._out_size, count)
        if self._buffer is None or self._buffer.shape != shape:
            self._buffer = xp.empty(shape, self._dtype)
            self._phases = windows.zeros(xp, channels, count, self._dtype)
        windows.split(x, self._phases)
        windows.gather(self._phases, self._buffer)
        rows = channels // self._geometry.groups * prod(self._ksize)
        return self._buffer.reshape(self._geometry.groups, rows, prod(self._out_size) * count)

    def gather_channels_last(self, x: Array) -> Array:
        """Returns patches of one group, shape ``(samples * positions, elements * channels)``."""
        count, ndim = len(x), len(self._ksize)
        if self._buffer is None:
            shape = (count, *self._out_size, *self._ksize, self.channels)
            self._buffer = self._new(shape, self._dtype)
        patches = self._buffer[:count]
        windows, elements = range(1, ndim + 1), range(ndim + 1, 2 * ndim + 1)
        images = _channels_last(self._xp, x)
        self._copy(images, patches.transpose(0, 2 * ndim + 1, *elements, *windows))
        return patches.reshape(count * prod(self._out_size), -1)

    def _copy(self, x: Array, patches: Array) -> None:
        stride, pad, dilate, _ = self._geometry
        copy_patches(x, patches, stride, pad, dilate, None)


def _samples_first(patches: Array, ndim: int) -> Array:
    """Views patches ``(C, *ksize, N, *out_size)`` as ``(N, C, *ksize, *out_size)``."""
    return patches.transpose(ndim + 1, *range(ndim + 1), *range(ndim + 2, 2 * ndim + 2))


def _flipped(xp: ArrayModule, W: Array, groups: int) -> Array:
    """Returns the weight of the convolution that computes the gradient of one of stride 1.

    Its channels are exchanged and its windows are reversed.
    """
    o, c = W.shape[:2]
    ksize = W.shape[2:]
    W = W.reshape(groups, o // groups, c, *ksize)[(..., *[slice(None, None, -1)] * len(ksize))]
    return xp.ascontiguousarray(W.swapaxes(1, 2)).reshape(groups * c, o // groups, *ksize)


def _is_pointwise(
    geometry: ConvolutionGeometry, ksize: Shape, in_size: Shape, out_size: Shape
) -> bool:
    """Returns whether each patch is one element of the input, in the same order."""
    return (
        prod(ksize) == 1
        and not any(geometry.pad)
        and set(geometry.stride) <= {1}
        and tuple(in_size) == tuple(out_size)
    )


class Im2ColKernel(ReferenceKernel):
    """Patches copied by slices, one element of the windows at a time."""

    def forward(
        self, x: Array, ksize: Shape, out_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        stride, pad, dilate, _ = geometry
        patches = self.xp.empty((*x.shape[:2], *ksize, *out_size), x.dtype)
        copy_patches(x, patches, stride, pad, dilate)
        return patches

    def backward(self, patches: Array, in_size: Shape, geometry: ConvolutionGeometry) -> Array:
        stride, pad, dilate, _ = geometry
        return sum_patches(self.xp, patches, in_size, stride, pad, dilate)

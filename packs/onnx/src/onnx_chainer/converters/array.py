"""Converters of functions that move elements and change shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from chainer.typing import Array
from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes


@rule()
def AsStrided(g: Nodes, x: str) -> str:
    """Selects elements of the flattened array by their positions in memory."""
    if not g.arrays[0].flags.c_contiguous:
        raise g.unsupported("an input that is not contiguous")
    offset = g.func.storage_offset - g.func.input_geometry.storage_offset
    g.warn_of_lengths()
    positions = numpy.full((), offset)
    for length, stride in zip(g.func.shape, g.func.strides, strict=True):
        positions = numpy.add.outer(positions, numpy.arange(length) * stride)
    return g.gather(g.reshape(x, [-1]), positions)


@rule()
def Broadcast(g: Nodes, *xs: str) -> list[str]:
    """Repeats all inputs to their common shape."""
    shape = numpy.broadcast_shapes(*[g.shape(i) for i in range(len(xs))])
    twin = g.params.application.twin
    other = None if twin is None else numpy.broadcast_shapes(*[x.shape for x in twin.inputs])
    return [g.expand(x, shape, other) for x in xs]


@rule()
def BroadcastTo(g: Nodes, x: str) -> str:
    """Repeats the input to a shape."""
    return g.expand(x, g.out_shape, g.twin_out_shape)


@rule()
def Cast(g: Nodes, x: str) -> str:
    """Converts to another dtype."""
    return g.cast(x, g.out_dtype)


@rule()
def Concat(g: Nodes, *xs: str) -> str:
    """Joins along an axis."""
    return g("Concat", *xs, axis=g.axis(g.func.axis))


@rule()
def Copy(g: Nodes, x: str) -> str:
    """ONNX has no devices: a copy is the identity."""
    return x


@rule()
def Depth2Space(g: Nodes, x: str) -> str:
    """The channels are ordered as in the operator's mode DCR."""
    return g("DepthToSpace", x, blocksize=g.func.r)


@rule()
def Space2Depth(g: Nodes, x: str) -> str:
    """Moves blocks of pixels to channels."""
    return g("SpaceToDepth", x, blocksize=g.func.r)


@rule()
def Diagonal(g: Nodes, x: str) -> str:
    """Selects from the two axes joined to one."""
    ndim = g.ndim()
    a, b = g.axes((g.func.axis1, g.func.axis2))
    others = [i for i in range(ndim) if i not in (a, b)]
    g.warn_of_lengths([a, b])
    rows, columns = g.shape()[a], g.shape()[b]
    positions = numpy.arange(rows * columns).reshape(rows, columns).diagonal(g.func.offset)
    x = g.transpose(x, [*others, a, b])
    # A zero copies the length of the input.
    x = g("Reshape", x, g.ints([0] * len(others) + [rows * columns]))
    return g.gather(x, positions, axis=len(others))


@rule()
def ExpandDims(g: Nodes, x: str) -> str:
    """Inserts an axis."""
    return g.unsqueeze(x, [g.axis(g.func.axis, g.ndim() + 1)])


@rule()
def Flip(g: Nodes, x: str) -> str:
    """Reverses an axis."""
    axis = g.axis(g.func.axis)
    if g.opset < 10:  # slices had no steps
        g.warn_of_lengths([axis])
        return g.gather(x, numpy.arange(g.shape()[axis])[::-1], axis)
    return g.slice(x, [-1], [numpy.iinfo(numpy.int64).min], [axis], [-1])


@rule()
def Im2Col(g: Nodes, x: str) -> str:
    """A convolution of each channel whose filters have a single one each."""
    kh, kw = g.func.ksize
    g.warn_of_lengths([2, 3])
    filters = numpy.eye(kh * kw).reshape(kh * kw, 1, kh, kw)
    _, channels, height, width = g.shape()
    (sy, sx), (ph, pw), (dy, dx) = g.func.stride, g.func.pad, g.func.dilate
    out = g.out_shape[2:]
    pads = [
        (out[0] - 1) * sy + (kh - 1) * dy + 1 - height - ph,
        (out[1] - 1) * sx + (kw - 1) * dx + 1 - width - pw,
    ]
    y = g(
        "Conv",
        g("Reshape", x, g.ints([-1, 1, height, width])),
        g.const(filters),
        strides=[sy, sx],
        dilations=[dy, dx],
        pads=[ph, pw, *pads],
    )
    return g("Reshape", y, g.ints([-1, channels * kh * kw, *out]))


@rule()
def Hstack(g: Nodes, *xs: str) -> str:
    """Joins along the second axis; vectors along the first."""
    if g.ndim() == 0:
        xs = tuple([g.unsqueeze(x, [0]) for x in xs])
    return g("Concat", *xs, axis=0 if g.ndim() < 2 else 1)


@rule()
def Join(g: Nodes, *xs: str) -> str:
    """``vstack`` and ``dstack``: few axes become as many as needed first."""
    if g.ndim() < g.func.full_ndim:
        # Where axes are inserted follows from a shape without ones.
        lifted = g.func.lifted_shape(tuple(range(2, g.ndim() + 2)))
        new = [i for i, n in enumerate(lifted) if n == 1]
        xs = tuple([g.unsqueeze(x, new) for x in xs])
    return g("Concat", *xs, axis=g.func.axis)


@rule()
def Pad(g: Nodes, x: str) -> str:
    """Padding with a constant, with the edge, or by reflection."""
    modes = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}
    mode = modes.get(g.func.mode)
    if mode is None or g.func.keywords.get("reflect_type", "even") != "even":
        raise g.unsupported(f"mode {g.func.mode!r} and {g.func.keywords}")
    if mode == "wrap":
        g.require_opset(19, "with mode 'wrap'")
    value = numpy.asarray(g.func.keywords.get("constant_values", 0))
    if value.size and (value != value.flat[0]).any():
        raise g.unsupported("several constant_values")
    widths = numpy.broadcast_to(numpy.asarray(g.func.pad_width), (g.ndim(), 2))
    return g.pad(x, widths[:, 0], widths[:, 1], value.flat[0], mode)


@rule()
def PadSequence(g: Nodes, *xs: str) -> str:
    """Pads each sequence to one length, and stacks them."""
    length = g.out_shape[1]
    rows: list[str] = []
    for i, x in enumerate(xs):
        g.warn_of_lengths([0], i)
        shape = g.shape(i)
        none = [0] * len(shape)
        if shape[0] < length:
            x = g.pad(x, none, [length - shape[0], *none[1:]], g.func.padding)
        rows.append(g.unsqueeze(x, [0]))
    return g("Concat", *rows, axis=0)


@rule()
def Permutate(g: Nodes, x: str) -> str:
    """Selects along an axis; the inverse scatters numbers that count up."""
    axis = g.axis(g.func.axis)
    indices = g.array(g.func.indices, None if g.twin is None else g.twin.indices)
    if g.func.inv:
        count = len(g.func.indices)
        scatter = "ScatterElements" if g.opset >= 11 else "Scatter"
        numbers = g.ints(numpy.arange(count))
        if g.twin is not None and len(g.twin.indices) != count:
            g.require_opset(11, "with an inverse as long as axes that have names")
            end = g.gather(g("Shape", indices), g.const(0, numpy.int64))
            numbers = g("Range", g.const(0, numpy.int64), end, g.const(1, numpy.int64))
        indices = g(scatter, numbers, indices, numbers, axis=0)
    return g.gather(x, indices, axis)


@rule()
def Repeat(g: Nodes, x: str) -> str:
    """Repeats each element; by index, as no operator does it."""
    repeats, axis = g.func.repeats, g.func.axis
    shape = list(g.shape())
    twin = g.params.application.twin
    other = shape if twin is None else list(twin.inputs[0].shape)
    if axis is None:
        x, axis = g.reshape(x, [-1]), 0
        shape, other = [math.prod(shape)], [math.prod(other)]
    axis = g.axis(axis, len(shape))
    counts: Any = repeats[0] if len(repeats) == 1 else list(repeats)
    if other[axis] != shape[axis] and len(repeats) == 1:
        # The length is not known: copies along a new axis, which is then joined.
        reps = [1] * (len(shape) + 1)
        reps[axis + 1] = counts
        x = g("Tile", g.unsqueeze(x, [axis + 1]), g.ints(reps))
        return g.reshape(x, g.out_shape, g.twin_out_shape)
    return g.gather(x, numpy.arange(shape[axis]).repeat(counts), axis)


@rule()
def Reshape(g: Nodes, x: str, shape: str = "") -> str:
    """Changes the shape, to a constant one unless a second input has it."""
    if shape:
        return g("Reshape", x, shape)
    return g.reshape(x, g.out_shape, g.twin_out_shape)


@rule()
def ResizeImages(g: Nodes, x: str) -> str:
    """Resize with Chainer's rule of corners; products of matrices before opset 11."""
    height, width = g.func.out_H, g.func.out_W
    if g.opset >= 11 and g.func.mode == "bilinear":
        where = "align_corners" if g.func.align_corners else "half_pixel"
        sizes = g.ints([*g.shape()[:2], height, width])
        twin = g.params.application.twin
        if twin is not None:
            sizes = g.shape_value(g.out_shape, g.twin_out_shape)
        # The region of interest and the scales are left out; opset 11 wants empty tensors.
        absent = g.const([], numpy.float32) if g.opset < 13 else ""
        return g(
            "Resize", x, absent, absent, sizes,
            mode="linear", coordinate_transformation_mode=where,
        )  # fmt: skip
    g.warn_of_lengths([2, 3])
    rows = _interpolation(g, g.shape()[2], height)
    columns = _interpolation(g, g.shape()[3], width)
    return g("MatMul", g("MatMul", g.const(rows), x), g.const(columns.T))


def _interpolation(g: Nodes, length: int, out_length: int) -> Array:
    """Returns the matrix that resizes one axis: what becomes of unit vectors."""
    unit = numpy.eye(length)[None, None]
    size = (out_length, length)
    # Resizing is linear, and treats its two axes independently.
    return type(g.func)(size, g.func.mode, g.func.align_corners).apply((unit,))[0].array[0, 0]


@rule()
def Transpose(g: Nodes, x: str) -> str:
    """Permutes axes, in reverse order by default."""
    axes = g.func.axes
    return g.transpose(x, range(g.ndim())[::-1] if axes is None else g.axes(axes))


@rule()
def Swapaxes(g: Nodes, x: str) -> str:
    """Exchanges two axes."""
    perm = list(range(g.ndim()))
    a, b = g.axes((g.func.axis1, g.func.axis2))
    perm[a], perm[b] = perm[b], perm[a]
    return g.transpose(x, perm)


@rule()
def Moveaxis(g: Nodes, x: str) -> str:
    """Moves axes to other places."""
    ndim = g.ndim()
    order = numpy.moveaxis(
        numpy.empty(tuple(range(1, ndim + 1))), g.func.source, g.func.destination
    )
    return g.transpose(x, [n - 1 for n in order.shape])


@rule()
def Rollaxis(g: Nodes, x: str) -> str:
    """Moves an axis backwards to a place."""
    order = numpy.rollaxis(numpy.empty(tuple(range(1, g.ndim() + 1))), g.func.axis, g.func.start)
    return g.transpose(x, [n - 1 for n in order.shape])


@rule()
def ScatterAdd(g: Nodes, a: str, b: str) -> str:
    """Adds at positions of the flattened array, of which some may occur twice."""
    g.require_opset(16)
    slices = g.func.slices
    twin = g.params.application.twin
    first = slices[0] if isinstance(slices, tuple) and slices else None
    takes_all = isinstance(first, slice) and first == slice(None)
    if takes_all and twin is not None and twin.inputs[0].shape[1:] == g.shape()[1:] != ():
        return _scatter_samples(g, a, b)
    g.warn_of_lengths()
    size = int(numpy.prod(g.shape()))
    positions = numpy.arange(size).reshape(g.shape())[slices].reshape(-1, 1)
    flat = g(
        "ScatterND", g.reshape(a, [-1]), g.ints(positions), g.reshape(b, [-1]), reduction="add"
    )
    return g.reshape(flat, g.shape())


def _scatter_samples(g: Nodes, a: str, b: str) -> str:
    """Adds at the same positions of each sample, of which there may be any number."""
    sample = g.shape()[1:]
    size = math.prod(sample)
    positions = numpy.arange(size).reshape(sample)[g.func.slices[1:]].reshape(-1, 1)
    # The operator selects along the first axes.
    rows, more = (
        g.transpose(g("Reshape", x, g.ints([-1, n])), [1, 0])
        for x, n in ((a, size), (b, len(positions)))
    )
    rows = g("ScatterND", rows, g.ints(positions), more, reduction="add")
    return g("Reshape", g.transpose(rows, [1, 0]), g.ints([-1, *sample]))


@rule()
def SelectItem(g: Nodes, x: str, t: str) -> str:
    """Selects one element of each row."""
    if g.opset >= 11:
        return g.squeeze(g("GatherElements", x, g.unsqueeze(t, [1]), axis=1), [1])
    chosen = g.one_hot(t, g.shape()[1], g.dtype())
    return g.reduce("ReduceSum", g("Mul", x, chosen), [1])


@rule()
def Separate(g: Nodes, x: str) -> list[str]:
    """Splits an axis into single elements."""
    axis = g.axis(g.func.axis)
    return [g.squeeze(y, [axis]) for y in g.split(x, [1] * g.shape()[axis], axis)]


@rule()
def SplitAxis(g: Nodes, x: str) -> list[str]:
    """Splits an axis into parts."""
    axis = g.axis(g.func.axis)
    length = g.shape()[axis]
    sections = g.func.sections
    if isinstance(sections, (int, numpy.integer)):
        twin = g.params.application.twin
        if twin is not None and twin.inputs[0].shape[axis] != length and sections > 1:
            # Equal parts of a length that is not known.
            count = int(sections)
            more = {"num_outputs": count} if g.opset >= 18 else {}
            return list(g("Split", x, outputs=count, axis=axis, **more))
        sizes = [length // int(sections)] * int(sections)
    else:
        g.warn_of_lengths([axis])
        # As slices do: positions count from the end if negative, and stop at the ends.
        starts = [0, *[slice(int(i), None).indices(length)[0] for i in g.func._positions]]
        sizes = [max(b - a, 0) for a, b in zip(starts, [*starts[1:], length])]
    return g.split(x, sizes, axis)


@rule()
def Squeeze(g: Nodes, x: str) -> str:
    """Removes axes of length 1."""
    axis = g.func.axis
    axes = [i for i, n in enumerate(g.shape()) if n == 1] if axis is None else g.axes(axis)
    twin = g.params.application.twin
    if twin is not None and axis is None and any([twin.inputs[0].shape[i] != 1 for i in axes]):
        g.warn(
            "the sample has length 1 along an axis with a name, which is removed. Export with a "
            "longer sample, or name the axes to remove"
        )
    return g.squeeze(x, sorted(axes)) if axes else x


@rule()
def Stack(g: Nodes, *xs: str) -> str:
    """Joins along a new axis."""
    axis = g.axis(g.func.axis, g.ndim() + 1)
    return g("Concat", *[g.unsqueeze(x, [axis]) for x in xs], axis=axis)


@rule()
def SpatialTransformerGrid(g: Nodes, theta: str) -> str:
    """Products of the transformations and the coordinates of the pixels."""
    height, width = g.func.output_shape
    rows, columns = numpy.meshgrid(
        numpy.linspace(-1, 1, height), numpy.linspace(-1, 1, width), indexing="ij"
    )
    ones = numpy.ones(height * width)
    points = g.const(numpy.stack([columns.ravel(), rows.ravel(), ones]))
    return g("Reshape", g("MatMul", theta, points), g.ints([0, 2, height, width]))


@rule()
def SpatialTransformerSampler(g: Nodes, x: str, grid: str) -> str:
    """GridSample, whose last axis has the coordinates."""
    g.require_opset(16)
    mode = "linear" if g.opset >= 20 else "bilinear"
    return g(
        "GridSample", x, g.transpose(grid, [0, 2, 3, 1]),
        mode=mode, padding_mode="zeros", align_corners=1,
    )  # fmt: skip


@rule()
def Tile(g: Nodes, x: str) -> str:
    """Repeats the array along its axes."""
    reps = g.func.reps
    reps = [reps] if isinstance(reps, (int, numpy.integer)) else list(reps)
    ndim = g.ndim()
    if len(reps) > ndim:
        x = g.unsqueeze(x, range(len(reps) - ndim))
    reps = [1] * (ndim - len(reps)) + reps
    return g("Tile", x, g.ints(reps, "tiles")) if reps else x


@rule()
def TransposeSequence(g: Nodes, *xs: str) -> Sequence[str]:
    """Selects, for each time, the rows of the sequences that reach it."""
    for i in range(len(xs)):
        g.warn_of_lengths([0], i)
    lengths = [g.shape(i)[0] for i in range(len(xs))]
    starts = numpy.cumsum([0, *lengths])
    joined = g("Concat", *xs, axis=0)
    rows = [
        [int(starts[i]) + t for i, n in enumerate(lengths) if n > t]
        for t in range(max(lengths, default=0))
    ]
    ordered = g.gather(joined, [row for step in rows for row in step])
    return g.split(ordered, [len(step) for step in rows], 0)


@rule()
def Where(g: Nodes, x: str, y: str) -> str:
    """Selects by a condition, which is an input of the graph or a constant."""
    condition = g.func.condition
    if g.context.find_name(condition) is None:
        g.warn_if_frozen("condition", "its condition")
    if isinstance(condition, bool):
        condition = numpy.asarray(condition)
    condition = g.array(condition, None if g.twin is None else g.twin.condition)
    return g("Where", condition, x, y)


@rule()
def Shape(g: Nodes, x: str) -> str:
    """The shape; not a function of Chainer, but third-party nodes may have the name."""
    return g("Shape", x)

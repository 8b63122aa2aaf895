"""Calls of functions that move elements of arrays."""

from __future__ import annotations

from tests.comparison.calls.draw import Source


def one(draw):
    return [draw.floats()], {}


def as_strided(draw):
    n = draw.integer(4, 9)
    x = draw.floats(n)
    x.array = x.array.copy()
    shape = tuple(draw.integer(1, 3) for _ in range(draw.integer(1, 2)))
    strides = tuple(draw.integer(-1, 2) for _ in shape)
    return [x, shape, strides, draw.choice(None, 0, 1, 2)], {}


def broadcast(draw):
    shape = draw.shape(1, 3)
    count = draw.integer(1, 3)
    xs = []
    for _ in range(count):
        part = tuple(1 if draw.maybe(0.3) else n for n in shape)
        xs.append(draw.floats(part[draw.integer(0, len(part)) :]))
    return xs, {}


def broadcast_to(draw):
    shape = draw.shape(1, 3)
    part = tuple(1 if draw.maybe(0.3) else n for n in shape)[draw.integer(0, len(shape)) :]
    if draw.maybe(0.08):
        part = (*part, 5)
    return [draw.floats(part), draw.choice(shape, list(shape))], {}


def sum_to(draw):
    shape = draw.shape(1, 3)
    part = tuple(1 if draw.maybe(0.4) else n for n in shape)[draw.integer(0, len(shape)) :]
    if draw.maybe(0.08):
        part = (*part, 5)
    return [draw.floats(shape), part], {}


def cast(draw):
    x = draw.floats()
    x.array = x.array.astype(draw.choice("e", "f", "d", "f", "i", "?"))
    return [x, draw.choice("e", "f", "d", "i", "float32", "q")], {}


def _alike(draw, low=1, high=3, axis=None):
    """Arrays that differ in their length along an axis only."""
    shape = list(draw.shape(low, high))
    xs = []
    for _ in range(draw.integer(1, 3)):
        if axis is not None and -len(shape) <= axis < len(shape):
            shape[axis] = draw.size()
        xs.append(draw.floats(tuple(shape)))
    return xs


def concat(draw):
    axis = draw.choice(0, 1, -1, 1, 2)
    xs = _alike(draw, 2, 3, axis)
    return [draw.choice(xs, tuple(xs))], draw.choice({"axis": axis}, {"axis": axis}, {})


def stack(draw):
    xs = _alike(draw, 0)
    return [xs], draw.choice({}, {"axis": draw.axis(xs[0].array.ndim + 1)})


def joined(axis, low=1):
    def generate(draw):
        return [_alike(draw, low, 3, axis)], {}

    return generate


def copy(draw):
    return [draw.floats(), draw.choice(-1, -1, "@numpy")], {}


def depth2space(draw):
    r = draw.integer(1, 2)
    wrong = draw.maybe(0.1)
    return [draw.floats(draw.size(), r * r * 2 + wrong, draw.size(), draw.size()), r], {}


def space2depth(draw):
    r = draw.integer(1, 2)
    wrong = draw.maybe(0.1)
    return [draw.floats(draw.size(), draw.size(), r * 2 + wrong, r * draw.size()), r], {}


def diagonal(draw):
    x = draw.floats(draw.shape(2, 4))
    n = x.array.ndim
    if draw.maybe(0.4):
        return [x], {}
    return [x, draw.integer(-2, 2), draw.axis(n), draw.axis(n)], {}


def expand_dims(draw):
    x = draw.floats()
    return [x, draw.axis(x.array.ndim + 1)], {}


def flip(draw):
    x = draw.floats(draw.shape(1, 3))
    return [x, draw.axis(x.array.ndim)], {}


def flip_side(low):
    def generate(draw):
        return [draw.floats(draw.shape(draw.choice(low, low, low - 1), 3))], {}

    return generate


def get_item(draw):
    x = draw.floats(draw.integer(2, 4), draw.integer(2, 4), draw.size())
    slices = draw.choice(
        0,
        -1,
        slice(1, None),
        slice(None, None, -1),
        (Ellipsis, 0),
        (None, 1),
        (slice(0, 2), None, 1),
        [0, 1, 1],
        ([0, 1], [1, 1]),
        (slice(None), [0, 0]),
        7,
        (0, 0, 0, 0),
        1.5,
        "a",
    )
    return [x, slices], {}


def im2col(draw):
    x = draw.floats(draw.size(), draw.size(), draw.integer(3, 5), draw.integer(3, 5))
    return [x, draw.choice(2, 3, (2, 1))], draw.choice(
        {}, {"stride": 2, "pad": 1}, {"dilate": 2}, {"cover_all": True, "stride": 2}
    )


def moveaxis(draw):
    x = draw.floats(draw.shape(2, 4))
    n = x.array.ndim
    if draw.maybe(0.5):
        return [x, draw.axis(n), draw.axis(n)], {}
    return [x, (draw.axis(n), draw.axis(n)), draw.choice((0, 1), (0, -1), [1, 0], (0,))], {}


def pad(draw):
    x = draw.floats(draw.shape(1, 3))
    width = draw.choice(1, (1, 2), ((0, 1),), [(1, 1)] * x.array.ndim)
    # The gradient of other modes differs on purpose and is tested by itself.
    options = draw.choice({"mode": "constant"}, {"mode": "constant", "constant_values": 2})
    return [x, width], options


def pad_sequence(draw):
    size = draw.size()
    xs = [draw.floats(draw.integer(1, 4), size) for _ in range(draw.integer(1, 3))]
    return [xs], draw.choice({}, {"length": 4}, {"padding": -1}, {"length": 2, "padding": 0.5})


def permutate(draw):
    x = draw.floats(draw.shape(1, 3))
    axis = draw.integer(0, x.array.ndim - 1)
    n = x.array.shape[axis]
    indices = draw.integers(n)
    indices.array = draw.random.permutation(n).astype(draw.choice("i", "i", "l"))
    return [x, indices], {"axis": axis, "inv": draw.maybe(0.4)}


def repeat(draw):
    x = draw.floats(draw.shape(0, 3))
    n = x.array.ndim
    if draw.maybe(0.3):
        return [x, draw.integer(0, 3)], {}
    axis = draw.axis(n)
    length = x.array.shape[axis] if -n <= axis < n else 1
    repeats = draw.choice(2, tuple(draw.integer(0, 2) for _ in range(length)), (2,), -1, 1.0)
    return [x, repeats, axis], {}


def reshape(draw):
    x = draw.floats(2, draw.size(), 3)
    size = x.array.size
    shape = draw.choice((6, -1), (size,), (-1,), (3, size // 3), (1, size, 1), (5, 2), [size], size)
    return [x, shape], {}


def resize_images(draw):
    x = draw.floats(draw.size(), draw.size(), draw.integer(1, 4), draw.integer(1, 4), dtype="f")
    out = (draw.integer(1, 5), draw.integer(1, 5))
    return [x, out], draw.choice(
        {}, {"align_corners": False}, {"mode": "nearest"}, {"mode": "bilinear"}
    )


def rollaxis(draw):
    x = draw.floats(draw.shape(1, 4))
    n = x.array.ndim
    return [x, draw.axis(n), *draw.choice([], [draw.axis(n + 1)])], {}


def scatter_add(draw):
    n, m = draw.integer(2, 4), draw.integer(2, 4)
    slices, shape = draw.choice(
        (0, (m,)), (slice(1, None), (n - 1, m)), ([0, 1, 1], (3, m)), (([0, 1], [1, 1]), (2,))
    )
    return [draw.floats(n, m), slices, draw.floats(shape)], {}


def select_item(draw):
    n, m = draw.size(), draw.integer(1, 4)
    return [draw.floats(n, m), draw.integers(n, high=m - 1)], {}


def separate(draw):
    x = draw.floats(draw.shape(1, 3))
    return [x], draw.choice({}, {"axis": draw.axis(x.array.ndim)})


def spatial_transformer_grid(draw):
    return [draw.floats(draw.size(), 2, 3), (draw.integer(1, 4), draw.integer(1, 4))], {}


def spatial_transformer_sampler(draw):
    n = draw.size()
    x = draw.floats(n, draw.integer(1, 2), draw.integer(2, 4), draw.integer(2, 4))
    return [x, draw.floats(n, 2, draw.integer(1, 3), 2, low=-1.3, high=1.3)], {}


def split_axis(draw):
    n = draw.integer(1, 6)
    x = draw.floats(draw.size(), n, 2)
    sections = draw.choice(1, 2, n, [1], (1, 3), [2, 2], Source("np.array([1, 2])"), 0, [3, 1])
    force = draw.choice({}, {}, {"force_tuple": False})
    return [x, sections, draw.choice(1, 1, 1, -2, 0, 3)], force


def squeeze(draw):
    x = draw.floats(tuple(1 if draw.maybe(0.5) else draw.size() for _ in range(3)))
    return [x], draw.choice({}, {"axis": draw.axis(3)}, {"axis": (0, draw.axis(3))})


def swapaxes(draw):
    x = draw.floats(draw.shape(1, 4))
    return [x, draw.axis(x.array.ndim), draw.axis(x.array.ndim)], {}


def tile(draw):
    return [draw.floats(), draw.choice(2, (2,), (1, 2), (2, 1, 2), 0, -1, 1.5, ())], {}


def transpose(draw):
    x = draw.floats()
    n = x.array.ndim
    order = tuple(int(a) for a in draw.random.permutation(n))
    return [x, *draw.choice([], [None], [order], [(0,) * n], [order[:-1]])], {}


def transpose_sequence(draw):
    lengths = sorted((draw.integer(0, 4) for _ in range(draw.integer(1, 3))), reverse=True)
    size = draw.size()
    return [[draw.floats(n, size) for n in lengths]], {}


def where(draw):
    shape = draw.shape(0, 3)
    condition = draw.integers(*shape, high=1, dtype="?")
    parts = [tuple(1 if draw.maybe(0.15) else n for n in shape) for _ in range(2)]
    return [condition, draw.floats(parts[0]), draw.floats(parts[1])], {}


GENERATORS = {
    "as_strided": as_strided,
    "broadcast": broadcast,
    "broadcast_to": broadcast_to,
    "cast": cast,
    "concat": concat,
    "copy": copy,
    "depth2space": depth2space,
    "diagonal": diagonal,
    "dstack": joined(2, 3),
    "expand_dims": expand_dims,
    "flatten": one,
    "flip": flip,
    "fliplr": flip_side(2),
    "flipud": flip_side(1),
    "get_item": get_item,
    "hstack": joined(1, 2),
    "im2col": im2col,
    "moveaxis": moveaxis,
    "pad": pad,
    "pad_sequence": pad_sequence,
    "permutate": permutate,
    "repeat": repeat,
    "reshape": reshape,
    "resize_images": resize_images,
    "rollaxis": rollaxis,
    "scatter_add": scatter_add,
    "select_item": select_item,
    "separate": separate,
    "space2depth": space2depth,
    "spatial_transformer_grid": spatial_transformer_grid,
    "spatial_transformer_sampler": spatial_transformer_sampler,
    "split_axis": split_axis,
    "squeeze": squeeze,
    "stack": stack,
    "sum_to": sum_to,
    "swapaxes": swapaxes,
    "tile": tile,
    "transpose": transpose,
    "transpose_sequence": transpose_sequence,
    "vstack": joined(0),
    "where": where,
}

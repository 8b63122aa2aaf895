"""Calls of normalizations."""

from __future__ import annotations


def _shape(draw):
    return (draw.integer(2, 4), draw.integer(1, 4), *draw.choice((), (2,), (2, 3)))


def batch_normalization(draw):
    shape = _shape(draw)
    x = draw.floats(shape)
    options = {}
    parameter = shape[1 : draw.choice(2, 2, len(shape))]
    if draw.maybe(0.3):
        axis = draw.choice(0, (0,), (0, 1), (1,), (0, len(shape) - 1), (1, 0), (0, 0), (-1,))
        options["axis"] = axis
        axes = (axis,) if isinstance(axis, int) else axis
        parameter = tuple(n for i, n in enumerate(shape) if i not in axes)
    if draw.maybe(0.3):
        options["running_mean"] = draw.floats(parameter, variable=False)
        options["running_var"] = draw.floats(parameter, low=0.5, high=2, variable=False)
    if draw.maybe(0.2):
        options["eps"] = 1e-3
    dtype = draw.choice(draw.dtype, draw.dtype, "f", "d", "e")
    return [x, draw.floats(parameter, dtype=dtype), draw.floats(parameter, dtype=dtype)], options


def fixed():
    def generate(draw):
        shape = _shape(draw)
        parameter = shape[1 : draw.choice(2, 2, len(shape))]
        args = [draw.floats(shape), *[draw.floats(parameter) for _ in range(3)]]
        args.append(draw.floats(parameter, low=0.5, high=2))
        options = {"eps": 1e-3} if draw.maybe(0.2) else {}
        return args, options

    return generate


def batch_renormalization(draw):
    shape = _shape(draw)
    parameter = shape[1:2]
    dtype = draw.choice(draw.dtype, draw.dtype, "f", "e")
    return [
        draw.floats(shape),
        draw.floats(parameter, dtype=dtype),
        draw.floats(parameter, dtype=dtype),
        1.5,
        0.5,
    ], {
        "running_mean": draw.floats(parameter, variable=False),
        "running_var": draw.floats(parameter, low=0.5, high=2, variable=False),
        "update_statistics": draw.maybe(0.5),
    }


def _groups(draw):
    return draw.choice(1, 2), draw.integer(1, 2)


def decorrelated(draw):
    groups, size = _groups(draw)
    # More samples than channels, so that no eigenvalue is close to another.
    x = draw.floats((6, groups * size, *draw.choice((), (3,))), dtype=draw.choice("f", "d"))
    return [x], {"groups": groups}


def fixed_decorrelated(draw):
    groups, size = _groups(draw)
    x = draw.floats((3, groups * size, *draw.choice((), (2,))))
    return [
        x,
        draw.floats(groups, size, variable=False),
        draw.floats(groups, size, size, variable=False),
        groups,
    ], {}


def group_normalization(draw):
    groups, size = _groups(draw)
    channels = groups * size + draw.choice(0, 0, 0, 1)
    x = draw.floats((draw.integer(1, 3), channels, *draw.choice((), (3,), (2, 3))))
    dtype = draw.choice(draw.dtype, draw.dtype, "f")
    return [
        x,
        groups,
        draw.floats(channels, dtype=dtype),
        draw.floats(channels, dtype=dtype),
    ], draw.choice({}, {"eps": 1e-2})


def layer_normalization(draw):
    size = draw.integer(2, 4)
    x = draw.floats(draw.integer(1, 3), size)
    return [x, draw.floats(size), draw.floats(size)], draw.choice({}, {"eps": 1e-2})


def local_response(draw):
    x = draw.floats(draw.shape(2, 4))
    return [x], draw.choice({}, {"n": 3}, {"n": 3, "k": 1, "alpha": 0.1, "beta": 0.5})


def normalize(draw):
    x = draw.floats(draw.shape(2, 3))
    axis = draw.choice(1, 0, (0, 1), -1, (1, 0), (0, 0), 1.0, 5)
    return [x], draw.choice({}, {"axis": axis}, {"axis": axis, "eps": 1e-2})


GENERATORS = {
    "batch_normalization": batch_normalization,
    "batch_renormalization": batch_renormalization,
    "decorrelated_batch_normalization": decorrelated,
    "fixed_batch_normalization": fixed(),
    "fixed_batch_renormalization": fixed(),
    "fixed_decorrelated_batch_normalization": fixed_decorrelated,
    "group_normalization": group_normalization,
    "layer_normalization": layer_normalization,
    "local_response_normalization": local_response,
    "normalize": normalize,
}

"""Calls of convolutions, products with weights, and recurrent functions."""

from __future__ import annotations


def bias_of(draw, size):
    return draw.choice(None, draw.floats(size))


def linear(draw):
    size, out = draw.integer(1, 4), draw.integer(1, 4)
    axes = draw.choice(1, 1, 1, 2)
    x = draw.floats((*[draw.size() for _ in range(axes)], size))
    options = {} if axes == 1 else {"n_batch_axes": draw.choice(2, 2, 0)}
    return [x, draw.floats(out, size), *draw.choice([], [bias_of(draw, out)])], options


def bilinear(draw):
    n, i, j, k = draw.size(), draw.integer(1, 3), draw.integer(1, 3), draw.integer(1, 3)
    args = [draw.floats(n, i, dtype="f"), draw.floats(n, j, dtype="f")]
    args.append(draw.floats(i, j, k, dtype="f"))
    if draw.maybe(0.5):
        for shape in ((i, k), (j, k), (k,)):
            args.append(draw.floats(*shape, dtype="f"))
    return args, {}


def _sizes(draw, dims, low=3):
    return tuple(draw.integer(low, 5) for _ in range(dims))


def convolution(dims, dilated=True):
    def generate(draw):
        n = draw.choice(2, 2) if dims is None else dims
        groups = draw.choice(1, 1, 2)
        channels, out = 2 * draw.integer(1, 2), 2 * draw.integer(1, 2)
        ksize = tuple(draw.integer(1, 3) for _ in range(n))
        x = draw.floats((draw.size(), channels, *_sizes(draw, n)))
        W = draw.floats((out, channels // groups, *ksize))
        options = {"groups": groups} if groups > 1 else {}
        if draw.maybe(0.5):
            options["stride"] = draw.choice(2, (1,) * n)
        if draw.maybe(0.5):
            options["pad"] = draw.choice(1, (1,) * n)
        if draw.maybe(0.2):
            options["dilate"] = draw.choice(2, 1)
        if draw.maybe(0.2):
            options["cover_all"] = True
        return [x, W, *draw.choice([], [bias_of(draw, out)])], options

    return generate


def deconvolution(dims):
    def generate(draw):
        groups = draw.choice(1, 1, 2)
        channels, out = 2 * draw.integer(1, 2), 2 * draw.integer(1, 2)
        ksize = tuple(draw.integer(1, 3) for _ in range(dims))
        sizes = _sizes(draw, dims, 2)
        x = draw.floats((draw.size(), channels, *sizes))
        W = draw.floats((channels, out // groups, *ksize))
        options = {"groups": groups} if groups > 1 else {}
        stride = draw.choice(1, 2)
        if stride > 1 or draw.maybe(0.5):
            options["stride"] = draw.choice(stride, (stride,) * dims)
        if draw.maybe(0.3):
            outs = tuple(stride * (s - 1) + k for s, k in zip(sizes, ksize))
            options["outsize"] = draw.choice(outs, tuple(o + stride - 1 for o in outs), (9,) * dims)
        if draw.maybe(0.2):
            options["dilate"] = 2
            options.pop("outsize", None)
        return [x, W, *draw.choice([], [bias_of(draw, out)])], options

    return generate


def dilated(draw):
    x = draw.floats(draw.size(), 2, draw.integer(5, 6), draw.integer(5, 6))
    W = draw.floats(3, 2, draw.integer(1, 3), 2)
    return [x, W, *draw.choice([], [bias_of(draw, 3)])], draw.choice(
        {}, {"dilate": 2}, {"dilate": (1, 2), "pad": 1}, {"stride": 2, "cover_all": True}
    )


def depthwise(draw):
    channels, multiplier = draw.integer(1, 3), draw.integer(1, 2)
    x = draw.floats(draw.size(), channels, draw.integer(3, 5), draw.integer(3, 5))
    W = draw.floats(multiplier, channels, draw.integer(1, 3), draw.integer(1, 3))
    return [x, W, *draw.choice([], [bias_of(draw, channels * multiplier)])], draw.choice(
        {}, {"stride": 2}, {"pad": 1}
    )


def deformable(draw):
    kh, kw = draw.integer(1, 3), draw.integer(1, 2)
    n, stride, pad = draw.size(), draw.choice(1, 2), draw.choice(0, 1)
    x = draw.floats(n, 2, draw.integer(3, 5), draw.integer(3, 5))
    oh = (x.array.shape[2] + 2 * pad - kh) // stride + 1
    ow = (x.array.shape[3] + 2 * pad - kw) // stride + 1
    offset = draw.floats(n, 2 * kh * kw, oh, ow, low=-0.7, high=0.7)
    W = draw.floats(3, 2, kh, kw)
    return [x, offset, W, *draw.choice([], [bias_of(draw, 3)])], {"stride": stride, "pad": pad}


def embed_id(draw):
    rows = draw.integer(2, 5)
    x = draw.integers(*draw.shape(1, 2), high=rows - 1)
    return [x, draw.floats(rows, draw.size())], draw.choice({}, {}, {"ignore_label": 1})


def local_convolution(draw):
    kh, kw, out = draw.integer(1, 2), draw.integer(1, 2), draw.integer(1, 3)
    stride = draw.choice(1, 2)
    h, w = draw.integer(3, 4), draw.integer(3, 4)
    oh, ow = (h - kh) // stride + 1, (w - kw) // stride + 1
    return [
        draw.floats(draw.size(), 2, h, w),
        draw.floats(out, oh, ow, 2, kh, kw),
        *draw.choice([], [draw.floats(out, oh, ow)]),
    ], {"stride": stride}


def shift(draw):
    x = draw.floats(draw.size(), draw.integer(1, 10), draw.integer(1, 4), draw.integer(1, 4))
    return [x], draw.choice({}, {"ksize": 1}, {"dilate": 2}, {"ksize": (3, 1)}, {"ksize": 2})


def _weights(draw, layers, directions, gates, size, units, dtype=None):
    ws, bs = [], []
    for layer in range(layers):
        for _ in range(directions):
            below = size if layer == 0 else units * directions
            half = gates // 2
            ws.append([draw.floats(units, below if g < half else units) for g in range(gates)])
            bs.append([draw.floats(units) for _ in range(gates)])
    return ws, bs


def n_step(gates, cell=False, directions=1, activation=False):
    def generate(draw):
        layers, size, units = draw.integer(1, 2), draw.integer(1, 3), draw.integer(1, 3)
        sizes = sorted((draw.integer(1, 3) for _ in range(draw.integer(1, 3))), reverse=True)
        ws, bs = _weights(draw, layers, directions, gates, size, units)
        # One array for each time: the number of sequences that are not over yet.
        xs = [draw.floats(n, size) for n in sizes]
        states = [
            draw.choice(None, draw.floats(layers * directions, sizes[0], units))
            for _ in range(2 if cell else 1)
        ]
        if states[0] is None:
            # Without initial states programs use the links.
            states[0] = draw.floats(layers * directions, sizes[0], units)
        if cell and states[1] is None:
            states[1] = draw.floats(layers * directions, sizes[0], units)
        options = {"activation": draw.choice("tanh", "relu")} if activation else {}
        return [layers, 0.0, *states, ws, bs, xs], options

    return generate


GENERATORS = {
    "bilinear": bilinear,
    "convolution_1d": convolution(1),
    "convolution_2d": convolution(2),
    "convolution_3d": convolution(3),
    "convolution_nd": convolution(None),
    "deconvolution_1d": deconvolution(1),
    "deconvolution_2d": deconvolution(2),
    "deconvolution_3d": deconvolution(3),
    "deconvolution_nd": deconvolution(1),
    "deformable_convolution_2d_sampler": deformable,
    "depthwise_convolution_2d": depthwise,
    "dilated_convolution_2d": dilated,
    "embed_id": embed_id,
    "linear": linear,
    "local_convolution_2d": local_convolution,
    "n_step_bigru": n_step(6, directions=2),
    "n_step_bilstm": n_step(8, cell=True, directions=2),
    "n_step_birnn": n_step(2, directions=2, activation=True),
    "n_step_gru": n_step(6),
    "n_step_lstm": n_step(8, cell=True),
    "n_step_rnn": n_step(2, activation=True),
    "shift": shift,
}

"""Connections: bilinear function and recurrent networks over whole sequences."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import Kind, OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value

_REGULAR: Kind = "regular"
_EMPTY: Kind = "empty"
_WEIGHTS = {"lstm": 8, "gru": 6, "tanh": 2, "relu": 2}


def _bilinear(e1, e2, W, V1=None, V2=None, b=None):
    e1, e2 = e1.reshape(len(e1), W.shape[0]), e2.reshape(len(e2), W.shape[1])
    y = np.einsum("ij,ik,jkl->il", e1, e2, W)
    return y if V1 is None else y + e1 @ V1 + e2 @ V2 + b


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _step(mode, x, h, c, w, b):
    half = len(w) // 2
    z = [x @ w[i].T + b[i] for i in range(half)]
    u = [h @ w[half + i].T + b[half + i] for i in range(half)]
    if mode == "lstm":
        i, f, a, o = (p + q for p, q in zip(z, u))
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(a)
        return _sigmoid(o) * np.tanh(c), c
    if mode == "gru":
        r, z_gate = _sigmoid(z[0] + u[0]), _sigmoid(z[1] + u[1])
        return (1 - z_gate) * np.tanh(z[2] + r * u[2]) + z_gate * h, None
    s = z[0] + u[0]
    return (np.tanh(s) if mode == "tanh" else np.maximum(s, 0)), None


def _grouped(arrays, mode, layers, directions):
    """States, weights and biases of the layers, and sequences, from the flat list of a row."""
    states, count = (2 if mode == "lstm" else 1), _WEIGHTS[mode]
    groups = layers * directions
    hx, cx = arrays[0], arrays[1] if states == 2 else None
    ws = [arrays[states + i * count :][:count] for i in range(groups)]
    bs = [arrays[states + (groups + i) * count :][:count] for i in range(groups)]
    return hx, cx, ws, bs, list(arrays[states + 2 * groups * count :])


def _network(*arrays, mode, layers, directions):
    """One step of one sequence after the other."""
    hx, cx, ws, bs, xs = _grouped(arrays, mode, layers, directions)
    hx = hx.copy()
    cx = None if cx is None else cx.copy()
    for layer in range(layers):
        outputs = []
        for d in range(directions):
            k = layer * directions + d
            ys = {}
            for t in range(len(xs))[:: -1 if d else 1]:
                rows = []
                for n in range(len(xs[t])):
                    c = None if cx is None else cx[k, n]
                    hx[k, n], c = _step(mode, xs[t][n], hx[k, n], c, ws[k], bs[k])
                    if cx is not None:
                        cx[k, n] = c
                    rows.append(hx[k, n].copy())
                ys[t] = np.array(rows).reshape(len(rows), hx.shape[2])
            outputs.append([ys[t] for t in range(len(xs))])
        xs = [np.concatenate(parts, axis=1) for parts in zip(*outputs)]
    return (hx, *xs) if cx is None else (hx, cx, *xs)


def _call(F, *variables, mode, layers, directions):
    hx, cx, ws, bs, xs = _grouped(variables, mode, layers, directions)
    two = "bi" if directions == 2 else ""
    if mode == "lstm":
        hy, cy, ys = getattr(F, f"n_step_{two}lstm")(layers, 0.5, hx, cx, ws, bs, xs)
        return (hy, cy, *ys)
    if mode == "gru":
        hy, ys = getattr(F, f"n_step_{two}gru")(layers, 0.5, hx, ws, bs, xs)
    else:
        hy, ys = getattr(F, f"n_step_{two}rnn")(layers, 0.5, hx, ws, bs, xs, activation=mode)
    return (hy, *ys)


def _inputs(draw, mode, layers, directions, batch_sizes, in_size=3, size=2):
    count = _WEIGHTS[mode]
    arrays = [draw((layers * directions, batch_sizes[0], size))]
    if mode == "lstm":
        arrays.append(draw(arrays[0].shape))
    for k in range(layers * directions):
        for i in range(count):
            below = in_size if k < directions else size * directions
            arrays.append(draw((size, below if i < count // 2 else size)))
    arrays += [draw((size,)) for _ in range(layers * directions * count)]
    arrays += [draw((n, in_size)) for n in batch_sizes]
    # Far from the kinks of relu.
    scale = 0.7 if mode == "relu" else 1.0
    return [array * scale for array in arrays]


def _rows():
    """One row for each function; dropout is switched off by test mode."""
    tolerances = {"float16": Tolerance((1e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))}
    for mode in ("lstm", "gru", "tanh"):
        name = mode if mode in ("lstm", "gru") else "rnn"
        for directions in (1, 2):
            function = f"n_step_{'bi' if directions == 2 else ''}{name}"

            def samples(draw, mode=mode, directions=directions):
                modes = ("tanh", "relu") if mode == "tanh" else (mode,)
                samples = [
                    Sample(
                        *_inputs(draw, chosen, layers, directions, sizes),
                        mode=chosen,
                        layers=layers,
                        directions=directions,
                        label=f"{chosen}, {layers} layers, batches {sizes}",
                        kind=_REGULAR if min(sizes) else _EMPTY,
                    )
                    for chosen in modes
                    for layers, sizes in ((1, (2, 2)), (2, (3, 2, 1)), (1, (2, 0)))
                ]
                unit = _inputs(draw, modes[0], 1, directions, (2, 1), size=1)
                options = {"mode": modes[0], "layers": 1, "directions": directions}
                return [*samples, Sample(*unit, **options, label="one unit")]

            yield OpSpec(
                function,
                reference=_network,
                call=_call,
                covers=(function,),
                samples=samples,
                train=False,
                tolerances=tolerances,
            )


SPECS = (
    OpSpec(
        "bilinear",
        reference=_bilinear,
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((2, 4)), draw((3, 4, 5))),
            Sample(
                draw((2, 3)), draw((2, 2)), draw((3, 2, 4)), draw((3, 4)), draw((2, 4)), draw((4,))
            ),
            Sample(draw((2, 3, 1)), draw((2, 2, 2)), draw((3, 4, 2))),
            Sample(draw((0, 3)), draw((0, 4)), draw((3, 4, 5)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"prod\(in_types\[1\]\.shape\[1:\]\) == in_types\[2\]\.shape\[1\]",
                _f(2, 3),
                _f(2, 4),
                _f(3, 5, 5),
            ),
            invalid_type(
                r"in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
                _f(2, 3),
                _f(3, 4),
                _f(3, 4, 5),
            ),
            invalid_type(
                r"in_types\[1\]\.dtype == in_types\[0\]\.dtype",
                _f(2, 3),
                _f(2, 4).astype("d"),
                _f(3, 4, 5),
            ),
            invalid_type(
                r"in_types\[2\]\.dtype == in_types\[0\]\.dtype",
                _f(2, 3),
                _f(2, 4),
                _f(3, 4, 5).astype("d"),
            ),
            invalid_value(
                "All coefficients and bias for bilinear", _f(2, 3), _f(2, 4), _f(3, 4, 5), _f(3, 5)
            ),
        ],
    ),
    *_rows(),
)

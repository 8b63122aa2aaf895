"""Activation functions."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs import formulas
from chainer.testing.specs.inputs import invalid_type, invalid_value

INTEGER_INPUT = invalid_type(r"in_types\[0\]\.dtype\.kind == f", np.arange(6).reshape(2, 3))


def _elementwise(draw, **kwargs):
    return [
        Sample(draw((3, 4)), **kwargs),
        # A wider range, where functions saturate.
        Sample(draw((2, 1, 3), -3, 3), **kwargs),
        Sample(draw(()), kind="zero-dim", **kwargs),
        Sample(draw((0, 3)), kind="empty", **kwargs),
    ]


def _away_from(*points):
    """Samples for functions with kinks."""

    def samples(draw, **kwargs):
        return [
            # Numerical gradients must not cross a kink.
            Sample(draw.away_from((3, 4), points), **kwargs),
            Sample(draw.away_from((2, 1, 3), points, low=-4, high=4), **kwargs),
            Sample(draw.away_from((), points), kind="zero-dim", **kwargs),
            Sample(draw((0, 3)), kind="empty", **kwargs),
        ]

    return samples


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _expand(parameter, x):
    """Gives a parameter without batch dimension the number of dimensions of the input."""
    return parameter.reshape((1, *parameter.shape) + (1,) * (x.ndim - parameter.ndim - 1))


def _slstm(c1, c2, x1, x2):
    # The four gates of a unit are neighbors, as release 4 lays them out.
    a1, i1, f1, o1 = (x1[:, k::4] for k in range(4))
    a2, i2, f2, o2 = (x2[:, k::4] for k in range(4))
    c = np.tanh(a1) * _sigmoid(i1) + np.tanh(a2) * _sigmoid(i2)
    c = c + c1 * _sigmoid(f1) + c2 * _sigmoid(f2)
    return c, np.tanh(c) * _sigmoid(o1 + o2)


def _tree_lstm(*inputs):
    *cells, x = inputs
    # Here each gate is one block; there is a forget gate for each child.
    a, i, o, *forgets = np.split(x, 3 + len(cells), axis=1)
    c = np.tanh(a) * _sigmoid(i)
    for cell, f in zip(cells, forgets, strict=True):
        c = c + cell * _sigmoid(f)
    return c, np.tanh(c) * _sigmoid(o)


def _maxout(x, pool_size, axis=1):
    shape = list(x.shape)
    shape[axis : axis + 1] = [shape[axis] // pool_size, pool_size]
    return x.reshape(shape).max(axis=axis + 1)


# The constants of the paper, with which means and variances are preserved.
_SCALE, _ALPHA = 1.0507009873554805, 1.6732632423543772


def _by_channel(name, reference, values, expected):
    """Returns the specification of an activation with a parameter for each channel."""
    return OpSpec(
        name,
        reference=reference,
        samples=lambda draw: [
            Sample(values(draw)((2, 3)), draw((3,))),
            Sample(values(draw)((2, 3, 4)), draw((3,))),
            # A parameter for each element of a channel.
            Sample(values(draw)((2, 3, 4)), draw((3, 4))),
            # A scalar parameter serves all channels.
            Sample(values(draw)((2, 3)), draw(())),
            Sample(draw((0, 3)), draw((3,)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(expected, draw((2, 3)).astype("f"), draw((2,)).astype("f"))
        ],
    )


def _by_axis(name, formula):
    """Returns the specification of an activation that normalizes along an axis."""
    return OpSpec(
        name,
        reference=lambda x, axis=1: formula(x, axis=axis),
        samples=lambda draw: [
            Sample(draw((2, 3))),
            Sample(draw((2, 3, 4), -5, 5)),
            Sample(draw((2, 3)), axis=0),
            Sample(draw((2, 3, 4)), axis=-1),
            # No batch, and below: no element, and no class.
            Sample(draw((3,)), axis=0),
            Sample(draw((0, 3)), kind="empty"),
            Sample(draw((3, 0)), kind="empty"),
        ],
        errors=lambda draw: [INTEGER_INPUT, invalid_type("ndim > 1", draw((3,)).astype("f"))],
    )


SPECS = (
    OpSpec("tanh", reference=np.tanh, samples=_elementwise, errors=lambda draw: [INTEGER_INPUT]),
    OpSpec(
        "sigmoid", reference=_sigmoid, samples=_elementwise, errors=lambda draw: [INTEGER_INPUT]
    ),
    OpSpec(
        "relu",
        reference=lambda x: np.where(x > 0, x, 0),
        samples=_away_from(0),
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "relu6",
        # Scaled, so that the inputs reach both kinks.
        reference=lambda x: np.clip(x * 3, 0, 6),
        call=lambda F, x: F.relu6(x * 3),
        covers=("relu6",),
        samples=_away_from(0, 2),
    ),
    OpSpec(
        "clipped_relu",
        reference=lambda x, z=20.0: np.minimum(np.maximum(x, 0), z),
        samples=lambda draw: [*_away_from(0)(draw), *_away_from(0, 0.5)(draw, z=0.5)],
        errors=lambda draw: [
            INTEGER_INPUT,
            invalid_value("z must be", draw((2, 3)).astype("f"), z=-1.0),
        ],
    ),
    OpSpec(
        "crelu",
        reference=lambda x, axis=1: np.concatenate(
            [np.maximum(x, 0), np.maximum(-x, 0)], axis=axis
        ),
        samples=lambda draw: [
            Sample(draw.away_from((2, 3))),
            Sample(draw.away_from((2, 3, 2)), axis=0),
            Sample(draw.away_from((2, 3, 2)), axis=-1),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            INTEGER_INPUT,
            invalid_type("ndim > 2", draw((2, 3)).astype("f"), axis=2),
            invalid_type("ndim >= 3", draw((2, 3)).astype("f"), axis=-3),
            ErrorInput(draw((2, 3)).astype("f"), axis=1.5, error=TypeError, match="axis must be"),
        ],
    ),
    OpSpec(
        "elu",
        reference=lambda x, alpha=1.0: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0))),
        samples=lambda draw: [
            *_away_from(0)(draw),
            *_away_from(0)(draw, alpha=0.5),
            *_away_from(0)(draw, alpha=2.0),
            # With these two, the sign of the output does not tell the sign of the input.
            *_away_from(0)(draw, alpha=-0.5),
            *_away_from(0)(draw, alpha=0.0),
        ],
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "selu",
        reference=lambda x, alpha=_ALPHA, scale=_SCALE: (
            scale * np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0)))
        ),
        samples=lambda draw: [*_away_from(0)(draw), *_away_from(0)(draw, alpha=0.5, scale=2.0)],
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "hard_sigmoid",
        reference=lambda x: np.clip(x * 0.2 + 0.5, 0, 1),
        # Where 0.2 x + 0.5 is 0 and 1.
        samples=_away_from(-2.5, 2.5),
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "leaky_relu",
        reference=lambda x, slope=0.2: np.where(x >= 0, x, slope * x),
        samples=lambda draw: [
            *_away_from(0)(draw),
            # Above 1 ``max(x, slope * x)`` is wrong; below 0 the output does not tell the sign.
            *_away_from(0)(draw, slope=1.5),
            *_away_from(0)(draw, slope=-0.5),
            *_away_from(0)(draw, slope=0.0),
        ],
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "rrelu",
        reference=lambda x, r: np.where(x >= 0, x, x * r),
        samples=lambda draw: [
            Sample(draw.away_from((2, 3)), r=draw((2, 3), 0.1, 0.4)),
            Sample(draw.away_from(()), r=draw((), 0.1, 0.4), kind="zero-dim"),
            Sample(draw((0, 3)), r=draw((0, 3), 0.1, 0.4), kind="empty"),
        ],
        errors=lambda draw: [
            INTEGER_INPUT,
            invalid_type(r"shape == \(2,\)", np.ones(3, "f"), r=np.ones(2, "f")),
            invalid_value("must be less", np.ones(3, "f"), l=0.5, u=0.1),
        ],
    ),
    OpSpec(
        "rrelu_test",
        # Outside of training the slope is the mean of both bounds.
        reference=lambda x: np.where(x >= 0, x, x * 0.25),
        call=lambda F, x: F.rrelu(x, 0.2, 0.3),
        covers=("rrelu",),
        samples=_away_from(0),
        train=False,
    ),
    OpSpec(
        "softplus",
        reference=lambda x, beta=1.0: np.log1p(np.exp(beta * x)) / beta,
        samples=lambda draw: [*_elementwise(draw), *_elementwise(draw, beta=2.0)],
        errors=lambda draw: [INTEGER_INPUT],
    ),
    _by_axis("softmax", formulas.softmax),
    _by_axis("log_softmax", formulas.log_softmax),
    OpSpec(
        "maxout",
        reference=_maxout,
        samples=lambda draw: [
            # Without ties: at a tie the gradient is not defined.
            Sample(draw.distinct((2, 6)), pool_size=3),
            Sample(draw.distinct((2, 3, 4)), pool_size=2, axis=2),
            Sample(draw.distinct((0, 4)), pool_size=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("divided by pool_size", draw((2, 3)).astype("f"), pool_size=2),
            invalid_value("pool_size", draw((2, 3)).astype("f"), pool_size=0),
        ],
    ),
    _by_channel(
        "prelu",
        lambda x, W: np.where(x >= 0, x, x * _expand(W, x)),
        values=lambda draw: draw.away_from,
        expected=r"in_types\[0\]\.shape\[1:2\] == in_types\[1\]\.shape",
    ),
    _by_channel(
        "swish",
        lambda x, beta: x * _sigmoid(_expand(beta, x) * x),
        values=lambda draw: draw,
        expected=r"in_types\[1\]\.shape == in_types\[0\]\.shape\[1:2\]",
    ),
    OpSpec(
        "slstm",
        reference=_slstm,
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((2, 3)), draw((2, 12)), draw((2, 12))),
            Sample(draw((0, 1)), draw((0, 1)), draw((0, 4)), draw((0, 4)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[3\]\.shape\[1\] == 4 \* in_types\[1\]\.shape\[1\]",
                draw((2, 3)).astype("f"),
                draw((2, 3)).astype("f"),
                draw((2, 12)).astype("f"),
                draw((2, 8)).astype("f"),
            )
        ],
    ),
    OpSpec(
        "tree_lstm",
        reference=_tree_lstm,
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((2, 12))),
            Sample(draw((2, 3)), draw((2, 3)), draw((2, 15))),
            Sample(draw((0, 1)), draw((0, 1)), draw((0, 5)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("in_types.size >= 2", draw((2, 3)).astype("f")),
            invalid_type(
                r"in_types\[2\]\.shape\[1\] == 5 \* in_types\[0\]\.shape\[1\]",
                draw((2, 3)).astype("f"),
                draw((2, 3)).astype("f"),
                draw((2, 12)).astype("f"),
            ),
        ],
    ),
)

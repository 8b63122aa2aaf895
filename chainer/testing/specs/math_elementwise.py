"""Mathematical functions, element by element."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
from chainer.testing.specs import formulas
from chainer.testing.specs.inputs import elementwise_samples, invalid_type, invalid_value

INTEGER_INPUT = invalid_type(r"in_types\[0\]\.dtype\.kind == f", np.arange(6).reshape(2, 3))


def _unary(name, reference, low=-1.0, high=1.0, tolerances=None):
    """A differentiable function of one floating-point array."""
    return OpSpec(
        name,
        reference=reference,
        samples=elementwise_samples(low, high),
        errors=lambda draw: [INTEGER_INPUT],
        tolerances=tolerances or {},
    )


def _step(name, reference):
    """A function whose gradient is zero wherever there is one: it is cut off the graph."""
    return OpSpec(
        name,
        reference=reference,
        samples=lambda draw: [
            Sample(draw.away_from((3, 4), range(-3, 4), low=-3, high=3)),
            Sample(draw.away_from((), range(-3, 4), low=-3, high=3), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
        gradient_order=0,
    )


def _pair(
    name, reference, second="__call__", same_shape=False, first=None, covers=None, mixed=False
):
    """A function of two floating-point arrays, whose shapes are broadcast unless told."""

    def samples(draw):
        left = draw if first is None else getattr(draw, first)
        right = getattr(draw, second)
        regular = [Sample(left((3, 4)), right((3, 4)))]
        if not same_shape:
            regular += [Sample(left((2, 1, 4)), right((3, 1))), Sample(left((3,)), right(()))]
        return [
            *regular,
            Sample(left(()), right(()), kind="zero-dim"),
            Sample(left((0, 3)), right((0, 3)), kind="empty"),
        ]

    return OpSpec(
        name,
        reference=reference,
        samples=samples,
        errors=lambda draw: [
            invalid_type("shape", np.ones((2, 3), "f"), np.ones((2, 4), "f")),
            # Functions that accept two dtypes still refuse integers.
            invalid_type("dtype", np.ones((2, 3), "f"), np.ones((2, 3), "i" if mixed else "d")),
        ],
        covers=covers,
    )


def _clip(x, x_min, x_max):
    return np.clip(x, x_min, x_max)


# Second derivatives of these grow fast; half precision cannot follow.
_STEEP = {"float16": Tolerance((1e-2, 2e-2), (5e-2, 1e-1), (5e-1, 5e-1))}


def _extremum(function):
    name = function.__name__
    return OpSpec(
        name,
        reference=lambda *xs: function.reduce(np.broadcast_arrays(*xs)),
        samples=lambda draw: [
            Sample(draw((3, 4), 0.1, 1), draw((3, 4), -1, 0)),
            Sample(draw((2, 1, 4), -1, 0), draw((3, 1), 0.1, 1)),
            Sample(*draw.distinct((3, 2, 3))),
            Sample(draw((), 0.1, 1), draw((), -1, 0), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(name.capitalize(), np.ones((2, 3), "f"), np.ones((2, 4), "f")),
            invalid_type("dtype", np.ones((2, 3), "f"), np.ones((2, 3), "d")),
        ],
    )


SPECS = (
    _unary("exp", np.exp),
    _unary("log", np.log, 0.5, 2.0),
    _unary("log2", np.log2, 0.5, 2.0, _STEEP),
    _unary("log10", np.log10, 0.5, 2.0),
    _unary("expm1", np.expm1),
    _unary("log1p", np.log1p, -0.4, 1.0),
    _unary("square", np.square),
    _unary("sqrt", np.sqrt, 0.5, 2.0),
    _unary("rsqrt", lambda x: 1 / np.sqrt(x), 0.5, 2.0, _STEEP),
    _unary("sin", np.sin),
    _unary("cos", np.cos),
    _unary("tan", np.tan, tolerances=_STEEP),
    _unary("arcsin", np.arcsin, -0.7, 0.7),
    _unary("arccos", np.arccos, -0.7, 0.7),
    _unary("arctan", np.arctan),
    _unary("arctanh", np.arctanh, -0.7, 0.7),
    _unary("sinh", np.sinh),
    _unary("cosh", np.cosh),
    _unary("erf", formulas.erf),
    _unary("erfc", formulas.erfc),
    OpSpec(
        "absolute",
        reference=np.abs,
        samples=lambda draw: [
            Sample(draw.away_from((3, 4))),
            Sample(draw.away_from(()), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [INTEGER_INPUT],
    ),
    _step("ceil", np.ceil),
    _step("floor", np.floor),
    _step("fix", np.trunc),
    _step("sign", np.sign),
    OpSpec(
        "clip",
        reference=_clip,
        samples=lambda draw: [
            Sample(draw.away_from((3, 4), (-0.5, 0.25)), x_min=-0.5, x_max=0.25),
            Sample(draw.away_from((3, 4), (0.0,)), x_min=None, x_max=0.0),
            Sample(draw.away_from((3, 4), (0.0,)), x_min=0.0, x_max=None),
            Sample(draw.away_from((), (0.5,)), x_min=-2.0, x_max=0.5, kind="zero-dim"),
            Sample(draw((0, 3)), x_min=-1.0, x_max=1.0, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("dtype.kind == f", np.arange(3), x_min=0.0, x_max=1.0),
            invalid_value("x_min must not be", np.ones(3, "f"), x_min=2.0, x_max=1.0),
            ErrorInput(
                np.ones(3, "f"), x_min="0", x_max=1.0, error=TypeError, match="x_min must be"
            ),
        ],
    ),
    _pair("arctan2", np.arctan2, second="positive", mixed=True),
    _pair("squared_difference", lambda x, y: (x - y) ** 2, same_shape=True),
    _extremum(np.maximum),
    _extremum(np.minimum),
    OpSpec(
        "fmod",
        reference=np.fmod,
        samples=lambda draw: [
            Sample(np.array([[2.3, -1.8], [0.4, 5.1]]), np.array([[0.9, 0.7], [-1.1, 2.0]])),
            Sample(np.array([2.3, -1.8]), np.array(0.75)),
            Sample(np.array(1.3), np.array(0.5), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [invalid_type("shape", np.ones((2, 3), "f"), np.ones((2, 4), "f"))],
    ),
    OpSpec(
        "linear_interpolate",
        reference=lambda p, x, y: p * x + (1 - p) * y,
        samples=lambda draw: [
            Sample(draw((3, 4)), draw((3, 4)), draw((3, 4))),
            Sample(draw(()), draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("shape", np.ones((2, 3), "f"), np.ones((2, 3), "f"), np.ones((2, 4), "f"))
        ],
    ),
    OpSpec(
        "add_many",
        reference=lambda *xs: sum(xs),
        call=lambda F, *xs: F.add(*xs),
        covers=("add",),
        samples=lambda draw: [
            Sample(draw((3, 4)), draw((3, 4)), draw((3, 4))),
            Sample(draw((3,)), draw((2, 3)), draw(()), draw((1, 3))),
            Sample(draw((3, 4))),
            Sample(draw(()), draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)MultiAdd.*cannot broadcast inputs.*shape = \(2, 4\)",
                *[np.ones(shape, "f") for shape in ((2, 3), (2, 3), (2, 4))],
            )
        ],
    ),
    *[
        OpSpec(
            name,
            reference=lambda x, y, axis=1, combine=combine: combine(
                x, y.reshape(y.shape + (1,) * (x.ndim - axis - y.ndim))
            ),
            samples=lambda draw: [
                Sample(draw((2, 3, 4)), draw((3,))),
                Sample(draw((2, 3, 4)), draw((3, 4))),
                Sample(draw((2, 3, 4)), draw((2,)), axis=0),
                Sample(draw((0, 3)), draw((3,)), kind="empty"),
            ],
            errors=lambda draw: [
                invalid_type("BroadcastTo", np.ones((2, 3), "f"), np.ones(2, "f"))
            ],
        )
        for name, combine in (("bias", np.add), ("scale", np.multiply))
    ],
)

"""Mathematical functions and the operators of Variable."""

# pyright: basic
from __future__ import annotations

import operator

import numpy as np

from chainer.core.autograd.variable import as_variable
from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _pairs(draw, second=None):
    """Operands of equal shapes, of shapes that broadcast, without dimensions, and empty ones."""
    second = draw if second is None else second
    return [
        Sample(draw((3, 4)), second((3, 4))),
        Sample(draw((2, 1, 4)), second((3, 1))),
        Sample(draw((3,)), second(())),
        Sample(draw(()), second(()), kind="zero-dim"),
        Sample(draw((0, 3)), second((1, 3)), kind="empty"),
    ]


def _binary(name, function, second=None):
    return OpSpec(
        f"operator_{name}",
        reference=function,
        call=lambda F, x, y: function(as_variable(x), as_variable(y)),
        samples=lambda draw: _pairs(draw, getattr(draw, second) if second else None),
        errors=lambda draw: [
            invalid_type(
                r"(?s)cannot broadcast inputs.*shape = \(2, 3\).*shape = \(2, 4\)",
                draw((2, 3)).astype("f"),
                draw((2, 4)).astype("f"),
            ),
            invalid_type(
                r"(?s)in_types\[0\]\.dtype == in_types\[1\]\.dtype.*float32 != float64",
                draw((2, 3)).astype("f"),
                draw((2, 3)).astype("d"),
            ),
        ],
    )


def _with_constant(name, function, low=-1.0, high=1.0):
    """An operator between a variable and a Python number."""
    return OpSpec(
        f"operator_{name}",
        reference=function,
        call=lambda F, x: function(x),
        samples=lambda draw: [
            Sample(draw((3, 4), low, high)),
            Sample(draw((), low, high), kind="zero-dim"),
            Sample(draw((0, 2), low, high), kind="empty"),
        ],
    )


SPECS = (
    _binary("add", operator.add),
    _binary("sub", operator.sub),
    _binary("mul", operator.mul),
    _binary("truediv", operator.truediv, "positive"),
    OpSpec(
        "operator_pow",
        reference=operator.pow,
        call=lambda F, x, y: x**y,
        samples=lambda draw: [
            Sample(draw.positive((3, 4)), draw((3, 4))),
            Sample(draw.positive((2, 1, 4)), draw((3, 1))),
            Sample(draw.positive(()), draw(()), kind="zero-dim"),
        ],
    ),
    _with_constant("neg", operator.neg),
    _with_constant("abs", abs, 0.2, 1.0),
    _with_constant("add_constant", lambda x: x + 2.5),
    _with_constant("radd_constant", lambda x: 2.5 + x),
    _with_constant("sub_constant", lambda x: x - 2.5),
    _with_constant("rsub_constant", lambda x: 2.5 - x),
    _with_constant("mul_constant", lambda x: x * 2.5),
    _with_constant("div_constant", lambda x: x / 2.5),
    _with_constant("rdiv_constant", lambda x: 2.5 / x, 0.5, 2.0),
    _with_constant("pow_constant", lambda x: x**3),
    _with_constant("pow_fraction", lambda x: x**0.5, 0.5, 2.0),
    _with_constant("rpow_constant", lambda x: 2.5**x),
    OpSpec(
        "sum",
        reference=lambda x, axis=None, keepdims=False: np.sum(x, axis=axis, keepdims=keepdims),
        samples=lambda draw: [
            Sample(draw((2, 3, 4))),
            Sample(draw((2, 3, 4)), axis=1),
            Sample(draw((2, 3, 4)), axis=(0, -1)),
            Sample(draw((2, 3, 4)), axis=(2, 0), keepdims=True),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), axis=0, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("ndim > 2", draw((2, 3)).astype("f"), axis=2),
            invalid_value("duplicate", draw((2, 3)).astype("f"), axis=(0, 0)),
        ],
    ),
)

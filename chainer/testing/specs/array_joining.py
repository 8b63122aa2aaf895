"""Array manipulations that take or return several arrays."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type


def _pad_sequence(*xs, length=None, padding=0):
    length = max(len(x) for x in xs) if length is None else length
    y = np.full((len(xs), length, *xs[0].shape[1:]), float(padding))
    for row, x in zip(y, xs, strict=True):
        row[: len(x)] = x
    return y


def _transpose_sequence(*xs):
    # Sequences come in the order of falling lengths, so each row is from the first few of them.
    return tuple(np.stack([x[i] for x in xs if len(x) > i]) for i in range(len(xs[0]) if xs else 0))


def _split(x, indices_or_sections, axis):
    return tuple(np.split(x, indices_or_sections, axis))


def _ones(*shapes, dtypes="ff"):
    return [np.ones(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]


def _stacking(name, match):
    """A function of a list without further arguments."""
    return OpSpec(
        name,
        reference=lambda *xs: getattr(np, name)(xs),
        call=lambda F, *xs: getattr(F, name)(list(xs)),
        covers=(name,),
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((2, 3))),
            Sample(draw((2, 3, 2)), draw((2, 3, 2)), draw((2, 3, 2))),
            Sample(draw((3,)), draw((3,))),
            Sample(draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(match, *_ones((2, 3), (3, 2))),
            invalid_type("dtype", *_ones((2, 3), (2, 3), dtypes="fd")),
        ],
    )


SPECS = (
    OpSpec(
        "concat",
        reference=lambda *xs, axis=1: np.concatenate(xs, axis=axis),
        call=lambda F, *xs, axis=1: F.concat(xs, axis=axis),
        covers=("concat",),
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((2, 1))),
            Sample(draw((2, 3)), draw((1, 3)), draw((2, 3)), axis=0),
            Sample(draw((2, 3, 2)), draw((2, 3, 4)), axis=-1),
            # A list of one array.
            Sample(draw((2, 3))),
            Sample(draw((0, 3)), draw((0, 1)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)Concat.*in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
                *_ones((2, 3), (3, 3)),
            ),
            invalid_type("dtype", *_ones((2, 3), (2, 3), dtypes="fd")),
            invalid_type("ndim", *_ones((2, 3), (2,))),
            invalid_type("ndim > axis", *_ones((2,), (3,))),
            # The message tells what the negative axis stands against.
            invalid_type("<= -2", *_ones((2,), (3,)), axis=-2),
            ErrorInput(*_ones((2,), (3,)), axis="1", error=TypeError, match="axis must be int"),
        ],
    ),
    OpSpec(
        "stack",
        reference=lambda *xs, axis=0: np.stack(xs, axis=axis),
        call=lambda F, *xs, axis=0: F.stack(xs, axis=axis),
        covers=("stack",),
        samples=lambda draw: [
            # Axis 2 is the new last axis: the result has one axis more than the inputs.
            *[Sample(draw((2, 3)), draw((2, 3)), axis=axis) for axis in (0, 1, 2, -1, -3)],
            Sample(draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("ndim >= 3", *_ones((2, 3), (2, 3)), axis=3),
            invalid_type(r"in_types\[1\]\.shape == in_types\[0\]\.shape", *_ones((2, 3), (3,))),
        ],
    ),
    _stacking("hstack", r"shape\[0\]"),
    _stacking("vstack", r"shape\[1\]"),
    _stacking("dstack", "shape"),
    OpSpec(
        "split_axis",
        reference=_split,
        call=lambda F, x, indices_or_sections, axis: F.split_axis(x, indices_or_sections, axis),
        covers=("split_axis",),
        samples=lambda draw: [
            Sample(draw((2, 6)), indices_or_sections=3, axis=1),
            Sample(draw((4, 2, 3)), indices_or_sections=2, axis=-3),
            Sample(draw((2, 6)), indices_or_sections=[1, 4], axis=1),
            Sample(draw((2, 6)), indices_or_sections=(2, 2, 6), axis=-1, label="empty parts"),
            # One part is a tuple of one array, too.
            Sample(draw((2, 3)), indices_or_sections=1, axis=0),
            Sample(draw((0, 4)), indices_or_sections=2, axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"shape\[1\] % sections == 0",
                *_ones((2, 4), dtypes="f"),
                indices_or_sections=3,
                axis=1,
            ),
            invalid_type(
                r"shape\[1\] >= max_index",
                *_ones((2, 4), dtypes="f"),
                indices_or_sections=[5],
                axis=1,
            ),
            invalid_type("ndim > 2", *_ones((2, 4), dtypes="f"), indices_or_sections=2, axis=2),
            ErrorInput(
                *_ones((2, 4), dtypes="f"),
                indices_or_sections=1.5,
                axis=1,
                error=TypeError,
                match="integer or 1-D array",
            ),
        ],
    ),
    OpSpec(
        "separate",
        reference=lambda x, axis=0: tuple(np.moveaxis(x, axis, 0)),
        samples=lambda draw: [
            *[Sample(draw((2, 3, 4)), axis=axis) for axis in (0, 1, -1)],
            Sample(draw((1, 3))),
            Sample(draw((3,))),
            Sample(draw((2, 0)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("ndim > 2", *_ones((2, 4), dtypes="f"), axis=2),
            invalid_type("ndim > 0", *_ones((), dtypes="f")),
        ],
    ),
    OpSpec(
        "broadcast",
        reference=np.broadcast_arrays,
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((3,))),
            # No input has the shape of the outputs.
            Sample(draw((2, 1)), draw((1, 3)), draw(())),
            Sample(draw((2, 3))),
            Sample(draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((1, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("each dimension has the same size", *_ones((2, 3), (2,)))
        ],
    ),
    OpSpec(
        "pad_sequence",
        reference=_pad_sequence,
        call=lambda F, *xs, **kwargs: F.pad_sequence(list(xs), **kwargs),
        covers=("pad_sequence",),
        samples=lambda draw: [
            Sample(draw((3,)), draw((1,)), draw((2,))),
            # Longer than the longest sequence, and a padding that is not the default.
            Sample(draw((3, 2)), draw((1, 2)), length=4, padding=-1),
            Sample(draw((2, 2))),
            Sample(draw((0, 2)), draw((2, 2)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"shape\[0\] <= 3", *_ones((4,), (2,)), length=3),
            invalid_type(r"shape\[1:\]", *_ones((4, 2), (2,))),
        ],
    ),
    OpSpec(
        "transpose_sequence",
        reference=_transpose_sequence,
        call=lambda F, *xs: F.transpose_sequence(list(xs)),
        covers=("transpose_sequence",),
        samples=lambda draw: [
            Sample(draw((3,)), draw((2,)), draw((2,)), draw((1,))),
            Sample(draw((3, 2)), draw((1, 2))),
            Sample(draw((2, 0)), draw((1, 0)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[0\] >= in_types\[1\]\.shape\[0\]", *_ones((2,), (4,))
            )
        ],
    ),
    OpSpec(
        "identity",
        reference=lambda *xs: xs,
        call=lambda F, *xs: F.identity(*xs),
        covers=("identity",),
        samples=lambda draw: [
            Sample(draw((2, 3))),
            Sample(draw((2, 3)), draw((2,))),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
    ),
)

"""Array manipulations: shapes, axes, indexing."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.autograd.variable import as_variable
from chainer.core.utils.type_check import InvalidType
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _bad(shape, error, match, /, **kwargs):
    return ErrorInput(np.ones(shape, "f"), error=error, match=match, **kwargs)


def _scatter_add(a, b, slices):
    # ``y[slices] += b`` would add only once where an index comes twice.
    y = np.array(a)
    np.add.at(y, slices, b)
    return y


def _sum_to(x, shape):
    # Element by element, so that no rule of broadcasting is taken over from what is tested.
    y = np.zeros(shape)
    for index in np.ndindex(x.shape):
        at = index[x.ndim - len(shape) :]
        y[tuple(i if n > 1 else 0 for i, n in zip(at, shape, strict=True))] += x[index]
    return y


def _permutate(x, indices, axis=0, inv=False):
    return np.take(x, np.argsort(indices) if inv else indices, axis=axis)


# Integers, slices, new axes, and lists, arrays and masks in any place.
INDEXES = (
    1,
    -1,
    slice(None, None, -1),
    (slice(None), 2),
    (0, 1, 3),
    (Ellipsis, None, 0),
    (slice(0, 2), slice(None), slice(3, 0, -2)),
    # Rows that come twice: their gradients add up.
    [0, 0, 1],
    # Lists on both sides of a slice: NumPy puts their common axis first.
    ([1, 0], slice(None), [1, 1]),
    (slice(None), [2, 2], 1),
    (None, [0, 0]),
    # Masks, as lists of Python and along a later axis.
    [True, False],
    (slice(None), [True, False, True]),
    np.array([[0, 1], [1, 1]]),
    (np.array([1, 1]), np.array([[0], [2]])),
)

SPECS = (
    OpSpec(
        "reshape",
        reference=lambda x, shape: np.reshape(x, shape),
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), shape=(4, 6)),
            Sample(draw((2, 3, 4)), shape=(-1, 2)),
            # One element is an array of any number of axes, none included.
            Sample(draw((1,)), shape=()),
            Sample(draw(()), shape=(1, 1), kind="zero-dim"),
            Sample(draw((0, 3)), shape=(3, 0), kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3), InvalidType, r"(?s)Reshape.*prod\(\(4, 2\)\)", shape=(4, 2)),
            # The unknown length would have to be a fraction.
            _bad((2, 3), InvalidType, r"known_size\(=4\)", shape=(-1, 4)),
            _bad((2, 3), ValueError, "one unknown dimension", shape=(-1, -1)),
        ],
    ),
    OpSpec(
        "flatten",
        reference=np.ravel,
        samples=lambda draw: [
            Sample(draw((2, 3))),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
    ),
    OpSpec(
        "expand_dims",
        reference=lambda x, axis: np.expand_dims(x, axis),
        samples=lambda draw: [
            # Axis 2 is one more than the input has: a new last axis.
            *[Sample(draw((2, 3)), axis=axis) for axis in (0, 1, 2, -1, -3)],
            Sample(draw(()), axis=0, kind="zero-dim"),
            Sample(draw((0, 3)), axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3), InvalidType, "ndim >= 3", axis=3),
            _bad((2, 3), InvalidType, "ndim >= 3", axis=-4),
        ],
    ),
    OpSpec(
        "squeeze",
        reference=lambda x, axis=None: np.squeeze(x, axis),
        samples=lambda draw: [
            Sample(draw((1, 2, 1))),
            Sample(draw((1, 2, 1)), axis=0),
            Sample(draw((1, 2, 1)), axis=(0, -1)),
            Sample(draw(()), kind="zero-dim"),
            # An axis without elements is not of length one, so it stays.
            Sample(draw((0, 1)), kind="empty"),
        ],
        errors=lambda draw: [
            _bad((1, 2), InvalidType, "ndim > 2", axis=2),
            _bad((1, 2), InvalidType, "<= -3", axis=-3),
            _bad((1, 2), ValueError, "size not equal to one", axis=1),
            _bad((1, 2), TypeError, "axis must be", axis="0"),
        ],
    ),
    OpSpec(
        "transpose",
        reference=lambda x, axes=None: np.transpose(x, axes),
        samples=lambda draw: [
            Sample(draw((2, 3, 4))),
            Sample(draw((2, 3, 4)), axes=(2, 0, 1)),
            Sample(draw((2, 3, 4)), axes=(-1, 0, -2)),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [_bad((2, 3), ValueError, "axes", axes=(0, 1, 2))],
    ),
    OpSpec(
        "swapaxes",
        reference=np.swapaxes,
        call=lambda F, x, axis1, axis2: F.swapaxes(x, axis1, axis2),
        covers=("swapaxes",),
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), axis1=0, axis2=2),
            Sample(draw((2, 3, 4)), axis1=1, axis2=-1),
            Sample(draw((0, 3)), axis1=0, axis2=1, kind="empty"),
        ],
        errors=lambda draw: [_bad((2, 3), ValueError, "axis", axis1=0, axis2=2)],
    ),
    OpSpec(
        "rollaxis",
        reference=np.rollaxis,
        call=lambda F, x, axis, start=0: F.rollaxis(x, axis, start),
        covers=("rollaxis",),
        samples=lambda draw: [
            *[
                Sample(draw((2, 3, 4)), axis=axis, start=start)
                # Forwards, backwards, to its own place, and the same counted from the end.
                for axis, start in ((2, 0), (0, 3), (1, 1), (-1, 0), (0, -1), (-3, 2))
            ],
            Sample(draw((0, 3)), axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3, 4), InvalidType, "ndim > 3", axis=3),
            # ``start`` may be one more than the last axis, but not two.
            _bad((2, 3, 4), InvalidType, "ndim >= 4", axis=0, start=4),
        ],
    ),
    OpSpec(
        "moveaxis",
        reference=np.moveaxis,
        call=lambda F, x, source, destination: F.moveaxis(x, source, destination),
        covers=("moveaxis",),
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), source=0, destination=-1),
            Sample(draw((2, 3, 4)), source=(0, 2), destination=(1, 0)),
            Sample(draw((0, 3)), source=0, destination=1, kind="empty"),
        ],
    ),
    *[
        OpSpec(
            name,
            reference=getattr(np, name),
            samples=lambda draw: [
                Sample(draw((2, 3))),
                Sample(draw((2, 3, 2))),
                Sample(draw((0, 3)), kind="empty"),
            ],
            errors=lambda draw: [_bad((), InvalidType, "ndim >= ")],
        )
        for name in ("fliplr", "flipud")
    ],
    OpSpec(
        "flip",
        reference=lambda x, axis: np.flip(x, axis),
        samples=lambda draw: [
            *[Sample(draw((2, 3, 4)), axis=axis) for axis in (0, 1, -1)],
            Sample(draw((0, 3)), axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3), InvalidType, "ndim > 2", axis=2),
            _bad((2, 3), TypeError, "axis must be int", axis="0"),
        ],
    ),
    OpSpec(
        "diagonal",
        reference=np.diagonal,
        call=lambda F, x, offset=0, axis1=0, axis2=1: F.diagonal(x, offset, axis1, axis2),
        covers=("diagonal",),
        samples=lambda draw: [
            Sample(draw((3, 3))),
            # An offset of 5 is outside of the matrix: the diagonal is empty.
            *[Sample(draw((3, 4)), offset=offset) for offset in (1, 3, 5, -1, -2)],
            Sample(draw((2, 3, 4)), axis1=1, axis2=-1),
            Sample(draw((2, 3, 4)), axis1=2, axis2=0, offset=1),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            _bad((3,), InvalidType, "ndim > 1"),
            _bad((3, 3), ValueError, "axis1 and axis2 cannot be the same", axis1=1),
        ],
    ),
    OpSpec(
        "broadcast_to",
        reference=lambda x, shape: np.broadcast_to(x, shape),
        samples=lambda draw: [
            Sample(draw((3, 1)), shape=(2, 3, 4)),
            Sample(draw((2, 3)), shape=(2, 3)),
            # Large enough that the function returns a view instead of a copy.
            Sample(draw((1, 70)), shape=(70, 70), label="a view"),
            Sample(draw(()), shape=(2, 2), kind="zero-dim"),
            Sample(draw((1, 3)), shape=(0, 3), kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3), InvalidType, r"(?s)BroadcastTo.*shape\[-1\] == 4", shape=(2, 4)),
            _bad((2, 3), InvalidType, r"ndim <= len\(shape\)", shape=(3,)),
        ],
    ),
    OpSpec(
        "sum_to",
        reference=_sum_to,
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), shape=(3, 1)),
            Sample(draw((2, 3)), shape=(2, 3)),
            Sample(draw((2, 3)), shape=()),
            Sample(draw(()), shape=(), kind="zero-dim"),
            Sample(draw((0, 3)), shape=(1, 3), kind="empty"),
        ],
        errors=lambda draw: [_bad((2, 3), InvalidType, "can be broadcast", shape=(2, 2))],
    ),
    OpSpec(
        "repeat",
        reference=lambda x, repeats, axis=None: np.repeat(x, repeats, axis),
        samples=lambda draw: [
            Sample(draw((2, 3)), repeats=2),
            Sample(draw((2, 3)), repeats=2, axis=1),
            # A number for each element, zero among them below.
            Sample(draw((2, 3)), repeats=(3, 1), axis=0),
            Sample(draw((2, 3)), repeats=(0, 2, 1), axis=-1),
            # One number in a tuple serves all elements, as in NumPy.
            Sample(draw((2, 3)), repeats=(2,), axis=0),
            Sample(draw((2, 3)), repeats=0),
            Sample(draw(()), repeats=3, kind="zero-dim"),
            Sample(draw((0, 3)), repeats=2, axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3), ValueError, "zero or larger", repeats=-1),
            _bad((2, 3), TypeError, "repeats must be", repeats="2"),
            _bad((2, 3), TypeError, "axis must be", repeats=2, axis=0.5),
        ],
    ),
    OpSpec(
        "tile",
        reference=lambda x, reps: np.tile(x, reps),
        samples=lambda draw: [
            # More numbers than axes add axes in front, fewer leave the first axes as they are.
            *[Sample(draw((2, 3)), reps=reps) for reps in (2, (2, 1), (2, 1, 2), (0, 1), ())],
            Sample(draw((2, 3, 2)), reps=(2,)),
            Sample(draw(()), reps=(2, 2), kind="zero-dim"),
            Sample(draw((0, 3)), reps=2, kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3), ValueError, "zero or larger", reps=(1, -1)),
            _bad((2, 3), TypeError, "reps must be", reps="2"),
        ],
    ),
    OpSpec(
        "pad",
        reference=lambda x, pad_width, mode, **keywords: np.pad(x, pad_width, mode, **keywords),
        call=lambda F, x, pad_width, mode, **keywords: F.pad(x, pad_width, mode, **keywords),
        covers=("pad",),
        samples=lambda draw: [
            Sample(draw((2, 3)), pad_width=1, mode="constant"),
            Sample(draw((2, 3)), pad_width=((1, 2), (0, 1)), mode="constant", constant_values=3.0),
            Sample(draw((2, 3)), pad_width=(1, 2), mode="constant"),
            Sample(draw((2, 3)), pad_width=1, mode="edge"),
            # The widest reflection of three elements: the one at the border is not repeated.
            Sample(draw((3, 3)), pad_width=2, mode="reflect"),
            Sample(draw((0, 3)), pad_width=1, mode="constant", kind="empty"),
        ],
        errors=lambda draw: [invalid_type("kind == f", np.arange(3), pad_width=1, mode="constant")],
    ),
    OpSpec(
        "cast",
        # Always a wider type, in which every value is the same.
        reference=lambda x, typ: x,
        samples=lambda draw: [
            Sample(draw((2, 3)), typ="float64"),
            Sample(draw(()), typ="float64", kind="zero-dim"),
            Sample(draw((0, 3)), typ="float64", kind="empty"),
        ],
        output_dtype="float64",
    ),
    OpSpec(
        "copy",
        reference=lambda x: x,
        # To the device where the array is: the suite runs on one.
        call=lambda F, x: F.copy(x, as_variable(x).device),
        covers=("copy",),
        samples=lambda draw: [
            Sample(draw((2, 3))),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
    ),
    OpSpec(
        "get_item",
        reference=lambda x, slices: x[slices],
        samples=lambda draw: [
            *[Sample(draw((2, 3, 4)), slices=slices, label=repr(slices)) for slices in INDEXES],
            # The only indexes that an array without axes takes.
            Sample(draw(()), slices=(None, Ellipsis), kind="zero-dim"),
            Sample(draw((0, 3)), slices=(slice(None), 1), kind="empty"),
        ],
        errors=lambda draw: [
            _bad((2, 3), IndexError, "out of bounds", slices=2),
            _bad((2, 3), IndexError, "too many indices", slices=(0, 0, 0)),
        ],
    ),
    OpSpec(
        "scatter_add",
        reference=_scatter_add,
        call=lambda F, a, b, slices: F.scatter_add(a, slices, b),
        covers=("scatter_add",),
        samples=lambda draw: [
            *[
                Sample(draw((2, 3, 4)), draw(np.empty((2, 3, 4))[slices].shape), slices=slices)
                for slices in INDEXES
            ],
            Sample(draw(()), draw((1,)), slices=None, kind="zero-dim"),
            Sample(draw((0, 3)), draw((0,)), slices=(slice(None), 1), kind="empty"),
        ],
        errors=lambda draw: [
            # ``b`` must have the shape of the selection, although NumPy would broadcast it.
            invalid_value("automatic broadcasting", np.ones((2, 3), "f"), np.ones(2, "f"), slices=0)
        ],
    ),
    OpSpec(
        "select_item",
        reference=lambda x, t: x[np.arange(len(t)), t],
        samples=lambda draw: [
            Sample(draw((3, 4)), draw.integers((3,), 0, 4)),
            Sample(draw((0, 4)), draw.integers((0,), 0, 4), kind="empty"),
        ],
        errors=lambda draw: [invalid_type(r"shape\[0\]", np.ones((3, 4), "f"), np.ones(2, "i"))],
    ),
    OpSpec(
        "permutate",
        reference=_permutate,
        samples=lambda draw: [
            # A permutation that is not its own inverse, so that ``inv`` makes a difference.
            Sample(draw((3, 2)), np.array([2, 0, 1])),
            Sample(draw((3, 2)), np.array([2, 0, 1]), inv=True),
            Sample(draw((2, 3)), np.array([2, 0, 1], np.int32), axis=1),
            Sample(draw((2, 3)), np.array([1, 2, 0], np.int32), axis=-1, inv=True),
            Sample(draw((0, 3)), np.array([], np.int32), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"shape\[0\]", np.ones((3, 2), "f"), np.ones(2, "i")),
            invalid_type("int array", np.ones((3, 2), "f"), np.ones(3, "f")),
        ],
    ),
    OpSpec(
        "where",
        reference=np.where,
        samples=lambda draw: [
            Sample(draw.booleans((2, 3)), draw((2, 3)), draw((2, 3))),
            # All three are broadcast to a shape that none of them has.
            Sample(draw.booleans((3,)), draw((2, 1)), draw(())),
            Sample(draw.booleans(()), draw(()), draw(()), kind="zero-dim"),
            Sample(draw.booleans((0, 3)), draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("bool", np.ones((2, 3), "i"), np.ones((2, 3), "f"), np.ones((2, 3), "f"))
        ],
    ),
)

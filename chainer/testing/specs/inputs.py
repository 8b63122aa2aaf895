"""Inputs that the tables of operations share."""

import numpy as np

from chainer.core.utils.type_check import InvalidType
from chainer.testing.op_spec import ErrorInput, Sample

SPECS = ()  # what the tables share


def floats(*shape):
    """Ones of float32, where only the shape matters."""
    return np.ones(shape, np.float32)


def integers(*shape):
    """Zeros of int32, where only the shape matters."""
    return np.zeros(shape, np.int32)


def elementwise_samples(low, high):
    """Samples of a function of one array, of numbers between two bounds."""
    return lambda draw: [
        Sample(draw((3, 4), low, high)),
        Sample(draw((2, 1, 3), low, high)),
        Sample(draw((), low, high), kind="zero-dim"),
        Sample(draw((0, 3), low, high), kind="empty"),
    ]


def invalid_value(match, *args, **kwargs):
    """A call that raises a ValueError.

    Args:
        match: Regular expression for the message.
        *args: Inputs of the call.
        **kwargs: Attributes of the call.
    """
    return ErrorInput(*args, error=ValueError, match=match, **kwargs)


def invalid_type(match, *args, **kwargs):
    """A call that the type check refuses.

    Args:
        match: Regular expression for the message.
        *args: Inputs of the call.
        **kwargs: Attributes of the call.
    """
    return ErrorInput(*args, error=InvalidType, match=match, **kwargs)

"""Inputs that the tables of operations share."""

import numpy as np

from chainer.core.utils.type_check import InvalidType
from chainer.testing.op_spec import ErrorInput

SPECS = ()  # what the tables share


def floats(*shape):
    """Ones of float32, where only the shape matters."""
    return np.ones(shape, np.float32)


def integers(*shape):
    """Zeros of int32, where only the shape matters."""
    return np.zeros(shape, np.int32)


def invalid_type(match, *args, **kwargs):
    """A call that the type check refuses.

    Args:
        match: Regular expression for the message.
        *args: Inputs of the call.
        **kwargs: Attributes of the call.
    """
    return ErrorInput(*args, error=InvalidType, match=match, **kwargs)

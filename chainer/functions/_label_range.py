"""Errors about labels and ids for which there is no class or row."""

from __future__ import annotations

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.typing import Array


def label_error(
    error: IndexError,
    name: str,
    labels: Array,
    count: int,
    ignored: int | None = None,
    negative: bool = True,
) -> IndexError:
    """Returns an error that names a label, its position and what it must be.

    The check only runs after indexing has failed, so that it costs nothing otherwise.

    Args:
        error: The error that indexing by the labels raised.
        name: Name of the argument.
        labels: Labels or ids.
        count: Number of classes or rows.
        ignored: Label that is ignored, or None.
        negative: Whether negative labels count from the end, as ids do in all releases; debug mode
            refuses them.
    """
    host = numpy.asarray(backend_of(labels).to_host(labels))
    wrong = (host >= count) | (host < (-count if negative else 0))
    if ignored is not None:
        wrong &= host != ignored
    positions = numpy.argwhere(wrong)
    if not len(positions):
        return error
    at = tuple(positions[0].tolist())
    place = ", ".join(map(str, at))
    others = f" (and {len(positions) - 1} more)" if len(positions) > 1 else ""
    exception = "" if ignored is None else f", or {ignored}, which is ignored"
    # Two classes in one column are a common mistake of those who come from binary losses.
    remedy = "; a model with one output has one class: see F.sigmoid_cross_entropy"
    return IndexError(
        f"{error}\n{name}[{place}] is {host[at]}{others}, but must be from 0 to "
        f"{count - 1}{exception}{remedy if count == 1 and ignored is not None else ''}"
    )

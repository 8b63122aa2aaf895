"""Updates that end midway: an optimizer remembers what is left.

An update changes arrays in place. A copy of all arrays would take as much memory as the model, so
an update that an exception ends is not undone: the optimizer tells of it at its next call.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.optimizer import Optimizer

#: Attribute of an optimizer: how its last update ended, if an exception has ended it midway.
_ATTRIBUTE = "_half_update"

#: Parameters that a warning names.
_NAMED = 3


def remember(optimizer: Optimizer, unfinished: Iterable[Parameter], error: BaseException) -> None:
    """Makes an optimizer remember that an exception has ended its update.

    Args:
        optimizer: The optimizer.
        unfinished: Parameters that may not have been updated. If there are none, the update is
            complete.
        error: The exception. Its traceback tells of the parameters, too.
    """
    left = {id(param) for param in unfinished}
    if not left:
        return
    assert optimizer.target is not None
    names = [name for name, param in optimizer.target.namedparams() if id(param) in left]
    text = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        text += f" and {len(names) - _NAMED} more"
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message = (
        f"{type(optimizer).__name__}.update() number {optimizer.t} was ended by {reason}. These "
        f"parameters and their states may not have been updated, or in part only: {text}. All "
        "others were updated. Load a snapshot to start from a complete state"
    )
    optimizer.__dict__[_ATTRIBUTE] = message
    error.add_note(message)


def forget(optimizer: Optimizer) -> None:
    """Makes an optimizer forget a half update, because its state was replaced."""
    optimizer.__dict__.pop(_ATTRIBUTE, None)


def has_ended_midway(optimizer: Optimizer) -> bool:
    """Returns whether :func:`tell` has something to tell of an optimizer."""
    return _ATTRIBUTE in optimizer.__dict__


def tell(optimizer: Optimizer, stacklevel: int) -> None:
    """Warns once of an update that was ended midway.

    Args:
        optimizer: The optimizer, of which the caller knows that there was one.
        stacklevel: As for :func:`warnings.warn`, from the caller of this function.
    """
    message = optimizer.__dict__.pop(_ATTRIBUTE, None)
    if message is not None:
        warnings.warn(message, RuntimeWarning, stacklevel=stacklevel + 1)

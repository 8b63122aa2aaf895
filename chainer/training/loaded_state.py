"""Checks of what optimizers, iterators, extensions and triggers load from a file.

The serializers compare shapes and dtypes with those of the object that loads. What the object does
not have yet, or what has a range, is checked here.
"""

from __future__ import annotations

import copy
import json
import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.autograd.parameter import Parameter

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer
    from chainer.training.optimizers.update_rule import UpdateRule

#: Largest number that is taken for a count; more cannot happen, and sums of counts stay exact.
LARGEST_COUNT = 2**53


def check_count(name: str, value: Any, largest: int = LARGEST_COUNT) -> int:
    """Returns a loaded count.

    Args:
        name: Name of the entry, for the message.
        value: What was loaded.
        largest: Largest value that makes sense.

    Raises:
        ValueError: If it is not between 0 and ``largest``.
    """
    if not (isinstance(value, (int, float, numpy.number)) and 0 <= value <= largest):
        raise ValueError(f"{name} in the file must be a number from 0 to {largest}, got {value!r}")
    return int(value)


def check_finite(name: str, value: Any) -> float:
    """Returns a loaded number.

    Args:
        name: Name of the entry, for the message.
        value: What was loaded.

    Raises:
        ValueError: If it is infinite or not a number.
    """
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} in the file must be a finite number, got {number!r}")
    return number


def parse_json(name: str, text: Any, kind: type, item: type | None = None) -> Any:
    """Returns a loaded value that is stored as JSON text.

    Args:
        name: Name of the entry, for the message.
        text: What was loaded.
        kind: Class that the value must have.
        item: Class that its items must have; None for any.

    Raises:
        ValueError: If the text is not JSON, or the value is something else.
    """
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{name} in the file is not JSON text: {error}") from error
    items: Any = value.values() if isinstance(value, dict) else value
    if not isinstance(value, kind) or (
        item is not None and not all([isinstance(part, item) for part in items])
    ):
        of_items = "" if item is None else f" of {item.__name__}s"
        raise ValueError(f"{name} in the file must be a {kind.__name__}{of_items}, got {value!r}")
    return value


def check_optimizer(optimizer: Optimizer) -> None:
    """Compares the states that an optimizer has loaded with the parameters.

    States of parameters without a shape are not checked: they follow when the model is loaded.

    Args:
        optimizer: Optimizer that has loaded its state.

    Raises:
        ValueError: If a state has another shape than its parameter. That state is dropped.
        TypeError: If it has another kind of elements.
    """
    check_count("t of the optimizer", optimizer.t)
    check_count("epoch of the optimizer", optimizer.epoch)
    target: Any = optimizer.target
    for name, param in target.namedparams():
        rule = param.update_rule
        if rule is None or not rule.state or param.array is None:
            continue
        try:
            _check_rule(name, rule, param)
        except (ValueError, TypeError):
            rule._state = None
            raise


def _check_rule(name: str, rule: UpdateRule, param: Parameter) -> None:
    check_count(f"t of parameter {name!r}", rule.t)
    # A rule shows on a stand-in which states it has: not all of them are like the parameter.
    probe = copy.copy(rule)
    expected = probe._make_state(Parameter(numpy.zeros(param.shape, numpy.float32)))
    for key, example in expected.items():
        value = (rule.state or {}).get(key)
        shape = getattr(example, "shape", None)
        if value is None or shape is None:
            continue
        if numpy.shape(value) != shape:
            raise ValueError(
                f"state {key!r} of parameter {name!r} in the file must have the shape {shape}, "
                f"got {numpy.shape(value)}"
            )
        dtype = getattr(value, "dtype", numpy.dtype(type(value)))
        # Kind V: bfloat16, which NumPy itself does not know.
        if example.dtype.kind == "f" and dtype.kind not in "fV":
            raise TypeError(
                f"state {key!r} of parameter {name!r} in the file must be floating-point numbers, "
                f"got dtype {dtype}"
            )

"""Reading the state of iterators, extensions, triggers and optimizers from a file.

A deserializer compares shapes and dtypes with the values that the loading object has. An object
that has no value yet, or whose values have a range, calls the checks of this module. Further
functions read entries that files of other releases lack.
"""

from __future__ import annotations

import json
import math
import warnings
from typing import Any, TypeVar

import numpy

from chainer.links.serializer import AbstractSerializer, Serializer

T = TypeVar("T")

#: Largest number that is taken for a count; more cannot happen, and sums of counts stay exact.
LARGEST_COUNT = 2**53


def check_count(name: str, value: Any, largest: int = LARGEST_COUNT) -> int:
    """Returns a loaded count.

    Args:
        name: Name of the entry, for the message.
        value: The loaded value.
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
        value: The loaded value.

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
        text: The loaded text.
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


def serialize_if_able(obj: object, serializer: AbstractSerializer) -> None:
    """Serializes an object that may have no state, such as a trigger that is a function."""
    serialize = getattr(obj, "serialize", None)
    if serialize is not None:
        serialize(serializer)


def serialize_unsaved(obj: object, serializer: AbstractSerializer) -> None:
    """Serializes a part that files of other releases lack, without a warning where it is missing.

    The trigger inside another object warns that its state is missing. That is right for what all
    releases save. Here it would only tell that the file is from another release.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        serialize_if_able(obj, serializer)


def load_optional(serializer: AbstractSerializer, key: str, value: T) -> T:
    """Serializes a value that files of other releases do not contain.

    Returns:
        The result of the serializer, or ``value`` where the file has no such entry.
    """
    try:
        return serializer(key, value)
    except KeyError:
        return value


def load_or_warn(serializer: AbstractSerializer, key: str, value: T, fallback: T) -> T:
    """Serializes a value; warns where the file does not contain it.

    Returns:
        The result of the serializer, or ``fallback`` where the file has no such entry.
    """
    try:
        return serializer(key, value)
    except KeyError:
        warnings.warn(
            f"the snapshot has no entry {key!r}: the trigger assumes {fallback!r}", stacklevel=3
        )
        return fallback


def serialize_json(serializer: AbstractSerializer, key: str, value: Any) -> Any:
    """Serializes a value as JSON text.

    Args:
        serializer: Serializer or deserializer.
        key: Key of the entry.
        value: A value that :mod:`json` can write.

    Returns:
        The value, or the loaded one.
    """
    if isinstance(serializer, Serializer):
        serializer(key, json.dumps(value))
        return value
    text = serializer(key, "")
    kind = dict if isinstance(value, dict) else list if isinstance(value, list) else object
    return parse_json(key, text, kind) if text else value

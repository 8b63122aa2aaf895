"""Names and methods that Python 3.8 to 3.13 removed from the standard library."""

from __future__ import annotations

import base64
import collections.abc
import inspect
import math
import threading
import time
from collections import namedtuple
from collections.abc import Callable
from typing import Any, TypeVar
from xml.etree import ElementTree

T = TypeVar("T")


def _constant(value: T) -> Callable[[], T]:
    return lambda: value


ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")


def _getargspec(function: Callable[..., Any]) -> ArgSpec:
    """``inspect.getargspec``: names of positional arguments, and their defaults."""
    spec = inspect.getfullargspec(function)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API "
            "which can support them"
        )
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


#: Abstract classes that ``collections`` had until Python 3.10.
_ABSTRACT_CLASSES = [name for name in collections.abc.__all__ if name != "Buffer"]

REMOVED: dict[str, dict[str, Callable[[], Any]]] = {
    "base64": {
        "encodestring": _constant(base64.encodebytes),
        "decodestring": _constant(base64.decodebytes),
    },
    "collections": {name: _constant(getattr(collections.abc, name)) for name in _ABSTRACT_CLASSES},
    "fractions": {"gcd": _constant(math.gcd)},
    "inspect": {"ArgSpec": _constant(ArgSpec), "getargspec": _constant(_getargspec)},
    "time": {"clock": _constant(time.perf_counter)},
}

METHODS: dict[str, list[tuple[Callable[[], type], Callable[..., Any]]]] = {
    "getchildren": [(_constant(ElementTree.Element), list)],
    "isAlive": [(_constant(threading.Thread), threading.Thread.is_alive)],
}

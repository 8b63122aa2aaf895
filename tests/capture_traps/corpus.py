"""Runs traps and compares their values."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Modules of traps, by theme.
THEMES = (
    "values",
    "python_state",
    "surroundings",
    "memory",
    "randomness",
    "signatures",
    "training",
    "settings",
    "control",
)


@dataclass
class Trap:
    """A program that is easy to get wrong.

    Attributes:
        name: Its name.
        theme: What it is about.
        run: Generator function of a framework.
        audit: Whether nothing but a comparison can find it, so that ``capture`` needs ``audit``.
    """

    name: str
    theme: str
    run: Callable[..., Iterator[object]]
    audit: bool = False


_traps: list[Trap] = []


def trap(function=None, *, audit=False):
    """Decorator that adds a trap to the corpus."""

    def add(found):
        theme = found.__module__.rpartition(".")[2]
        _traps.append(Trap(found.__name__, theme, found, audit))
        return found

    return add if function is None else add(function)


def add(theme, name, run, audit=False):
    """Adds a trap that a table describes."""
    _traps.append(Trap(name, theme, run, audit))


def traps():
    """Returns all traps."""
    for theme in THEMES:
        importlib.import_module(f"{__package__}.{theme}")
    return sorted(_traps, key=lambda t: THEMES.index(t.theme))


class NotApplicable(Exception):
    """A framework has nothing that a trap needs."""


def outcome(make, trap):
    """Returns how a framework fares: right, warning, error, silently wrong, or n/a.

    Args:
        make: Returns the framework; called with whether steps are captured.
        trap: The trap.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = _values(make(False), trap)
        except NotApplicable as error:
            return "n/a", str(error)
        except Exception as error:
            return "n/a", f"as written, too: {type(error).__name__}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        framework = make(True)
        try:
            found = _values(framework, trap)
        except NotApplicable as error:
            return "n/a", str(error)
        except Exception as error:
            return "error", f"{type(error).__name__}: {error}".splitlines()[0]
    told = [str(w.message).splitlines()[0] for w in caught if framework.warns(w)]
    if len(expected) == len(found) and all(map(framework.equal, expected, found)):
        return ("warning", told[0]) if told else ("right", "")
    return ("wrong, with a warning", told[0]) if told else ("silently wrong", "")


def _values(framework, trap):
    framework.seed(0)
    return [framework.plain(value) for value in trap.run(framework)]

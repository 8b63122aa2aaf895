"""Warnings about programs that are surely wrong, but that no release of Chainer has refused."""

from __future__ import annotations

import contextlib
import operator
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping

from chainer.core.warnings import MisuseWarning

__all__ = [
    "MisuseWarning",
    "expect_flags",
    "expect_number",
    "ignored",
    "level_outside",
    "looks",
    "similar",
    "warn_once",
]

#: Calls of a kind whose values are looked at. A program that makes a mistake mostly makes it from
#: the start, and over a training this costs nothing.
LOOKS = 8


#: Misuses reported already: pairs of a kind and a name.
_reported: set[tuple[str, str]] = set()

#: Number of calls of each kind whose values were looked at.
_looked: dict[str, int] = {}


def warn_once(kind: str, name: str, message: str, stacklevel: int | None = None) -> None:
    """Warns of a misuse unless that was done before in this process.

    Args:
        kind: Kind of the misuse.
        name: Object of the misuse. For each pair of kind and name there is one warning.
        message: Text of the warning.
        stacklevel: As for :func:`warnings.warn`, from the caller of this function. By default the
            warning is about the line of the program that called Chainer.
    """
    if (kind, name) not in _reported:
        _reported.add((kind, name))
        level = level_outside("chainer") if stacklevel is None else stacklevel + 1
        warnings.warn(message, MisuseWarning, stacklevel=level)


def level_outside(package: str) -> int:
    """Returns the ``stacklevel``, for the caller, of the first frame that is not of a package.

    Args:
        package: Full name of the package that the caller belongs to.
    """
    import inspect  # needed for a warning only

    frame, level = inspect.currentframe(), 0
    while frame is not None and (
        level == 0 or f"{frame.f_globals.get('__name__', '')}.".startswith(f"{package}.")
    ):
        frame, level = frame.f_back, level + 1
    return level


def looks(kind: str) -> bool:
    """Returns whether a call is one of the first of its kind, whose values are looked at.

    Args:
        kind: Kind of the calls.
    """
    count = _looked.get(kind, 0)
    if count >= LOOKS:
        return False
    _looked[kind] = count + 1
    return True


def bounds_text(bounds: Mapping[str, float]) -> str:
    """Returns the bounds of a number in words, such as ``at least 0 and below 1``.

    Args:
        bounds: Some of ``at_least``, ``above``, ``at_most`` and ``below``.
    """
    return " and ".join([f"{name.replace('_', ' ')} {bound}" for name, bound in bounds.items()])


_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "at_least": operator.ge,
    "above": operator.gt,
    "at_most": operator.le,
    "below": operator.lt,
}


def expect_number(name: str, value: object, **bounds: float) -> None:
    """Warns once if an argument is a number outside of its bounds, or NaN.

    Values of other types are not looked at: arrays may be on a device.

    Args:
        name: Name of the argument and of its owner: ``rate of Lasso``.
        value: The argument.
        **bounds: See :func:`bounds_text`.
    """
    if isinstance(value, (int, float)) and not all(
        [_HOLDS[key](value, bound) for key, bound in bounds.items()]
    ):
        text = f"{name} should be {bounds_text(bounds)}, got {value!r}"
        warn_once("number", name, text)


def expect_flags(owner: str, **flags: object) -> None:
    """Warns once if an argument that is true or false is a text: each one but the empty is true.

    Args:
        owner: Name of the class or function.
        **flags: The arguments.
    """
    for name, value in flags.items():
        if isinstance(value, str):
            warn_once(
                "flag",
                f"{owner}.{name}",
                f"{name} of {owner} is the text {value!r}, which is true: write True or False",
            )


@contextlib.contextmanager
def ignored() -> Generator[None, None, None]:
    """Context in which nothing is said: tests of functions do on purpose what programs should not.

    A check of gradients, for example, runs backward through functions that have none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisuseWarning)
        yield


def similar(name: str, known: Iterable[str], cutoff: float = 0.75) -> str | None:
    """Returns the known name that a name is probably a misspelling of; None if there is none.

    Args:
        name: The name.
        known: Names that exist.
        cutoff: Similarity from which on it counts, from 0 to 1.
    """
    import difflib  # its import takes milliseconds and is needed for a warning only

    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)

"""Warnings about programs that are surely wrong, but that no release of Chainer has refused."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Iterable

from chainer.core.warnings import MisuseWarning

__all__ = ["MisuseWarning", "ignored", "similar", "warn_once"]


#: Misuses reported already: pairs of a kind and a name.
_reported: set[tuple[str, str]] = set()


def warn_once(kind: str, name: str, message: str, stacklevel: int = 2) -> None:
    """Warns of a misuse unless that was done before in this process.

    Args:
        kind: Kind of the misuse.
        name: Object of the misuse. For each pair of kind and name there is one warning.
        message: Text of the warning.
        stacklevel: As for :func:`warnings.warn`, from the caller of this function.
    """
    if (kind, name) not in _reported:
        _reported.add((kind, name))
        warnings.warn(message, MisuseWarning, stacklevel=stacklevel + 1)


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

"""Differences between what two releases did with the same random programs of links."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

#: Position of what an outcome tells -> what it is.
_PARTS = ("error", "warnings", "what is said", "state")

#: Relative and absolute tolerance of numbers, which are float32 and rounded to five digits.
TOLERANCES = {"rel_tol": 1e-3, "abs_tol": 1e-3}
#: Absolute tolerance of a list of numbers, as a multiple of the largest: sums of float32 that
#: cancel have errors of a few units in the last place of their terms.
_SHARE_OF_LARGEST = 1e-6


@dataclass(frozen=True)
class Found:
    """The first difference of a program.

    Attributes:
        number: Number of the statement.
        kind: What differs: ``error``, ``warnings``, ``what is said``, ``state`` or ``length``.
        theirs: What is there in release 7.8.1.
        ours: What is here.
        failed: Whether the statement raises an error in both.
    """

    number: int
    kind: str
    theirs: Any
    ours: Any
    failed: bool = False


@dataclass(frozen=True)
class Intended:
    """A group of differences that are intended.

    Attributes:
        name: Words of the page about differences.
        statement: Regular expression that is searched for in the statement.
        kind: Regular expression of the whole kind of difference.
        theirs: Regular expression that is searched for in the outcome of 7.8.1.
        ours: Regular expression that is searched for in the outcome here.
        before: Regular expression that is searched for in the statements before.
        failed: Whether the statement must raise an error in both releases.
    """

    name: str
    statement: str = ""
    kind: str = ".*"
    theirs: str = ""
    ours: str = ""
    before: str = ""
    failed: bool = False

    def covers(self, found: Found, program: list[str]) -> bool:
        """Returns whether a difference of a program belongs to the group."""
        return (
            re.search(self.statement, program[min(found.number, len(program) - 1)]) is not None
            and re.fullmatch(self.kind, found.kind) is not None
            and re.search(self.theirs, str(found.theirs)) is not None
            and re.search(self.ours, str(found.ours)) is not None
            and re.search(self.before, "\n".join(program[: found.number])) is not None
            and (found.failed or not self.failed)
        )


#: Texts of errors that Python or NumPy raise inside of release 7.8.1, where nothing was checked.
_INTERNAL = "|".join(
    (
        "not enough values to unpack",
        "object is not subscriptable",
        "object has no attribute",
        "object does not support",
        "could not broadcast",
        "tuple index out of range",
        "setting an array element",
    )
)

_UNINITIALIZED = "gradients of uninitialized parameters"
_SEVERAL = "links that are in a tree several times"

INTENDED = (
    Intended("children of a ChainList", kind="error", ours="children of a ChainList must be links"),
    Intended("structures that differ", "addgrads|copyparams", "error", "Error", "KeyErr|IndexErr"),
    Intended("structures that differ", "copyparams", "error", "KeyError", "must have the shape"),
    Intended("structures that differ", "copyparams", "error", "None", "layer . of the source"),
    Intended("structures that differ", "copyparams", "error", "None", "source .* has no parameter"),
    Intended("structures that differ", "load", "error", "None", "shape of"),
    Intended("addgrads of a Sequential", "addgrads", "error", "KeyError|TypeError"),
    Intended("addgrads of a Sequential", "addgrads", "error", "None", "Cannot retr|KeyEr|IndexErr"),
    Intended("addgrads of a Sequential", "addgrads", "state", "", "", "Sequential"),
    Intended("errors of type checks", "", "error", _INTERNAL, "InvalidType|ValueErr|Runtime|TypeE"),
    Intended("uninitialized parameters in updates", r"\.update\(\)", "error", "RuntimeError"),
    Intended("partial effects", "update|copyparams|addgrads|load|] = ", "state", failed=True),
    Intended("replaced parameters", "", "state", "raises AttributeError", "False|True"),
    Intended("replaced parameters", "save", "error", "None", "has no attribute 'array'"),
    Intended("replaced parameters", "load", "error", "KeyError", "'Parameter' object has no attr"),
    Intended(
        "dtypes of scalars", "called|backward_of", "state", "float64", "float32", "np.float32"
    ),
    Intended("replaced parameters", "", "error", "has no attribute", "None"),
    Intended("replaced parameters", "copy|repeat", "error", "TypeError", "AttributeE|ValueE"),
    Intended("replaced parameters", "", "error", "None", "cannot reshape", "avg_"),
    Intended("replaced parameters", "call|backward", "state", "^0", "^0", r"avg_\w+ = .*Parameter"),
    Intended(_SEVERAL, "", "state", "^k?[0-9]*/", "^k?[0-9]*/"),
    Intended(_SEVERAL, "", "state", r"^\w+$", "^None$", "copy|repeat|pickled"),
    Intended(_SEVERAL, "copy|repeat|pickled", "state", r"^\w+$", "^None$"),
    Intended(_SEVERAL, "copy|pop|remove|del ", "state", r"^\d$", r"^\d$"),
    Intended(_UNINITIALIZED, "", "state", "^raises RuntimeError", "^None"),
    Intended(_UNINITIALIZED, "", "state", "^raises RuntimeError|^nan", "", r"\.copy\("),
    Intended(_UNINITIALIZED, "", "state", "^nan$", r"^[-\d]", "zerog|clearg"),
    Intended(_UNINITIALIZED, "", "state", r"\[nan", "^None", r"copy\(|pickled"),
    Intended("saved Variables", "save", "error", "cannot be converted into an numpy.ndarray"),
    Intended("weights when a call fails", "", "state", "Variable", "/W", "SpectralN|WeightSt"),
    Intended("states of recurrent links", "add_p.*'[ch]'", "error", "attribute exists"),
    Intended("new weights of LSTM", "copy|repeat", "state", r"^0\.0", "", "LSTM"),
    Intended("lists in files", "load", "state", "int64"),
    Intended("read-only gradients", "zerograds|update", "error", "read-only"),
)


def intended_name(found: Found, program: list[str]) -> str | None:
    """Returns the name of the group that a difference belongs to; None if it is not intended."""
    return next((group.name for group in INTENDED if group.covers(found, program)), None)


def first_difference(theirs: list[Any], ours: list[Any]) -> Found | None:
    """Returns the first difference between the outcomes of a program; None if there is none.

    Args:
        theirs: Outcomes of the statements of a program in release 7.8.1.
        ours: The same in this release. An error must be caught by code that catches the class of
            the error of 7.8.1.
    """
    for number, (a, b) in enumerate(zip(theirs, ours, strict=False)):
        if isinstance(a, str) or isinstance(b, str):
            return None if a == b else Found(number, "length", a, b)
        if (a[0] is None) != (b[0] is None) or (a[0] and a[0][0] not in b[0]):
            return Found(number, "error", a[0], b[0])
        # A statement that fails may have said a part.
        for position in (1, 2, 3) if a[0] is None else (3,):
            if a[position] is None:  # states of the last statement alone are stored
                continue
            pair = unequal_part(a[position], b[position])
            if pair is not None:
                return Found(number, _PARTS[position], *pair, failed=a[0] is not None)
    return None if len(theirs) == len(ours) else Found(len(ours), "length", len(theirs), len(ours))


def unequal_part(theirs: Any, ours: Any, largest: float = 0.0) -> tuple[Any, Any] | None:
    """Returns the innermost parts of two values that differ; None if the values are equal.

    Args:
        theirs: The value of 7.8.1.
        ours: The value here.
        largest: The largest finite number of the array that numbers belong to.
    """
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        numbers = [abs(x) for x in theirs if isinstance(x, float) and math.isfinite(x)]
        largest = max([largest, *numbers])
        for a, b in zip(theirs, ours, strict=True):
            if (found := unequal_part(a, b, largest)) is not None:
                return found
        return None
    if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
        return unequal_part(list(theirs.values()), [ours[key] for key in theirs])
    if isinstance(theirs, float) and isinstance(ours, float):
        absolute = max(TOLERANCES["abs_tol"], _SHARE_OF_LARGEST * largest)
        same = math.isclose(theirs, ours, rel_tol=TOLERANCES["rel_tol"], abs_tol=absolute)
        return None if same or (theirs != theirs and ours != ours) else (theirs, ours)
    return None if theirs == ours else (theirs, ours)

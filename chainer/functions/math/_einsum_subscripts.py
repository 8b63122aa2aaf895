"""Subscripts of einsum: reading them, and what they say about shapes.

Inside, an ellipsis is one character, ``@``, so that each character is a label of axes.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.typing import Shape, VariableLike

#: Labels of axes; integers in sublists are positions in this string.
LETTERS = string.ascii_uppercase + string.ascii_lowercase
ELLIPSIS = "@"


def parse_operands(operands: Sequence[Any]) -> tuple[list[str], str, list[VariableLike]]:
    """Reads the arguments of einsum.

    Args:
        operands: Subscripts and arrays, or arrays and lists of ints in turn.

    Returns:
        tuple: Subscripts of each array, subscripts of the output, and the arrays.

    Raises:
        ValueError: If the subscripts are wrong.
        TypeError: If a list contains other objects than ints and Ellipsis.
    """
    if not operands:
        raise ValueError("No input operands")
    if isinstance(operands[0], str):
        inputs, output = _parse_text(operands[0])
        arrays = list(operands[1:])
    else:
        inputs, output, arrays = _parse_lists(operands)
    if len(inputs) != len(arrays):
        raise ValueError("Number of einsum subscripts must be equal to the number of operands.")
    for subscripts in inputs:
        if subscripts.count(ELLIPSIS) > 1:
            raise ValueError(f"subscripts may have one ellipsis only, got {_shown(subscripts)!r}")
    if output is None:
        output = _implicit_output(inputs)
    _check_output(inputs, output)
    return inputs, output, arrays


def _parse_text(text: str) -> tuple[list[str], str | None]:
    text = text.replace(" ", "")
    for character in text:
        if character not in LETTERS and character not in ".,->":
            raise ValueError(f"Character {character} is not a valid symbol.")
    if ("-" in text or ">" in text) and not (
        text.count("-") == text.count(">") == text.count("->") == 1
    ):
        raise ValueError("Subscripts can only contain one '->'.")
    text = text.replace("...", ELLIPSIS)
    if "." in text:
        raise ValueError("Invalid Ellipses.")
    inputs, arrow, output = text.partition("->")
    if "," in output:
        raise ValueError(
            "invalid subscript ',' in einstein sum subscripts string, subscripts must be letters"
        )
    return inputs.split(","), output if arrow else None


def _parse_lists(operands: Sequence[Any]) -> tuple[list[str], str | None, list[VariableLike]]:
    count = len(operands) // 2
    inputs = [_labels(operands[2 * i + 1]) for i in range(count)]
    # The last list has no array before it: it is the list of the output.
    output = _labels(operands[-1]) if len(operands) % 2 else None
    return inputs, output, [operands[2 * i] for i in range(count)]


def _labels(sublist: Any) -> str:
    labels = ""
    for item in sublist:
        if item is Ellipsis:
            labels += ELLIPSIS
        elif isinstance(item, (int, numpy.integer)):
            if not -len(LETTERS) <= item < len(LETTERS):
                raise ValueError(f"subscripts must be less than {len(LETTERS)}, got {item}")
            labels += LETTERS[item]
        else:
            raise TypeError("For this input type lists must contain either int or Ellipsis")
    return labels


def _implicit_output(inputs: Sequence[str]) -> str:
    """Returns the labels that occur once, sorted, after the ellipsis if there is one."""
    counts = Counter("".join(inputs).replace(ELLIPSIS, ""))
    labels = "".join(sorted(label for label, count in counts.items() if count == 1))
    return ELLIPSIS + labels if any(ELLIPSIS in s for s in inputs) else labels


def _check_output(inputs: Sequence[str], output: str) -> None:
    known = set("".join(inputs))
    for label, count in Counter(output).items():
        if label not in known:
            raise ValueError(f"Output character {_shown(label)} did not appear in the input")
        if count > 1:
            raise ValueError(
                "einstein sum subscripts string includes output subscript "
                f"{_shown(label)!r} multiple times"
            )


def _shown(subscripts: str) -> str:
    return subscripts.replace(ELLIPSIS, "...")


def check_ranks(inputs: Sequence[str], ranks: Sequence[int]) -> None:
    """Checks the numbers of dimensions of the operands.

    Args:
        inputs: Subscripts of each operand.
        ranks: Number of dimensions of each operand.

    Raises:
        ValueError: If there are more or fewer dimensions than subscripts.
    """
    for i, (subscripts, rank) in enumerate(zip(inputs, ranks, strict=True)):
        rest = rank - len(subscripts.replace(ELLIPSIS, ""))
        if rest < 0:
            raise ValueError(
                f"operand {i} has fewer dimensions than subscripts: {rank} and "
                f"{_shown(subscripts)!r}"
            )
        if rest > 0 and ELLIPSIS not in subscripts:
            raise ValueError(
                "operand has more dimensions than subscripts given in einstein sum, but no '...' "
                "ellipsis provided to broadcast the extra dimensions."
            )


def check_sums(inputs: Sequence[str], output: str, ranks: Sequence[int]) -> None:
    """Checks that nothing is summed over the dimensions of an ellipsis.

    Args:
        inputs: Subscripts of each operand.
        output: Subscripts of the output.
        ranks: Number of dimensions of each operand.

    Raises:
        ValueError: If the output has no ellipsis for these dimensions.
    """
    if ELLIPSIS in output:
        return
    for subscripts, rank in zip(inputs, ranks, strict=True):
        if ELLIPSIS in subscripts and rank >= len(subscripts):
            raise ValueError(
                "einsum should not support summing over Ellipsis: subscripts of the output must "
                f"contain '...', got {_shown(output)!r}"
            )


def axes_of(subscripts: str, rank: int) -> dict[str, list[int | slice]]:
    """Returns the axes of each label; the axes of an ellipsis are a slice.

    Args:
        subscripts: Subscripts of an operand.
        rank: Its number of dimensions.
    """
    axes: dict[str, list[int | slice]] = {}
    axis = 0
    for label in subscripts:
        if label == ELLIPSIS:
            width = rank - len(subscripts) + 1
            axes.setdefault(label, []).append(slice(axis, axis + width))
            axis += width
        else:
            axes.setdefault(label, []).append(axis)
            axis += 1
    return axes


def without_ellipsis(subscripts: Sequence[str], shapes: Sequence[Shape]) -> list[str]:
    """Returns subscripts in which unused letters replace an ellipsis.

    Args:
        subscripts: Subscripts of arrays.
        shapes: Shapes of these.
    """
    if not any(ELLIPSIS in s for s in subscripts):
        return list(subscripts)
    width = max(len(shape) - len(s) + 1 for s, shape in zip(subscripts, shapes) if ELLIPSIS in s)
    used = set("".join(subscripts))
    free = [letter for letter in LETTERS if letter not in used]
    if width > len(free):
        raise ValueError(f"einsum has {len(LETTERS)} labels for axes, which are not enough")
    return [s.replace(ELLIPSIS, "".join(free[:width])) for s in subscripts]

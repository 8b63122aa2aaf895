"""Axes whose length is known when the exported model runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from chainer.typing import Array


class Axis(NamedTuple):
    """An axis of an input of the graph.

    Attributes:
        input_name: Name of the input.
        axis: Index of the axis.
        sizes: Its length in the sample, and in the second sample.
    """

    input_name: str
    axis: int
    sizes: tuple[int, int]


#: Factors that multiply the axes of the second sample, one for each name of an axis: the ratio of
#: two lengths then tells which axes they depend on.
FACTORS = (2, 3, 5, 7, 11, 13, 17, 19)


class DynamicAxes:
    """The axes that have a name instead of a length.

    An export with such axes runs the model twice, the second time with longer inputs. A number that
    differs between the runs, such as an element of the shape of a Reshape, depends on them.
    """

    def __init__(self) -> None:
        self.axes: list[Axis] = []

    def source(self, sizes: tuple[int, int]) -> tuple[Axis, int] | None:
        """Finds the axis that a number depends on.

        Args:
            sizes: The number in the first run and in the second run.

        Returns:
            tuple: The axis, and what its length is to be multiplied by; None if there is none.
        """
        first, second = sizes
        found: tuple[Axis, int] | None = None
        for axis in self.axes:
            a, b = axis.sizes
            # The same axis, or a multiple of it in both runs.
            if a and first % a == 0 and first // a * b == second:
                if first == a:
                    return axis, 1
                found = found or (axis, first // a)
        return found


def as_name(length: int | str, sample: int) -> int | str:
    """Returns the name of an axis that gets another length than in the sample.

    Args:
        length: Length or name that the caller gave.
        sample: Length in the sample.
    """
    return length if isinstance(length, str) or length == sample else str(length)


def as_length(name: int | str) -> int | str:
    """Returns the length that :func:`as_name` made a name of; other names as they are.

    Args:
        name: Length or name of an axis.
    """
    return int(name) if isinstance(name, str) and name.isdecimal() else name


def factors_of(shapes: Mapping[Any, Any]) -> dict[str, int]:
    """Returns the factor of each name of an axis.

    Args:
        shapes: Shapes in which axes have names or lengths.

    Raises:
        ValueError: If there are more names than factors.
    """
    names: list[str] = []
    for shape in shapes.values():
        names += [d for d in shape if isinstance(d, str) and d not in names]
    if len(names) > len(FACTORS):
        raise ValueError(f"at most {len(FACTORS)} axes may have names of their own, got {names}")
    return dict(zip(names, FACTORS, strict=False))


def enlarge(array: Array, shape: Any, factors: Mapping[str, int]) -> Any:
    """Returns an array that is longer along the axes with names: its elements repeat there.

    Args:
        array: The array.
        shape: Its shape with names of axes.
        factors: The factor of each name.
    """
    import numpy

    reps = [factors[d] if isinstance(d, str) else 1 for d in shape]
    # Elements repeat, so that what is valid in the sample, such as a label, stays valid.
    return array if math.prod(reps) == 1 else numpy.tile(array, reps)

"""Curves that are drawn again and again while they grow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from chainer.links.loaded_state import check_count

#: A curve has at most twice as many buckets, each with up to two points. An image is some hundred
#: pixels wide, so that more points would not be seen.
_BUCKETS = 500


class _Point(NamedTuple):
    index: int
    x: float
    y: float


class Curve:
    """A sequence of points, of which a limited number is drawn.

    Neighboring points share a bucket, which keeps those with the least and the greatest y, so that
    no peak disappears. When there are too many buckets, each two are merged. So adding a point
    costs the same on average, however many there are.

    Args:
        points: Pairs ``(x, y)`` to begin with.
    """

    def __init__(self, points: Iterable[Sequence[float]] = ()) -> None:
        # Each bucket: the points with the least and the greatest y.
        self._buckets: list[tuple[_Point, _Point]] = []
        self._points_per_bucket = 1
        self._in_last = 0
        self._count = 0
        # The ends of the curve are always drawn, whatever their heights.
        self._ends: list[_Point] = []
        for x, y in points:
            self.add(x, y)

    def add(self, x: float, y: float) -> None:
        """Adds a point at the end."""
        point = _Point(self._count, x, y)
        self._count += 1
        self._ends = [*self._ends[:1], point]
        if self._buckets and self._in_last < self._points_per_bucket:
            self._buckets[-1] = _merge(self._buckets[-1], (point, point))
            self._in_last += 1
            return
        if len(self._buckets) == 2 * _BUCKETS:
            pairs = zip(self._buckets[::2], self._buckets[1::2], strict=True)
            self._buckets = [_merge(one, other) for one, other in pairs]
            self._points_per_bucket *= 2
        self._buckets.append((point, point))
        self._in_last = 1

    @property
    def count(self) -> int:
        """The number of points that were added."""
        return self._count

    def state(self) -> list[Any]:
        """Returns a state for JSON, from which :meth:`of_state` makes the same curve."""
        return [self._points_per_bucket, self._in_last, self._count, self._ends, self._buckets]

    @classmethod
    def of_state(cls, state: Any) -> Curve:
        """Returns the curve of a state.

        Args:
            state: Result of :meth:`state`, after JSON made lists of tuples.

        Raises:
            ValueError: If it is something else.
        """
        curve = cls()
        try:
            counts, ends, buckets = state[:3], state[3], state[4]
            curve._points_per_bucket, curve._in_last, curve._count = map(_count, counts)
            curve._ends = [_Point(*point) for point in ends]
            curve._buckets = [(_Point(*low), _Point(*high)) for low, high in buckets]
            # Raises an error for what is not a number, or not in order.
            curve.points()
        except (TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
            raise ValueError(f"the state of a curve in the file is broken: {error}") from error
        return curve

    def points(self) -> list[tuple[float, float]]:
        """Returns the points to draw, in the order in which they were added."""
        drawn = {point.index: point for bucket in self._buckets for point in bucket}
        drawn.update((point.index, point) for point in self._ends)
        return [(drawn[index].x, drawn[index].y) for index in sorted(drawn)]


def _count(value: Any) -> int:
    return check_count("a count of a curve", value)


def _merge(one: tuple[_Point, _Point], other: tuple[_Point, _Point]) -> tuple[_Point, _Point]:
    low = min(one[0], other[0], key=_height)
    high = max(one[1], other[1], key=_height)
    return low, high


def _height(point: _Point) -> float:
    return point.y

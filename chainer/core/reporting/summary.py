"""Statistics of observed values."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any, Protocol, cast

import numpy

from chainer.core.arrays import backend
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, VariableLike
from chainer.core.utils.repr_texts import call_text, read_or_none
from chainer.core.warnings import MissingStateWarning


def _scalar(value: VariableLike) -> Array:
    """Returns the array of a variable; other values as they are."""
    return value.array if isinstance(value, Variable) else value


def _in_double_precision(value: Array) -> Array:
    """Returns a scalar in host memory as a float, and other arrays as float64 arrays."""
    owner = backend.find_backend(cast("type[Any]", type(value)))
    on_host = owner is None or owner.family == backend.HOST_FAMILY
    if on_host and not getattr(value, "ndim", 0):
        return float(value)
    return value.astype(numpy.float64)


class _Serializer(Protocol):
    """The two operations of a serializer: on a value, and on a group of values."""

    def __call__(self, key: str, value: Any) -> Any: ...

    def __getitem__(self, key: str) -> _Serializer: ...


class Summary:
    """Online summarization of a sequence of scalars.

    Summary computes the statistics of given scalars online. Sums are kept where the values are:
    values on an accelerator are accumulated there, without waiting for the device.

    .. admonition:: Example

        >>> from chainer.reporter import Summary
        >>> summary = Summary()
        >>> for value in (1., 2., 6.):
        ...     summary.add(value)
        >>> float(summary.compute_mean())
        3.0
    """

    def __init__(self) -> None:
        self._x: Any = 0.0
        self._x2: Any = 0.0
        self._n: Any = 0
        # Whether only Python numbers were added. Then the mean is a Python number as well: NumPy 2
        # would print the type of its numbers.
        self._plain = True

    def add(self, value: VariableLike, weight: VariableLike = 1) -> None:
        """Adds a scalar value.

        Args:
            value: Scalar value to accumulate. It is either a NumPy scalar or a zero-dimensional
                array (on CPU or GPU). For arrays of other shapes, the mean is computed separately
                for each element.
            weight: Weight of the value: how many times it counts.
        """
        value = _scalar(value)
        self._plain = (
            self._plain
            and isinstance(value, (int, float, bool))
            and not isinstance(value, numpy.generic)
        )
        if not isinstance(weight, (int, float)):
            self._plain = False
            weight = _in_double_precision(_scalar(weight))
        with backend.get_device_from_array(value):
            # In single precision, the sum of a long epoch would lose the digits of small values.
            value = _in_double_precision(value)
            self._x = self._x + weight * value
            self._x2 = self._x2 + weight * value * value
        self._n += weight

    def __repr__(self) -> str:
        mean = read_or_none(lambda: float(self.compute_mean()))
        return call_text(self, [("n", self._n), ("mean", mean)])

    def compute_mean(self) -> Any:
        """Computes the mean.

        Returns:
            The mean in double precision (on the device of the values); a Python number if only
            Python numbers were added.

        Raises:
            ZeroDivisionError: If nothing was added.
        """
        if not self._n:
            raise ZeroDivisionError("mean of a Summary to which nothing was added")
        with backend.get_device_from_array(self._x):
            mean = self._x / self._n
        return numpy.float64(mean) if isinstance(mean, float) and not self._plain else mean

    def make_statistics(self) -> tuple[Any, Any]:
        """Computes and returns the mean and standard deviation values.

        Returns:
            tuple: Mean and (population) standard deviation values.

        Raises:
            ZeroDivisionError: If nothing was added.
        """
        mean = self.compute_mean()
        # Rounding may take the difference slightly below zero.
        with backend.get_device_from_array(mean):
            variance = abs(self._x2 / self._n - mean * mean)
            return mean, backend.get_array_module(variance).sqrt(variance)

    def serialize(self, serializer: _Serializer) -> None:
        """Serializes the sums.

        A file without them gives a UserWarning and leaves the sums as they are.

        Args:
            serializer: Serializer or deserializer.
        """
        try:
            x = serializer("_x", self._x)
            x2 = serializer("_x2", self._x2)
            try:
                n = serializer("_n", self._n)
            except TypeError:  # a sum of fractional weights cannot be loaded into an integer
                n = serializer("_n", float(self._n))
        except KeyError:
            # A snapshot of a release whose summaries saved nothing.
            warnings.warn(
                "The previous statistics are not saved.", MissingStateWarning, stacklevel=2
            )
            return
        self._x, self._x2, self._n = x, x2, n
        self._plain = False


class DictSummary:
    """Online summarization of a sequence of dictionaries.

    ``DictSummary`` computes the statistics of a given set of scalars online. It only computes the
    statistics for scalar values and variables of scalar values in the dictionaries.

    .. admonition:: Example

        >>> from chainer.reporter import DictSummary
        >>> summary = DictSummary()
        >>> summary.add({'loss': 1., 'name': 'first'})
        >>> summary.add({'loss': 3.})
        >>> {key: float(value) for key, value in summary.compute_mean().items()}
        {'loss': 2.0}
    """

    def __init__(self) -> None:
        self._summaries: dict[str, Summary] = {}

    def __repr__(self) -> str:
        return call_text(self, self._summaries.items())

    def add(self, d: Mapping[str, Any]) -> None:
        """Adds a dictionary of scalars.

        Args:
            d (dict): Dictionary of scalars to accumulate. Only elements of scalars,
                zero-dimensional arrays, and variables of zero-dimensional arrays are accumulated. A
                pair ``(value, weight)`` accumulates a weighted value.

        Raises:
            ValueError: If a weight is not a scalar.
        """
        for key, value in d.items():
            value, weight = _split_weight(value)
            # If the value were left out, the mean would be wrong without any warning.
            if not _is_scalar(weight):
                raise ValueError(f"the weight of {key!r} must be a scalar, got {weight!r}")
            value = _scalar(value)
            if _is_scalar(value):
                summary = self._summaries.get(key)
                if summary is None:
                    summary = self._summaries[key] = Summary()
                summary.add(value, weight)

    def compute_mean(self) -> dict[str, Any]:
        """Creates a dictionary of mean values.

        It returns a single dictionary that holds a mean value for each entry added to the summary.

        Returns:
            dict: Dictionary of mean values.
        """
        return {key: summary.compute_mean() for key, summary in self._summaries.items()}

    def make_statistics(self) -> dict[str, Any]:
        """Creates a dictionary of statistics.

        It returns a single dictionary that holds mean and standard deviation values for every entry
        added to the summary. For an entry of name ``'key'``, these values are added to the
        dictionary by names ``'key'`` and ``'key.std'``, respectively.

        Returns:
            dict: Dictionary of statistics of all entries.
        """
        statistics: dict[str, Any] = {}
        for key, summary in self._summaries.items():
            statistics[key], statistics[key + ".std"] = summary.make_statistics()
        return statistics

    def serialize(self, serializer: _Serializer) -> None:
        """Serializes the summaries of all entries.

        A file without them gives a UserWarning; then the summary is empty.

        Args:
            serializer: Serializer or deserializer.
        """
        names: list[str] = []
        try:
            names: list[str] = json.loads(serializer("_names", json.dumps(list(self._summaries))))
        except KeyError:
            # A snapshot of a release whose summaries saved nothing.
            warnings.warn(
                "The names of statistics are not saved.", MissingStateWarning, stacklevel=2
            )
        # A serializer returns the same names; a deserializer returns the names in the file.
        self._summaries = {name: self._summaries.get(name) or Summary() for name in names}
        for index, name in enumerate(names):
            self._summaries[name].serialize(serializer["_summaries"][str(index)])


def to_float(value: VariableLike) -> float:
    """Returns an observed value as a float.

    Args:
        value: Scalar, NumPy scalar, or Variable or array of any backend without dimensions.
    """
    array: Array = value.array if isinstance(value, Variable) else value
    return float(backend.backend_of(array).to_host(array) if backend.is_array(array) else array)


def _split_weight(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple):
        return value, 1
    pair = cast("tuple[Any, ...]", value)
    # Elements after the weight have no meaning.
    return (pair[0], _scalar(pair[1])) if len(pair) >= 2 else (pair, 1)


def _is_scalar(value: object) -> bool:
    if isinstance(value, (bool, int, float, numpy.number, numpy.bool_)):
        return True
    return getattr(value, "shape", None) == () and backend.is_array(value)

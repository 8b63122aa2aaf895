"""Collecting the values that users want to watch."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, cast

import numpy

from chainer.core import backend
from chainer.core.configuration import config
from chainer.core.variable import Variable


class _Local(threading.local):
    """The reporters that are current in a thread, innermost last."""

    def __init__(self) -> None:
        self.reporters: list[Reporter] = []


_local = _Local()


class Reporter:
    """Object to which observed values are reported.

    Reporter is used to collect values that users want to watch. The reporter object holds a mapping
    from value names to the actually observed values. We call this mapping *observations*.

    When a value is passed to the reporter, an object called *observer* can be optionally attached.
    In this case, the name of the observer is added as the prefix of the value name. The observer
    name should be registered beforehand.

    See the following example:

    >>> from chainer import Reporter, report, report_scope
    >>>
    >>> reporter = Reporter()
    >>> observer = object()  # it can be an arbitrary (reference) object
    >>> reporter.add_observer('my_observer', observer)
    >>> observation = {}
    >>> with reporter.scope(observation):
    ...     reporter.report({'x': 1}, observer)
    ...
    >>> observation
    {'my_observer/x': 1}

    There are also a global API to add values:

    >>> observation = {}
    >>> with reporter:
    ...     with report_scope(observation):
    ...         report({'x': 1}, observer)
    ...
    >>> observation
    {'my_observer/x': 1}

    The most important application of Reporter is to report observed values from each link or chain
    in the training and validation procedures. :class:`~chainer.training.Trainer` and some
    extensions prepare their own Reporter object with the hierarchy of the target link registered as
    observers. We can use :func:`report` inside any links and chains to report the observed values
    (e.g., training loss, accuracy, activation statistics, etc.).

    Attributes:
        observation (dict): Dictionary of observed values.
    """

    def __init__(self) -> None:
        self._observer_names: dict[int, str] = {}
        # An id means nothing once its object is gone, so observers are kept alive.
        self._observers: dict[int, Any] = {}
        self.observation: dict[str, Any] = {}

    def __enter__(self) -> Reporter:
        """Makes this reporter object current."""
        _local.reporters.append(self)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Recovers the previous reporter object to the current."""
        _local.reporters.pop()

    def __copy__(self) -> Reporter:
        other = Reporter()
        other._observer_names = self._observer_names.copy()
        other._observers = self._observers.copy()
        other.observation = self.observation
        return other

    @contextmanager
    def scope(self, observation: dict[str, Any]) -> Generator[None, None, None]:
        """Creates a scope to report observed values to ``observation``.

        This is a context manager to be passed to ``with`` statements. In this scope, the
        observation dictionary is changed to the given one. It also makes this reporter object
        current.

        Args:
            observation (dict): Observation dictionary. All observations reported inside of the
                ``with`` statement are written to this dictionary.
        """
        with self, self._writing_to(observation):
            yield

    @contextmanager
    def _writing_to(self, observation: dict[str, Any]) -> Generator[None, None, None]:
        previous = self.observation
        self.observation = observation
        try:
            yield
        finally:
            self.observation = previous

    def add_observer(self, name: str, observer: Any) -> None:
        """Registers an observer of values.

        Observer defines a scope of names for observed values. Values observed with the observer are
        registered with names prefixed by the observer name.

        Args:
            name (str): Name of the observer.
            observer: The observer object. Note that the reporter distinguishes the observers by
                their object ids (i.e., ``id(observer)``), rather than the object equality.
        """
        self._observer_names[id(observer)] = name
        self._observers[id(observer)] = observer

    def add_observers(self, prefix: str, observers: Iterable[tuple[str, Any]]) -> None:
        """Registers multiple observers at once.

        Args:
            prefix (str): Prefix of each name of observers.
            observers: Iterator of name and observer pairs, such as ``model.namedlinks()``.
        """
        for name, observer in observers:
            self.add_observer(prefix + name, observer)

    def report(self, values: Mapping[str, Any], observer: Any = None) -> None:
        """Reports observed values.

        The values are written with the key, prefixed by the name of the observer object if given.

        .. note::
            If a value is a :class:`~chainer.Variable`, the variable is copied without preserving
            the computational graph and the new variable object purged from the graph is stored to
            the observer. This behavior can be changed by setting
            ``chainer.config.keep_graph_on_report`` to True.

        Args:
            values (dict): Dictionary of observed values.
            observer: Observer object. Its object ID is used to retrieve the observer name, which is
                used as the prefix of the registration name of the observed value.

        Raises:
            KeyError: If the observer was not registered.
        """
        if not config.keep_graph_on_report:
            values = {
                key: _without_graph(value) if isinstance(value, Variable) else value
                for key, value in values.items()
            }
        if observer is None:
            self.observation.update(values)
            return
        name = self._observer_names.get(id(observer))
        if name is None:
            raise KeyError(
                f"observer {observer!r} of the values {list(values)} is not registered with the "
                "reporter; register it with add_observer(), or report without an observer"
            )
        for key, value in values.items():
            self.observation[f"{name}/{key}"] = value


def get_current_reporter() -> Reporter:
    """Returns the current reporter object.

    Raises:
        IndexError: If no reporter is current.
    """
    if not _local.reporters:
        raise IndexError(
            "no reporter is current; enter one by 'with reporter:' or 'with reporter.scope(...):'"
        )
    return _local.reporters[-1]


def report(values: Mapping[str, Any], observer: Any = None) -> None:
    """Reports observed values with the current reporter object.

    Any reporter object can be set current by the ``with`` statement. This function calls the
    :meth:`Reporter.report` method of the current reporter. If no reporter object is current, this
    function does nothing.

    .. admonition:: Example

        The most typical example is a use within links and chains. Suppose that a link is registered
        to the current reporter as an observer (for example, the target link of the optimizer is
        automatically registered to the reporter of the :class:`~chainer.training.Trainer`). We can
        report some values from the link as follows::

            class MyRegressor(chainer.Chain):
                def __init__(self, predictor):
                    super().__init__()
                    with self.init_scope():
                        self.predictor = predictor

                def __call__(self, x, y):
                    # This chain just computes the mean absolute and squared
                    # errors between the prediction and y.
                    pred = self.predictor(x)
                    abs_error = F.sum(F.absolute(pred - y)) / len(x)
                    loss = F.mean_squared_error(pred, y)

                    # Report the mean absolute and squared errors.
                    chainer.report({'abs_error': abs_error, 'squared_error': loss}, self)

                    return loss

        If the link is named ``'main'`` in the hierarchy (which is the default name of the target
        link in the :class:`~chainer.training.updaters.StandardUpdater`), these reported values are
        named ``'main/abs_error'`` and ``'main/squared_error'``. If these values are reported inside
        the :class:`~chainer.training.extensions.Evaluator` extension, ``'validation/'`` is added at
        the head of the link name, thus the item names are changed to
        ``'validation/main/abs_error'`` and ``'validation/main/squared_error'`` (``'validation'`` is
        the default name of the Evaluator extension).

    Args:
        values (dict): Dictionary of observed values.
        observer: Observer object. Its object ID is used to retrieve the observer name, which is
            used as the prefix of the registration name of the observed value.
    """
    reporters = _local.reporters
    if reporters:
        reporters[-1].report(values, observer)


@contextmanager
def report_scope(observation: dict[str, Any]) -> Generator[None, None, None]:
    """Returns a report scope with the current reporter.

    This is equivalent to ``get_current_reporter().scope(observation)``, except that it does not
    make the reporter current redundantly.

    Args:
        observation (dict): Observation dictionary that values are written to within the scope.

    Raises:
        IndexError: If no reporter is current.
    """
    reporter = get_current_reporter()
    with reporter._writing_to(observation):  # pyright: ignore[reportPrivateUsage]
        yield


def _without_graph(variable: Variable) -> Variable:
    return Variable(variable.array, name=variable.name, requires_grad=variable.requires_grad)


def _scalar(value: Any) -> Any:
    """Returns the array of a variable; other values as they are."""
    return value.array if isinstance(value, Variable) else value


def _in_double_precision(value: Any) -> Any:
    """Returns a host scalar as a float, an array elsewhere as a float64 array."""
    owner = backend.find_backend(cast("type[Any]", type(value)))
    if owner is None or owner.family == backend.HOST_FAMILY:
        return float(value)
    return value.astype(numpy.float64)


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

    def add(self, value: Any, weight: float = 1) -> None:
        """Adds a scalar value.

        Args:
            value: Scalar value to accumulate. It is either a NumPy scalar or a zero-dimensional
                array (on CPU or GPU).
            weight: Weight of the value: how many times it counts.
        """
        value = _in_double_precision(_scalar(value))
        self._x = self._x + weight * value
        self._x2 = self._x2 + weight * value * value
        self._n += weight

    def compute_mean(self) -> Any:
        """Computes the mean.

        Returns:
            The mean in double precision (on the device of the values).

        Raises:
            ZeroDivisionError: If nothing was added.
        """
        if not self._n:
            raise ZeroDivisionError("mean of a Summary to which nothing was added")
        mean = self._x / self._n
        return numpy.float64(mean) if isinstance(mean, float) else mean

    def make_statistics(self) -> tuple[Any, Any]:
        """Computes and returns the mean and standard deviation values.

        Returns:
            tuple: Mean and (population) standard deviation values.

        Raises:
            ZeroDivisionError: If nothing was added.
        """
        mean = self.compute_mean()
        # Rounding may take the difference slightly below zero.
        variance = abs(self._x2 / self._n - mean * mean)
        return mean, backend.get_array_module(variance).sqrt(variance)

    def serialize(self, serializer: Any) -> None:
        """Serializes the sums.

        Args:
            serializer: Serializer or deserializer.
        """
        self._x = serializer("_x", self._x)
        self._x2 = serializer("_x2", self._x2)
        try:
            self._n = serializer("_n", self._n)
        except TypeError:  # a sum of weights that are no integers does not load into an integer
            self._n = serializer("_n", float(self._n))


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

    def add(self, d: Mapping[str, Any]) -> None:
        """Adds a dictionary of scalars.

        Args:
            d (dict): Dictionary of scalars to accumulate. Only elements of scalars,
                zero-dimensional arrays, and variables of zero-dimensional arrays are accumulated. A
                pair ``(value, weight)`` accumulates a weighted value.
        """
        for key, value in d.items():
            value, weight = _split_weight(value)
            value = _scalar(value)
            if _is_scalar(value) and _is_scalar(weight):
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

    def serialize(self, serializer: Any) -> None:
        """Serializes the summaries of all entries.

        Args:
            serializer: Serializer or deserializer.
        """
        names = json.loads(serializer("_names", json.dumps(list(self._summaries))))
        # A serializer returns the names it was given; a deserializer those of the file.
        self._summaries = {name: self._summaries.get(name) or Summary() for name in names}
        for index, name in enumerate(names):
            self._summaries[name].serialize(serializer["_summaries"][str(index)])


def _split_weight(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple):
        return value, 1
    pair = cast("tuple[Any, ...]", value)
    return (pair[0], _scalar(pair[1])) if len(pair) == 2 else (pair, 1)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, (bool, int, float, numpy.number, numpy.bool_)):
        return True
    return getattr(value, "shape", None) == () and backend.is_array(value)

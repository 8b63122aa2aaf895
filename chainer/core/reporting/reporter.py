"""Collecting the values that users want to watch."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any

from chainer.core.arguments import require_attribute
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.reporting.summary import DictSummary, Summary
from chainer.core.safe_exit import safe_exit
from chainer.core.task_local import TaskLocal
from chainer.core.utils.repr_texts import Plain, call_text

__all__ = [
    "DictSummary",
    "Reporter",
    "Summary",
    "get_current_reporter",
    "report",
    "report_scope",
]


#: The reporters that are current, innermost last. Tasks that take turns report to their own.
_current: TaskLocal[tuple[Reporter, ...]] = TaskLocal("chainer reporters", ())


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

    There is also a global API to add values:

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
        # Keeps observers alive: otherwise another object could get the id of a deleted observer.
        self._observers: dict[int, Any] = {}
        self.observation: dict[str, Any] = {}

    def __repr__(self) -> str:
        observers = Plain(f"[{', '.join(self._observer_names.values())}]")
        values = Plain(f"[{', '.join(self.observation)}]")
        return call_text(self, [("observers", observers), ("observation", values)])

    def __enter__(self) -> Reporter:
        """Makes this reporter object current."""
        _current.set((*_current.get(), self))
        return self

    def _depth(self) -> int:
        return len(_current.get())

    @safe_exit
    def __exit__(self, *_: object) -> None:
        """Recovers the previous reporter object to the current."""
        _current.set(_current.get()[:-1])

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
        # Scopes may be nested: an evaluator reports into its own dictionary during the training.
        previous = self.observation
        self.observation = observation
        try:
            yield
        finally:
            self.observation = previous

    def add_observer(self, name: str, observer: object) -> None:
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

    def add_observers(self, prefix: str, observers: Iterable[tuple[str, object]]) -> None:
        """Registers multiple observers at once.

        Args:
            prefix (str): Prefix of each name of observers.
            observers: Iterator of name and observer pairs, such as ``model.namedlinks()``.
        """
        for name, observer in observers:
            self.add_observer(prefix + name, observer)

    def report(self, values: Mapping[str, Any], observer: object = None) -> None:
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
        require_attribute("values", values, "items", "a dict of names and values")
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
                "Given observer is not registered to the reporter. It is "
                f"{observer!r}, of the values {list(values)}; register it with add_observer(), "
                "or report without an observer"
            )
        for key, value in values.items():
            self.observation[f"{name}/{key}"] = value


def get_current_reporter() -> Reporter:
    """Returns the current reporter object.

    Raises:
        IndexError: If no reporter is current.

    Example:
        >>> reporter = chainer.Reporter()
        >>> with reporter:
        ...     print(chainer.get_current_reporter() is reporter)
        True
    """
    reporters = _current.get()
    if not reporters:
        raise IndexError(
            "no reporter is current; enter one by 'with reporter:' or 'with reporter.scope(...):'"
        )
    return reporters[-1]


def report(values: Mapping[str, Any], observer: object = None) -> None:
    """Reports observed values with the current reporter object.

    Any reporter object can be set current by the ``with`` statement. This function calls the
    :meth:`Reporter.report` method of the current reporter. If no reporter object is current, this
    function does nothing, whatever its arguments are.

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

    Example:
        >>> reporter = chainer.Reporter()
        >>> with reporter.scope({}):
        ...     chainer.report({"loss": 0.5})
        ...     print(reporter.observation)
        ...
        {'loss': 0.5}
    """
    # Without a reporter nothing is looked at, as in all releases: models run without trainers, too.
    reporters = _current.get()
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

    Example:
        >>> observation = {}
        >>> with chainer.Reporter():
        ...     with chainer.report_scope(observation):
        ...         chainer.report({"loss": 0.5})
        >>> observation
        {'loss': 0.5}
    """
    reporter = get_current_reporter()
    with reporter._writing_to(observation):  # pyright: ignore[reportPrivateUsage]
        yield


def _without_graph(variable: Variable) -> Variable:
    # Otherwise a reported loss would keep its whole graph and all arrays alive until the next
    # report.
    return Variable(variable.array, name=variable.name, requires_grad=variable.requires_grad)

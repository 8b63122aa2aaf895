"""Statistics of parameters and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from chainer.core.arrays.backend import (
    backend_of,
    get_array_module,
    get_device_from_array,
    is_array,
)
from chainer.core.reporting.reporter import DictSummary, report
from chainer.links.link import Link
from chainer.links.loaded_state import serialize_unsaved
from chainer.training.extension import PRIORITY_WRITER, Extension
from chainer.training.trigger import get_trigger

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.trigger import TriggerLike

#: Percentiles at -3, -2, -1, 0, 1, 2 and 3 standard deviations of a normal distribution.
_PERCENTILES = (0.13, 2.28, 15.87, 50.0, 84.13, 97.72, 99.87)

Statistic = Callable[[Any], Any]


def _percentile(x: Any) -> Any:
    return get_array_module(x).percentile(x, _PERCENTILES)


class ParameterStatistics(Extension):
    """Trainer extension to report parameter statistics.

    Statistics are collected at every iteration for the given links, and their means over an
    interval are reported. If a link contains child links, the statistics are reported separately
    for each parameter.

    Any function that takes a one-dimensional array and outputs a single or multiple real numbers
    can be registered to handle the collection of statistics, e.g. :meth:`numpy.ndarray.mean`.

    The keys of reported statistics follow the convention of link name followed by parameter name,
    attribute name and function name, e.g. ``VGG16Layers/conv1_1/W/data/mean``. They are prepended
    with an optional prefix and appended with integer indices if the statistics generating function
    returns multiple values.

    Args:
        links (Link or iterable of Link): Link(s) containing the parameters to observe. The link is
            expected to have a ``name`` attribute which is used as a part of the report key.
        statistics (dict): Dictionary with function name to function mappings. The name is a string
            and is used as a part of the report key. The function is responsible for generating the
            statistics. ``'default'`` means :attr:`default_statistics`, None no statistics.
        report_params (bool): If True, report statistics for parameter values such as weights and
            biases.
        report_grads (bool): If True, report statistics for parameter gradients.
        prefix (str): Optional prefix to prepend to the report keys.
        trigger: Trigger that decides when to aggregate the results and report the values.
        skip_nan_params (bool): If True, statistics are not computed for parameters including NaNs
            and a single NaN value is immediately reported instead. Otherwise, this extension will
            simply try to compute the statistics without performing any checks for NaNs.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.ParameterStatistics(model, {"mean": np.mean}))
        >>> trainer.run()
        >>> sorted(key for key in trainer.observation if "mean" in key)[0]
        'None/predictor/W/data/mean'
    """

    default_name = "parameter_statistics"  # pyright: ignore[reportAssignmentType]
    priority = PRIORITY_WRITER
    report_key_template = "{prefix}{link_name}{param_name}/{attr_name}/{function_name}"
    default_statistics: ClassVar[dict[str, Statistic]] = {
        "mean": lambda x: x.mean(),
        "std": lambda x: x.std(),
        "min": lambda x: x.min(),
        "max": lambda x: x.max(),
        "zeros": lambda x: (x == 0).sum(),
        "percentile": _percentile,
    }

    def __init__(
        self,
        links: Link | Iterable[Link],
        statistics: dict[str, Statistic] | str | None = default_statistics,
        report_params: bool = True,
        report_grads: bool = True,
        prefix: str | None = None,
        trigger: TriggerLike = (1, "epoch"),
        skip_nan_params: bool = False,
    ) -> None:
        if not isinstance(links, (Link, Iterable)):
            raise TypeError(f"links must be a link or an iterable of links, got {links!r}")
        self._links = [links] if isinstance(links, Link) else list(links)
        for link in self._links:
            if not isinstance(link, Link):
                raise TypeError(f"links must hold links, got {link!r}")
        if statistics == "default":
            statistics = self.default_statistics
        if isinstance(statistics, str):
            raise ValueError(f"statistics must be a dictionary or 'default', got {statistics!r}")
        self._statistics: dict[str, Statistic] = dict(statistics or {})
        self._attributes = [
            name for name, wanted in (("data", report_params), ("grad", report_grads)) if wanted
        ]
        self._prefix = prefix
        self._trigger = get_trigger(trigger)
        self._skip_nan_params = skip_nan_params
        self._summary = DictSummary()

    def __call__(self, trainer: Trainer) -> None:
        """Adds the statistics of this iteration, and reports the means when the interval is over.

        Args:
            trainer (Trainer): Associated trainer that invoked this extension.
        """
        values: dict[str, Any] = {}
        for link in self._links:
            for param_name, param in link.namedparams(include_uninit=False):
                for attribute in self._attributes:
                    array = getattr(param, attribute)
                    if array is None:
                        continue
                    with get_device_from_array(array):
                        measured = list(self._measure(array.ravel()))
                    for function_name, value in measured:
                        key = self.report_key_template.format(
                            prefix="" if self._prefix is None else self._prefix + "/",
                            link_name=link.name,
                            param_name=param_name,
                            attr_name=attribute,
                            function_name=function_name,
                        )
                        values[key] = value
        self._summary.add(values)
        if self._trigger(trainer):
            report(self._summary.compute_mean())
            self._summary = DictSummary()

    def _measure(self, flat: Any) -> Iterator[tuple[str, Any]]:
        xp = backend_of(flat).xp
        broken = self._skip_nan_params and bool(xp.isnan(flat).any())
        for name, function in self._statistics.items():
            value: Any = float("nan") if broken else function(flat)
            if is_array(value) and value.size != 1:
                for index, item in enumerate(value.ravel()):
                    yield f"{name}/{index}", item
            elif isinstance(value, (list, tuple)):
                for index, item in enumerate(value):
                    yield f"{name}/{index}", item
            else:
                yield name, value.reshape(()) if is_array(value) else value

    def register_statistics(self, name: str, function: Statistic) -> None:
        """Register a function to compute a certain statistic.

        The registered function will be called each time the extension runs and the results will be
        included in the report.

        Args:
            name (str): Name of the statistic.
            function: Function to generate the statistic. Any function that takes a one-dimensional
                array and outputs a single or multiple real numbers is allowed.
        """
        self._statistics[name] = function

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the trigger and what was accumulated.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        # Other releases do not save the state of this trigger.
        serialize_unsaved(self._trigger, serializer["_trigger"])
        # Other releases do not save it.
        serialize_unsaved(self._summary, serializer["_summary"])

"""Plots of reported values."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from chainer.core.reporting.reported_keys import ReportedKeys
from chainer.core.utils.argument import renamed_argument
from chainer.links.loaded_state import load_optional, parse_json
from chainer.links.serializer import Serializer
from chainer.training.extension import Extension
from chainer.training.extensions import plotting
from chainer.training.extensions.accumulator import Accumulator, HasAccumulator
from chainer.training.extensions.logs.curve import Curve
from chainer.training.extensions.logs.encoded_list import ENTRIES_IN_SNAPSHOT, EncodedList

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.trigger import TriggerLike


#: Keys of x that need not be observed.
_COUNTS = ("iteration", "epoch", "elapsed_time")


#: Whether matplotlib can be imported. Programs read it to skip plots, tests replace it.
_available: bool = plotting.is_available()


class PlotReport(HasAccumulator, Extension):
    """Trainer extension to output plots.

    It accumulates the observations of the trainer over an interval, and plots the means of some of
    them against the iteration, the epoch, the time or the mean of another value.

    There are two triggers to handle this extension. The trigger of the extension itself,
    ``(1, 'iteration')`` by default, determines when values are accumulated. The argument
    ``trigger`` determines when a point is added to the plot and the file written.

    A curve of more than a thousand points is drawn with fewer, which look the same: the cost of a
    plot does not grow with the length of the training.

    A snapshot of the trainer contains all points of a curve up to 10,000. Of a longer one it
    contains the thousand or two that are drawn, so that the plot of a resumed training is the same:
    a snapshot does not get slower with the length of the training. See
    :attr:`entries_in_snapshot`. The values themselves are in the log of
    :class:`~chainer.training.extensions.LogReport`.

    Figures are drawn by matplotlib (``pip install "chainer[plot]"``) without its global state: the
    backend that the program or the environment has chosen does not matter and does not change.
    Without matplotlib there are a warning and no plots, see :meth:`available`.

    Args:
        y_keys (iterable of strs): Keys of values regarded as y. If this is None, nothing is output
            to the graph.
        x_key (str): Key of values regarded as x: ``'iteration'``, ``'epoch'``, ``'elapsed_time'``
            or the key of an observation. The default value is ``'iteration'``.
        trigger: Trigger that decides when to aggregate the result and output the values. A pair
            such as ``(1, 'epoch')`` is passed to
            :class:`~chainer.training.triggers.IntervalTrigger`.
        postprocess: Callback to postprocess the plot. Figure object, Axes object, and all plot data
            are passed to this callback in this order. This callback can modify the figure. The data
            are a dictionary of lists of points ``[x, y]``; after a training was resumed from a
            snapshot with longer curves, those that were drawn and the ones after them.
        filename (str): Name of the figure file under the output directory, ``'plot.png'`` by
            default. It can be a format string, to which the last values, ``epoch`` and
            ``iteration`` are passed. Release 4 calls this argument ``file_name``, which works as a
            keyword.
        marker (str): The marker used to plot the graph. Default is ``'x'``. If ``None`` is given,
            it draws with no markers.
        grid (bool): Set the axis grid on if True. Default is True.

    Attributes:
        entries_in_snapshot (int): Number of points of a curve up to which a snapshot contains all
            of them; None for any number. 10,000 by default.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.PlotReport(["main/loss"], "epoch", filename="loss.png"))
        >>> trainer.run()
        >>> import os
        >>> os.path.exists("result/loss.png")
        True
    """

    entries_in_snapshot: int | None = ENTRIES_IN_SNAPSHOT

    def __init__(
        self,
        y_keys: Iterable[str] | str | None,
        x_key: str = "iteration",
        trigger: TriggerLike = (1, "epoch"),
        postprocess: Callable[[Any, Any, Any], Any] | None = None,
        filename: str | None = None,
        marker: str | None = "x",
        grid: bool = True,
        **kwargs: Any,
    ) -> None:
        name = renamed_argument("PlotReport", filename, None, "file_name", kwargs)
        self._filename = name or "plot.png"
        if y_keys is not None and not isinstance(y_keys, Iterable):
            raise TypeError(f"y_keys must be an iterable of strings or None, got {y_keys!r}")
        self.available()
        self._x_key = x_key
        self._y_keys = [y_keys] if isinstance(y_keys, str) else list(y_keys or ())
        self._keys = ReportedKeys("PlotReport", self._y_keys)
        keys = self._y_keys if x_key in _COUNTS else {x_key: None, **dict.fromkeys(self._y_keys)}
        self._accumulator = Accumulator(trigger, keys)
        self._postprocess = postprocess
        self._marker = marker
        self._grid = grid
        self._data: dict[str, list[list[float]]] = {key: [] for key in self._y_keys}
        self._curves = {key: Curve() for key in self._y_keys}
        self._encoded = {key: EncodedList() for key in self._y_keys}

    @property
    def _file_name(self) -> str:
        # Name of release 7, for subclasses in programs.
        return self._filename

    @_file_name.setter
    def _file_name(self, value: str) -> None:
        self._filename = value

    @staticmethod
    def available() -> bool:
        """Tells whether matplotlib is installed; warns when it is not."""
        if not _available:
            plotting.warn_missing()
        return _available

    def __call__(self, trainer: Trainer) -> None:
        """Accumulates the present observation, and plots when the interval is over.

        Args:
            trainer (Trainer): Trainer object that calls this operator.

        Raises:
            KeyError: If the value regarded as x was not reported in the interval.
        """
        if not self._y_keys:
            return
        means = self._accumulator.add(trainer)
        if means is None:
            return
        updater = trainer.updater
        counts = {"epoch": updater.epoch, "iteration": updater.iteration}
        x = self._x(trainer, means, counts)
        self._keys.check(means.keys(), trainer.observation.keys())
        for key in self._y_keys:
            if key in means:
                self._data.setdefault(key, []).append([x, means[key]])
                self._curves[key].add(x, means[key])
        if _available:
            path = os.path.join(trainer.out, self._filename.format(**{**means, **counts}))
            self._plot(path)

    def _x(self, trainer: Trainer, means: dict[str, float], counts: dict[str, int]) -> float:
        if self._x_key in counts:
            return counts[self._x_key]
        if self._x_key == "elapsed_time":
            return trainer.elapsed_time
        if self._x_key not in means:
            raise KeyError(
                f"PlotReport finds no {self._x_key!r} for x in the observations of the interval; "
                f"reported last: {sorted(trainer.observation)}"
            )
        return means[self._x_key]

    def _plot(self, path: str) -> None:
        figure, axes = plotting.Figures().subplots(figsize=(7, 4.5))
        axes.set_xlabel(self._x_key)
        # 'loss' for main/loss and validation/main/loss: the legend tells them apart.
        axes.set_ylabel(", ".join(dict.fromkeys(key.rpartition("/")[2] for key in self._y_keys)))
        if self._x_key in ("epoch", "iteration"):
            axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(self._grid)
        for key in self._y_keys:
            points = self._curves[key].points()
            if points:
                xs, ys = zip(*points, strict=True)
                axes.plot(xs, ys, marker=self._marker, label=key)
        extra: tuple[Any, ...] = ()
        # A legend without curves would be a warning of matplotlib.
        if axes.lines:
            if self._postprocess is not None:
                self._postprocess(figure, axes, self._data)
            # Beside the axes, where it hides no curve.
            extra = (axes.legend(bbox_to_anchor=(1.05, 1), loc=2, borderaxespad=0.0),)
        plotting.save_figure(figure, path, bbox_extra_artists=extra)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the points of the plot and what was accumulated since the last one.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._accumulator.serialize(serializer)
        name, curves_name = f"_plot_{self._filename}", f"_plot_curves_{self._filename}"
        if isinstance(serializer, Serializer):
            serializer(name, self._data_as_text())
            states = {
                key: curve.state()
                for key, curve in self._curves.items()
                # The data of a resumed training may be what was drawn.
                if self._is_long(key) or curve.count != len(self._data.get(key, ()))
            }
            # Shorter curves make the same file as release 7.
            if states:
                serializer(curves_name, json.dumps(states))
            return
        text = serializer(name, "")
        if not text:
            return
        self._data = parse_json(name, text, dict)
        states_text = load_optional(serializer, curves_name, "")
        states = parse_json(curves_name, states_text, dict) if states_text else {}
        self._encoded = {key: EncodedList() for key in self._y_keys}
        self._curves = {
            key: Curve.of_state(states[key]) if key in states else Curve(self._data.get(key, ()))
            for key in self._y_keys
        }

    def _is_long(self, key: str) -> bool:
        limit = self.entries_in_snapshot
        return limit is not None and self._curves[key].count > limit

    def _data_as_text(self) -> str:
        """Returns the points as JSON, of which only what is new is encoded."""
        texts: list[str] = []
        for key, points in self._data.items():
            # A file may have values of keys that this program does not plot.
            if key not in self._encoded:
                text = json.dumps(points)
            elif self._is_long(key):
                text = json.dumps(self._curves[key].points())
            else:
                text = self._encoded[key].text(points, None)
            texts.append(f"{json.dumps(key)}: {text}")
        return f"{{{', '.join(texts)}}}"

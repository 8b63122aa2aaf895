"""Plots of the distribution of variables over time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayLike, DTypeLike, HostArray, Shape
from chainer.core.utils.argument import renamed_argument
from chainer.links.link import Link
from chainer.links.loaded_state import load_optional, serialize_unsaved
from chainer.links.serializer import Serializer
from chainer.training.extension import Extension
from chainer.training.extensions import plotting
from chainer.training.trigger import get_trigger

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.trigger import TriggerLike

# Percentiles at the mean and one, two and three standard deviations of a normal distribution.
_SIGMAS = (0, 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87, 100)


#: Whether matplotlib can be imported. Programs read it to skip plots, tests replace it.
_available: bool = plotting.is_available()


class Reservoir:
    """A sample of fixed size in which each item seen so far is with equal probability.

    Args:
        size: Size of the sample.
        data_shape: Shape of an item.
        dtype: Data type of an item.

    Attributes:
        size: Size of the sample.
        data: Array of the items; the first ``counter`` ones are set.
        idxs: Positions of the items.
        counter: Number of items that were added.
    """

    def __init__(self, size: int, data_shape: Shape, dtype: DTypeLike = "f") -> None:
        self.size = size
        # Allocated once: the memory does not grow with the training.
        self.data = numpy.empty((size, *data_shape), dtype)
        self.idxs = numpy.empty(size, numpy.int64)
        self.counter = 0

    def add(self, x: ArrayLike, idx: int | None = None) -> None:
        """Adds an item.

        Args:
            x: The item.
            idx: Position of the item on the axis of time; by default the number of items so far.
        """
        item, position = x, self.counter if idx is None else idx
        size = len(self.data)
        index = self.counter if self.counter < size else _random_below(self.counter + 1)
        self.counter += 1
        if index < size:
            self.data[index] = item
            self.idxs[index] = position

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the sample; where a file has none, the present one is kept."""
        if isinstance(serializer, Serializer):
            count = min(self.counter, len(self.data))
            serializer("items", self.data[:count])
            serializer("positions", self.idxs[:count])
            serializer("seen", self.counter)
            return
        items = load_optional(serializer, "items", None)
        if items is None:
            return
        if items.shape[1:] != self.data.shape[1:] or len(items) > len(self.data):
            raise ValueError(
                f"a sample of {len(items)} items of shape {items.shape[1:]} does not fit one of at "
                f"most {len(self.data)} items of shape {self.data.shape[1:]}"
            )
        self.data[: len(items)] = items
        self.idxs[: len(items)] = serializer("positions", None)
        self.counter = int(serializer("seen", self.counter))

    def get_data(self) -> tuple[Array, Array]:
        """Returns positions and items in order of the positions."""
        count = min(self.counter, len(self.data))
        # New items take the places of old ones, in any order.
        order = numpy.argsort(self.idxs[:count], kind="stable")
        return self.idxs[:count][order], self.data[:count][order]


class Statistician:
    """Computes mean, standard deviation and percentiles of an array.

    Args:
        collect_mean (bool): Whether the mean is computed.
        collect_std (bool): Whether the standard deviation is computed.
        percentile_sigmas (float or tuple of floats): Percentiles to compute, from 0 to 100.
    """

    def __init__(
        self,
        collect_mean: bool = True,
        collect_std: bool = True,
        percentile_sigmas: float | Sequence[float] = _SIGMAS,
    ) -> None:
        self.collect_mean = collect_mean
        self.collect_std = collect_std
        self.percentile_sigmas = percentile_sigmas

    def __call__(
        self,
        x: Array,
        axis: int | tuple[int, ...] | None = 0,
        dtype: DTypeLike = None,
        xp: Any = None,
    ) -> dict[str, Array]:
        """Computes the statistics, and copies them into the main memory.

        Args:
            x: Array.
            axis: Axis or axes that are reduced; all if None.
            dtype: Data type of the statistics; by default what NumPy gives.
            xp: Not used: the array says which module it belongs to. Release 7 has this argument.

        Returns:
            dict: Statistics by name: ``'mean'``, ``'std'`` and ``'percentile'``, whose first axis
            runs over the percentiles. Statistics that are not collected are missing.
        """
        found = self.collect(backend_of(x).to_host(x), axis)
        if dtype is None:
            return found
        return {name: numpy.asarray(value).astype(dtype) for name, value in found.items()}

    def collect(self, x: HostArray, axis: int | tuple[int, ...] | None) -> dict[str, HostArray]:
        """Computes the statistics in the dtypes that NumPy gives.

        Args:
            x (numpy.ndarray): Array.
            axis: Axis or axes that are reduced; all if None.

        Returns:
            dict: Statistics by name, as a call returns them.
        """
        found: dict[str, HostArray] = {}
        if self.collect_mean:
            found["mean"] = numpy.mean(x, axis=axis)
        if self.collect_std:
            found["std"] = numpy.std(x, axis=axis)
        if numpy.size(self.percentile_sigmas):
            found["percentile"] = numpy.percentile(x, self.percentile_sigmas, axis=axis)
        return found


def _random_below(number: int) -> int:
    """Returns an integer below a number, the same at the same time of every run.

    Watching a training must not change its random numbers, and a resumed one must go on as it would
    have.
    """
    return int(numpy.random.default_rng(number).integers(number))


def _variables_of(targets: Any) -> list[Any]:
    if isinstance(targets, (Variable, Link)):
        targets = [targets]
    if not isinstance(targets, Iterable):
        raise TypeError(f"targets must be a Variable, a Link, or a list of them, got {targets!r}")
    variables: list[Any] = []
    for target in targets:
        if isinstance(target, Link):
            variables.extend(target.params())
        elif isinstance(target, Variable):
            variables.append(target)
        else:
            raise TypeError(
                "targets must be a Variable, a Link, or a list of them, "
                f"got an element of type {type(target).__name__}"
            )
    return variables


class VariableStatisticsPlot(Extension):
    r"""Trainer extension to plot statistics for :class:`~chainer.Variable`\ s.

    It collects mean, standard deviation and percentiles of variables at each iteration. In case
    multiple variables are found, the means over them are computed. The collected statistics are
    plotted and saved as an image in the output directory of the trainer.

    A fixed number of iterations is kept by reservoir sampling: when there are more, they are
    discarded uniformly at random.

    Args:
        targets (Variable, Link or list of either): Parameters for which statistics are collected.
        max_sample_size (int): Maximum number of running samples.
        report_data (bool): If True, data (e.g. weights) statistics are plotted. If False, they are
            neither computed nor plotted.
        report_grad (bool): If True, gradient statistics are plotted. If False, they are neither
            computed nor plotted.
        plot_mean (bool): If True, means are plotted. If False, they are neither computed nor
            plotted.
        plot_std (bool): If True, standard deviations are plotted. If False, they are neither
            computed nor plotted.
        percentile_sigmas (float or tuple of floats): Percentiles to plot in the range
            :math:`[0, 100]`.
        trigger: Trigger that decides when to save the plots as an image. This is distinct from the
            trigger of this extension itself. A pair such as ``(1, 'epoch')`` is passed to
            :class:`~chainer.training.triggers.IntervalTrigger`.
        filename (str): Name of the output image file under the output directory,
            ``'statistics.png'`` by default. Release 4 calls this argument ``file_name``, which
            works as a keyword.
        figsize (tuple of int): Matplotlib ``figsize`` argument that specifies the size of the
            output image.
        marker (str): Matplotlib ``marker`` argument that specified the marker style of the plots.
        grid (bool): Matplotlib ``grid`` argument that specifies whether grids are rendered in the
            plots or not.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.VariableStatisticsPlot(model, filename="statistics.png"))
        >>> trainer.run()
        >>> import os
        >>> os.path.exists("result/statistics.png")
        True
    """

    def __init__(
        self,
        targets: Variable | Link | Iterable[Variable | Link],
        max_sample_size: int = 1000,
        report_data: bool = True,
        report_grad: bool = True,
        plot_mean: bool = True,
        plot_std: bool = True,
        percentile_sigmas: float | Sequence[float] | None = _SIGMAS,
        trigger: TriggerLike = (1, "epoch"),
        filename: str | None = None,
        figsize: tuple[float, float] | None = None,
        marker: str | None = None,
        grid: bool = True,
        **kwargs: Any,
    ) -> None:
        name = renamed_argument("VariableStatisticsPlot", filename, None, "file_name", kwargs)
        self._filename = name or "statistics.png"
        self._variables = _variables_of(targets)
        if not self._variables:
            raise ValueError("VariableStatisticsPlot needs at least one variable, targets has none")
        self.available()
        self._attributes = [
            name for name, wanted in (("data", report_data), ("grad", report_grad)) if wanted
        ]
        self._plot_mean = plot_mean
        self._plot_std = plot_std
        sigmas = () if percentile_sigmas is None else percentile_sigmas
        self._percentiles = numpy.atleast_1d(numpy.asarray(sigmas, numpy.float64))
        if not (plot_mean or plot_std or self._percentiles.size):
            raise ValueError(
                "Nothing to plot: plot_mean and plot_std are False, percentile_sigmas is empty"
            )
        self._trigger = get_trigger(trigger)
        self._figsize = figsize
        self._marker = marker
        self._grid = grid
        shape = (len(self._attributes), 2 + self._percentiles.size)
        self._samples = Reservoir(max_sample_size, shape)

    @staticmethod
    def available() -> bool:
        """Tells whether matplotlib is installed; warns when it is not."""
        if not _available:
            plotting.warn_missing()
        return _available

    def __call__(self, trainer: Trainer) -> None:
        """Adds the statistics of this iteration, and writes the plot when the interval is over.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        if not _available:
            return
        measured = [self._measure(attribute) for attribute in self._attributes]
        if measured:
            self._samples.add(measured, trainer.updater.iteration)
        if self._trigger(trainer):
            path = os.path.join(trainer.out, self._filename)
            self.save_plot_using_module(path, plotting.Figures())

    def _measure(self, attribute: str) -> Any:
        rows = []
        for variable in self._variables:
            array = getattr(variable, attribute)
            if array is not None and array.size:
                flat = backend_of(array).to_host(array).ravel()
                percentiles = numpy.percentile(flat, self._percentiles)
                rows.append([flat.mean(), flat.std(), *percentiles])
        # Gradients may be None before the first backward pass. NaN leaves a gap in the plot.
        if not rows:
            return numpy.full(2 + self._percentiles.size, numpy.nan)
        return numpy.mean(rows, axis=0)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the sample and the trigger.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._samples.serialize(serializer["_samples"])
        # Other releases do not save the state of this trigger.
        serialize_unsaved(self._trigger, serializer["_trigger"])

    def save_plot_using_module(self, file_path: str, plt: Any) -> None:
        """Draws the plot and writes it to a file.

        Args:
            file_path (str): File to write.
            plt: ``matplotlib.pyplot``, or anything with its functions ``subplots`` and ``close``.
        """
        titles = [
            title
            for title, wanted in (
                ("mean", self._plot_mean),
                ("std", self._plot_std),
                ("percentiles", self._percentiles.size > 0),
            )
            if wanted
        ]
        if not titles or not self._attributes:
            return
        figure, axes = plt.subplots(
            len(titles),
            len(self._attributes),
            figsize=self._figsize or (5 * len(self._attributes) + 1, 2.2 * len(titles) + 0.5),
            sharex="all",
            squeeze=False,
        )
        positions, items = self._samples.get_data()
        columns = {"mean": [0], "std": [1], "percentiles": range(2, items.shape[2])}
        for row, title in enumerate(titles):
            for column, attribute in enumerate(self._attributes):
                ax = axes[row][column]
                self._draw(ax, title, positions, items[:, column][:, list(columns[title])])
                ax.grid(self._grid)
                if row == 0:
                    ax.set_title(attribute)
                if row == len(titles) - 1:
                    ax.set_xlabel("iteration")
                if column == 0:
                    ax.set_ylabel(title)
        plotting.save_figure(figure, file_path)
        plt.close(figure)

    def _draw(self, ax: Any, title: str, positions: Any, values: Any) -> None:
        if title != "percentiles":
            ax.plot(positions, values[:, 0], marker=self._marker, color="tab:blue")
            return
        count = values.shape[1]
        for index in range(count):
            # Darkest in the middle of the distribution.
            alpha = 1.0 - 0.7 * abs(2 * index - (count - 1)) / max(count - 1, 1)
            ax.plot(positions, values[:, index], marker=self._marker, color="tab:red", alpha=alpha)

"""Event files for TensorBoard."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from chainer.core.arrays.backend import get_device
from chainer.core.autograd.computational_graph import build_computational_graph
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.installation import install_command
from chainer.core.reporting.summary import to_float
from chainer.links.link import Link
from chainer.links.loaded_state import serialize_if_able
from chainer.training.extension import PRIORITY_READER, Extension
from chainer.training.extensions.accumulator import Accumulator
from chainer.training.extensions.log_report import LogReport
from chainer.training.trigger import get_trigger

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer

ImageFunction = Callable[[Any], Mapping[str, Any]]

_BINS = 64
_FLUSH_SECONDS = 1


class TensorBoardWriter(Extension):
    """Trainer extension that writes event files, which TensorBoard shows.

    - Scalars: the means of what was observed over each interval, or the entries of a log report.
    - Histograms: the parameters and their gradients, ``predictor/l1/W`` and
      ``predictor/l1/W/grad``; values that are not finite are left out.
    - Text: the computational graph, in the language of Graphviz; why the training was stopped.
    - Images: whatever a function returns.

    Steps are iterations. What is written can be read within a second or two. A training that is
    resumed goes on in a new event file in the same directory; what the files before hold of later
    iterations is marked as out of date, and TensorBoard does not show it. It needs
    ``tensorboardX``: ``pip install "chainer[tensorboard]"``.

    Args:
        log_dir: Directory of the event files, within the output directory unless it is absolute.
        keys: Keys of the observations; None for all.
        trigger: When scalars are written; a pair such as ``(1, 'epoch')`` or a trigger.
        log_report: Name of a log report of the trainer, or a log report of it, whose entries are
            written instead of means of this extension.
        histograms: When histograms are written; None for never.
        links: Links whose parameters they show, by a name that is put in front of the parameters'
            names; the targets of all optimizers by default.
        graph: Key of the observation whose graph is written in the first iteration, such as
            ``'main/loss'``; None for none. Until then ``chainer.config.keep_graph_on_report`` is
            True.
        images: Function of the trainer that returns images by name: arrays of shape ``(height,
            width)``, ``(channels, height, width)`` or ``(n, channels, height, width)`` with 1 or 3
            channels, of dtype uint8 or floating point numbers from 0 to 1.
        images_trigger: When it is called.

    Raises:
        ImportError: At the start of the training, if ``tensorboardX`` is not installed.
        TypeError: If ``log_report`` is neither a name nor a log report.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.TensorBoardWriter("tensorboard"))
        >>> trainer.run()
        >>> import glob
        >>> len(glob.glob("**/*tfevents*", recursive=True))
        1
    """

    trigger = (1, "iteration")
    # After the log reports.
    priority = PRIORITY_READER - 10

    def __init__(
        self,
        log_dir: str = "tensorboard",
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
        log_report: str | LogReport | None = None,
        histograms: Any = (1, "epoch"),
        links: Mapping[str, Link] | None = None,
        graph: str | None = None,
        images: ImageFunction | None = None,
        images_trigger: Any = (1, "epoch"),
    ) -> None:
        if log_report is not None and not isinstance(log_report, (str, LogReport)):
            raise TypeError(
                "log_report must be the name of a LogReport or a LogReport, "
                f"got {type(log_report).__name__}"
            )
        self._log_dir = log_dir
        self._averages = Accumulator(trigger, keys)
        self._log_report = log_report
        self._entries_written = 0
        self._histogram_trigger = get_trigger(histograms)
        self._links = None if links is None else dict(links)
        self._graph = graph
        self._graph_written = False
        self._set_flag = False
        self._images = images
        self._images_trigger = get_trigger(images_trigger)
        self._writer: Any = None

    def initialize(self, trainer: Trainer) -> None:
        """Begins an event file.

        Args:
            trainer: Trainer that runs the training loop.
        """
        self._writer = _make_writer(
            os.path.join(trainer.out, self._log_dir), trainer.updater.iteration
        )
        if isinstance(self._log_report, str):
            trainer.get_extension(self._log_report)  # raises here rather than after an iteration
        if self._graph is not None and not self._graph_written:
            self._set_flag = not config.keep_graph_on_report
            if self._set_flag:
                config.keep_graph_on_report = True

    def __call__(self, trainer: Trainer) -> None:
        """Writes what is due.

        Args:
            trainer: Trainer that calls this operator.
        """
        step = trainer.updater.iteration
        if self._graph is not None and not self._graph_written:
            self._write_graph(trainer, self._graph, step)
        if self._log_report is None:
            self._write_means(trainer, step)
        else:
            self._write_entries(trainer, self._log_report)
        if self._histogram_trigger(trainer):
            self._write_histograms(trainer, step)
        if self._images_trigger(trainer) and self._images is not None:
            for tag, image in self._images(trainer).items():
                self._write_image(tag, image, step)
        if trainer.stop_reason is not None:
            self._writer.add_text("stop_reason", trainer.stop_reason, step)

    def _write_means(self, trainer: Trainer, step: int) -> None:
        means = self._averages.add(trainer, also_when_stopped=True)
        if means is not None:
            self._write_scalars({**means, "epoch": trainer.updater.epoch}, step)

    def _write_entries(self, trainer: Trainer, log_report: str | LogReport) -> None:
        report: LogReport = (
            trainer.get_extension(log_report) if isinstance(log_report, str) else log_report
        )
        for entry in report.log[self._entries_written :]:
            numbers = {
                key: value
                for key, value in entry.items()
                if key != "iteration" and isinstance(value, (int, float))
            }
            self._write_scalars(numbers, entry["iteration"])
        self._entries_written = len(report.log)

    def _write_scalars(self, values: Mapping[str, Any], step: int) -> None:
        for tag, value in values.items():
            self._writer.add_scalar(tag, to_float(value), step)

    def _write_histograms(self, trainer: Trainer, step: int) -> None:
        for prefix, link in self._named_links(trainer).items():
            for name, param in link.namedparams(include_uninit=False):
                tag = f"{prefix}{name}" if prefix else name.strip("/")
                self._write_histogram(tag, param.array, step)
                if param.grad is not None:
                    self._write_histogram(f"{tag}/grad", param.grad, step)

    def _named_links(self, trainer: Trainer) -> dict[str, Any]:
        if self._links is not None:
            return self._links
        optimizers = trainer.updater.get_all_optimizers()
        if len(optimizers) == 1:
            (optimizer,) = optimizers.values()
            return {"": optimizer.target}
        return {name: optimizer.target for name, optimizer in optimizers.items()}

    def _write_histogram(self, tag: str, array: Any, step: int) -> None:
        values = _to_host(array).astype(np.float64).ravel()
        values = values[np.isfinite(values)]
        if values.size:
            self._writer.add_histogram(tag, values, step, bins=_BINS)

    def _write_graph(self, trainer: Trainer, key: str, step: int) -> None:
        root = trainer.observation.get(key)
        if not isinstance(root, Variable):
            raise KeyError(
                f"graph={key!r} must be the key of an observed Variable; observed: "
                f"{sorted(trainer.observation)}"
            )
        text = build_computational_graph([root]).dump()
        self._writer.add_text(f"graph/{key}", f"```dot\n{text}\n```", step)
        self._graph_written = True
        self._restore_flag()

    def _restore_flag(self) -> None:
        if self._set_flag:
            config.keep_graph_on_report = False
            self._set_flag = False

    def _write_image(self, tag: str, image: Any, step: int) -> None:
        if isinstance(image, Variable):
            image = image.array
        image = _to_host(image)
        layout = {2: "HW", 3: "CHW", 4: "NCHW"}.get(image.ndim)
        if layout is None or (layout != "HW" and image.shape[-3] not in (1, 3)):
            raise ValueError(
                f"image {tag!r} must have shape (height, width), (channels, height, width) or (n, "
                f"channels, height, width) with 1 or 3 channels, got {image.shape}"
            )
        if image.dtype != np.uint8:
            image = (np.clip(image, 0, 1) * 255).round().astype(np.uint8)
        add = self._writer.add_images if layout == "NCHW" else self._writer.add_image
        add(tag, image, step, dataformats=layout)

    def finalize(self) -> None:
        """Closes the event file."""
        self._restore_flag()
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def serialize(self, serializer: Any) -> None:
        """Serializes triggers, the sums of the interval, and what was written.

        Args:
            serializer: Serializer or deserializer.
        """
        self._averages.serialize(serializer["averages"])
        serialize_if_able(self._histogram_trigger, serializer["histogram_trigger"])
        serialize_if_able(self._images_trigger, serializer["images_trigger"])
        self._entries_written = int(serializer("entries_written", self._entries_written))
        self._graph_written = bool(serializer("graph_written", self._graph_written))


def _to_host(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(get_device("@numpy").send(array))


def _make_writer(directory: str, iteration: int) -> Any:
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise ImportError(
            f"TensorBoardWriter needs tensorboardX: {install_command('chainer[tensorboard]')}"
        ) from error
    # Readers take the files in the order of their names, which have no more than seconds of the
    # time.
    suffix = f".{time.time_ns()}"
    # A thread writes; its method flush() does not wait for what is on the way to it.
    return SummaryWriter(
        directory, purge_step=iteration + 1, filename_suffix=suffix, flush_secs=_FLUSH_SECONDS
    )

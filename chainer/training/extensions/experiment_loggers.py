"""Loggers of experiments: MLflow and Weights & Biases."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from chainer.core.installation import install_command
from chainer.core.reporting.summary import to_float
from chainer.training.extension import PRIORITY_READER, Extension
from chainer.training.extensions.accumulator import Accumulator
from chainer.training.extensions.logs.run_description import hyperparameters_of

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class _ExperimentLogger(Extension):
    """Base of the loggers: means of the observations over each interval."""

    trigger = (1, "iteration")
    # After the extensions that report.
    priority = PRIORITY_READER - 10

    def __init__(
        self, keys: Iterable[str] | None, trigger: Any, hyperparameters: Mapping[str, Any] | None
    ) -> None:
        self._averages = Accumulator(trigger, keys)
        self._hyperparameters = dict(hyperparameters or {})
        self._run_id = ""

    def _means(self, trainer: Trainer) -> dict[str, float] | None:
        means = self._averages.add(trainer, also_when_stopped=True)
        if means is None:
            return None
        values = {**means, "epoch": trainer.updater.epoch, "elapsed_time": trainer.elapsed_time}
        return {key: to_float(value) for key, value in values.items()}

    def _described(self, trainer: Trainer) -> dict[str, Any]:
        return {**hyperparameters_of(trainer), **self._hyperparameters}

    def serialize(self, serializer: Any) -> None:
        """Serializes the sums of the interval and the identifier of the run.

        Args:
            serializer: Serializer or deserializer.
        """
        self._averages.serialize(serializer["averages"])
        self._run_id = str(serializer("run_id", self._run_id))


class MLflowLogger(_ExperimentLogger):
    """Trainer extension that logs to MLflow: hyperparameters and means of observations.

    Without a tracking server it works offline: give ``tracking_uri`` a URI of a folder or a
    database, such as ``'sqlite:///runs.db'``. A training that is resumed goes on in the same run.
    It needs ``mlflow`` or ``mlflow-skinny``: ``pip install "chainer[mlflow]"``.

    Args:
        experiment: Name of the experiment.
        run_name: Name of the run; MLflow chooses one by default.
        tracking_uri: Where runs are stored; MLflow's setting by default.
        keys: Keys of the observations; None for all.
        trigger: When means are logged; a pair such as ``(1, 'epoch')`` or a trigger.
        hyperparameters: Further hyperparameters by name.
        tags: Tags of the run.

    Raises:
        ImportError: At the start of the training, if MLflow is not installed.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.MLflowLogger(experiment="digits"))  # doctest: +SKIP
        >>> extensions.MLflowLogger(experiment="digits").trigger
        (1, 'iteration')
    """

    def __init__(
        self,
        experiment: str = "chainer",
        run_name: str | None = None,
        tracking_uri: str | None = None,
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
        hyperparameters: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(keys, trigger, hyperparameters)
        self._experiment = experiment
        self._run_name = run_name
        self._tracking_uri = tracking_uri
        self._tags = dict(tags or {})
        self._client: Any = None
        self._failed = False

    def initialize(self, trainer: Trainer) -> None:
        """Begins a run, or continues the run of the snapshot.

        Args:
            trainer: Trainer that runs the training loop.
        """
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise ImportError(
                f"MLflowLogger needs MLflow: {install_command('chainer[mlflow]')}"
            ) from error
        # A client instead of MLflow's global run: two trainings in a process stay apart.
        self._client = MlflowClient(tracking_uri=self._tracking_uri)
        self._failed = False
        if self._run_id:
            self._client.update_run(self._run_id, status="RUNNING")
            return
        experiment = self._client.get_experiment_by_name(self._experiment)
        number = (
            self._client.create_experiment(self._experiment)
            if experiment is None
            else experiment.experiment_id
        )
        run = self._client.create_run(number, tags=self._tags, run_name=self._run_name)
        self._run_id = run.info.run_id
        for key, value in self._described(trainer).items():
            self._client.log_param(self._run_id, key, value)

    def __call__(self, trainer: Trainer) -> None:
        """Logs the means when the interval is over.

        Args:
            trainer: Trainer that calls this operator.
        """
        means = self._means(trainer)
        if means is None:
            return
        for key, value in means.items():
            if not math.isnan(value):  # the file store refuses it
                self._client.log_metric(self._run_id, key, value, step=trainer.updater.iteration)
        if trainer.stop_reason is not None:
            self._client.set_tag(self._run_id, "stop_reason", trainer.stop_reason)

    def on_error(self, trainer: Trainer, exc: Exception, tb: Any) -> None:
        """Notes that the training failed.

        Args:
            trainer: Trainer that runs the training loop.
            exc: The exception.
            tb: Its traceback.
        """
        self._failed = True

    def finalize(self) -> None:
        """Ends the run, as finished or failed."""
        client, self._client = self._client, None
        if client is not None:
            client.set_terminated(self._run_id, "FAILED" if self._failed else "FINISHED")


class WandbLogger(_ExperimentLogger):
    """Trainer extension that logs to Weights & Biases.

    With ``mode='offline'`` nothing leaves the machine; ``wandb sync`` uploads the run later. A
    training that is resumed goes on in the same run. It needs ``wandb``:
    ``pip install "chainer[wandb]"``.

    Args:
        project: Name of the project.
        name: Name of the run; W&B chooses one by default.
        mode: ``'online'``, ``'offline'`` or ``'disabled'``.
        keys: Keys of the observations; None for all.
        trigger: When means are logged; a pair such as ``(1, 'epoch')`` or a trigger.
        hyperparameters: Further hyperparameters by name.
        options: Further arguments of ``wandb.init``.

    Raises:
        ImportError: At the start of the training, if W&B is not installed.
        ValueError: If the mode is unknown.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.WandbLogger("digits", mode="offline"))  # doctest: +SKIP
        >>> extensions.WandbLogger("digits", mode="offline").trigger
        (1, 'iteration')
    """

    def __init__(
        self,
        project: str = "chainer",
        name: str | None = None,
        mode: str = "online",
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
        hyperparameters: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(keys, trigger, hyperparameters)
        if mode not in ("online", "offline", "disabled"):
            raise ValueError(f"mode must be 'online', 'offline' or 'disabled', got {mode!r}")
        self._project = project
        self._name = name
        self._mode = mode
        self._options = options
        self._run: Any = None
        self._failed = False

    def initialize(self, trainer: Trainer) -> None:
        """Begins a run, or continues the run of the snapshot.

        Args:
            trainer: Trainer that runs the training loop.
        """
        try:
            import wandb
        except ImportError as error:
            raise ImportError(
                f"WandbLogger needs W&B: {install_command('chainer[wandb]')}"
            ) from error
        self._failed = False
        self._run_id = self._run_id or uuid.uuid4().hex[:12]
        self._run = wandb.init(
            project=self._project,
            name=self._name,
            mode=self._mode,
            dir=trainer.out,
            id=self._run_id,
            resume="allow",
            config=self._described(trainer),
            **self._options,
        )

    def __call__(self, trainer: Trainer) -> None:
        """Logs the means when the interval is over.

        Args:
            trainer: Trainer that calls this operator.
        """
        means = self._means(trainer)
        if means is not None:
            self._run.log(means, step=trainer.updater.iteration)
            if trainer.stop_reason is not None:
                self._run.summary["stop_reason"] = trainer.stop_reason

    def on_error(self, trainer: Trainer, exc: Exception, tb: Any) -> None:
        """Notes that the training failed.

        Args:
            trainer: Trainer that runs the training loop.
            exc: The exception.
            tb: Its traceback.
        """
        self._failed = True

    def finalize(self) -> None:
        """Ends the run, as finished or failed."""
        run, self._run = self._run, None
        if run is not None:
            run.finish(exit_code=1 if self._failed else 0)

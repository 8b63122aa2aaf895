"""Training in one call, for the ordinary case."""

from __future__ import annotations

import inspect
import math
import numbers
import os
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from chainer.core.arguments import require_attribute, wrong_type
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.arrays.lookup import is_array
from chainer.core.autograd.backprop import InitialGradientError
from chainer.links.link import Link
from chainer.training import extensions, updaters
from chainer.training.dataset.iterator import Iterator
from chainer.training.datasets.tuple_dataset import TupleDataset
from chainer.training.iterators.serial_iterator import SerialIterator
from chainer.training.optimizers.adam import Adam
from chainer.training.trainer import Trainer

if TYPE_CHECKING:
    from chainer.core.typing import DatasetLike, DeviceLike, FilePath
    from chainer.training.extension import ExtensionLike
    from chainer.training.optimizers.optimizer import Optimizer


class FitResult(NamedTuple):
    """What :func:`chainer.fit` returns.

    Attributes:
        trainer (Trainer): The trainer after its run. ``trainer.updater`` has the optimizer and the
            iterators.
        log (list of dict): An entry for each epoch: ``'epoch'``, ``'iteration'``,
            ``'elapsed_time'`` in seconds, and the means of all reported values, such as
            ``'main/loss'`` and ``'validation/main/loss'``.
    """

    trainer: Trainer
    log: list[dict[str, Any]]


def fit(
    model: Link,
    train: DatasetLike | Iterator | tuple[Any, ...],
    validation: DatasetLike | Iterator | tuple[Any, ...] | None = None,
    *,
    epochs: int = 10,
    batch_size: int = 32,
    optimizer: Optimizer | None = None,
    callbacks: Iterable[ExtensionLike] = (),
    device: DeviceLike = None,
    out: FilePath = "result",
    resume: bool = False,
    show_program: bool = False,
) -> FitResult:
    """Trains a model: builds an ordinary trainer, runs it, and returns it with its log.

    The trainer has an :class:`~chainer.training.extensions.Evaluator` if there is validation data,
    a :class:`~chainer.training.extensions.LogReport` and a
    :class:`~chainer.training.extensions.PrintReport` with a row for each epoch, and a snapshot of
    the last epoch in the output directory. ``show_program=True`` prints the program that builds it.
    Copy the program when a training needs something else, such as two optimizers.

    Args:
        model (Link): Model whose call with a minibatch returns the loss, a Variable with one
            element. :class:`~chainer.links.Classifier` makes it of a network and a loss.
        train: Training data: a dataset, a tuple of arrays of equal lengths such as ``(x, t)``, or
            an iterator, which then decides about batches and order. A minibatch of tuples is passed
            to the model as positional arguments, a minibatch of dictionaries as keyword arguments.
        validation: Data on which the model is evaluated after each epoch, in one of these forms; an
            iterator must have been made with ``repeat=False``. None for no evaluation.
        epochs (int): Number of times that the training data is used.
        batch_size (int): Number of examples in a minibatch. The training data is shuffled by
            NumPy's global generator.
        optimizer (Optimizer): Optimizer; ``Adam()`` by default. It is set up with the model unless
            it is already.
        callbacks (iterable): Further extensions of the trainer, in order.
        device: Device to which the model and each minibatch are moved. By default the model stays,
            and minibatches are moved to its device.
        out (str): Output directory, for the log and the snapshot.
        resume (bool): Whether the training goes on from the snapshot in ``out`` if there is one.
            The same call with a larger ``epochs`` trains on.
        show_program (bool): Whether the program that builds the trainer is printed first.

    Returns:
        FitResult: The named tuple ``(trainer, log)``.

    Raises:
        TypeError: If an argument has the wrong type, the optimizer is set up with another model, or
            ``validation`` is an array that cannot have examples like the ones of ``train``, such as
            its labels.
        ValueError: If ``epochs`` is less than 1, arrays of a tuple have different lengths, or a
            dataset is empty.

    Example:
        >>> import numpy as np
        >>> import chainer, chainer.functions as F, chainer.links as L
        >>> x = np.random.rand(200, 2).astype(np.float32)
        >>> t = (x.sum(axis=1) > 1).astype(np.int32)
        >>> model = L.Classifier(chainer.Sequential(L.Linear(2, 16), F.relu, L.Linear(16, 2)))
        >>> trainer, log = chainer.fit(model, (x, t), epochs=2)  # doctest: +ELLIPSIS
        epoch       iteration   main/accuracy  main/loss ...
        >>> len(log)
        2
    """
    if not isinstance(model, Link):
        raise wrong_type("model", "a Link whose call returns the loss", model)
    if not isinstance(epochs, numbers.Real):
        raise wrong_type("epochs", "a number", epochs)
    if not 1 <= epochs < math.inf:
        raise ValueError(f"epochs must be a finite number that is at least 1, got {epochs}")
    if not isinstance(resume, bool):
        raise wrong_type("resume", "True or False, the snapshot is found in out", resume)
    if not isinstance(out, (str, os.PathLike)):
        raise wrong_type("out", "the path of a folder", out)
    if optimizer is None:
        optimizer = Adam()
    require_attribute("callbacks", callbacks, "__iter__", "a list of extensions")
    require_attribute("optimizer", optimizer, "setup", "an optimizer, such as optimizers.Adam()")
    if optimizer.target is None:
        optimizer.setup(model)
    elif optimizer.target is not model:
        raise TypeError(
            "optimizer is set up with another model: give one that is not set up, "
            "or call optimizer.setup(model)"
        )
    settings = {
        "epochs": epochs,
        "batch_size": batch_size,
        "device": device,
        "out": out,
        "resume": resume,
    }
    if show_program:
        print(_program(settings))
    data = _data("train", train)
    held_out = None if validation is None else _data("validation", validation)
    are_arrays = is_array(data) and is_array(held_out)
    if are_arrays and not _are_alike(data, held_out):
        raise TypeError(
            f"validation must be a dataset with examples like the ones of train ({_kind(data)}), "
            f"got an array of {_kind(held_out)}. {_LABELS}"
        )
    trainer = _make_trainer(model, data, held_out, optimizer, callbacks, **settings)
    try:
        trainer.run()
    except InitialGradientError as error:
        error.add_note(
            "chainer.fit needs a model whose call returns the loss: wrap a network that returns "
            "predictions, as in L.Classifier(network) or L.Classifier(network, lossfun)"
        )
        raise
    except TypeError as error:
        # Labels may look like inputs: the model is what tells.
        if are_arrays:
            error.add_note(f"validation is a second dataset, not the labels of train. {_LABELS}")
        raise
    return FitResult(trainer, cast("extensions.LogReport", trainer.get_extension("LogReport")).log)


_LABELS = "Labels belong to train: chainer.fit(model, (x, t))"


def _are_alike(train: Any, validation: Any) -> bool:
    """Returns whether two arrays may hold examples of the same kind."""
    return train.ndim == validation.ndim and kind_of(train.dtype) == kind_of(validation.dtype)


def _kind(data: Any) -> str:
    """Returns the kind of the examples of an array."""
    axes = data.ndim - 1
    if axes == 0:
        return f"{data.dtype} numbers"
    return f"{data.dtype} arrays with {axes} {'axis' if axes == 1 else 'axes'}"


def _make_trainer(
    model: Link,
    train: DatasetLike | Iterator,
    validation: DatasetLike | Iterator | None,
    optimizer: Optimizer,
    callbacks: Iterable[ExtensionLike],
    epochs: int,
    batch_size: int,
    device: DeviceLike,
    out: FilePath,
    resume: bool,
) -> Trainer:
    # ``show_program`` prints what follows, so it is written as a program of a user would be.
    if device is not None:
        model.to_device(device)
    if not isinstance(train, Iterator):
        train = SerialIterator(train, batch_size)
    updater = updaters.StandardUpdater(train, optimizer, device=model.device)
    trainer = Trainer(updater, (epochs, "epoch"), out=out)
    if validation is not None:
        if not isinstance(validation, Iterator):
            validation = SerialIterator(validation, batch_size, repeat=False, shuffle=False)
        trainer.extend(extensions.Evaluator(validation, model, device=model.device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(None))
    for callback in callbacks:
        trainer.extend(callback)
    trainer.extend(extensions.snapshot(n_retains=1, autoload=resume))
    return trainer


_PROGRAM = """\
# model, train, validation, optimizer, callbacks: what the call of chainer.fit was given.
from chainer.dataset import Iterator
from chainer.iterators import SerialIterator
from chainer.training import Trainer, extensions, updaters

{values}
optimizer.setup(model)
{body}
trainer.run()
log = trainer.get_extension("LogReport").log
"""


def _program(values: Mapping[str, object]) -> str:
    """Returns the program that a call runs: the source of the function that runs."""
    lines = inspect.getsource(_make_trainer).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("    if device"))
    body = textwrap.dedent("\n".join(lines[first:-1]))
    given = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    return _PROGRAM.format(values=given, body=body)


def _data(name: str, data: object) -> DatasetLike | Iterator:
    """Returns a dataset or an iterator of one of the forms that ``fit`` takes."""
    if isinstance(data, tuple):
        data = TupleDataset(*cast("tuple[Any, ...]", data))
    if isinstance(data, Iterator):
        return data
    if isinstance(data, Mapping):
        raise TypeError(
            f"{name} must be a dataset, a tuple of arrays or an iterator, got a dictionary: "
            f"write chainer.datasets.DictDataset(**{name})"
        )
    if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        raise wrong_type(name, "a dataset, a tuple of arrays or an iterator", data)
    dataset = cast("DatasetLike", data)
    if len(dataset) == 0:
        raise ValueError(f"{name} must have at least one example, got an empty dataset")
    return dataset

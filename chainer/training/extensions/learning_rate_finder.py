"""Range test of the learning rate."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chainer.core.arguments import wrong_type
from chainer.core.arrays.backend import get_device
from chainer.core.arrays.device_resident import device_of
from chainer.core.arrays.lookup import is_array
from chainer.core.autograd.function import no_backprop_mode
from chainer.core.config.configuration import using_config
from chainer.core.installation import install_command
from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training.dataset.convert import concat_examples
from chainer.training.extensions.plotting import Figures, save_figure
from chainer.training.updaters.standard_updater import call_with_batch

#: A loss that is this many times the best one ends the test: later ones tell nothing.
_DIVERGED = 4.0

#: Share of the old average in the smoothed loss.
_SMOOTHING = 0.9


@dataclass(repr=False)
class LearningRateRange:
    """Result of :func:`find_learning_rate`.

    Attributes:
        rates: Learning rates that were tried, ascending.
        losses: Losses at these rates, smoothed.

    Example:
        >>> from chainer.training.extensions import LearningRateRange
        >>> found = LearningRateRange(rates=[0.001, 0.01, 0.1], losses=[0.9, 0.5, 0.8])
        >>> found.rates
        [0.001, 0.01, 0.1]
    """

    rates: list[float]
    losses: list[float]

    def __repr__(self) -> str:
        ends = [f"{rate:.3g}" for rate in (self.rates[:1] + self.rates[-1:])]
        best = f", suggestion={self.suggestion:.3g}" if len(self.rates) > 2 else ""
        return f"LearningRateRange({len(self.rates)} rates from {' to '.join(ends)}{best})"

    @property
    def suggestion(self) -> float:
        """The rate at which the smoothed loss falls fastest, over the logarithm of the rate."""
        logs = [math.log(rate) for rate in self.rates]
        best, slope = 0, math.inf
        for i in range(1, len(logs) - 1):
            present = (self.losses[i + 1] - self.losses[i - 1]) / (logs[i + 1] - logs[i - 1])
            if present < slope:
                best, slope = i, present
        return self.rates[best]

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Writes a plot of the losses over the rates.

        Args:
            path: File to write; its extension tells the format.

        Raises:
            ImportError: If Matplotlib is not installed.
        """
        try:
            figure, axes = Figures().subplots(figsize=(6, 3.5))
        except ImportError as error:
            raise ImportError(
                f"plots need Matplotlib: {install_command('chainer[plot]')}"
            ) from error
        axes.plot(self.rates, self.losses)
        axes.axvline(self.suggestion, color="C1", linestyle=":", label=f"{self.suggestion:.2g}")
        axes.set(xscale="log", xlabel="learning rate", ylabel="loss (smoothed)")
        axes.legend()
        save_figure(figure, os.fspath(path))

    def _repr_html_(self) -> str:
        from chainer.training.extensions.logs.inline_plot import svg

        points = [(math.log10(r), loss) for r, loss in zip(self.rates, self.losses, strict=True)]
        return f"{svg(points)}<p>suggestion: {self.suggestion:.3g}</p>"


def find_learning_rate(
    optimizer: Any,
    iterator: Iterator[Any],
    lossfun: Callable[..., Any] | None = None,
    *,
    start: float = 1e-7,
    end: float = 10.0,
    steps: int = 100,
    attr: str | None = None,
    converter: Callable[..., Any] = concat_examples,
    device: Any = None,
) -> LearningRateRange:
    """Trains with a learning rate that grows, and tells at which one the loss falls fastest.

    Afterwards the model, the optimizer and its learning rate are as before; the iterator went on.
    See: `Cyclical Learning Rates for Training Neural Networks <https://arxiv.org/abs/1506.01186>`_.

    Args:
        optimizer: Optimizer that is set up.
        iterator: Batches; one that repeats, or has ``steps`` batches.
        lossfun: Loss function; the target of the optimizer by default.
        start: First learning rate.
        end: Last learning rate; the test ends earlier when the loss is four times the best one.
        steps: Number of updates.
        attr: Name of the hyperparameter; ``'lr'`` or ``'alpha'`` by default.
        converter: Function that makes input arrays of a batch.
        device: Device to which the batches are sent; the model's by default.

    Returns:
        Rates and losses, with ``suggestion`` and ``plot``.

    Raises:
        TypeError: If ``optimizer`` or ``iterator`` is something else.
        RuntimeError: If the optimizer is not set up, or fewer than three losses were finite.
        ValueError: If the range or the number of steps is not usable.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> data = [(np.full(2, i % 2, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> found = extensions.find_learning_rate(optimizer, iterator, steps=20)
        >>> len(found.rates) <= 20
        True
    """
    # Optimizers of other packages need not be of our class.
    if not hasattr(optimizer, "target") or not hasattr(optimizer, "hyperparam"):
        raise wrong_type("optimizer", "an optimizer", optimizer)
    if not hasattr(iterator, "__next__"):
        raise wrong_type("iterator", "an iterator of batches", iterator)
    model = optimizer.target
    if model is None:
        raise RuntimeError("the optimizer is not set up: call its setup() with the model first")
    if not 0 < start < end:
        raise ValueError(f"0 < start < end must hold, got start={start} and end={end}")
    if steps < 3:
        raise ValueError(f"steps must be 3 or more, got {steps}")
    entries = optimizer.hyperparam.get_dict()
    name = attr or ("lr" if "lr" in entries else "alpha")
    if name not in entries:
        raise ValueError(f"attr must be a hyperparameter, one of {sorted(entries)}, got {name!r}")
    device = device_of(model) if device is None else get_device(device)
    loss_function: Callable[..., Any] = model if lossfun is None else lossfun
    rates: list[float] = []
    losses: list[float] = []
    average, best = 0.0, math.inf
    batch = next(iterator)
    # The first call initializes what depends on the sizes of the data; it belongs to the state.
    with no_backprop_mode(), using_config("train", False):
        call_with_batch(loss_function, converter(batch, device))
    before, old_rate = _state(model, optimizer), entries[name]
    try:
        for step in range(steps):
            rate = start * (end / start) ** (step / (steps - 1))
            setattr(optimizer, name, rate)
            loss = call_with_batch(loss_function, converter(batch, device))
            value = float(loss.array)
            average = _SMOOTHING * average + (1 - _SMOOTHING) * value
            smoothed = average / (1 - _SMOOTHING ** (step + 1))
            best = min(best, smoothed)
            if not math.isfinite(value) or (step > 0 and smoothed > _DIVERGED * abs(best)):
                break
            rates.append(rate)
            losses.append(smoothed)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            if step + 1 < steps:
                batch = next(iterator)
    finally:
        setattr(optimizer, name, old_rate)
        _restore(model, optimizer, before)
    if len(rates) < 3:
        raise RuntimeError(
            f"only {len(rates)} losses are finite and not much larger than the first one; choose "
            f"a smaller start than {start}"
        )
    return LearningRateRange(rates, losses)


def _state(model: Any, optimizer: Any) -> tuple[bytes, dict[str, Any]]:
    file = io.BytesIO()
    save_npz(file, model)
    rules = {
        name: (rule.t, None if rule.state is None else _copied(rule.state))
        for name, param in model.namedparams()
        if (rule := param.update_rule) is not None
    }
    return file.getvalue(), {"t": optimizer.t, "epoch": optimizer.epoch, "rules": rules}


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {k: v.copy() if is_array(v) else v for k, v in state.items()}


def _restore(model: Any, optimizer: Any, before: tuple[bytes, dict[str, Any]]) -> None:
    load_npz(io.BytesIO(before[0]), model)
    model.cleargrads()
    optimizer.t, optimizer.epoch = before[1]["t"], before[1]["epoch"]
    for name, param in model.namedparams():
        if param.update_rule is not None:
            param.update_rule.t, param.update_rule._state = before[1]["rules"][name]
            # The float32 copy of a parameter of 16 bits is made again from the parameter.
            param.update_rule._fp32_param = None

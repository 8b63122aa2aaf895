"""When a trigger calls an extension, and in which order an iterator takes examples."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
from chainer import training
from scripts.site.names import Name
from scripts.site.pictures.figures import MAIN, NEUTRAL, SECOND, Drawing, drawing, new_axes

_STEPS = 60

#: Name of an argument of a trigger -> an example of it.
_OF_TRIGGERS: dict[str, Any] = {
    "period": 15,
    "unit": "iteration",
    "points": [10, 25, 50],
    "key": "main/loss",
    "trigger": (5, "iteration"),
    "check_trigger": (5, "iteration"),
    "max_trigger": (_STEPS, "iteration"),
    "patience": 3,
}

_EXAMPLES = 24
#: Name of an argument of an order -> an example of it.
_OF_ORDERS: dict[str, Any] = {
    "weights": np.arange(_EXAMPLES) + 1.0,
    "sizes": np.random.RandomState(0).permutation(_EXAMPLES) + 1,
    "batch_size": 4,
    "pool": 3,
    "random_state": 0,
}


def draw(name: Name, value: object) -> Drawing | None:
    """Draws the calls of a trigger over a loss that falls and rises, or the order of examples."""
    if not inspect.isclass(value):
        return None
    if name.public.startswith("chainer.training.triggers."):
        return _trigger(value)
    if name.public.startswith("chainer.iterators."):
        return _order(value)
    return None


def _given(value: Callable[..., Any], known: dict[str, Any]) -> dict[str, Any] | None:
    """Returns examples of the arguments that are known; None if one that is needed is not."""
    given = {}
    for parameter in inspect.signature(value).parameters.values():
        if parameter.name in known:
            given[parameter.name] = known[parameter.name]
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            return None
    return given


def _trigger(cls: type[Any]) -> Drawing | None:
    given = _given(cls, _OF_TRIGGERS)
    # Without arguments, it waits for what happens outside of the training.
    if given is None or ("period" in given and "unit" not in given):
        return None
    steps = np.arange(1, _STEPS + 1)
    losses = 0.3 + ((steps - 35) / 35) ** 2
    made = cls(**given)
    calls: list[int] = []

    class Replay(training.updaters.StandardUpdater):
        def update_core(self) -> None:
            chainer.report({"main/loss": losses[self.iteration]})

    iterator = chainer.iterators.SerialIterator([np.ones(1, np.float32)], 1)
    optimizer = chainer.optimizers.SGD().setup(chainer.links.Linear(1, 1))
    with tempfile.TemporaryDirectory() as out:
        trainer = training.Trainer(Replay(iterator, optimizer), (_STEPS, "iteration"), out=out)

        def note(trainer: training.Trainer) -> None:
            calls.append(trainer.updater.iteration)

        trainer.extend(note, name="note", trigger=made)
        trainer.run()
    calls = [call for call in calls if call]
    if not calls:
        return None
    (axes,) = new_axes()
    axes.plot(steps, losses, color=NEUTRAL, label="main/loss")
    axes.plot(calls, losses[np.array(calls) - 1], "o", color=MAIN, label="calls")
    axes.set(xlabel="iteration")
    axes.legend()
    arguments = ", ".join(f"{key}={each!r}" for key, each in given.items())
    return drawing([axes], f"A loss, and when `{cls.__name__}({arguments})` calls an extension.")


def _order(cls: type[Any]) -> Drawing | None:
    given = _given(cls, _OF_ORDERS)
    # Iterators take the order of the samplers, which have pages of their own.
    if not given or "dataset" in given or not callable(cls):
        return None
    sampler = cls(**given)
    order = np.arange(_EXAMPLES)
    epochs = []
    for _ in range(2):
        order = np.asarray(sampler(order, 0))
        epochs.append(order)
    values, label = np.arange(_EXAMPLES), "index of the example"
    if "sizes" in given:
        values, label = given["sizes"], "size of the example"
    (axes,) = new_axes()
    for i, (each, color, marker) in enumerate(zip(epochs, (MAIN, SECOND), "ox", strict=True)):
        places = np.arange(len(each)) + i * _EXAMPLES
        axes.plot(places, values[each], marker, color=color, label=f"epoch {i + 1}")
    axes.set(xlabel="position", ylabel=label)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    arguments = ", ".join(
        f"{key}={each}" for key, each in given.items() if not isinstance(each, np.ndarray)
    )
    first = next((f"{key}, " for key in ("weights", "sizes") if key in given), "")
    call = f"{cls.__name__}({first}{arguments})"
    text = " Weights grow with the index." if "weights" in given else ""
    return drawing([axes], f"The order of {_EXAMPLES} examples in two epochs by `{call}`.{text}")

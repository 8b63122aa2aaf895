"""Courses of the values that extensions change while a training runs."""

from __future__ import annotations

import inspect
import tempfile
from typing import Any, cast

import numpy as np

import chainer
from chainer import training
from chainer.training.schedules import Cosine, Polynomial
from scripts.site.names import Name
from scripts.site.pictures.figures import MAIN, Drawing, drawing, new_axes

_STEPS = 100

#: Name of an argument of a schedule or of an extension that shifts a value -> an example of it.
_ARGUMENTS: dict[str, Any] = {
    "attr": "lr",
    "every": 25,
    "gamma": 0.5,
    "init": 1.0,
    "initial": 1.0,
    "max_count": 80,
    "maximum": 1.0,
    "power": 2.0,
    "rate": 0.97,
    "step": 25,
    "step_value": [30, 60],
    "steps": 80,
    "time_range": (20, 80),
    "value_range": (1.0, 0.1),
    "warmup_iter": 20,
    "warmup_start": 0.1,
    "key": "main/loss",
    "parts": ((Polynomial(1.0, 50, final=0.4), 40), (Cosine(0.8, 50), None)),
    "schedule": Cosine(1.0, 80),
}


def draw(name: Name, value: object) -> Drawing | None:
    """Draws a schedule of ``chainer.training.schedules``, or an extension that shifts a value."""
    if name.public.startswith("chainer.training.schedules."):
        course = _schedule(cast("Any", value))
    elif inspect.isclass(value) and issubclass(value, training.Extension):
        course = _extension(value)
    else:
        return None
    if course is None or np.ptp(course[0]) == 0:
        return None
    (axes,) = new_axes()
    axes.plot(course[0], color=MAIN, drawstyle="steps-post")
    axes.set(xlabel="iteration", ylabel="value", ylim=(0, None))
    return drawing([axes], f"Course of a value with `{course[1]}`.")


def _arguments(value: Any) -> dict[str, Any] | None:
    """Returns examples of all arguments that a call needs; None if one is not known."""
    given = {}
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL and parameter.name in _ARGUMENTS:
            given[parameter.name] = _ARGUMENTS[parameter.name]
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            if parameter.name not in _ARGUMENTS:
                return None
            given[parameter.name] = _ARGUMENTS[parameter.name]
    return given


def _text(value: Any, given: dict[str, Any]) -> str:
    arguments = [f"{key}={each!r}" for key, each in given.items() if key != "optimizer"]
    if "parts" in given:
        arguments = [repr(each) for each in given["parts"]]
    return f"{value.__name__}({', '.join(arguments)})"


def _schedule(value: Any) -> tuple[list[float], str] | None:
    given = _arguments(value) if callable(value) else None
    if not given:
        return None
    schedule: Any = value(*given["parts"]) if "parts" in given else value(**given)
    # Some depend on values that are reported.
    if len(inspect.signature(schedule).parameters) != 1:
        return None
    return [float(schedule(step)) for step in range(_STEPS)], _text(value, given)


def _extension(cls: type[Any]) -> tuple[list[float], str] | None:
    given = _arguments(cls)
    # An extension that shifts a value names the attribute first.
    if not given or "attr" not in given:
        return None
    optimizer = chainer.optimizers.SGD(1.0).setup(chainer.links.Linear(1, 1))
    given["optimizer"] = optimizer
    iterator = chainer.iterators.SerialIterator([np.ones(1, np.float32)], 1)

    class Still(training.updaters.StandardUpdater):
        def update_core(self) -> None:
            # It gets no better, which some extensions look at.
            chainer.report({"main/loss": 1.0})

    course: list[float] = []
    with tempfile.TemporaryDirectory() as out:
        trainer = training.Trainer(Still(iterator, optimizer), (_STEPS, "iteration"), out=out)
        trainer.extend(cls(**given))
        trainer.extend(
            lambda _: course.append(float(cast("Any", optimizer).lr)),
            name="note",
            trigger=(1, "iteration"),
            priority=-1000,
            call_before_training=True,
        )
        trainer.run()
    given.pop("optimizer")
    return course, _text(cls, given)

"""Random runs of a trainer: order of the calls of extensions, and the final state.

The module runs in release 7.8.1, too, hence on Python 3.7. A run has some extensions with random
triggers, priorities and methods, which may raise an error; it is described by its number alone.
"""

import io
import json
import random
import shutil
import sys
import tempfile
import warnings

import numpy as np

import chainer
from chainer import training

#: Points at which an extension may raise an error.
_POINTS = ("call", "initialize", "trigger")


class _Failure(Exception):
    pass


class _Updater:
    """Counts iterations and epochs; it has what a trainer asks an updater for."""

    def __init__(self, log, length, fails_at):
        self.log, self.length, self.fails_at = log, length, fails_at
        self.iteration = 0
        self.optimizer = chainer.optimizers.SGD().setup(chainer.links.Linear(1, 1))

    @property
    def epoch(self):
        return self.iteration // self.length

    @property
    def epoch_detail(self):
        return self.iteration / float(self.length)

    @property
    def previous_epoch_detail(self):
        return max(self.iteration - 1, 0) / float(self.length)

    @property
    def is_new_epoch(self):
        return self.iteration > 0 and self.iteration % self.length == 0

    def update(self):
        self.iteration += 1
        self.log.append("update %d" % self.iteration)
        if self.iteration == self.fails_at:
            raise _Failure("update")
        chainer.report({"x": self.iteration * 0.5})

    def connect_trainer(self, trainer):
        self.log.append("connect")

    def finalize(self):
        self.log.append("finalize updater")

    def get_all_optimizers(self):
        return {"main": self.optimizer}

    def get_optimizer(self, name):
        return self.optimizer

    def serialize(self, serializer):
        self.iteration = serializer("iteration", self.iteration)


def _trigger(rng, log, name, fails_at):
    kind = rng.randrange(6)
    if kind == 0:
        return None
    if kind == 1:
        return rng.randrange(1, 4), "iteration"
    if kind == 2:
        return rng.choice([1, 2, 0.5]), "epoch"
    if kind == 3:
        points = sorted(rng.sample(range(1, 8), 2))
        return training.triggers.ManualScheduleTrigger(points, "iteration")
    if kind == 4:
        return training.triggers.OnceTrigger(rng.random() < 0.5)

    def trigger(trainer):
        log.append("trigger " + name)
        if trainer.updater.iteration == fails_at:
            raise _Failure("trigger")
        return trainer.updater.iteration % 2 == 0

    return trigger


def _extension(rng, log, name, fails):
    """Returns an extension that logs its calls: a function, a class, or a decorated function."""
    point, fails_at = fails

    def note(event, trainer=None):
        seen = "" if trainer is None else " %s" % sorted(trainer.observation)
        log.append("%s %s%s" % (event, name, seen))

    def call(trainer):
        note("call", trainer)
        if point == "call" and trainer.updater.iteration == fails_at:
            raise _Failure("call")
        if rng_report:
            chainer.report({name: 1.0})

    rng_report = rng.random() < 0.3
    kind = rng.randrange(4)
    if kind == 0:
        return call
    if kind == 1:
        options = {"trigger": (rng.randrange(1, 3), "iteration"), "priority": rng.randrange(0, 400)}
        options = {key: value for key, value in options.items() if rng.random() < 0.7}
        if rng.random() < 0.5:
            options["default_name"] = name + "_default"
        return training.make_extension(
            finalizer=(lambda: note("finalize")) if rng.random() < 0.5 else None,
            initializer=(lambda trainer: note("initialize")) if rng.random() < 0.5 else None,
            on_error=(lambda trainer, error, trace: note("on_error " + type(error).__name__))
            if rng.random() < 0.5
            else None,
            **options,
        )(call)

    class Extension(training.Extension):
        def __call__(self, trainer):
            call(trainer)

        def initialize(self, trainer):
            note("initialize", trainer)
            if point == "initialize":
                raise _Failure("initialize")

        def finalize(self):
            note("finalize")

        def on_error(self, trainer, error, trace):
            note("on_error " + type(error).__name__)

        def serialize(self, serializer):
            serializer(name, 1)

    if rng.random() < 0.5:
        Extension.trigger = rng.randrange(1, 3), "iteration"
    if rng.random() < 0.5:
        Extension.priority = rng.choice([50, 100, 200, 300])
    if kind == 3:
        Extension.name = rng.choice([None, name + "_own", "shared"])
    return Extension()


def run(number):
    """Makes a random run.

    Args:
        number (int): Its number.

    Returns:
        dict: The calls in order, the final state, and the error if there was one.
    """
    rng = random.Random(number)
    log = []
    updater = _Updater(log, rng.randrange(1, 5), rng.choice([None, None, None, 2, 4]))
    out = tempfile.mkdtemp()
    stop = rng.choice([(5, "iteration"), (2, "epoch"), (7, "iteration")])
    trainer = training.Trainer(updater, stop, out=out)
    try:
        for i in range(rng.randrange(0, 5)):
            name = "e%d" % i
            fails = rng.choice([(None, None)] * 6 + [(point, 3) for point in _POINTS])
            extension = _extension(rng, log, name, fails)
            options = {}
            if rng.random() < 0.7:
                options["trigger"] = _trigger(
                    rng, log, name, fails[1] if fails[0] == "trigger" else None
                )
            if rng.random() < 0.4:
                options["priority"] = rng.randrange(0, 400)
            if rng.random() < 0.5:
                options["name"] = rng.choice([name, "same"])
            if rng.random() < 0.3:
                options["call_before_training"] = True
            trainer.extend(extension, **options)
        if rng.random() < 0.3:
            trainer.extend(training.extensions.observe_lr())
        if rng.random() < 0.3:
            trainer.extend(
                training.extensions.observe_value("v", lambda t: t.updater.iteration),
                trigger=(2, "iteration"),
            )
        if rng.random() < 0.2:
            trainer.get_extension("e0")
        error = None
        try:
            trainer.run()
        except _Failure as failure:
            error = str(failure)
        again = None
        if rng.random() < 0.2:
            try:
                trainer.run()
                again = "ran"
            except Exception as failure:
                again = type(failure).__name__
        return {
            "log": log,
            "error": error,
            "again": again,
            "iteration": updater.iteration,
            "observation": sorted(trainer.observation),
            "done": trainer._done,
            "lr": float(updater.optimizer.lr),
            "extensions": _names(trainer),
            "saved": _saved(trainer),
        }
    except Exception as failure:
        return {"log": log, "refused": type(failure).__name__}
    finally:
        shutil.rmtree(out)


def _names(trainer):
    return {name: entry.priority for name, entry in sorted(trainer._extensions.items())}


def _saved(trainer):
    """Returns what a snapshot contains, without what only one of the releases saves."""
    serializer = chainer.serializers.DictionarySerializer()
    trainer.serialize(serializer)
    return {
        name: np.asarray(value).tolist()
        for name, value in sorted(serializer.target.items())
        if not name.startswith(("random_states", "_snapshot_elapsed_time"))
    }


def main(arguments):
    """Prints the results of runs as JSON, one a line.

    Args:
        arguments (list of str): Number of the first run, and the number after the last one.
    """
    warnings.simplefilter("ignore")
    sys.stderr = io.StringIO()  # trainers print what extensions raise
    for number in range(int(arguments[0]), int(arguments[1])):
        print(json.dumps(run(number), sort_keys=True))

"""Presses Ctrl-C at every place of captured steps and of ``chainer.fit``.

Run ``python tests/robustness/interrupts.py`` for all programs, or name some. The program runs once,
traced. Before each place where Python looks for signals (after calls, at loops and at the begin of
functions) the process is forked, and the child gets the signal there: it must end the program by
KeyboardInterrupt, or complete it, leave the state of the process as it was, and go on from there as
a program that was not interrupted. A place counts once for each of its first ``--visits`` visits:
recording one step visits 100,000 places, most of them in loops.
"""

from __future__ import annotations

import argparse
import collections
import dis
import gc
import itertools
import os
import random
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

# One thread of the BLAS library: a process that is forked has no others.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.config.configuration import threads

#: Seconds after which a child hangs.
_LIMIT = 120


def state_of_process() -> tuple[Any, ...]:
    """Returns what an interrupt must leave as it was."""
    found = threads.state
    return (
        dict(found.values),
        dict(found.hooks),
        found.recorder,
        *(found.enable_backprop, found.debug, chainer.config.train),
        signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM),
        gc.isenabled(),
        [thread.name for thread in threading.enumerate()],
    )


def places_of(code: CodeType) -> set[int]:
    """Returns the offsets before which Python looks for signals, and the begin of the function."""
    instructions = list(dis.get_instructions(code))
    return {instructions[0].offset} | {
        b.offset
        for a, b in itertools.pairwise(instructions)
        if a.opname.startswith(("CALL", "RESUME")) or "JUMP_BACKWARD" in b.opname
    }


class Interrupted:
    """Runs a function, and interrupts a copy of the process at each place.

    Args:
        visits: Number of visits of a place at which it is interrupted.
        share: Share of the places that are tried, chosen at random.
        seed: Seed of the choice.

    Attributes:
        tried: Number of interrupts.
        failures: What was wrong, by place.
    """

    def __init__(self, visits: int = 1, share: float = 1.0, seed: int = 0) -> None:
        self.tried = 0
        self.failures: dict[str, str] = {}
        self._visits, self._share, self._rng = visits, share, random.Random(seed)
        self._places: dict[CodeType, set[int]] = {}
        self._visited: collections.Counter[tuple[CodeType, int]] = collections.Counter()
        self._child: int | None = None  # the pipe to the parent, in a child
        # For programs that write files: numbers of the places, and the one of a child.
        self._numbers: list[tuple[int, str]] | None = None
        self._count, self._at = 0, -1

    def run(self, function: Callable[[], object], check: Callable[[], None]) -> None:
        """Runs a function.

        Args:
            function: What is interrupted.
            check: Called in each child after the interrupt; it raises if something is wrong.
        """
        before = state_of_process()
        sys.settrace(self._trace)
        try:
            function()
        except KeyboardInterrupt:
            assert self._child is not None
        finally:
            sys.settrace(None)
            if self._child is not None:
                self._end(before, check)

    def run_anew(self, function: Callable[[], object], check: Callable[[], None]) -> None:
        """Does the same, but each child runs the function from its start, as it writes files.

        Args:
            function: What is interrupted.
            check: See :meth:`run`.
        """
        self._numbers = []
        self.run(function, check)
        for number, place in self._numbers:
            if self._fork(place):
                self._visited.clear()
                self._count, self._at = 0, number
                self.run(function, check)

    def _end(self, before: tuple[Any, ...], check: Callable[[], None]) -> None:
        try:
            assert state_of_process() == before, (state_of_process(), before)
            check()
        except BaseException:
            os.write(self._child or 2, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(0)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_globals.get("__name__", "").startswith(("chainer", "numpy", "contextlib")):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            code = frame.f_code
            places = self._places.get(code)
            if places is None:
                places = self._places[code] = places_of(code)
            if frame.f_lasti in places:
                place = (code, frame.f_lasti)
                self._visited[place] += 1
                if self._visited[place] <= self._visits:
                    self._interrupt(f"{code.co_filename}:{frame.f_lineno} {code.co_qualname}")
        return self._trace

    def _interrupt(self, place: str) -> None:
        number = self._count
        self._count += 1
        if self._numbers is None:
            interrupted = self._rng.random() < self._share and self._fork(place)
        else:
            interrupted = number == self._at
            if self._child is None and self._rng.random() < self._share:
                self._numbers.append((number, place))
        if interrupted:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)

    def _fork(self, place: str) -> bool:
        """Returns True in the child, and in the parent False after the child has ended."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._child = writer
            signal.alarm(_LIMIT)
            return True
        os.close(writer)
        with os.fdopen(reader) as file:
            text = file.read()
        _, status = os.waitpid(child, 0)
        self.tried += 1
        if text or status:
            self.failures[place] = text or f"status {status}"
        return False


# -- programs ------------------------------------------------------------------------------------

X, T = np.ones((2, 3), np.float32), np.array([0, 1], np.int32)


class Step:
    """A captured step, which was called a number of times."""

    def __init__(self, calls: int) -> None:
        self.model = L.Classifier(L.Linear(3, 2, initialW=0.1))
        self.optimizer = chainer.optimizers.Adam().setup(self.model)
        self.captured = chainer.capture(self._step, self.model, self.optimizer)
        for _ in range(calls):
            self()

    def _step(self, x: Any, t: Any) -> Any:
        loss = self.model(x, t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def __call__(self) -> None:
        self.captured(X, T)

    def state(self) -> tuple[Any, ...]:
        rules = [param.update_rule for param in self.model.params()]
        return (
            self.optimizer.t,
            [(rule.t, *[v.tobytes() for v in (rule.state or {}).values()]) for rule in rules],
            [param.array.tobytes() for param in self.model.params()],
        )


def captured(calls: int) -> Callable[[Interrupted], None]:
    """Returns a program that interrupts the call after a number of calls."""

    def program(interrupted: Interrupted) -> None:
        states = [Step(number).state() for number in range(calls + 5)]
        step = Step(calls)

        def check() -> None:
            number = states.index(step.state())
            assert number in (calls, calls + 1)
            for later in range(number + 1, number + 4):
                step()
                assert step.state() == states[later]

        interrupted.run(step, check)

    return program


class Network(chainer.Chain):
    """A network with dropout, whose masks come from the global random generator."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.l2 = L.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        return self.l2(F.dropout(F.relu(self.l1(x))))


def fit(interrupted: Interrupted) -> None:
    """A training that is interrupted, and resumed by the same call with a new model."""
    data = np.random.RandomState(0).rand(8, 3).astype(np.float32), np.arange(8, dtype=np.int32) % 2

    def train(folder: str) -> list[bytes]:
        np.random.seed(0)
        model = L.Classifier(Network())
        with open(os.devnull, "w") as null:
            sys.stdout, stdout = null, sys.stdout
            try:
                chainer.fit(model, data, data, epochs=2, batch_size=4, out=folder, resume=True)
            finally:
                sys.stdout = stdout
        return [param.array.tobytes() for param in model.params()]

    with tempfile.TemporaryDirectory() as parent:
        expected = train(os.path.join(parent, "whole"))
        names = sorted(os.listdir(os.path.join(parent, "whole")))

        def folder() -> str:
            return os.path.join(parent, str(os.getpid()))

        def check() -> None:
            left = os.listdir(folder()) if os.path.isdir(folder()) else []
            # The snapshot of an earlier epoch is whole, and removed after the next one. A lock of
            # a process that lives does not keep that process out.
            assert {*left} <= {*names, "snapshot_iter_2", ".log.lock"}, left
            assert train(folder()) == expected
            assert sorted(os.listdir(folder())) == names

        interrupted.run_anew(lambda: train(folder()), check)


PROGRAMS: dict[str, Callable[[Interrupted], None]] = {
    "recorded": captured(1),
    "compared": captured(2),
    "repeated": captured(3),
    "fit": fit,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", help=f"of {', '.join(PROGRAMS)}; default: all")
    parser.add_argument("--visits", type=int, default=1, help="visits of a place that count")
    parser.add_argument("--share", type=float, default=1.0, help="share of the places")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    bad = 0
    for name in options.programs or PROGRAMS:
        # Once without interrupts: what is imported and remembered at the first time.
        PROGRAMS[name](Interrupted(0))
        interrupted = Interrupted(options.visits, options.share, options.seed)
        PROGRAMS[name](interrupted)
        print(f"{name}: {interrupted.tried} interrupts, {len(interrupted.failures)} wrong")
        for place, text in interrupted.failures.items():
            print(f"  {place}: {text}", flush=True)
        bad += len(interrupted.failures)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

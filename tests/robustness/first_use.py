"""Threads that use Chainer for the first time at once: no hang, and one result for all.

Every trial runs in a process of its own, in which Chainer was imported and nothing else was used::

    python tests/robustness/first_use.py --pairs --repeat 20    # all pairs of 30 names
    python tests/robustness/first_use.py --threads 32 --repeat 500
    python tests/robustness/first_use.py --pairs --repeat 20 --skip 2000 --minutes 5    # a part

The processes are forks of this one, which has one thread. So a trial takes 0.1 seconds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Sequence

#: First names from all over the package: entries of registries, second names of modules, lazy
#: attributes, a submodule, an operator and missing names, which load all installed plugins.
NAMES = (
    *("functions.relu", "functions.softmax_cross_entropy", "functions.n_step_lstm"),
    *("functions.activation", "functions.typo", "function_hooks.TimerHook"),
    *(
        "links.Linear",
        "links.Classifier",
        "links.VGG16Layers",
        "links.typo",
        "link_hooks.TimerHook",
    ),
    *("initializers.Normal", "serializers.save_npz", "serializers.load_hdf5"),
    *("optimizers.Adam", "optimizers.typo", "optimizer_hooks.WeightDecay", "optimizer.Optimizer"),
    *("iterators.SerialIterator", "datasets.TupleDataset", "dataset.concat_examples"),
    *("distributions.Normal", "training.Trainer", "training.extensions.Evaluator"),
    *("training.updaters.StandardUpdater", "training.triggers.IntervalTrigger"),
    *("Chain", "report", "backends.cuda", "@add"),
)

#: A trial that takes longer hangs. Loading everything takes about 2 seconds on one core.
LIMIT_SECONDS = 60.0


def use(name: str) -> object:
    """Uses a name of Chainer as a program does, and returns what it got."""
    import chainer

    if name == "@add":
        import numpy as np

        return float((chainer.Variable(np.ones((), np.float32)) + 2).array)
    found: object = chainer
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            # A missing name gets the same answer in all threads, too.
            return f"{type(error).__name__}: {error}"
    return found


def use_at_once(names: Sequence[str]) -> list[str]:
    """Uses names in one thread each, all at once.

    Args:
        names: One name for each thread.

    Returns:
        list of str: What went wrong; empty if nothing did.
    """
    import chainer

    start = threading.Barrier(len(names))
    results: dict[int, object] = {}
    problems: list[str] = []

    def work(number: int, name: str) -> None:
        start.wait()
        try:
            results[number] = use(name)
        except BaseException:
            problems.append(f"{name}: {traceback.format_exc()}")

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, result in results.items():
        now = use(names[number])
        if result is not now and (not isinstance(now, (str, float)) or result != now):
            problems.append(f"{names[number]}: a thread got {result!r}, now it is {now!r}")
        if isinstance(now, str) and "typo" not in names[number]:
            problems.append(f"{names[number]}: {now}")
    failed = [record for record in chainer.plugins.records() if record.problem]
    problems += [f"{record.name}: {record.problem}" for record in failed]
    return problems


def trial(names: Sequence[str], limit: float = LIMIT_SECONDS) -> list[str]:
    """Runs :func:`use_at_once` in a new process that has imported Chainer only.

    Args:
        names: One name for each thread.
        limit: The process is taken to hang if it used the processor for this many seconds, or not
            at all for this long. So a machine where other programs keep the cores busy may take
            longer.

    Returns:
        list of str: What went wrong; empty if nothing did.
    """
    import chainer  # the fork begins where `import chainer` ends

    # Threads change in the middle of a trial only if Python changes them often.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            assert chainer.__version__
            sys.setswitchinterval(random.choice([1e-6, 1e-4, 5e-3]))
            with warnings.catch_warnings():
                warnings.simplefilter("error", chainer.plugins.PluginWarning)
                problems = use_at_once(names)
        except BaseException:
            problems = [traceback.format_exc()]
        os.write(writer, json.dumps(problems)[:60_000].encode())
        os._exit(0)
    os.close(writer)
    return _wait_for(child, reader, names, limit)


def _wait_for(child: int, reader: int, names: Sequence[str], limit: float) -> list[str]:
    end, used = time.monotonic() + limit, 0.0
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > end and used < (now := _processor_seconds(child)) < limit:
            end, used = time.monotonic() + limit, now
        elif time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            return [f"{', '.join(names)}: no end after {limit} seconds"]
        time.sleep(0.002)
    with os.fdopen(reader) as file:
        text = file.read()
    return json.loads(text) if text else [f"{', '.join(names)}: the process ended early"]


def _processor_seconds(child: int) -> float:
    """Returns the processor time of a process; 0 where the system does not tell it in a file."""
    try:
        with open(f"/proc/{child}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", action="store_true", help="all pairs of the names")
    parser.add_argument("--threads", type=int, default=0, help="threads with random names")
    parser.add_argument("--repeat", type=int, default=1, help="how often; default: 1")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random names")
    parser.add_argument("--skip", type=int, default=0, help="trials that were made before")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="ends after this time")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    cases: list[tuple[str, ...]] = []
    if arguments.pairs:
        cases += list(itertools.combinations(NAMES, 2)) * arguments.repeat
    if arguments.threads:
        cases += [tuple(rng.choices(NAMES, k=arguments.threads)) for _ in range(arguments.repeat)]
    rng.shuffle(cases)
    bad, start = 0, time.monotonic()
    for number, names in enumerate(cases[arguments.skip :], arguments.skip + 1):
        problems = trial(names)
        bad += bool(problems)
        for problem in problems:
            print(f"{'+'.join(names[:4])}: {problem}", flush=True)
        seconds = time.monotonic() - start
        is_over = number == len(cases) or seconds > 60 * arguments.minutes
        if number % 500 == 0 or is_over:
            print(f"{number} of {len(cases)} trials, {bad} wrong, {seconds:.0f} s", flush=True)
        if is_over:
            break
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())

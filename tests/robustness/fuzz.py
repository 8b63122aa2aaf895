"""Calls every public function, class and method with random arguments of the wrong kind.

Run ``python tests/robustness/fuzz.py --calls 10000`` (functions), and with ``--kind links`` and the
other kinds. A call may work or raise an error. It must not crash the process, hang, or show an
internal attribute (``_name``) in the message. Nor may functions and constructors say only that
some object lacks an attribute: this tells neither which argument is wrong, nor what it must be.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import importlib
import inspect
import os
import random
import re
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
from chainer.core.registry import registries

#: Names that begin with an underscore: ``'_array'``, ``self._size``. Keys of dictionaries and words
#: of the messages of NumPy do not look like this.
_INTERNAL = re.compile(r"attribute '_(?!_)\w+'|\._(?!_)[a-z]\w+")

#: A message of Python that names neither the argument nor what was expected.
_POOR = re.compile(r"^('[\w.]+' object|type object '[\w.]+') has no attribute '\w+'$")

#: Kind -> module of its public names.
KINDS = {
    "functions": "chainer.functions",
    "links": "chainer.links",
    "optimizers": "chainer.optimizers",
    "optimizer_hooks": "chainer.optimizer_hooks",
    "iterators": "chainer.iterators",
    "extensions": "chainer.training.extensions",
    "triggers": "chainer.training.triggers",
    "updaters": "chainer.training.updaters",
    "serializers": "chainer.serializers",
    "distributions": "chainer.distributions",
    "datasets": "chainer.datasets",
    "dataset": "chainer.dataset",
    "initializers": "chainer.initializers",
    "function_hooks": "chainer.function_hooks",
    "link_hooks": "chainer.link_hooks",
    "utils": "chainer.utils",
    "chainer": "chainer",
}

#: Downloads, settings of the whole process, and what runs commands or reads the command line.
_LEFT_OUT = re.compile(
    r"^(lazy_module|get_(mnist|cifar|fashion|kuzushiji|svhn|ptb)\w*|cached_download|"
    r"set_dataset_root|cache_or_load_file|set_debug|enable_final|seed|MLflowLogger|WandbLogger|"
    r"TheanoFunction|VGG1\dLayers|ResNet\d+Layers|GoogLeNet)$"
)


def values(rng: random.Random) -> list[Any]:
    """Returns arguments of many kinds, few of which fit."""
    array = np.random.RandomState(rng.randrange(100)).rand
    return [
        *(None, True, 0, 1, -1, 3, 2**40, 0.5, float("nan"), "a", b"b", [], [1, 2], (2, 2), {}),
        *({"a": 1}, object(), len, type, slice(1), np.float32(1), np.zeros(0, "f"), np.array(1.0)),
        *(array(2, 3).astype("f"), array(2, 3, 4, 4).astype("f"), array(3).astype("f")),
        *(np.arange(3, dtype="i"), np.array([5, -9], "i"), np.array(["x"]), np.array([None])),
        *(chainer.Variable(array(2, 3).astype("f")), chainer.Parameter(), chainer.Variable()),
        *(array(2, 3).astype("e"), array(2, 3), array(2, 3) + 1j, array(2, 3) > 0.5),
    ]


def _arguments(function: Any, rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        parameters = []
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum([p.default is p.empty for p in positional])
    # Mostly as many as are needed, so that the call gets beyond Python's own check.
    count = required if rng.random() < 0.7 else rng.randrange(len(positional) + 2)
    named = {
        p.name: rng.choice(values(rng))
        for p in positional[count:]
        if p.default is not p.empty and rng.random() < 0.3
    }
    return [rng.choice(values(rng)) for _ in range(count)], named


class _Hang(BaseException):
    pass


def subjects(kind: str) -> list[tuple[str, Callable[..., Any]]]:
    """Returns the public functions and classes of a kind, with their names."""
    module = importlib.import_module(KINDS[kind])
    if kind == "functions":
        registries.functions.load_all()
        names = [
            entry.name
            for entry in registries.functions.entries()
            if entry.provenance is not None and entry.provenance.distribution == "chainer"
        ]
    else:
        names = [name for name in dir(module) if not name.startswith("_")]
    found: list[tuple[str, Callable[..., Any]]] = []
    for name in names:
        # Some names of release 7 refer to packages that need not be installed.
        value = getattr(module, name, None)
        of_chainer = str(getattr(value, "__module__", "")).startswith("chainer")
        if callable(value) and of_chainer and not _LEFT_OUT.match(name):
            found.append((name, value))
    return found


def _methods(value: object) -> list[tuple[str, Callable[..., Any]]]:
    # The methods of function nodes are called by the library only.
    if not type(value).__module__.startswith("chainer") or isinstance(value, chainer.FunctionNode):
        return []
    names = [name for name in dir(type(value)) if not name.startswith("_")]
    methods = [
        (name, getattr(type(value), name))
        for name in [*names, "__call__"]
        if hasattr(type(value), name)
    ]
    return [(name, getattr(value, name)) for name, method in methods if inspect.isfunction(method)]


def _one(name: str, function: Callable[..., Any], rng: random.Random) -> tuple[str, object]:
    """Makes a call, and one of a method of the result.

    Returns:
        tuple: The name of what was called last, and its result.
    """
    arguments, named = _arguments(function, rng)
    given = [*arguments, *named.values()]
    result = function(*arguments, **named)
    methods = _methods(result)
    if not methods or isinstance(result, chainer.Variable):
        return name, result
    method, bound = rng.choice(methods)
    arguments, named = _arguments(bound, rng)
    given += [*arguments, *named.values()]
    try:
        return f"{name}.{method}", bound(*arguments, **named)
    except Exception as error:
        error.fuzzed = f"{name}.{method}"  # type: ignore[attr-defined]
        raise


def run(kind: str, calls: int, seed: int) -> tuple[collections.Counter[str], dict[str, str]]:
    """Makes calls.

    Args:
        kind: What is called; a key of ``KINDS``.
        calls: Number of calls.
        seed: Seed of the arguments.

    Returns:
        tuple: Number of calls by class of the error, and what must not happen: name and message,
        with the place where it was raised.
    """
    rng = random.Random(seed)
    table = subjects(kind)
    results: collections.Counter[str] = collections.Counter()
    wrong: dict[str, str] = {}

    def stop(*_: object) -> None:
        raise _Hang

    signal.signal(signal.SIGALRM, stop)
    for _ in range(calls):
        name, function = rng.choice(table)
        # Again each second: an error that is raised while the garbage collector runs is ignored.
        signal.setitimer(signal.ITIMER_REAL, 10, 1)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                _one(name, function, rng)
        except _Hang as error:
            if not _is_of_the_call(error) or _asks_for_much(error):
                results["too much"] += 1
                continue
            wrong.setdefault(f"{name} does not return", _place(error))
        except MemoryError:
            results["MemoryError"] += 1
        except Exception as error:
            results[type(error).__name__] += 1
            text = str(error)
            who = getattr(error, "fuzzed", name)
            if _INTERNAL.search(text) or (_POOR.match(text) and who == name):
                wrong.setdefault(f"{who}: {type(error).__name__}: {text[:200]}", _place(error))
        else:
            results["no error"] += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return results, wrong


def _is_of_the_call(error: BaseException) -> bool:
    """Returns whether the call was running; on a busy machine it may have just ended."""
    return any(
        frame.f_code.co_name == "_one" for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def _asks_for_much(error: BaseException) -> bool:
    """Returns whether an argument was 2 ** 40, which is a number of layers or of samples too."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    local = next(f.f_locals for f in frames if f.f_code.co_name == "_one")
    return 2**40 in [value for value in local["given"] if type(value) is int]


def _place(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 3):
        os.dup2(null, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=[*KINDS, "all"], nargs="+", default=["functions"])
    options = parser.parse_args()
    faulthandler.enable()
    # A call that asks for very much memory gets a MemoryError at once.
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))
    # Numbers as paths are descriptors: those that the arguments contain are not of any use.
    output = os.fdopen(os.dup2(1, 100), "w")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # for files named "a"
        for kind in KINDS if "all" in options.kind else options.kind:
            _silence()
            results, wrong = run(kind, options.calls, options.seed)
            print(kind, sum(results.values()), dict(results), flush=True, file=output)
            for text, place in wrong.items():
                print(f"  {text} ({place})", file=output)
            failed |= bool(wrong)
    output.flush()
    _silence()
    raise SystemExit(failed)


if __name__ == "__main__":
    main()

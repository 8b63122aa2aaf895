"""Calls every public function with random arguments of the wrong kind.

Run ``python tests/robustness/fuzz.py --calls 10000``. A call may work or raise an error. It must
not crash the process, hang, or show an internal attribute (``_name``) in the message.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import inspect
import random
import re
import signal
import warnings
from typing import Any

import numpy as np

import chainer
import chainer.functions as F
from chainer.core.registry import registries

#: Names that begin with an underscore: ``'_array'``, ``self._size``. Keys of dictionaries and words
#: of the messages of NumPy do not look like this.
_INTERNAL = re.compile(r"attribute '_(?!_)\w+'|\._(?!_)[a-z]\w+")


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


def run(calls: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """Makes calls.

    Args:
        calls: Number of calls.
        seed: Seed of the arguments.

    Returns:
        tuple: Number of calls by class of the error, and what must not happen.
    """
    rng = random.Random(seed)
    registries.functions.load_all()
    names = [
        entry.name
        for entry in registries.functions.entries()
        if entry.provenance is not None and entry.provenance.distribution == "chainer"
    ]
    results: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []

    def stop(*_: object) -> None:
        raise _Hang

    signal.signal(signal.SIGALRM, stop)
    for _ in range(calls):
        name = rng.choice(names)
        function = getattr(F, name)
        arguments, named = _arguments(function, rng)
        signal.alarm(20)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                function(*arguments, **named)
        except _Hang:
            wrong.append(f"{name} does not return for {arguments} {named}"[:300])
        except MemoryError:
            results["MemoryError"] += 1
        except Exception as error:
            results[type(error).__name__] += 1
            if _INTERNAL.search(str(error)):
                wrong.append(f"{name}: {type(error).__name__}: {error}"[:300])
        else:
            results["no error"] += 1
        finally:
            signal.alarm(0)
    return results, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()
    results, wrong = run(options.calls, options.seed)
    print(dict(results))
    print(*wrong, sep="\n")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()

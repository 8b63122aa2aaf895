"""Worker process of the benchmarks: runs and times programs when told to, over pipes.

Started as a script by the driver, once per peer, with that peer's own interpreter. Python 3.7
compatible; imports nothing but the standard library, so that any framework can be measured with it.

Each request and each reply is one line of JSON. Requests are ``{"do": NAME, ...}``::

    describe  ``packages``: names. Replies ``versions`` of Python and of those (null: missing).
    load      ``program``: path, ``ideep``: bool. Replies title, unit, scale, per_call, measured,
              budgets, mean_budgets, row_budgets, best_budgets, base and cases (names).
    setup     ``case``: name. Replies seconds of one call (null if it measures by itself) and result
              (floats to compare, or null); or ``missing``: the reason.
    run       ``calls``: number. Replies ``phases``: name -> seconds per call, or what was measured.
    drop      Forgets the case that was set up.

A request that fails is answered by ``{"error": TEXT}``.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import platform
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)  # for bench_case, which programs share

import bench_case  # noqa: E402  (needs the line above)


class Worker:
    """State of one worker: the program that was loaded and the case that was set up."""

    def __init__(self):
        self.program = None
        self.cases = {}
        self.case = None

    def describe(self, packages):
        versions = {"python": platform.python_version()}
        for name in packages:
            try:
                module = importlib.import_module(name)
            except ImportError as error:
                versions[name] = None
                if importlib.util.find_spec(name) is not None:  # there, but broken: say so
                    versions[name] = "import failed: {}".format(error)
            else:
                versions[name] = getattr(module, "__version__", "unknown")
        return {"versions": versions}

    def load(self, program, ideep):
        bench_case.USE_IDEEP = ideep
        folder, file_name = os.path.split(program)
        if folder not in sys.path:
            sys.path.insert(1, folder)  # programs of one folder share helper modules
        spec = importlib.util.spec_from_file_location("program_" + file_name[:-3], program)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.program = module
        self.cases = module.CASES
        unit = getattr(module, "UNIT", "ms")
        return {
            "title": (module.__doc__ or file_name).strip().splitlines()[0],
            "unit": unit,
            "scale": bench_case.UNITS[unit],
            "per_call": getattr(module, "PER_CALL", 1),
            "measured": getattr(module, "MEASURED", False),
            "budgets": getattr(module, "BUDGETS", {}),
            "mean_budgets": getattr(module, "MEAN_BUDGETS", {}),
            "row_budgets": getattr(module, "ROW_BUDGETS", []),
            "best_budgets": getattr(module, "BEST_BUDGETS", {}),
            "base": getattr(module, "BASE", "ours"),
            "compares_frameworks": getattr(module, "COMPARES_FRAMEWORKS", False),
            "cases": list(self.cases),
        }

    def setup(self, case):
        if case not in self.cases:
            return {"missing": ""}  # its program leaves this case to others
        try:
            self.case = bench_case.as_case(self.cases[case]())
            self._once()  # warm-up: caches, lazy imports, allocator
        except bench_case.Missing as error:
            self.case = None
            return {"missing": str(error)}
        seconds = None
        if not self.program_measures():
            start = time.perf_counter()
            self._once()
            seconds = time.perf_counter() - start
        result = None if self.case.result is None else [float(v) for v in self.case.result()]
        return {"seconds": seconds, "result": result}

    def run(self, calls):
        gc.collect()
        if self.program_measures():
            return {"phases": self._measured(calls)}
        totals = [0.0] * len(self.case.phases)
        functions = [function for _, function in self.case.phases]
        if len(functions) == 1:  # one phase: the clock is read twice in all
            function = functions[0]
            start = time.perf_counter()
            for _ in range(calls):
                function()
            totals[0] = time.perf_counter() - start
        else:
            clock = time.perf_counter
            for _ in range(calls):
                state = None
                for index, function in enumerate(functions):
                    start = clock()
                    state = function(state)
                    totals[index] += clock() - start
        named = zip(self.case.phases, totals)
        return {"phases": {name: t / calls for (name, _), t in named if not name.startswith("_")}}

    def drop(self):
        self.case = None
        gc.collect()
        return {}

    def program_measures(self):
        return getattr(self.program, "MEASURED", False)

    def _once(self):
        functions = [function for _, function in self.case.phases]
        if len(functions) == 1:
            functions[0]()
            return
        state = None
        for function in functions:
            state = function(state)

    def _measured(self, calls):
        """Smallest value of each phase over the calls, which return it."""
        values = {}
        for _ in range(calls):
            for name, function in self.case.phases:
                value = float(function())
                values[name] = min(value, values.get(name, value))
        return values


def describe_error(error):
    """Returns the error's type, text and origin: files, lines and functions, no source text.

    The frameworks under test are black boxes here: their source is not to appear in what a
    benchmark prints.
    """
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        lines.append(
            "{}:{} in {}".format(os.path.basename(frame.filename), frame.lineno, frame.name)
        )
    lines.append("{}: {}".format(type(error).__name__, error))
    return "\n".join(lines)


def main():
    # What libraries print must not mix with the replies: standard output becomes standard error.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(worker, request.pop("do"))(**request)
        except Exception as error:  # whatever a program raises is the driver's to show
            reply = {"error": describe_error(error)}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()

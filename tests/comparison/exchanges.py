"""Compares runs of trainers, links, networks of Caffe, files and names with release 7.8.1."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.behavior.test_module_paths import INTERNAL_MODULES, INTERNAL_NAMES
from tests.comparison import caffe_networks, link_differences, link_trees
from tests.comparison.caffe_differences import outcome_of_networks
from tests.comparison.stored import store_caffe, store_links, store_runs

#: Runs a module of this package in an interpreter: interpreter, module, arguments -> output.
Run = Callable[..., str]

Record = dict[str, Any]

#: Modules of other distributions that release 7.8.1 imports. They are attributes where installed.
_OPTIONAL = {"PIL", "filelock", "google", "h5py", "ideep4py", "mock", "pkg_resources", "pytest"} | {
    *("_pytest", "scipy", "six", "typing_extensions")
}

#: Imported by release 7.8.1 from modules of its implementation or from elsewhere.
#: ``traceback`` is imported at its first use here, because only debug mode needs it.
_IMPORTED = {"MemoryHook", "make_npz", "mdarray", "mul", "preprocess_mnist", "traceback"}


def compare_trainers(run: Run, peer: str, own: str, count: int, first: int = 0) -> int:
    """Compares random runs of a trainer; returns the number of unexplained differences.

    Args:
        run: Runs a module in an interpreter.
        peer: Interpreter with release 7.8.1.
        own: Interpreter with this release.
        count: Number of runs.
        first: Number of the first run.
    """
    theirs, ours = (
        _records(run(python, "tests.comparison.trainer_runs", str(first), str(first + count)))
        for python in (peer, own)
    )
    results: Counter[str] = Counter()
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True), first):
        if a == b:
            results["same"] += 1
        elif a.get("error") == "initialize":
            # Here the extensions are finalized; 7.8.1 leaves them as they are.
            results["an initializer fails"] += 1
        else:
            results["NOT INTENDED"] += 1
            _print_difference(f"run {number}", a, b)
    return _report(f"{count} runs of a trainer", results)


def store_trainers(run: Run, peer: str, count: int) -> None:
    """Stores random runs of release 7.8.1, so that tests need no such release."""
    store_runs(_records(run(peer, "tests.comparison.trainer_runs", "0", str(count))))


def compare_links(run: Run, peer: str, own: str, count: int, first: int = 0) -> int:
    """Compares random programs of links; see :func:`compare_trainers`."""
    theirs, ours = (
        _answers(run(python, "tests.comparison.link_trees", str(first), str(first + count)))
        for python in (peer, own)
    )
    results: Counter[str] = Counter()
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True), first):
        found = link_differences.first_difference(a, b)
        program = link_trees.program_of(number)
        name = "same" if found is None else link_differences.intended_name(found, program)
        results[name or "NOT INTENDED"] += 1
        if found is not None and name is None:
            print(f"program {number}, {found.kind}: 7.8.1 {found.theirs}; here {found.ours}"[:600])
            print("    " + "\n    ".join(program[: found.number + 1]))
    return _report(f"{count} programs of links", results)


def store_link_programs(run: Run, peer: str, count: int) -> None:
    """Stores what random programs of links do in release 7.8.1."""
    store_links(_answers(run(peer, "tests.comparison.link_trees", "0", str(count))))


def compare_networks(run: Run, peer: str, own: str, count: int, first: int = 0) -> int:
    """Compares random networks of Caffe; see :func:`compare_trainers`."""
    theirs, ours = (
        _records(run(python, "tests.comparison.caffe_networks", str(first), str(first + count)))
        for python in (peer, own)
    )
    results: Counter[str] = Counter()
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True), first):
        text = caffe_networks.network_of(number)[0]
        name = outcome_of_networks(a, b, text)
        results[name or "NOT INTENDED"] += 1
        if name is None:
            _print_difference(f"network {number}", a, b)
            print(text)
    return _report(f"{count} networks of Caffe", results)


def store_networks(run: Run, peer: str, count: int) -> None:
    """Stores what release 7.8.1 computes of random networks of Caffe."""
    store_caffe(_records(run(peer, "tests.comparison.caffe_networks", "0", str(count))))


def _answers(output: str) -> list[list[Any]]:
    return [json.loads(line) for line in output.splitlines()]


def compare_files(run: Run, peer: str, own: str, count: int) -> int:
    """Compares objects that one release saves and both load; see :func:`compare_trainers`."""
    results: Counter[str] = Counter()
    refused: list[set[int]] = []
    for writer in (peer, own):
        with tempfile.TemporaryDirectory() as folder:
            written, theirs, ours = (
                _records(
                    run(python, "tests.comparison.saved_objects", action, folder, "0", str(count))
                )
                for python, action in ((writer, "write"), (peer, "read"), (own, "read"))
            )
        refused.append({number for number, a in enumerate(theirs) if "error" in a})
        for number, (state, a, b) in enumerate(zip(written, theirs, ours, strict=True)):
            if "error" in state:
                results["release 7.8.1 cannot save it"] += 1
            elif a == b:
                results["same"] += 1
            elif number in refused[0] and b == state:
                # Arrays without elements in HDF5, optimizers that have not made an update.
                results["release 7.8.1 cannot load its own file"] += 1
            elif "error" in a and "text" in str(state.values()):
                results["release 7.8.1 cannot save it"] += 1
            else:
                results["NOT INTENDED"] += 1
                _print_difference(f"object {number} written by {writer}", a, b)
    return _report(f"{count} objects, written by each release", results)


def compare_names(run: Run, peer: str, own: str) -> int:
    """Compares the names that modules have; see :func:`compare_trainers`."""
    theirs, ours = (
        json.loads(run(python, "tests.comparison.module_names")) for python in (peer, own)
    )
    results: Counter[str] = Counter()
    for module, names in theirs.items():
        if INTERNAL_MODULES.match(module):
            results["implementation of 7.8.1"] += 1
            continue
        for name, kind in names.items():
            if kind == "value" or name in ours.get(module, ()):
                results["same"] += 1
            elif kind.startswith("module ") and kind.split()[1] in _OPTIONAL:
                results["package that is not installed"] += 1
            elif (
                name in _IMPORTED
                or INTERNAL_NAMES.fullmatch(name)
                or _is_internal_module(module, name)
            ):
                results["implementation of 7.8.1"] += 1
            else:
                results["NOT INTENDED"] += 1
                print(f"{module}.{name}: {kind}")
    return _report(f"{len(theirs)} modules", results)


def _is_internal_module(module: str, name: str) -> bool:
    return INTERNAL_MODULES.match(f"{module}.{name}") is not None or name.endswith("_nd_kernel")


def _records(output: str) -> list[Record]:
    return [json.loads(line) for line in output.splitlines()]


def _print_difference(what: str, theirs: Record, ours: Record) -> None:
    for key in sorted({*theirs, *ours}):
        if theirs.get(key) != ours.get(key):
            print(f"{what} {key}: 7.8.1 {theirs.get(key)}; here {ours.get(key)}"[:600])


def _report(what: str, results: Counter[str]) -> int:
    print(what)
    for name, count in results.most_common():
        print(f"{count:6} {name}")
    return results["NOT INTENDED"]

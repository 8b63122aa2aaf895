"""Runs one benchmark on all peers, in interleaved rounds, and collects the samples."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.client import Client, WorkerError
from benchmarks.peers import Peer

PROGRAMS = Path(__file__).resolve().parent / "workers"

#: Relative difference up to which two float32 results count as the same.
TOLERANCE = 2e-3

#: Why a case is missing for a peer whose program does not have it.
NO_CASE = "the program has no such case"

#: Idle threads of the peer before spin for a while, on a processor that the next one needs: those
#: of Intel's OpenMP, which upstream's ideep4py brings, for 200 ms.
_SPIN_SECONDS = 0.25


@dataclass(frozen=True)
class Options:
    """How a benchmark is run.

    Attributes:
        rounds: Number of samples of each case and peer.
        sample_seconds: A sample repeats the call for about this long (at least once).
        threads: Number of threads each worker's libraries may use.
        is_pinned: Whether each worker has only as many processors as threads.
        timeout: Seconds to wait for one answer of a worker.
        programs: Folder that holds ``with_<framework>/<benchmark>.py``.
        cases: Parts of the names of the cases to run; empty: all.
    """

    rounds: int = 7
    sample_seconds: float = 0.1
    threads: int = 1
    is_pinned: bool = True
    timeout: float = 600.0
    programs: Path = PROGRAMS
    cases: tuple[str, ...] = ()


@dataclass
class Row:
    """Samples of one phase of one case: peer's name -> list of base-unit values per operation."""

    case: str
    phase: str
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name of the row: the case and, where there are several, the phase."""
        return f"{self.case} {self.phase}".strip()

    def best(self, peer: str) -> float | None:
        """Smallest sample of a peer, or ``None`` when it has none."""
        return min(self.samples[peer]) if self.samples.get(peer) else None

    def middle(self, peer: str) -> float | None:
        """Median sample of a peer, or ``None`` when it has none."""
        return median(self.samples[peer]) if self.samples.get(peer) else None


@dataclass
class Result:
    """What a benchmark gave.

    Attributes:
        base: The peer that others are compared with.
        missing: ``(case, peer)`` -> why that peer has no such case.
        compares_frameworks: Whether results must agree among all peers.
        notes: Results that differ between peers of one framework, or of all.
        errors: Texts of what failed in a worker; nothing that failed is left out.
    """

    name: str
    title: str = ""
    unit: str = "ms"
    scale: float = 1e3
    threads: int = 1
    base: str = "ours"
    budgets: dict[str, float | dict[str, float]] = field(default_factory=dict)
    mean_budgets: dict[str, float | dict[str, float]] = field(default_factory=dict)
    row_budgets: list[tuple[str, str, float]] = field(default_factory=list)
    best_budgets: dict[str, dict[str, float]] = field(default_factory=dict)
    compares_frameworks: bool = False
    peers: list[str] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)
    versions: dict[str, dict[str, str | None]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    missing: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def run_benchmark(name: str, peers: list[Peer], options: Options) -> Result:
    """Runs a benchmark on the peers that have a program for it.

    One worker per peer is started; then, case by case, every peer prepares the case, and rounds of
    one sample per peer follow each other (each round begins with the next peer), so that whatever
    disturbs the machine disturbs all alike.

    Args:
        name: Name of the benchmark: ``with_<framework>/<name>.py`` below ``options.programs``.
        peers: Columns, in their order. Those whose framework has no such program are left out.
        options: How to run.

    Raises:
        ValueError: No framework has such a program.
    """
    programs = {}
    for peer in peers:
        program = options.programs / f"with_{peer.framework}" / f"{name}.py"
        if program.exists():
            programs[peer.name] = program
    if not programs:
        raise ValueError(f"benchmark: no chosen peer has a program named {name!r}")
    result = Result(name, threads=options.threads)
    clients: dict[str, Client] = {}
    per_call: dict[str, int] = {}
    cases: dict[str, None] = {}
    try:
        for peer in peers:
            if peer.name not in programs:
                continue
            result.peers.append(peer.name)
            if peer.unavailable is not None:
                result.unavailable[peer.name] = peer.unavailable
                continue
            client = Client(peer, options.threads, options.timeout, options.is_pinned)
            clients[peer.name] = client
            loaded = _load(client, programs[peer.name], result)
            if loaded is None:
                clients.pop(peer.name).close()
                continue
            per_call[peer.name] = loaded["per_call"]
            cases.update(dict.fromkeys(loaded["cases"]))
        chosen = [
            case
            for case in cases
            if not options.cases or any(part in case for part in options.cases)
        ]
        if cases and not chosen:
            parts = " or ".join([repr(part) for part in options.cases])
            result.errors.append(f"no case of {name} contains {parts}; there are: {list(cases)}")
        for case in chosen:
            _run_case(case, clients, per_call, result, options)
    finally:
        for client in clients.values():
            client.close()
    return result


def _load(client: Client, program: Path, result: Result) -> dict[str, Any] | None:
    """Loads the program into a worker and notes its description; ``None`` if it cannot run."""
    peer = client.peer
    try:
        described = client.ask("describe", packages=peer.packages)
        result.versions[peer.name] = described["versions"]
        absent = [package for package, version in described["versions"].items() if version is None]
        if absent:
            result.unavailable[peer.name] = f"{peer.python} has no package {', '.join(absent)}"
            return None
        loaded = client.ask("load", program=str(program), ideep=peer.ideep)
    except WorkerError as error:
        result.errors.append(str(error))
        result.unavailable[peer.name] = "failed; see the error below"
        return None
    if not result.title:
        result.title, result.unit = loaded["title"], loaded["unit"]
        result.scale = loaded["scale"]
    if peer.framework == "chainer":  # its programs say what is to be reached
        result.base = loaded["base"]
    result.budgets.update(loaded["budgets"])
    result.mean_budgets.update(loaded["mean_budgets"])
    if peer.framework == "chainer":
        result.row_budgets = [tuple(budget) for budget in loaded["row_budgets"]]
        result.best_budgets = loaded["best_budgets"]
        result.compares_frameworks = loaded["compares_frameworks"]
    return loaded


def _run_case(
    case: str,
    clients: dict[str, Client],
    per_call: dict[str, int],
    result: Result,
    options: Options,
) -> None:
    calls: dict[str, int] = {}
    values: dict[str, list[float] | None] = {}
    for name in list(clients):
        reply = _ask(clients, name, case, result, "setup", case=case)
        if reply is None:
            continue
        if "missing" in reply:
            result.missing[case, name] = reply["missing"] or NO_CASE
            continue
        calls[name] = _calls(reply["seconds"], options.sample_seconds)
        values[name] = reply["result"]
    _compare(case, values, clients, result)
    rows: dict[str, Row] = {}
    for turn in range(options.rounds):
        names = list(calls)
        first = turn % max(1, len(names))
        for name in names[first:] + names[:first]:
            if options.threads > 1:
                time.sleep(_SPIN_SECONDS)
            reply = _ask(clients, name, case, result, "run", calls=calls[name])
            if reply is None:
                del calls[name]
                continue
            for phase, value in reply["phases"].items():
                row = rows.setdefault(phase, Row(case, phase))
                row.samples.setdefault(name, []).append(value / per_call[name])
    result.rows.extend(rows.values() if rows else [Row(case, "")])
    for name in list(clients):
        _ask(clients, name, case, result, "drop")


def _calls(seconds: float | None, sample_seconds: float) -> int:
    """Number of calls that fill a sample's time, or one when the call measures by itself."""
    if seconds is None:
        return 1
    return max(1, math.ceil(sample_seconds / max(seconds, 1e-7)))


def _ask(
    clients: dict[str, Client], name: str, case: str, result: Result, do: str, /, **arguments: Any
) -> dict[str, Any] | None:
    """Asks a worker; an error is recorded, and a worker that died is let go."""
    try:
        return clients[name].ask(do, **arguments)
    except WorkerError as error:
        result.errors.append(str(error))
        result.missing[case, name] = "error"
        if not clients[name].alive:
            clients.pop(name).close()
        return None


def _compare(
    case: str, values: dict[str, list[float] | None], clients: dict[str, Client], result: Result
) -> None:
    """Notes when a peer's result differs from the result of the first peer of the same framework.

    Peers of all frameworks are compared if the program says so.
    """
    first: dict[str, tuple[str, list[float]]] = {}
    for name, value in values.items():
        if value is None:
            continue
        group = "" if result.compares_frameworks else clients[name].peer.framework
        reference_name, reference = first.setdefault(group, (name, value))
        same = len(value) == len(reference) and all(
            math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
            for a, b in zip(value, reference, strict=False)
        )
        if not same:
            result.notes.append(
                f"{case}: {name} and {reference_name} differ: "
                f"{_short(value)} against {_short(reference)}"
            )


def _short(values: list[float]) -> str:
    return (
        "["
        + ", ".join(f"{value:.6g}" for value in values[:8])
        + (", ...]" if len(values) > 8 else "]")
    )

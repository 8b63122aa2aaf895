"""The summary of the conformance suite: what passes, by group, as a table to paste."""

# pyright: basic
from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel import KernelDeclaration, get_operation
from chainer.core.registry import registries
from chainer.core.version import __version__

# The table of the reports is of use without pytest, too.
if TYPE_CHECKING:
    import pytest

OUTCOMES = ("passed", "failed", "refused as declared", "skipped")

_CHECKS = {
    "test_forward": "forward",
    "test_backward": "backward",
    "test_double_backward": "double backward",
    "test_forward_mode": "forward mode",
    "test_batching": "batching",
    "test_transforms": "transforms of samples",
    "test_refuses": "refusals of bad inputs",
}
_LAYOUTS = ("contiguous", "strided", "empty", "zero-dim")


def groups_of(nodeid: str) -> list[str]:
    """Returns the groups a test belongs to, by its id.

    Args:
        nodeid: Id of a test of the suite, as pytest has it.
    """
    path, _, test = nodeid.partition("::")  # the parameters may contain slashes, too
    file = path.replace("\\", "/").rpartition("/")[2]
    if file.startswith("test_contract_"):
        return ["contract: " + file.removeprefix("test_contract_").removesuffix(".py")]
    name, _, parameters = test.removesuffix("]").partition("[")
    groups = ["operations: " + _CHECKS.get(name, name)]
    for layout in _LAYOUTS:
        if parameters.endswith("-" + layout):
            dtype = parameters.removesuffix("-" + layout).rpartition("-")[2]
            groups += [f"operations in {dtype}", f"operations, {layout} arrays"]
    return groups


class Tally:
    """Counts outcomes by group.

    Attributes:
        groups: Group -> outcome -> number of tests.
        failed: Ids of tests that failed, or passed against expectation.
        expected: Test id -> reason of tests that were refused as declared.
        count: Number of tests.
    """

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, int]] = {}
        self.failed: list[str] = []
        self.expected: dict[str, str] = {}
        self.count = 0

    def add(self, report: pytest.TestReport) -> None:
        """Counts what pytest reports of one phase of a test.

        Args:
            report: The :class:`pytest.TestReport`.
        """
        outcome = _outcome(report)
        if outcome is None:
            return
        test = report.nodeid.rpartition("::")[2]
        if outcome == "failed":
            if test in self.failed:  # and its teardown failed, too
                return
            self.failed.append(test)
        if outcome == "refused as declared":
            self.expected[test] = report.wasxfail
        self.count += 1
        for group in groups_of(report.nodeid):
            self.groups.setdefault(group, dict.fromkeys(OUTCOMES, 0))[outcome] += 1

    def total(self) -> dict[str, int]:
        """Returns the number of tests by outcome."""
        # Each test is in one group of checks, and in others besides.
        checks = [c for g, c in self.groups.items() if g.startswith(("contract:", "operations:"))]
        return {outcome: sum(counts[outcome] for counts in checks) for outcome in OUTCOMES}


def _outcome(report: pytest.TestReport) -> str | None:
    if report.when == "call":
        if report.skipped and hasattr(report, "wasxfail"):
            return "refused as declared"
        return str(report.outcome)
    if report.failed:
        return "failed"
    return "skipped" if report.skipped else None


def chosen_kernels() -> list[str]:
    """Returns the keys of the kernels that served at least one call in this process."""
    keys = {
        key[0].key
        for name in registries.operations.names()
        for key in get_operation(name)._loaded  # pyright: ignore[reportPrivateUsage]
        if isinstance(key[0], KernelDeclaration)
    }
    return sorted(keys)


class Report:
    """The results of a run of the suite.

    Args:
        device: The device under test.
        provider: The kernel provider preferred, or None.
        tally: The results.
        kernels: Keys of the kernels that the provider (or the backend itself) declares.
        chosen: Keys of the kernels that served a call.
    """

    def __init__(
        self,
        device: Device,
        provider: str | None,
        tally: Tally,
        kernels: Iterable[str],
        chosen: Iterable[str],
    ) -> None:
        self.device = device
        self.provider = provider
        self.tally = tally
        self.kernels = sorted(kernels)
        self.unused = sorted(set(self.kernels) - set(chosen))

    @property
    def title(self) -> str:
        """One line: what was tested."""
        provider = f", kernels of {self.provider}" if self.provider else ""
        return f"Chainer conformance of {self.device}{provider}"

    def _versions(self) -> dict[str, str]:
        return {
            "chainer": __version__,
            self.device.backend.name: self.device.backend.version(),
            "numpy": numpy.__version__,
            "python": platform.python_version(),
        }

    def markdown(self) -> str:
        """Returns the report as a Markdown table, with the kernels no call reached."""
        rows: list[tuple[str, ...]] = [("group", *OUTCOMES)]
        for group in sorted(self.tally.groups):
            counts = self.tally.groups[group]
            rows.append((group, *(str(counts[outcome]) for outcome in OUTCOMES)))
        total = self.tally.total()
        rows.append(("all", *(str(total[outcome]) for outcome in OUTCOMES)))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["| " + " | ".join(map(_padded, row, widths, range(9))) + " |" for row in rows]
        right = "|".join("-" * (width + 1) + ":" for width in widths[1:])
        lines.insert(1, f"|{'-' * (widths[0] + 2)}|{right}|")
        versions = ", ".join(f"{name} {version}" for name, version in self._versions().items())
        lines += ["", f"Versions: {versions}."]
        if self.kernels and any(group.startswith("operations") for group in self.tally.groups):
            used = len(self.kernels) - len(self.unused)
            lines.append(f"Kernels that served a call: {used} of {len(self.kernels)}.")
            if self.unused:
                lines.append(f"Never chosen: {', '.join(self.unused)}.")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Returns the report as plain values."""
        return {
            "backend": self.device.backend.name,
            "device": str(self.device),
            "provider": self.provider,
            "versions": self._versions(),
            "total": self.tally.total(),
            "groups": dict(sorted(self.tally.groups.items())),
            "failed": sorted(self.tally.failed),
            "refused": dict(sorted(self.tally.expected.items())),
            "kernels": {"declared": self.kernels, "never_chosen": self.unused},
        }

    def write(self, path: str) -> None:
        """Writes the report: JSON if the name ends with ``.json``, Markdown otherwise.

        Args:
            path: The file.
        """
        if path.endswith(".json"):
            text = json.dumps(self.as_dict(), indent=2) + "\n"
        else:
            text = f"# {self.title}\n\n{self.markdown()}\n"
        temporary = f"{path}.{os.getpid()}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)


def _padded(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)

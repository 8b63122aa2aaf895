"""The results of a certification."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from chainer.testing.conformance.reports import groups_of

Outcome = Literal["passed", "failed", "crashed", "refused", "skipped"]

OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "crashed", "refused", "skipped")

#: Start of the titles of parts that are tested by the suite of the standard.
ARRAY_API = "array API standard"

#: Group of the tests on PyTorch's samples.
OPINFO = "OpInfo of PyTorch"

#: Version of the JSON file. A key may be added without a new version.
FORMAT = 1


@dataclass(frozen=True)
class Result:
    """The result of one test.

    Attributes:
        part: The tested part: ``'backend strict'``, ``'kernels of numba'``, ``'package'``.
        test: Id of the test.
        outcome: ``'passed'``; ``'failed'``; ``'crashed'`` (the process died, or the test did not
            end); ``'refused'`` (an error, as the backend declares); ``'skipped'``.
        seconds: Time that it took.
        text: The error, the reason of a refusal or of a skip; empty if it passed.
        message: The error in one line.
    """

    part: str
    test: str
    outcome: Outcome
    seconds: float = 0.0
    text: str = ""
    message: str = ""

    @property
    def name(self) -> str:
        """The test without its file."""
        return self.test.partition("::")[2] or self.test

    @property
    def group(self) -> str:
        """The group that the test belongs to, such as ``'contract: arrays'``."""
        file = self.test.partition("::")[0]
        if not file.startswith("test_"):
            return "the run"
        if self.part.startswith(ARRAY_API):
            return "array API: " + file.removeprefix("test_").removesuffix(".py")
        if file == "test_opinfo.py":
            return OPINFO
        if file.startswith("test_package_"):
            return "package: " + file.removeprefix("test_package_").removesuffix(".py")
        return groups_of(self.test)[0]

    @property
    def failed(self) -> bool:
        """Whether the result prevents the certificate."""
        return self.outcome in ("failed", "crashed")


@dataclass
class Certificate:
    """All results about a subject, and what it declares.

    Attributes:
        subject: The name that was given.
        quick: Whether few dtypes and samples of operations were tested.
        complete: Whether all tests ran, not a selection.
        versions: Package -> version.
        limitations: Part -> capability -> the reason why it is missing.
        facts: Part -> what it has: devices, the recorder, whether it is an accelerator.
        unreached: Part -> kernels that no test reached.
        not_run: What did not run, such as an optional suite -> the command that runs it.
        results: The results.
        seconds: Time that the run took.
    """

    subject: str
    quick: bool
    complete: bool = True
    versions: dict[str, str] = field(default_factory=dict[str, str])
    limitations: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    facts: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    unreached: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    not_run: dict[str, str] = field(default_factory=dict[str, str])
    results: list[Result] = field(default_factory=list[Result])
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether something was tested and nothing failed."""
        return bool(self.results) and not self.failures

    @property
    def failures(self) -> list[Result]:
        """The results that prevent the certificate."""
        return [result for result in self.results if result.failed]

    @property
    def verdict(self) -> str:
        """One or two words: ``'certified'``, ``'certified (quick)'``, ``'3 failed'``."""
        if not self.results:
            return "nothing tested"
        if self.failures:
            return f"{len(self.failures)} failed"
        if not self.complete:
            return "passed a selection"
        return "certified (quick)" if self.quick else "certified"

    def table(self) -> dict[tuple[str, str], dict[str, int]]:
        """Returns the number of tests by part, group and outcome."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for result in self.results:
            counts = found.setdefault((result.part, result.group), dict.fromkeys(OUTCOMES, 0))
            counts[result.outcome] += 1
        return dict(sorted(found.items()))

    def total(self) -> dict[str, int]:
        """Returns the number of tests by outcome."""
        return _counts(self.results)

    def places(self) -> list[str]:
        """Returns the functions, kernels and contracts that failures are about, each once.

        The place of most failures comes first.
        """
        found: dict[str, int] = {}
        for result in self.failures:
            place = place_of(result)
            found[place] = found.get(place, 0) + 1
        return sorted(found, key=lambda place: -found[place])

    def summary(self, most: int = 20) -> str:
        """Returns the verdict and the failures, a line each.

        Args:
            most: Number of failures to list.
        """
        lines = [f"{self.subject}: {self.verdict}"]
        lines += [f"  {place_of(r)}: {r.name}: {r.message}" for r in self.failures[:most]]
        if len(self.failures) > most:
            lines.append(f"  and {len(self.failures) - most} more")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Returns the certificate as plain values."""
        return {
            "format": FORMAT,
            "subject": self.subject,
            "verdict": self.verdict,
            "passed": self.passed,
            "quick": self.quick,
            "complete": self.complete,
            "seconds": round(self.seconds, 1),
            "versions": self.versions,
            "facts": self.facts,
            "limitations": self.limitations,
            "unreached_kernels": self.unreached,
            "not_run": self.not_run,
            "total": self.total(),
            "groups": [
                {"part": part, "group": group, **counts}
                for (part, group), counts in self.table().items()
            ],
            "places": self.places(),
            "results": [
                {
                    "part": result.part,
                    "test": result.test,
                    "outcome": result.outcome,
                    "seconds": round(result.seconds, 4),
                    **({"message": result.message, "text": result.text} if result.text else {}),
                }
                for result in self.results
            ],
        }

    def json(self) -> str:
        """Returns the certificate as JSON."""
        return json.dumps(self.as_dict(), indent=1) + "\n"


def _counts(results: Iterable[Result]) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    for result in results:
        counts[result.outcome] += 1
    return counts


def place_of(result: Result) -> str:
    """Returns what a failed test is about: ``'F.softmax'``, or the contract that is broken.

    Args:
        result: The result.
    """
    if not result.group.startswith(("operations", OPINFO)):
        return result.group
    row = result.name.partition("[")[2].partition("-")[0].removesuffix("]")
    return f"F.{row}"

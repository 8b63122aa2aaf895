"""A pytest plugin: reports each test to the process that certifies, as a line of JSON.

It appends to the file ``CHAINER_CERTIFY_EVENTS``, so that all results before a crash are there. It
leaves out the tests in the file ``CHAINER_CERTIFY_DONE``, and tests that another process has taken
(by a file in the folder ``CHAINER_CERTIFY_TAKEN``; ``CHAINER_CERTIFY_SHARE`` is the number of this
process and of all, such as ``0/2``). It ends with its children when the pipe
``CHAINER_CERTIFY_PARENT`` is closed: the process that certifies has ended.
"""

# pyright: basic
from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from chainer.testing.certification.shares import TakenGroups, groups_of
from chainer.testing.conformance import reports
from chainer.testing.conformance.refusals import DECLARED

EVENTS, DONE, SHARE, TAKEN, PARENT = (
    f"CHAINER_CERTIFY_{name}" for name in ("EVENTS", "DONE", "SHARE", "TAKEN", "PARENT")
)

#: Longest text of an error. A failure repeats in many tests, and the report must stay readable.
_MAX_TEXT = 4000


def pytest_configure() -> None:
    """Starts the thread that waits for the end of the process that certifies."""
    # Popped: the descriptor is not one of the processes that tests start.
    pipe = os.environ.pop(PARENT, None)
    if pipe is not None:
        threading.Thread(target=_end_with, args=(int(pipe),), daemon=True).start()


def _end_with(pipe: int) -> None:
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)  # this process leads its session


def _emit(**event: Any) -> None:
    with open(os.environ[EVENTS], "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out tests without a parameter: pytest makes one of a list that is empty."""
    items[:] = [item for item in items if not item.name.endswith("[NOTSET]")]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Runs the tests that this process takes, but those that are done."""
    if session.testsfailed and not session.config.option.continue_on_collection_errors:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    owner, _, count = os.environ.get(SHARE, "0/1").partition("/")
    with open(os.environ[DONE], encoding="utf-8") as file:
        done = set(file.read().splitlines())
    taken_groups = TakenGroups(Path(os.environ[TAKEN]), owner)
    taken = taken_groups.of(groups_of(session.items, int(count)))
    # pytest must know the following test: it keeps fixtures that both need.
    left = (item for item in taken if item.nodeid not in done)
    item = next(left, None)
    while item is not None:
        following = next(left, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following
    return True


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Reports a test module that cannot be imported."""
    if report.failed:
        name = os.path.basename(report.nodeid)
        texts = _texts(str(report.longrepr))
        _emit(result=report.nodeid, name=name, outcome="failed", seconds=0, **texts)


def pytest_runtest_logstart(nodeid: str, location: tuple[str, int | None, str]) -> None:
    """Says which test begins."""
    _emit(start=nodeid, name=_name(nodeid, location))


def _name(nodeid: str, location: tuple[str, int | None, str]) -> str:
    """Returns the id of a test without folders. The id of pytest may have no file at all."""
    return f"{os.path.basename(location[0])}::{nodeid.partition('::')[2]}"


# The results of the phases of the present test: its setup, itself, its teardown.
_phases: list[tuple[str, str, float]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes how a phase of a test ended."""
    if report.when == "call" or report.outcome != "passed":
        _phases.append((*_outcome(report), report.duration))


def pytest_runtest_logfinish(nodeid: str, location: tuple[str, int | None, str]) -> None:
    """Says how a test ended. A failure in its teardown counts, too."""
    failed = [phase for phase in _phases if phase[0] == "failed"]
    outcome, text, seconds = (failed or _phases or [("skipped", "", 0.0)])[0]
    _phases.clear()
    name = _name(nodeid, location)
    _emit(result=nodeid, name=name, outcome=outcome, seconds=seconds, **_texts(text))


def _outcome(report: pytest.TestReport) -> tuple[str, str]:
    reason = str(getattr(report, "wasxfail", ""))
    if report.skipped and reason.startswith(DECLARED):
        return "refused", reason
    if report.skipped:
        return "skipped", str(report.longrepr[2] if isinstance(report.longrepr, tuple) else reason)
    if report.passed:
        return "passed", ""
    kernels = [text for title, text in report.sections if title.startswith("kernels")]
    served = [f"Kernels that served a call: {text}" for text in kernels]
    return "failed", "\n".join([str(report.longrepr), *served])


def _texts(text: str) -> dict[str, str]:
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
    message = next((line for line in lines if line), text.strip().rpartition("\n")[2])
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT // 2] + "\n...\n" + text[-_MAX_TEXT // 2 :]
    return {"text": text, "message": message[:300]}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(exitstatus: int) -> None:
    """Says that the process came to its end, and which kernels it reached."""
    _emit(end=int(exitstatus), kernels=reports.chosen_kernels())

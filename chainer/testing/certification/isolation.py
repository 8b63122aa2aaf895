"""Runs tests in processes of their own, and starts another one after a crash."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from chainer.testing.certification.certificate import Result
from chainer.testing.certification.worker import DONE, EVENTS, PARENT, SHARE, TAKEN

_PLUGIN = "chainer.testing.pytest_plugin"


@dataclass(frozen=True)
class Limits:
    """Limits of a run.

    Attributes:
        processes: Number of processes that share the tests.
        seconds_per_test: A test that takes longer is stopped, and counts as crashed. The import of
            the tests counts as one.
        crashes: After so many crashes of one process, the rest of its tests is not run.
    """

    processes: int = field(default_factory=lambda: min(os.cpu_count() or 1, 4))
    seconds_per_test: float = 300.0
    crashes: int = 30


@dataclass
class Outcome:
    """The outcome of a run of tests.

    Attributes:
        results: The results.
        kernels: Keys of the kernels that served a call.
    """

    results: list[Result] = field(default_factory=list[Result])
    kernels: set[str] = field(default_factory=set[str])


def run(
    part: str,
    arguments: Sequence[str],
    limits: Limits,
    progress: Callable[[Result], None] = lambda result: None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Runs pytest in several processes.

    Args:
        part: Name of the tested part, for the results.
        arguments: Arguments of pytest.
        limits: The limits.
        progress: Is called with each result, by several threads.
        environment: Further environment variables.

    Returns:
        Outcome: The results, in the order of the tests.
    """
    outcomes = [Outcome() for _ in range(limits.processes)]
    with tempfile.TemporaryDirectory(prefix="chainer-certify-") as folder:
        shares = [
            _Share(part, arguments, limits, progress, outcome, Path(folder) / str(i), i)
            for i, outcome in enumerate(outcomes)
        ]
        taken_groups = Path(folder) / "taken"
        taken_groups.mkdir()
        for share in shares:
            share.environment.update(environment or {})
            share.environment[TAKEN] = str(taken_groups)
        threads = [threading.Thread(target=share.run) for share in shares]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            # Ctrl-C and signals that end the program arrive here, too.
            for share in shares:
                share.stopped.set()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
    found = Outcome()
    for outcome in outcomes:
        found.results += outcome.results
        found.kernels |= outcome.kernels
    found.results.sort(key=lambda result: result.test)
    return found


def crash_of(
    code: str,
    arguments: Sequence[str],
    seconds: float,
    environment: Mapping[str, str] | None = None,
) -> tuple[str, str] | None:
    """Runs code in a process of its own.

    Args:
        code: The code.
        arguments: Its command-line arguments.
        seconds: The process is ended after this time.
        environment: Further environment variables.

    Returns:
        tuple: How the process died, and its last output. None if it ended, even by an exception.
    """
    command = [sys.executable, "-X", "faulthandler", "-c", code, *arguments]
    with tempfile.TemporaryFile() as file:
        process = subprocess.Popen(
            command,
            env={**os.environ, **(environment or {})},
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code_of_end = process.wait(timeout=seconds)
            death = _how_it_ended(code_of_end) if code_of_end < 0 else None
        except subprocess.TimeoutExpired:
            death = f"did not end within {seconds:g} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if death is None:
            return None
        file.seek(0)
        return death, file.read().decode(errors="replace")[-4000:]


class _Share:
    """The tests of one process at a time."""

    def __init__(
        self,
        part: str,
        arguments: Sequence[str],
        limits: Limits,
        progress: Callable[[Result], None],
        outcome: Outcome,
        folder: Path,
        number: int,
    ) -> None:
        self._part = part
        self._limits = limits
        self._progress = progress
        self._outcome = outcome
        self._folder = folder
        self.stopped = threading.Event()
        self._command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "--no-header"]
        self._command += ["-p", "no:cacheprovider", "-p", "chainer.testing.certification.worker"]
        # The configuration of the folder in which the user happens to be is not ours.
        self._command += ["-c", os.devnull, "--rootdir", str(folder)]
        if not any(entry.value == _PLUGIN for entry in entry_points(group="pytest11")):
            self._command += ["-p", _PLUGIN]  # Chainer is on the path, but not installed
        self._command += arguments
        path = [os.getcwd(), os.environ.get("PYTHONPATH")]
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
            SHARE: f"{number}/{limits.processes}",
            # Modules beside the user, such as a table of rows.
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
        }

    def run(self) -> None:
        self._folder.mkdir()
        crashes = 0
        done: list[str] = []
        while crashes < self._limits.crashes and not self.stopped.is_set():
            events = self._folder / f"events{crashes}"
            events.touch()
            list_of_done = self._folder / f"done{crashes}"
            list_of_done.write_text("\n".join(done), encoding="utf-8")
            death, output = self._process(events, list_of_done)
            if self.stopped.is_set():
                return
            running, ended = self._take(events, done)
            if ended:
                return
            if running is None:
                text = output[-4000:] or death
                message = text.strip().rpartition("\n")[2]
                self._add(Result(self._part, "the tests", "crashed", 0.0, text, message))
                return
            crashes += 1
            done.append(running["start"])
            text = f"{death}\n{output[-4000:]}"
            self._add(Result(self._part, running["name"], "crashed", 0.0, text, death))
        text = f"the process crashed {crashes} times; the rest of its tests was not run"
        self._add(Result(self._part, "the tests", "crashed", 0.0, text, text))

    def _process(self, events: Path, done: Path) -> tuple[str, str]:
        """Runs a process until it ends; returns how it died, and its last output."""
        environment = {**self.environment, EVENTS: str(events), DONE: str(done)}
        output = self._folder / "output"
        # This process alone keeps the other end of the pipe, and never writes to it. However it
        # ends, the worker reads the end of the pipe then, and ends, too.
        reader, writer = os.pipe()
        environment[PARENT] = str(reader)
        try:
            with open(output, "wb") as file:
                # A session of its own, so that its children end with it.
                process = subprocess.Popen(
                    self._command,
                    cwd=self._folder,
                    env=environment,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(reader,),
                )
                death = self._wait(process, events)
        finally:
            os.close(reader)
            os.close(writer)
        return death, output.read_text(encoding="utf-8", errors="replace")

    def _wait(self, process: subprocess.Popen[bytes], events: Path) -> str:
        size, since = 0, time.monotonic()
        try:
            while True:
                try:
                    code = process.wait(timeout=0.2)
                    return _how_it_ended(code)
                except subprocess.TimeoutExpired:
                    if self.stopped.is_set():
                        return "stopped"
                if events.stat().st_size != size:
                    size, since = events.stat().st_size, time.monotonic()
                elif time.monotonic() - since > self._limits.seconds_per_test:
                    return f"did not end within {self._limits.seconds_per_test:g} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _take(self, events: Path, done: list[str]) -> tuple[dict[str, Any] | None, bool]:
        """Takes over results; returns the test that was running, and whether there was an end."""
        running: dict[str, Any] | None = None
        ended = False
        for line in events.read_text(encoding="utf-8").splitlines():
            try:
                event: dict[str, Any] = json.loads(line)
            except ValueError:  # the process died while it wrote the line
                continue
            if "start" in event:
                running = event
            elif "result" in event:
                self._finish(event, done)
                running = None
            elif "end" in event:
                # 0: passed, 1: some failed, 5: nothing was collected for this process
                ended = event["end"] in (0, 1, 5)
                self._outcome.kernels.update(event["kernels"])
        return running, ended

    def _finish(self, event: dict[str, Any], done: list[str]) -> None:
        done.append(event["result"])
        values = event["outcome"], event["seconds"], event["text"], event["message"]
        self._add(Result(self._part, event["name"], *values))

    def _add(self, result: Result) -> None:
        self._outcome.results.append(result)
        self._progress(result)


def _how_it_ended(code: int) -> str:
    if code < 0:
        try:
            return f"the process died of {signal.Signals(-code).name}"
        except ValueError:
            return f"the process died of signal {-code}"
    return f"the process ended with status {code}"

"""Collects the results of the suite and prints the summary."""

# pyright: basic
from __future__ import annotations

from typing import Any

import pytest

from chainer.testing.conformance import options, reports

#: Property of the reports that are about tests of the suite.
MARK = ("chainer-conformance", True)
_NAME = "chainer-conformance-results"


def collect(config: pytest.Config) -> None:
    """Collects results from now on, once.

    Args:
        config: Configuration of pytest.
    """
    if not config.pluginmanager.has_plugin(_NAME):
        config.pluginmanager.register(Results(config), _NAME)


class Results:
    """A plugin of pytest that counts results and, in all processes, the kernels that were chosen.

    Args:
        config: Configuration of pytest.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.tally = reports.Tally()
        self.chosen: set[str] = set()
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts a result."""
        if MARK in map(tuple, report.user_properties):  # lists where pytest-xdist sent them
            self.tally.add(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Takes over what a process of pytest-xdist noted."""
        self.chosen.update(getattr(node, "workeroutput", {}).get("chainer_kernels", ()))

    def pytest_sessionfinish(self) -> None:
        """Notes the kernels that were chosen in this process."""
        chosen = reports.chosen_kernels()
        output: Any = getattr(self._config, "workeroutput", None)
        if output is None:
            self.chosen.update(chosen)
        else:
            output["chainer_kernels"] = chosen

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the summary, and writes it where ``--chainer-report`` says."""
        if not self.tally.count:
            return
        config = self._config
        report = reports.Report(
            options.device(config),
            config.getoption("--chainer-provider"),
            self.tally,
            options.kernels(config),
            self.chosen,
        )
        terminalreporter.section(report.title)
        terminalreporter.write_line(report.markdown())
        path: str | None = config.getoption("--chainer-report")
        if path is not None:
            report.write(path)
            terminalreporter.write_line(f"written to {path}")

"""Examines the environment in which plugins are looked for."""

from __future__ import annotations

import difflib
import functools
import importlib.metadata
import os
import platform
import sys

import chainer
from chainer.core.registry import registries
from chainer.core.version import __version__
from chainer.plugins import environment
from chainer.plugins.discovery import GROUP, normalize
from chainer.plugins.doctor.finding import Finding, Report
from chainer.plugins.records import PluginRecord

_NEAR = 0.75


def where() -> str:
    """Returns in one line which Python and which Chainer this is."""
    folder = os.path.dirname(chainer.__file__)
    return (
        f"Python {platform.python_version()} ({sys.executable}), Chainer {__version__} ({folder})"
    )


def examine_environment(records: list[PluginRecord]) -> Report:
    """Says what is odd about the environment as such.

    Args:
        records: All plugins.
    """
    report = Report("environment")
    report.add(Finding("ok", "environment", where()))
    _examine_variables(records, report)
    _examine_chainer(report)
    _examine_groups(report)
    _examine_backends(report)
    return report


def _examine_variables(records: list[PluginRecord], report: Report) -> None:
    for variable in (environment.DISABLE, environment.ENABLE):
        for name in environment.names(variable):
            if not any(record.matches(name) for record in records):
                near = difflib.get_close_matches(name, known_names(records), n=1)
                advice = f"did you mean {near[0]!r}?" if near else ""
                text = f"{variable} names {name!r}, and no plugin of that name is installed"
                report.add(Finding("error", "unknown_plugin", text, advice))
    providers = {key.split("/")[1] for key in registries.kernels.names() if key.count("/") >= 2}
    for name in filter(None, os.environ.get("CHAINER_KERNELS", "").replace(",", " ").split()):
        if name not in providers:
            near = difflib.get_close_matches(name, providers, n=1)
            advice = f"did you mean {near[0]!r}?" if near else ""
            text = f"CHAINER_KERNELS names {name!r}, and nobody provides kernels of that name"
            report.add(Finding("error", "unknown_provider", text, advice))


def _examine_chainer(report: Report) -> None:
    found = list(dict.fromkeys(dist.version for dist in distributions("chainer")))
    if not found:
        text = "Chainer itself is not installed, it is imported from a folder on the path"
        report.add(Finding("note", "chainer_not_installed", text))
    elif found[0] != __version__:
        text = f"metadata on the path is that of chainer {found[0]}, the code that of {__version__}"
        report.add(Finding("error", "stale_chainer", text, "install chainer again"))


def _examine_groups(report: Report) -> None:
    for dist in (copies[0] for copies in _distributions().values()):
        group = wrong_group(dist)
        if group is not None:
            report.add(group_finding(dist, group))


def _examine_backends(report: Report) -> None:
    for entry in registries.backends.entries():
        if not entry.loaded:
            try:
                entry.load()
            except ImportError:
                continue  # a finding about the plugin that registered it
        reason = entry.load().unavailable_reason()
        if reason is not None and "of chainer " in entry.origin:
            text = f"backend {entry.name!r} is not available: {reason}"
            report.add(Finding("note", "backend_unavailable", text))


# What others here need, too


def known_names(records: list[PluginRecord]) -> list[str]:
    """Returns the names by which plugins can be called."""
    distributions = {record.distribution for record in records if not record.builtin}
    return sorted({record.name for record in records} | distributions - {""})


def distributions(name: str) -> list[importlib.metadata.Distribution]:
    """Returns the installed distributions of a name, in the order of the path."""
    return _distributions().get(normalize(name), [])


@functools.cache
def _distributions() -> dict[str, list[importlib.metadata.Distribution]]:
    found: dict[str, list[importlib.metadata.Distribution]] = {}
    for dist in importlib.metadata.distributions():
        found.setdefault(normalize(dist.metadata["Name"] or ""), []).append(dist)
    return found


def wrong_group(dist: importlib.metadata.Distribution) -> str | None:
    """Returns an entry point group that may be a misspelt ``chainer``, if there is no right one.

    Args:
        dist: The distribution.
    """
    groups = {entry.group for entry in dist.entry_points}
    if GROUP in groups:
        return None
    for group in sorted(groups):
        plain = group.lower().replace("_", "-").partition(".")[0].partition("-")[0]
        if difflib.SequenceMatcher(None, plain, GROUP).ratio() >= _NEAR:
            return group
    return None


def group_finding(dist: importlib.metadata.Distribution, group: str) -> Finding:
    """Returns the finding about a misspelt group."""
    text = (
        f"{dist.metadata['Name']} {dist.version} has entry points in group {group!r}; Chainer "
        f"looks in group {GROUP!r}"
    )
    advice = f"write [project.entry-points.{GROUP}] in its pyproject.toml and install it again"
    return Finding("error", "wrong_group", text, advice)

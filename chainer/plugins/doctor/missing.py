"""Examines a name that no plugin answers to."""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import json
import os
import sys
import tomllib
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from chainer.core.registry import registries
from chainer.plugins.discovery import GROUP, normalize
from chainer.plugins.doctor.elsewhere import other_environments
from chainer.plugins.doctor.environment import (
    distributions,
    group_finding,
    known_names,
    wrong_group,
)
from chainer.plugins.doctor.finding import Finding, Report
from chainer.plugins.doctor.installed import public_name
from chainer.plugins.records import PluginRecord

_NEAR = 0.75


def examine_missing(name: str, records: list[PluginRecord]) -> Report:
    """Says what a name that is no plugin's may be, and why there is no plugin of that name.

    Args:
        name: The name.
        records: All plugins.
    """
    report = Report(repr(name))
    # Plugins are often called by their distribution's name without the prefix all have.
    names = (name, f"chainer-{name}")
    installed = [dist for one in names for dist in distributions(one)]
    installed = installed or _distributions_of_module(name)
    if _examine_registered(name, report) and not installed:
        return report
    if installed:
        _examine_distribution(installed[0], report)
        return report
    text = f"no plugin of this name is installed in this environment, {sys.prefix}"
    registered = [name for registry in registries.ALL.values() for name in registry.names()]
    near = difflib.get_close_matches(name, known_names(records), n=2)
    near = near or list(dict.fromkeys(difflib.get_close_matches(name, registered, 2, _NEAR)))
    advice = f"did you mean {' or '.join(map(repr, near))}?" if near else ""
    report.add(Finding("error", "not_installed", text, advice))
    for one in names:
        _examine_elsewhere(one, report)
        _examine_source(one, report)
        _examine_module(one, report)
    return report


def _examine_registered(name: str, report: Report) -> bool:
    """Looks for things registered under the name, or made from something of that name."""
    found = False
    for kind, registry in registries.ALL.items():
        for entry in registry.entries():
            text = f"it is {public_name(kind, entry.name)}, registered by {entry.origin}"
            if entry.name == name:
                report.add(Finding("ok", "registered_name", text))
                found = True
            elif _means(name, entry.name, entry.target):
                text = f"{entry.text} is registered under another name: {text}"
                report.add(Finding("error", "other_name", text, f"the name is {entry.name!r}"))
                found = True
    return found


def _means(name: str, registered: str, target: object) -> bool:
    if normalize(name) == normalize(registered):
        return True
    attribute = target.partition(":")[2] if isinstance(target, str) else ""
    return bool(attribute) and name == attribute


def _examine_distribution(dist: importlib.metadata.Distribution, report: Report) -> None:
    who = f"{dist.metadata['Name']} {dist.version}"
    group = wrong_group(dist)
    if group is not None:
        report.add(group_finding(dist, group))
        return
    source = _source(dist)
    declared = _declared(source) if source is not None else None
    if declared:
        text = (
            f"{who} was installed before its pyproject.toml had entry points in group {GROUP!r} "
            f"({', '.join(declared)})"
        )
        report.add(
            Finding("error", "stale_metadata", text, f"install it again: pip install -e {source}")
        )
        return
    text = f"{who} is installed, and has no entry point in group {GROUP!r}: it is no plugin"
    advice = (
        f"write [project.entry-points.{GROUP}] and a line 'name = \"package.pack\"' in its "
        "pyproject.toml, and install it again: entry points are noted down at installation"
    )
    report.add(Finding("error", "no_entry_point", text, advice))


def _source(dist: importlib.metadata.Distribution) -> Path | None:
    """Returns the folder a distribution was installed from, if it is on this machine."""
    try:
        url = json.loads(dist.read_text("direct_url.json") or "{}").get("url", "")
    except ValueError:
        return None
    parts = urllib.parse.urlsplit(str(url))
    return Path(urllib.request.url2pathname(parts.path)) if parts.scheme == "file" else None


def _declared(folder: Path) -> list[str]:
    """Returns the entry points of group ``chainer`` that a pyproject.toml declares."""
    entries = _project(folder).get("entry-points", {}).get(GROUP, {})
    return [f"{name} = {target!r}" for name, target in entries.items()]


def _project(folder: Path) -> dict[str, Any]:
    try:
        with open(folder / "pyproject.toml", "rb") as file:
            return tomllib.load(file).get("project", {})
    except (OSError, tomllib.TOMLDecodeError):
        return {}


def _examine_elsewhere(name: str, report: Report) -> None:
    for place in other_environments(name):
        text = f"{place.distribution} is installed in another environment: {place.folder}"
        advice = (
            f"install it for this one: {sys.executable} -m pip install ..."
            if place.python is None
            else f"run {place.python}, or install it here: {sys.executable} -m pip install ..."
        )
        report.add(Finding("error", "other_environment", text, advice))


def _examine_source(name: str, report: Report) -> None:
    """Looks for the project in the current folder and those in it."""
    here = Path.cwd()
    for folder in (here, here / name, here / normalize(name)):
        if normalize(str(_project(folder).get("name", ""))) == normalize(name):
            text = f"its source is in {folder}, but it is not installed"
            report.add(Finding("error", "source_only", text, f"pip install -e {folder}"))
            return


def _examine_module(name: str, report: Report) -> None:
    module = normalize(name).replace("-", "_")
    if not module.isidentifier():
        return
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.origin is not None:
        text = (
            f"a module {module!r} can be imported from {os.path.dirname(spec.origin)}, but belongs "
            "to no installed distribution: Chainer reads the entry points of distributions"
        )
        advice = "install it, or chainer.plugins.register(module) at run time"
        report.add(Finding("error", "no_distribution", text, advice))


def _distributions_of_module(name: str) -> list[importlib.metadata.Distribution]:
    """Returns the distributions that supply a module of a name."""
    names = importlib.metadata.packages_distributions().get(name, [])
    return [importlib.metadata.distribution(found) for found in dict.fromkeys(names)]

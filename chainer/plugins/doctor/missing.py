"""Looks for a plugin that is not installed, here or elsewhere on this machine."""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import site
import sys
import tomllib
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from chainer.core.installation import pip_of, quoted
from chainer.core.registry import registries
from chainer.plugins.discovery import GROUP, normalize
from chainer.plugins.doctor.installed import (
    SIMILAR,
    Finding,
    Report,
    add_backend,
    distributions,
    group_finding,
    known_names,
    public_name,
    wrong_group,
)
from chainer.plugins.known_distributions import suggestion
from chainer.plugins.records import PluginRecord

# Where environments of Unix, Debian and Windows have their packages.
_SITES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages")
# Interpreters of environments, on Unix and on Windows.
_PYTHONS = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")


def examine_missing(name: str, records: list[PluginRecord]) -> Report:
    """Examines a name that no plugin has: what it refers to, and why no plugin has it.

    Args:
        name: The name.
        records: All plugins.
    """
    report = Report(repr(name))
    # Users often leave out the prefix that the distributions of plugins have.
    names = (name, f"chainer-{name}")
    installed = [dist for one in names for dist in distributions(one)]
    installed = installed or _distributions_of_module(name)
    is_registered = _examine_registered(name, report)
    if installed:
        _examine_distribution(installed[0], report, is_registered)
    if installed or is_registered:
        return report
    text = f"no plugin of this name is installed in this environment, {sys.prefix}"
    registered = [name for registry in registries.ALL.values() for name in registry.names()]
    near = difflib.get_close_matches(name, known_names(records), n=2)
    near = near or list(dict.fromkeys(difflib.get_close_matches(name, registered, 2, SIMILAR)))
    advice = f"did you mean {' or '.join(map(repr, near))}?" if near else ""
    advice = suggestion("plugins", name) or advice
    report.add(Finding("error", "not_installed", text, advice))
    for one in names:
        _examine_elsewhere(one, report)
        _examine_source(one, report)
        _examine_module(one, report)
    return report


def _examine_registered(name: str, report: Report) -> bool:
    """Looks for objects that are registered, or defined, under the name."""
    found = False
    for kind, registry in registries.ALL.items():
        for entry in registry.entries():
            text = f"it is {public_name(kind, entry.name)}, registered by {entry.origin}"
            if entry.name == name:
                report.add(Finding("ok", "registered_name", text))
                found = True
                if registry is registries.backends:
                    add_backend(name, report)
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


def _examine_distribution(
    dist: importlib.metadata.Distribution, report: Report, is_registered: bool
) -> None:
    who = f"{dist.metadata['Name']} {dist.version}"
    group = wrong_group(dist)
    if group is not None:
        report.add(group_finding(dist, group))
        return
    source = _source(dist)
    declared = _declared(source) if source is not None else None
    # Entry points are read from the metadata, which are written at installation.
    if source is not None and declared:
        text = (
            f"{who} was installed before its pyproject.toml had entry points in group {GROUP!r} "
            f"({', '.join(declared)})"
        )
        advice = f"install it again: {_install_command(source)}"
        report.add(Finding("error", "stale_metadata", text, advice))
        return
    text = f"{who} is installed, and has no entry point in group {GROUP!r}: it is not a plugin"
    if is_registered:  # the library of a backend, such as NumPy, need not be one
        report.add(Finding("note", "no_entry_point", text))
        return
    advice = (
        f"write [project.entry-points.{GROUP}] and a line 'name = \"package.pack\"' in its "
        "pyproject.toml, and install it again: entry points are recorded at installation"
    )
    report.add(Finding("error", "no_entry_point", text, advice))


def _source(dist: importlib.metadata.Distribution) -> Path | None:
    """Returns the folder a distribution was installed from, if it is on this machine."""
    try:
        url = json.loads(dist.read_text("direct_url.json") or "{}").get("url", "")
    except ValueError:  # not JSON
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
            f"install it for this one, whose interpreter is {sys.executable}"
            if place.python is None
            else f"run {place.python}, or install it for {sys.executable}"
        )
        report.add(Finding("error", "other_environment", text, advice))


def _install_command(folder: Path) -> str:
    return f"{pip_of(sys.executable)} install -e {quoted(str(folder))}"


def _examine_source(name: str, report: Report) -> None:
    """Looks for the project in the current folder and those in it."""
    here = Path.cwd()
    for folder in (here, here / name, here / normalize(name)):
        if normalize(str(_project(folder).get("name", ""))) == normalize(name):
            text = f"its source is in {folder}, but it is not installed"
            report.add(Finding("error", "source_only", text, _install_command(folder)))
            return


def _examine_module(name: str, report: Report) -> None:
    module = normalize(name).replace("-", "_")
    # find_spec() raises an error for names that no module can have.
    if not module.isidentifier():
        return
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.origin is not None:
        text = (
            f"a module {module!r} can be imported from {os.path.dirname(spec.origin)}, but it does "
            "not belong to an installed distribution; Chainer reads entry points of distributions"
        )
        advice = "install it, or chainer.plugins.register(module) at run time"
        report.add(Finding("error", "no_distribution", text, advice))


def _distributions_of_module(name: str) -> list[importlib.metadata.Distribution]:
    """Returns the distributions that supply a module of a name."""
    names = importlib.metadata.packages_distributions().get(name, [])
    return [importlib.metadata.distribution(found) for found in dict.fromkeys(names)]


class Place(NamedTuple):
    """A distribution in another environment.

    Attributes:
        distribution: Name and version.
        folder: The folder in which it is installed.
        python: The interpreter of that environment; None if there is none.
    """

    distribution: str
    folder: str
    python: str | None


def other_environments(name: str) -> list[Place]:
    """Returns the other environments in which a distribution is installed.

    Searches the active environment (``VIRTUAL_ENV``, ``CONDA_PREFIX``), the environments of the
    interpreters on ``PATH``, ``.venv`` and ``venv`` in the current folder, the installation that a
    virtual environment was made from, and the user's site folder.

    Args:
        name: Name of the distribution.
    """
    # Compared by real paths: environments often contain links to each other.
    seen = {os.path.realpath(entry or ".") for entry in sys.path}
    places: list[Place] = []
    for folder, python in _folders():
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        places += [Place(found, str(folder), python) for found in _find(folder, name)]
    return places


def _folders() -> Iterator[tuple[Path, str | None]]:
    for prefix in _prefixes():
        python = next((prefix / p for p in _PYTHONS if (prefix / p).exists()), None)
        for pattern in _SITES:
            for folder in sorted(prefix.glob(pattern)):
                yield folder, None if python is None else str(python)
    yield Path(site.getusersitepackages()), None


def _prefixes() -> Iterator[Path]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path(".venv").absolute()
    yield Path("venv").absolute()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in ("python", "python3"):
            found = shutil.which(name, path=folder)
            if found is not None:
                # The interpreter of a virtual environment is a link to the one it was made from.
                yield Path(found).absolute().parent.parent
                yield Path(os.path.realpath(found)).parent.parent
    yield Path(sys.base_prefix)


def _find(folder: Path, name: str) -> Iterator[str]:
    wanted = normalize(name)
    # The metadata are read from names of folders: importing another environment could run its code.
    for suffix in (".dist-info", ".egg-info"):
        for entry in sorted(folder.glob("*" + suffix)):
            found, _, version = entry.name.removesuffix(suffix).partition("-")
            if normalize(found) == wanted:
                yield f"{found} {version}".strip()

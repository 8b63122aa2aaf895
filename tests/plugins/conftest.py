"""Distributions made for a test: modules and metadata in a folder, as pip leaves them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chainer.core.registry import registries
from chainer.core.registry.registry import Registry
from chainer.plugins import _builtin, environment
from chainer.plugins.manager import PluginManager

ROOT = Path(__file__).parents[2]


def metadata(name: str, version: str, entry_points: dict[str, str]) -> dict[str, str]:
    """Returns the metadata files of a distribution by path."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    lines = ["[chainer]", *(f"{entry} = {target}" for entry, target in entry_points.items())]
    return {
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        "Summary: A pack for tests\n",
        f"{folder}/entry_points.txt": "\n".join(lines) + "\n",
    }


class Site:
    """A folder on ``sys.path`` of a child process, with distributions in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def add(
        self,
        name: str,
        version: str = "1.0",
        *,
        entry_points: dict[str, str],
        modules: dict[str, str] | None = None,
    ) -> Site:
        """Installs a distribution: modules by name, and its metadata."""
        files = metadata(name, version, entry_points)
        for module, code in (modules or {}).items():
            files[module.replace(".", "/") + ".py"] = textwrap.dedent(code)
        for path, text in files.items():
            file = self.path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return self

    def wheel(self, name: str, version: str, entry_points: dict[str, str], code: str) -> Path:
        """Writes a wheel with one module, named as the distribution, for pip to install."""
        module = name.replace("-", "_")
        files = metadata(name, version, entry_points)
        files[f"{module}.py"] = textwrap.dedent(code)
        info = f"{module}-{version}.dist-info"
        files[f"{info}/WHEEL"] = (
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        record = f"{info}/RECORD"
        files[record] = "".join(f"{path},,\n" for path in [*files, record])
        file = self.path / f"{module}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(file, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
        return file

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs Python with this folder on its path; variables of the environment as keywords."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTHON"))}
        return subprocess.run(
            [sys.executable, *arguments],
            env=clean | {"PYTHONPATH": f"{self.path}{os.pathsep}{ROOT}"} | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs code that must succeed."""
        done = self.run("-c", textwrap.dedent(code), **variables)
        assert done.returncode == 0, done.stderr
        return done

    def value(self, code: str, **variables: str) -> Any:
        """Runs code that prints one line of JSON last, and returns its value."""
        return json.loads(self.python(code, **variables).stdout.splitlines()[-1])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


@pytest.fixture
def tables() -> dict[str, Registry]:
    """Empty registries of all kinds."""
    return {kind: Registry(kind, real.singular) for kind, real in registries.ALL.items()}


@pytest.fixture
def manager(
    tables: dict[str, Registry], site: Site, monkeypatch: pytest.MonkeyPatch
) -> PluginManager:
    """A manager of its own, in this process, that sees only what a test puts into ``site``."""
    for name in (environment.DISABLE, environment.ENABLE, environment.STRICT, environment.TRACE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_builtin, "PACKS", {})
    monkeypatch.setattr("chainer.plugins.manager.discover", lambda: _discover_only(site))
    monkeypatch.syspath_prepend(str(site.path))
    before = set(sys.modules)
    host = PluginManager("8.0", tables)
    for registry in tables.values():
        registry.set_provider(host)
    yield host
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(site.path)):
            del sys.modules[name]


def _discover_only(site: Site) -> Any:
    from chainer.plugins.discovery import discover

    return discover([str(site.path)])

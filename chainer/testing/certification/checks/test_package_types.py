"""The types of a package: what its users' type checkers see."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from chainer.core.installation import install_command


@pytest.fixture
def folder(record):
    module = record.target.partition(":")[0].partition(".")[0]
    spec = importlib.util.find_spec(module) if module else None
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the plugin is not a package")
    return Path(next(iter(spec.submodule_search_locations)))


def test_is_marked_as_typed(folder):
    assert (folder / "py.typed").exists(), f"{folder / 'py.typed'} is missing"


def test_passes_pyright(folder):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip(f"pyright is not installed: {install_command('pyright')}")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    if not done.stdout.lstrip().startswith("{"):
        pytest.skip(f"pyright does not run here: {done.stderr.strip()[-200:]}")
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [
        f"{Path(d['file']).name}:{d['range']['start']['line'] + 1}: {d['message']}"
        for d in found
        if d["severity"] == "error"
    ]
    assert not errors, "\n".join(errors[:20])

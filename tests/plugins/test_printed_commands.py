"""The commands that `chainer new-plugin` prints work, in an environment with a checkout alone.

Each kind gets a virtual environment of its own, in which pip installs as a user's does: with a
build environment, from the package index.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chainer.plugins import scaffold

ROOT = Path(__file__).parents[2]


def run(line: str, folder: Path, environment: Path) -> str:
    """Runs a command line in a virtual environment that is activated."""
    clean = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("CHAINER_", "PYTEST", "PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        line,
        shell=True,
        executable="/bin/bash",
        cwd=folder,
        env=clean | {"PATH": f"{environment / 'bin'}{os.pathsep}{clean['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, f"$ {line}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what an installation needs, so that nothing is written to this one."""
    folder = tmp_path_factory.mktemp("checkout") / "chainer with spaces"
    folder.mkdir()
    for name in ("chainer", "chainerx", "stubs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "packs" / "chainermn", folder / "packs" / "chainermn")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", scaffold.kinds())
def test_printed_commands(kind: str, checkout: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=300)
    installed = f"pip install --quiet '{checkout}'"
    if kind == "communicator":
        # A communicator is a plugin of chainermn as well, which a checkout has beside it.
        installed += f" '{checkout}/packs/chainermn[mpich]'"
    probe = subprocess.run(
        [str(environment / "bin" / "pip"), "download", "--quiet", "--no-deps", "pluggy"],
        cwd=tmp_path,
        capture_output=True,
        timeout=300,
    )
    if probe.returncode != 0:
        pytest.skip("pip reaches no package index")
    run(installed, tmp_path, environment)

    name = f"chainer-made-{kind}"
    printed = run(f"chainer new-plugin {name} --kind {kind}", tmp_path, environment)
    commands = re.findall(r"^  (\S.*)$", printed.partition("Next:\n")[2], re.MULTILINE)
    assert [line.split()[0] for line in commands] == ["cd", "pip", "pytest", "chainer"]
    # All in one shell, as a user would: the first one changes the folder.
    output = run("set -e\n" + "\n".join(commands), tmp_path, environment)
    assert re.search(r"^=* ?\d+ passed", output, re.MULTILINE), output
    assert "nothing is wrong" in output or "ok" in output, output

"""Pages of the documentation as programs: files with titles, and commands with their output."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command line and the output the page shows, where ``...`` matches anything."""

    line: str
    output: str


class Page:
    """A page of the documentation.

    Args:
        name: Path relative to the repository.
    """

    def __init__(self, name: str) -> None:
        self.text = (ROOT / name).read_text(encoding="utf-8")
        blocks = _BLOCK.findall(self.text)
        self.files = {title: code for _, title, code in blocks if title}
        self.commands = [
            Command(lines[0], "".join(f"{line}\n" for line in lines[1:]))
            for language, _, code in blocks
            if language == "console"
            for lines in (part.splitlines() for part in code.split("$ ")[1:])
        ]

    def write(self, folder: Path) -> None:
        """Writes the files of the page."""
        for title, code in self.files.items():
            path = folder / title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code, encoding="utf-8")


def run(line: str, folder: Path, site: Path | None = None, **variables: str) -> str:
    """Runs a command line as its reader would, and returns what it printed.

    Args:
        line: The command line.
        folder: Working directory.
        site: Directory that pip installs into, seen by Python.
        variables: More variables of the environment.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTEST", "PIP"))}
    path = [str(folder), *([str(site)] if site else []), str(ROOT)]
    environment = clean | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if site is not None:
        # `pip install` installs into the site: without a build environment of its own (hatchling
        # is there for the tests; 0 is how this variable says so), and without Chainer once more.
        environment |= {
            "PIP_TARGET": str(site),
            "PIP_NO_BUILD_ISOLATION": "0",
            "PIP_NO_DEPS": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
    done = subprocess.run(
        line,
        shell=True,
        executable="/bin/bash",
        cwd=folder,
        env=environment | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, f"$ {line}\n{done.stdout}"
    return done.stdout


def assert_output(command: Command, output: str) -> None:
    """Raises unless the output has the lines the page shows, in this order, maybe with others."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    checker = doctest.OutputChecker()
    lines = iter(output.splitlines())
    for wanted in command.output.splitlines():
        assert any(checker.check_output(wanted + "\n", line + "\n", flags) for line in lines), (
            f"$ {command.line}\nexpected the line: {wanted}\ngot:\n{output}"
        )

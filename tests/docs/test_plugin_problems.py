"""Every problem on the page about plugin problems looks as the page shows it."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys

import pytest

from tests.docs.author_page import ROOT

TEXT = (ROOT / "docs" / "plugin-problems.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
USE = dict(_BLOCK.findall(TEXT.split("\n## ")[0]))["use.py"]
SECTIONS = {
    section.split("\n")[0]: dict(_BLOCK.findall(section))
    for section in TEXT.split("\n## ")[1:]
    if "```" in section
}


def shown(wanted: str, output: str) -> None:
    """Raises unless the output has the wanted lines, in this order; ``...`` matches anything."""
    checker = doctest.OutputChecker()
    lines = iter(output.splitlines())
    for line in wanted.splitlines():
        pattern = line if line.startswith(" ") else "..." + line
        assert any(
            checker.check_output(pattern + "\n", other + "\n", doctest.ELLIPSIS) for other in lines
        ), f"expected the line: {line}\ngot:\n{output}"


@pytest.mark.parametrize("title", SECTIONS)
def test_looks_as_shown(title, tmp_path):
    blocks = SECTIONS[title]
    info = tmp_path / "shiny_pack-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shiny-pack\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[chainer]\nshiny = shiny.pack\n")
    (tmp_path / "shiny").mkdir()
    (tmp_path / "shiny" / "__init__.py").touch()
    (tmp_path / "shiny" / "pack.py").write_text(blocks.get("pack.py", ""))
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CHAINER_")}
    path = os.pathsep.join([str(tmp_path), str(ROOT)])

    def run(*command):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=clean | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    for name, wanted in blocks.items():
        if name == "use.py prints":
            shown(wanted, run("-c", USE)[1])
        elif name.startswith("chainer doctor"):
            code, output = run("-m", "chainer.plugins.cli", *name.split()[1:])
            assert code == 1
            shown(wanted, output)


def test_there_are_many():
    assert len(SECTIONS) >= 7

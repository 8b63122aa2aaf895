"""The source archive has what the README links to."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_links_of_the_readme_are_in_the_source_archive():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 20
    for link in links:
        assert (ROOT / link).exists(), link
        parts = [f"/{link}", *(f"/{parent.as_posix()}" for parent in Path(link).parents)]
        assert any(part in included for part in parts), f"{link} is not in the source archive"


@pytest.mark.slow
def test_the_built_archive_has_what_its_readme_links_to(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        top = path.name.removesuffix(".tar.gz")
        names = {name.removeprefix(f"{top}/") for name in archive.getnames()}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        there = link in names or any(name.startswith(f"{link.rstrip('/')}/") for name in names)
        assert there, f"{link} is not in the source archive"
    # The two commands of the README, and what the documentation is made from.
    assert {
        "Makefile",
        "mkdocs.yml",
        "docs/tutorials/digits.ipynb",
        "docs/assets/site.css",
    } <= names
    assert "scripts/site/reference.py" in names

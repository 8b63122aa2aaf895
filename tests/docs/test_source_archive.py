"""The source archive has what the README links to."""

import re
import tomllib
from pathlib import Path

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

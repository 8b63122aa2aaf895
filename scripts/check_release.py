"""Checks that the sources are those of a release: ``python scripts/check_release.py v8.0.0``.

The tag is the version of chainer, no version is one of development, and the changelog has a section
with a date.
"""

from __future__ import annotations

import re
import sys

import packs


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: check_release.py TAG", file=sys.stderr)
        return 2
    problems = list(find_problems(arguments[0]))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def find_problems(tag: str) -> list[str]:
    """Returns what must be repaired before a release, one sentence each."""
    text = (packs.ROOT / "chainer" / "core" / "version.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "([^"]+)"', text)
    assert version is not None
    problems = []
    if tag != f"v{version[1]}":
        problems.append(f"the tag must be v{version[1]}, got {tag}")
    versions = {"chainer": version[1]}
    for name, folder in packs.folders().items():
        versions[name] = packs.settings(folder)["project"].get("version", version[1])
    for name, number in versions.items():
        if not re.fullmatch(r"\d+(\.\d+)*(\.post\d+)?", number):
            problems.append(f"{name}: {number} is a version of development")
    changelog = (packs.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version[1])} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.M):
        problems.append(f"CHANGELOG.md must have a section '## {version[1]} (YYYY-MM-DD)'")
    if re.search(r"^## Unreleased\n+\S", changelog, re.M):
        problems.append("CHANGELOG.md has changes under 'Unreleased'")
    return problems


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The table of README.md names tests that exist."""

import re
from pathlib import Path

HERE = Path(__file__).parent
ROWS = re.findall(r"^\| (?!trap|-)(.+?) \| (.+) \|$", (HERE / "README.md").read_text(), re.M)


def test_each_trap_has_a_test():
    assert len(ROWS) >= 18
    for trap, cell in ROWS:
        tests = re.findall(r"`([\w/]+\.py)::(\w+)`", cell)
        assert tests, trap
        for file, name in tests:
            folder = HERE if "/" not in file else HERE.parents[2]
            assert f"\ndef {name}(" in (folder / file).read_text(), f"{trap}: {file}::{name}"

"""The page of faults names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(
    r"^\| (.*) \| (`(?:tests|packs)/.*::.*`) \|$",
    (ROOT / "docs" / "robustness.md").read_text(encoding="utf-8"),
    re.M,
)


def test_rows_are_found() -> None:
    assert len(ROWS) > 40


@pytest.mark.parametrize(("fault", "tests"), ROWS, ids=[fault for fault, _ in ROWS])
def test_tests_exist(fault: str, tests: str) -> None:
    path = ""
    for code in re.findall(r"`([^`]+)`", tests):
        file, _, name = code.partition("::")
        path = file or path  # "::name" belongs to the file before it
        text = (ROOT / path).read_text(encoding="utf-8")
        # Rows of tables of mistakes have the name of a function, or a name in quotes.
        assert re.search(rf"^ *(?:def|class) {name}\b|\"{name}\"", text, re.M), code

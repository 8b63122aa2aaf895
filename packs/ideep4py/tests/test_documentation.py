"""The examples in docstrings and README, and the files that make the package usable."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import ideep4py

MODULES = sorted(m.name for m in pkgutil.walk_packages(ideep4py.__path__, "ideep4py."))
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["ideep4py", *MODULES])
def test_docstring_examples(name) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    assert doctest.testmod(module).failed == 0


def test_readme_examples() -> None:
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


def test_public_names_are_documented() -> None:
    for module in (ideep4py, ideep4py.ops):
        for name in module.__all__:
            value = getattr(module, name)
            assert not callable(value) or value.__doc__, name


def test_typed() -> None:
    assert Path(ideep4py.__file__).with_name("py.typed").exists()


def test_files_are_small() -> None:
    sizes = {p.name: len(p.read_text().splitlines()) for p in ROOT.rglob("*.py")}
    assert {name: n for name, n in sizes.items() if n > 500} == {}

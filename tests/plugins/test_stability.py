"""Nothing of what docs/plugin-api.md promises is gone since release 8.0.0."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load() -> ModuleType:
    path = ROOT / "scripts" / "record_public_names.py"
    spec = importlib.util.spec_from_file_location("record_public_names", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


record = load()


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "data").glob("public_names_*.txt")))
def test_nothing_is_missing_since_the_release(path: Path) -> None:
    recorded = path.read_text(encoding="utf-8").splitlines()
    assert len(recorded) > 1000
    assert "chainer.plugins.hookspecs.chainer_functions(registry)" in recorded
    assert not (found := record.missing(recorded)), "\n".join(found)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("(x)", "(x)", ""),
        ("(x)", "(x, y=)", ""),
        ("(x, y=)", "(x, y=, *, z=)", ""),
        ("(x, *, y)", "(x, **kwargs)", ""),
        ("(x, y)", "(*args)", "x is gone"),
        ("()", "()", ""),
        ("(x)", "(x, y)", "y is new and has no default"),
        ("(x, *, y=)", "(x)", "y is gone"),
        ("(x, y)", "(y, x)", "the positional parameters differ"),
        ("(x, y)", "(x)", "the positional parameters differ"),
        ("(x, y=)", "(x, *, y=)", "the positional parameters differ"),
        ("(x, y=)", "(x, y)", "y has no default any more"),
        ("(x)", "(x, z=, *, y)", "y is new and has no default"),
    ],
)
def test_calls_that_break(old: str, new: str, problem: str) -> None:
    assert record.broken_call(record.words_of(old), record.words_of(new)) == problem


def test_what_is_gone_is_named() -> None:
    lines = ["chainer.functions.no_such(x)", "chainer.functions.relu(x, slope)"]
    assert record.missing(lines) == [
        "chainer.functions.no_such is gone",
        "chainer.functions.relu(x, slope) is now chainer.functions.relu(x): "
        "the positional parameters differ",
    ]

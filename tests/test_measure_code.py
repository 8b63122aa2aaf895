"""The figures that scripts/measure_code.py prints are right for a small module."""

import functools
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = '''"""A module."""

from typing import Any


# Why it is so.
def choose(x: Any, y: int, *rest: Any, **options: Any) -> int:
    """Chooses."""
    if x and y:  # two branches: the test and the "and"
        return 1
    for part in rest:
        while part:
            part = None if y else part  # type: ignore
    return [a for a in rest if a]


class Twice:
    def backward(self): ...
    def backward_arrays(self): ...


class Once:
    def backward(self):
        def inner():
            return 1 if self else 2
'''


def _script():
    path = Path(__file__).parent.parent / "scripts" / "measure_code.py"
    spec = importlib.util.spec_from_file_location("measure_code", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def of_chainer():
    """The script, which measures the packages of Chainer once: that takes seconds."""
    script = _script()
    script.measure_all = functools.cache(script.measure_all)
    return script


def test_figures_of_a_module():
    figures = _script().measure(SOURCE, "m.py")
    assert figures.lines == 25
    assert (figures.any_arguments, figures.arguments) == (2, 3)
    assert figures.type_ignores == 1
    assert figures.comment_lines == 3
    assert figures.code_lines == 15
    assert figures.doubled_gradients == ["m.py:Twice"]
    assert figures.complexities == {
        "m.py:choose": 8,
        "m.py:Twice.backward": 1,
        "m.py:Twice.backward_arrays": 1,
        "m.py:Once.backward": 1,
        "m.py:Once.backward.inner": 2,
    }
    assert figures.above(2) == {"m.py:choose": 8}


def test_all_packages_are_measured(of_chainer, capsys):
    assert of_chainer.main([]) == 0
    output = capsys.readouterr().out
    assert "core/arrays" in output
    total = sum(figures.files for figures in of_chainer.measure_all().values())
    assert total == sum("templates" not in path.parts for path in of_chainer.PACKAGE.rglob("*.py"))


def test_methods_of_kernels_are_counted_without_self():
    source = "class K:\n    def forward(self, x, *, y): ...\n    def _helper(self, *, a, b, c): ..."
    measure = _script().measure
    assert measure(source, "numpy/kernels/k.py").kernel_arguments == {
        "numpy/kernels/k.py:K.forward": 2
    }
    assert not measure(source, "numpy/library.py").kernel_arguments


def test_no_method_of_a_kernel_takes_many_arguments(of_chainer):
    """What a call is about, such as the geometry of a convolution, travels as one object."""
    counts = of_chainer.measure_all()["backends"].kernel_arguments
    assert len(counts) > 200
    assert {name: n for name, n in counts.items() if n > of_chainer.MOST_KERNEL_ARGUMENTS} == {}


def test_lines_since_a_commit(tmp_path, monkeypatch):
    measure = _script()

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True)

    folder = tmp_path / "chainer" / "functions"
    folder.mkdir(parents=True)
    (folder / "old.py").write_text('a\nb\n"""A docstring."""\nc\n')
    (folder / "notes.txt").write_text("a\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    (folder / "old.py").write_text("a\n")
    (folder / "new.py").write_text("a\nb\n")
    (tmp_path / "chainer" / "other.py").write_text("a\n")
    git("add", ".")
    monkeypatch.setattr(measure, "ROOT", tmp_path)
    assert "other" not in measure.lines_since("HEAD")
    assert "and 1 (1) in files" in measure.lines_since("HEAD", "chainer/other.py")
    assert measure.lines_since("HEAD") == (
        "chainer/functions: 4 lines (3 of code) in 1 files at HEAD; "
        "now 1 (1) in those of them that are left, and 2 (2) in files that came since"
    )

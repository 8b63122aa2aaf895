"""Worker processes start by fork on Linux, unless a program has chosen another way."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import pytest

from chainer.core.utils.start_method import default_start_method

#: A program as written for Python before 3.14: a lambda, no guard of the main module, and a bar of
#: another package, which makes a lock of multiprocessing.
PROGRAM = """
import multiprocessing
import os
import chainer
from chainer.training.extensions import snapshot_writers as kinds
CHOICE
dataset = chainer.datasets.TransformDataset([1, 2, 3], lambda x: x + 1)
iterator = chainer.iterators.MultiprocessIterator(dataset, 3, shuffle=False, n_processes=1)
writers = [
    kinds.ProcessWriter(savefun=lambda path, entries: open(path, "w").close()),
    kinds.ProcessQueueWriter(),
]
multiprocessing.Lock()
print(iterator.next())
for name, writer in zip("ab", writers):
    writer(name, ".", {})
    writer.finalize()
print(sorted(os.listdir(".")))
"""


@pytest.mark.parametrize(
    ("platform", "methods", "chosen", "expected"),
    [
        ("linux", ["forkserver", "fork", "spawn"], None, "fork"),
        ("linux", ["forkserver", "fork", "spawn"], "forkserver", None),
        ("linux", ["fork", "spawn", "forkserver"], None, None),
        ("darwin", ["spawn", "fork", "forkserver"], None, None),
        ("win32", ["spawn"], None, None),
    ],
)
def test_method(monkeypatch, platform, methods, chosen, expected):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: methods)
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none: chosen)
    assert default_start_method() == expected


def run(folder, choice):
    program = folder / "program.py"
    program.write_text(PROGRAM.replace("CHOICE", choice))
    command = [sys.executable, program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms spawn processes")
def test_programs_for_fork(tmp_path):
    done = run(tmp_path, "")
    assert (done.stdout, done.returncode) == ("[2, 3, 4]\n['a', 'b', 'program.py']\n", 0), (
        done.stderr
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no forkserver")
def test_a_choice_is_kept(tmp_path):
    done = run(tmp_path, "multiprocessing.set_start_method('forkserver')")
    assert done.returncode == 1
    assert "PicklingError" in done.stderr

"""A program with a plugin, frozen by PyInstaller with the hook that the wheel of chainer has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.installation.environments import run

pytestmark = pytest.mark.slow

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "chainer-halves"
version = "1.0"
dependencies = ["chainer"]

[project.entry-points.chainer]
halves = "chainer_halves.pack"
"""

PACK = """\
def chainer_functions(registry):
    registry.register("halve", "chainer_halves.functions:halve")
"""

FUNCTION = """\
def halve(x):
    return x * 0.5
"""

PROGRAM = """\
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers, serializers, training
from chainer.training import extensions

model = L.Classifier(chainer.Sequential(L.Linear(None, 8), F.relu, L.Linear(8, 2)))
optimizer = optimizers.Adam().setup(model)
x = np.random.rand(20, 3).astype(np.float32)
t = np.arange(20, dtype=np.int32) % 2
iterator = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x, t), 5)
updater = training.updaters.StandardUpdater(iterator, optimizer)
trainer = training.Trainer(updater, (2, "epoch"), out="result")
trainer.extend(extensions.LogReport())
trainer.extend(extensions.snapshot())
trainer.run()
serializers.save_npz("model.npz", model)
serializers.load_npz("model.npz", model)
print(F.halve(chainer.Variable(np.float32([4]))).array, updater.iteration)
"""


def test_a_frozen_program(clone: Path, dist: Path, environment: Path) -> None:
    run("pip install --find-links dist chainer", clone, environment)
    folder = environment.parent
    package = folder / "plugin" / "src" / "chainer_halves"
    package.mkdir(parents=True)
    (folder / "plugin" / "pyproject.toml").write_text(PROJECT)
    (package / "__init__.py").write_text("")
    (package / "pack.py").write_text(PACK)
    (package / "functions.py").write_text(FUNCTION)
    (folder / "program.py").write_text(PROGRAM)
    run("pip install ./plugin pyinstaller", folder, environment)
    run("pyinstaller --noconfirm program.py", folder, environment)
    # Where there is neither Python nor Chainer: what it needs is in the folder of the program.
    for name in ("plugin", "environment", "build"):
        (folder / name).rename(folder / f"{name}-away")
    (folder / "empty").mkdir()
    done = subprocess.run(
        [folder / "dist" / "program" / "program"],
        cwd=folder / "empty",
        env={},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2.] 8\n", "")
    assert {"model.npz", "result"} == {path.name for path in (folder / "empty").iterdir()}

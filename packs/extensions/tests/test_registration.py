from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import chainer_training_extras as extras
import pytest

from chainer.training import extensions, triggers, updaters

EXTENSIONS = [
    "BestSnapshots",
    "CSVLogger",
    "Dashboard",
    "EMAEvaluator",
    "EarlyStop",
    "ExponentialMovingAverage",
    "JSONLinesLogger",
    "MLflowLogger",
    "SignalSnapshot",
    "StochasticWeightAveraging",
    "TensorBoardWriter",
    "WandbLogger",
]


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (extensions, EXTENSIONS),
        (updaters, ["GradientAccumulationUpdater"]),
        (triggers, ["AnyTrigger", "StopRequestedTrigger"]),
    ],
)
def test_names_of_chainer(module, names):
    for name in names:
        assert getattr(module, name) is getattr(extras, name)


def test_all_names_are_there_and_typed():
    tree = ast.parse(Path(extras.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(typed) == set(extras.__all__) <= set(dir(extras))
    for name, module in typed.items():
        assert getattr(extras, name).__module__ == module
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        extras.Nothing  # noqa: B018
    assert (Path(extras.__file__).parent / "py.typed").exists()


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_pack_is_light_and_libraries_come_late():
    loaded = run(
        "import sys, json, chainer_training_extras.pack; first = set(sys.modules)\n"
        "from chainer.training.extensions import *\n"
        "import chainer_training_extras as e; [getattr(e, name) for name in e.__all__]\n"
        "print(json.dumps([sorted(first), sorted(sys.modules)]))"
    )
    assert not {"chainer", "numpy"} & set(loaded[0])
    assert not {"rich", "tensorboardX", "PIL"} & set(loaded[1])


def test_chainer_lists_it():
    program = shutil.which("chainer", path=str(Path(sys.executable).parent))
    done = subprocess.run([program, "plugins"], capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("training-extras ")]
    assert "chainer-extensions-extra" in line
    assert "12 extensions" in line

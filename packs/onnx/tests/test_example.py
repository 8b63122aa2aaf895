"""The example, the programs of the README and of the docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx_chainer.converter_registry import registry

import chainer
import chainer.functions as F
import chainer.links as L

FOLDER = Path(__file__).parent.parent


def test_digits(tmp_path, capsys):
    pytest.importorskip("sklearn")
    program = runpy.run_path(str(FOLDER / "examples" / "export_digits.py"))
    chainer_accuracy, runtime = program["main"](
        ["--epochs", "4", "--out", str(tmp_path / "d.onnx")]
    )
    assert chainer_accuracy > 0.9
    assert runtime == pytest.approx(chainer_accuracy, abs=1e-6)
    assert "in onnxruntime" in capsys.readouterr().out


def test_fine_tuning(tmp_path, capsys):
    pytest.importorskip("sklearn")
    program = runpy.run_path(str(FOLDER / "examples" / "fine_tune.py"))
    words = ["--epochs", "2", "--width", "8", "--size", "16", "--out", str(tmp_path)]
    accuracies = program["main"]([*words, "--capture", "--train", "layer*", "bn*"])
    assert accuracies["chainer"] > 0.6
    assert accuracies["onnxruntime"] == pytest.approx(accuracies["chainer"], abs=1e-6)
    assert accuracies["int8"] == pytest.approx(accuracies["chainer"], abs=0.02)
    assert "int8         accuracy" in capsys.readouterr().out
    first = onnx.load(tmp_path / "resnet18.onnx").graph
    last = {t.name: t for t in onnx.load(tmp_path / "digits.onnx").graph.initializer}
    changed = set()
    for tensor in first.initializer:
        name = f"param_features_{tensor.name.replace('.', '_')}"
        if name in last:
            before, after = map(onnx.numpy_helper.to_array, (tensor, last[name]))
            if (before != after).any():
                changed.add(tensor.name)
    # The patterns leave out the first convolution.
    assert {"layer1.0.conv1.weight", "bn1.weight", "bn1.running_mean"} <= changed
    assert "conv1.weight" not in changed


@pytest.mark.parametrize("page", [FOLDER / "README.md", FOLDER.parent.parent / "docs" / "onnx.md"])
def test_pages(page, tmp_path, monkeypatch):
    if not page.exists():
        pytest.skip("the page is not part of the distribution")
    monkeypatch.chdir(tmp_path)
    before = registry.entries()
    programs = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert programs
    names = {"__name__": "page"}
    try:
        for program in programs:
            exec(compile(program, str(page), "exec"), names)
    finally:
        for entry in registry.entries():
            if entry not in before:
                registry.remove(entry)


def _examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in pkgutil.walk_packages(onnx_chainer.__path__, "onnx_chainer."):
        found = finder.find(importlib.import_module(module.name), module.name)
        yield from (test for test in found if test.examples)


@pytest.mark.parametrize("example", list(_examples()), ids=lambda example: example.name)
def test_docstrings(example):
    example.globs = {"np": np, "chainer": chainer, "F": F, "L": L}
    output = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(optionflags=flags).run(example, out=output.append)
    assert not output, "".join(output)

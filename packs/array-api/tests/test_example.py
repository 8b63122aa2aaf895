"""The example and the README say the truth."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

PACK = Path(__file__).parents[1]


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_losses_are_those_of_numpy(name, need):
    need(name)
    train = load(PACK / "examples" / "train_mlp.py").train
    losses = train(f"@{name}", epochs=3)
    np.testing.assert_allclose(losses, train("@numpy", epochs=3), rtol=1e-3)
    assert losses[-1] < 0.1 * losses[0]


def test_readme(need, capsys):
    need("torch")
    text = (PACK / "README.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, "README.md", "exec"), {})
    output = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert capsys.readouterr().out == output[0]

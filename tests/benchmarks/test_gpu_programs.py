"""The programs of ``benchmarks/gpu`` run, here on the processor and at tiny sizes."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cli import list_benchmarks
from benchmarks.driver import Options, run_benchmark
from benchmarks.gpu.cli import PROGRAMS, Neighbour, main

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(list_benchmarks(PROGRAMS))


def cases(framework, name):
    """Returns the names of the cases of a program, which is read, not run."""
    tree = ast.parse((PROGRAMS / f"with_{framework}" / f"{name}.py").read_text())
    (found,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CASES"
    )
    return [key.value for key in found.keys]


@pytest.mark.parametrize("name", NAMES)
def test_both_frameworks_have_the_same_cases(name):
    assert cases("chainer", name) == cases("torch", name)


@pytest.mark.parametrize("name", NAMES)
def test_ours(name, monkeypatch):
    monkeypatch.setenv("BENCH_DEVICE", "cpu")
    monkeypatch.setenv("BENCH_QUICK", "1")
    peer = Neighbour("ours", "chainer", sys.executable)
    settings = Options(rounds=1, sample_seconds=0.0, programs=PROGRAMS)
    result = run_benchmark(name, [peer], settings)
    assert not result.errors
    assert not result.missing
    assert len(result.rows) == len(cases("chainer", name))
    assert all(row.best("ours") > 0 for row in result.rows)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_command(tmp_path):
    finished = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.gpu", "mlp", "optimizers"),
            *("--device", "cpu", "--quick", "--json", str(tmp_path / "out.json")),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "budget: each ours/torch <= 1.00" in finished.stdout
    written = json.loads((tmp_path / "out.json").read_text())
    assert [b["name"] for b in written["benchmarks"]] == ["mlp", "optimizers"]
    assert written["benchmarks"][0]["ratios"]["torch"]


def test_no_card(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.gpu.card.shutil.which", lambda name: None)
    assert main(["mlp"]) == 2
    assert "there is no NVIDIA card here" in capsys.readouterr().out


def test_unknown_name(capsys):
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "no benchmark named nothing; there are: convnets" in capsys.readouterr().err

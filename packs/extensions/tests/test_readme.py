"""The examples of the README are executed as they stand there."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import chainer_training_extras
import numpy as np
import pytest

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
SETUP, *EXAMPLES = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
TITLES = re.findall(r"^## ([^\n]+)\n\n```python$", TEXT, re.MULTILINE)


def execute(example, folder, monkeypatch):
    monkeypatch.chdir(folder)
    np.random.seed(0)
    names = {"__name__": "__main__"}
    code = SETUP + example + ("" if "trainer.run()" in example else "trainer.run()\n")
    exec(compile(code, "README.md", "exec"), names)
    return names


@pytest.mark.parametrize("title", TITLES)
def test_example(title, tmp_path, monkeypatch, capsys):
    before = signal.getsignal(signal.SIGTERM)
    names = execute(EXAMPLES[TITLES.index(title)], tmp_path, monkeypatch)
    output = capsys.readouterr().out
    found = {path.name for path in (tmp_path / "result").iterdir()}
    trainer = names["trainer"]
    match title:
        case "Dashboard":
            assert len(output.splitlines()) == 10
        case "TensorBoard":
            assert found == {"tensorboard"}
        case "CSV and JSON lines":
            assert found == {"log.csv", "log.jsonl"}
            assert len((tmp_path / "result/log.csv").read_text().splitlines()) == 11
            assert len((tmp_path / "result/log.jsonl").read_text().splitlines()) == 6
        case "Best snapshots":
            assert len(found) == 4
            assert {"last", "best_snapshots.json"} < found
            assert re.fullmatch(r"0\.\d\d at iteration \d+\n", output)
        case "Early stop":
            shown = re.findall(r"^```\n(validation.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[0]
            without_numbers = [
                re.sub(r"(best|iteration) [\d.]+", r"\1", t) for t in (output, shown)
            ]
            assert without_numbers[0] == without_numbers[1]
            assert trainer.stop_reason in (tmp_path / "result/log").read_text()
        case "Signals":
            assert trainer.updater.epoch == 10
        case "Averaged parameters":
            assert (tmp_path / "averaged.npz").exists()
            assert "ema_validation/main/loss" in trainer.observation
        case "Stochastic weight averaging":
            assert output == "statistics of 6 batches\n"
            assert (tmp_path / "averaged.npz").exists()
        case "Learning rate":
            assert (tmp_path / "rates.png").exists()
            assert 1e-5 < names["optimizer"].alpha < 1
        case "Gradient accumulation":
            assert trainer.updater.iteration == 15
        case "Triggers":
            assert found == {"snapshot"}
            assert trainer.stop_reason is not None
    assert signal.getsignal(signal.SIGTERM) == before


def test_every_name_has_an_example():
    assert len(TITLES) == len(EXAMPLES) == 11
    # The loggers need packages that most have not, and are described in words.
    described = {"SnapshotEntry", "MLflowLogger", "WandbLogger"}
    for name in set(chainer_training_extras.__all__) - described:
        assert any(name in example for example in EXAMPLES), name

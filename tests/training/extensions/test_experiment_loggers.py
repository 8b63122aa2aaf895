import os
import subprocess
import sys

import pytest

from chainer.training import extensions
from chainer.training.extensions import MLflowLogger, WandbLogger
from tests.training.observed_training import make_trainer


def run(out, logger, stop, fail=False):
    trainer = make_trainer(out, (stop, "epoch"))
    trainer.extend(logger)
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.snapshot(filename="snapshot", autoload=True))
    if fail:

        def boom(trainer):
            raise RuntimeError("boom")

        trainer.extend(boom)
        with pytest.raises(RuntimeError, match="boom"):
            trainer.run(show_loop_exception_msg=False)
        return None
    trainer.run()
    return trainer.get_extension("LogReport").log


@pytest.mark.filterwarnings("ignore")  # of MLflow and the packages that it imports
def test_mlflow_offline_and_resumed(tmp_path, monkeypatch):
    tracking = pytest.importorskip("mlflow.tracking", reason="needs mlflow-skinny")
    # Releases from 3.7 on want a database for new runs; the file store is for few of them.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "runs").as_uri()
    options = {"tracking_uri": uri, "hyperparameters": {"note": "first"}}
    run(tmp_path, MLflowLogger(**options), 2)
    log = run(tmp_path, MLflowLogger(**options), 3)
    client = tracking.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("chainer")
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.data.params["optimizer"] == "MomentumSGD"
    assert found.data.params["optimizer.lr"] == "0.1" and found.data.params["note"] == "first"
    assert found.data.params["batch_size"] == "6" and found.info.status == "FINISHED"
    history = client.get_metric_history(found.info.run_id, "main/loss")
    assert [m.step for m in history] == [entry["iteration"] for entry in log]
    assert [m.value for m in history] == pytest.approx([entry["main/loss"] for entry in log])
    run(tmp_path / "failed", MLflowLogger(**options), 2, fail=True)
    states = {r.info.status for r in client.search_runs([experiment.experiment_id])}
    assert states == {"FINISHED", "FAILED"}


class FakeRun:
    def __init__(self, record):
        self.record, self.summary = record, {}

    def log(self, values, step):
        self.record.append((step, values))

    def finish(self, exit_code):
        self.record.append(("end", exit_code))


PROGRAM = """
from chainer.training.extensions import WandbLogger
from tests.training.observed_training import make_trainer

trainer = make_trainer("out", (2, "epoch"))
trainer.extend(WandbLogger(mode="offline"))
trainer.run()
"""


@pytest.mark.slow
def test_wandb_offline(tmp_path):
    pytest.importorskip("wandb", reason="needs wandb")
    # A process of its own: the file is complete when the process has ended.
    environment = {
        **os.environ,
        "WANDB_SILENT": "true",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-c", PROGRAM]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=120)
    (file,) = tmp_path.glob("out/wandb/offline-run-*/*.wandb")
    assert b"main/loss" in file.read_bytes()


def test_what_wandb_is_told(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="needs wandb")
    import wandb

    calls, record = [], []

    def init(**options):
        calls.append(options)
        return FakeRun(record)

    monkeypatch.setattr(wandb, "init", init)
    run(tmp_path, WandbLogger(project="p", mode="offline", tags=["a"]), 2)
    log = run(tmp_path, WandbLogger(project="p", mode="offline", tags=["a"]), 3)
    assert calls[0]["id"] == calls[1]["id"] and calls[0]["config"]["optimizer.momentum"] == 0.9
    assert calls[0]["dir"] == str(tmp_path) and calls[0]["tags"] == ["a"]
    steps = [step for step, _ in record if step != "end"]
    assert steps == [entry["iteration"] for entry in log]
    assert [values["main/loss"] for step, values in record if step != "end"] == pytest.approx(
        [entry["main/loss"] for entry in log]
    )
    run(tmp_path / "failed", WandbLogger(mode="offline"), 2, fail=True)
    assert record[-1] == ("end", 1) and record[-2] == ("end", 0)


@pytest.mark.parametrize(("make", "module"), [(MLflowLogger, "mlflow"), (WandbLogger, "wandb")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, make, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, f"{module}.tracking", None)
    trainer = make_trainer(tmp_path)
    trainer.extend(make())
    with pytest.raises(ImportError, match=rf"pip install .*\[{module}\]"):
        trainer.run(show_loop_exception_msg=False)


def test_unknown_mode():
    with pytest.raises(ValueError, match="mode must be 'online', 'offline' or 'disabled'"):
        WandbLogger(mode="later")

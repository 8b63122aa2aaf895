"""The file beside a log that tells what the run is."""

import json
import os

import chainer
from chainer.training import extensions
from chainer.training.extensions.logs import run_description
from tests.training.small_training import make_trainer


def about(folder, name="log.about.json"):
    return json.loads((folder / name).read_text())


def test_hyperparameters_and_resources(tmp_path):
    trainer = make_trainer(tmp_path, (2, "epoch"))
    optimizer = trainer.updater.get_optimizer("main")
    rate = optimizer.lr
    trainer.extend(extensions.LogReport(about=True))
    trainer.extend(extensions.ExponentialShift("lr", 0.5), trigger=(1, "epoch"))
    trainer.run()
    assert optimizer.lr == rate / 4
    found = about(tmp_path)
    assert found["hyperparameters"]["optimizer"] == "SGD"
    assert found["hyperparameters"]["batch_size"] == 4
    assert found["resources"]["process"] == os.getpid()
    assert found["resources"]["chainer"] == chainer.__version__
    assert found["resources"]["cpu_seconds"] > 0


def test_it_is_left_out(tmp_path):
    trainer = make_trainer(tmp_path, (2, "epoch"))
    trainer.extend(extensions.LogReport())
    # A name that changes would give a file for each entry.
    trainer.extend(extensions.LogReport(log_name="log_{iteration}", about=True), name="numbered")
    trainer.run()
    assert not list(tmp_path.glob("*.about.json"))


def test_it_is_not_written_for_each_entry(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        run_description.RunDescription, "_write", lambda self: written.append(self._path)
    )
    description = run_description.RunDescription()
    trainer = make_trainer(tmp_path)
    description.update("a", trainer)
    description._written = run_description.time.monotonic()
    for _ in range(5):
        description.update("a", trainer)
    assert written == ["a.about.json"]
    monkeypatch.setattr(run_description, "SECONDS_BETWEEN", 0.0)
    description.update("a", trainer)
    description.close()
    assert len(written) == 3


def test_values_of_other_kinds_are_texts(tmp_path):
    trainer = make_trainer(tmp_path, (1, "epoch"))
    trainer.updater.get_optimizer("main").hyperparam.extra = object
    trainer.extend(extensions.LogReport(about=True))
    trainer.run()
    assert about(tmp_path)["hyperparameters"]["optimizer.extra"] == "<class 'object'>"


def test_a_run_that_fails_has_it(tmp_path):
    trainer = make_trainer(tmp_path, (3, "epoch"))
    trainer.extend(extensions.LogReport(about=True))

    @chainer.training.make_extension(trigger=(2, "epoch"))
    def fail(trainer):
        raise RuntimeError("on purpose")

    trainer.extend(fail)
    try:
        trainer.run(show_loop_exception_msg=False)
    except RuntimeError:
        pass
    assert about(tmp_path)["hyperparameters"]["optimizer"] == "SGD"

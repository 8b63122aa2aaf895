"""Everything at once on arrays that refuse what those of a GPU would refuse."""

from __future__ import annotations

import io

import numpy as np
import pytest

import chainer
from chainer import training
from chainer.training import extensions
from chainer.training.extensions import (
    BestSnapshots,
    CSVLogger,
    Dashboard,
    EarlyStop,
    EMAEvaluator,
    ExponentialMovingAverage,
    JSONLinesLogger,
    TensorBoardWriter,
)
from chainer.training.updaters import GradientAccumulationUpdater
from tests.training.observed_training import Model, make_dataset

pytest.importorskip("chainer_strict_backend", reason="needs the backend of Chainer's tests")


def make_trainer(out, device):
    np.random.seed(0)
    model = Model(normalized=True)
    model.l1.W.initialize((8, 4))
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = chainer.iterators.SerialIterator(make_dataset(), 4, shuffle=False)
    updater = GradientAccumulationUpdater(iterator, optimizer, device=device, n_accumulate=2)
    trainer = training.Trainer(updater, (3, "epoch"), out=str(out))

    def held_out():
        return chainer.iterators.SerialIterator(make_dataset(20), 10, repeat=False)

    ema = ExponentialMovingAverage(model, 0.9, buffers="average")
    trainer.extend(ema)
    trainer.extend(extensions.Evaluator(held_out(), model, device=device))
    trainer.extend(EMAEvaluator(held_out(), model, ema, device=device))
    trainer.extend(EarlyStop(patience=2, min_delta=100, trigger=(4, "iteration"), verbose=False))
    trainer.extend(CSVLogger())
    trainer.extend(JSONLinesLogger())
    trainer.extend(
        TensorBoardWriter(
            graph="main/loss",
            images=lambda trainer: {"W": model.l1.W},
            images_trigger=(2, "iteration"),
        )
    )
    trainer.extend(Dashboard(out=io.StringIO()))
    trainer.extend(BestSnapshots())
    trainer.extend(extensions.snapshot(filename="snapshot"), trigger=(5, "iteration"))
    return trainer, ema


@pytest.mark.filterwarnings("ignore:Detected out of order")
def test_all_at_once(tmp_path):
    expected, _ = make_trainer(tmp_path / "numpy", "@numpy")
    expected.run()
    trainer, ema = make_trainer(tmp_path / "strict", "@strict:0")
    trainer.run()
    resumed, _ = make_trainer(tmp_path / "strict", "@strict:0")
    chainer.serializers.load_npz(tmp_path / "strict" / "snapshot", resumed)
    resumed.run()
    logs = [(tmp_path / name / "log.csv").read_text().splitlines() for name in ("numpy", "strict")]
    assert logs[0][0] == logs[1][0]
    assert len(logs[0]) == len(logs[1]) == 4
    assert trainer.stop_reason.split(":")[0] == expected.stop_reason.split(":")[0]
    for key, value in expected.observation.items():
        for other in (trainer, resumed):
            found = chainer.get_device("@numpy").send(_array(other.observation[key]))
            assert float(found) == pytest.approx(float(_array(value)), rel=1e-5), key
    model = trainer.updater.get_optimizer("main").target
    with ema.applied():
        assert str(model.device) == "@strict:0"


def _array(value):
    value = value.array if isinstance(value, chainer.Variable) else value
    return np.asarray(value) if isinstance(value, float) else value

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.training.extensions import (
    StochasticWeightAveraging,
    find_learning_rate,
    recompute_statistics,
)
from tests.training.observed_training import make_trainer


def test_average_of_the_last_epochs(tmp_path):
    trainer = make_trainer(tmp_path, (5, "epoch"))
    model = trainer.updater.get_optimizer("main").target
    average = StochasticWeightAveraging(model, start=2)
    seen = []

    @chainer.training.make_extension(trigger=(1, "epoch"), priority=-10)
    def note(trainer):
        seen.append({name: param.array.copy() for name, param in model.namedparams()})

    trainer.extend(average)
    trainer.extend(note)
    trainer.run()
    assert len(seen) == 5 and average.n_updates == 3
    with average.applied(model):
        for name, param in model.namedparams():
            expected = np.mean([each[name] for each in seen[2:]], axis=0)
            np.testing.assert_allclose(param.array, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="start must not be negative, got -1"):
        StochasticWeightAveraging(model, start=-1)


def test_statistics_of_batch_normalization():
    model = L.BatchNormalization(3, decay=0.9)
    data = np.random.RandomState(0).randn(12, 3).astype(np.float32)
    batches = [list(data[i : i + 4]) for i in (0, 4, 8)]
    assert recompute_statistics(model, batches) == 3
    np.testing.assert_allclose(model.avg_mean, data.mean(axis=0), rtol=1e-4, atol=1e-6)
    variances = [data[i : i + 4].var(axis=0, ddof=1) for i in (0, 4, 8)]
    np.testing.assert_allclose(model.avg_var, np.mean(variances, axis=0), rtol=1e-3)
    assert model.decay == 0.9
    with pytest.raises(ValueError, match="one batch or more"):
        recompute_statistics(model, [])


def regression():
    np.random.seed(0)
    model = L.Linear(3, 1)
    x = np.random.randn(64, 3).astype(np.float32)
    t = x @ np.array([[1], [-2], [0.5]], np.float32)
    data = chainer.datasets.TupleDataset(x, t)
    return model, chainer.iterators.SerialIterator(data, 16, shuffle=False)


@pytest.mark.parametrize("make", [chainer.optimizers.SGD, chainer.optimizers.Adam])
def test_learning_rate_finder(make, tmp_path):
    model, iterator = regression()
    optimizer = make().setup(model)

    def lossfun(x, t):
        return F.mean_squared_error(model(x), t)

    for _ in range(2):  # a state that has to come back
        optimizer.update(lossfun, *chainer.dataset.concat_examples(iterator.next()))
    rule = model.W.update_rule
    before = model.W.array.copy(), optimizer.t, rule.t, {k: v.copy() for k, v in rule.state.items()}
    hyperparam = optimizer.hyperparam.get_dict()
    found = find_learning_rate(optimizer, iterator, lossfun, start=1e-4, steps=60)
    np.testing.assert_array_equal(model.W.array, before[0])
    assert (optimizer.t, rule.t) == before[1:3] and optimizer.hyperparam.get_dict() == hyperparam
    for name, value in before[3].items():
        np.testing.assert_array_equal(rule.state[name], value)
    assert 1e-3 < found.suggestion < 5
    assert found.rates[0] == 1e-4 and found.rates == sorted(found.rates)
    assert "<polyline" in found._repr_html_()
    pytest.importorskip("matplotlib", reason="needs Matplotlib")
    found.plot(tmp_path / "rates.png")
    assert (tmp_path / "rates.png").read_bytes().startswith(b"\x89PNG")


def test_errors_of_the_finder():
    model, iterator = regression()
    with pytest.raises(RuntimeError, match="not set up"):
        find_learning_rate(chainer.optimizers.SGD(), iterator)
    optimizer = chainer.optimizers.SGD().setup(model)
    with pytest.raises(ValueError, match="0 < start < end must hold"):
        find_learning_rate(optimizer, iterator, start=1, end=1)
    with pytest.raises(ValueError, match=r"one of \['lr'\], got 'alpha'"):
        find_learning_rate(optimizer, iterator, attr="alpha")

    def nan(x, t):
        return F.sum(model(x)) * np.float32("nan")

    with pytest.raises(RuntimeError, match="only 0 losses are finite"):
        find_learning_rate(optimizer, iterator, nan)

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.iterators import SerialIterator
from chainer.training import extensions


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def data(n=40):
    x = np.random.RandomState(0).rand(n, 2).astype(np.float32)
    return x, (x.sum(axis=1) > 1).astype(np.int32)


def classifier():
    np.random.seed(0)
    return L.Classifier(chainer.Sequential(L.Linear(2, 8), F.relu, L.Linear(8, 2)))


def values(log):
    return [{key: value for key, value in entry.items() if key != "elapsed_time"} for entry in log]


def by_hand(model, epochs, out):
    optimizer = chainer.optimizers.Adam().setup(model)
    train = chainer.datasets.TupleDataset(*data())
    test = chainer.datasets.TupleDataset(*data(10))
    iterator = SerialIterator(train, 16)
    trainer = training.Trainer(
        training.updaters.StandardUpdater(iterator, optimizer), (epochs, "epoch"), out=out
    )
    trainer.extend(extensions.Evaluator(SerialIterator(test, 16, False, False), model))
    trainer.extend(extensions.LogReport())
    trainer.run()
    return trainer.get_extension("LogReport").log


def test_equals_the_trainer_of_the_guide():
    model, other = classifier(), classifier()
    np.random.seed(1)
    trainer, log = chainer.fit(model, data(), data(10), epochs=3, batch_size=16)
    np.random.seed(1)
    expected = by_hand(other, 3, "other")
    assert values(log) == values(expected)
    assert trainer.updater.epoch == 3
    for a, b in zip(model.params(), other.params(), strict=True):
        np.testing.assert_array_equal(a.array, b.array)


def test_printed_program_does_the_same(capsys):
    model = classifier()
    np.random.seed(1)
    _, log = chainer.fit(model, data(), epochs=2, batch_size=16, show_program=True)
    program = capsys.readouterr().out.partition("\nepoch  ")[0]
    names = {
        "model": classifier(),
        "train": chainer.datasets.TupleDataset(*data()),
        "validation": None,
        "optimizer": chainer.optimizers.Adam(),
        "callbacks": (),
    }
    np.random.seed(1)
    exec(program, names)
    assert values(names["log"]) == values(log)


def test_resume_trains_on():
    whole = classifier()
    np.random.seed(1)
    _, expected = chainer.fit(whole, data(), epochs=4, out="whole")
    first = classifier()
    np.random.seed(1)
    chainer.fit(first, data(), epochs=2, out="parts")
    model = classifier()
    _, log = chainer.fit(model, data(), epochs=4, out="parts", resume=True)
    assert values(log) == values(expected)
    np.testing.assert_array_equal(model.predictor[0].W.array, whole.predictor[0].W.array)


def test_iterators_datasets_and_callbacks():
    dataset = chainer.datasets.TupleDataset(*data())
    calls = []

    @training.make_extension(trigger=(1, "iteration"))
    def count(trainer):
        calls.append(trainer.updater.iteration)

    trainer, _ = chainer.fit(
        classifier(),
        SerialIterator(dataset, 10, shuffle=False),
        dataset,
        epochs=1,
        optimizer=chainer.optimizers.SGD(0.1),
        callbacks=[count],
    )
    assert len(calls) == 4
    assert isinstance(trainer.updater.get_optimizer("main"), chainer.optimizers.SGD)


def test_optimizer_that_is_set_up_keeps_its_state():
    model = classifier()
    optimizer = chainer.optimizers.Adam().setup(model)
    chainer.fit(model, data(), epochs=1, optimizer=optimizer)
    chainer.fit(model, data(), epochs=1, optimizer=optimizer)
    assert optimizer.t == 4


def test_other_device():
    model = classifier()
    trainer, log = chainer.fit(model, data(), data(10), epochs=1, device="@strict:0")
    assert model.device == chainer.get_device("@strict:0") == trainer.updater.device
    assert log[0]["validation/main/loss"] > 0


def test_network_without_loss_is_explained():
    with pytest.raises(ValueError, match="initial gradient") as error:
        chainer.fit(L.Linear(2, 2), data()[0], epochs=1)
    assert any("L.Classifier(network)" in note for note in error.value.__notes__)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"model": F.relu}, TypeError, "model must be a Link whose call returns the loss"),
        (
            {"train": 3},
            TypeError,
            "train must be a dataset, a tuple of arrays or an iter",
        ),
        ({"validation": 3}, TypeError, "validation must be a dataset"),
        ({"train": (np.zeros(3), np.zeros(4))}, ValueError, "wrong length"),
        ({"epochs": "3"}, TypeError, "epochs must be a number, got '3'"),
        ({"callbacks": F.relu}, TypeError, "callbacks must be a list of extensions"),
        ({"epochs": 0}, ValueError, "epochs must be a finite number that is at least 1, got 0"),
        ({"epochs": float("nan")}, ValueError, "epochs must be a finite number"),
        ({"epochs": float("inf")}, ValueError, "epochs must be a finite number"),
        ({"resume": "snapshot"}, TypeError, "resume must be True or False"),
        ({"out": None}, TypeError, "out must be the path of a folder, got None"),
        (
            {"train": dict(zip("xt", data(), strict=True))},
            TypeError,
            r"write chainer.datasets.DictDataset\(\*\*train\)",
        ),
        ({"train": data(0)}, ValueError, "train must have at least one example"),
        ({"validation": data(0)}, ValueError, "validation must have at least one example"),
        ({"optimizer": "adam"}, TypeError, "optimizer must be an optimizer"),
    ],
)
def test_wrong_arguments(arguments, kind, text):
    given = {"model": classifier(), "train": data(), **arguments}
    with pytest.raises(kind, match=text):
        chainer.fit(**given)


def test_a_model_that_returns_nothing_is_named():
    class Forgetful(chainer.Chain):
        def forward(self, x, t):
            x.sum()

    with pytest.raises(TypeError, match="got NoneType from Forgetful"):
        chainer.fit(Forgetful(), data(), epochs=1)


def test_labels_are_not_a_validation_set():
    expected = (
        r"validation must be a dataset with examples like the ones of train \(float32 arrays "
        r"with 1 axis\), got an array of int32 numbers. Labels belong to train: "
        r"chainer.fit\(model, \(x, t"
    )
    with pytest.raises(TypeError, match=expected):
        chainer.fit(classifier(), *data())


def test_labels_that_look_like_inputs_are_explained():
    x = data()[0]
    model = L.Classifier(L.Linear(2, 2), lossfun=F.mean_squared_error)
    with pytest.raises(TypeError) as caught:
        chainer.fit(model, x, 2 * x, epochs=1)
    assert "validation is a second dataset, not the labels of train" in caught.value.__notes__[-1]


def test_arrays_of_inputs_alone():
    x = data()[0]

    class Autoencoder(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.net = L.Linear(2, 2)

        def forward(self, x):
            loss = F.mean_squared_error(self.net(x), x)
            chainer.report({"loss": loss}, self)
            return loss

    assert "validation/main/loss" in chainer.fit(Autoencoder(), x, x[:8], epochs=1).log[0]


def test_optimizer_of_another_model():
    optimizer = chainer.optimizers.Adam().setup(classifier())
    with pytest.raises(TypeError, match="set up with another model"):
        chainer.fit(classifier(), data(), optimizer=optimizer)

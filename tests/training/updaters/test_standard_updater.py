from __future__ import annotations

import numpy as np
import pytest

import chainer
from chainer.links.serializers.npz import DictionarySerializer
from chainer.training import optimizers
from chainer.training.iterators.serial_iterator import SerialIterator
from chainer.training.trainer import Trainer
from chainer.training.updater import Updater
from chainer.training.updaters.standard_updater import StandardUpdater
from tests.training.small_training import Regression, make_dataset


def make(**kwargs):
    model = Regression()
    optimizer = optimizers.SGD(0.01).setup(model)
    iterator = SerialIterator(make_dataset(), 4, shuffle=False)
    return StandardUpdater(iterator, optimizer, **kwargs)


def test_update():
    updater = make()
    optimizer = updater.get_optimizer("main")
    examples = make_dataset()[0:4]
    x, t = (np.array(column) for column in zip(*examples, strict=True))
    expected = 1 - 0.01 * 2 * (x.sum(axis=1) - t) @ x
    updater.update()
    assert updater.iteration == 1
    np.testing.assert_allclose(optimizer.target.W.array, expected, rtol=1e-5)


def test_epochs():
    updater = make()
    seen = []
    for _ in range(5):
        updater.update()
        seen.append((updater.epoch, updater.is_new_epoch, updater.epoch_detail))
    assert [new for _, new, _ in seen] == [False, False, True, False, True]
    assert seen[-1][0] == 2
    assert updater.previous_epoch_detail == pytest.approx(1.6)
    assert updater.get_optimizer("main").epoch == 2


def test_epochs_counted_by_update_core():
    # Programs written for release 7 that override update_core() count epochs there.
    class Own(StandardUpdater):
        def update_core(self):
            next(self.get_iterator("main"))
            if self.auto_new_epoch and self.is_new_epoch:
                self.get_optimizer("main").new_epoch(auto=True)

    optimizer_names = ("main", "second")
    updater = Own(
        SerialIterator(make_dataset(), 4),
        {name: optimizers.SGD().setup(Regression()) for name in optimizer_names},
    )
    while updater.epoch < 2:
        updater.update()
    assert [updater.get_optimizer(name).epoch for name in optimizer_names] == [2, 2]


def test_update_core_counts_epochs_by_itself():
    # As in release 7, where tests call update_core() alone.
    updater = make()
    for _ in range(3):
        updater.update_core()
    epochs = updater.epoch
    assert epochs > 0
    assert updater.get_optimizer("main").epoch == epochs


def test_epochs_counted_by_the_program():
    updater = make(auto_new_epoch=False)
    for _ in range(3):
        updater.update()
    assert updater.get_optimizer("main").epoch == 0


@pytest.mark.parametrize(
    ("convert", "expected"),
    [
        (lambda batch: (1, 2), ((1, 2), {})),
        (lambda batch: {"x": 1, "t": 2}, ((), {"x": 1, "t": 2})),
        (lambda batch: 5, ((5,), {})),
        (lambda batch: [1, 2], (([1, 2],), {})),
    ],
)
def test_how_the_loss_function_is_called(convert, expected):
    calls = []

    def loss_func(*args, **kwargs):
        calls.append((args, kwargs))
        return updater.get_optimizer("main").target.W.reshape(3)[0]

    updater = make(converter=lambda batch, device: convert(batch), loss_func=loss_func)
    updater.update()
    assert calls == [expected]


def test_converter_gets_the_device():
    seen = []

    def converter(batch, device):
        seen.append((len(batch), device))
        x, t = zip(*batch, strict=True)
        return np.array(x), np.array(t)

    for device in (None, -1, "@numpy", chainer.get_device("@numpy")):
        make(converter=converter, device=device).update()
    # Functions may have been written for release 4, where a device is a number.
    assert seen == [(4, None), (4, -1), (4, -1), (4, -1)]


def test_device():
    updater = make()
    assert updater.device is None
    assert updater.input_device is None
    host = chainer.get_device("@numpy")
    updater = make(device=-1)
    assert updater.device == updater.input_device == host
    updater.device = None  # as in release 4
    assert updater.input_device is None
    updater.device = "@numpy"
    assert updater.device == updater.input_device == host
    updater = make(input_device="@numpy")
    assert updater.device is None
    assert updater.input_device == host
    with pytest.raises(TypeError, match="unexpected keyword"):
        make(output_device=-1)


def test_loss_scale():
    plain, scaled = make(), make(loss_scale=1024.0)
    for updater in (plain, scaled):
        updater.update()
    weights = [u.get_optimizer("main").target.W.array for u in (plain, scaled)]
    np.testing.assert_allclose(*weights, rtol=1e-6)


def test_iterator_of_the_new_protocol_only():
    class Minimal:
        epoch, epoch_detail, previous_epoch_detail, is_new_epoch = 0, 0.0, 0.0, False

        def __next__(self):
            return make_dataset()[0:2]

    updater = StandardUpdater(Minimal(), optimizers.SGD().setup(Regression()))
    updater.update()
    assert updater.iteration == 1


def test_names_in_files():
    updater = StandardUpdater(
        {"main": SerialIterator(make_dataset(), 4), "other": SerialIterator(make_dataset(), 4)},
        {
            "main": optimizers.SGD().setup(Regression()),
            "second": optimizers.SGD().setup(Regression()),
        },
    )
    target = {}
    DictionarySerializer(target).save(updater)
    prefixes = {key.partition("/")[0] for key in target}
    assert prefixes == {
        "iteration", "iterator:main", "iterator:other", "optimizer:main", "optimizer:second",
        "model:main", "model:second",
    }  # fmt: skip
    assert set(updater.get_all_optimizers()) == {"main", "second"}
    trainer = Trainer(updater)
    with pytest.raises(KeyError, match="no iterator is called 'nope'; there are: main, other"):
        trainer.updater.get_iterator("nope")
    with pytest.raises(KeyError, match="no optimizer is called 'x'; there are: main, second"):
        trainer.updater.get_optimizer("x")


def test_missing_parts():
    optimizer = optimizers.SGD()
    with pytest.raises(TypeError, match="'main' must be a dataset iterator, .* got list"):
        StandardUpdater([1, 2], optimizer)
    updater = StandardUpdater(SerialIterator([1, 2], 1), optimizer)
    with pytest.raises(RuntimeError, match="optimizer 'main' is not set up"):
        Trainer(updater)
    updater = StandardUpdater({"x": SerialIterator([1, 2], 1)}, optimizer.setup(Regression()))
    with pytest.raises(KeyError, match="no iterator is called 'main'; there are: x"):
        updater.update()


def test_finalize():
    class Iterator(SerialIterator):
        finalized = False

        def finalize(self):
            self.finalized = True

    updater = StandardUpdater(Iterator(make_dataset(), 2), optimizers.SGD().setup(Regression()))
    updater.finalize()
    assert updater.get_iterator("main").finalized


def test_bad_arguments():
    iterator = SerialIterator(make_dataset(), 2)
    with pytest.raises(TypeError, match="optimizer 'main' must be a chainer.Optimizer, got int"):
        StandardUpdater(iterator, 3)
    with pytest.raises(ValueError, match="nonsense"):
        StandardUpdater(iterator, optimizers.SGD().setup(Regression()), device="@nonsense")


@pytest.mark.parametrize("method", ["update", "finalize", "get_all_optimizers"])
def test_interface(method):
    with pytest.raises(NotImplementedError, match=method):
        getattr(Updater(), method)()


@pytest.mark.parametrize("wrong", [chainer.Parameter(1.0, (2,)), chainer.Variable(), 3])
def test_what_is_not_an_optimizer_is_refused(wrong):
    iterator = SerialIterator([1, 2], 1)
    with pytest.raises(TypeError, match="optimizer 'main' must be a chainer.Optimizer, got "):
        StandardUpdater(iterator, wrong, loss_scale=2.0)

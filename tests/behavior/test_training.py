"""Training loops, datasets and extensions, as programs written for releases 4 to 7 use them."""

import io
import urllib.request
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import serializers, training
from chainer.training import triggers


def trainer_at(iteration, per_epoch=2, **kwargs):
    """Returns what a trigger sees of a trainer, without previous_epoch_detail."""
    updater = SimpleNamespace(
        iteration=iteration,
        epoch=iteration // per_epoch,
        epoch_detail=iteration / per_epoch,
        is_new_epoch=iteration % per_epoch == 0,
        **kwargs,
    )
    return SimpleNamespace(updater=updater, observation={})


@pytest.mark.parametrize("kwargs", [{}, {"previous_epoch_detail": -1}])
@pytest.mark.parametrize(
    "trigger", [triggers.IntervalTrigger(1, "epoch"), triggers.ManualScheduleTrigger([1], "epoch")]
)
def test_trigger_before_the_first_update(trigger, kwargs):
    """A trigger that is asked before the first update does not fire."""
    assert not trigger(trainer_at(0, **kwargs))


@pytest.mark.parametrize(
    "trigger",
    [
        triggers.IntervalTrigger(2, "iteration"),
        triggers.IntervalTrigger(1, "epoch"),
        triggers.ManualScheduleTrigger([2], "iteration"),
        triggers.ManualScheduleTrigger([1], "epoch"),
    ],
)
def test_trigger_first_asked_later(trigger):
    """A trigger that is first asked after a point was passed fires then, and once."""
    assert trigger(trainer_at(3))
    assert not trigger(trainer_at(3))


def test_trigger_does_not_read_the_previous_epoch():
    """Triggers work with mocked updaters: they do not read previous_epoch_detail."""
    trainer = mock.MagicMock()
    trainer.updater.iteration, trainer.updater.epoch_detail = 3, 1.5
    for kind in (triggers.IntervalTrigger, triggers.ManualScheduleTrigger):
        assert kind(1, "epoch")(trainer)


@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        (triggers.IntervalTrigger(2, "iteration"), True),
        (triggers.IntervalTrigger(1, "epoch"), False),
        (triggers.ManualScheduleTrigger([2], "iteration"), True),
        (triggers.ManualScheduleTrigger([1.5], "epoch"), True),
    ],
)
def test_snapshot_without_states_of_triggers(trigger, fires):
    """A trigger warns if a snapshot lacks its state, and guesses its position."""
    text = "previous_iteration|previous_epoch|finished"
    with pytest.warns(UserWarning, match=text) as warnings:
        trigger.serialize(serializers.NpzDeserializer({}))
    assert len(warnings) >= 2
    trainer = trainer_at(2)
    trainer.updater.epoch_detail, trainer.updater.previous_epoch_detail = 1.5, 1.0
    assert trigger(trainer) == fires


def test_hook_of_parameters_without_update_rules():
    """A hook for each parameter is called with None if the optimizer has no update rules."""

    class ByHand(chainer.Optimizer):
        def update(self, lossfun=None, *args, **kwargs):
            self.call_hooks("pre")

    calls = []

    def hook(rule, param):
        calls.append((rule, param.name))

    hook.name, hook.timing, hook.call_for_each_param = "hook", "pre", True
    optimizer = ByHand().setup(L.Linear(2, 3))
    optimizer.add_hook(hook)
    optimizer.update()
    assert sorted(calls, key=str) == [(None, "W"), (None, "b")]


def test_hook_without_a_name():
    """A hook without a name of its own is a ValueError."""
    hook = mock.Mock(spec=["__call__", "timing"], timing="pre")
    optimizer = chainer.optimizers.SGD().setup(L.Linear(2, 3))
    for registry in (optimizer, optimizer.target.W.update_rule):
        with pytest.raises(ValueError, match="name"):
            registry.add_hook(hook)


def test_reset_of_a_finalized_multiprocess_iterator():
    """MultiprocessIterator.reset() after finalize() raises NotImplementedError."""
    iterator = chainer.iterators.MultiprocessIterator(range(4), 2, n_processes=1, shuffle=False)
    iterator.reset()
    assert next(iterator) == [0, 1]
    iterator.finalize()
    with pytest.raises(NotImplementedError):
        iterator.reset()


def test_image_dataset_tells_whether_pillow_is_there():
    """image_dataset.available is a bool."""
    assert isinstance(chainer.datasets.image_dataset.available, bool)


@pytest.fixture
def dataset_root(tmp_path, monkeypatch):
    # What was set before is restored, also that nothing was set.
    monkeypatch.setattr("chainer.training.dataset.download._root", str(tmp_path / "root"))
    return tmp_path / "root"


def test_cached_file_below_a_file(dataset_root):
    """cache_or_load_file whose directory cannot be made raises RuntimeError; nothing is created."""
    dataset_root.write_text("a file")
    creator = mock.Mock()
    with pytest.raises(RuntimeError):
        chainer.dataset.cache_or_load_file(str(dataset_root / "file"), creator, mock.Mock())
    creator.assert_not_called()


def test_download_by_a_replaced_urlretrieve(dataset_root, monkeypatch):
    """cached_download calls the urllib.request.urlretrieve that a program has put in place."""
    calls = []

    def retrieve(url, path):
        calls.append(url)
        with open(path, "w") as file:
            file.write("content")

    monkeypatch.setattr(urllib.request, "urlretrieve", retrieve)
    for _ in range(2):
        with open(chainer.dataset.cached_download("http://localhost:1/x")) as file:
            assert file.read() == "content"
    assert calls == ["http://localhost:1/x"]


def test_plots_tell_whether_matplotlib_is_there():
    """The modules of plots have a flag _available."""
    from chainer.training.extensions import plot_report, variable_statistics_plot

    assert isinstance(plot_report._available, bool)
    assert isinstance(variable_statistics_plot._available, bool)


def test_reservoir_and_statistician():
    """The parts of VariableStatisticsPlot have the arguments that programs give them."""
    from chainer.training.extensions.variable_statistics_plot import Reservoir, Statistician

    reservoir = Reservoir(3, (2,), dtype="d")
    reservoir.add(np.ones(2), idx=7)
    reservoir.add(np.zeros(2), 3)
    indexes, data = reservoir.get_data()
    assert indexes.tolist() == [3, 7]
    assert data.tolist() == [[0, 0], [1, 1]]
    assert data.dtype == np.float64
    reservoir = Reservoir(2, ())
    for i in range(20):
        reservoir.add(i)
    indexes, data = reservoir.get_data()
    assert len(indexes) == 2
    np.testing.assert_array_equal(indexes, data)

    x = np.arange(6.0).reshape(2, 3)
    found = Statistician(True, True, (0, 50, 100))(x, axis=None, dtype="f")
    assert {name: value.tolist() for name, value in found.items()} == {
        "mean": 2.5,
        "std": pytest.approx(x.std()),
        "percentile": [0, 2.5, 5],
    }
    assert all(value.dtype == np.float32 for value in found.values())
    found = Statistician(False, False, 50)(x, axis=0, dtype="d")
    assert {name: value.tolist() for name, value in found.items()} == {
        "percentile": [1.5, 2.5, 3.5]
    }


def test_flat_arrays_of_links():
    """gather_grads and gather_params refuse links on the host; both scatter what was gathered."""
    from chainer.training.updaters import multiprocess_parallel_updater as module

    link = L.Linear(2, 1)
    for gather in (module.gather_grads, module.gather_params):
        with pytest.raises(RuntimeError, match=gather.__name__):
            gather(link)
    module.scatter_params(link, np.arange(3, dtype="f"))
    assert (link.W.array.tolist(), link.b.array.tolist()) == ([[0, 1]], [2])

    device = chainer.get_device("@strict:0")
    link.cleargrads()
    link.to_device(device)
    for param in link.params():
        param.grad = device.send(np.full(param.shape, 5, "f"))
    grads = module.gather_grads(link)
    assert chainer.get_device("@numpy").send(grads).tolist() == [5, 5, 5]
    module.scatter_grads(link, device.send(np.arange(3, dtype="f")))
    assert chainer.get_device("@numpy").send(link.W.grad).tolist() == [[0, 1]]


def test_bars_of_other_extensions():
    """extensions.util has the base class of progress bars, and the helpers of the terminal."""
    from chainer.training.extensions import util

    class Bar(util.ProgressBar):
        def get_lines(self):
            return ["a\n", "b\n"]

    stream = io.StringIO()
    bar = Bar(out=stream)
    bar.update()
    assert stream.getvalue() == "\033[Ja\nb\n\033[2A"
    bar.close()
    assert stream.getvalue().endswith("\033[J")
    assert bar.update_speed(0, 0) == (float("inf"), float("inf"))
    iterations, epochs = bar.update_speed(4, 1.0)
    assert iterations == pytest.approx(4 * epochs)


def test_terminal_helpers(capsys):
    """erase_console and set_console_cursor_position write control sequences."""
    from chainer.training.extensions import util

    util.erase_console(0, 0)
    util.set_console_cursor_position(0, -4)
    util.set_console_cursor_position(2, 1)
    assert capsys.readouterr().out == "\033[J\033[4A\033[1B\033[2C"


@pytest.mark.parametrize("error", [IndexError, ValueError])
def test_examples_of_different_lengths(error):
    with pytest.raises(error, match=r"same number of elements, got \[1, 2\]"):
        chainer.dataset.concat_examples([(1, 2), (1,)])


def test_log_report_of_a_substitute_for_a_trainer(tmp_path):
    """Tests of programs call extensions with a mock, whose attributes are mocks as well."""
    trainer = mock.MagicMock(out=str(tmp_path), elapsed_time=1.5, is_before_training=False)
    trainer.updater.iteration, trainer.updater.epoch = 4, 1
    trainer.observation = {"a": 1.0, "b": np.float32(3)}
    report = training.extensions.LogReport(keys=["a"], trigger=lambda trainer: True)
    report(trainer)
    entry = {"a": 1.0, "epoch": 1, "iteration": 4, "elapsed_time": 1.5}
    assert report.log == [entry]

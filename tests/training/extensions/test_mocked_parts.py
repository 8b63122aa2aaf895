"""Parts of the training that tests of programs for release 7 replace by mocks."""

from __future__ import annotations

import importlib
import threading
from unittest import mock

import numpy as np
import pytest

import chainer
from chainer import testing
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers


def test_worker_of_standard_writer():
    writer, worker = snapshot_writers.StandardWriter(), mock.MagicMock()
    writer.create_worker = mock.MagicMock(return_value=worker)
    assert not writer._started
    assert not writer._finalized
    writer("name", "folder", {})
    assert writer._started
    writer("name", "folder", mock.MagicMock())
    assert (worker.start.call_count, worker.join.call_count) == (2, 1)
    for _ in range(2):
        writer.finalize()
        assert worker.join.call_count == 2
    assert writer._finalized
    assert not writer._started


@pytest.mark.parametrize(
    ("name", "writer"),
    [
        ("multiprocessing.Process", snapshot_writers.ProcessWriter),
        ("threading.Thread", snapshot_writers.ThreadWriter),
    ],
)
def test_classes_of_workers(name, writer):
    with mock.patch(name) as worker_class:
        made = writer()
        assert made.create_worker("name", "folder", "target") is worker_class.return_value
        made("name", "folder", "target")
        made.finalize()
    assert worker_class.return_value.start.call_count == 1
    assert worker_class.return_value.join.call_count == 1


def test_queue_of_writer():
    queue, consumer = mock.MagicMock(), mock.MagicMock()
    with (
        mock.patch.object(snapshot_writers.ThreadQueueWriter, "create_queue", return_value=queue),
        mock.patch.object(
            snapshot_writers.ThreadQueueWriter, "create_consumer", return_value=consumer
        ),
    ):
        writer = snapshot_writers.ThreadQueueWriter()
        writer("name", "folder", {"a": np.ones(1)})
        assert writer._started
        writer.finalize()
    assert queue.put.call_count == 2
    assert queue.join.call_count == consumer.join.call_count == consumer.start.call_count == 1
    assert threading.active_count() < 50  # no worker of its own was started


def test_snapshots_are_read_by_the_module_npz(tmp_path):
    trainer = testing.get_trainer_with_mock_updater((1, "iteration"))
    trainer.out = str(tmp_path)
    trainer.extend(extensions.snapshot(), trigger=(1, "iteration"))
    trainer.run()
    trainer = testing.get_trainer_with_mock_updater((1, "iteration"))
    trainer.out = str(tmp_path)
    with mock.patch("chainer.training.extensions._snapshot.npz.load_npz") as load:
        extensions.snapshot(autoload=True).initialize(trainer)
    assert load.call_count == 1


def test_clock_of_trainer():
    trainer = testing.get_trainer_with_mock_updater((1, "iteration"))
    with mock.patch("chainer.training.trainer._get_time", side_effect=[0.0] + [20.0] * 9):
        trainer.run()
        assert trainer.elapsed_time == 20


def test_updaters_in_the_module_updater():
    module = importlib.import_module("chainer.training.updater")
    assert module.StandardUpdater is chainer.training.updaters.StandardUpdater
    assert module.ParallelUpdater is chainer.training.updaters.ParallelUpdater


@pytest.mark.parametrize("target", [mock.MagicMock, lambda: mock.MagicMock(spec=chainer.Link)])
def test_target_of_evaluator(target):
    link = target()
    iterator = chainer.iterators.SerialIterator([1, 2, 3], 2, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(iterator, link, converter=lambda batch, device: batch)
    with chainer.Reporter():
        assert evaluator.evaluate() == {}
    assert [call.args for call in link.call_args_list] == [([1, 2],), ([3],)]
    assert evaluator._targets == {"main": link}

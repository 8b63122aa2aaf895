"""Evaluators, aggregation, snapshots and checkpoints."""

import itertools
import os
import warnings

import chainermn
import numpy as np
import pytest
from chainermn.datasets.scatter import part_of
from chainermn.extensions._multi_node_snapshot import sets_of

import chainer
import chainer.functions as F
from chainer import links as L
from chainer.iterators import SerialIterator
from chainer.training import StandardUpdater, Trainer, extensions

EXAMPLES = [
    (np.random.RandomState(i).normal(size=4).astype("f"), np.int32(i % 3)) for i in range(24)
]


def make_trainer(comm, out, epochs=2, batch=2, seed=0, multi_node=True, dataset=None):
    """A trainer of one process, or of all."""
    state = np.random.RandomState(seed)
    model = L.Classifier(chainer.Sequential(L.Linear(4, 8), F.dropout, L.Linear(8, 3)))
    for _, param in sorted(model.namedparams()):
        param.array[...] = state.normal(scale=0.3, size=param.shape)
    optimizer = chainer.optimizers.MomentumSGD(0.1)
    if multi_node:
        optimizer = chainermn.create_multi_node_optimizer(optimizer, comm)
    optimizer.setup(model)
    train = EXAMPLES if dataset is None else dataset
    iterator = SerialIterator(train, batch)
    return Trainer(StandardUpdater(iterator, optimizer), (epochs, "epoch"), out=str(out))


def params_of(trainer):
    target = trainer.updater.get_optimizer("main").target
    return {name: param.array.copy() for name, param in target.namedparams()}


def test_evaluator(comm):
    model = L.Classifier(L.Linear(4, 3))
    comm.bcast_data(model)
    part = chainermn.scatter_dataset(EXAMPLES if comm.rank == 0 else None, comm)
    evaluator = extensions.Evaluator(SerialIterator(part, 3, repeat=False, shuffle=False), model)
    result = chainermn.create_multi_node_evaluator(evaluator, comm)
    assert result is evaluator
    assert evaluator._mn_communicator is comm
    values = evaluator()
    alone = extensions.Evaluator(SerialIterator(EXAMPLES, 3, repeat=False, shuffle=False), model)()
    assert sorted(values) == sorted(alone) == ["main/accuracy", "main/loss"]
    for name, value in alone.items():
        np.testing.assert_allclose(values[name], value, rtol=1e-5)
    assert comm.allgather_obj(values) == [values] * comm.size


def test_evaluators_with_different_names(comm):
    evaluator = extensions.Evaluator(SerialIterator([1], 1, repeat=False), L.Linear(1, 1))
    evaluator.evaluate = lambda: {f"loss{comm.rank}": 1.0}
    chainermn.create_multi_node_evaluator(evaluator, comm)
    if comm.size == 1:
        assert evaluator() == {"loss0": 1.0}
        return
    with pytest.raises(ValueError, match="different values"):
        evaluator()


@pytest.mark.parametrize("count", [0, 1, 23])
def test_generic_evaluator(comm, count):
    class Sum(chainermn.extensions.GenericMultiNodeEvaluator):
        def calc_local(self, x):
            assert not chainer.config.train
            assert not chainer.config.enable_backprop
            return float(np.sum(x)), len(x)

        def aggregate(self, results):
            return np.sum(np.array(results).reshape(-1, 2), axis=0)

    root = comm.size - 1
    values = [np.float64(i) for i in range(count)]
    part = chainermn.scatter_dataset(values, comm, force_equal_length=False)
    seen = []
    evaluator = Sum(
        comm,
        SerialIterator(part, 2, repeat=False, shuffle=False),
        None,
        root=root,
        progress_hook=seen.append,
    )
    for _ in range(2):
        result = evaluator()
        if comm.rank == root:
            np.testing.assert_allclose(result, [sum(range(count)), count])
        else:
            assert result is None
    assert bool(seen) == (comm.rank == root and len(part) > 0)
    with pytest.raises(AssertionError):
        chainermn.extensions.GenericMultiNodeEvaluator(comm, None, None, root=comm.size)


def test_generic_evaluator_default_and_order(comm):
    begin, end = part_of(5, comm.size, comm.rank, False)
    iterator = SerialIterator(np.arange(begin, end), 1, repeat=False, shuffle=False)
    results = chainermn.extensions.GenericMultiNodeEvaluator(comm, iterator, lambda x: int(x[0]))()
    if comm.rank == 0:
        parts = [range(*part_of(5, comm.size, r, False)) for r in range(comm.size)]
        rounds = [[p[i] for p in parts if i < len(p)] for i in range(max(map(len, parts)))]
        assert results == list(itertools.chain(*rounds))


def test_allreduce_persistent(comm):
    model = chainer.Sequential(L.BatchNormalization(3), L.Linear(3, 1))
    model[0].avg_mean[...] = comm.rank
    model[0].N = comm.rank
    extension = chainermn.extensions.AllreducePersistent(model, comm)
    assert extension.priority > chainer.training.PRIORITY_WRITER
    extension()
    np.testing.assert_allclose(model[0].avg_mean, (comm.size - 1) / 2)
    assert comm.rank == model[0].N


class FakeTrainer:
    def __init__(self):
        self.updater = self
        self.iteration = 0
        self.epoch = 0
        self.epoch_detail = 0.0
        self.previous_epoch_detail = None
        self.is_new_epoch = False
        self.observation = {}


def test_observation_aggregator(comm):
    aggregator = chainermn.extensions.ObservationAggregator(
        comm, "loss", "total", comm_trigger=(2, "iteration")
    )
    trainer = FakeTrainer()
    for iteration in range(1, 5):
        trainer.iteration = iteration
        value = np.float32(comm.rank + iteration)
        trainer.observation = {"loss": chainer.Variable(np.asarray(value))}
        aggregator(trainer)
        if iteration % 2:
            assert "total" not in trainer.observation
        else:
            expected = (comm.size - 1) / 2 + iteration - 0.5
            np.testing.assert_allclose(trainer.observation["total"], expected)
    summed = chainermn.extensions.ObservationAggregator(
        comm, "loss", aggregator=lambda values: sum(sum(v) for v in values)
    )
    trainer.observation = {"loss": 1.0} if comm.rank == 0 else {}
    summed(trainer)
    assert trainer.observation["loss"] == 1.0


def test_early_stopping(comm):
    trigger = chainermn.extensions.MultiNodeEarlyStoppingTrigger(
        comm,
        check_trigger=(1, "iteration"),
        monitor="loss",
        patience=2,
        max_trigger=(50, "iteration"),
    )
    assert trigger.get_training_length() == (50, "iteration")
    trainer = FakeTrainer()
    # The mean over the processes improves three times, the value of rank 0 alone never.
    stopped = None
    for iteration in range(1, 10):
        trainer.iteration = iteration
        mean = max(5 - iteration, 2)
        trainer.observation = {"loss": float(mean + (comm.rank - (comm.size - 1) / 2) * iteration)}
        if trigger(trainer):
            stopped = iteration
            break
    assert stopped == 5
    assert trainer.observation["loss_aggregated"] == 2


@pytest.mark.parametrize(
    ("size", "given", "expected"),
    [
        (4, [], [[0, 1, 2, 3]]),
        (4, [0], [[0], [1, 2, 3]]),
        (4, [0, 1], [[0], [1], [2, 3]]),
        (4, [[0, 1], [2, 3]], [[0, 1], [2, 3]]),
        (8, [range(0, 8, 2)], [[0, 2, 4, 6], [1, 3, 5, 7]]),
    ],
)
def test_replica_sets(size, given, expected):
    assert sets_of(size, given) == expected


@pytest.mark.parametrize("given", [[4], [-1], [[0, 1], [1, 2]], [0, 0]])
def test_bad_replica_sets(given):
    with pytest.raises(AssertionError):
        sets_of(4, given)


@pytest.mark.parametrize("sets", [[], [0]])
def test_snapshot_and_autoload(comm, shared_path, sets):
    out = shared_path / f"snapshot{len(sets)}"
    trainer = make_trainer(comm, out, seed=comm.rank)
    take = chainermn.extensions.multi_node_snapshot(comm, extensions.snapshot(), sets)
    assert take.snapshot.filename.endswith(f".{take.master}")
    trainer.extend(take, trigger=(1, "epoch"))
    trainer.run()
    comm.barrier()
    masters = [each[0] for each in sets_of(comm.size, sets)]
    assert sorted(os.listdir(out)) == sorted(
        f"snapshot_iter_{n}.{m}" for m in masters for n in (12, 24)
    )
    assert take.is_master == (comm.rank in masters)
    again = make_trainer(comm, out, epochs=3, seed=5 + comm.rank)
    load = chainermn.extensions.multi_node_snapshot(comm, extensions.snapshot(autoload=True), sets)
    load.restore(again)
    assert again.updater.iteration == 24
    for name, array in params_of(trainer).items():
        np.testing.assert_array_equal(params_of(again)[name], array)
    comm.barrier()
    nothing = make_trainer(comm, out / "empty")
    os.makedirs(out / "empty", exist_ok=True)
    chainermn.extensions.multi_node_snapshot(
        comm, extensions.snapshot(autoload=True), sets
    ).restore(nothing)
    assert nothing.updater.iteration == 0


def checkpointed(comm, out, epochs, seed=0, **options):
    part = chainermn.scatter_dataset(EXAMPLES, comm)
    trainer = make_trainer(comm, out, epochs, seed=seed, dataset=part)
    checkpointer = chainermn.create_multi_node_checkpointer("run.1", comm, **options)
    trainer.extend(checkpointer, trigger=(1, "iteration"))
    return trainer, checkpointer


class Stop(Exception):
    pass


def stop_at(iteration):
    def extension(trainer):
        if trainer.updater.iteration == iteration:
            raise Stop

    return extension


def test_resume_is_bit_equal(comm, shared_path):
    """Also with dropout, whose random numbers are saved."""
    np.random.seed(10 + comm.rank)
    whole, _ = checkpointed(comm, shared_path / "whole", 3)
    whole.run()
    comm.barrier()
    assert os.listdir(shared_path / "whole") == []  # of no use after a regular end
    comm.barrier()

    np.random.seed(10 + comm.rank)
    out = shared_path / "broken"
    broken, _ = checkpointed(comm, out, 3)
    # After the checkpoint of iteration 5 was written.
    broken.extend(stop_at(6), name="stop", priority=-200)
    with pytest.raises(Stop):
        broken.run(show_loop_exception_msg=False)
    comm.barrier()
    assert f"run.1.{comm.rank}.6" in os.listdir(out)
    # Rank 0 lacks the last one: the one before is loaded everywhere.
    if comm.rank == 0:
        os.remove(out / "run.1.0.6")
    comm.barrier()

    np.random.seed(99)
    again, checkpointer = checkpointed(comm, out, 3, seed=77 + comm.rank)
    assert checkpointer.maybe_load(again) == 5
    again.run()
    assert again.updater.get_optimizer("main").t == whole.updater.get_optimizer("main").t
    for name, array in params_of(whole).items():
        np.testing.assert_array_equal(params_of(again)[name], array)


def test_damaged_checkpoint_is_skipped_by_all(comm, shared_path):
    out = shared_path / "damaged"
    trainer, checkpointer = checkpointed(comm, out, 1)
    for iteration in (1, 2):
        checkpointer._folder = str(out)
        trainer.updater.iteration = iteration
        checkpointer.save(trainer, iteration)
    comm.barrier()
    last = comm.size - 1
    if comm.rank == last:
        path = out / f"run.1.{last}.2"
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
    comm.barrier()
    again, checkpointer = checkpointed(comm, out, 1)
    with pytest.warns(
        UserWarning, match=f"checkpoint 2 of 'run.1' is skipped: the file of rank {last}"
    ):
        assert checkpointer.maybe_load(again) == 1
    assert again.updater.iteration == 1


def test_temporary_files_are_never_taken(comm, shared_path):
    out = shared_path / "temporary"
    os.makedirs(out, exist_ok=True)
    (out / f"tmp-run.1.{comm.rank}.7abc").write_bytes(b"half")
    trainer, checkpointer = checkpointed(comm, out, 1)
    assert checkpointer.maybe_load(trainer) is None


def test_other_number_of_processes(comm, shared_path):
    if comm.size == 1:
        pytest.skip("needs another process")
    out = shared_path / "other"
    trainer, checkpointer = checkpointed(comm, out, 1)
    checkpointer._folder = str(out)
    checkpointer.save(trainer, 3)
    part = comm.split(0 if comm.rank == 0 else 1, comm.rank)
    if comm.rank == 0:
        trainer, checkpointer = checkpointed(part, out, 1)
        text = f"were written by {comm.size} processes, but this run has 1"
        with pytest.raises(ValueError, match=text):
            checkpointer.maybe_load(trainer)


def test_more_processes_than_before(comm, shared_path):
    if comm.size == 1:
        pytest.skip("needs another process")
    out = shared_path / "more"
    part = comm.split(comm.rank, 0)
    if comm.rank == 0:
        trainer, checkpointer = checkpointed(part, out, 1)
        checkpointer._folder = str(out)
        checkpointer.save(trainer, 3)
    comm.barrier()
    trainer, checkpointer = checkpointed(comm, out, 1)
    with pytest.raises(ValueError, match=f"written by 1 processes, but this run has {comm.size}"):
        checkpointer.maybe_load(trainer)


def test_old_checkpoints_are_removed(comm, shared_path):
    out = shared_path / "many"
    trainer, checkpointer = checkpointed(comm, out, 1, cp_interval=2)
    checkpointer._folder = str(out)
    for iteration in range(1, 9):
        checkpointer.save(trainer, iteration)
    assert checkpointer._iterations(str(out)) == [7, 8]
    assert "8 saves, mean" in checkpointer.get_stats()
    with pytest.raises(AssertionError):
        chainermn.create_multi_node_checkpointer("x", comm, cp_interval=0)


def test_distribute(comm, shared_path):
    """Equals training by one process on joint batches of the same examples."""
    out = shared_path / "distributed"

    def build(folder, dataset, batch):
        model = L.Classifier(L.Linear(4, 3))
        model.predictor.W.array[...] = np.random.RandomState(1).normal(size=(3, 4))
        optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
        updater = StandardUpdater(SerialIterator(dataset, batch, shuffle=False), optimizer)
        trainer = Trainer(updater, (2, "epoch"), out=str(folder))
        test = SerialIterator(EXAMPLES, 3, repeat=False, shuffle=False)
        trainer.extend(extensions.Evaluator(test, model))
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.snapshot(autoload=True), trigger=(1, "epoch"))
        return trainer

    trainer = build(out, EXAMPLES if comm.rank == 0 else EXAMPLES[:1], 2)
    if comm.rank:
        trainer.updater.get_optimizer("main").target.predictor.W.array[...] = 9
    assert chainermn.distribute(trainer, comm, shuffle=False) is trainer
    assert ("LogReport" in trainer._extensions) == (comm.rank == 0)
    trainer.run()
    # The same examples in each step: the examples of all processes.
    parts = [range(*part_of(24, comm.size, rank, True)) for rank in range(comm.size)]
    steps = len(parts[0]) // 2
    order = [p[2 * s + i] for s in range(steps) for p in parts for i in range(2)]
    alone = build(shared_path / f"alone{comm.rank}", [EXAMPLES[i] for i in order], 2 * comm.size)
    alone.run()
    assert trainer.updater.iteration == alone.updater.iteration == 2 * steps
    for name, array in params_of(alone).items():
        np.testing.assert_allclose(params_of(trainer)[name], array, rtol=1e-4, atol=1e-6)
    comm.barrier()
    files = set(os.listdir(out))
    assert files == {"log", f"snapshot_iter_{steps}.0", f"snapshot_iter_{2 * steps}.0"}
    if comm.rank == 0:
        log = trainer.get_extension("LogReport").log
        expected = alone.get_extension("LogReport").log
        for a, b in zip(log, expected, strict=True):
            np.testing.assert_allclose(
                a["validation/main/loss"], b["validation/main/loss"], rtol=1e-4
            )
    again = build(out, EXAMPLES, 2)
    chainermn.distribute(again, comm, shuffle=False)
    again._extensions["snapshot"].extension.restore(again)
    assert again.updater.iteration == 2 * steps


def test_distribute_says_what_it_cannot_cut(comm, shared_path):
    class Endless(chainer.dataset.Iterator):
        def __next__(self):
            return [1]

    model = L.Linear(1, 1)
    updater = StandardUpdater(Endless(), chainer.optimizers.SGD().setup(model))
    with pytest.raises(TypeError, match="iterator 'main', a Endless"):
        chainermn.distribute(Trainer(updater), comm)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chainermn.distribute(Trainer(updater), comm, scatter=False)

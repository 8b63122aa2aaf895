"""Functions, links and whole trainings of ChainerMN, for a comparison with release 7.8.1.

``mpiexec -n N python training7.py FOLDER`` writes what each case returned into ``FOLDER/RANK.txt``.
The program runs in Python 3.7 with release 7.8.1, too; see test_programs7.py. All processes go
through all cases in the same order.
"""

import io
import os
import sys
import warnings

import chainermn
import chainermn.functions as MF
import numpy as np
from cases7 import write
from chainermn import global_except_hook
from models7 import Net, array, batch, before, comm, error, following, iterator_of, last, rank, size

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, training
from chainer.training import extensions

warnings.simplefilter("ignore")
FOLDER = sys.argv[1]
cases = {}


def case(function):
    cases[function.__name__] = function
    return function


# -- functions ------------------------------------------------------------------------------------


@case
def collectives_in_a_row():
    x = chainer.Variable(array(2, 3) / 10)
    joined = F.concat(MF.allgather(comm, x), 0)
    parts = MF.alltoall(comm, [joined * (i + 1) for i in range(size)])
    F.sum(sum(part * part for part in parts)).backward()
    return x.grad, [part for part in parts]


@case
def root_of_collectives():
    x = chainer.Variable(array(3) / 10)
    everything = MF.gather(comm, x, last)
    spread = [each * 2 for each in everything] if rank == last else None
    y = MF.scatter(comm, spread, last)
    F.sum(y**3).backward()
    if rank != last:
        everything.backward()
    return y, x.grad


@case
def a_ring():
    if size == 1:
        return error(MF.send, chainer.Variable(array(1)), comm, 0)
    x = chainer.Variable(array(2) / 10)
    if rank == 0:
        delegate = MF.send(x, comm, following)
        y = MF.recv(comm, before, delegate_variable=delegate)
        F.sum(y * y).backward()
        return x.grad, y
    y = MF.recv(comm, before)
    MF.send(y * 3 + x, comm, following).backward()
    return x.grad, y.grad


@case
def a_delegate_and_another_output():
    if size == 1:
        return None
    x = chainer.Variable(array(2) / 10)
    if rank == 0:
        delegate = MF.send(x, comm, last)
        (y,) = MF.pseudo_connect(delegate, x * 2)
        F.sum(y).backward()
        return x.grad, delegate.shape
    if rank == last:
        y = MF.recv(comm, 0)
        F.sum(y * y).backward()
        return y.grad
    return None


@case
def dtypes_of_functions():
    results = []
    for dtype in "efd":
        x = chainer.Variable(array(2, dtype=dtype))
        ys = MF.alltoall(comm, [x] * size)
        F.sum(sum(ys)).backward()
        results.append((str(ys[0].dtype), x.grad))
    return results


# -- links ----------------------------------------------------------------------------------------


@case
def normalization_of_all():
    link = chainermn.links.MultiNodeBatchNormalization(3, comm, 0.5, use_beta=False)
    x = batch()[0]
    outputs = [link(x) for _ in range(2)]
    with chainer.using_config("train", False):
        outputs.append(link(x)[:1] * 0)
    file = io.BytesIO()
    chainer.serializers.save_npz(file, link)
    file.seek(0)
    names = sorted(np.load(file).files)
    return outputs, link.avg_mean, names, [error(link, each) for each in (x[:, :2], x[0])]


@case
def nested_models_with_normalization():
    class Block(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.body = chainer.Sequential(L.Linear(3, 3, initialW=1), L.BatchNormalization(3))
                self.blocks = chainer.ChainList(L.BatchNormalization(3), L.BatchNormalization(3))

        def forward(self, x):
            for block in self.blocks:
                x = block(x) + self.body(x)
            return F.sum(x * x)

    model = Block()
    other = chainermn.links.create_mnbn_model(model, comm)
    x = batch()[0]
    other.cleargrads()
    other(x).backward()
    kinds = [type(link).__name__ for link in other.links()]
    return kinds, other.body[0].W.grad, other.blocks[0].gamma.grad, model.body[0].W.grad


class Pipeline(chainermn.MultiNodeChainList):
    def __init__(self):
        super().__init__(comm)
        if size == 1:
            self.add_link(L.Linear(3, 2, initialW=0.1))
        elif rank == 0:
            self.add_link(L.Linear(3, 4, initialW=0.1), rank_out=last)
        elif rank == last:
            self.add_link(L.Linear(4, 2, initialW=0.2), rank_in=0)


@case
def a_pipeline_in_a_trainer():
    if size > 2:
        return None
    model = Pipeline() if rank == 0 and size > 1 else L.Classifier(Pipeline())
    model.compute_accuracy = False
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    state = np.random.RandomState(1)
    x, t = state.randn(8, 3).astype("f"), state.randint(0, 2, 8).astype("i")
    if size == 1:
        dataset = chainer.datasets.TupleDataset(x, t)
    elif rank == 0:
        dataset = x
    else:
        dataset = chainer.datasets.TupleDataset(t)
    results = []
    for start in (0, 4):
        part = dataset[start : start + 4]
        if size == 1:
            optimizer.update(model, *chainer.dataset.concat_examples(part))
        elif rank == 0:
            optimizer.update(model, part)
        else:
            optimizer.update(lambda t: model.lossfun(model.predictor(), t), t[start : start + 4])
        results.append([param.array.copy() for _, param in sorted(model.namedparams())])
    return results


# -- trainers -------------------------------------------------------------------------------------


def folder(name):
    path = os.path.join(FOLDER, "usage_" + name)
    if rank == 0:
        os.makedirs(path, exist_ok=True)
    comm.mpi_comm.barrier()
    return path


def make_trainer(out, stop, **options):
    model = L.Classifier(Net())
    actual = options.get("optimizer", chainer.optimizers.MomentumSGD(0.05))
    optimizer = chainermn.create_multi_node_optimizer(actual, comm).setup(model)
    state = np.random.RandomState(4)
    data = chainer.datasets.TupleDataset(
        state.randn(16, 3).astype("f"), state.randint(0, 2, 16).astype("i")
    )
    part = chainermn.scatter_dataset(data if rank == 0 else None, comm)
    iterator = iterators.SerialIterator(part, 4, shuffle=False)
    updater = options.get("updater", training.updaters.StandardUpdater)(iterator, optimizer)
    return training.Trainer(updater, stop, out=folder(out)), model


@case
def a_whole_training():
    trainer, model = make_trainer("whole", (3, "epoch"))
    evaluator = extensions.Evaluator(iterator_of(), model)
    trainer.extend(chainermn.create_multi_node_evaluator(evaluator, comm))
    log = extensions.LogReport()
    if rank == 0:
        trainer.extend(log)
        trainer.extend(extensions.snapshot_object(model, "model_{.updater.epoch}"))
    trainer.extend(extensions.FailOnNonNumber())
    trainer.run()
    keep = ("epoch", "iteration", "main/loss", "validation/main/loss", "main/accuracy")
    rows = [{key: float(row[key]) for key in keep} for row in log.log] if rank == 0 else []
    comm.mpi_comm.barrier()
    return rows, sorted(os.listdir(trainer.out)), model.predictor.second.W


@case
def schedules_of_a_rate():
    optimizer = chainer.optimizers.SGD(1.0)
    trainer, _ = make_trainer("rates", (2, "epoch"), optimizer=optimizer)
    wrapped = trainer.updater.get_optimizer("main")
    rates = []
    trainer.extend(
        extensions.ExponentialShift("lr", 0.5, optimizer=wrapped), trigger=(1, "iteration")
    )
    trainer.extend(extensions.observe_lr(), trigger=(1, "iteration"))
    trainer.extend(
        lambda t: rates.append(float(t.observation["lr"])), trigger=(1, "iteration"), name="sees"
    )
    trainer.run()
    return rates, float(optimizer.lr)


@case
def an_updater_of_its_own():
    class Twice(training.updaters.StandardUpdater):
        def update_core(self):
            optimizer = self.get_optimizer("main")
            x, t = self.converter(self.get_iterator("main").next(), self.device)
            for _ in range(2):
                optimizer.update(optimizer.target, x, t)

    trainer, model = make_trainer("own", (1, "epoch"), updater=Twice)
    trainer.run()
    return model.predictor.second.W, trainer.updater.get_optimizer("main").t


@case
def a_trainer_that_was_saved():
    results = []
    for stop in (2, 4):
        trainer, model = make_trainer("saved", (stop, "iteration"))
        path = os.path.join(trainer.out, f"state{rank}")
        if os.path.exists(path):
            chainer.serializers.load_npz(path, trainer)
        trainer.run()
        chainer.serializers.save_npz(path, trainer)
        results.append((trainer.updater.iteration, trainer.updater.get_optimizer("main").t))
        results.append(model.predictor.second.W.array.copy())
    return results


@case
def checkpoints():
    results = []
    for stop in (4, 6):
        trainer, model = make_trainer("checkpoints", (stop, "iteration"))
        checkpointer = chainermn.create_multi_node_checkpointer(
            "many", comm, cp_interval=1, gc_interval=2, path=os.path.join(FOLDER, "usage_files")
        )
        checkpointer.finalize = lambda: None  # which removes the files
        checkpointer.maybe_load(trainer, trainer.updater.get_optimizer("main"))
        trainer.extend(checkpointer, trigger=(1, "iteration"))
        begun = trainer.updater.iteration
        trainer.run()
        comm.mpi_comm.barrier()
        files = sorted(os.listdir(os.path.join(FOLDER, "usage_files")))
        comm.mpi_comm.barrier()
        results.append((begun, files, model.predictor.second.W))
    return results, checkpointer.name, checkpointer.trigger


@case
def persistent_values_in_a_trainer():
    trainer, model = make_trainer("persistent", (2, "epoch"))
    trainer.extend(chainermn.extensions.AllreducePersistent(model, comm))
    trainer.run()
    return model.predictor.norm.avg_mean, model.predictor.norm.avg_var


@case
def an_aggregated_observation():
    trainer, _ = make_trainer("aggregated", (4, "iteration"))
    aggregate = chainermn.extensions.ObservationAggregator(comm, "main/loss", "all/loss")
    trainer.extend(aggregate)
    log = extensions.LogReport(["all/loss"], trigger=(2, "iteration"))
    trainer.extend(log)
    trainer.run()
    return [float(row["all/loss"]) for row in log.log]


@case
def an_early_stop():
    trigger = chainermn.extensions.MultiNodeEarlyStoppingTrigger(
        comm,
        check_trigger=(1, "iteration"),
        monitor="main/loss",
        patience=1,
        max_trigger=(5, "epoch"),
    )
    optimizer = chainer.optimizers.SGD(5.0)
    trainer, _ = make_trainer("stop", trigger, optimizer=optimizer)
    trainer.run()
    return trainer.updater.iteration, trainer.updater.epoch


@case
def the_same_batches():
    data = [(np.full(3, i, "f"), np.int32(i % 2)) for i in range(5)]
    iterator = chainermn.iterators.create_multi_node_iterator(
        iterators.SerialIterator(data if rank == 0 else data[:1], 2, shuffle=False), comm
    )
    model = L.Classifier(Net())
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    optimizer.setup(model)
    for _ in range(4):
        optimizer.update(model, *chainer.dataset.concat_examples(iterator.next()))
    return iterator.epoch, iterator.is_new_epoch, model.predictor.second.W


@case
def an_except_hook():
    global_except_hook.add_hook()
    return sys.excepthook is not sys.__excepthook__


if __name__ == "__main__":
    write(cases, comm, FOLDER)

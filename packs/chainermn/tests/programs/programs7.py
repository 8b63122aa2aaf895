"""Cases that programs for ChainerMN meet, for a comparison with release 7.8.1.

``mpiexec -n N python programs7.py FOLDER`` writes what each case returned into ``FOLDER/RANK.txt``.
The program runs in Python 3.7 with release 7.8.1, too; see test_programs7.py. Each row of a table
is a case. All processes go through all cases in the same order.
"""

import importlib
import io
import os
import sys
import warnings

import chainermn
import numpy as np
from cases7 import text, write
from chainermn.iterators import create_multi_node_iterator, create_synchronized_iterator

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, training
from chainer.training import extensions

warnings.simplefilter("ignore")
FOLDER = sys.argv[1]
comm = chainermn.create_communicator("naive")
rank, size = comm.rank, comm.size
cases = {}


def case(name, call):
    assert name not in cases, name
    cases[name] = call


# -- imports --------------------------------------------------------------------------------------

MODULES = """
chainermn chainermn.communicators chainermn.datasets chainermn.extensions chainermn.functions
chainermn.global_except_hook chainermn.iterators chainermn.links chainermn.nccl
chainermn.optimizers chainermn.testing chainermn.testing.device
chainermn.communicators.communicator_base chainermn.communicators.mpi_communicator_base
chainermn.communicators.naive_communicator chainermn.communicators.flat_communicator
chainermn.communicators.pure_nccl_communicator chainermn.communicators.non_cuda_aware_communicator
chainermn.communicators.dummy_communicator chainermn.extensions.allreduce_persistent
chainermn.extensions.checkpoint chainermn.extensions.multi_node_evaluator
chainermn.extensions.multi_node_early_stopping_trigger chainermn.extensions.observation_aggregator
chainermn.extensions._multi_node_snapshot chainermn.functions.collective_communication
chainermn.functions.point_to_point_communication chainermn.functions.pseudo_connect
chainermn.functions.batch_normalization chainermn.links.batch_normalization
chainermn.links.create_mnbn_model chainermn.links.multi_node_chain_list chainermn.links.n_step_rnn
chainermn.datasets.empty_dataset chainermn.datasets.scatter_dataset
chainermn.iterators.multi_node_iterator chainermn.iterators.synchronized_iterator
""".split()

NAMES = """
chainermn.testing:get_device chainermn.testing.device:get_device
chainer.backend:cuda chainer.backend:intel64 chainer.backend:chainerx chainer.backend:Device
chainer.backend:CpuDevice chainer.backend:GpuDevice chainer.backend:Intel64Device
chainer.backend:ChainerxDevice chainer.backend:get_device chainer.backend:using_device
chainer.backend:get_device_from_array chainer.backend:get_array_module chainer.backend:copyto
chainer.backend:from_chx chainer.backend:to_chx
chainermn.extensions:AllreducePersistent chainermn.extensions:ObservationAggregator
chainermn.extensions:MultiNodeEarlyStoppingTrigger chainermn.extensions:multi_node_snapshot
chainermn.extensions:create_multi_node_evaluator chainermn.extensions:create_multi_node_checkpointer
chainermn.extensions:GenericMultiNodeEvaluator chainermn.links:create_mnbn_model
chainermn.links:MultiNodeBatchNormalization chainermn.links:MultiNodeChainList
chainermn.links:create_multi_node_n_step_rnn chainermn.datasets:DataSizeError
chainermn.communicators.naive_communicator:NaiveCommunicator
chainermn.communicators.mpi_communicator_base:MpiCommunicatorBase
""".split()


def attribute(name):
    module, _, wanted = name.partition(":")
    return hasattr(importlib.import_module(module), wanted)


for module in MODULES:
    case(f"import {module}", lambda module=module: bool(importlib.import_module(module)))
for name in NAMES:
    case(f"name {name}", lambda name=name: attribute(name))

case("testing.get_device()", lambda: str(chainermn.testing.get_device()))
case("testing.get_device(None)", lambda: str(chainermn.testing.get_device(None, False)))
case("testing.get_device keyword", lambda: str(chainermn.testing.get_device(use_chainerx=False)))

# -- iterators ------------------------------------------------------------------------------------

STATE = ("epoch", "is_new_epoch", "epoch_detail", "current_position")


def data(kind):
    if kind == "pairs":
        return [(np.full(2, i, "f"), np.int32(i)) for i in range(5)]
    if kind == "scalars":
        return np.arange(5, dtype="f")
    if kind == "tuple":
        return chainer.datasets.TupleDataset(np.arange(10).reshape(5, 2).astype("f"), np.arange(5))
    return [np.full(3, i, "f") for i in range(5)]


ITERATORS = {
    "serial": lambda d: iterators.SerialIterator(d, 2, shuffle=False),
    "serial once": lambda d: iterators.SerialIterator(d, 2, repeat=False, shuffle=False),
    "serial shuffled": lambda d: iterators.SerialIterator(d, 2, shuffle=True),
    "serial whole": lambda d: iterators.SerialIterator(d, 5, shuffle=False),
    "serial large": lambda d: iterators.SerialIterator(d, 7, shuffle=False),
    "serial sampler": lambda d: iterators.SerialIterator(
        d, 2, order_sampler=iterators.ShuffleOrderSampler(np.random.RandomState(3))
    ),
    "threads": lambda d: iterators.MultithreadIterator(d, 2, shuffle=False, n_threads=1),
    "threads once": lambda d: iterators.MultithreadIterator(
        d, 2, repeat=False, shuffle=False, n_threads=1
    ),
}


def values(batch):
    return [float(np.sum(each[0] if isinstance(each, tuple) else each)) for each in batch]


def walk(iterator, count=6):
    """Batches with the state after each."""
    steps = [[getattr(iterator, name) for name in STATE]]
    for _ in range(count):
        try:
            batch = next(iterator)
        except StopIteration:
            steps.append("stop")
            break
        steps.append([values(batch), [getattr(iterator, name) for name in STATE]])
    return steps


def multi_node(kind, examples="arrays", master=0):
    np.random.seed(5)
    return create_multi_node_iterator(ITERATORS[kind](data(examples)), comm, rank_master=master)


def walked(kind, examples="arrays", master=0):
    iterator = multi_node(kind, examples, master)
    try:
        return walk(iterator)
    finally:
        if rank == master:
            iterator.actual_iterator.finalize()


for kind in ITERATORS:
    case(f"multi node, {kind}", lambda kind=kind: walked(kind))
for examples in ("pairs", "scalars", "tuple"):
    case(f"multi node, {examples}", lambda examples=examples: walked("serial", examples))
case("multi node, previous_epoch_detail", lambda: multi_node("serial").previous_epoch_detail)
case("multi node, batch_size", lambda: multi_node("serial").batch_size)
case("multi node, repeat", lambda: multi_node("serial").repeat)
case("multi node, dataset_size", lambda: multi_node("serial").dataset_size)
case("multi node, an unknown attribute", lambda: multi_node("serial").nothing)
case("multi node, last master", lambda: walked("serial", master=size - 1))
case(
    "multi node, type error",
    lambda: next(create_multi_node_iterator(iterators.SerialIterator(["a", "b"], 1), comm)),
)


def synchronized(kind):
    np.random.seed(11 + rank)
    iterator = ITERATORS[kind](data("arrays"))
    iterator = create_synchronized_iterator(iterator, comm)
    mine = walk(iterator, 4)
    result = comm.gather_obj(mine)
    same = comm.bcast_obj([all(each == result[0] for each in result)] if rank == 0 else None)
    if hasattr(iterator, "finalize"):
        iterator.finalize()
    return same, [step[-1] for step in mine[1:]], [getattr(iterator, n) for n in ("repeat",)]


def synchronized_and_saved(kind):
    np.random.seed(11 + rank)
    iterator = create_synchronized_iterator(ITERATORS[kind](data("arrays")), comm)
    walk(iterator, 1)
    file = io.BytesIO()
    chainer.serializers.save_npz(file, iterator)
    first = walk(iterator, 1)
    file.seek(0)
    other = create_synchronized_iterator(ITERATORS[kind](data("arrays")), comm)
    chainer.serializers.load_npz(file, other)
    return walk(other, 1) == first


for kind in ("serial", "serial shuffled", "serial sampler", "threads"):
    case(f"synchronized, {kind}", lambda kind=kind: synchronized(kind))
for kind in ("serial", "serial shuffled"):
    case(f"synchronized, {kind}, saved", lambda kind=kind: synchronized_and_saved(kind))
case("synchronized, no sampler", lambda: create_synchronized_iterator([1], comm))

# -- models and optimizers ------------------------------------------------------------------------


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(2, 3, initialW=np.arange(6, dtype="f").reshape(3, 2) * 0.1)
            self.bn = L.BatchNormalization(3)
            self.l2 = L.Linear(3, 1, initialW=np.ones((1, 3), "f"))

    def forward(self, x):
        return F.sum(self.l2(self.bn(self.l1(x))) ** 2)


def inputs():
    return np.array([[1, 2], [3, 5], [0, 1]], "f") + np.float32(rank)


def diverged(value, zero_fill=False):
    model = Model()
    model.cleargrads()
    for param in model.params():
        param.grad = np.full_like(param.array, value)
    with chainer.using_config("debug", True):
        try:
            comm.multi_node_mean_grad(model, zero_fill)
        except Exception as error:
            return type(error).__name__, "diverged" in str(error)
    return text(model.l1.b.grad)


for value in (1.0, float("nan"), float("inf"), -float("inf")):
    case(f"mean gradient of {value} in debug mode", lambda value=value: diverged(value))
case("mean gradient of nan filled", lambda: diverged(float("nan"), True))


def updated(make, hooks=(), count=4, **options):
    model = Model()
    optimizer = chainermn.create_multi_node_optimizer(make(), comm, **options)
    optimizer.setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)
    for _ in range(count):
        optimizer.update(model, inputs())
    return model.l1.W, optimizer.t


OPTIMIZERS = {
    "SGD": lambda: chainer.optimizers.SGD(0.01),
    "MomentumSGD": lambda: chainer.optimizers.MomentumSGD(0.01),
    "NesterovAG": lambda: chainer.optimizers.NesterovAG(0.01),
    "Adam": lambda: chainer.optimizers.Adam(0.01),
    "AdaGrad": lambda: chainer.optimizers.AdaGrad(0.01),
    "AdaDelta": lambda: chainer.optimizers.AdaDelta(),
    "RMSprop": lambda: chainer.optimizers.RMSprop(0.01),
    "SMORMS3": lambda: chainer.optimizers.SMORMS3(0.01),
    "CorrectedMomentumSGD": lambda: chainer.optimizers.CorrectedMomentumSGD(0.01),
}
for name, make in OPTIMIZERS.items():
    case(f"updates by {name}", lambda make=make: updated(make))
for hook in ("WeightDecay", "GradientClipping", "Lasso", "GradientHardClipping"):
    arguments = (-0.1, 0.1) if hook == "GradientHardClipping" else (0.1,)
    made = getattr(chainer.optimizer_hooks, hook)(*arguments)
    case(f"updates with {hook}", lambda m=made: updated(OPTIMIZERS["SGD"], [m]))
case("updates without zero_fill", lambda: updated(OPTIMIZERS["SGD"], zero_fill=False))


def persistent():
    model = Model()
    for _ in range(2):
        model(inputs())
    chainermn.extensions.AllreducePersistent(model, comm)()
    return model.bn.avg_mean, model.bn.avg_var, model.bn.N


case("AllreducePersistent", persistent)


def mnbn(make):
    model = make()
    other = chainermn.links.create_mnbn_model(model, comm)
    kinds = sorted(type(link).__name__ for link in other.links())
    y = other(inputs())
    params = sorted(name for name, _ in other.namedparams())
    return kinds, y if y.array.ndim == 0 else F.sum(y), params, type(model).__name__


class Nested(chainer.ChainList):
    def __init__(self):
        super().__init__(L.BatchNormalization(2), L.BatchNormalization(2, use_gamma=False))

    def forward(self, x):
        return F.sum(self[1](self[0](x)) ** 2)


MODELS = {
    "chain": Model,
    "list": Nested,
    "sequential": lambda: chainer.Sequential(L.BatchNormalization(2), F.relu),
    "link alone": lambda: L.BatchNormalization(2),
    "no normalization": lambda: chainer.Sequential(L.Linear(2, 2, initialW=1), F.relu),
}
for name, make in MODELS.items():
    case(f"create_mnbn_model of a {name}", lambda make=make: mnbn(make))

# -- trainers -------------------------------------------------------------------------------------


def trainer_of(out, epochs=3, stop=None):
    model = L.Classifier(Model(), lossfun=lambda y, t: y * 0.01)
    model.compute_accuracy = False
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.01), comm)
    optimizer.setup(model)
    dataset = chainer.datasets.TupleDataset(
        np.arange(16).reshape(8, 2).astype("f"), np.zeros(8, "i")
    )
    part = chainermn.scatter_dataset(dataset if rank == 0 else None, comm)
    iterator = iterators.SerialIterator(part, 2, shuffle=False)
    updater = training.updaters.StandardUpdater(iterator, optimizer)
    return training.Trainer(updater, stop or (epochs, "epoch"), out=out)


def folder(name):
    path = os.path.join(FOLDER, name)
    if rank == 0:
        os.makedirs(path, exist_ok=True)
    comm.mpi_comm.barrier()
    return path


def snapshots(name, sets, autoload):
    out = folder(name)
    runs = []
    for epochs in (1, 2):
        trainer = trainer_of(out, epochs)
        snapshot = extensions.snapshot(n_retains=1, autoload=autoload)
        extension = chainermn.extensions.multi_node_snapshot(comm, snapshot, sets)
        trainer.extend(extension, trigger=(1, "epoch"))
        comm.mpi_comm.barrier()
        trainer.run()
        comm.mpi_comm.barrier()
        found = sorted(each for each in os.listdir(out) if each.startswith("snapshot"))
        runs.append(
            [
                found,
                trainer.updater.iteration,
                trainer.updater.epoch,
                trainer.updater.get_optimizer("main").t,
                extension.is_master,
            ]
        )
    return runs


SETS = {"all": [], "first": [0], "list": [[0]], "range": [range(1)], "each": list(range(size))}
for name, sets in SETS.items():
    for autoload in (False, True):
        case(
            f"snapshots of {name}, autoload={autoload}",
            lambda n=name, s=sets, a=autoload: snapshots(f"{n}{a}", s, a),
        )
case("snapshots of a wrong rank", lambda: snapshots("wrong", [size], False))
case("snapshots of a rank twice", lambda: snapshots("twice", [0, [0]], False))


def replica_without_files():
    """The replicas have no file of their own: the first of their set gives them its own."""
    out = os.path.join(FOLDER, f"own{rank}")
    weights = []
    for epochs in (1, 2):
        trainer = trainer_of(out, epochs)
        snapshot = extensions.snapshot(autoload=True)
        extension = chainermn.extensions.multi_node_snapshot(comm, snapshot, [])
        trainer.extend(extension, trigger=(1, "epoch"))
        trainer.run()
        weights.append(trainer.updater.iteration)
    files = sorted(os.listdir(out)) if os.path.isdir(out) else []
    return weights, [each for each in files if each.startswith("snap")]


case("snapshots in folders of their own", replica_without_files)


def aggregated(**options):
    trainer = trainer_of(folder("aggregated"), 2)
    seen = []
    trainer.extend(
        lambda t: chainer.report({"loss": rank + t.updater.iteration}),
        trigger=(1, "iteration"),
        priority=300,
        name="reports",
    )
    key = options.pop("key", "loss")
    trainer.extend(chainermn.extensions.ObservationAggregator(comm, key, "all", **options))
    trainer.extend(
        lambda t: seen.append(t.observation.get("all")), trigger=(1, "iteration"), name="sees"
    )
    trainer.run()
    return seen


case("ObservationAggregator", aggregated)
case("ObservationAggregator every 2", lambda: aggregated(comm_trigger=(2, "iteration")))
case("ObservationAggregator each epoch", lambda: aggregated(comm_trigger=(1, "epoch")))
case(
    "ObservationAggregator of maxima",
    lambda: aggregated(aggregator=lambda lists: max(max(each) for each in lists)),
)


def stopped(mode, values, **options):
    trigger = chainermn.extensions.MultiNodeEarlyStoppingTrigger(
        comm,
        check_trigger=(1, "iteration"),
        monitor="v",
        mode=mode,
        max_trigger=(3, "epoch"),
        **options,
    )
    trainer = trainer_of(folder("stopped"), stop=trigger)
    trainer.extend(
        lambda t: chainer.report({"v": values(t.updater.iteration)}),
        trigger=(1, "iteration"),
        priority=300,
        name="reports",
    )
    trainer.run()
    return trainer.updater.iteration, trigger.get_training_length()


case("early stop by min", lambda: stopped("min", lambda i: i + rank, patience=1))
case("early stop by max", lambda: stopped("max", lambda i: -i + rank, patience=2))
case("early stop patients", lambda: stopped("min", lambda i: i + rank, patients=1))
case("no early stop", lambda: stopped("max", lambda i: i - rank, patience=1))
case("early stop of a wrong mode", lambda: stopped("median", lambda i: i))


def evaluated(repeat):
    trainer = trainer_of(folder("evaluated"), 1)
    model = trainer.updater.get_optimizer("main").target
    part = chainermn.scatter_dataset(
        chainer.datasets.TupleDataset(np.ones((4, 2), "f"), np.zeros(4, "i")), comm
    )
    evaluator = extensions.Evaluator(
        iterators.SerialIterator(part, 2, repeat=False, shuffle=False), model
    )
    evaluator = chainermn.create_multi_node_evaluator(evaluator, comm)
    trainer.extend(evaluator, name=repeat)
    trainer.run()
    return sorted(trainer.observation)


case("evaluator in a trainer", lambda: evaluated(None))
case("evaluator with a name", lambda: evaluated("test"))


def iterated(make):
    """A trainer with an iterator that gives all processes the same batches."""
    trainer = trainer_of(folder("iterated"), 2)
    dataset = chainer.datasets.TupleDataset(
        np.arange(16).reshape(8, 2).astype("f"), np.zeros(8, "i")
    )
    np.random.seed(3)
    iterator = make(iterators.SerialIterator(dataset, 3), comm)
    trainer.updater._iterators["main"] = iterator
    log = extensions.LogReport(trigger=(1, "epoch"))
    trainer.extend(log)
    trainer.run()
    return (
        trainer.updater.iteration,
        trainer.updater.epoch,
        trainer.updater.epoch_detail,
        trainer.updater.is_new_epoch,
        trainer.updater.previous_epoch_detail,
        [each["epoch"] for each in log.log],
    )


case("trainer with a multi node iterator", lambda: iterated(create_multi_node_iterator))
case("trainer with a synchronized iterator", lambda: iterated(create_synchronized_iterator))


if __name__ == "__main__":
    write(cases, comm, FOLDER)

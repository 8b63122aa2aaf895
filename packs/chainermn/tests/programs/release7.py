"""Calls of the public interface, for a comparison with release 7.8.1 (see test_release7.py).

``mpiexec -n 2 python release7.py FOLDER``: each process writes what every case returned into the
file ``FOLDER/rank.txt``. The program runs in Python 3.7 and in release 7.8.1, too.
"""

import os
import sys
import warnings

import chainermn
import chainermn.functions as MF
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

warnings.simplefilter("ignore")
FOLDER = sys.argv[1]
comm = chainermn.create_communicator("naive")
rank, size = comm.rank, comm.size
DTYPES = ("f", "d", "i", "l")
cases = []


def case(function):
    cases.append(function)
    return function


def text(value):
    """Returns a text that does not depend on the versions of NumPy and Python."""
    if isinstance(value, chainer.Variable):
        return f"Variable({text(value.array)}, {text(value.grad)})"
    if isinstance(value, np.ndarray):
        rounded = (np.round(value.astype(float), 4) + 0.0).tolist()
        return f"{value.dtype}{value.shape}{rounded}"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4f}"
    if isinstance(value, np.integer):
        return str(int(value))
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return "{}[{}]".format(kind, ", ".join(map(text, value)))
    if isinstance(value, dict):
        items = (f"{key}: {text(value[key])}" for key in sorted(value))
        return "{" + ", ".join(items) + "}"
    return repr(value)


def array(*shape, **keywords):
    """Returns an array whose values tell the rank."""
    dtype = keywords.get("dtype", "f")
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape) + np.dtype(dtype).type(
        10 * rank
    )


def variable(*shape):
    return chainer.Variable(array(*shape) * np.float32(0.1))


def error(call, *arguments, **keywords):
    """Returns the name of the class of the exception."""
    try:
        call(*arguments, **keywords)
    except Exception as exception:
        return type(exception).__name__
    return "no error"


def differentiated(inputs, outputs):
    """Returns the outputs and the inputs with the gradient of the sum of squares."""
    several = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    if several[0].shape == (0,):
        several[0].backward()  # a delegate variable
    else:
        sum(F.sum(y * y) for y in several).backward()
    return inputs, several


# Arrays and objects


@case
def allreduce():
    return [comm.allreduce(array(2, 3, dtype=dtype)) for dtype in DTYPES]


@case
def allreduce_of_other_shapes():
    arrays = (np.array(3.0 + rank, "f"), array(3, 4).T[::2], array(0, 4))
    return [comm.allreduce(each) for each in arrays]


@case
def allreduce_refusals():
    wrong = ((array(2), array(2)), "abc", [1, 2], None, np.zeros(2, "c8"))
    return [error(comm.allreduce, each) for each in wrong]


@case
def bcast():
    return [comm.bcast(array(2, 3, dtype=dtype) if rank == 0 else None) for dtype in DTYPES]


@case
def gather():
    return [comm.gather(array(2, dtype=dtype), root) for dtype in DTYPES for root in (0, 1)]


@case
def allgather():
    return [comm.allgather(array(rank + 1, 2, dtype=dtype)) for dtype in DTYPES]


@case
def alltoall():
    return [
        comm.alltoall(tuple(array(rank + 1, i + 1, dtype=dtype) for i in range(size)))
        for dtype in DTYPES
    ]


@case
def alltoall_of_a_wrong_number():
    return error(comm.alltoall, (array(2),) * (size + 1))


@case
def scatter():
    arrays = [tuple(array(i + 1, dtype=dtype) for i in range(size)) for dtype in DTYPES]
    return [comm.scatter(each if rank == 0 else None) for each in [*arrays, array(size, 2)]]


@case
def send_and_recv():
    received = []
    for dtype in DTYPES:
        if rank == 0:
            comm.send((array(2, dtype=dtype), array(1, 2, dtype=dtype)), 1, 3)
            comm.send(array(2, dtype=dtype), 1, 4)
        else:
            received += [comm.recv(0, 3), comm.recv(0, 4)]
    return received


@case
def objects():
    values = (1, 2.5, "s", [1], {"a": 1}, (1, 2), True)
    return [
        [comm.bcast_obj(each if rank == 0 else None) for each in values],
        [comm.gather_obj(each) for each in values],
        [comm.gather_obj(each, root=1) for each in values],
        [comm.allreduce_obj(each) for each in (1 + rank, [rank], array(2), str(rank))],
    ]


@case
def ranks_and_split():
    communicators = (comm, comm.split(rank % 2, rank), comm.split(0, -rank))
    return [
        (each.rank, each.size, each.intra_rank, each.intra_size, each.inter_rank, each.inter_size)
        for each in communicators
    ]


@case
def configuration():
    before = comm.get_config("batched_copy")
    comm.set_config("batched_copy", False)
    after = comm.get_config("batched_copy"), comm.batched_copy
    comm.set_config("batched_copy", True)
    return before, after, error(comm.set_config, "abc", 1), error(comm.get_config, "abc")


@case
def creation_refusals():
    create = chainermn.create_communicator
    names = ("naiv", "flat", "pure_nccl", "non_cuda_aware")
    return [
        [error(create, name) for name in names],
        error(create, "naive", abc="f"),
        error(chainermn.CommunicatorBase),
    ]


# Models and optimizers


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(3, 2, initialW=array(2, 3))
            self.lazy = L.Linear(None, 2)
            self.norm = L.BatchNormalization(2)

    def __call__(self, x):
        return self.first(x)


@case
def bcast_data():
    model = Model()
    comm.bcast_data(model)
    return model.first.W.array, model.lazy.W.array is None, model.norm.avg_mean


@case
def multi_node_mean_grad():
    results = []
    for zero_fill, has_gradient in ((False, True), (True, rank == 0), (False, False)):
        model = Model()
        model.cleargrads()
        if has_gradient:
            model.first.W.grad = array(2, 3)
            model.first.b.grad = array(2)
        given = model.first.W.grad
        comm.multi_node_mean_grad(model, zero_fill)
        same = model.first.W.grad is given
        results.append((model.first.W.grad, model.first.b.grad, model.norm.gamma.grad, same))
    return results


def train(make, **keywords):
    model = Model()
    optimizer = chainermn.create_multi_node_optimizer(make(), comm, **keywords).setup(model)
    optimizer.add_hook(chainer.optimizer.WeightDecay(0.1))
    steps = []
    for _ in range(4):
        optimizer.update(lambda x: F.sum(model(x) ** 2) * 0.01, array(1, 3))
        steps.append((optimizer.t, model.first.W.array.copy()))
    return steps, optimizer.target_params, optimizer.zero_fill, type(optimizer.actual_optimizer)


@case
def optimizers():
    kinds = (chainer.optimizers.SGD, chainer.optimizers.Adam, chainer.optimizers.MomentumSGD)
    results = [train(kind)[:3] for kind in kinds]
    return [*results, train(chainer.optimizers.SGD, zero_fill=False)[:3]]


@case
def attributes_of_an_optimizer():
    model, actual = Model(), chainer.optimizers.Adam()
    optimizer = chainermn.create_multi_node_optimizer(actual, comm)
    optimizer.setup(model)
    optimizer.alpha = 0.5
    optimizer.another = 3
    optimizer.new_epoch()
    return actual.alpha, actual.another, actual.epoch, optimizer.t, optimizer.target is model


@case
def parameters_that_get_a_shape_later():
    model = Model()
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    optimizer.setup(model)
    steps = []
    for step in range(4):
        if step == 2:
            model.lazy(np.zeros((1, 2), "f"))
            model.lazy.W.array[...] = 1 + rank
        optimizer.update(lambda x: F.sum(model(x)) * 0.01, array(1, 3))
        steps.append((optimizer.t, model.first.b.array.copy()))
    return steps, model.lazy.W.array


@case
def update_without_a_loss_function():
    model = Model()
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    optimizer.setup(model)
    for _ in range(3):
        model.cleargrads()
        F.sum(model(array(1, 3))).backward()
        optimizer.update()
    return model.first.W.array, optimizer.t


# Evaluators, datasets, iterators


class Reporting(chainer.Chain):
    def __call__(self, x, t):
        chainer.report({"loss": F.sum(x) + rank, "accuracy": float(t[0])}, self)


def examples(count):
    return [(array(2), np.int32(i)) for i in range(count)]


@case
def evaluator():
    iterator = chainer.iterators.SerialIterator(examples(3), 2, repeat=False, shuffle=False)
    target = Reporting()
    actual = chainer.training.extensions.Evaluator(iterator, target)
    changed = chainermn.create_multi_node_evaluator(actual, comm)
    reporter = chainer.Reporter()
    reporter.add_observer("target", target)
    with reporter:
        result = changed.evaluate()
    return changed is actual, {key: float(value) for key, value in result.items()}


class Listing(chainermn.extensions.GenericMultiNodeEvaluator):
    def calc_local(self, *arguments):
        return rank, len(arguments), [float(each.sum()) for each in arguments]

    def aggregate(self, results):
        return list(results)


@case
def generic_evaluator():
    results = []
    for root in (0, 1):
        iterator = chainer.iterators.SerialIterator(
            examples(3 + 2 * rank), 2, repeat=False, shuffle=False
        )
        evaluator = Listing(comm, iterator, lambda *arguments: None, root=root)
        results += [evaluator(None), evaluator(None)]
    return [*results, error(Listing, comm, iterator, None, root=size)]


@case
def scattered_datasets():
    results = []
    for total in (0, 1, 2, 7, 10):
        for equal in (True, False):
            whole = list(range(total)) if rank == 0 else None
            part = chainermn.scatter_dataset(whole, comm, force_equal_length=equal)
            index = chainermn.scatter_index(total, comm, force_equal_length=equal)
            results.append((index, list(part), type(part).__name__))
    whole = list(range(11))
    shuffled = chainermn.scatter_dataset(whole, comm, shuffle=True, seed=3)
    other_root = chainermn.scatter_dataset(whole if rank == 1 else None, comm, root=1)
    refusal = error(chainermn.scatter_dataset, whole, comm, root=size)
    empty = chainermn.datasets.create_empty_dataset([1, 2, 3])
    return [results, list(shuffled), list(other_root), refusal, empty]


@case
def lengths_of_epochs():
    from chainermn.datasets import scatter

    data = list(range(10 + rank))
    return (
        scatter.get_n_iterations_for_one_epoch(data, 3, comm),
        scatter.get_epoch_trigger(4, data, 3, comm),
    )


@case
def multi_node_iterator():
    iterator = chainermn.iterators.create_multi_node_iterator(
        chainer.iterators.SerialIterator(examples(5), 2, shuffle=False), comm
    )
    batches = []
    for _ in range(5):
        batch = [tuple(example) for example in next(iterator)]
        batches.append((batch, iterator.epoch, iterator.is_new_epoch, iterator.epoch_detail))
    return batches


@case
def synchronized_iterator():
    create = chainermn.iterators.create_synchronized_iterator
    iterator = create(chainer.iterators.SerialIterator(list(range(10)), 4), comm)
    batches = [iterator.next(), iterator.next()]
    return comm.allreduce_obj([batches]) == [batches] * size, error(create, iter([]), comm)


# Functions


@case
def function_allgather():
    x = variable(2)
    return differentiated(x, MF.allgather(comm, x))


@case
def function_bcast():
    x = variable(2) if rank == 0 else None
    return differentiated(x, MF.bcast(comm, x))


@case
def function_gather():
    x = variable(2)
    return differentiated(x, MF.gather(comm, x))


@case
def function_scatter():
    xs = [variable(2) for _ in range(size)] if rank == 0 else None
    return differentiated(xs, MF.scatter(comm, xs))


@case
def function_alltoall():
    xs = [variable(2) for _ in range(size)]
    return differentiated(xs, MF.alltoall(comm, xs)), error(MF.alltoall, comm, xs[:1])


@case
def functions_send_and_recv():
    x = variable(2)
    if rank == 0:
        delegate = MF.send(x, comm, 1)
        y = MF.recv(comm, 1, delegate_variable=delegate)
        F.sum(y * y).backward()
        return x, y, delegate.shape, str(delegate.dtype), delegate.name
    y = MF.recv(comm, 0)
    delegate = MF.send(y * 2 + x, comm, 0)
    delegate.backward()
    return x, y, delegate.shape


@case
def functions_send_and_recv_of_tuples():
    if rank == 0:
        xs = variable(2), variable(1, 2)
        MF.send(xs, comm, 1).backward()
        MF.send(variable(2), comm, 1)
        return xs
    ys = MF.recv(comm, 0)
    (F.sum(ys[0]) + 3 * F.sum(ys[1] * ys[1])).backward()
    return ys, MF.recv(comm, 0, force_tuple=True)


@case
def functions_send_and_recv_refusals():
    return error(MF.send, variable(2), comm, rank), error(MF.recv, comm, rank)


@case
def function_pseudo_connect():
    delegate, x = chainer.Variable(np.zeros(0, "f")), variable(2)
    connected = MF.pseudo_connect(delegate, x)
    F.sum(connected[0] * 2).backward()
    several = MF.pseudo_connect(chainer.Variable(np.zeros(0, "f")), variable(2), variable(3))
    (same,) = MF.pseudo_connect(None, x)
    return connected, delegate, x, several, same.array


# Links


class Spread(chainermn.MultiNodeChainList):
    def __init__(self):
        super().__init__(comm=comm)
        if rank == 0:
            self.add_link(L.Linear(2, 3, initialW=0.1), rank_in=None, rank_out=1)
            self.add_link(L.Linear(3, 2, initialW=0.2), rank_in=1, rank_out=None)
        else:
            self.add_link(L.Linear(3, 3, initialW=0.3), rank_in=0, rank_out=0)


@case
def multi_node_chain_list():
    model = Spread()
    model.cleargrads()
    if rank == 0:
        y = model(variable(2, 2))
        F.sum(y * y).backward()
        return y, model[0].W.grad, model[1].W.grad
    y = model()
    y.backward()
    return y, model[0].W.grad


@case
def chain_list_with_two_results():
    model = chainermn.MultiNodeChainList(comm)
    model.add_link(L.Linear(1, 1))
    return error(model.add_link, L.Linear(1, 1))


@case
def batch_normalization():
    results = []
    for shape, keywords in (((3,), {}), ((2, 2, 2), {}), ((2,), {"eps": 1e-3, "decay": 0.5})):
        whole = np.random.RandomState(5).randn(size * 4, *shape).astype("f")
        x = chainer.Variable(whole[rank * 4 : rank * 4 + 4])
        link = chainermn.links.MultiNodeBatchNormalization(shape[0], comm, **keywords)
        link.cleargrads()
        y = link(x)
        F.sum(y * y * y).backward()
        # Not the running variance: release 7 takes the number of examples of one process for it.
        results.append((y, x.grad, link.avg_mean, link.N, link.gamma.grad, link.eps, link.decay))
    create = chainermn.links.MultiNodeBatchNormalization
    refusals = [error(create, 2, comm, communication_backend=each) for each in ("nccl", "x")]
    return results, refusals


@case
def recurrent_networks():
    sequences = [np.random.RandomState(3).randn(length, 2).astype("f") for length in (3, 2)]
    results = []
    for name in ("NStepLSTM", "NStepGRU", "NStepBiLSTM", "NStepRNNTanh"):
        link = getattr(L, name)(1, 2, 2, 0.0)
        for parameter in link.params():
            parameter.array[...] = 0.1
        ends = {"rank_out": 1} if rank == 0 else {"rank_in": 0}
        model = chainermn.links.create_multi_node_n_step_rnn(link, comm, **ends)
        model.cleargrads()
        outputs = model([chainer.Variable(sequence) for sequence in sequences])
        if rank == 1:
            sum(F.sum(y) for y in outputs[-2]).backward()
        else:
            outputs[-1].backward()
        gradients = [parameter.grad for _, parameter in sorted(model.namedparams())]
        results.append((len(outputs), model.n_cells, gradients))
    create = chainermn.links.create_multi_node_n_step_rnn
    return results, error(create, L.Linear(1, 1), comm)


# Extensions


@case
def allreduce_persistent():
    model = Model()
    model.norm.avg_mean[...] = rank
    model.norm.avg_var[...] = 1 + rank
    model.norm.N = 5 + rank
    extension = chainermn.extensions.AllreducePersistent(model, comm)
    extension(None)
    norm = model.norm
    return norm.avg_mean, norm.avg_var, norm.N, extension.trigger, extension.priority


class Progress:
    """As much of a trainer as an extension needs."""

    def __init__(self):
        self.updater = self
        self.iteration = 0
        self.epoch = self.epoch_detail = self.previous_epoch_detail = 0
        self.is_new_epoch = False


@case
def observation_aggregator():
    results = []
    settings = (
        {},
        {"comm_trigger": (2, "iteration")},
        {
            "comm_trigger": (3, "iteration"),
            "aggregator": lambda lists: [sorted(each) for each in lists],
        },
    )
    for keywords in settings:
        extension = chainermn.extensions.ObservationAggregator(comm, "a", "b", **keywords)
        progress = Progress()
        for step in range(3):
            progress.iteration = step + 1
            progress.observation = {"a": 1.0 + rank + step}
            extension(progress)
            results.append(dict(progress.observation))
    return results, extension.trigger, extension.priority


def make_trainer(stop, folder):
    model = L.Classifier(Model())
    model.predictor.first.W.array[...] = 0.1
    data = [(array(3) * np.float32(0.01), np.int32(i % 2)) for i in range(8)]
    iterator = chainer.iterators.SerialIterator(data, 2, shuffle=False)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    updater = chainer.training.StandardUpdater(iterator, optimizer.setup(model))
    folder = os.path.join(FOLDER, folder)
    return chainer.training.Trainer(updater, (stop, "iteration"), out=folder), model


@case
def multi_node_snapshot():
    results = []
    for number, sets in enumerate(([], [0], [range(size)])):
        trainer, model = make_trainer(4, f"snapshots{number}")
        snapshot = chainer.training.extensions.snapshot()
        extension = chainermn.extensions.multi_node_snapshot(comm, snapshot, sets)
        trainer.extend(extension, name="snapshot", trigger=(2, "iteration"))
        trainer.run()
        comm.mpi_comm.barrier()
        optimizer = trainer.updater.get_optimizer("main")
        results.append(
            (sorted(os.listdir(trainer.out)), optimizer.t, model.predictor.first.b.array)
        )
    create = chainermn.extensions.multi_node_snapshot
    return results, [error(create, comm, snapshot, sets) for sets in ([size], [[0, 1], [1]])]


@case
def checkpointer():
    create = chainermn.create_multi_node_checkpointer
    names = []
    for stop in (3, 4):
        trainer, _ = make_trainer(stop, "checkpoints")
        extension = create("run", comm)
        trainer.extend(extension, trigger=(1, "iteration"))
        extension.maybe_load(trainer)
        names.append((trainer.updater.iteration, extension.name))
        extension.finalize = lambda: None  # which removes the files
        trainer.run()
        comm.mpi_comm.barrier()
        names.append(sorted(os.listdir(trainer.out)))
        comm.mpi_comm.barrier()
    return (
        names,
        error(create, "run", comm, cp_interval=0),
        error(create, "run", comm, gc_interval=0),
    )


@case
def early_stopping():
    trigger = chainermn.extensions.MultiNodeEarlyStoppingTrigger(
        comm, max_trigger=(7, "epoch"), patients=2
    )
    return trigger.get_training_length()


with open(os.path.join(FOLDER, f"{rank}.txt"), "w") as file:
    for function in cases:
        comm.mpi_comm.barrier()
        file.write(f"{function.__name__}: {text(function())}\n")
        file.flush()

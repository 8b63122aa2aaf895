"""Programs for ChainerMN in small, for a comparison with release 7.8.1.

``mpiexec -n N python usage7.py FOLDER`` writes what each case returned into ``FOLDER/RANK.txt``.
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

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, training
from chainer.training import extensions

warnings.simplefilter("ignore")
FOLDER = sys.argv[1]
comm = chainermn.create_communicator("naive")
rank, size = comm.rank, comm.size
last, following, before = size - 1, (rank + 1) % size, (rank - 1) % size
cases = {}


def case(function):
    cases[function.__name__] = function
    return function


def error(call, *arguments, **keywords):
    """Returns the name of the class of the exception."""
    try:
        call(*arguments, **keywords)
    except Exception as exception:
        return type(exception).__name__
    return "no error"


def array(*shape, **keywords):
    dtype = np.dtype(keywords.get("dtype", "f"))
    return (np.arange(int(np.prod(shape))).reshape(shape) + 10 * rank).astype(dtype)


# -- communicators --------------------------------------------------------------------------------


@case
def names_of_communicators():
    create = chainermn.create_communicator
    names = ("dummy", "", "NAIVE", "pure_nccl", "flat", "naive ")
    return [error(create), [error(create, name) for name in names], error(create, None)]


@case
def communicator_of_a_given_mpi_communicator():
    part = comm.mpi_comm.Split(rank % 2, -rank)
    made = chainermn.create_communicator("naive", mpi_comm=part)
    return made.rank, made.size, made.mpi_comm is part, made.allreduce_obj(rank)


@case
def wrong_options_of_communicators():
    create = chainermn.create_communicator
    return [
        error(create, "naive", batched_copy=True),
        error(create, "naive", mpi_comm=3),
        error(create, "naive", nothing=1),
    ]


@case
def scope_of_configuration():
    with comm.config_scope():
        comm.foo = 3
        comm.set_config("batched_copy", True)
    return comm.get_config("foo"), comm.foo, error(comm.get_config, "bar")


@case
def messages_of_all_kinds():
    results = []
    for value in (array(2, dtype="d"), array(2, 3).T, (array(2), array(1, 2))):
        for tag in (0, 7):
            if size == 1:
                continue
            if rank == 0:
                comm.send(value, last, tag)
            elif rank == last:
                results.append(comm.recv(0, tag))
    return results


@case
def objects_with_tags():
    if size == 1:
        return None
    comm.send_obj([rank, "x"], following, tag=rank)
    first = comm.recv_obj(before, tag=before)
    comm.send_obj(first, following)
    return first, comm.recv_obj(before, tag=-1)


@case
def sums_of_objects():
    values = (rank, float(rank), (rank,), array(2, 2), "x", [rank, "a"])
    return [comm.allreduce_obj(value) for value in values]


@case
def last_rank_as_root():
    mine = array(2, 2)
    parts = [array(i + 1) for i in range(size)]
    return [
        comm.bcast(mine if rank == last else None, root=last),
        comm.gather(mine, last),
        comm.scatter(parts if rank == last else None, root=last),
        comm.bcast_obj({"rank": rank} if rank == last else None, root=last),
        comm.gather_obj((rank, "a"), root=last),
    ]


@case
def arrays_of_dtypes():
    dtypes = "fdbBhilq"
    return [
        [error(comm.allreduce, array(2, dtype=dtype)) for dtype in dtypes],
        [error(comm.allgather, array(2, dtype=dtype)) for dtype in dtypes],
        [error(comm.alltoall, [array(2, dtype=dtype)] * size) for dtype in dtypes],
        [error(comm.bcast, array(2, dtype=dtype)) for dtype in "fdilq"],
    ]


@case
def wrong_values():
    return [
        [
            error(comm.allreduce, value)
            for value in (1, 1.5, [array(1)], chainer.Variable(array(1)))
        ],
        [error(comm.alltoall, value) for value in (1, "a", [1] * size, [], {})],
        [error(comm.allgather, value) for value in (1, "a", [1], None)],
        [error(comm.gather, value) for value in (1, "a", [1], None)],
    ]


@case
def split_in_two():
    part = comm.split(rank // 2, rank)
    alone = comm.split(rank, 0)
    model = L.Linear(2, 2, initialW=array(2, 2))
    part.bcast_data(model)
    comm.set_config("batched_copy", False)
    configured = comm.split(0, rank).batched_copy
    comm.set_config("batched_copy", True)
    return type(part).__name__, part.size, alone.size, alone.allreduce_obj(5), model.W, configured


# -- models ---------------------------------------------------------------------------------------


class Net(chainer.Chain):
    def __init__(self, dtype=np.float32):
        super().__init__()
        with self.init_scope(), chainer.using_config("dtype", dtype):
            self.first = L.Linear(3, 4, initialW=np.arange(12).reshape(4, 3).astype(dtype) / 10)
            self.norm = L.BatchNormalization(4)
            self.second = L.Linear(4, 2, initialW=np.ones((2, 4), dtype))

    def forward(self, x):
        return self.second(F.relu(self.norm(self.first(x))))


def batch(count=6, dtype="f"):
    state = np.random.RandomState(rank)
    return state.randn(count, 3).astype(dtype), state.randint(0, 2, count).astype("i")


def trained(model, optimizer, count=3, dtype="f"):
    for _ in range(count):
        optimizer.update(model, *batch(dtype=dtype))
    return [param.array for _, param in sorted(model.namedparams())]


@case
def means_of_gradients_in_dtypes():
    results = []
    for dtype in (np.float32, np.float64, np.float16):
        model = Net(dtype)
        model.cleargrads()
        for param in model.params():
            param.grad = np.full_like(param.array, 1 + rank)
        results.append(error(comm.multi_node_mean_grad, model))
        results.append(sorted({str(param.grad.dtype) for param in model.params()}))
        results.append(model.second.b.grad)
    return results


@case
def old_names_of_methods():
    model = Net()
    model.cleargrads()
    model.first.W.grad = np.full((4, 3), rank, "f")
    comm.allreduce_grad(model, zero_fill=True)
    comm.broadcast_data(model)
    return model.first.W.grad, model.second.b.grad


@case
def models_of_others():
    model = Net()
    for value in ("first", "second"):
        getattr(model, value).b.array[...] = rank
    model.norm.avg_mean[...] = rank
    comm.bcast_data(model)
    return model.first.b, model.norm.avg_mean


@case
def double_buffering():
    make = chainermn.create_multi_node_optimizer
    return error(make, chainer.optimizers.SGD(), comm, double_buffering=True)


@case
def frozen_layers():
    model = L.Classifier(Net())
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.MomentumSGD(0.1), comm)
    optimizer.setup(model)
    model.predictor.first.disable_update()
    frozen = model.predictor.first.W.array.copy()
    after = trained(model, optimizer)
    return bool((model.predictor.first.W.array == frozen).all()), after


@case
def hooks_for_each_parameter():
    model = L.Classifier(Net())
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm)
    optimizer.setup(model)
    for param in model.params():
        if param.name == "W":
            param.update_rule.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(0.5), "clip")
    optimizer.add_hook(chainer.optimizer_hooks.Lasso(0.01), timing="post")
    result = trained(model, optimizer)
    optimizer.remove_hook("clip")
    return result, trained(model, optimizer, 1), error(optimizer.remove_hook, "clip")


@case
def attributes_of_optimizers():
    actual = chainer.optimizers.Adam(alpha=0.1)
    optimizer = chainermn.create_multi_node_optimizer(actual, comm)
    result = optimizer.setup(L.Classifier(Net()))
    optimizer.alpha = 0.2
    optimizer.hyperparam.beta1 = 0.8
    optimizer.loss_scaling(scale=4.0)
    optimizer.use_cleargrads()
    trained(optimizer.target, optimizer)
    return [
        result is optimizer,
        actual.alpha,
        actual.beta1,
        actual.t,
        optimizer.lr,
        optimizer.epoch,
        optimizer.is_safe_to_update(),
        optimizer.communicator is comm,
        optimizer.actual_optimizer is actual,
        error(lambda: optimizer.nothing),
    ]


@case
def saved_optimizers():
    model = L.Classifier(Net())
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm).setup(model)
    trained(model, optimizer)
    files = io.BytesIO(), io.BytesIO()
    chainer.serializers.save_npz(files[0], model)
    chainer.serializers.save_npz(files[1], optimizer)
    for file in files:
        file.seek(0)
    other = L.Classifier(Net())
    again = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm).setup(other)
    chainer.serializers.load_npz(files[0], other)
    chainer.serializers.load_npz(files[1], again)
    files[1].seek(0)
    names = sorted(np.load(files[1]).files)
    trained(model, optimizer, 1)
    # The first update of an optimizer gives parameters to all and does not update.
    trained(other, again, 2)
    return (
        optimizer.t,
        again.t,
        names,
        F.sum(abs(model.predictor.first.W - other.predictor.first.W)),
    )


@case
def two_models_in_turn():
    models = L.Classifier(Net()), L.Classifier(Net())
    optimizers = [
        chainermn.create_multi_node_optimizer(chainer.optimizers.RMSprop(0.01), comm).setup(model)
        for model in models
    ]
    for _ in range(3):
        for model, optimizer in zip(models, optimizers):
            loss = model(*batch())
            model.cleargrads()
            loss.backward()
            optimizer.update()
    return [model.predictor.second.W for model in models], [each.t for each in optimizers]


# -- datasets -------------------------------------------------------------------------------------


def plain(example):
    """Returns an example without types of NumPy, whose texts depend on its version."""
    if isinstance(example, tuple):
        return tuple(map(int, example))
    if isinstance(example, dict):
        return {key: int(value) for key, value in example.items()}
    return example


@case
def parts_of_datasets():
    results = []
    datasets = [
        chainer.datasets.TupleDataset(np.arange(7), np.arange(7) * 2),
        chainer.datasets.DictDataset(a=np.arange(5), b=np.arange(5)),
        np.arange(6).reshape(3, 2),
        "abcdefg",
        range(4),
    ]
    for dataset in datasets:
        part = chainermn.scatter_dataset(dataset if rank == 0 else None, comm)
        results.append((len(part), [plain(each) for each in part[:2]], plain(part[-1])))
    return results


@case
def parts_of_a_root():
    part = chainermn.scatter_dataset(
        list(range(9)) if rank == last else None, comm, last, True, 7, force_equal_length=False
    )
    return list(part), chainermn.scatter_index(9, comm, last), error(part.__getitem__, 99)


@case
def split_before_and_after():
    data = list(range(12))
    train, valid = chainer.datasets.split_dataset_random(data, 8, seed=1)
    first = chainermn.scatter_dataset(train if rank == 0 else None, comm, shuffle=True, seed=2)
    changed = chainer.datasets.TransformDataset(first, lambda x: x + 100)
    halves = chainer.datasets.split_dataset(changed, 2)
    return list(changed), [list(half) for half in halves], list(valid)


@case
def wrong_parts():
    return [
        error(chainermn.scatter_dataset, [1, 2, 3], comm, root=size),
        error(chainermn.scatter_dataset, [1, 2, 3], comm, force_equal=True),
    ]


@case
def empty_datasets():
    empty = chainermn.datasets.create_empty_dataset(list(range(5)))
    iterator = iterators.SerialIterator(empty, 2, repeat=False, shuffle=False)
    return len(empty), empty[1:3], [each for each in iterator], type(empty).__name__


# -- evaluators -----------------------------------------------------------------------------------


def evaluated(evaluator):
    evaluator = chainermn.create_multi_node_evaluator(evaluator, comm)
    return {key: float(value) for key, value in evaluator().items()}


def iterator_of(count=5):
    data = [tuple(example) for example in zip(*batch(count))]
    return iterators.SerialIterator(data, 2, repeat=False, shuffle=False)


@case
def kinds_of_evaluators():
    model = L.Classifier(Net())
    seen = []

    class Own(extensions.Evaluator):
        default_name = "own"

        def evaluate(self):
            seen.append(len(list(self.get_iterator("main"))))
            return {"own/rank": rank, "own/more": 2.0 * rank}

    function = extensions.Evaluator(iterator_of(), model, eval_func=lambda x, t: model(x, t))
    named = extensions.Evaluator(iterator_of(3 + rank), model)
    named.name = "named"
    return [
        evaluated(Own(iterator_of(), model)),
        evaluated(function),
        evaluated(named),
        evaluated(extensions.Evaluator({"main": iterator_of()}, {"main": model})),
        seen,
    ]


@case
def generic_evaluators():
    class Sums(chainermn.extensions.GenericMultiNodeEvaluator):
        def calc_local(self, *arguments, **keywords):
            return [float(each.sum()) for each in arguments], self.rank_of(keywords)

        def rank_of(self, keywords):
            return rank, sorted(keywords)

        def aggregate(self, results):
            return len(list(results))

    made = [
        Sums(comm, iterator_of(2 * rank + 1), lambda *arguments: None),
        Sums(comm, iterator_of(2), lambda *arguments: None, root=last),
    ]
    return [each(None) for each in made]


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

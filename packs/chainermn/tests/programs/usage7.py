"""Programs for ChainerMN in small, for a comparison with release 7.8.1.

``mpiexec -n N python usage7.py FOLDER`` writes what each case returned into ``FOLDER/RANK.txt``.
The program runs in Python 3.7 with release 7.8.1, too; see test_programs7.py. All processes go
through all cases in the same order.
"""

import io
import sys
import warnings

import chainermn
import numpy as np
from cases7 import write
from models7 import Net, array, batch, before, comm, error, following, iterator_of, last, rank, size

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators
from chainer.training import extensions

warnings.simplefilter("ignore")
FOLDER = sys.argv[1]
cases = {}


def case(function):
    cases[function.__name__] = function
    return function


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


if __name__ == "__main__":
    write(cases, comm, FOLDER)

"""Links over several processes, compared with one process."""

import copy

import chainermn
import chainermn.links as ML
import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import links as L
from chainer.utils import type_check

BATCH = 6


def data(rank, shape=(BATCH, 5), dtype="float32"):
    return np.random.RandomState(50 + rank).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("shape", [(BATCH, 5), (BATCH, 5, 3, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_normalization(comm, everyone, shape, dtype):
    with chainer.using_config("dtype", np.dtype(dtype)):
        link = ML.MultiNodeBatchNormalization(5, comm)
        plain = L.BatchNormalization(5)
    plain.avg_var[...] = 0  # where the other starts
    for each in (link, plain):
        each.gamma.array[...] = np.arange(1, 6)
        each.beta.array[...] = np.arange(5)
    joint = chainer.Variable(np.concatenate(everyone(lambda r: data(r, shape, dtype))))
    weights = [data(r + 100, shape, dtype) for r in range(comm.size)]
    x = chainer.Variable(data(comm.rank, shape, dtype))
    link.cleargrads()
    plain.cleargrads()
    y, joint_y = link(x), plain(joint)
    part = slice(comm.rank * BATCH, (comm.rank + 1) * BATCH)
    tolerance = 1e-4 if dtype == "float32" else 1e-9
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    close(y.array, joint_y.array[part])
    F.sum(y * weights[comm.rank]).backward()
    # Means over the processes, as of a loss that is divided by their number.
    (F.sum(joint_y * np.concatenate(weights)) / comm.size).backward()
    close(x.grad, joint.grad[part] * comm.size)
    close(link.gamma.grad, plain.gamma.grad)
    close(link.beta.grad, plain.beta.grad)
    close(link.avg_mean, plain.avg_mean)
    close(link.avg_var, plain.avg_var)
    with chainer.using_config("train", False):
        close(link(x).array, plain(joint).array[part])
    link.start_finetuning()
    assert link.N == 0
    link(x, finetune=True)
    assert link.N == 1
    close(link.avg_mean, np.mean(joint.array, axis=(0, *range(2, len(shape)))))


@pytest.mark.parametrize("mean", [1e3, 1e5])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_batch_normalization_of_large_means(comm, everyone, mean, dtype):
    """Release 7.8.1 loses the variance in the square of the mean: it gives NaN from 1e4 on."""
    if dtype == "float16" and mean > 6e4:
        pytest.skip("more than float16 can hold")
    shape = BATCH, 5, 3, 2
    every = everyone(lambda rank: (data(rank, shape, "float64") * 8 + mean).astype(dtype))
    joint = np.concatenate(every).astype(np.float64)
    # Parameters are float32: the computation has the wider dtype.
    link = ML.MultiNodeBatchNormalization(5, comm, decay=0)
    x = chainer.Variable(every[comm.rank])
    y = link(x)
    axes = 0, 2, 3
    variance = joint.var(axes, keepdims=True)
    expected = (every[comm.rank] - joint.mean(axes, keepdims=True)) / np.sqrt(variance + link.eps)
    tolerance = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-7}[dtype]
    np.testing.assert_allclose(y.array, expected, atol=tolerance)
    assert y.dtype == dtype
    count = joint.size // 5
    np.testing.assert_allclose(link.avg_mean, joint.mean(axes), rtol=1e-6)
    np.testing.assert_allclose(
        link.avg_var,
        variance.ravel() * count / (count - 1),
        rtol=1e-3 if dtype == "float16" else 2e-5,
    )


def test_batch_normalization_without_parameters(comm):
    link = ML.MultiNodeBatchNormalization(5, comm, use_gamma=False, use_beta=False)
    y = link(data(comm.rank)).array
    total = comm.allreduce(np.stack([y.mean(0), (y * y).mean(0)])) / comm.size
    np.testing.assert_allclose(total, [np.zeros(5), np.ones(5)], atol=1e-3)
    assert (link.avg_var != 0).all()
    assert sum(1 for _ in link.params()) == 0


def test_batch_normalization_of_wrong_arrays(comm):
    link = ML.MultiNodeBatchNormalization(5, comm)
    for x in (np.ones((2, 4), "f"), np.ones(5, "f"), np.ones((2, 5), "i")):
        with pytest.raises(type_check.InvalidType):
            link(x)


def test_batch_normalization_arguments(comm):
    with pytest.raises(ValueError, match="communication_backend must be"):
        ML.MultiNodeBatchNormalization(5, comm, communication_backend="tcp")
    with pytest.raises(ValueError, match="pure_nccl"):
        ML.MultiNodeBatchNormalization(5, comm, communication_backend="nccl")
    link = ML.MultiNodeBatchNormalization(5, comm, dtype=np.float64)
    assert link.gamma.dtype == link.avg_mean.dtype == np.float64
    assert copy.deepcopy(link).comm is comm
    assert link.copy("copy").comm is comm


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.bn = L.BatchNormalization(5)
            self.inner = chainer.ChainList(L.BatchNormalization(5, use_gamma=False), L.Linear(5, 5))
            self.seq = chainer.Sequential(
                L.BatchNormalization(5, decay=0.5), F.relu, L.Linear(5, 2)
            )

    def __call__(self, x):
        x = self.inner[1](self.inner[0](self.bn(x)))
        return self.seq(x)


def test_create_mnbn_model(comm, everyone):
    net = Net()
    net.bn.avg_mean[...] = 3
    net.bn.gamma.array[...] = 2
    comm.bcast_data(net)
    new = ML.create_mnbn_model(net, comm)
    kinds = [type(link).__name__ for link in (new.bn, new.inner[0], new.seq[0])]
    assert kinds == ["MultiNodeBatchNormalization"] * 3
    assert type(net.bn) is type(net.seq[0]) is L.BatchNormalization
    assert new.inner[0].gamma is None
    assert new.seq[0].decay == 0.5
    assert new.seq[1] is F.relu
    assert (new.bn.avg_mean == 3).all()
    assert (new.bn.gamma.array == 2).all()
    assert sorted(n for n, _ in new.namedparams()) == sorted(n for n, _ in net.namedparams())
    joint = net(np.concatenate(everyone(data)))
    y = new(data(comm.rank))
    part = slice(comm.rank * BATCH, (comm.rank + 1) * BATCH)
    np.testing.assert_allclose(y.array, joint.array[part], rtol=1e-4, atol=1e-4)


def linear(seed, n_in=5, n_out=5):
    state = np.random.RandomState(seed)
    link = L.Linear(n_in, n_out)
    link.W.array[...] = state.normal(size=(n_out, n_in))
    return link


def test_chain_over_all_processes(comm):
    """Rank r has layer r; the result and all gradients equal one chain's."""
    layers = [linear(r) for r in range(comm.size)]
    model = chainermn.MultiNodeChainList(comm)
    last = comm.size - 1
    model.add_link(
        linear(comm.rank),
        rank_in=None if comm.rank == 0 else comm.rank - 1,
        rank_out=None if comm.rank == last else comm.rank + 1,
    )
    model.cleargrads()
    y = model(data(0)) if comm.rank == 0 else model()
    expected = chainer.Variable(data(0))
    for layer in layers:
        layer.cleargrads()
        expected = layer(expected)
    F.sum(expected * expected).backward()
    if comm.rank == last:
        np.testing.assert_allclose(y.array, expected.array, rtol=1e-4)
        y = F.sum(y * y)
    y.backward()
    np.testing.assert_allclose(model[0].W.grad, layers[comm.rank].W.grad, rtol=1e-3)


def test_branches_meet_again(comm):
    """Rank 0 sends to two links of rank 1, which send back; rank 0 adds the results."""
    if comm.size < 2:
        pytest.skip("needs another process")
    if comm.rank > 1:
        return
    model = chainermn.MultiNodeChainList(comm)
    if comm.rank == 0:
        model.add_link(linear(1), rank_in=None, rank_out=[1, 1])
        model.add_link(Add(), rank_in=[1, 1], rank_out=None)
    else:
        model.add_link(linear(2), rank_in=0, rank_out=0)
        model.add_link(linear(3), rank_in=0, rank_out=0)
    model.cleargrads()
    a, b, c = links = [linear(seed) for seed in (1, 2, 3)]
    for link in links:
        link.cleargrads()
    h = a(data(0))
    expected = b(h) + 2 * c(h)
    F.sum(expected * expected).backward()
    if comm.rank == 0:
        y = model(data(0))
        np.testing.assert_allclose(y.array, expected.array, rtol=1e-4, atol=1e-4)
        F.sum(y * y).backward()
        np.testing.assert_allclose(model[0].W.grad, a.W.grad, rtol=1e-3, atol=1e-3)
    else:
        model().backward()
        np.testing.assert_allclose(model[0].W.grad, b.W.grad, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(model[1].W.grad, c.W.grad, rtol=1e-3, atol=1e-3)


class Add(chainer.Link):
    def __call__(self, x, y):
        return x + 2 * y


def test_own_rank_and_errors(comm):
    model = chainermn.MultiNodeChainList(comm)
    model.add_link(linear(1), rank_in=None, rank_out=comm.rank)
    model.add_link(linear(2), rank_in=comm.rank, rank_out=None)
    y = model(data(0))
    np.testing.assert_allclose(y.array, linear(2)(linear(1)(data(0))).array, rtol=1e-5)
    with pytest.raises(ValueError, match="rank_out must not be None for two"):
        model.add_link(linear(3))
    with pytest.raises(ValueError, match=f"below {comm.size}, got {comm.size}"):
        model.add_link(linear(3), rank_in=comm.size, rank_out=0)
    left = chainermn.MultiNodeChainList(comm)
    left.add_link(linear(1), rank_in=None, rank_out=comm.rank)
    with pytest.raises(ValueError, match="never received"):
        left(data(0))
    early = chainermn.MultiNodeChainList(comm)
    early.add_link(linear(1), rank_in=comm.rank)
    with pytest.raises(ValueError, match="none was sent"):
        early()


def test_model_parallel_training(comm):
    """Rank 0 computes the lower layer, rank 1 the upper; StandardUpdater drives both."""
    if comm.size < 2:
        pytest.skip("needs another process")
    pair = comm.split(comm.rank // 2, comm.rank)
    if pair.size < 2:
        return
    dataset = [(data(i, (5,)), np.int32(i % 3)) for i in range(8)]
    model = chainermn.MultiNodeChainList(pair)
    if pair.rank == 0:
        model.add_link(linear(1), rank_in=None, rank_out=1)
        train = [(x,) for x, _ in dataset]
        loss = model
    else:
        model.add_link(linear(2, 5, 3), rank_in=0, rank_out=None)
        train = [(t,) for _, t in dataset]
        loss = lambda t: F.softmax_cross_entropy(model(), t)
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    iterator = chainer.iterators.SerialIterator(train, 4, shuffle=False)
    updater = chainer.training.StandardUpdater(iterator, optimizer, loss_func=loss)
    alone = chainer.Sequential(linear(1), linear(2, 5, 3))
    plain = chainer.optimizers.SGD(0.1).setup(alone)
    for i in range(4):
        updater.update()
        part = dataset[4 * (i % 2) :][:4]
        x, t = chainer.dataset.concat_examples(part)
        plain.update(lambda x, t: F.softmax_cross_entropy(alone(x), t), x, t)
    np.testing.assert_allclose(model[0].W.array, alone[pair.rank].W.array, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "n_cells"),
    [(n, 2 if "LSTM" in n else 1) for n in chainermn.links.n_step_rnn.N_CELLS],
)
def test_n_step_rnn(comm, name, n_cells):
    """The sequence is cut: rank 0 has its first half, rank 1 the second."""
    if comm.size < 2:
        pytest.skip("needs another process")
    if comm.rank > 1:
        return

    def make():
        np.random.seed(3)
        return getattr(L, name)(1, 4, 3, 0.0)

    link = ML.create_multi_node_n_step_rnn(
        make(), comm, rank_in=0 if comm.rank else None, rank_out=None if comm.rank else 1
    )
    assert (link.n_cells, link.rank_in) == (n_cells, 0 if comm.rank else None)
    halves = [[data(10 * half + i, (4, 4)) for i in range(2)] for half in range(2)]
    link.cleargrads()
    *outputs, delegate = link(halves[comm.rank])
    first, second = make(), make()
    first.cleargrads()
    second.cleargrads()
    *states, _ = first(*[None] * n_cells, halves[0])
    expected = second(*states, halves[1])
    loss = lambda out: F.sum(out[0] * out[0]) + sum(F.sum(y) for y in out[-1])
    loss(expected).backward()
    if comm.rank:
        assert delegate is None
        np.testing.assert_allclose(outputs[0].array, expected[0].array, rtol=1e-4, atol=1e-6)
        loss(outputs).backward()
    else:
        delegate.backward()
    want = dict((first, second)[comm.rank].namedparams())
    for key, param in link.actual_rnn.namedparams():
        np.testing.assert_allclose(param.grad, want[key].grad, rtol=1e-3, atol=1e-5)


def test_n_step_rnn_of_another_link(comm):
    with pytest.raises(ValueError, match="NStepLSTM.*got Linear"):
        ML.create_multi_node_n_step_rnn(L.Linear(2, 2), comm)

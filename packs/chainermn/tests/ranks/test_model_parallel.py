"""Tensor parallel links and pipelines compute what one process computes."""

import time

import chainermn
import numpy as np
import pytest
from chainermn.links.micro_batches import schedule, stages_after
from chainermn.step_time import bubble

import chainer
import chainer.functions as F
from chainer import links as L


def compare(comm, make, convert, inputs, parts):
    """Outputs, gradients of inputs and of parameters of a link and of its parallel form."""
    np.random.seed(0)
    whole = make()
    np.random.seed(comm.rank)  # rank 0 counts
    own = convert(make() if comm.rank else whole)
    whole = comm.bcast_obj([p.array for _, p in sorted(whole.namedparams())])
    reference = make()
    for (_, param), array in zip(sorted(reference.namedparams()), whole, strict=True):
        param.array[...] = array
    results = []
    for link in (reference, own):
        variables = [chainer.Variable(x) if x.dtype.kind == "f" else x for x in inputs]
        link.cleargrads()
        y = link(*variables)
        F.sum(F.sin(y) * F.sin(2 * y)).backward()
        results.append((y.array, [v.grad for v in variables if hasattr(v, "grad")]))
    for a, b in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=2e-5, atol=1e-5)
    grads = dict(reference.namedparams())
    for name, param in own.namedparams():
        expected = grads[name].grad[parts(name)]
        np.testing.assert_allclose(param.grad, expected, rtol=2e-5, atol=1e-5, err_msg=name)


def rows(comm, count):
    return slice(count * comm.rank // comm.size, count * (comm.rank + 1) // comm.size)


X = np.random.RandomState(1).normal(size=(3, 5, 8)).astype("f")


@pytest.mark.parametrize("nobias", [False, True])
def test_column_parallel(comm, nobias):
    compare(
        comm,
        lambda: L.Linear(8, 6, nobias=nobias),
        lambda link: chainermn.links.ColumnParallelLinear(link, comm),
        [X[0]],
        lambda name: rows(comm, 6),
    )


class Pair(chainer.Chain):
    def __init__(self, first, second):
        super().__init__(first=first, second=second)

    def forward(self, x):
        return self.second(F.tanh(self.first(x)))


@pytest.mark.parametrize("nobias", [False, True])
def test_column_and_row_parallel(comm, nobias):
    def parts(name):
        if name == "/second/W":
            return slice(None), rows(comm, 12)
        return slice(None) if name == "/second/b" else rows(comm, 12)

    compare(
        comm,
        lambda: Pair(L.Linear(8, 12, nobias=nobias), L.Linear(12, 4, nobias=nobias)),
        lambda pair: Pair(
            chainermn.links.ColumnParallelLinear(pair.first, comm, join=False),
            chainermn.links.RowParallelLinear(pair.second, comm),
        ),
        [X[0]],
        parts,
    )


@pytest.mark.parametrize("ignore_label", [None, -1, 3])
def test_embedding(comm, ignore_label):
    ids = np.array([[0, 6, 3], [5, 2, 3]], "i")
    if ignore_label == -1:
        ids[0, 0] = -1
    compare(
        comm,
        lambda: L.EmbedID(7, 4, ignore_label=ignore_label),
        lambda link: chainermn.links.ParallelEmbedID(link, comm),
        [ids],
        lambda name: rows(comm, 7),
    )
    link = chainermn.links.ParallelEmbedID(L.EmbedID(7, 4), comm)
    with pytest.raises(ValueError, match="each x must be from 0 to 6"):
        link(np.array([7], "i"))


@pytest.mark.parametrize("rotary", [False, True])
def test_attention(comm, rotary):
    def parts(name):
        if name == "/output/W":
            return slice(None), rows(comm, 8)
        return slice(None) if name == "/output/b" else rows(comm, 8)

    compare(
        comm,
        lambda: L.MultiHeadAttention(4, 8, 8, rotary=rotary),
        lambda link: chainermn.links.ParallelMultiHeadAttention(link, comm),
        [X],
        parts,
    )


def test_bad_links(comm):
    with pytest.raises(TypeError, match="link must be a Linear, got EmbedID"):
        chainermn.links.RowParallelLinear(L.EmbedID(2, 2), comm)
    with pytest.raises(ValueError, match="link has no values yet: give the size of /W"):
        chainermn.links.ColumnParallelLinear(L.Linear(2), comm)
    if comm.size > 1:
        with pytest.raises(ValueError, match="3 heads cannot be split over"):
            chainermn.links.ParallelMultiHeadAttention(L.MultiHeadAttention(3, 6, 6), comm)


# -- pipelines ------------------------------------------------------------------------------------

UNITS = 200  # large messages, which wait for their receiver


class Stage(chainer.Chain):
    def __init__(self, index, seconds=0.0):
        super().__init__()
        state = np.random.RandomState(index)
        self.seconds = seconds
        with self.init_scope():
            scale = UNITS**-0.5
            self.l = L.Linear(UNITS, UNITS, initialW=state.normal(0, scale, (UNITS, UNITS)))

    def forward(self, x):
        return F.tanh(self.l(x))


class Loss(Stage):
    def forward(self, x):
        return F.mean(super().forward(x) ** 2)


def pipeline(comm, make=Stage, make_last=Loss):
    model = chainermn.MultiNodeChainList(comm)
    rank, last = comm.rank, comm.size - 1
    make = make if rank < last else make_last
    model.add_link(make(rank), None if rank == 0 else rank - 1, None if rank == last else rank + 1)
    return model


@pytest.mark.parametrize(("batch", "number"), [(12, 1), (12, 4), (13, 5), (600, 3)])
def test_micro_batches(comm, batch, number):
    x = np.random.RandomState(9).normal(size=(batch, UNITS)).astype("f")
    model = pipeline(comm)
    model.cleargrads()
    loss = model.backward_in_micro_batches(number, *([x] if comm.rank == 0 else []))
    stages = [Stage(i) for i in range(comm.size - 1)] + [Loss(comm.size - 1)]
    y = x
    for stage in stages:
        stage.cleargrads()
        y = stage(y)
    y.backward()
    if comm.rank == comm.size - 1:
        np.testing.assert_allclose(loss.array, y.array, rtol=1e-5)
    else:
        assert loss is None
    np.testing.assert_allclose(model[0].l.W.grad, stages[comm.rank].l.W.grad, rtol=1e-4, atol=1e-8)


def test_schedule():
    assert schedule(2, 0) == [("forward", 0), ("backward", 0), ("forward", 1), ("backward", 1)]
    for number in (1, 2, 5):
        for after in range(4):
            steps = schedule(number, after)
            assert sorted(steps) == sorted(
                [(kind, i) for kind in ("forward", "backward") for i in range(number)]
            )
            kept = np.cumsum([1 if kind == "forward" else -1 for kind, _ in steps])
            assert kept.max() == min(number, after + 1)


def test_refusals(comm):
    model = pipeline(comm)
    for number in (0, 4):
        with pytest.raises(ValueError, match="number must be from 1 to the length of the batch"):
            model.backward_in_micro_batches(number, np.ones((3, UNITS), "f"))
    if comm.size > 1:
        with pytest.raises(ValueError, match="send in one direction, got a cycle"):
            stages_after(comm, [(comm.rank + 1) % comm.size])


def test_bubble(comm):
    """The processes compute at the same time: more micro-batches, less waiting."""
    assert bubble(1, 4) == 0
    assert bubble(4, 4) == pytest.approx(3 / 7)
    work = 0.02

    class Slow(Stage):
        def forward(self, x):
            time.sleep(work)
            return super().forward(x)

    class SlowLoss(Slow):
        def forward(self, x):
            return F.mean(super().forward(x) ** 2)

    model = pipeline(comm, Slow, SlowLoss)
    x = np.ones((8, UNITS), "f")
    waited = {}
    for number in (1, 8):
        comm.barrier()
        begin = time.perf_counter()
        model.backward_in_micro_batches(number, *([x] if comm.rank == 0 else []))
        comm.barrier()
        waited[number] = comm.bcast_obj(1 - number * work / (time.perf_counter() - begin))
    if comm.size > 1:
        assert waited[8] < waited[1]


def test_fewer_rows_than_processes(comm):
    """Some processes have no part, and take part."""
    compare(
        comm,
        lambda: L.Linear(8, 3),
        lambda link: chainermn.links.ColumnParallelLinear(link, comm),
        [X[0]],
        lambda name: rows(comm, 3),
    )
    compare(
        comm,
        lambda: L.EmbedID(3, 4),
        lambda link: chainermn.links.ParallelEmbedID(link, comm),
        [np.array([[0, 2, 1], [1, 1, 2]], "i")],
        lambda name: rows(comm, 3),
    )


def test_two_batch_axes_float64_and_layouts(comm):
    class Deep(chainer.Chain):
        def __init__(self, first, second):
            super().__init__(first=first, second=second)

        def forward(self, x):
            h = F.tanh(self.first(F.transpose(x, (1, 0, 2)), n_batch_axes=2))
            return self.second(h, n_batch_axes=2)

    def make():
        with chainer.using_config("dtype", np.float64):
            return Deep(L.Linear(8, 6), L.Linear(6, 8))

    def parts(name):
        if name == "/second/W":
            return slice(None), rows(comm, 6)
        return slice(None) if name == "/second/b" else rows(comm, 6)

    compare(
        comm,
        make,
        lambda pair: Deep(
            chainermn.links.ColumnParallelLinear(pair.first, comm, join=False),
            chainermn.links.RowParallelLinear(pair.second, comm),
        ),
        [X.astype("d")],
        parts,
    )


def test_second_order(comm):
    """Gradients of gradients equal the ones of the whole link."""
    np.random.seed(0)
    whole = L.Linear(8, 6)
    link = chainermn.links.ColumnParallelLinear(whole, comm)
    grads = []
    for each in (whole, link):
        x = chainer.Variable(X[0])
        each.cleargrads()
        (gx,) = chainer.grad([F.sum(F.sin(each(x)))], [x], enable_double_backprop=True)
        F.sum(gx * gx).backward()
        grads.append((x.grad, each.W.grad))
    np.testing.assert_allclose(grads[1][0], grads[0][0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(grads[1][1], grads[0][1][rows(comm, 6)], rtol=1e-5, atol=1e-6)

"""Static chains on JAX: forward and backward computation as two programs of XLA."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import static_graph


class Net(chainer.Chain):
    def __init__(self, compute=None):
        super().__init__()
        self.compute = compute or Net.usual
        with self.init_scope():
            self.l1 = L.Linear(6, 5)
            self.bn = L.BatchNormalization(5)
            self.l2 = L.Linear(5, 3)

    def usual(self, x):
        return self.l2(F.dropout(F.relu(self.bn(self.l1(x))), 0.3))

    @static_graph
    def forward(self, *xs):
        return self.compute(self, *xs)


class Trainer:
    def __init__(self, device, compute=None):
        np.random.seed(0)
        device.xp.random.seed(3)
        self.device = device
        self.net = Net(compute).to_device(device)
        self.optimizer = chainer.optimizers.MomentumSGD(0.05).setup(self.net)

    def batches(self, n=7, seed=1):
        rng = np.random.RandomState(seed)
        for _ in range(n):
            x, t = rng.rand(4, 6).astype("f"), rng.randint(0, 3, 4).astype("i")
            yield self.device.send(x), self.device.send(t)

    def update(self, loss):
        self.net.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def state(self):
        yield from [p.array for _, p in sorted(self.net.namedparams())]
        yield from (self.net.bn.avg_mean, self.net.bn.avg_var)


def training(use):
    s = use()
    for x, t in s.batches():
        x = chainer.Variable(x)
        yield s.update(F.softmax_cross_entropy(s.net(x), t))
        yield x.grad
    yield from s.state()


def two_calls_of_an_iteration(use):
    """The second graph is differentiated first."""
    s = use(lambda net, x: net.l2(F.tanh(net.l1(x))))
    for (x, t), (x2, t2) in zip(s.batches(), s.batches(seed=2), strict=True):
        first, second = s.net(x), s.net(x2)
        yield s.update(F.softmax_cross_entropy(second, t2))
        yield s.update(F.softmax_cross_entropy(first, t))
    yield from s.state()


def graphs_are_kept(use):
    s = use(lambda net, x: net.l2(F.tanh(net.l1(x))))
    graphs = []
    for x, _ in s.batches(12):
        x = chainer.Variable(x)
        graphs.append((x, s.net(x)))
    for x, y in graphs[::-1]:
        for _ in range(2):
            x.cleargrad()
            F.sum(y**2).backward()
            yield x.grad


def several_results(use):
    """Not every result takes part in each loss."""

    def compute(net, x):
        h = F.relu(net.l1(x))
        return h * 2, [net.l2(h), F.argmax(h, axis=1)]

    s = use(compute)
    for i, (x, t) in enumerate(s.batches(9)):
        h, (y, best) = s.net(x)
        losses = [F.sum(h**2), F.softmax_cross_entropy(y, t), F.sum(h) + F.sum(y)]
        yield s.update(losses[i % 3])
        yield best
        yield np.array([p.grad is None for _, p in sorted(s.net.namedparams())])
    yield from s.state()


def parameters_are_changed(use):
    s = use()
    for i, (x, t) in enumerate(s.batches(12)):
        if i == 5:
            s.net.l1.W.array[...] *= 0.5
        if i == 7:
            s.net.l2.W.array = s.net.l2.W.array * 2
        y = s.net(x)
        if i == 10:
            s.net.l2.W.array[...] *= 0.5
        yield s.update(F.softmax_cross_entropy(y, t))
    yield from s.state()


def both_modes(use):
    s = use()
    for x, t in s.batches():
        yield s.update(F.softmax_cross_entropy(s.net(x), t))
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            yield s.net(x)
    yield from s.state()


def in_a_captured_step(use):
    s = use(lambda net, x: net.l2(F.tanh(net.l1(x))))
    step = chainer.capture(
        lambda x, t: s.update(F.softmax_cross_entropy(s.net(x), t)), s.net, s.optimizer
    )
    for x, t in s.batches():
        yield step(x, t)
    yield from s.state()


def reads_a_value(use):
    s = use(lambda net, x: net.l1(x) * (2 if float(F.sum(net.l1(x)).array) > 0 else 1))
    for x, _ in s.batches():
        yield s.update(F.sum(s.net(x)))
    yield from s.state()


def keeps_an_array(use):
    kept = []

    def compute(net, x):
        h = net.l1(x)
        kept.append(h.array)
        return net.l2(h)

    s = use(compute)
    for x, _ in s.batches():
        yield s.update(F.sum(s.net(x)))
        yield kept[-1]
    yield from s.state()


#: Chains that run as they are written, with a part of the reason.
AS_WRITTEN = {
    reads_a_value: "Python needs the value of an array",
    keeps_an_array: "it keeps an array (float32[4, 5])",
}


@pytest.mark.parametrize(
    "program",
    [
        training,
        two_calls_of_an_iteration,
        graphs_are_kept,
        several_results,
        parameters_are_changed,
        both_modes,
        in_a_captured_step,
        *AS_WRITTEN,
    ],
)
def test_program(device, program):
    results, used = [], []
    for is_static in (False, True):

        def use(compute=None):
            used.append(Trainer(device, compute))
            return used[-1]

        with chainer.using_config("use_static_graph", is_static):
            values = [v.array if isinstance(v, chainer.Variable) else v for v in program(use)]
            results.append([chainer.get_device("@numpy").send(v) for v in values])
    for i, (expected, actual) in enumerate(zip(*results, strict=True)):
        # The bias before batch normalization gets gradients that are nothing but roundings.
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=2e-5, err_msg=f"({i})")
    told = chainer.explain(used[-1].net.schedule_manager)
    if program in AS_WRITTEN:
        assert AS_WRITTEN[program] in told
    elif program is not in_a_captured_step:
        assert " records in use" in told
        assert not told.startswith("0")


def test_one_record_serves_all_graphs_of_a_signature(device):
    s = Trainer(device)
    graphs = [s.net(x) for x, _ in s.batches(12)]
    assert chainer.explain(s.net.schedule_manager) == "1 records in use, 0 to be compared"
    assert len({id(y) for y in graphs}) == 12


def test_masks_are_drawn_anew(device):
    s = Trainer(device, lambda net, x: F.dropout(net.l1(x), 0.5))
    for x, _ in s.batches(4):
        s.net(x)
    assert chainer.explain(s.net.schedule_manager).startswith("1 records in use")
    host = chainer.get_device("@numpy")
    masks = {(host.send(s.net(x).array) == 0).tobytes() for _ in range(5)}
    assert len(masks) == 5

"""Static chains that are recorded compute the same as define-by-run."""

import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import static_code, static_graph

STEPS = 10


def batches(n=STEPS, size=4, seed=1, shape=(6,)):
    rng = np.random.RandomState(seed)
    return [
        (rng.rand(size, *shape).astype("f"), rng.randint(0, 3, size).astype("i")) for _ in range(n)
    ]


class Net(chainer.Chain):
    def __init__(self, compute=None):
        super().__init__()
        self.scale = 1.0
        self.compute = compute or Net.usual
        with self.init_scope():
            self.l1 = L.Linear(6, 5)
            self.bn = L.BatchNormalization(5)
            self.l2 = L.Linear(5, 3)

    def usual(self, x):
        h = F.dropout(F.relu(self.bn(self.l1(x))), 0.3)
        return self.l2(h) * self.scale

    @static_graph
    def forward(self, *xs):
        return self.compute(self, *xs)


class Convolutions(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(1, 4, 3)
            self.c2 = L.Convolution2D(4, 4, 3)
            self.l = L.Linear(16, 3)

    @static_graph
    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.c1(x)), 2, 2)
        return self.l(F.max_pooling_2d(F.leaky_relu(self.c2(h)), 2, 2, cover_all=False))


class Trainer:
    def __init__(self, net=None, optimizer=None):
        np.random.seed(0)
        self.net = net or Net()
        self.optimizer = (optimizer or chainer.optimizers.Adam()).setup(self.net)

    def update(self, loss):
        self.net.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def step(self, x, t):
        return self.update(F.softmax_cross_entropy(self.net(x), t))

    def state(self):
        found = [p.array.copy() for _, p in sorted(self.net.namedparams())]
        if hasattr(self.net, "bn"):
            found += [self.net.bn.avg_mean.copy(), self.net.bn.avg_var.copy()]
        return found


def training(use):
    s = use(Trainer())
    for x, t in batches():
        yield s.step(x, t)
    yield from s.state()


def gradients_of_inputs(use):
    s = use(Trainer())
    for x, t in batches():
        v = chainer.Variable(x)
        yield s.step(v, t)
        yield v.grad
    yield from s.state()


def convolutions(use):
    s = use(Trainer(Convolutions(), chainer.optimizers.MomentumSGD(0.1)))
    for x, t in batches(shape=(1, 14, 14)):
        yield s.step(x, t)
    yield from s.state()


def both_modes_and_sizes(use):
    s = use(Trainer())
    data = zip(batches(16), batches(16, size=2, seed=3), strict=True)
    for i, ((x, t), (small, few)) in enumerate(data):
        yield s.step(x, t)
        if i % 3 == 2:
            yield s.step(small, few)
        with chainer.using_config("train", False):
            yield s.net(small)
            with chainer.no_backprop_mode():
                yield s.net(x)
    yield from s.state()


def gradients_in_test_mode(use):
    s = use(Trainer())
    with chainer.using_config("train", False):
        for x, t in batches():
            v = chainer.Variable(x)
            yield s.step(v, t)
            yield v.grad
    yield from s.state()


def two_calls_of_an_iteration(use):
    s = use(Trainer())
    for (x, t), (x2, t2) in zip(batches(), batches(seed=2), strict=True):
        first, second = s.net(x), s.net(x2)
        yield s.update(F.softmax_cross_entropy(second, t2))
        yield s.update(F.softmax_cross_entropy(first, t))
    yield from s.state()


def two_calls_in_one_graph(use):
    s = use(Trainer(optimizer=chainer.optimizers.SGD(0.1)))
    for (x, t), (x2, t2) in zip(batches(), batches(seed=2), strict=True):
        loss = F.softmax_cross_entropy(s.net(x), t) + F.softmax_cross_entropy(s.net(x2), t2)
        yield s.update(loss)
    yield from s.state()


def result_is_the_next_argument(use):
    def compute(net, x):
        return F.tanh(net.l1(x)) @ np.ones((5, 6), "f")

    s = use(Trainer(Net(compute), chainer.optimizers.SGD(0.1)))
    for x, _ in batches():
        yield s.update(F.sum(s.net(s.net(s.net(x))) ** 2))
    yield from s.state()


def losses_are_kept(use):
    """The graph of each iteration lives on for some iterations."""
    s = use(Trainer(optimizer=chainer.optimizers.SGD(0.0)))
    kept = []
    for x, _ in batches(14):
        v = chainer.Variable(x)
        kept.append((v, s.net(v)))
        if len(kept) == 3:
            v, y = kept.pop(0)
            yield s.update(F.sum(y**2))
            yield v.grad
            yield s.update(F.sum(F.sin(y)))  # a second time
            yield v.grad
    yield from s.state()


def parameters_are_replaced(use):
    s = use(Trainer())
    for i, (x, t) in enumerate(batches(18)):
        if i in (4, 8, 9):
            for p in s.net.params():
                p.array = p.array * 0.9
        if i == 12:
            s.net.l1.W.array[...] *= 0.5
        yield s.step(x, t)
    yield from s.state()


def parameters_change_before_backward(use):
    s = use(Trainer())
    for i, (x, t) in enumerate(batches(14)):
        v = chainer.Variable(x)
        y = s.net(v)
        if i == 6:
            s.net.l2.W.array[...] *= 0.5
        if i == 9:
            s.net.l2.W.array = s.net.l2.W.array * 2
        yield s.update(F.softmax_cross_entropy(y, t))
        yield v.grad
    yield from s.state()


def attribute_changes(use):
    s = use(Trainer())
    for i, (x, t) in enumerate(batches(18)):
        s.net.scale = 2.0 if 6 <= i < 12 else 1.0
        yield s.step(x, t)
    yield from s.state()


def link_is_replaced(use):
    s = use(Trainer())
    for i, (x, t) in enumerate(batches(14)):
        if i == 6:
            del s.net.l2
            with s.net.init_scope():
                s.net.l2 = L.Linear(5, 3)
            s.optimizer.setup(s.net)
        yield s.step(x, t)
    yield from s.state()


def parameters_are_frozen(use):
    s = use(Trainer())
    for i, (x, t) in enumerate(batches(14)):
        if i == 5:
            s.net.l1.disable_update()
        yield s.step(x, t)
        yield np.array([p.grad is None for _, p in sorted(s.net.namedparams())])
    yield from s.state()


def several_results(use):
    """Not every result takes part in each loss, so that some parameters get no gradient."""

    def compute(net, x):
        h = F.relu(net.l1(x))
        return h * 2, [net.l2(h), F.argmax(h, axis=1)]

    s = use(Trainer(Net(compute)))
    for i, (x, t) in enumerate(batches(20)):
        h, (y, best) = s.net(x)
        losses = [F.sum(h**2), F.softmax_cross_entropy(y, t), F.sum(h) + F.sum(y)]
        yield s.update(losses[i % 3])
        yield best
        yield np.array([p.grad is None for _, p in sorted(s.net.namedparams())])
    yield from s.state()


def several_arguments(use):
    def compute(net, x, pair):
        return net.l2(F.tanh(net.l1(x) + net.l1(pair[0][0]))) + pair[1]

    s = use(Trainer(Net(compute)))
    for (x, t), (x2, _) in zip(batches(14), batches(14, seed=2), strict=True):
        v, w = chainer.Variable(x2), chainer.Variable(np.array(2 * x2[0, 0]))
        yield s.update(F.softmax_cross_entropy(s.net(x, [[v], w]), t))
        yield v.grad
        yield w.grad
    yield from s.state()


def results_are_changed(use):
    s = use(Trainer())
    kept = []
    for x, t in batches():
        y = s.net(x)
        yield s.update(F.softmax_cross_entropy(y, t))
        y.array[...] += 1
        kept.append(y.array)
    yield from kept
    yield from s.state()


def arguments_are_reused(use):
    """One array is filled anew for each call, in another memory layout at times."""
    s = use(Trainer())
    array = np.empty((4, 6), "f")
    for i, (x, t) in enumerate(batches(14)):
        array[...] = x
        yield s.step(np.asfortranarray(array) if i % 3 == 2 else array, t)
    yield from s.state()


def one_batch(use):
    s = use(Trainer())
    (x, t), *others = batches(6)
    for _ in range(STEPS):
        yield s.step(x, t)
    for x, t in others:
        yield s.step(x, t)
    yield from s.state()


def gradients_are_added_up(use):
    s = use(Trainer())
    for i, (x, t) in enumerate(batches(14)):
        F.softmax_cross_entropy(s.net(x), t).backward()
        if i % 2:
            s.optimizer.update()
            s.net.cleargrads()
    yield from s.state()


def loss_is_scaled(use):
    s = use(Trainer())
    s.optimizer.set_loss_scale(128.0)
    for x, t in batches(14):
        loss = F.softmax_cross_entropy(s.net(x), t)
        s.net.cleargrads()
        loss.backward(loss_scale=128.0)
        s.optimizer.update()
        yield loss
    yield from s.state()


def function_hook_for_some_steps(use):
    s = use(Trainer())
    for i, (x, t) in enumerate(batches()):
        if i == 6:
            with chainer.function_hooks.TimerHook() as hook:
                yield s.net(x)
            yield np.array(sum("Linear" in name for name, _ in hook.call_history))
        yield s.step(x, t)
    yield from s.state()


def copies(use):
    """A copy that shares parameters has running statistics of its own."""
    s = use(Trainer())
    copied = s.net.copy("share")
    for x, t in batches():
        yield s.step(x, t)
        yield copied(x + 1)
    yield from s.state()
    yield copied.bn.avg_mean


def in_a_captured_step(use):
    s = use(Trainer())
    step = chainer.capture(s.step, s.net, s.optimizer, on_failure="error")
    for x, t in batches():
        yield step(x, t)
    yield from s.state()


def reads_a_value(use):
    def compute(net, x):
        h = net.l1(x)
        return net.l2(h if float(h.array.sum()) > 0 else -h)

    s = use(Trainer(Net(compute)))
    for x, t in batches():
        yield s.step(x - 0.5, t)
    yield from s.state()


def own_random_numbers(use):
    rng = np.random.RandomState(3)

    def compute(net, x):
        return net.l2(net.l1(x + noise[0]))

    s = use(Trainer(Net(compute)))
    noise = [None]
    for x, t in batches():
        noise[0] = rng.rand(*x.shape).astype("f")
        yield s.step(x, t)
    yield from s.state()


def counts_in_an_attribute(use):
    def compute(net, x):
        net.calls += 1
        return net.l2(net.l1(x)) * net.calls

    s = use(Trainer(Net(compute)))
    s.net.calls = 0
    for x, t in batches():
        yield s.step(x, t)
    yield from s.state()


def keeps_an_array(use):
    kept = [None]

    def compute(net, x):
        h = net.l1(x)
        kept[0] = h.array
        return net.l2(h)

    s = use(Trainer(Net(compute)))
    for x, t in batches():
        yield s.step(x, t)
        yield kept[0]
    yield from s.state()


def keeps_a_variable(use):
    def compute(net, x):
        net.h = net.l1(x)
        return net.l2(net.h)

    s = use(Trainer(Net(compute)))
    for x, t in batches():
        yield s.step(x, t)
        yield net_h(s)
    yield from s.state()


def net_h(s):
    return s.net.h


def marked_code(use):
    calls = []

    @static_code
    def note():
        calls.append(1)

    def compute(net, x):
        note()
        return net.l2(net.l1(x))

    s = use(Trainer(Net(compute)))
    for x, t in batches():
        yield s.step(x, t)
    yield np.array(len(calls))


def reports(use):
    def compute(net, x):
        y = net.l2(net.l1(x))
        chainer.report({"y": F.sum(y)}, net)
        return y

    s = use(Trainer(Net(compute)))
    reporter = chainer.Reporter()
    reporter.add_observer("net", s.net)
    for x, t in batches():
        with reporter.scope({}):
            yield s.step(x, t)
            yield reporter.observation["net/y"]


def closed_over_parameter(use):
    weight = chainer.Parameter(np.ones(5, "f"))

    def compute(net, x):
        return net.l2(net.l1(x) * weight)

    s = use(Trainer(Net(compute)))
    for x, t in batches():
        weight.cleargrad()
        yield s.step(x, t)
        yield weight.grad
        weight.array -= weight.grad


def unrolled_lstm(use):
    class Words(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.lstm = L.LSTM(2, 5)
                self.l = L.Linear(5, 3)

        @static_graph
        def forward(self, xs):
            self.lstm.reset_state()
            for x in xs:
                h = self.lstm(x)
            self.lstm.reset_state()
            return self.l(h)

    s = use(Trainer(Words()))
    for x, t in batches(14):
        yield s.step([x[:, :2].copy(), x[:, 2:4].copy(), x[:, 4:].copy()], t)
    yield from s.state()


PROGRAMS = [
    value
    for value in list(globals().values())
    if getattr(value, "__code__", None) is not None and value.__code__.co_varnames[:1] == ("use",)
]

#: Chains that run as they are written, with a part of the reason.
AS_WRITTEN = {
    reads_a_value: "the value of an array is read",
    own_random_numbers: "differs from that of the method",
    counts_in_an_attribute: "changes attribute 'calls'",
    keeps_an_array: "it keeps an array",
    keeps_a_variable: "holds a Variable",
    marked_code: "static_code",
    reports: "reports values",
    closed_over_parameter: "neither an argument nor a parameter",
}

#: Gradients are added up in another order.
ROUNDED = (two_calls_in_one_graph, result_is_the_next_argument)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program):
    results, used = [], []
    for is_static in (False, True):

        def use(trainer):
            used.append(trainer)
            return trainer

        np.random.seed(0)
        with chainer.using_config("use_static_graph", is_static):
            values = [v.array if isinstance(v, chainer.Variable) else v for v in program(use)]
            results.append([np.array(v) for v in values])
    for i, (expected, actual) in enumerate(zip(*results, strict=True)):
        if program in ROUNDED:
            np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6, err_msg=f"({i})")
        else:
            np.testing.assert_array_equal(actual, expected, err_msg=f"({i})", strict=True)
    told = chainer.explain(used[-1].net.schedule_manager)
    if program in AS_WRITTEN:
        assert AS_WRITTEN[program] in told
    elif program is not in_a_captured_step:
        assert " records in use" in told and not told.startswith("0"), told


def trained(net, n=5, **options):
    """Returns a chain that is recorded."""
    for x, _ in batches(n):
        F.sum(net(x) ** 2).backward()
    return net


def test_python_code_is_not_run():
    calls = []

    def compute(net, x):
        calls.append(1)
        return net.l2(net.l1(x))

    net = trained(Net(compute))
    before = len(calls)
    for x, _ in batches(5):
        F.sum(net(x)).backward()
    assert len(calls) == before


def test_gradients_of_gradients_of_a_record_are_refused():
    net = trained(Net(lambda net, x: net.l1(x) ** 2))
    x = chainer.Variable(batches()[0][0])
    for other, _ in batches(4):  # records of arguments that are Variables
        F.sum(net(chainer.Variable(other))).backward()
    with pytest.raises(RuntimeError, match="enable_double_backprop=True"):
        chainer.grad([net(x)], [x], enable_double_backprop=True)


@pytest.mark.parametrize("option", [True, False])
def test_gradients_of_gradients(option):
    """A chain whose gradients are differentiated runs as it is written from the first call on."""

    class Cube(chainer.Chain):
        @static_graph(enable_double_backprop=option)
        def forward(self, x):
            return x**3

    chain = Cube()
    for x, _ in batches():
        x = chainer.Variable(x)
        (gx,) = chainer.grad([chain(x)], [x], enable_double_backprop=True)
        (ggx,) = chainer.grad([gx], [x])
        np.testing.assert_allclose(ggx.array, 6 * x.array, rtol=1e-5)
    assert "gradients" in chainer.explain(chain.schedule_manager)


def test_errors_of_the_method():
    net = trained(Net(lambda net, x: net.l2(net.l1(x))))
    with pytest.raises(chainer.utils.type_check.InvalidType):
        net(np.zeros((4, 7), "f"))
    for x, _ in batches(2):
        np.testing.assert_array_equal(net(x).array, net.compute(net, chainer.Variable(x)).array)


def test_cache_is_cleared():
    class Chain(Net):
        @static_graph(minimize_cache_size=True)
        def forward(self, x):
            return self.compute(self, x)

    net = trained(Chain())
    assert chainer.explain(net.schedule_manager).startswith("1 records")
    with chainer.using_config("train", False):
        net(batches()[0][0])
    assert chainer.explain(net.schedule_manager).startswith("0 records")


def test_memory_is_released():
    """Graphs that end let others use their memory: there is one record, and not one for each."""
    net = trained(Net(), 30)
    assert chainer.explain(net.schedule_manager) == "1 records in use, 0 to be compared"


def test_threads():
    net = Net(lambda net, x: net.l2(F.tanh(net.l1(x))))
    failures = []

    def work(seed):
        for x, _ in batches(60, seed=seed):
            x = chainer.Variable(x)
            y = net(x)
            (g,) = chainer.grad([y], [x])
            h = net.l2(F.tanh(net.l1(x)))
            (expected,) = chainer.grad([h], [x])
            if not (np.array_equal(y.array, h.array) and np.array_equal(g.array, expected.array)):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures

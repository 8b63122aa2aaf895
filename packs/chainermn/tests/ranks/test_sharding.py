"""Models whose parameters are spread over processes train like a model in one process."""

import tracemalloc

import chainermn
import numpy as np
import pytest
from chainermn.sharding import (
    FullyShardedOptimizer,
    export_sharded,
    load_sharded,
    save_sharded,
)

import chainer
import chainer.functions as F
from chainer import links as L
from chainer import optimizers, training
from chainer.training import extensions

STEPS = 4


class Block(chainer.Chain):
    """A layer with a parameter of its own and links, called in its forward."""

    def __init__(self, units):
        super().__init__()
        with self.init_scope():
            self.scale = chainer.Parameter(1, (units,))
            self.inner = L.Linear(units, units)

    def forward(self, x):
        return x + self.scale * F.tanh(self.inner(x, n_batch_axes=x.ndim - 1))


class Plain(chainer.Chain):
    """Layers, one of them called twice, one never, one with a list as result."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 6)
            self.block = Block(6)
            self.rnn = L.NStepLSTM(1, 6, 6, 0)
            self.twice = L.Linear(6, 6)
            self.unused = L.Linear(3, 3)
            self.last = L.Linear(6, 3)

    def forward(self, x, t):
        h = self.block(self.embed(x))
        _, _, ys = self.rnn(None, None, list(h))
        h = self.twice(F.relu(self.twice(F.stack(ys)[:, -1])))
        return F.softmax_cross_entropy(self.last(h), t)


class Forgetful(chainer.Chain):
    """Each block is computed again in backward."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 6)
            self.blocks = chainer.ChainList(*(Block(6) for _ in range(3)))
            self.last = L.Linear(6, 3)

    def forward(self, x, t):
        h = F.mean(self.embed(x), axis=1)
        for block in self.blocks:
            h = F.forget(block, h)
        return F.softmax_cross_entropy(self.last(h), t)


class Lazy(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 6)
            self.first = L.Linear(None, 5)
            self.last = L.Linear(None, 3)

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.last(F.relu(self.first(self.embed(x)))), t)


def filled(model, seed=0):
    state = np.random.RandomState(seed)
    for _, param in sorted(model.namedparams()):
        if param.array is not None:
            param.array[...] = state.normal(scale=0.4, size=param.shape)
    return model


def batches(size):
    state = np.random.RandomState(7)
    return [
        (state.randint(0, 7, (size, 4, 3)).astype("i"), state.randint(0, 3, (size, 4)).astype("i"))
        for _ in range(STEPS)
    ]


def alone(make, size, make_optimizer, hook=None):
    """Training of one process on the joint batches."""
    model = filled(make())
    optimizer = make_optimizer().setup(model)
    if hook is not None:
        optimizer.add_hook(hook())
    for x, t in batches(size):
        optimizer.update(model, x.reshape(-1, 3), t.reshape(-1))
    return model


def together(comm, make, make_optimizer, hook=None, steps=STEPS, **options):
    model = filled(make(), comm.rank)  # rank 0 counts
    optimizer = FullyShardedOptimizer(make_optimizer(), comm, **options).setup(model)
    if hook is not None:
        optimizer.add_hook(hook())
    for x, t in batches(comm.size)[:steps]:
        optimizer.update(model, x[comm.rank], t[comm.rank])
    return model, optimizer


def assert_equal(optimizer, model, expected):
    with optimizer.gathered():
        others = dict(expected.namedparams())
        for name, param in model.namedparams():
            np.testing.assert_allclose(
                param.array, others[name].array, rtol=3e-5, atol=3e-6, err_msg=name
            )


def adam():
    return optimizers.Adam(0.05)


@pytest.mark.parametrize("shard", ["gradients", "parameters"])
@pytest.mark.parametrize("make", [Plain, Forgetful])
@pytest.mark.parametrize(
    "make_optimizer", [adam, lambda: optimizers.MomentumSGD(0.1), lambda: optimizers.LAMB(0.05)]
)
def test_equals_one_process(comm, shard, make, make_optimizer):
    model, optimizer = together(comm, make, make_optimizer, shard=shard)
    assert_equal(optimizer, model, alone(make, comm.size, make_optimizer))


class Frozen(Forgetful):
    """Parameters that are not trained, in a layer that is computed again."""

    def __init__(self):
        super().__init__()
        self.blocks[1].scale.requires_grad = False
        self.blocks[2].freeze()


@pytest.mark.parametrize("shard", ["gradients", "parameters"])
def test_frozen_parameters(comm, shard):
    model, optimizer = together(comm, Frozen, adam, shard=shard)
    assert_equal(optimizer, model, alone(Frozen, comm.size, adam))


def test_prefetch(comm):
    model, optimizer = together(comm, Plain, adam, prefetch=True)
    assert_equal(optimizer, model, alone(Plain, comm.size, adam))


@pytest.mark.parametrize("shard", ["gradients", "parameters"])
@pytest.mark.parametrize(
    "hook",
    [
        lambda: chainer.optimizer_hooks.WeightDecay(0.1),
        lambda: chainer.optimizer_hooks.GradientClipping(0.1),
    ],
    ids=["decay", "clipping"],
)
def test_hooks(comm, shard, hook):
    make = lambda: optimizers.MomentumSGD(0.2)
    model, optimizer = together(comm, Plain, make, hook, shard=shard)
    assert_equal(optimizer, model, alone(Plain, comm.size, make, hook))


def test_accumulation(comm):
    make = lambda: optimizers.SGD(0.2)
    model = filled(Plain())
    optimizer = FullyShardedOptimizer(make(), comm, accumulate=2).setup(model)
    for x, t in batches(comm.size)[:2]:
        optimizer.update(model, x[comm.rank], t[comm.rank])
    expected = filled(Plain())
    plain = make().setup(expected)
    x, t = (np.concatenate(each) for each in zip(*batches(comm.size)[:2], strict=True))
    plain.update(expected, x.reshape(-1, 3), t.reshape(-1))
    assert optimizer.t == 1
    assert_equal(optimizer, model, expected)


def test_lazy_model(comm):
    model, optimizer = together(comm, Lazy, adam)
    assert optimizer.t == STEPS
    assert all(np.isfinite(p.array).all() for u in optimizer.units if u.is_own for _, p in u.named)
    with optimizer.gathered():
        weights = comm.allgather_obj([p.array.copy() for p in model.params()])
    for other in weights:
        for a, b in zip(other, weights[0], strict=True):
            np.testing.assert_array_equal(a, b)


def test_evaluation_and_what_is_present(comm):
    model, optimizer = together(comm, Plain, adam)
    x, t = batches(comm.size)[0]
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        loss = float(model(x[0], t[0]).array)
    with optimizer.gathered():
        assert float(model(x[0], t[0]).array) == pytest.approx(loss, rel=1e-5)
    optimizer.update(model, x[0], t[0])
    for unit in optimizer.units:
        for _, param in unit.named:
            assert unit.is_own or np.isnan(param.array).all()
            assert unit.is_own or param.array.strides == (0,) * param.ndim
            assert unit.is_own or not param.update_rule.state
            assert param.grad is None


@pytest.mark.parametrize("nobias", [True, False])
@pytest.mark.parametrize(("name", "states"), [("MomentumSGD", 1), ("Adam", 2)])
def test_memory(comm, name, states, nobias):
    """1/N of parameters, gradients and states, and the layer in use; in the update, too."""
    layers, units = 8, 256

    class Deep(chainer.ChainList):
        def __init__(self):
            super().__init__(*(L.Linear(units, units, nobias=nobias) for _ in range(layers)))

        def forward(self, x):
            for layer in self:
                x = F.tanh(layer(x))
            return F.sum(x * x)

    x = np.ones((1, units), "f")
    layer_bytes = units * (units if nobias else units + 1) * 4
    peaks = []
    tracemalloc.start()
    try:
        model = Deep()
        actual = getattr(optimizers, name)(0.01)
        optimizer = FullyShardedOptimizer(actual, comm, layer_bytes=0).setup(model)
        for _ in range(2):
            optimizer.update(model, x)
        for call in (model, lambda x: optimizer.update(model, x)):
            tracemalloc.reset_peak()
            call(x)
            peaks.append(tracemalloc.get_traced_memory()[1] / layer_bytes)
    finally:
        tracemalloc.stop()
    own = layers / comm.size
    # 0.4: activations, and Python's objects.
    if comm.size > 1:
        assert peaks[0] < (1 + states) * own + 1.4, peaks
        # The gathered layer, its gradient, and the gradient of the layer before, which is sent.
        assert peaks[1] < (2 + states) * own + 3.4, peaks
    live = sum(p.array.nbytes for p in model.params() if 0 not in p.array.strides)
    assert live == own * layer_bytes
    assert all(param.requires_grad for param in model.params())


def test_layers(comm):
    """Links with small children are one layer, but each process gets a part of the model."""

    def names_of(**options):
        optimizer = FullyShardedOptimizer(adam(), comm, **options).setup(filled(Blocks()))
        return optimizer, [[name for name, _ in unit.named] for unit in optimizer.units]

    class Blocks(chainer.ChainList):
        def __init__(self):
            super().__init__(*(L.Classifier(Block(6)) for _ in range(4 * comm.size)))

    optimizer, joined = names_of()
    assert len(joined) == 4 * comm.size
    assert all(name.startswith(f"/{i}/") for i, names in enumerate(joined) for name in names)
    assert {unit.owner for unit in optimizer.units} == set(range(comm.size))
    _, single = names_of(layer_bytes=0)
    assert len(single) > len(joined)
    assert {n for names in single for n in names} == {n for names in joined for n in names}


def test_fewer_layers_than_processes(comm):
    """A process without a layer says nothing; one whose loss depends on nothing complains."""
    make = lambda: L.Classifier(L.Linear(3, 2))
    x, t = np.ones((2, 3), "f"), np.zeros(2, "i")
    optimizer = FullyShardedOptimizer(adam(), comm).setup(make())
    for _ in range(3):
        optimizer.update(optimizer.target, x, t)
    assert optimizer.t == 3

    def update_twice():
        for _ in range(2):
            optimizer.update(lambda: chainer.Variable(np.ones((), "f")))

    with pytest.warns(chainer.MisuseWarning, match="has found no gradient"):
        update_twice()


class PartlyFrozen(chainer.Chain):
    """A frozen link that is needed in backward when the gradients of its layer are complete."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 6)
            self.pair = chainer.ChainList(L.Linear(6, 6), L.Linear(6, 6))
            self.wide = chainer.ChainList(*(L.Linear(6, 6) for _ in range(12)))
            self.last = L.Linear(6, 3)
        self.pair[0].freeze()

    def forward(self, x, t):
        h = F.mean(self.embed(x), axis=1)
        # The trained link comes after the frozen one, and beside it.
        h = self.pair[1](self.pair[0](h)) + self.pair[0](F.tanh(h))
        for layer in self.wide:
            h = F.tanh(layer(h))
        return F.softmax_cross_entropy(self.last(h), t)


def test_partly_frozen_layer(comm):
    model, optimizer = together(comm, PartlyFrozen, adam, layer_bytes=400)
    named = [name for unit in optimizer.units for name, _ in unit.named if "pair" in name]
    assert len(named) == 4
    assert_equal(optimizer, model, alone(PartlyFrozen, comm.size, adam))


def test_trainer(comm, shared_path):
    state = np.random.RandomState(0)
    data = chainer.datasets.TupleDataset(
        state.randint(0, 7, (16, 3)).astype("i"), state.randint(0, 3, 16).astype("i")
    )

    def run(epochs):
        model = filled(Plain(), comm.rank)
        optimizer = adam().setup(model)
        updater = training.StandardUpdater(
            chainer.iterators.SerialIterator(data, 4, shuffle=False), optimizer
        )
        trainer = training.Trainer(updater, (epochs, "epoch"), out=str(shared_path / "trainer"))
        test = chainer.iterators.SerialIterator(data, 4, repeat=False, shuffle=False)
        trainer.extend(extensions.Evaluator(test, model, eval_func=lambda *a: report(model(*a))))
        trainer.extend(extensions.snapshot(autoload=True, n_retains=1), trigger=(1, "epoch"))
        trainer.extend(extensions.LogReport())
        chainermn.distribute(trainer, comm, shard="parameters")
        trainer.run()
        return trainer, model

    def report(loss):
        chainer.report({"loss": loss})

    run(1)
    trainer, model = run(2)
    assert trainer.updater.iteration == 2 * 16 // comm.size // 4
    again = filled(Plain(), 5)
    comm.barrier()  # rank 0 writes
    with np.load(shared_path / "trainer" / f"snapshot_iter_{trainer.updater.iteration}.0") as file:
        for name, param in again.namedparams():
            param.array[...] = file["updater/model:main" + name]
    with trainer.updater.get_optimizer("main").gathered():
        for (name, a), (_, b) in zip(
            sorted(model.namedparams()), sorted(again.namedparams()), strict=True
        ):
            np.testing.assert_array_equal(a.array, b.array, err_msg=name)


@pytest.mark.parametrize("shard", ["gradients", "parameters"])
def test_captured_updates_are_refused(comm, shard):
    optimizer = adam().setup(filled(Plain()))
    iterator = chainer.iterators.SerialIterator(np.zeros((4, 3), "i"), 2)
    updater = training.StandardUpdater(iterator, optimizer, capture=True)
    trainer = training.Trainer(updater, (1, "epoch"))
    with pytest.raises(ValueError, match=r"needs StandardUpdater\(capture=False\)"):
        chainermn.distribute(trainer, comm, shard=shard)


def test_files(comm, shared_path):
    folder = shared_path / f"files{comm.size}"
    model, optimizer = together(comm, Plain, adam, steps=2)
    save_sharded(folder, optimizer)
    save_sharded(folder, optimizer)
    assert len(list(folder.glob("shard-*"))) == comm.size
    # Another number of processes: each alone.
    single = comm.split(comm.rank, 0)
    other = filled(Plain(), 9)
    resumed = FullyShardedOptimizer(adam(), single).setup(other)
    load_sharded(folder, resumed)
    for x, t in batches(comm.size)[2:]:
        optimizer.update(model, x[comm.rank], t[comm.rank])
        resumed.update(other, x.reshape(-1, 3), t.reshape(-1))
    assert resumed.t == optimizer.t == 4
    assert_equal(optimizer, model, other)
    exported = shared_path / f"model{comm.rank}.safetensors"
    export_sharded(folder, exported)
    whole = filled(Plain(), 3)
    chainer.serializers.load_safetensors(exported, whole)
    before = FullyShardedOptimizer(adam(), comm).setup(filled(Plain(), 9))
    load_sharded(folder, before)
    assert_equal(before, before.target, whole)


def test_bad_files(comm, shared_path):
    _, optimizer = together(comm, Plain, adam, steps=1)
    with pytest.raises(FileNotFoundError, match=r"no complete sharded checkpoint"):
        load_sharded(shared_path / "nothing", optimizer)
    save_sharded(shared_path / "plain", optimizer)
    model, other = together(comm, Forgetful, adam, steps=1)

    def values():
        with other.gathered():
            return {name: p.array.copy() for name, p in model.namedparams()}

    before = values()
    with pytest.raises(ValueError, match="has /.* of shape"):
        load_sharded(shared_path / "plain", other)
    for name, array in values().items():
        np.testing.assert_array_equal(array, before[name])


def test_refusals(comm):
    with pytest.raises(ValueError, match="shard must be 'gradients' or 'parameters', got 'all'"):
        FullyShardedOptimizer(adam(), comm, "all")
    with pytest.raises(ValueError, match="layer_bytes must be 0 or positive, got -1"):
        FullyShardedOptimizer(adam(), comm, layer_bytes=-1)
    _, optimizer = together(comm, Plain, adam, steps=1)
    with pytest.raises(TypeError, match="needs a loss function"):
        optimizer.update()
    optimizer.add_hook(lambda opt: None, name="looks")
    with pytest.raises(ValueError, match="'looks' looks at all gradients|looks at all gradients"):
        optimizer.update(optimizer.target, *batches(1)[0])

    class OldCall(chainer.Chain):
        def __init__(self):
            super().__init__(inner=L.Linear(2, 2))
            with self.init_scope():
                self.W = chainer.Parameter(0, (2,))

        def __call__(self, x):
            return F.sum(self.inner(x) * self.W)

    old = FullyShardedOptimizer(adam(), comm).setup(OldCall())
    with pytest.raises(RuntimeError, match="parameter /W is used while no link of the model"):
        old.update(old.target, np.ones((1, 2), "f"))
    gradients = FullyShardedOptimizer(adam(), comm, "gradients").setup(OldCall())
    gradients.update(gradients.target, np.ones((1, 2), "f"))


class Tied(chainer.Chain):
    """Embedding and output share their weights, and one link is never called."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 6)
            self.middle = L.Linear(6, 6)
            self.weights = L.Linear(6, 3)

    def forward(self, x, t):
        h = F.forget(lambda h: F.linear(h, self.weights.W), F.mean(self.embed(x), axis=1))
        h = F.linear(self.middle(F.linear(h, F.transpose(self.weights.W))), self.embed.W)
        return F.softmax_cross_entropy(h, t)


def test_parameters_that_other_links_use(comm):
    model, optimizer = together(comm, Tied, adam)
    assert_equal(optimizer, model, alone(Tied, comm.size, adam))


def test_another_use_after_the_first_step(comm):
    class Changing(chainer.Chain):
        steps = 0

        def __init__(self):
            super().__init__(a=L.Linear(2, 2, nobias=True), b=L.Linear(2, 2))

        def forward(self, x):
            self.steps += 1
            return F.sum(F.linear(self.b(x), self.a.W) if self.steps > 1 else self.a(self.b(x)))

    optimizer = FullyShardedOptimizer(adam(), comm).setup(Changing())
    optimizer.update(optimizer.target, np.ones((1, 2), "f"))
    with pytest.raises(RuntimeError, match="/a/W is used by a link that has not used it in"):
        optimizer.update(optimizer.target, np.ones((1, 2), "f"))

"""Models with unusual parts are sharded, saved and loaded like others."""

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
from chainer import optimizer_hooks, optimizers
from chainer.utils import type_check

UNITS, CLASSES, BATCH, STEPS = 5, 3, 4, 3

# A shared link is updated twice, in one process as well.
pytestmark = pytest.mark.filterwarnings("ignore:.*are one parameter:chainer.MisuseWarning")


class Odd(chainer.Chain):
    """Parameters without axes, of no elements, of one layer used by another, and one not used."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(UNITS, UNITS)
            self.factor = chainer.Parameter(1.5, ())
            self.empty = chainer.Parameter(0, (0, UNITS))
            self.wide = L.Linear(UNITS, 7, nobias=True)
            self.narrow = L.Linear(7, UNITS)
            self.last = L.Linear(UNITS, CLASSES)
            self.unused = L.Linear(2, 2)
        self.again = self.first  # not a child, the same link

    def forward(self, x, t):
        h = F.tanh(self.again(self.first(x)) * F.broadcast_to(self.factor, x.shape))
        h = self.narrow(self.wide(F.concat([h, h + 0 * x], 0)))[: len(x)]
        return F.softmax_cross_entropy(self.last(h) + F.sum(self.empty), t)


class Shared(chainer.Chain):
    """Two children are one link, and two links have one parameter."""

    def __init__(self):
        super().__init__()
        layer = L.Linear(UNITS, UNITS)
        with self.init_scope():
            self.layers = chainer.ChainList(layer, L.Linear(UNITS, UNITS), layer)
            self.other = L.Linear(UNITS, UNITS, nobias=True)
            self.last = L.Linear(UNITS, CLASSES)
        with self.other.init_scope():
            self.other.W = layer.W

    def forward(self, x, t):
        for layer in self.layers:
            x = F.tanh(layer(x))
        return F.softmax_cross_entropy(self.last(self.other(x)), t)


class Normalized(chainer.Chain):
    """Running statistics and a number, which are saved besides the parameters."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(UNITS, UNITS)
            self.norm = L.BatchNormalization(UNITS)
            self.last = L.Linear(UNITS, CLASSES)
        self.add_persistent("calls", 0)

    def forward(self, x, t):
        self.calls += 1
        return F.softmax_cross_entropy(self.last(self.norm(self.first(x))), t)


class Recomputed(chainer.Chain):
    """Dropout in a part that backward computes again."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(UNITS, 8)
            self.second = L.Linear(8, UNITS)
            self.last = L.Linear(UNITS, CLASSES)

    def forward(self, x, t):
        part = lambda x: self.second(F.dropout(F.relu(self.first(x)), 0.5))
        return F.softmax_cross_entropy(self.last(F.forget(part, x) + x), t)


def filled(model, seed):
    state = np.random.RandomState(seed)
    for _, param in sorted(model.namedparams()):
        if param.array is not None:
            param.array[...] = state.normal(scale=0.5, size=param.shape)
    return model


def batches(size, dtype="f"):
    state = np.random.RandomState(3)
    return [
        (
            state.normal(size=(size, BATCH, UNITS)).astype(dtype),
            state.randint(0, CLASSES, (size, BATCH)).astype("i"),
        )
        for _ in range(STEPS)
    ]


def alone(make, size, actual, hooks=(), dtype="f"):
    model = filled(make(), 0)
    optimizer = actual.setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)
    for x, t in batches(size, dtype):
        optimizer.update(model, x.reshape(-1, UNITS), t.reshape(-1))
    return model


def together(comm, make, actual, hooks=(), dtype="f", **options):
    model = filled(make(), comm.rank)
    optimizer = FullyShardedOptimizer(actual, comm, **options).setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)
    for x, t in batches(comm.size, dtype):
        optimizer.update(model, x[comm.rank], t[comm.rank])
    return model, optimizer


def assert_equal(optimizer, expected, rtol=3e-5, atol=3e-6):
    others = dict(expected.namedparams())
    with optimizer.gathered():
        for name, param in optimizer.target.namedparams():
            np.testing.assert_allclose(
                param.array, others[name].array, rtol=rtol, atol=atol, err_msg=name
            )


@pytest.mark.parametrize("layer_bytes", [0, 2**20])
@pytest.mark.parametrize("shard", ["gradients", "parameters"])
@pytest.mark.parametrize("make", [Odd, Shared])
def test_odd_models(comm, make, shard, layer_bytes):
    _, optimizer = together(comm, make, optimizers.Adam(0.05), shard=shard, layer_bytes=layer_bytes)
    assert_equal(optimizer, alone(make, comm.size, optimizers.Adam(0.05)))


@pytest.mark.parametrize(
    "hooks",
    [
        lambda: [optimizer_hooks.GradientClipping(0.05), optimizer_hooks.WeightDecay(0.1)],
        lambda: [optimizer_hooks.WeightDecay(0.1), optimizer_hooks.GradientClipping(0.05)],
        lambda: [optimizer_hooks.Lasso(0.01), optimizer_hooks.GradientHardClipping(-0.1, 0.1)],
        lambda: [optimizer_hooks.GradientLARS()],
    ],
)
def test_several_hooks(comm, hooks):
    make = lambda: optimizers.MomentumSGD(0.1)
    _, optimizer = together(comm, Shared, make(), hooks())
    assert_equal(optimizer, alone(Shared, comm.size, make(), hooks()))


def test_loss_scale_and_a_parameter_that_is_not_updated(comm):
    def made():
        return optimizers.MomentumSGD(0.1)

    def stopped(optimizer):
        optimizer.loss_scaling(scale=8.0)
        optimizer.target.last.W.update_rule.enabled = False
        return optimizer

    expected = filled(Shared(), 0)
    plain = stopped(made().setup(expected))
    model = filled(Shared(), comm.rank)
    optimizer = FullyShardedOptimizer(made(), comm).setup(model)
    stopped(optimizer.actual_optimizer)
    for x, t in batches(comm.size):
        plain.update(expected, x.reshape(-1, UNITS), t.reshape(-1))
        optimizer.update(model, x[comm.rank], t[comm.rank])
    assert_equal(optimizer, expected)


@pytest.mark.parametrize("dtype", ["float16", "mixed16", "float64"])
def test_dtypes(comm, dtype):
    def make():
        with chainer.using_config("dtype", chainer.mixed16 if dtype == "mixed16" else dtype):
            return Normalized() if dtype == "mixed16" else Shared()

    x_dtype = "float16" if dtype == "mixed16" else dtype
    _, optimizer = together(comm, make, optimizers.SGD(0.1), dtype=x_dtype)
    expected = alone(make, comm.size, optimizers.SGD(0.1), dtype=x_dtype)
    if dtype != "mixed16":  # statistics of batches differ
        tolerance = 1e-6 if dtype == "float64" else 1e-2
        assert_equal(optimizer, expected, tolerance, tolerance)
    with optimizer.gathered():
        for name, param in optimizer.target.namedparams():
            assert param.dtype == dict(expected.namedparams())[name].dtype, name
            assert np.isfinite(param.array).all()


def test_dropout_that_is_computed_again(comm):
    """Masks of both passes are equal: the same as without F.forget in one process."""
    states = []
    for shard in ("gradients", "parameters"):
        np.random.seed(10 + comm.rank)
        _, optimizer = together(comm, Recomputed, optimizers.SGD(0.1), shard=shard)
        with optimizer.gathered():
            states.append({n: p.array.copy() for n, p in optimizer.target.namedparams()})
    for name, array in states[0].items():
        np.testing.assert_allclose(array, states[1][name], rtol=1e-5, atol=1e-6)


def test_persistent_values_of_checkpoints(comm, shared_path):
    model, optimizer = together(comm, Normalized, optimizers.Adam(0.05))
    folder = shared_path / f"persistent{comm.size}"
    save_sharded(folder, optimizer)
    first = comm.bcast_obj((model.norm.avg_mean, model.norm.avg_var, model.norm.N, model.calls))
    single = comm.split(comm.rank, 0)
    other = Normalized()
    load_sharded(folder, FullyShardedOptimizer(optimizers.Adam(0.05), single).setup(other))
    exported = shared_path / f"persistent{comm.rank}.safetensors"
    export_sharded(folder, exported)
    whole = Normalized()
    chainer.serializers.load_safetensors(exported, whole)
    for loaded in (other, whole):
        np.testing.assert_array_equal(loaded.norm.avg_mean, first[0])
        np.testing.assert_array_equal(loaded.norm.avg_var, first[1])
        assert (loaded.norm.N, loaded.calls) == first[2:]


def test_numbers_of_processes_in_turn(comm, shared_path):
    """All processes, some of them, one, and all again: the training goes on."""
    expected = filled(Shared(), 0)
    plain = optimizers.Adam(0.05).setup(expected)
    model = filled(Shared(), 0)
    for number, size in enumerate([comm.size, max(1, comm.size - 1), 1, comm.size]):
        part = comm.split(0 if comm.rank < size else 1, comm.rank)
        comm.barrier()
        x, t = batches(12)[0]
        plain.update(expected, x.reshape(-1, UNITS), t.reshape(-1))
        if comm.rank < size:
            model = filled(Shared(), 50 + comm.rank)
            optimizer = FullyShardedOptimizer(optimizers.Adam(0.05), part).setup(model)
            if number:
                load_sharded(shared_path / f"turn{number - 1}", optimizer)
            else:
                with optimizer.gathered():
                    filled(model, 0)
            count = 12 * BATCH // size
            own = slice(comm.rank * count, (comm.rank + 1) * count)
            optimizer.update(model, x.reshape(-1, UNITS)[own], t.reshape(-1)[own])
            save_sharded(shared_path / f"turn{number}", optimizer)
            assert optimizer.t == number + 1
        comm.barrier()
    assert_equal(optimizer, expected)


def test_a_step_that_fails(comm):
    """An error in the loss of all processes leaves the model as it was, and training goes on."""
    model, optimizer = together(comm, Shared, optimizers.Adam(0.05))
    with optimizer.gathered():
        before = {name: param.array.copy() for name, param in model.namedparams()}
    x, t = batches(comm.size)[0]

    def fails(x, t):
        model(x, t)
        raise ZeroDivisionError

    for wrong, error in (
        (fails, ZeroDivisionError),
        (lambda x, t: model(x, t[:1]), type_check.InvalidType),
    ):
        with pytest.raises(error):
            optimizer.update(wrong, x[comm.rank], t[comm.rank])
    with optimizer.gathered():
        for name, param in model.namedparams():
            np.testing.assert_array_equal(param.array, before[name], err_msg=name)
    expected = filled(Shared(), 0)
    plain = optimizers.Adam(0.05).setup(expected)
    for x, t in batches(comm.size):
        plain.update(expected, x.reshape(-1, UNITS), t.reshape(-1))
    for x, t in batches(comm.size)[:2]:
        plain.update(expected, x.reshape(-1, UNITS), t.reshape(-1))
        optimizer.update(model, x[comm.rank], t[comm.rank])
    assert optimizer.t == STEPS + 2
    assert_equal(optimizer, expected)


def test_a_link_that_is_never_called_and_has_no_shape(comm):
    class Lazy(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.used = L.Linear(None, CLASSES)
                self.unused = L.Linear(None, 3)

        def forward(self, x, t):
            return F.softmax_cross_entropy(self.used(x), t)

    model = Lazy()
    optimizer = FullyShardedOptimizer(optimizers.SGD(0.1), comm).setup(model)
    for x, t in batches(comm.size):
        optimizer.update(model, x[comm.rank], t[comm.rank])
    assert optimizer.t == STEPS
    assert model.unused.W.array is None

"""Data parallel training equals training in one process on the joint batch, up to rounding."""

import itertools

import chainermn
import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import links as L
from chainer import optimizers

BATCH = 4
STEPS = 5


class Classifier(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(6, 40)
            self.l2 = L.Linear(40, 3)
            self.unused = L.Linear(2, 2)

    def __call__(self, x, t):
        return F.softmax_cross_entropy(self.l2(F.tanh(self.l1(x))), t)


def make_model(seed=0):
    state = np.random.RandomState(seed)
    model = Classifier()
    for _, param in sorted(model.namedparams()):
        param.array[...] = state.normal(scale=0.3, size=param.shape)
    return model


def batches(size):
    """Joint batches: a row of ``size`` parts for each step."""
    state = np.random.RandomState(7)
    return [
        (
            state.normal(size=(size, BATCH, 6)).astype("f"),
            state.randint(0, 3, (size, BATCH)).astype("i"),
        )
        for _ in range(STEPS + 1)
    ]


def train_alone(size, make_optimizer, hook=None, first=1):
    """Training of one process on the joint batches, without the first."""
    model = make_model()
    optimizer = make_optimizer().setup(model)
    if hook is not None:
        optimizer.add_hook(hook())
    for x, t in batches(size)[first:]:
        optimizer.update(model, x.reshape(-1, 6), t.reshape(-1))
    return model


def train_together(comm, make_optimizer, hook=None, **options):
    model = make_model(comm.rank)  # different parameters: the first update makes them equal
    optimizer = chainermn.create_multi_node_optimizer(make_optimizer(), comm, **options)
    optimizer.setup(model)
    if hook is not None:
        optimizer.add_hook(hook())
    for x, t in batches(comm.size):
        optimizer.update(model, x[comm.rank], t[comm.rank])
    return model, optimizer


def assert_equal_models(model, expected, rtol=2e-5, atol=2e-6):
    others = dict(expected.namedparams())
    for name, param in model.namedparams():
        np.testing.assert_allclose(
            param.array, others[name].array, rtol=rtol, atol=atol, err_msg=name
        )


def assert_same_everywhere(comm, model):
    for _, param in sorted(model.namedparams()):
        for other in comm.allgather(param.array):
            np.testing.assert_array_equal(other, param.array)


OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(0.1),
    "momentum": lambda: optimizers.MomentumSGD(0.1),
    "adam": lambda: optimizers.Adam(0.01),
}
OPTIONS = {
    "plain": {},
    "buckets": {"overlap": True, "bucket_bytes": 300},
    "one bucket": {"overlap": True},
    "sharded": {"shard_states": True},
    "sharded buckets": {"shard_states": True, "overlap": True, "bucket_bytes": 300},
}
HOOKS = {
    "none": None,
    "decay": lambda: chainer.optimizer_hooks.WeightDecay(0.01),
    "clipping": lambda: chainer.optimizer_hooks.GradientClipping(0.1),
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_equals_one_process(comm, optimizer, options):
    model, wrapper = train_together(comm, OPTIMIZERS[optimizer], **OPTIONS[options])
    assert wrapper.t == STEPS  # the first call only broadcasts
    assert_equal_models(model, train_alone(comm.size, OPTIMIZERS[optimizer]))
    assert_same_everywhere(comm, model)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("hook", ["decay", "clipping"])
def test_hooks_see_mean_gradients(comm, hook, options):
    make = OPTIMIZERS["momentum"]
    model, _ = train_together(comm, make, HOOKS[hook], **OPTIONS[options])
    assert_equal_models(model, train_alone(comm.size, make, HOOKS[hook]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits_on_the_wire(comm, dtype):
    narrow = comm.split(0, comm.rank)
    narrow.set_config("allreduce_grad_dtype", dtype)
    model, _ = train_together(narrow, OPTIMIZERS["sgd"])
    assert_same_everywhere(comm, model)
    assert_equal_models(model, train_alone(comm.size, OPTIMIZERS["sgd"]), 0.02, 0.01)
    # It has been rounded, so it differs from the full width.
    exact, _ = train_together(comm, OPTIMIZERS["sgd"])
    assert (model.l1.W.array != exact.l1.W.array).any()


@pytest.mark.parametrize("overlap", [False, True])
def test_accumulation(comm, overlap):
    """Two halves of a batch are as good as the batch."""
    model = make_model(comm.rank)
    optimizer = chainermn.create_multi_node_optimizer(
        optimizers.SGD(0.1), comm, accumulate=2, overlap=overlap, bucket_bytes=300
    ).setup(model)
    optimizer.broadcast_parameters()
    for x, t in batches(comm.size)[1:]:
        x, t = x[comm.rank], t[comm.rank]
        optimizer.update(model, x[: BATCH // 2], t[: BATCH // 2])
        optimizer.update(model, x[BATCH // 2 :], t[BATCH // 2 :])
    assert optimizer.t == STEPS
    assert_equal_models(model, train_alone(comm.size, OPTIMIZERS["sgd"]))


def test_no_sync(comm):
    model = make_model(comm.rank)
    optimizer = chainermn.create_multi_node_optimizer(optimizers.SGD(0.1), comm).setup(model)
    optimizer.broadcast_parameters()
    for x, t in batches(comm.size)[1:]:
        x, t = x[comm.rank], t[comm.rank]
        before = model.l1.W.array.copy()
        with optimizer.no_sync():
            optimizer.update(model, x[: BATCH // 2], t[: BATCH // 2])
        np.testing.assert_array_equal(model.l1.W.array, before)
        optimizer.update(model, x[BATCH // 2 :], t[BATCH // 2 :])
    assert_equal_models(model, train_alone(comm.size, OPTIMIZERS["sgd"]))


def test_sharded_states_are_parts(comm):
    model, optimizer = train_together(comm, OPTIMIZERS["adam"], shard_states=True)
    plain = make_model()
    alone = optimizers.Adam(0.01).setup(plain)
    for x, t in batches(comm.size)[1:]:
        alone.update(plain, x.reshape(-1, 6), t.reshape(-1))
    own = {name for name, p in model.namedparams() if p.update_rule.state is not None}
    owners = comm.allgather_obj(own)
    assert sorted(itertools.chain(*owners)) == sorted(name for name, _ in model.namedparams())
    optimizer.consolidate_states(root=None)
    expected = dict(plain.namedparams())
    for name, param in model.namedparams():
        assert param.update_rule.t == STEPS
        for key, value in param.update_rule.state.items():
            np.testing.assert_allclose(
                value, expected[name].update_rule.state[key], rtol=1e-4, atol=1e-7
            )
    optimizer.drop_other_states()
    assert {n for n, p in model.namedparams() if p.update_rule.state is not None} == own


def test_double_buffering(comm):
    """Gradients are one iteration old, and the last one is never applied."""
    model, optimizer = train_together(comm, OPTIMIZERS["sgd"], double_buffering=True)
    plain = make_model()
    alone = optimizers.SGD(0.1).setup(plain)
    mean = None
    for x, t in batches(comm.size)[1:]:
        plain.cleargrads()
        plain(x.reshape(-1, 6), t.reshape(-1)).backward()
        grads = [None if p.grad is None else p.grad.copy() for p in plain.params()]
        if mean is not None:
            for param, grad in zip(plain.params(), mean, strict=True):
                param.grad = grad
            alone.update()
        mean = grads
    assert optimizer.t == STEPS - 1
    assert_equal_models(model, plain)


def test_first_update_after_a_change_is_a_broadcast(comm):
    model = make_model(comm.rank)
    optimizer = chainermn.create_multi_node_optimizer(optimizers.SGD(0.1), comm).setup(model)
    x, t = batches(comm.size)[0]
    calls = []
    optimizer.add_hook(lambda opt: calls.append(1), name="count")
    optimizer.update(model, x[comm.rank], t[comm.rank])
    assert optimizer.t == 0
    assert calls == []
    assert_equal_models(model, make_model(0), 0, 0)
    optimizer.update(model, x[comm.rank], t[comm.rank])
    assert optimizer.t == 1
    with model.init_scope():
        model.more = L.Linear(2, 2)
    model.more.W.array[...] = comm.rank
    optimizer.setup(model)
    optimizer.update(model, x[comm.rank], t[comm.rank])
    assert (model.more.W.array == 0).all()


def test_attributes_are_those_of_the_actual_optimizer(comm):
    actual = optimizers.MomentumSGD(0.1)
    wrapper = chainermn.create_multi_node_optimizer(actual, comm)
    assert isinstance(wrapper, chainer.Optimizer)
    model = make_model()
    assert wrapper.setup(model) is wrapper
    assert actual.target is model
    wrapper.lr = 0.5
    assert actual.lr == actual.hyperparam.lr == 0.5
    wrapper.new_epoch()
    assert (actual.epoch, wrapper.epoch, wrapper.t) == (1, 1, 0)
    assert wrapper.communicator is comm
    assert wrapper.actual_optimizer is actual
    assert wrapper.zero_fill is True
    assert "lr" in dir(wrapper)
    with pytest.raises(AttributeError, match="nothing"):
        _ = wrapper.nothing


def test_snapshot_is_that_of_the_plain_optimizer(comm, tmp_path):
    model, wrapper = train_together(comm, OPTIMIZERS["momentum"])
    chainer.serializers.save_npz(tmp_path / "optimizer", wrapper)
    plain_model = make_model()
    plain = optimizers.MomentumSGD(0.1).setup(plain_model)
    chainer.serializers.load_npz(tmp_path / "optimizer", plain)
    assert plain.t == STEPS
    np.testing.assert_array_equal(
        plain_model.l1.W.update_rule.state["v"], model.l1.W.update_rule.state["v"]
    )


def test_loss_scale(comm):
    def make():
        optimizer = optimizers.SGD(0.1)
        optimizer.set_loss_scale(64.0)
        return optimizer

    for options in OPTIONS.values():
        model, _ = train_together(comm, make, **options)
        assert_equal_models(model, train_alone(comm.size, OPTIMIZERS["sgd"]))


def test_bad_options(comm):
    make = chainermn.create_multi_node_optimizer
    with pytest.raises(TypeError, match="actual_optimizer must be a"):
        make("SGD", comm)
    with pytest.raises(ValueError, match="accumulate must be at least 1, got 0"):
        make(optimizers.SGD(), comm, accumulate=0)
    with pytest.raises(ValueError, match="double_buffering cannot"):
        make(optimizers.SGD(), comm, True, shard_states=True)
    with pytest.raises(ValueError, match="zero_fill"):
        make(optimizers.SGD(), comm, zero_fill=False, overlap=True)
    with pytest.raises(ValueError, match="bucket_bytes"):
        make(optimizers.SGD(), comm, bucket_bytes=0)


@pytest.mark.parametrize("options", [{}, {"overlap": True}, {"shard_states": True}])
def test_loss_scale_of_other_gradients(comm, options):
    """The scale changes nothing, also where only one process has a gradient."""

    class Branches(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.first = L.Linear(2, 2, initialW=np.eye(2, dtype="f"))
                self.second = L.Linear(2, 2, initialW=np.eye(2, dtype="f"))

        def forward(self, x):
            h = F.forget(self.first, x)
            return F.sum((self.second(h) if comm.rank == 0 else h) ** 2)

    weights = []
    for scale in (None, 8.0):
        model = Branches()
        actual = chainer.optimizers.SGD(0.01)
        optimizer = chainermn.create_multi_node_optimizer(actual, comm, **options).setup(model)
        actual.set_loss_scale(scale)
        for _ in range(3):
            optimizer.update(model, np.ones((1, 2), "f"))
        weights.append([param.array for _, param in sorted(model.namedparams())])
    for plain, scaled in zip(*weights, strict=True):
        np.testing.assert_allclose(scaled, plain, rtol=1e-5)
        np.testing.assert_array_equal(scaled, comm.bcast(scaled))

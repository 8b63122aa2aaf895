"""The strict backend: a plugin that is there by its entry point, and arrays that refuse."""

import copy
import pickle
from importlib import metadata

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.core.registry import registries

strict_backend = pytest.importorskip("chainer_strict_backend")
count_transfers, ndarray = strict_backend.count_transfers, strict_backend.ndarray

DEVICE = "@strict:0"


def send(*values, device=DEVICE):
    return chainer.get_device(device).send(np.array(values, np.float32))


class TestPlugin:
    def test_comes_through_its_entry_point(self):
        (entry,) = (e for e in metadata.entry_points(group="chainer") if e.name == "strict")
        assert entry.value == "chainer_strict_backend.pack"
        assert registries.backends.entry("strict").provenance.distribution == (
            "chainer-strict-backend"
        )


class TestRefusals:
    @pytest.mark.parametrize(
        "call",
        [
            np.asarray,
            np.array,
            np.tanh,
            np.sum,
            lambda x: np.concatenate([x, x]),
            lambda x: np.zeros(2, np.float32) + x,
            lambda x: x + np.zeros(2, np.float32),
            lambda x: x.__iadd__(np.zeros(2, np.float32)),
            lambda x: np.zeros(2, np.float32).__iadd__(x),
            lambda x: x.dot(np.zeros(2, np.float32)),
            lambda x: x[np.array([0])],
            lambda x: x.__setitem__(0, np.zeros(1)),
            lambda x: chainer.get_device(DEVICE).xp.asarray(np.zeros(2)),
            lambda x: chainer.get_device(DEVICE).xp.maximum(x, np.zeros(2)),
            lambda x: chainer.get_device(DEVICE).xp.add(x, 1, out=np.zeros(2, np.float32)),
        ],
    )
    def test_host_arrays(self, call):
        with pytest.raises(TypeError):
            call(send(1, 2))

    def test_other_device(self):
        with pytest.raises(ValueError, match=r"different devices are mixed: \[0, 1\]"):
            send(1) + send(1, device="@strict:1")

    def test_missing_functions(self):
        xp = chainer.get_device(DEVICE).xp
        for name in ("ndindex", "nditer", "vectorize", "no_such_function"):
            assert not hasattr(xp, name)


class TestArithmetic:
    def test_results_stay_on_the_device(self):
        x = send(1, 2, device="@strict:1")
        with chainer.get_device("@strict:1"):
            results = (x + 1, 2 - x, x * x, -x, abs(x), x > 1, x.sum(), np.float32(2) * x)
        for y in (*results, x[0], x.T, x.reshape(2, 1)):
            assert type(y) is ndarray
            assert y.device_index == 1

    @pytest.mark.parametrize(
        "compute",
        [
            lambda x: x + 1,
            lambda x: x.copy(),
            lambda x: x.sum(),
            lambda x: x.fill(0),
            lambda x: x.__iadd__(1),
            lambda x: x.__setitem__(0, 1),
            lambda x: chainer.backend.get_array_module(x).zeros_like(x),
        ],
    )
    def test_computes_on_the_current_device_only(self, compute):
        x = send(1, 2, device="@strict:1")
        with pytest.raises(ValueError, match="on device 1 while device 0 is current"):
            compute(x)

    def test_reductions_are_arrays(self):
        y = send(1, 2).sum()
        assert type(y) is ndarray
        assert y.shape == ()

    def test_views_share_memory_and_tell(self):
        x = send(1, 2)
        y = x[1:]
        assert y.base is x
        y += 1
        assert float(x[1]) == 3
        assert (x + 1).base is None
        assert x[:1][:1].base is x

    def test_out(self):
        xp = chainer.get_device(DEVICE).xp
        x = send(1, 2)
        assert xp.add(x, 1, out=x) is x
        assert x.tolist() == [2, 3]

    def test_add_at(self):
        x = send(0, 0)
        xp = chainer.get_device(DEVICE).xp
        xp.add.at(x, xp.asarray([1, 1]), 1)
        assert x.tolist() == [0, 2]

    def test_copies(self):
        x = send(1, 2, device="@strict:1")
        with chainer.get_device("@strict:1"):
            for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
                assert y.device_index == 1
                assert y.tolist() == [1, 2]
                y[0] = 5
                assert float(x[0]) == 1


class TestTransfers:
    def test_counts(self):
        with count_transfers() as transfers:
            x = send(1, 2)
            chainer.get_device("@numpy").send(x)
            chainer.get_device("@strict:1").send(x)
            float(x[0])
            bool(x[0] > 0)
            x[0].item()
            x + x
        assert transfers.to_device == 1
        assert transfers.to_host == 1
        assert transfers.between_devices == 1
        assert transfers.scalars == 3
        assert transfers.total == 6

    def test_nested(self):
        with count_transfers() as outer:
            send(1)
            with count_transfers() as inner:
                send(1)
        assert (outer.total, inner.total) == (2, 1)


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 5)
            self.l2 = L.Linear(5, 3)

    def forward(self, x):
        return self.l2(chainer.functions.relu(self.l1(x)))

    __call__ = forward


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_training_equals_numpy_and_transfers_nothing(optimizer):
    random = np.random.RandomState(0)
    x, t = random.rand(6, 4).astype(np.float32), random.randint(0, 3, 6).astype(np.int32)
    results = []
    for name in ("@numpy", "@strict:1"):
        device = chainer.get_device(name)
        np.random.seed(1)
        model = MLP()
        model.to_device(device)
        opt = getattr(chainer.optimizers, optimizer)()
        opt.setup(model)
        inputs = device.send((x, t))
        with count_transfers() as transfers:
            for _ in range(3):
                loss = chainer.functions.softmax_cross_entropy(model(inputs[0]), inputs[1])
                model.cleargrads()
                loss.backward()
                opt.update()
        assert transfers.total == 0
        model.to_device("@numpy")
        results.append({key: p.array for key, p in model.namedparams()})
    for key, value in results[0].items():
        np.testing.assert_allclose(results[1][key], value, rtol=1e-6, err_msg=key)

"""Recorded steps against eager ones, over ten steps."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

from chainer_jax.recorder import RecordError

STEPS = 10


def batches():
    random = np.random.RandomState(1)
    size = STEPS + 1
    return list(
        zip(random.rand(size, 8, 6).astype("f"), random.randint(0, 3, (size, 8)), [0] * size)
    )


class Network(chainer.Chain):
    def __init__(self, hidden):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(6, 5)
            self.hidden = hidden
            self.last = L.Linear(5, 3)

    def forward(self, x):
        return self.last(self.hidden(F.tanh(self.first(x))))


class Normalization(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.bn = L.BatchNormalization(5)

    def forward(self, x):
        return F.dropout(self.bn(x))


def train(device, hidden, hooks, recorded):
    """Returns losses, and all parameters and persistent values afterwards."""
    np.random.seed(0)
    backend = device.backend
    model = L.Classifier(Network(hidden()))
    model.to_device(device)
    device.xp.random.seed(3)
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)

    def step(arguments, numbers):
        optimizer.update(model, *arguments)
        model.cleargrads()
        return [model.loss.array]

    data = [tuple(map(device.send, batch[:2])) for batch in batches()]
    losses = [float(step(data[0], ())[0])]  # makes the states of the optimizer
    if recorded:
        program = backend.step_recorder(device).record(step, data[0])
        losses += [float(program(batch)[0]) for batch in data[1:]]
    else:
        losses += [float(step(batch, ())[0]) for batch in data[1:]]
    persistent = chainer.serializers.DictionarySerializer()
    persistent.save(model)
    return losses, persistent.target


@pytest.mark.parametrize(
    ("hidden", "hooks"),
    [
        (lambda: F.relu, []),
        (Normalization, []),  # running statistics and dropout
        (lambda: F.relu, [chainer.optimizer_hooks.GradientClipping(0.05)]),
        (lambda: F.relu, [chainer.optimizer_hooks.WeightDecay(0.1)]),
    ],
    ids=["plain", "statistics and dropout", "clipping", "decay"],
)
def test_training(device, hidden, hooks):
    eager, expected = train(device, hidden, hooks, recorded=False)
    replayed, actual = train(device, hidden, hooks, recorded=True)
    np.testing.assert_allclose(replayed, eager, rtol=1e-5)
    assert len(set(eager)) == len(eager)
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


def test_numbers_are_inputs(device):
    x = device.send(np.ones(3))

    def step(arguments, numbers):
        x[...] *= numbers[0]
        return [x.sum()]

    program = device.backend.step_recorder(device).record(step, [], [1.0])
    assert [float(program([], [factor])[0]) for factor in (2.0, 0.5, 3.0)] == [6, 3, 9]
    assert x.tolist() == [3.0] * 3


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_any_number_of_numbers(device, count):
    # A few enter the program one by one, more of them as an array.
    def step(arguments, numbers):
        assert len(numbers) == count
        assert all([number.shape == () for number in numbers])
        return [sum(numbers, start=arguments[0])]

    x = device.send(np.zeros(1, np.float32))
    program = device.backend.step_recorder(device).record(step, [x], [0.5] * count)
    (y,) = program([x], [10.0**i for i in range(count)])
    assert float(y[0]) == int("0" + "1" * count)
    assert y.dtype == (device.backend.xp.float64 if count else np.float32)


def test_recording_changes_nothing(device):
    x, y = device.send(np.zeros(2)), device.send(np.ones(2))
    recorder = device.backend.step_recorder(device)

    def step(arguments, numbers):
        x[0] += y[1]
        return [x * 2]

    recorder.record(step, [])
    assert (x.tolist(), y.tolist()) == ([0, 0], [1, 1])
    assert [array.node for array in recorder.state] == [x.node]
    assert [array.node for array in recorder.foreign] == [y.node]


def test_free_copies_survive_donation(device):
    x = device.send(np.zeros(1000))
    program = device.backend.step_recorder(device).record(lambda a, n: (x.__iadd__(1), [])[1], [])
    copy, native = x.copy(), x.native
    for _ in range(3):
        program([])
    assert float(copy.sum()) == 0
    assert float(native.sum()) == 0
    assert float(x.sum()) == 3000


def test_what_only_a_box_holds_is_reused(device):
    x = device.send(np.zeros(1000))
    program = device.backend.step_recorder(device).record(lambda a, n: (x.__iadd__(1), [])[1], [])
    program([])
    before = x.native.unsafe_buffer_pointer()
    program([])
    assert x.native.unsafe_buffer_pointer() == before


def test_other_arrays(device):
    x, y = device.send(np.zeros(2)), device.send(np.full(2, 5.0))
    program = device.backend.step_recorder(device).record(lambda a, n: (x.__iadd__(1), [])[1], [])
    program.bind([y], [])
    program([])
    assert (x.tolist(), y.tolist()) == ([0, 0], [6, 6])
    with pytest.raises(ValueError, match=r"state: expected an array of shape \(2,\)"):
        program.bind([device.send(np.zeros(3))], [])


@pytest.mark.parametrize(
    "look",
    [lambda x: float(x.sum()), lambda x: bool(x.sum() > 0), lambda x: x[x > 0], lambda x: str(x)],
    ids=["float", "if", "mask", "str"],
)
@pytest.mark.parametrize("state", [False, True])
def test_values_that_python_needs(device, look, state):
    x = device.send(np.ones(3))

    def step(arguments, numbers):
        look(x if state else arguments[0])
        return []

    # JAX's own errors, and ours, which derive from TypeError as well; IndexError for masks.
    with pytest.raises((TypeError, IndexError)):
        device.backend.step_recorder(device).record(step, [x.copy()])
    assert x.tolist() == [1, 1, 1]
    assert float(x.sum()) == 3  # nothing is left of the recording


def test_host_data_that_changes(device):
    def step(arguments, numbers):
        return [arguments[0] + device.send(np.random.rand(3))]

    with pytest.raises(RecordError, match="sends other data of the host at each run"):
        device.backend.step_recorder(device).record(step, [device.send(np.ones(3))])


def test_arrays_kept_elsewhere_raise(device):
    kept = []

    def step(arguments, numbers):
        kept.append(arguments[0] * 2)
        return []

    device.backend.step_recorder(device).record(step, [device.send(np.ones(3))])
    with pytest.raises(RuntimeError, match="made while a step was recorded"):
        float(kept[0].sum())

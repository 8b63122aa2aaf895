"""The contract of recorders: captured steps compute what the steps compute as written."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import numpy as np
import pytest

from chainer.core.arrays.kernel import explain
from chainer.core.arrays.recorder import Recorder
from chainer.core.registry import registries
from chainer.links.chain import Chain
from chainer.testing.conformance.contract import assert_equal, values
from chainer.training.capturing.capture import CapturedStep, capture

_STEPS = 8


@pytest.fixture
def recording(backend, device):
    """Whether the backend has a recorder. A step runs as written without one."""
    recorder = backend.recorder(device)
    assert recorder is None or isinstance(recorder, Recorder)
    if "recorder" in backend.limitations:
        assert recorder is None, "the backend declares that it has no recorder, and has one"
    return recorder is not None


class _Model(Chain):
    def __init__(self, normalized):
        super().__init__()
        links = registries.links
        rng = np.random.default_rng(0)
        W1, W2 = (rng.uniform(-1, 1, shape).astype("f") for shape in ((4, 3), (2, 4)))
        with self.init_scope():
            self.l1 = links.get("Linear")(3, 4, nobias=normalized, initialW=W1)
            self.bn = links.get("BatchNormalization")(4) if normalized else None
            self.l2 = links.get("Linear")(4, 2, initialW=W2)

    def forward(self, x):
        h = self.l1(x)
        h = h if self.bn is None else self.bn(h)
        return self.l2(registries.functions.get("tanh")(h))


def _train(device, optimizer, normalized, captured):
    """Returns losses and parameters after some steps with other inputs and a changed rate."""
    model = _Model(normalized).to_device(device)
    rule = registries.optimizers.get(optimizer)().setup(model)

    def step(x, t):
        loss = registries.functions.get("softmax_cross_entropy")(model(x), t)
        model.cleargrads()
        loss.backward()
        rule.update()
        return loss

    call = capture(step, model, rule, on_failure="error") if captured else step
    rng = np.random.default_rng(1)
    losses = []
    for i in range(_STEPS):
        if i == 5 and optimizer == "SGD":
            rule.lr = 0.002  # a number that varies
        x, t = rng.uniform(-1, 1, (6, 3)).astype("f"), rng.integers(0, 2, 6).astype("i")
        losses.append(float(call(device.send(x), device.send(t)).array))
    if isinstance(call, CapturedStep):
        assert "in use" in explain(call), explain(call)
    model.to_device("@numpy")
    return losses, {name: param.array for name, param in model.namedparams()}


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "normalized"])
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_captured_training_is_the_training_as_written(device, recording, optimizer, normalized):
    if not recording:
        return  # the backend runs steps as written, which the next test checks
    expected_losses, expected = _train(device, optimizer, normalized, captured=False)
    losses, params = _train(device, optimizer, normalized, captured=True)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-4)
    for name, param in params.items():
        np.testing.assert_allclose(param, expected[name], rtol=1e-3, atol=1e-5, err_msg=name)


@pytest.mark.filterwarnings("ignore")  # without a recorder, capture() warns once
def test_captured_functions_follow_their_arguments(device, recording):
    functions = registries.functions

    def double(x):
        return functions.get("tanh")(x) * 2

    call = capture(double)
    for i in range(5):
        x = values() - i
        y = call(device.send(x))
        assert_equal(y, np.tanh(x) * 2, rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_results_of_captured_calls_are_memory_of_their_own(device, recording):
    call = capture(lambda x: x * 2)
    with device:
        results = [call(device.send(values() + i)) for i in range(5)]
    for i, y in enumerate(results):
        assert_equal(y, (values() + i) * 2)

"""A distribution with optimizers and an operation of its own: treated as Chainer's own ones."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

PACK = """
    from chainer.kernel import Kernel, register_kernel

    def chainer_optimizers(registry):
        registry.register("Drift", "drift:Drift")
        registry.register("Slide", "drift:Slide")

    def chainer_operations(registry):
        registry.register("slide_update", "drift:slide_update")

    def chainer_kernels(registry):
        kernel = Kernel("slide_update", "numpy:ndarray", "quick", "drift:QuickKernel")
        register_kernel(kernel, registry)
"""

OPTIMIZERS = """
    from typing import NamedTuple

    from chainer.backends.numpy.kernels.optimizer_updates import UpdateKernel
    from chainer.backends.operations.optimizer_updates import OptimizerUpdate
    from chainer.optimizer import DeclaredOptimizer, hyperparameter

    class Drift(DeclaredOptimizer):
        "A formula; its learning rate has a name that Chainer does not know."
        pace: float = hyperparameter(default=0.02, varies=True)
        memory: float = hyperparameter(default=0.9)
        states = ("trail",)
        is_elementwise = True

        @staticmethod
        def step(xp, param, grad, state, scalars):
            trail = state["trail"]
            trail *= scalars.memory
            trail += grad
            return param - scalars.pace * trail / (1 - scalars.memory**scalars.t)

    class SlideScalars(NamedTuple):
        pace_now: float
        memory: float

    class SlideUpdate(OptimizerUpdate):
        "``trail = memory * trail + grad; param -= pace_now * trail``."
        name = "slide_update"
        reference = "drift:SlideKernel"
        scalars = SlideScalars
        varying = ("pace_now",)

    class SlideKernel(UpdateKernel):
        def update(self, param, grad, trail, scalars):
            xp = self.xp
            pace, memory = self.constants(param, *scalars)
            for p, g, v, spare in self.blocks(1, param, grad, trail):
                xp.multiply(v, memory, v)
                xp.add(v, g, v)
                xp.multiply(v, pace, spare)
                xp.subtract(p, spare, p)

    class QuickKernel(SlideKernel):
        calls = []

        def update_many(self, rows, scalars):
            self.calls.append(len(rows))
            super().update_many(rows, scalars)

    slide_update = SlideUpdate()

    class Slide(DeclaredOptimizer):
        "An operation, whose numbers differ from the hyperparameters."
        pace: float = hyperparameter(default=0.02, varies=True)
        memory: float = hyperparameter(default=0.9)
        operation = slide_update
        states = ("trail",)

        @classmethod
        def scalars(cls, hyperparam, rule):
            return SlideScalars(hyperparam.pace / rule.t, hyperparam.memory)
"""

PROGRAM = """
    import json, pickle
    import numpy as np
    import chainer
    import chainer.functions as F
    import chainer.links as L

    def train(name, captured, device="@numpy", dtype="f", kernels=()):
        "Returns the parameters after ten updates, what chainer.explain says, and the optimizer."
        np.random.seed(0)
        model = chainer.Sequential(L.Linear(4, 3), F.tanh, L.Linear(3, 2))
        for param in model.params():
            param.array = param.array.astype(dtype)
        model.to_device(device)
        optimizer = getattr(chainer.optimizers, name)()
        optimizer.use_fp32_update()
        optimizer.setup(model)
        def step(x):
            loss = F.mean(model(x) ** 2)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss
        function = chainer.capture(step, optimizer) if captured else step
        send = chainer.get_device(device).send
        random = np.random.RandomState(1)
        with chainer.using_config("kernels", kernels):
            for i in range(10):
                if i == 6:
                    optimizer.pace = 0.01
                function(send(random.rand(5, 4).astype(dtype)))
        host = chainer.get_device("@numpy").send
        told = chainer.explain(function) if captured else ""
        return [host(p.array).tolist() for p in model.params()], told, optimizer
"""


@pytest.fixture
def run(site: Any) -> Any:
    site.add(
        "chainer-drift",
        entry_points={"drift": "drift_pack"},
        modules={"drift_pack": PACK, "drift": OPTIMIZERS, "program": PROGRAM},
    )
    return lambda code: site.value("from program import *\n" + code)


@pytest.mark.parametrize("name", ["Drift", "Slide"])
def test_is_recorded_with_numbers_that_vary(run: Any, name: str) -> None:
    written, captured, told = run(
        f'written, _, _ = train("{name}", False)\n'
        f'captured, told, _ = train("{name}", True)\n'
        "print(json.dumps([written, captured, told]))\n"
    )
    assert captured == written
    # The step is not recorded anew when a hyperparameter changes that varies.
    assert told.count("in use") == 1
    assert "anew" not in told


def test_one_call_of_the_kernel_for_all_parameters(run: Any) -> None:
    plain, quick, calls = run(
        'plain, _, _ = train("Slide", False)\n'
        'quick, _, _ = train("Slide", False, kernels=("quick",))\n'
        "import drift\n"
        "print(json.dumps([plain, quick, drift.QuickKernel.calls]))\n"
    )
    assert quick == plain
    assert calls == [4] * 10


@pytest.mark.parametrize("name", ["Drift", "Slide"])
def test_float32_copies(run: Any, name: str) -> None:
    half, copies, states = run(
        f'half, _, optimizer = train("{name}", False, dtype="e")\n'
        "rules = [p.update_rule for p in optimizer.target.params()]\n"
        "copies = [r._fp32_param.array.astype('e').tolist() for r in rules]\n"
        "states = sorted({str(v.dtype) for r in rules for v in r.state.values()})\n"
        "print(json.dumps([half, copies, states]))\n"
    )
    assert copies == half
    assert states == ["float32"]


def test_files_pickles_and_messages(run: Any) -> None:
    same, changed, message = run(
        'parameters, _, optimizer = train("Drift", False)\n'
        "other = pickle.loads(pickle.dumps(optimizer))\n"
        "same = [p.array.tolist() for p in other.target.params()] == parameters\n"
        "for each in (optimizer, other):\n"
        "    for p in each.target.params():\n"
        "        p.grad = np.ones_like(p.array)\n"
        "    each.update()\n"
        "pairs = zip(optimizer.target.params(), other.target.params())\n"
        "changed = [np.array_equal(a.array, b.array) for a, b in pairs]\n"
        "try:\n"
        "    chainer.optimizers.Drift(speed=1)\n"
        "except TypeError as error:\n"
        "    message = str(error)\n"
        "print(json.dumps([same, changed, message]))\n"
    )
    assert same
    assert all(changed)
    assert "unexpected keyword argument 'speed'" in message
    assert "pace, memory" in message


@pytest.mark.skipif(
    importlib.util.find_spec("chainer_jax") is None, reason="chainer-jax is not installed"
)
@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("name", ["Drift", "Slide"])
def test_compiled_by_jax(run: Any, name: str, captured: bool) -> None:
    difference = run(
        f'written, _, _ = train("{name}", False)\n'
        f'compiled, _, _ = train("{name}", {captured}, "@jax:0")\n'
        "pairs = zip(written, compiled)\n"
        "print(json.dumps(max([float(abs(np.subtract(a, b)).max()) for a, b in pairs])))\n"
    )
    assert difference < 1e-5

"""Programs as users write them compute the same captured as written, in every bit."""

from __future__ import annotations

import asyncio
import copy
import warnings
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer_hooks, optimizers, serializers
from chainer.training.capturing.capture import CapturedStep

STEPS = 12


def batches(n=STEPS, size=4, seed=1):
    rng = np.random.RandomState(seed)
    return [(rng.rand(size, 6).astype("f"), rng.randint(0, 3, size).astype("i")) for _ in range(n)]


class Net(chainer.Chain):
    def __init__(self, out=3):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(6, 5)
            self.bn = L.BatchNormalization(5)
            self.l2 = L.Linear(5, out)

    def forward(self, x):
        return self.l2(F.dropout(F.relu(self.bn(self.l1(x))), 0.3))


class Program:
    """What a program needs: a model, an optimizer, and how to capture."""

    def __init__(self, capture, optimizer=None, model=None):
        np.random.seed(0)
        self.capture = capture
        self.model = L.Classifier((model or Net)())
        self.optimizer = (optimizers.Adam() if optimizer is None else optimizer).setup(self.model)

    def train(self, loss):
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def step(self, x, t):
        return self.train(self.model(x, t))

    def run(self, step=None, n=STEPS, change=lambda i: None):
        """Yields what captured steps on n batches return, and the state; changes come before."""
        captured = self.captured(step)
        for i, (x, t) in enumerate(batches(n)):
            change(i)
            yield captured(x, t)
        yield state(self.optimizer)

    def captured(self, step=None, **options):
        return self.capture(step or self.step, self.model, self.optimizer, **options)


def state(*targets):
    """Arrays and numbers of links and optimizers."""
    found = []
    for target in targets:
        for link in (target.target if isinstance(target, chainer.Optimizer) else target).links():
            found += [(n, np.copy(getattr(link, n))) for n in sorted(link._persistent)]
        root = target.target if isinstance(target, chainer.Optimizer) else target
        for name, param in sorted(root.namedparams()):
            found.append((name, param.array.copy()))
            if param.update_rule is not None:
                found.append((name + " t", np.array(param.update_rule.t)))
                for key, value in sorted((param.update_rule.state or {}).items()):
                    found.append((f"{name} {key}", np.copy(value)))
        if isinstance(target, chainer.Optimizer):
            found.append(("t", np.array(target.t)))
    return found


def own_dropout(capture):
    """Dropout with a mask that the program draws and gives as an argument."""
    p = Program(capture)
    rng = np.random.RandomState(5)

    def step(x, t, mask):
        return p.train(F.softmax_cross_entropy(p.model.predictor(x * mask), t))

    step = p.captured(step)
    for x, t in batches():
        yield step(x, t, (rng.rand(*x.shape) > 0.3).astype("f") / 0.7)
    yield state(p.optimizer)


def own_random_in_the_step(capture):
    p = Program(capture)
    rng = np.random.RandomState(5)

    def step(x, t):
        return p.step(x + rng.normal(0, 0.1, x.shape).astype("f"), t)

    yield from p.run(step)


def last_batch_is_smaller(capture):
    p = Program(capture)
    step = p.captured()
    for _ in range(4):
        for x, t in [*batches(3), *batches(1, size=2)]:
            yield step(x, t)
    yield state(p.optimizer)


def learning_rate_per_iteration(capture):
    p = Program(capture, optimizers.MomentumSGD(0.1))
    step = p.captured()
    for i, (x, t) in enumerate(batches()):
        p.optimizer.lr = 0.1 / (1 + i)
        yield step(x, t)
        if i == 7:
            p.optimizer.momentum = 0.5
    yield state(p.optimizer)


def gradient_hook_in_the_middle(capture):
    p = Program(capture, optimizers.SGD(0.1))

    def change(i):
        if i == 5:
            p.optimizer.add_hook(optimizer_hooks.GradientHardClipping(-0.01, 0.01))
        if i == 10:
            p.optimizer.remove_hook("GradientHardClipping")

    yield from p.run(n=15, change=change)


def hook_of_the_user(capture):
    """A function that is a hook, and changes gradients in place."""
    p = Program(capture)

    def halve(optimizer):
        for param in optimizer.target.params():
            param.grad[...] *= 0.5

    p.optimizer.add_hook(halve)
    yield from p.run()


def branch_by_iteration(capture):
    p = Program(capture)
    p.model.predictor.iteration = 0

    def step(x, t):
        p.model.predictor.iteration += 1
        y = p.model.predictor(x)
        return p.train(F.softmax_cross_entropy(y if p.model.predictor.iteration < 6 else y * 2, t))

    yield from p.run(step)


def branch_by_attribute(capture):
    """The program sets an attribute of a link between steps."""
    p = Program(capture)

    def step(x, t):
        y = p.model.predictor(x)
        return p.train(F.softmax_cross_entropy(y * 2 if p.model.predictor.sharp else y, t))

    def change(i):
        p.model.predictor.sharp = i % 4 == 3

    yield from p.run(step, change=change)


def branch_by_optimizer(capture):
    """The step reads the number of updates."""
    p = Program(capture)

    def step(x, t):
        y = p.model.predictor(x)
        return p.train(F.softmax_cross_entropy(y * 2 if p.optimizer.t > 6 else y, t))

    step = p.captured(step, audit=1)
    for x, t in batches():
        yield step(x, t)
    yield state(p.optimizer)


def weight_decay_and_clipping(capture):
    p = Program(capture, optimizers.MomentumSGD(0.1))
    p.optimizer.add_hook(optimizer_hooks.WeightDecay(0.01))
    p.optimizer.add_hook(optimizer_hooks.GradientClipping(0.5))
    p.optimizer.add_hook(optimizer_hooks.Lasso(0.001))

    def change(i):
        if i == 7:
            next(iter(p.optimizer._hooks.pre.values())).rate = 0.1

    yield from p.run(change=change)


def weight_decay_of_some(capture):
    p = Program(capture)
    for name, param in p.model.namedparams():
        if name.endswith("W"):
            param.update_rule.add_hook(optimizer_hooks.WeightDecay(0.01))
    yield from p.run()


def loss_scaling(capture):
    p = Program(capture)

    def step(x, t):
        loss = p.model(x, t)
        p.model.cleargrads()
        loss.backward(loss_scale=128.0)
        p.optimizer.update()
        return loss

    p.optimizer.set_loss_scale(128.0)
    yield from p.run(step)


def dynamic_loss_scaling(capture):
    p = Program(capture)
    p.optimizer.loss_scaling(interval=2)

    def step(x, t):
        p.optimizer.update(p.model, x, t)
        return p.model.loss

    yield from p.run(step)


def mixed_precision(capture):
    with chainer.using_config("dtype", chainer.mixed16):
        p = Program(capture)
        p.optimizer.use_fp32_update()
        step = p.captured()
        for x, t in batches():
            yield step(x.astype("e"), t)
        yield state(p.optimizer)


def finetuning(capture):
    p = Program(capture)

    def step(x, t):
        return p.train(
            F.softmax_cross_entropy(
                p.model.predictor.l2(
                    F.relu(p.model.predictor.bn(p.model.predictor.l1(x), finetune=True))
                ),
                t,
            )
        )

    p.model.predictor.bn.start_finetuning()
    yield from p.run(step)


def link_is_added(capture):
    p = Program(capture, model=lambda: chainer.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3)))

    def change(i):
        if i == 6:
            p.model.predictor.append(L.Linear(3, 3))
            p.optimizer.setup(p.model)

    yield from p.run(n=14, change=change)


def link_is_replaced(capture):
    p = Program(capture)

    def change(i):
        if i == 6:
            del p.model.predictor.l2
            with p.model.predictor.init_scope():
                p.model.predictor.l2 = L.Linear(5, 3)
            p.optimizer.setup(p.model)

    yield from p.run(n=14, change=change)


def function_of_a_sequence_is_replaced(capture):
    """A plain function has no parameters: the number of attributes stays."""
    p = Program(capture, model=lambda: chainer.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3)))

    def change(i):
        if i == 6:
            p.model.predictor[1] = F.relu

    yield from p.run(n=14, change=change)


def loss_function_is_replaced(capture):
    p = Program(capture)
    step = p.captured()
    for i, (x, t) in enumerate(batches(14)):
        if i == 6:
            p.model.lossfun = lambda y, t: F.softmax_cross_entropy(y * 3, t)
        yield step(x, t)
    yield state(p.optimizer)


def configuration_in_the_step(capture):
    p = Program(capture)

    def step(x, t):
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            before = F.softmax_cross_entropy(p.model.predictor(x), t)
        return before, p.step(x, t)

    yield from p.run(step)


def parameters_changed_in_place(capture):
    p = Program(capture)
    step = p.captured()
    for i, (x, t) in enumerate(batches()):
        yield step(x, t)
        if i % 3 == 2:
            p.model.predictor.l1.W.array[...] *= 0.9
            p.model.predictor.l2.W.data[:, 0] = 0
            p.model.predictor.bn.avg_mean[...] = 0.1
    yield state(p.optimizer)


def optimizer_state_changed(capture):
    p = Program(capture)
    step = p.captured()
    for i, (x, t) in enumerate(batches(14)):
        yield step(x, t)
        rule = p.model.predictor.l1.W.update_rule
        if i == 5:
            rule.state["m"][...] = 0
        if i == 9:
            rule.state["v"] = np.ones_like(rule.state["v"])
        if i == 11:
            rule.t = 1
    yield state(p.optimizer)


def averaged_parameters(capture):
    p = Program(capture)
    average = [param.array.copy() for param in p.model.params()]
    step = p.captured()
    for x, t in batches():
        yield step(x, t)
        for a, param in zip(average, p.model.params(), strict=True):
            a += 0.1 * (param.array - a)
    yield [("average", a) for a in average]
    yield state(p.optimizer)


def swapped_for_evaluation(capture):
    """Averages take the place of parameters while the model is evaluated."""
    p = Program(capture)
    average = [param.array.copy() for param in p.model.params()]
    step = p.captured()
    for x, t in batches(14):
        yield step(x, t)
        kept = [param.array for param in p.model.params()]
        for a, param in zip(average, p.model.params(), strict=True):
            a += 0.1 * (param.array - a)
            param.array = a
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            yield p.model.predictor(x)
        for array, param in zip(kept, p.model.params(), strict=True):
            param.array = array
    yield state(p.optimizer)


def evaluation_between(capture):
    p = Program(capture)
    step = p.captured()
    predict = capture(p.model.predictor, p.model)
    for x, t in batches():
        yield step(x, t)
        with chainer.using_config("train", False), chainer.using_config("enable_backprop", False):
            yield predict(x)
            yield p.model(x, t)
    yield state(p.optimizer)


def saving_and_loading(capture):
    p = Program(capture)
    step = p.captured()
    saved = None
    for i, (x, t) in enumerate(batches(16)):
        yield step(x, t)
        if i == 6:
            saved = {}
            serializers.DictionarySerializer(saved).save(p.optimizer)
            saved_model = {}
            serializers.DictionarySerializer(saved_model).save(p.model)
            saved, saved_model = copy.deepcopy(saved), copy.deepcopy(saved_model)
        if i == 10:
            serializers.NpzDeserializer(saved).load(p.optimizer)
            serializers.NpzDeserializer(saved_model).load(p.model)
    yield state(p.optimizer)


def shared_links(capture):
    """Two models share a link; each has an optimizer, and a step of its own."""
    np.random.seed(0)
    shared = L.Linear(6, 5)
    models = [chainer.Sequential(shared, F.relu, L.Linear(5, 3)) for _ in range(2)]
    opts = [optimizers.Adam().setup(m) for m in models]
    steps = []
    for model, optimizer in zip(models, opts, strict=True):

        def step(x, t, model=model, optimizer=optimizer):
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        inner = capture(lambda x, t, step=step: step(x, t), model, optimizer)
        steps.append(inner)
    for x, t in batches():
        yield steps[0](x, t)
        yield steps[1](x, t)
    yield state(*opts)


def adversaries(capture):
    """Two optimizers in one step."""
    np.random.seed(0)
    generator = chainer.Sequential(L.Linear(6, 5), F.relu, L.Linear(5, 6))
    critic = chainer.Sequential(L.Linear(6, 5), F.leaky_relu, L.Linear(5, 1))
    first = optimizers.Adam(1e-3, beta1=0.5).setup(generator)
    second = optimizers.Adam(1e-3, beta1=0.5).setup(critic)

    def step(x, z):
        fake = generator(z)
        y_fake, y_real = critic(fake), critic(x)
        loss_critic = F.sum(F.softplus(-y_real)) + F.sum(F.softplus(y_fake))
        loss_generator = F.sum(F.softplus(-y_fake))
        generator.cleargrads()
        loss_generator.backward()
        first.update()
        fake.unchain_backward()
        critic.cleargrads()
        loss_critic.backward()
        second.update()
        return loss_generator, loss_critic

    step = capture(step, first, second)
    rng = np.random.RandomState(2)
    for x, _ in batches():
        yield step(x, rng.rand(4, 6).astype("f"))
    yield state(first, second)


def gradient_penalty(capture):
    """A gradient of a gradient within the step."""
    p = Program(capture)

    def step(x, t):
        v = chainer.Variable(x)
        y = F.sum(F.tanh(p.model.predictor.l1(v)) ** 2)
        (g,) = chainer.grad([y], [v], enable_double_backprop=True)
        return p.train(F.sum((F.sqrt(F.sum(g * g, axis=1)) - 1) ** 2) + p.model(x, t))

    yield from p.run(step)


def gradients_of_two_batches(capture):
    """Gradients of several batches are added up before an update, in one step."""
    p = Program(capture)

    def step(*batch):
        p.model.cleargrads()
        total = 0
        for x, t in zip(batch[::2], batch[1::2], strict=True):
            loss = p.model(x, t)
            loss.backward()
            total = total + loss.array
        p.optimizer.update()
        return total

    step = p.captured(step)
    data = batches(24)
    for i in range(12):
        yield step(*data[2 * i], *data[2 * i + 1])
    yield state(p.optimizer)


def gradients_over_calls(capture):
    """Two functions: one adds gradients up, the other updates."""
    p = Program(capture)

    def add(x, t):
        loss = p.model(x, t)
        loss.backward()
        return loss

    add = p.captured(add)
    p.model.cleargrads()
    for i, (x, t) in enumerate(batches(16)):
        yield add(x, t)
        if i % 2:
            p.optimizer.update()
            p.model.cleargrads()
    yield state(p.optimizer)


def gradients_are_read(capture):
    p = Program(capture)
    step = p.captured(keep_grads=True)
    for x, t in batches():
        yield step(x, t)
        yield [(n, g.grad.copy()) for n, g in sorted(p.model.namedparams())]
    yield state(p.optimizer)


def frozen_and_thawed(capture):
    p = Program(capture)

    def change(i):
        if i == 5:
            p.model.predictor.l1.disable_update()
        if i == 10:
            p.model.predictor.l1.enable_update()

    yield from p.run(n=16, change=change)


def update_every_other_call(capture):
    """Python decides by an argument."""
    p = Program(capture)

    def step(x, t, update):
        loss = p.model(x, t)
        p.model.cleargrads()
        loss.backward()
        if update:
            p.optimizer.update()
        return loss

    step = p.captured(step)
    for i, (x, t) in enumerate(batches()):
        yield step(x, t, i % 2 == 0)
    yield state(p.optimizer)


def result_is_kept_and_changed(capture):
    p = Program(capture)

    def step(x, t):
        loss = p.step(x, t)
        return {"loss": loss, "y": p.model.y, "again": (p.model.y, [loss.array])}

    step = p.captured(step)
    results = []
    for x, t in batches():
        results.append(step(x, t))
        results[-1]["y"].array[...] += 1
    for r in results:
        yield r["loss"]
        yield r["y"]
        yield r["again"][1][0]
    yield state(p.optimizer)


def argument_is_reused(capture):
    """One array is filled anew for each call, of another memory layout at times."""
    p = Program(capture)
    step = p.captured()
    x0, t0 = np.empty((4, 6), "f"), np.empty(4, "i")
    for i, (x, t) in enumerate(batches()):
        x0[...], t0[...] = x, t
        yield step(np.asfortranarray(x0) if i % 3 == 2 else x0, t0)
    yield state(p.optimizer)


def moved_to_another_dtype(capture):
    p = Program(capture, model=lambda: L.Linear(6, 3))
    step = p.captured()
    for i, (x, t) in enumerate(batches()):
        if i == 6:
            np.random.seed(4)
            for param in p.model.params():
                param.array = param.array.astype("d")
                param.update_rule.state.clear()
                param.update_rule.init_state(param)
        yield step(x.astype("d") if i >= 6 else x, t)
    yield state(p.optimizer)


def update_outside_of_the_step(capture):
    """Forward and backward are captured; gradients are there for an update as written."""
    p = Program(capture)

    def differentiate(x, t):
        loss = p.model(x, t)
        p.model.cleargrads()
        loss.backward()
        return loss

    step = p.captured(differentiate)
    for x, t in batches():
        yield step(x, t)
        p.optimizer.update()
    yield state(p.optimizer)


def gradients_without_an_optimizer(capture):
    model = Program(capture).model

    def differentiate(x, t):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        return loss

    step = capture(differentiate, model)
    for x, t in batches():
        yield step(x, t)
        for param in model.params():
            param.array -= 0.1 * param.grad
    yield state(model)


def parameter_is_another_object(capture):
    p = Program(capture)

    def change(i):
        if i == 6:
            with p.model.predictor.init_scope():
                p.model.predictor.l2.W = chainer.Parameter(np.ones((3, 5), "f"))
            p.optimizer.setup(p.model)

    yield from p.run(n=14, change=change)


def link_hook_of_one_link(capture):
    """A hook that counts has to see each call while it is there."""
    p = Program(capture)
    seen = []

    class Hook(chainer.LinkHook):
        name = "counting"

        def forward_postprocess(self, args):
            seen.append(1)

    step = p.captured()
    for i, (x, t) in enumerate(batches(16)):
        if i == 6:
            p.model.predictor.l1.add_hook(Hook())
        if i == 11:
            p.model.predictor.l1.delete_hook("counting")
        yield step(x, t)
    yield [("calls", np.array(len(seen)))]
    yield state(p.optimizer)


def spectral_normalization(capture):
    def make():
        link = Net()
        link.l1.add_hook(chainer.link_hooks.SpectralNormalization())
        return link

    p = Program(capture, model=make)
    yield from p.run()


def list_of_an_attribute_is_changed(capture):
    p = Program(capture)
    p.model.predictor.scales = [1.0, 2.0]

    def step(x, t):
        return p.step(x * np.float32(p.model.predictor.scales[1]), t)

    def change(i):
        if i == 6:
            p.model.predictor.scales[1] = 3.0

    yield from p.run(step, change=change)


def results_are_kept_in_an_attribute(capture):
    """A list that the program itself fills, beside the step."""
    p = Program(capture)
    p.model.history = []
    step = p.captured()
    for x, t in batches(16):
        p.model.history.append(step(x, t))
    yield p.model.history
    yield state(p.optimizer)


def function_hook_for_some_steps(capture):
    p = Program(capture)
    step = p.captured()
    for i, (x, t) in enumerate(batches()):
        if i == 6:
            with chainer.function_hooks.TimerHook() as hook:
                yield step(x, t)
            yield [("calls", np.array(len(hook.call_history)))]
        else:
            yield step(x, t)
    yield state(p.optimizer)


def stateful_lstm(capture):
    """The state is reset now and then, and the batch shrinks."""

    class Words(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.lstm, self.out = L.LSTM(6, 5), L.Linear(5, 3)

        def forward(self, x):
            return self.out(self.lstm(x))

    p = Program(capture, model=Words)

    def step(x, t):
        loss = p.model(x, t)
        p.model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        p.optimizer.update()
        return loss

    step = p.captured(step)
    for i, (x, t) in enumerate(batches(20)):
        if i % 5 == 0:
            p.model.predictor.lstm.reset_state()
        if i == 12:
            p.model.predictor.lstm.h.array[...] = 0
        yield step(x[:3] if i >= 15 else x, t[:3] if i >= 15 else t)
    yield state(p.optimizer)


def numpy_in_the_step(capture):
    """Plain NumPy on arrays of the step: sums, indexes, in-place changes of new arrays."""
    p = Program(capture)

    def step(x, t):
        weights = np.ones((3,), np.float32)
        weights[1] = 2
        noise = np.zeros_like(x)
        noise[:, 0] += 1
        x = np.concatenate([x[:, :3], (x + noise)[:, 3:]], axis=1) - x.mean(axis=0)
        x = np.where(x > 0.5, x, np.float32(0))
        return p.train(F.softmax_cross_entropy(p.model.predictor(x), t, class_weight=weights))

    yield from p.run(step)


def sorted_batch(capture):
    """The order of the batch depends on values."""
    p = Program(capture)

    def step(x, t):
        order = np.argsort(x[:, 0])
        return p.step(x[order], t[order])

    yield from p.run(step)


def branch_by_value(capture):
    p = Program(capture)

    def step(x, t):
        loss = p.model(x, t)
        return p.train(loss * 2 if float(loss.array) > 1.1 else loss)

    yield from p.run(step)


def argument_is_changed(capture):
    p = Program(capture)

    def step(x, t):
        x *= 2
        return p.step(x, t)

    yield from p.run(step)


def arrays_are_kept_in_a_list(capture):
    """The step itself fills a list: each call adds one array."""
    p, kept = Program(capture), []

    def step(x, t):
        loss = p.step(x, t)
        kept.append(loss.array)
        return loss

    yield from p.run(step)
    yield [("kept", loss) for loss in kept]


def state_of_an_object_that_is_no_target(capture):
    p, states = Program(capture), {"h": np.zeros((4, 3), "f")}

    def step(x, t):
        y = p.model.predictor(x) + states["h"]
        states["h"] = F.tanh(y).array
        return p.train(F.softmax_cross_entropy(y, t))

    yield from p.run(step)
    yield [("state", states["h"])]


def debug_mode_for_some_steps(capture):
    p = Program(capture)
    yield from p.run(n=15, change=lambda i: chainer.set_debug(5 <= i < 10))


def reports_that_keep_graphs(capture):
    p = Program(capture)
    reporter = chainer.Reporter()
    reporter.add_observer("main", p.model)
    step = p.captured()
    with chainer.using_config("keep_graph_on_report", True):
        for x, t in batches():
            observation = {}
            with reporter.scope(observation):
                loss = step(x, t)
            yield [loss, *[observation[k] for k in ("main/loss", "main/accuracy")]]
    if isinstance(step, CapturedStep):
        # As written there would be a graph: that there is none must not go unnoticed.
        with pytest.raises(RuntimeError, match="a result of a captured step has no graph"):
            observation["main/loss"].backward()
    yield state(p.optimizer)


PROGRAMS = [
    value
    for value in list(globals().values())
    if getattr(value, "__code__", None) is not None
    and value.__code__.co_varnames[:1] == ("capture",)
]

#: Programs whose steps cannot be recorded: they run as written, and a warning says why.
AS_WRITTEN = {
    branch_by_value: "the value of an array is read",
    argument_is_changed: "an argument is changed in place",
    arrays_are_kept_in_a_list: "it keeps an array (float32[])",
    state_of_an_object_that_is_no_target: "it keeps an array (float32[4, 3])",
    own_random_in_the_step: "enters the step",
    branch_by_iteration: "changes attribute 'iteration'",
    branch_by_optimizer: "differs from that of the step as written",
    dynamic_loss_scaling: "the value of an array is read",
    mixed_precision: "changed in place",
    finetuning: "changes attribute 'N'",
    gradients_over_calls: "gradients are added to those of the call before",
    results_are_kept_in_an_attribute: "attribute 'history'",
    numpy_in_the_step: "made in the step without chainer",
}


def values(run):
    for found in run:
        for value in found if isinstance(found, (list, tuple)) else [found]:
            name, array = value if isinstance(value, tuple) else ("result", value)
            yield name, np.asarray(array.array if isinstance(array, chainer.Variable) else array)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program):
    steps = []

    def capture(function, *targets, **options):
        steps.append(chainer.capture(function, *targets, **options))
        return steps[-1]

    written = list(values(program(lambda function, *targets, **options: function)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        captured = list(values(program(capture)))
    for i, ((name, a), (_, b)) in enumerate(zip(written, captured, strict=True)):
        np.testing.assert_array_equal(a, b, err_msg=f"{name} ({i})", strict=True)
    refusals = [str(w.message) for w in caught if "cannot be captured" in str(w.message)]
    if program in AS_WRITTEN:
        assert len(refusals) == 1 and AS_WRITTEN[program] in refusals[0]
    else:
        assert not refusals
        state = "hooks of their own" if program is spectral_normalization else "in use"
        assert all([state in chainer.explain(step) for step in steps])


def test_nothing_of_a_recording_is_kept():
    """Gradients of calls before, and copies of arguments, take no memory."""
    p = Program(chainer.capture)
    step = p.captured()
    alive = []
    for x, t in batches():
        step(x, t)
        alive += [weakref.ref(a.grad) for a in p.model.params() if a.grad is not None]
    assert alive
    assert not any([reference() is not None for reference in alive])


async def _losses_of_a_task(seed: int) -> list[np.ndarray]:
    rng = np.random.RandomState(seed)
    model = L.Linear(6, 3, initialW=rng.rand(3, 6).astype("f"))
    optimizer = optimizers.Adam().setup(model)

    def update(x, t):
        model.cleargrads()
        loss = F.softmax_cross_entropy(model(x), t)
        loss.backward()
        optimizer.update()
        return loss

    step = chainer.capture(update, model, optimizer)
    losses = []
    for x, t in batches(seed=seed):
        losses.append(step(x, t).array.copy())
        await asyncio.sleep(0)
    assert "in use" in chainer.explain(step)
    return losses


def test_steps_of_tasks_that_take_turns():
    """Other tasks change the configuration meanwhile."""

    async def without_graph():
        for _ in range(2 * STEPS):
            with chainer.no_backprop_mode(), chainer.using_config("train", False):
                await asyncio.sleep(0)

    async def main():
        alone = [await _losses_of_a_task(seed) for seed in range(3)]
        tasks = [_losses_of_a_task(seed) for seed in range(3)]
        found = await asyncio.gather(*tasks, without_graph())
        return alone, found[:3]

    alone, together = asyncio.run(main())
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([2], [2.0]),
        ((2,), (2.0,)),
        ([[2]], [[2.0]]),
        ([np.float32(2)], [np.float64(2)]),
        (np.float32(2), np.float64(2)),
        (2.0, 2.0 + 0j),
        (2 + 0j, 2.0),
        ([np.ones(1, "f")], [np.ones(1, "d")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
@pytest.mark.parametrize("is_closure", [False, True])
def test_equal_numbers_of_other_types_are_other_numbers(first, second, is_closure):
    def product(x, value):
        if isinstance(value, dict):
            value = next(iter(value.values()))
        while isinstance(value, (list, tuple)):
            value = value[0]
        return x * value

    namespace = SimpleNamespace(value=first)
    cell = first
    if is_closure:
        step = chainer.capture(lambda x: product(x, cell), on_failure="error")
    else:
        step = chainer.capture(lambda x: product(x, namespace.value), on_failure="error")
    x = np.ones(3, "f")
    x = x.astype("i") if first in ([2], (2,), [[2]]) else x
    for value in [first] * 5 + [second] * 5 + [first] * 2:
        cell = namespace.value = value
        found, expected = step(x), product(x, value)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_calls_of_other_kinds_between_calls_with_arrays():
    """A call like the last one takes a shorter way: no other call may take it."""

    def function(x, y=1, **options):
        return (x + y) * options.get("scale", 1)

    step = chainer.capture(function, on_failure="error")
    x = np.arange(6, dtype="f")
    calls = [
        lambda f: f(x),
        lambda f: f(x[:3]),
        lambda f: f(x.astype("d")),
        lambda f: f(x[::-1]),
        lambda f: f(x[::2]),
        lambda f: f(x, x),
        lambda f: f(x, 2),
        lambda f: f(x, scale=3),
        lambda f: f(chainer.Variable(x)),
        lambda f: f(x, chainer.Variable(x)),
        lambda f: f(np.broadcast_to(x[:1], 6)),
    ]
    for number in [*range(len(calls))] * 4 + list(np.random.RandomState(0).randint(0, 11, 200)):
        found, expected = calls[number](step), calls[number](function)
        assert type(found).__mro__[-2] is type(expected).__mro__[-2]
        assert found.dtype == expected.dtype
        found, expected = (getattr(y, "array", y) for y in (found, expected))
        np.testing.assert_array_equal(found, expected)


def test_a_configuration_between_calls_with_arrays():
    step = chainer.capture(lambda x: F.dropout(chainer.Variable(x), 0.5), on_failure="error")
    x = np.ones(1000, "f")
    for _ in range(5):
        assert (step(x).array == 0).any()
        with chainer.using_config("train", False):
            np.testing.assert_array_equal(step(x).array, x)

"""Functions, links, optimizers, hooks, triggers and evaluators of a program."""

import numpy as np
from chainer.utils import type_check

import chainer
import chainer.functions as F
from chainer import (
    Parameter,
    cuda,
    function,
    function_node,
    initializers,
    link,
    optimizer,
    training,
    variable,
)
from chainer.training import extension, extensions

np.random.seed(6)


class OldMul(function.Function):
    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 2)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].shape == in_types[1].shape)

    def forward_cpu(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def forward_gpu(self, inputs):
        return self.forward_cpu(inputs)

    def backward(self, inputs, gy):
        return (gy[0] * inputs[1], gy[0] * inputs[0])


class Exp2(function_node.FunctionNode):
    @property
    def label(self):
        return "exp-two"

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ("x",))
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, x):
        self.retain_outputs((0,))
        xp = chainer.backend.get_array_module(*x)
        return (utils_force(xp.exp2(x[0])),)

    def backward(self, indexes, gy):
        y = self.get_retained_outputs()[0]
        return (y * gy[0] * float(np.log(2)),)


from chainer import utils

utils_force = lambda a: utils.force_array(a, a.dtype)
x = chainer.Variable(np.random.randn(2, 3).astype("f"), name="x")
y = chainer.Variable(np.random.randn(2, 3).astype("f"))
z = OldMul()(x, y)
w = Exp2().apply((z,))[0]
s = F.sum(w * w)
s.backward(retain_grad=True)
print(
    x.grad.round(4).tolist(),
    z.grad.round(4).tolist(),
    w.creator_node.label,
    z.creator.label,
    type(z.creator).__name__,
    type(z.creator_node).__name__,
    w.rank,
)
(gx,) = chainer.grad([s], [w], enable_double_backprop=True)
print(gx.array.round(4).tolist())
for bad in [
    lambda: OldMul()(x),
    lambda: OldMul()(x, y[0]),
    lambda: Exp2().apply((np.arange(3),)),
    lambda: OldMul()(np.arange(3), np.arange(3)),
]:
    try:
        bad()
    except type_check.InvalidType as e:
        print(str(e).split("\n"))
from chainer import gradient_check

gradient_check.check_backward(
    lambda a: Exp2().apply((a,))[0], x.array, np.ones((2, 3), "f"), atol=0.01, rtol=0.01
)
gradient_check.check_double_backward(
    lambda a: Exp2().apply((a,))[0],
    x.array,
    np.ones((2, 3), "f"),
    np.ones((2, 3), "f"),
    atol=0.01,
    rtol=0.01,
)


class MyLinear(link.Link):
    def __init__(self, n_in, n_out, initialW=None):
        super(MyLinear, self).__init__()
        self.add_persistent("count", 0)
        self.add_persistent("ema", np.zeros(n_out, "f"))
        with self.init_scope():
            self.W = variable.Parameter(initializers._get_initializer(initialW))
            self.b = Parameter(0.0, (n_out,))
            if n_in is not None:
                self.W.initialize((n_out, n_in))
        self.n_out = n_out

    def __call__(self, x):
        if self.W.array is None:
            self.W.initialize((self.n_out, x.shape[1]))
        self.count += 1
        y = F.linear(x, self.W, self.b)
        self.ema = 0.9 * self.ema + 0.1 * y.array.mean(0)
        return y


class MyRule(optimizer.UpdateRule):
    def __init__(self, parent_hyperparam=None, lr=None):
        super(MyRule, self).__init__(parent_hyperparam or optimizer.Hyperparameter())
        if lr is not None:
            self.hyperparam.lr = lr

    def init_state(self, param):
        xp = chainer.backend.get_array_module(param.array)
        with cuda.get_device_from_array(param.array):
            self.state["v"] = xp.zeros_like(param.array)

    def update_core_cpu(self, param):
        grad = param.grad
        if grad is None:
            return
        v = self.state["v"]
        v *= 0.5
        v += grad
        param.array -= self.hyperparam.lr * np.sign(v) * np.sqrt(abs(v))


class MyOpt(optimizer.GradientMethod):
    def __init__(self, lr=0.01):
        super(MyOpt, self).__init__()
        self.hyperparam.lr = lr

    lr = optimizer.HyperparameterProxy("lr")

    def create_update_rule(self):
        return MyRule(self.hyperparam)


class Decay(object):
    name = "Decay"
    call_for_each_param = True
    timing = "pre"

    def __init__(self, r):
        self.r = r

    def __call__(self, rule, param):
        p, g = (param.array, param.grad)
        if p is None or g is None:
            return
        with chainer.using_device(param.device):
            rate = self.r
            if param._loss_scale is not None:
                rate *= param._loss_scale
            g += rate * p


class Model(chainer.Chain):
    def __init__(self):
        super().__init__(l1=MyLinear(None, 6), l2=MyLinear(6, 3))

    def __call__(self, x, t):
        h = F.relu(self.l1(x))
        loss = F.softmax_cross_entropy(self.l2(h), t)
        chainer.report({"loss": loss, "acc": F.accuracy(self.l2(h), t), "w": (1.0, 2)}, self)
        return loss


class EveryPrime(object):
    def __call__(self, trainer):
        n = trainer.updater.iteration
        return n > 1 and all((n % k for k in range(2, n)))


class Collect(extension.Extension):
    default_name = "collect"
    priority = extension.PRIORITY_EDITOR

    def __init__(self):
        self.log = []

    def initialize(self, trainer):
        print("init", trainer.updater.iteration)

    def __call__(self, trainer):
        self.log.append(
            (trainer.updater.iteration, round(float(trainer.observation["main/loss"].array), 4))
        )

    def finalize(self):
        print("final", self.log)

    def serialize(self, s):
        self.n = s("n", len(self.log))


class MyEval(extensions.Evaluator):
    default_name = "myval"

    def evaluate(self):
        it = self.get_iterator("main")
        target = self.get_target("main")
        it.reset()
        tot = 0
        for b in it:
            x, t = self.converter(b, self.device)
            tot += float(target(x, t).array)
        obs = {}
        with chainer.reporter.report_scope(obs):
            chainer.report({"tot": tot}, target)
        return obs


X = np.random.randn(20, 4).astype("f")
T = np.random.randint(0, 3, 20).astype("i")
ds = chainer.datasets.TupleDataset(X, T)
m = Model()
o = MyOpt(0.05)
o.setup(m)
o.add_hook(Decay(0.01))
o.add_hook(lambda opt: None, "noop")
it = chainer.iterators.SerialIterator(ds, 5, shuffle=False)
up = training.StandardUpdater(it, o, loss_scale=8.0)
tr = training.Trainer(up, stop_trigger=(3, "epoch"), out="r")
c = Collect()
tr.extend(c, trigger=EveryPrime())
tr.extend(
    MyEval(chainer.iterators.SerialIterator(ds, 7, repeat=False, shuffle=False), m, device=-1)
)
tr.extend(
    extensions.LogReport(
        log_name="mylog", trigger=(1, "epoch"), postprocess=lambda s: s.update({"extra": 1})
    )
)
tr.extend(
    lambda t: print("lam", t.updater.iteration), name="lam", trigger=(5, "iteration"), priority=50
)
tr.extend(extensions.observe_lr(), trigger=(2, "iteration"))
tr.extend(
    extensions.observe_value("half", lambda t: t.updater.iteration / 2.0), trigger=(1, "epoch")
)
tr.extend(extensions.FailOnNonNumber())
tr.extend(extensions.ParameterStatistics(m.l2, statistics={"mean": np.mean}, prefix="p"))
tr.run()
import json

for e in json.load(open("r/mylog")):
    print(sorted(((k, round(v, 4)) for k, v in e.items() if k != "elapsed_time")))
print(m.l1.count, m.l2.ema.round(4).tolist())
chainer.serializers.save_npz("m.npz", m)
m2 = Model()
chainer.serializers.load_npz("m.npz", m2)
print(
    m2.l1.count,
    type(m2.l1.count).__name__,
    m2.l1.W.shape,
    np.allclose(m2.l2.ema, m.l2.ema),
    sorted(np.load("m.npz")),
)
print(
    o.epoch, o.t, o.lr, repr(o.hyperparam), m.l1.W.update_rule.t, tr.get_extension("collect") is c
)

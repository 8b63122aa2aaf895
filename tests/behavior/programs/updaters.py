"""Several devices, gradient penalty, mixed precision, sequences with CRF and CTC."""

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions

np.random.seed(0)
X = np.random.randn(16, 4).astype("f")
T = (X[:, 0] > 0).astype("i")


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(4, 6)
            self.n = L.BatchNormalization(6)
            self.b = L.Linear(6, 2)

    def forward(self, x):
        return self.b(F.relu(self.n(self.a(x))))


def clf():
    return L.Classifier(Net())


m = clf()
o = chainer.optimizers.MomentumSGD(0.1).setup(m)
it = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(X, T), 8, shuffle=False)
up = training.updaters.ParallelUpdater(it, o, devices={"main": -1, "second": -1})
tr = training.Trainer(up, (4, "iteration"), "r")
tr.extend(extensions.LogReport(trigger=(1, "iteration")))
tr.run()
print(
    [
        sorted(((k, round(v, 4)) for k, v in e.items() if k not in ("elapsed_time",)))
        for e in tr.get_extension("LogReport").log
    ]
)
G = chainer.Sequential(L.Linear(3, 8), F.relu, L.Linear(8, 4))
C = chainer.Sequential(L.Linear(4, 8), F.leaky_relu, L.Linear(8, 1))
og, oc = (
    chainer.optimizers.Adam(0.001, 0, 0.9).setup(G),
    chainer.optimizers.Adam(0.001, 0, 0.9).setup(C),
)
for i in range(4):
    z = np.random.randn(8, 3).astype("f")
    x = chainer.Variable(X[:8])
    xf = G(z)
    eps = np.random.rand(8, 1).astype("f")
    mid = eps * x + (1 - eps) * xf.array
    mid = chainer.Variable(mid.array)
    (g,) = chainer.grad([C(mid)], [mid], enable_double_backprop=True)
    gn = F.sqrt(F.batch_l2_norm_squared(g))
    lg = 10 * F.mean_squared_error(gn, np.ones_like(gn.array))
    lc = F.average(C(xf)) - F.average(C(x)) + lg
    C.cleargrads()
    lc.backward()
    oc.update()
    xf.unchain_backward()
    lgn = -F.average(C(G(z)))
    G.cleargrads()
    lgn.backward()
    og.update()
    print("%.5f %.5f" % (float(lc.array), float(lgn.array)))
with chainer.using_config("dtype", chainer.mixed16):
    m = clf()
    o = chainer.optimizers.Adam().setup(m)
    o.use_fp32_update()
    o.loss_scaling(scale=128.0)
    print([(n, p.dtype.name) for n, p in m.namedparams()])
    for i in range(3):
        m.cleargrads()
        for j in range(2):
            loss = m(X[j::2].astype("e"), T[j::2])
            loss.backward(loss_scale=o._loss_scale)
        o.update()
        print("%.3f" % float(loss.array), m.predictor.a.W.update_rule.state["m"].dtype, o.t)
    o.loss_scaling(interval=2)
    for i in range(5):
        o.update(m, X.astype("e"), T)
        print("%.3f" % o._loss_scale, end=" ")
    print()


class Two(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.body = L.Linear(4, 5)
            self.a = L.Linear(5, 2)
            self.b = L.Linear(5, 1)

    def forward(self, x, t, w=None):
        h = F.dropout(F.tanh(self.body(x)), 0.3)
        la = F.softmax_cross_entropy(self.a(h), t)
        lb = F.mean_squared_error(self.b(h)[:, 0], w)
        chainer.report({"a": la, "b": lb, "sum": la + lb}, self)
        chainer.report({"acc": (F.accuracy(self.a(h), t), len(x))}, self.a)
        return la + 0.5 * lb


class Obs(chainer.Chain):
    pass


ds = [{"x": X[i], "t": T[i], "w": X[i, 1]} for i in range(16)]
m = Two()
o = chainer.optimizers.NesterovAG(0.05).setup(m)
o.add_hook(chainer.optimizer_hooks.Lasso(0.001))
o.add_hook(chainer.optimizer_hooks.GradientHardClipping(-1, 1))
o.add_hook(chainer.optimizer_hooks.GradientLARS())
np.random.seed(5)
up = training.StandardUpdater(
    chainer.iterators.SerialIterator(ds, 5, shuffle=False),
    o,
    converter=lambda b, d: chainer.dataset.concat_examples(b, d),
)
tr = training.Trainer(up, (2, "epoch"), "r2")
tr.extend(extensions.LogReport(["main/a", "main/b", "main/sum"], trigger=(2, "iteration")))
tr.extend(
    extensions.VariableStatisticsPlot(m.body, trigger=(2, "iteration"))
    if extensions.VariableStatisticsPlot.available()
    else lambda t: 0,
    name="v",
)
tr.extend(extensions.PlotReport(["main/a"], trigger=(2, "iteration"), file_name="p.png"))
tr.run()
print(
    [
        sorted(((k, round(v, 4)) for k, v in e.items() if k != "elapsed_time"))
        for e in tr.get_extension("LogReport").log
    ],
    sorted(tr.observation),
)
import os

print(sorted(os.listdir("r2")))
x = chainer.Variable(X[:3])
y = F.forget(lambda a: F.sigmoid(a) * 2, x)
F.sum(y).backward()
print(x.grad.sum().round(4))
x.cleargrad()
y = x * 2
y.unchain_backward()
z = F.sum(y + x)
z.backward(retain_grad=True)
print(x.grad.sum(), y.grad.sum())
xs = [np.random.randn(l, 4).astype("f") for l in (5, 3, 4)]
r = L.NStepBiGRU(2, 4, 3, 0.0)
h, ys = r(None, xs)
print(h.shape, [y.shape for y in ys], "%.4f" % sum((float(F.sum(y).array) for y in ys)))
np.random.seed(9)
crf = L.CRF1d(3)
c = crf(
    [np.random.randn(3, 3).astype("f"), np.random.randn(2, 3).astype("f")],
    [np.array([0, 1, 2], "i"), np.array([0, 1], "i")],
)
print(c.shape, "%.4f" % float(c.array))
s, p = crf.argmax([np.random.randn(3, 3).astype("f"), np.random.randn(2, 3).astype("f")])
print(s.array.round(3).tolist(), [q.tolist() for q in p])
ctc = F.connectionist_temporal_classification(
    [np.random.randn(2, 4).astype("f") for _ in range(5)],
    np.array([[1, 2], [3, 0]], "i"),
    0,
    np.array([5, 4], "i"),
    np.array([2, 1], "i"),
)
print("%.4f" % float(ctc.array))

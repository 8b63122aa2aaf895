"""A program of 2017, in the style of releases 3 and 4."""

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import (
    Chain,
    ChainList,
    Function,
    Variable,
    gradient_check,
    optimizers,
    report,
    serializers,
    training,
    utils,
)
from chainer.training import extensions

xp = np
np.random.seed(0)


class MLP(Chain):
    def __init__(self, n_units, n_out):
        super(MLP, self).__init__(
            l1=L.Linear(None, n_units), l2=L.Linear(None, n_units), l3=L.Linear(None, n_out)
        )
        self.add_link("bn", L.BatchNormalization(n_units))
        self.add_param("scale", (1,), initializer=chainer.initializers.One())

    def __call__(self, x, train=True):
        h = F.relu(self.l1(x))
        h = F.dropout(self.bn(F.relu(self.l2(h))), ratio=0.2)
        return self.l3(h) * F.broadcast_to(self.scale, (len(x), 3))


m = L.Classifier(MLP(8, 3))
o = optimizers.Adam()
o.setup(m)
o.add_hook(chainer.optimizer.WeightDecay(0.0001))
o.add_hook(chainer.optimizer.GradientClipping(2))
X = np.random.randn(30, 5).astype(np.float32)
T = np.random.randint(0, 3, 30).astype(np.int32)
for epoch in range(3):
    perm = np.random.permutation(30)
    sl = sa = 0
    for i in range(0, 30, 10):
        x = Variable(xp.asarray(X[perm[i : i + 10]]))
        t = Variable(xp.asarray(T[perm[i : i + 10]]))
        o.update(m, x, t)
        sl += float(m.loss.data) * len(t.data)
        sa += float(m.accuracy.data) * 10
    print(epoch, "%.4f %.3f" % (sl / 30, sa / 30), o.epoch)
    o.new_epoch()
serializers.save_npz("m.npz", m)
serializers.save_npz("o.npz", o)
serializers.save_hdf5("m.h5", m)
m2 = L.Classifier(MLP(8, 3))
serializers.load_npz("m.npz", m2)
with chainer.using_config("train", False), chainer.no_backprop_mode():
    print(np.allclose(m2.predictor(X).data, m.predictor(X).data), type(m2.predictor(X)).__name__)
print(
    m.predictor.l1.W.data.shape,
    sorted((n for n, _ in m.namedparams())),
    o.t,
    o.epoch,
    "%.6f" % o.lr,
)


class LossLink(Chain):
    def __init__(self, p):
        super(LossLink, self).__init__(p=p)

    def __call__(self, *args):
        x, t = args
        self.loss = F.softmax_cross_entropy(self.p(x), t)
        report({"loss": self.loss}, self)
        return self.loss


class VGGish(ChainList):
    def __init__(self):
        super(VGGish, self).__init__(
            L.Convolution2D(1, 4, 3, pad=1), L.Convolution2D(4, 4, 3, stride=2), L.Linear(None, 3)
        )
        self.add_link(L.Linear(3, 3))

    def __call__(self, x):
        for f in self.children():
            x = (
                F.max_pooling_2d(F.relu(f(x)), 2)
                if isinstance(f, L.Convolution2D) and f is self[0]
                else f(x)
            )
        return x


v = VGGish()
y = v(np.ones((2, 1, 8, 8), "f"))
print(y.data.shape, len(v), v[0].name, [n for n, _ in v.namedparams()])
y.grad = np.ones_like(y.data)
y.backward()
print(v[2].W.grad.shape, v[0].b.grad.round(3).tolist() != [0] * 4)
x = Variable(np.array([[1.0, 2.0], [3.0, 4.0]], "f"))
l = L.Linear(2, 2, initialW=np.array([[1, 0], [0, 1]], "f"), initial_bias=np.array([1, 2], "f"))
print(l(x).data.tolist())
z = F.sum(l(x) ** 2)
l.cleargrads()
z.backward()
print(l.W.grad.tolist(), x.grad.tolist(), z.data, z.creator.label)
print(
    F.ReLU()(x).data.tolist() if hasattr(F, "ReLU") and False else "",
    F.concat([x, x], axis=1).data.shape,
    F.split_axis(x, 2, 1)[0].data.tolist(),
    F.select_item(x, np.array([1, 0], "i")).data,
    F.get_item(x, (slice(None), 0)).data,
    F.transpose(x).data.tolist(),
    F.mean_squared_error(x, x * 2).data,
    F.max(x, axis=1, keepdims=True).data.tolist(),
)
it = chainer.iterators.SerialIterator(list(zip(X, T)), 10, shuffle=False)
tr = training.Trainer(training.StandardUpdater(it, o, device=-1), (2, "epoch"), out="res")
tr.extend(extensions.LogReport(log_name="log.json"))
tr.extend(extensions.PrintReport(["epoch", "main/loss", "main/accuracy"]))
tr.extend(extensions.dump_graph("main/loss", out_name="g.dot"))
tr.extend(extensions.snapshot(), trigger=(2, "epoch"))
tr.run()
import os

print(sorted(os.listdir("res")), o.epoch)
g = chainer.computational_graph.build_computational_graph([m.loss])
d = g.dump()
print(d.count("->"))


class Mul(Function):
    def forward(self, i):
        x, y = i
        z = x * y
        return (z,)

    def backward(self, i, g):
        x, y = i
        return (g[0] * y, g[0] * x)


a, b = (Variable(np.ones(3, "f") * 2), Variable(np.ones(3, "f") * 5))
c = Mul()(a, b)
c.grad = np.ones(3, "f")
c.backward()
print(a.grad, b.grad)
gradient_check.check_backward(Mul(), (a.data, b.data), np.ones(3, "f"), eps=0.01)
rnn = Chain(e=L.EmbedID(5, 4), l=L.LSTM(4, 4), o=L.Linear(4, 5))
rnn.l.reset_state()
loss = 0
for i in range(4):
    loss += F.softmax_cross_entropy(rnn.o(rnn.l(rnn.e(np.array([i], "i")))), np.array([i + 1], "i"))
rnn.cleargrads()
loss.backward()
loss.unchain_backward()
print("%.5f" % float(loss.data), rnn.l.h.data.shape, rnn.l.upward.W.grad.shape)
rnn.l.set_state(rnn.l.c, rnn.l.h)
w = utils.walker_alias.WalkerAlias([1, 2, 3])
np.random.seed(1)
print(w.sample(4))
print(chainer.functions.evaluation.accuracy.Accuracy.__name__, utils.force_array(1.0).shape)

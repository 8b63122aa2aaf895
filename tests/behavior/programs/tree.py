"""Sentiment of trees: recursion, and the two kinds of tree LSTM."""

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

np.random.seed(2)


class Rec(chainer.Chain):
    def __init__(self, n_vocab, n_units, n_label):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.l = L.Linear(n_units * 2, n_units)
            self.w = L.Linear(n_units, n_label)

    def leaf(self, x):
        return self.embed(x)

    def node(self, left, right):
        return F.tanh(self.l(F.concat((left, right))))

    def label(self, v):
        return self.w(v)


def traverse(model, node, evaluate=None, root=True):
    if isinstance(node["node"], int):
        x = model.xp.array([node["node"]], np.int32)
        v = model.leaf(x)
        loss = 0
    else:
        l, r = node["node"]
        ll, lv = traverse(model, l, evaluate, False)
        rl, rv = traverse(model, r, evaluate, False)
        v = model.node(lv, rv)
        loss = ll + rl
    y = model.label(v)
    if chainer.config.train:
        t = model.xp.array([node["label"]], np.int32)
        loss += F.softmax_cross_entropy(y, t)
    if evaluate is not None:
        predict = model.xp.argmax(y.array, axis=1)
        evaluate["total"] = evaluate.get("total", 0) + 1
        evaluate["ok"] = evaluate.get("ok", 0) + int(predict[0] == node["label"])
    return (loss, v)


def mk(rs, d):
    lab = int(rs.randint(3))
    if d == 0 or rs.rand() < 0.2:
        return {"label": lab, "node": int(rs.randint(10))}
    return {"label": lab, "node": (mk(rs, d - 1), mk(rs, d - 1))}


rs = np.random.RandomState(0)
trees = [mk(rs, 3) for _ in range(8)]
m = Rec(10, 6, 3)
opt = chainer.optimizers.AdaGrad(lr=0.1)
opt.setup(m)
opt.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001))
for ep in range(3):
    tot = 0
    for a in range(0, 8, 4):
        loss = 0
        for t in trees[a : a + 4]:
            loss += traverse(m, t)[0]
        m.cleargrads()
        loss.backward()
        opt.update()
        tot += float(loss.array)
    ev = {}
    with chainer.no_backprop_mode(), chainer.using_config("train", False):
        for t in trees:
            traverse(m, t, ev)
    print(ep, "%.4f" % tot, ev)


class Child(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.e = L.EmbedID(10, 5)
            self.t = L.ChildSumTreeLSTM(5, 6)
            self.n = L.NaryTreeLSTM(5, 6, n_ary=2)
            self.o = L.Linear(6, 3)

    def go(self, node, which):
        if isinstance(node["node"], int):
            x = self.e(np.array([node["node"]], "i"))
            if which == "n":
                c, h = self.n(None, None, None, None, x)
            else:
                c, h = self.t(x)
            return (c, h)
        cs = [self.go(k, which) for k in node["node"]]
        if which == "n":
            return self.n(cs[0][0], cs[1][0], cs[0][1], cs[1][1], None)
        return self.t(*[c for c, h in cs], *[h for c, h in cs], None)


m = Child()
opt = chainer.optimizers.MomentumSGD(0.05).setup(m)
for which in "tn":
    for ep in range(3):
        loss = sum(
            (
                F.softmax_cross_entropy(m.o(m.go(t, which)[1]), np.array([t["label"]], "i"))
                for t in trees
            )
        )
        m.cleargrads()
        loss.backward()
        opt.update()
        print(which, "%.4f" % float(loss.array))
print(sorted((n for n, p in m.namedparams())))
x = chainer.Variable(np.random.randn(2, 4).astype("f"))
v2 = chainer.Variable(np.random.randn(2, 4).astype("f"))
print(
    [
        o.shape
        for o in F.tree_lstm(
            np.zeros((2, 2), "f"), np.ones((2, 2), "f"), np.random.randn(2, 10).astype("f")
        )
    ]
)

# function zoo in the style of extensions: multi-output nodes, double backprop by hand, in-place tricks, ports of layers, masks
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import (
    Variable,
    function,
    function_node,
    variable,
    configuration,
    initializers,
    link,
    cuda,
    utils,
)
from chainer.functions.activation import relu, sigmoid
from chainer.functions.rnn import lstm as lstm_mod
from chainer.functions.array import reshape, broadcast, concat, split_axis
from chainer.functions.math import basic_math, sum as sum_mod, matmul, average, identity
from chainer.functions.connection import linear, convolution_2d
from chainer.functions.normalization import batch_normalization
from chainer.functions.loss import softmax_cross_entropy
from chainer.utils import type_check, conv, argument

np.random.seed(4)


def show(name, *xs):
    for x in xs:
        if x is None:
            print(name, None)
            continue
        x = chainer.as_array(x)
        print(
            name,
            x.dtype,
            x.shape,
            " ".join("%.4f" % (v + 0.0) for v in np.asarray(x, "d").ravel()[:5]),
        )


class SplitSign(function_node.FunctionNode):
    """Positive part, negative part and count (an integer output)."""

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ("x",))
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs):
        (x,) = inputs
        xp = chainer.backend.get_array_module(x)
        self.mask = x > 0
        return xp.maximum(x, 0), xp.minimum(x, 0), utils.force_array(self.mask.sum())

    def backward(self, indexes, gys):
        gp, gn, gc = gys
        assert gc is None
        out = 0
        if gp is not None:
            out = out + F.where(self.mask, gp, gp.xp.zeros_like(gp.array))
        if gn is not None:
            out = out + gn * (~self.mask).astype(gn.dtype)
        return (out,)


x = Variable(np.random.randn(3, 2).astype("f"))
p, n, c = SplitSign().apply((x,))
print(c.array, c.dtype.kind, p.creator is n.creator, [o().shape for o in p.creator.outputs][:2])
(gx,) = chainer.grad([F.sum(p**2) + F.sum(n**3)], [x], enable_double_backprop=True)
show("gx", gx)
(ggx,) = chainer.grad([F.sum(gx * gx)], [x])
show("ggx", ggx)
x.cleargrad()
F.sum(n).backward()
show("gn", x.grad)


class GradReverse(chainer.Function):
    def forward(self, xs):
        return xs

    def backward(self, xs, gys):
        return tuple(-g for g in gys)


def grad_reverse(*xs):
    r = GradReverse()(*xs)
    return r


a, b = Variable(np.ones(2, "f")), Variable(np.full(2, 3, "f"))
y, z = grad_reverse(a, b)
F.sum(y * z).backward()
show("rev", a.grad, b.grad)


class STE(function.Function):
    def forward(self, i):
        return (np.sign(i[0]).astype(i[0].dtype),)

    def backward(self, i, g):
        return (np.where(abs(i[0]) <= 1, g[0], 0).astype(i[0].dtype),)


w = chainer.Parameter(np.array([[0.5, -2.0], [-0.3, 0.1]], "f"))
F.sum(F.linear(np.ones((1, 2), "f"), STE()(w))).backward()
show("ste", w.grad)


class WeightNorm(chainer.Chain):
    def __init__(self, i, o):
        super(WeightNorm, self).__init__()
        with self.init_scope():
            self.v = variable.Parameter(initializers.Normal(0.5), (o, i))
            self.g = chainer.Parameter(np.ones(o, "f"))
            self.b = chainer.Parameter(0, o)

    def __call__(self, x):
        norm = F.sqrt(F.sum(self.v**2, axis=1, keepdims=True))
        return F.linear(x, F.broadcast_to(self.g[:, None] / norm, self.v.shape) * self.v, self.b)


l = WeightNorm(3, 2)
l.cleargrads()
F.sum(l(np.ones((4, 3), "f")) ** 2).backward()
show("wn", l.v.grad, l.g.grad, l.b.grad)

# modules with functions inside
show(
    "mods",
    relu.relu(x),
    sigmoid.Sigmoid().apply((x,))[0],
    reshape.reshape(x, (2, 3)),
    basic_math.add(x, x),
    sum_mod.sum(x, 0),
    matmul.matmul(x, x, transb=True),
    average.average(x),
    identity.identity(x),
    linear.linear(x, np.ones((1, 2), "f")),
)
show(
    "cls",
    linear.LinearFunction().apply((x, Variable(np.ones((2, 2), "f"))))[0],
    convolution_2d.Convolution2DFunction(pad=(1, 1)).apply(
        (x.reshape(1, 1, 3, 2), np.ones((1, 1, 2, 2), "f"))
    )[0],
    concat.Concat(1).apply((x, x))[0],
    split_axis.SplitAxis([1], 1).apply((x,))[1],
    broadcast.BroadcastTo((2, 3, 2)).apply((x,))[0],
)
sce = softmax_cross_entropy.SoftmaxCrossEntropy(normalize=False, reduce="no")
show("sce", sce.apply((x, np.array([0, 1, -1], "i")))[0], sce.y)
d = F.dropout(x, 0.5, return_mask=True)
show("mask same", F.dropout(x, mask=d[1]) - d[0])
bn = batch_normalization.BatchNormalization(1e-3, np.zeros(2, "f"), np.ones(2, "f"), 0.8)
show(
    "bn",
    bn.apply((x, np.ones(2, "f"), np.zeros(2, "f")))[0],
    bn.running_mean,
    bn.running_var,
    bn.mean,
    bn.inv_std,
)
ls = lstm_mod.LSTM()
show("lstm", *ls.apply((x, Variable(np.random.randn(3, 8).astype("f")))))

# positional encodings, attention, label smoothing, focal loss with where/select_item
q = Variable(np.random.randn(2, 2, 3, 4).astype("f"))
att = F.softmax(
    F.matmul(q, q, transb=True) / 4**0.5 + np.triu(np.full((3, 3), -1e4, "f"), 1), axis=3
)
out = F.swapaxes(F.matmul(F.dropout(att, 0.0), q), 1, 2)
F.sum(out * out).backward()
show("att", out, q.grad)
logit = Variable(np.random.randn(4, 3).astype("f"))
t = np.array([0, 2, 1, 1], "i")
lp = F.log_softmax(logit)
nll = -F.select_item(lp, t)
focal = F.mean((1 - F.exp(-nll)) ** 2 * nll)
smooth = -F.mean(lp)
(focal + 0.1 * smooth).backward()
show("focal", focal, logit.grad)
hot = np.eye(3, dtype="f")[t]
show("soft", F.softmax_cross_entropy(logit, hot), -F.sum(hot * lp) / 4)

# variables: slicing with gradients, accumulation, unchain, inplace arrays
v = Variable(np.arange(12, dtype="f").reshape(3, 4))
acc = 0
for row in v:
    acc += F.sum(row[1:3] * row[::2])
acc.backward()
show("rows", v.grad)
v.cleargrad()
(F.sum(v[..., [0, 0, 1]]) + F.sum(v[v.array > 5])).backward()
show("fancy", v.grad)
v.grad[...] = 1
v.array += 1
show("inplace", v, v.grad_var)
u = v * 2
u.unchain()
print(u.creator, (u + v).rank, v.requires_grad)
k = Variable(np.zeros(2, "f"), requires_grad=False)
o = k + 1
print(o.requires_grad, type(o.creator).__name__)
try:
    v + "a"
except (TypeError, ValueError):
    print("refused")
print(
    v.xp is np,
    isinstance(v, chainer.Variable),
    hasattr(v, "backward"),
    v.node.creator_node,
    v.node.label,
    v.label,
)
kw = dict(a=1, zz=2)
try:
    argument.parse_kwargs(kw, ("a", 3))
except TypeError as e:
    print(str(e))

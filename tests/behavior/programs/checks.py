# old-style Function, debug mode texts, numerical grad options, type check texts, unchain, rnn truncated bptt, to_device visitors
import warnings
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable, gradient_check, testing, utils, initializers
from chainer.utils import type_check


def err(f, *a, **k):
    try:
        f(*a, **k)
    except Exception as e:
        names = [c.__name__ for c in type(e).__mro__]
        base = [
            n
            for n in (
                "InvalidType",
                "KeyError",
                "AssertionError",
                "TypeError",
                "ValueError",
                "AttributeError",
                "RuntimeError",
                "Exception",
            )
            if n in names
        ]
        return base[0], str(e).strip().split("\n")[-1][:80]
    return "fine"


# gradient_check in all options
def f3(x, y):
    return x**3 * y, F.sum(x, axis=0)


x, y = np.linspace(0.5, 2, 6).reshape(3, 2), np.linspace(1, 3, 6).reshape(3, 2)
gy = (np.ones((3, 2)), np.arange(2.0))
gradient_check.check_backward(f3, (x, y), gy, eps=1e-4, rtol=1e-3, atol=1e-3, dtype=np.float64)
gradient_check.check_backward(f3, (x, y), (gy[0], None), no_grads=[False, False])
gradient_check.check_double_backward(f3, (x, y), gy, (x, y), eps=1e-4)
p = chainer.Parameter(np.full((3, 2), 2.0))
gradient_check.check_backward(lambda a: a * p, x, gy[0], params=p)
gradient_check.check_backward(lambda a: a * p, x, gy[0], params=[p], detect_nondifferentiable=True)
gradient_check.check_double_backward(
    lambda a: a * a * p, x, gy[0], y, params=(p,), params_grad_grad=(x,)
)
print(
    err(
        gradient_check.check_backward,
        lambda a: F.relu(a),
        np.array([0.0, 1.0]),
        np.ones(2),
        detect_nondifferentiable=True,
    )[0]
)
print(
    err(gradient_check.check_backward, f3, (x, y), gy[:1])[0],
    err(gradient_check.check_backward, f3, (x, y), None)[0],
)
print(
    err(gradient_check.check_backward, f3, (x, y), gy, dtype=np.int32)[0],
    err(gradient_check.check_backward, f3, (x, y), gy, no_grads=[True])[0],
)


class Wrong(chainer.FunctionNode):
    def forward(self, i):
        self.retain_inputs((0,))
        return (i[0] ** 2,)

    def backward(self, idx, g):
        return (3 * g[0] * self.get_retained_inputs()[0],)


print(err(gradient_check.check_backward, lambda a: Wrong().apply((a,))[0], x, gy[0])[0])
for center in (None, (np.array([2.0, 3.0]) ** 2,)):
    a = np.array([2.0, 3.0])
    (g,) = gradient_check.numerical_grad(
        lambda: (a**2,),
        (a,),
        (np.ones(2),),
        eps=1e-3,
        detect_nondifferentiable=True,
        diff_atol=1e-2,
        diff_rtol=1e-1,
        center_outputs=center,
    )
    print(" ".join("%.3f" % v for v in g))
print(err(gradient_check.numerical_grad, lambda: (1,), (np.arange(2),), (1,))[0])


# type-check texts
class T(chainer.Function):
    def check_type_forward(self, in_types):
        n = type_check.eval(in_types.size())
        type_check.expect(
            in_types.size() >= 1, in_types[0].ndim == 2, in_types[0].shape[1] // 2 == 3
        )
        for i in range(1, n):
            type_check.expect(
                in_types[i].dtype == in_types[0].dtype,
                in_types[i].shape[0] * 2 != in_types[0].shape[0],
            )

    def forward(self, xs):
        return (xs[0],)


print(err(T(), np.zeros((2, 3), "f")))
print(err(T(), np.zeros((2, 6), "f"), np.zeros((1, 6), "f")))
print(err(T(), np.zeros((2, 6), "f"), np.zeros((2, 6), "d")))
print(err(T(), np.zeros((2, 6), "f")))
print(
    err(F.linear, np.zeros((2, 3), "f"), np.zeros((4, 5), "f")),
    err(F.concat, (np.zeros((2, 3), "f"), np.zeros((3, 4), "f")), 1),
)
print(err(lambda: Variable(np.zeros(2, "f")) + Variable(np.zeros(3, "f"))))
with chainer.using_config("type_check", False):
    print(err(T(), np.zeros(2, "f")))


# debug mode
class Nan(chainer.Function):
    def forward(self, x):
        return (x[0] * np.float32("nan"),)

    def backward(self, x, g):
        return g


with chainer.using_config("debug", True):
    print(err(Nan(), np.ones(2, "f")))
    with chainer.using_config("debug", False):
        z = Nan()(Variable(np.ones(2, "f")))
    z = F.log(Variable(np.zeros(1, "f"))) if False else F.sqrt(Variable(np.zeros(1, "f")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(err(F.log, Variable(-np.ones(1, "f"))))
    print(chainer.is_debug())

# truncated BPTT with a stateful LSTM
np.random.seed(1)


class Net(chainer.Chain):
    def __init__(self):
        super(Net, self).__init__()
        with self.init_scope():
            self.embed = L.EmbedID(5, 4, initialW=initializers.Normal(0.5))
            self.l1 = L.LSTM(
                4, 6, lateral_init=initializers.Uniform(0.3), upward_init=initializers.Uniform(0.3)
            )
            self.out = L.Linear(6, 5, initialW=initializers.Uniform(0.3))

    def reset(self):
        self.l1.reset_state()

    def forward(self, x):
        return self.out(F.dropout(self.l1(self.embed(x)), 0.2))


net = Net()
opt = chainer.optimizers.SGD(0.5).setup(net)
loss = 0
seq = np.random.randint(0, 5, (9, 3)).astype("i")
for k in range(8):
    loss += F.softmax_cross_entropy(net(seq[k]), seq[k + 1])
    if k % 3 == 2:
        net.cleargrads()
        loss.backward()
        loss.unchain_backward()
        opt.update()
        print("%.4f" % float(loss.array))
        loss = 0
print("%.4f" % float(abs(net.l1.h.array).sum()), net.l1.h.creator is None, net.l1.c.shape)
net.reset()
print(net.l1.h)
s = net.copy()
s.l1.set_state(Variable(np.ones((3, 6), "f")), Variable(np.ones((3, 6), "f")))
print(net.l1.h is None, s.l1.h.shape)


# device residents
class Table(chainer.DeviceResident):
    def __init__(self):
        super(Table, self).__init__()
        self.t, self.moved = np.arange(3), 0

    def device_resident_accept(self, visitor):
        super(Table, self).device_resident_accept(visitor)
        self.t = visitor.visit_array(self.t)
        self.moved += 1


class Holder(chainer.Chain):
    def __init__(self):
        super(Holder, self).__init__()
        self.table = Table()
        with self.init_scope():
            self.l = L.Linear(2)

    def device_resident_accept(self, visitor):
        super(Holder, self).device_resident_accept(visitor)
        self.table.device_resident_accept(visitor)


h = Holder()
h.to_device("@numpy")
print(h.table.moved, h.table.device, h.l.device, h.device.xp is np)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    print(h.to_cpu() is h, [i.category.__name__ for i in w])
print(err(h.to_device, "@foo")[0], err(h.to_chx)[0])

# lazy grads, retain, multiple outputs
x = Variable(np.arange(4, dtype="f").reshape(2, 2))
a, b = F.split_axis(x, 2, 1)
z = F.sum(a * b) + F.sum(x) * 2
z.backward(retain_grad=True)
print(x.grad.tolist(), a.grad.tolist(), z.grad, x.grad_var.creator)
(g1,) = chainer.grad([F.sum(x**3)], [x], enable_double_backprop=True)
(g2,) = chainer.grad([g1], [x], [Variable(np.ones((2, 2), "f"))], enable_double_backprop=True)
(g3,) = chainer.grad([g2], [x]) if False else chainer.grad([F.sum(g2)], [x])
print(g1.array.tolist(), g2.array.tolist(), g3.array.tolist())
c = F.get_item(x, (slice(None), 0))
d = x[..., None]
print(c.shape, d.shape, x[np.array([1, 0]), [0, 1]].array, x[x.array > 1].array)
print(repr(x[0]), x.T.shape, len(x), x.ndim, x.size, x.label, c.label)
print([type(n).__name__ for n in (c.creator, d.creator)], c.creator.inputs[0] is x.node, c.rank)

# GAN with gradient penalty, spectral norm, chainer.grad loops, forget, deepcopy, pickles
import copy, io, pickle, threading
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import cuda, Variable

np.random.seed(3)


def show(name, x):
    x = chainer.as_array(x)
    print(name, x.dtype, x.shape, " ".join("%.4f" % v for v in np.asarray(x).ravel()[:6]))


class Critic(chainer.Chain):
    def __init__(self, n=8):
        super(Critic, self).__init__()
        w = chainer.initializers.HeNormal(rng=None) if False else chainer.initializers.HeNormal()
        with self.init_scope():
            self.l0 = L.Linear(None, n, initialW=w)
            self.bn = L.LayerNormalization(n)
            self.l1 = L.Linear(n, 1, initialW=w)

    def forward(self, x):
        return self.l1(F.leaky_relu(self.bn(self.l0(x))))


critic = Critic()
opt = chainer.optimizers.Adam(alpha=1e-2, beta1=0.0, beta2=0.9).setup(critic)
opt.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
opt.add_hook(chainer.optimizer_hooks.WeightDecay(1e-3))
for it in range(4):
    real = np.random.randn(5, 3).astype("f") + 1
    fake = np.random.randn(5, 3).astype("f")
    eps = np.random.rand(5, 1).astype("f")
    mid = Variable(real * eps + fake * (1 - eps))
    out = critic(mid)
    (g,) = chainer.grad([out], [mid], enable_double_backprop=True)
    norm = F.sqrt(F.batch_l2_norm_squared(g))
    gp = F.mean_squared_error(norm, critic.xp.ones_like(norm.array))
    loss = F.average(critic(fake)) - F.average(critic(real)) + 10 * gp
    critic.cleargrads()
    loss.backward()
    opt.update()
    print(it, "%.4f %.4f" % (float(loss.array), float(gp.array)), opt.t)
for n, p in sorted(critic.namedparams()):
    show(n, p)

# deepcopy and pickle
c2 = copy.deepcopy(critic)
c3 = pickle.loads(pickle.dumps(critic))
x = np.ones((2, 3), "f")
print(all((a(x).array == critic(x).array).all() for a in (c2, c3)))
c2.l0.W.array[...] = 0
show("kept", critic.l0.W)
o2 = pickle.loads(pickle.dumps(opt))
print(o2.t, o2.alpha, sorted(type(h).__name__ for h in [chainer.optimizer_hooks.WeightDecay(1)]))
shared = critic.copy()
print(shared.l0.W.array is critic.l0.W.array, shared.l0.W.grad is None, shared.name)
init = critic.copy("init")
print((init.l0.W.array == critic.l0.W.array).all())


# forget
def block(a, b):
    h = F.relu(critic.l0(a) * b)
    return h, F.sum(h)


a, b = Variable(np.ones((2, 3), "f")), Variable(np.full((2, 8), 2, "f"))
critic.cleargrads()
h, s = F.forget(block, a, b)
(F.sum(h) + s).backward()
show("ga", a.grad)
show("gb", b.grad)
show("gW", critic.l0.W.grad)

# threads with configurations
res = {}


def work(k):
    train = chainer.using_config("train", k % 2 == 0)
    dtype = chainer.using_config("dtype", [np.float16, np.float32, np.float64][k % 3])
    with train, dtype:
        res[k] = (
            chainer.config.train,
            chainer.get_dtype().name,
            L.Linear(2, 2).W.dtype.name,
            bool(F.dropout(np.ones(100, "f"), 0.9).array.max() > 1),
        )


ts = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in ts]
[t.join() for t in ts]
for k in sorted(res):
    print(k, res[k])
print(chainer.config.train, chainer.config.dtype)

# Sequential editing
s = chainer.Sequential(L.Linear(3, 4, initialW=0.1), F.relu, L.Linear(4, 2, initialW=0.2))
s.insert(1, L.BatchNormalization(4))
s.append(lambda x: F.softmax(x))
print(len(s), [getattr(l, "name", None) for l in s], sorted(n for n, _ in s.namedparams()))
with chainer.using_config("train", False):
    show("seq", s(x))
s.pop()
s.remove_by_layer_type("BatchNormalization")
del s[0]
print(len(s), sorted(n for n, _ in s.namedparams()))
t = s.repeat(2, "copy") + chainer.Sequential(F.tanh)
print(len(t), [type(l).__name__ for l in t][:2], t.count_by_layer_type("Sequential"))
if cuda.available:
    s.to_gpu()
# mixtures with arrays
v = Variable(np.arange(3, dtype="f"))
for r in (
    np.arange(3, dtype="d") + v,
    v - np.arange(3),
    2**v,
    np.float64(3) * v,
    v / np.float32(2),
    np.ones((2, 3), "f") @ v,
    v * np.int32(2),
    np.array(2.0) * v,
    1 - v,
    v // 2,
    v ** np.array(2.0),
):
    show(type(r).__name__, r)


class MyVar(Variable):
    pass


m = MyVar(np.ones(2, "f"))
y = m * 2
print(
    type(y).__name__, type(+m).__name__, type(F.reshape(m, (2,))).__name__, isinstance(m, Variable)
)
y.grad = np.ones(2, "f")
y.backward()
show("mg", m.grad)

"""Copies, pickles, files and serializers of models."""

import copy
import io
import pickle

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

np.random.seed(0)


class Net(chainer.Chain):
    def __init__(self):
        super(Net, self).__init__()
        with self.init_scope():
            self.a = L.Linear(None, 4)
            self.b = L.BatchNormalization(4)
            self.c = L.NStepGRU(1, 4, 3, 0.0)
            self.l = chainer.ChainList(L.Linear(3, 3), L.Linear(3, 2))
        self.z = {"k": 1}

    def __call__(self, x):
        h = self.b(self.a(x))
        _, ys = self.c(None, [h, h[:2]])
        return self.l[1](self.l[0](F.concat(ys, 0)))


n = Net()
x = np.random.randn(3, 5).astype("f")
print([p.array is None for p in n.params()][:2], "")
m0 = pickle.loads(pickle.dumps(n))
print(m0.a.W.array is None, m0.z)
y = n(x)
F.sum(y).backward()
m = pickle.loads(pickle.dumps(n))
print(np.allclose(m(x).array, n(x).array), m.a.W.grad is None, m.a.W.name)
d = copy.deepcopy(n)
print(
    d.a.W.array is n.a.W.array, np.array_equal(d.a.W.grad, n.a.W.grad), d.b.avg_mean is n.b.avg_mean
)
s = n.copy()
print(s.a.W.array is n.a.W.array, s.a.W is n.a.W, s.a.W.grad, s.name, s.z is n.z)
for mode in ["share", "copy", "init"]:
    c = n.copy(mode)
    print(
        mode,
        c.a.W.array is n.a.W.array,
        c.b.avg_mean is n.b.avg_mean,
        c.a.W.grad is None,
        np.array_equal(c.a.W.array, n.a.W.array),
        c.a.name,
        c.a.W.name,
    )
v = chainer.Variable(np.arange(3.0), name="q")
v2 = pickle.loads(pickle.dumps(v))
print(v2.name, v2.array, v2.grad, v2.requires_grad)
v3 = copy.deepcopy(v)
print(v3.name, v3.array)
p = chainer.Parameter(1.0, (2,))
p2 = copy.copy(p)
p2.array[:] = 5
print(p.array, copy.deepcopy(p).array, pickle.loads(pickle.dumps(p)).array)
p = chainer.Parameter(chainer.initializers.Constant(3))
q = pickle.loads(pickle.dumps(p))
q.initialize((2, 1))
print(q.array, q.shape, p.array)
o = chainer.optimizers.Adam().setup(n)
o.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
o.update(lambda: F.sum(n(x) ** 2))
o2 = pickle.loads(pickle.dumps(o))
print(o2.t, o2.target.a.W.update_rule.state["m"].sum().round(4))
o2.update(lambda: F.sum(o2.target(x) ** 2))
o.update(lambda: F.sum(n(x) ** 2))
print(np.allclose(o2.target.a.W.array, n.a.W.array), "")
chainer.serializers.save_npz("n.npz", n)
chainer.serializers.save_hdf5("n.h5", n)
chainer.serializers.save_npz("o.npz", o)
for f, l in [("n.npz", chainer.serializers.load_npz), ("n.h5", chainer.serializers.load_hdf5)]:
    k = Net()
    l(f, k)
    print(f, np.allclose(k(x).array, n(x).array), k.a.W.shape, k.b.N, type(k.b.N).__name__)
z = np.load("n.npz")
print(sorted(((k, z[k].dtype.str, z[k].shape) for k in z)))
z = np.load("o.npz")
print(sorted(z)[:6], z["t"], z["epoch"], z["/a/W/t"] if "/a/W/t" in z else z["a/W/t"])
u = Net()
chainer.serializers.save_npz("u.npz", u)
z = np.load("u.npz", allow_pickle=True)
print([(k, z[k].shape, z[k].dtype.kind) for k in sorted(z)][:4])
w = Net()
w(x)


class Bad(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(5, 4)
            self.extra = L.Linear(2, 2)


for strict in (True, False):
    try:
        chainer.serializers.load_npz("n.npz", Bad(), strict=strict)
        print("ok")
    except Exception as e:
        print(type(e).__name__)
b = Bad()
chainer.serializers.load_npz("n.npz", b, path="", ignore_names=["extra/W", "extra/b"])
print(np.array_equal(b.a.W.array, n.a.W.array))
b = L.Linear(5, 4)
chainer.serializers.load_npz("n.npz", b, path="a/")
print(np.array_equal(b.W.array, n.a.W.array))


class MyS(chainer.Serializer):
    def __init__(self, path="", out=None):
        self.path, self.out = (path, {} if out is None else out)

    def __getitem__(self, k):
        return MyS(self.path + k + ".", self.out)

    def __call__(self, k, v):
        self.out[self.path + k] = v
        return v


class MyD(chainer.Deserializer):
    def __init__(self, d, path=""):
        self.d, self.path = (d, path)

    def __getitem__(self, k):
        return MyD(self.d, self.path + k + ".")

    def __call__(self, k, v):
        s = self.d[self.path + k]
        if v is None:
            return np.array(s)
        if isinstance(v, np.ndarray):
            v[...] = s
            return v
        return type(v)(s)


s = MyS()
s.save(n)
print(sorted(s.out), type(s.out["b.N"]).__name__, type(s.out["a.W"]).__name__)
k = Net()
MyD(s.out).load(k)
print(np.allclose(k(x).array, n(x).array))
ds = chainer.serializers.DictionarySerializer()
ds.save(n)
print(sorted(ds.target) == sorted(np.load("n.npz")))
nd = chainer.serializers.NpzDeserializer(ds.target)
k = Net()
nd.load(k)
print(k.b.N)
print(chainer.serializers.npz.serialize(b).keys() == {"W", "b"})
try:
    chainer.serializers.load_npz("n.npz", L.Linear(3, 4), path="a/")
except Exception as e:
    print(type(e).__name__)
f = io.BytesIO()
chainer.serializers.save_npz(f, b)
f.seek(0)
chainer.serializers.load_npz(f, L.Linear(5, 4))
print("ok")

"""Hooks of links and functions: order of calls, timers, spectral normalization."""

import io
import re

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import FunctionHook, LinkHook, function_hooks, link_hooks

np.random.seed(0)


class Rec(LinkHook):
    name = "Rec"

    def __init__(self):
        self.l = []

    def added(self, link):
        self.l.append(("added", type(link).__name__))

    def deleted(self, link):
        self.l.append(("deleted", type(link).__name__))

    def forward_preprocess(self, a):
        self.l.append(("pre", type(a.link).__name__, a.forward_name, len(a.args), sorted(a.kwargs)))

    def forward_postprocess(self, a):
        self.l.append(("post", type(a.link).__name__, a.out.shape))


m = chainer.Sequential(L.Linear(3, 4), F.relu, L.BatchNormalization(4), L.Linear(4, 2))
x = np.random.randn(5, 3).astype("f")
h = Rec()
with h as g:
    m(x)
    print(g is h)
print(h.l)
h = Rec()
print(m[0].add_hook(h) is m[0])
m(x)
m[0].delete_hook("Rec")
print(h.l)
for f in [
    lambda: m[0].add_hook(3),
    lambda: m[0].delete_hook("x"),
    lambda: m[0].add_hook(h).add_hook(h),
]:
    try:
        f()
    except Exception as e:
        print(type(e).__name__)
m[0].delete_hook("Rec")


class FH(FunctionHook):
    name = "FH"

    def __init__(self):
        self.l = []

    def forward_preprocess(self, f, i):
        self.l.append(("fpre", f.label, f._impl_name, len(i)))

    def forward_postprocess(self, f, i):
        self.l.append(("fpost", f.label))

    def backward_preprocess(self, f, i, g):
        self.l.append(("bpre", f.label, len(i), [None if a is None else a.shape for a in g]))

    def backward_postprocess(self, f, i, g):
        self.l.append(("bpost", f.label))

    def added(self, f=None):
        self.l.append(("added", f))

    def deleted(self, f=None):
        self.l.append(("deleted", f))


fh = FH()
with fh:
    y = F.sum(m(x) ** 2)
    y.backward()
print(*[e for e in fh.l if e[0] in ("added", "deleted", "bpre")], sep="\n")
y = m[0](x)
fh = FH()
fh2 = FH()
y.creator_node.add_hook(fh, "mine")
y.grad = np.ones_like(y.array)
y.backward()
y.creator_node.delete_hook("mine")
print(
    [e if not isinstance(e[1], chainer.FunctionNode) else (e[0], type(e[1]).__name__) for e in fh.l]
)
t = function_hooks.TimerHook()
with t:
    m(x)
    m(x)
print(
    [n for n, _ in t.call_history],
    {k: v["occurrence"] for k, v in t.summary().items()},
    t.total_time() > 0,
)
b = io.StringIO()
t.print_report(file=b)
print(
    [re.sub("[\\d.]+\\w+", "T", l) for l in b.getvalue().splitlines()][0],
    len(b.getvalue().splitlines()),
)
b = io.StringIO()
t.print_report("ms", b)
print(all(("ms" in l for l in b.getvalue().splitlines()[1:])))
t = link_hooks.TimerHook()
with t:
    m(x)
print([n for n, _ in t.call_history], {k: v["occurrence"] for k, v in t.summary().items()})
b = io.StringIO()
t.print_report(unit="us", file=b)
print(b.getvalue().splitlines()[0])
np.random.seed(1)
l = L.Convolution2D(None, 4, 3).add_hook(link_hooks.SpectralNormalization(use_gamma=True))
z = np.random.randn(2, 3, 5, 5).astype("f")
for tr in (True, False):
    with chainer.using_config("train", tr):
        print(
            l(z).array.sum().round(4),
            l.W_u.round(4).tolist(),
            type(l.W).__name__,
            l.gamma.array.round(4),
        )
print(sorted((n for n, _ in l.namedparams())), "W_u" in l._persistent)
l.delete_hook("SpectralNormalization")
print(hasattr(l, "W_u"), hasattr(l, "gamma"))
l = L.Linear(4, 3)
l.add_hook(link_hooks.WeightStandardization())
y = l(x[:, :1].repeat(4, 1))
F.sum(y * y).backward()
print(y.array.round(4).tolist(), l.W.grad.round(4).tolist())
d = L.Deconvolution2D(3, 4, 3).add_hook(
    link_hooks.SpectralNormalization(n_power_iteration=3, factor=2.0, name="sn")
)
print(
    d(z).array.sum().round(3),
    d.W_u.shape,
    d.local_link_hooks["sn"].axis,
    d.local_link_hooks["sn"].vector_name,
)
try:
    with link_hooks.SpectralNormalization():
        pass
except Exception as e:
    print(type(e).__name__)
try:
    L.Linear(2, 2).add_hook(link_hooks.SpectralNormalization(weight_name="Q"))
except Exception as e:
    print(type(e).__name__, e)
c = m.copy()
print([list(getattr(k, "local_link_hooks", {})) for k in c if isinstance(k, chainer.Link)])
try:
    with fh, fh:
        pass
except KeyError as e:
    print("KeyError", e)
print(len(chainer.get_function_hooks()), len(chainer._get_link_hooks()))

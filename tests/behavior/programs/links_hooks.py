"""Initializers, link hooks, static graphs: arguments, values and errors."""

import warnings, sys, os, copy, pickle, tempfile
import numpy as np
import chainer, chainer.functions as F, chainer.links as L

import _cases

np.set_printoptions(precision=4, suppress=True)

#: Cases in which this release does something else on purpose.
SKIPPED = [
    "DownsamplingConvFilter (2, 3, 3, 3)",
    "GlorotNormal dtype",
    "GlorotUniform dtype",
    "HeNormal dtype",
    "HeUniform dtype",
    "LeCunNormal dtype",
    "LeCunUniform dtype",
    "Normal dtype",
    "Orthogonal dtype",
    "Uniform dtype",
    "UpsamplingDeconvFilter (2, 3, 3, 3)",
    "const 2.0",
    "const [1, 2]",
    "const np.float32(2.0)",
    "fans [2, 3]",
    "hk nonhook",
    "sg test",
    "sn copy",
    "sn dec ['eps', 'factor', 'name']",
    "sn dec ['n_power_iteration', 'use_gamma']",
    "sn dec []",
    "sn decl ['eps', 'factor', 'name']",
    "sn decl ['n_power_iteration', 'use_gamma']",
    "sn decl []",
    "sn forget",
    "sn iter",
    "sn load",
    "timer",
    "ws 1d",
    "ws dec",
    "ws decl",
]

case = _cases.printer(SKIPPED)

from chainer import initializers as I, link_hooks as H
import io, re

f = lambda *s: np.random.RandomState(1).randn(*s).astype("f")
RS = np.random.RandomState
inits = dict(
    Normal=I.Normal,
    LeCunNormal=I.LeCunNormal,
    GlorotNormal=I.GlorotNormal,
    HeNormal=I.HeNormal,
    Uniform=I.Uniform,
    LeCunUniform=I.LeCunUniform,
    GlorotUniform=I.GlorotUniform,
    HeUniform=I.HeUniform,
    Orthogonal=I.Orthogonal,
)


def fill(i, s=(3, 4), dt="f"):
    a = np.zeros(s, dt)
    i(a)
    return a


for n, c in inits.items():
    case(n, lambda: fill(c()))
    case(n + " scale", lambda: fill(c(scale=0.3)))
    case(n + " 4d", lambda: fill(c(), (2, 3, 2, 2)))
    case(n + " rng", lambda: fill(c(rng=RS(5))))
    case(n + " rngattr", lambda: c().rng)
    case(n + " kw", lambda: c(foo=1))
    case(n + " pos", lambda: c(1.0, None, RS(1)) and 1)
    case(n + " dtype", lambda: fill(c(dtype="d")))
    case(n + " half", lambda: fill(c(), dt="e").dtype)
    case(n + " 1d", lambda: fill(c(), (3,)))
    case(n + " 0d", lambda: fill(c(), ()))
    case(n + " empty", lambda: fill(c(), (0, 2)).shape)
    case(n + " gen", lambda: I.generate_array(c(), (2, 2), np))
    case(n + " attrs", lambda: (c(dtype="e").dtype, c(scale=3).scale))
    case(n + " pickle", lambda: fill(pickle.loads(pickle.dumps(c()))))
    for fo in ("fan_in", "fan_out", "x"):
        case(n + fo, lambda: fill(c(fan_option=fo)))
for m in ("auto", "projection", "embedding", "basis", "x"):
    for s in ((3, 4), (4, 3), (3, 3), (3,)):
        case("orth %s %s" % (m, s), lambda: fill(I.Orthogonal(mode=m), s))
for k in (I.UpsamplingDeconvFilter, I.DownsamplingConvFilter):
    for s in ((2, 2, 3, 3), (2, 1, 4, 4), (1, 1, 3), (2, 3, 3, 3), (2, 2, 3, 4), (1, 1, 2, 2, 2)):
        case("%s %s" % (k.__name__, s), lambda: fill(k(), s))
    case(k.__name__ + " bad", lambda: k("cubic"))
case(
    "gen",
    lambda: [
        I.generate_array(I.Zero(), (2,), np).dtype,
        I.generate_array(I.Zero("e"), (2,), np).dtype,
        I.generate_array(I.Zero(), (2,), np, dtype="d").dtype,
    ],
)
case("gen diff", lambda: I.generate_array(I.Zero("e"), (2,), np, dtype="d"))
case("gen dev", lambda: I.generate_array(I.Zero(), (2,), np, device="@numpy"))
with chainer.using_config("dtype", chainer.mixed16):
    case("gen mix", lambda: I.generate_array(I.Zero(), (2,), np).dtype)
case("ident", lambda: fill(I.Identity(2), (2, 2)))
case("ident bad", lambda: fill(I.Identity(2), (2, 3)))
case("ident bad1", lambda: fill(I.Identity(2), (2,)))
for v in (3, 1.5, np.float32(2), f(2), [1, 2], "a", None):
    case("const %r" % (v,), lambda: fill(I.Constant(v), (2,)))
case("one zero nan", lambda: (fill(I.One()), fill(I.Zero()), fill(I.NaN())))
for v in (
    None,
    3,
    f(2),
    np.float32(1),
    I.Zero(),
    abs,
    [1],
    {},
):
    case("getinit %s" % type(v).__name__, lambda: type(I._get_initializer(v)).__name__)
    case("chk %s" % type(v).__name__, lambda: I._check_is_initializer_like(v))
for s in ((2, 3), (2, 3, 4, 4), (2,), (), [2, 3]):
    case("fans %s" % (s,), lambda: chainer.initializer.get_fans(s))
case(
    "own init",
    lambda: (lambda C: L.Linear(2, 3, initialW=C()).W.array)(
        type("C", (chainer.initializer.Initializer,), {"__call__": lambda self, a: a.fill(4)})
    ),
)
case("init base", lambda: chainer.initializer.Initializer()(f(2)))
case("init dtype", lambda: chainer.initializer.Initializer("d").dtype)
# hooks
log = []


class Hk(chainer.LinkHook):
    name = "Hk"

    def __init__(s, tag="h"):
        s.tag = tag

    def added(s, l):
        log.append((s.tag, "added", l if l is None else type(l).__name__))

    def deleted(s, l):
        log.append((s.tag, "deleted", l if l is None else type(l).__name__))

    def forward_preprocess(s, a):
        log.append(
            (
                s.tag,
                "pre",
                type(a.link).__name__,
                a.forward_name,
                len(a.args),
                sorted(a.kwargs),
                hasattr(a, "out"),
            )
        )

    def forward_postprocess(s, a):
        log.append(
            (
                s.tag,
                "post",
                type(a.link).__name__,
                a.forward_name,
                len(a.args),
                sorted(a.kwargs),
                a.out.shape,
            )
        )


def lg(fn):
    def g():
        log[:] = []
        try:
            r = fn()
        except Exception as e:
            r = "!" + type(e).__name__ + str(e.args[0] if e.args else "")[:60]
        return r if not isinstance(
            r, (chainer.Link, chainer.Variable, chainer.LinkHook)
        ) else None, list(log)

    return g


def g1():
    with Hk() as h:
        L.Linear(2, 2)(f(1, 2))
        return type(h).__name__, list(chainer._get_link_hooks())


case("hk global", lg(g1))


def g2():
    with Hk():
        with Hk():
            pass


case("hk twice", lg(g2))


def g3():
    l = L.Linear(2, 2)
    r = l.add_hook(Hk("l"))
    with Hk("g"):
        l(f(1, 2))
    l.delete_hook("Hk")
    return r is l, len(l.local_link_hooks)


case("hk local", lg(g3))
case(
    "hk order",
    lg(
        lambda: (
            (lambda l: [l.add_hook(Hk("b"), "b"), l.add_hook(Hk("a"), "a"), l(x=f(1, 2))])(
                L.Linear(2, 2)
            )
            and None
        )
    ),
)
case("hk nonhook", lg(lambda: L.Linear(1, 1).add_hook(3)))
case("hk dup", lg(lambda: L.Linear(1, 1).add_hook(Hk()).add_hook(Hk())))
case("hk del", lg(lambda: L.Linear(1, 1).delete_hook("x")))


def g4():
    class B(chainer.Link):
        def forward(s, x):
            raise ValueError("b")

    with Hk():
        B()(1)


case("hk raise", lg(g4))
case(
    "hk seq",
    lg(
        lambda: (
            [
                h
                for h in [Hk()]
                for _ in [0]
                if h.__enter__()
                and chainer.Sequential(L.Linear(2, 2), F.relu)(f(1, 2)) is not None
                and h.__exit__() is None
            ]
            and None
        )
    ),
)


def g5():
    l = L.Linear(2, 2).add_hook(Hk())
    c = l.copy()
    d = copy.deepcopy(l)
    return (
        c.local_link_hooks is l.local_link_hooks,
        len(d.local_link_hooks),
        d.local_link_hooks["Hk"] is l.local_link_hooks["Hk"],
    )


case("hk copies", lg(g5))
from chainer.link_hook import (
    _ForwardPreprocessCallbackArgs as PA,
    _ForwardPostprocessCallbackArgs as QA,
)

case(
    "hk args",
    lambda: (
        re.sub("0x[0-9a-f]+", "", repr(PA(L.Linear(1, 1), "forward", (1,), {}))).split(" ")[0],
        repr(QA(3, "forward", (1,), {"a": 2}, 5)),
    ),
)


def tm():
    l = chainer.Sequential(L.Linear(2, 2), L.Linear(2, 2))
    h = H.TimerHook()
    with h:
        l(f(1, 2))
    s = io.StringIO()
    h.print_report(file=s)
    u = io.StringIO()
    h.print_report("sec", u)
    t = [x[1] for x in h.call_history]
    return (
        [x[0] for x in h.call_history],
        abs(h.total_time() - t[-1]) < 1e-9,
        [(k, sorted(v), v["occurrence"]) for k, v in h.summary().items()],
        [
            re.sub(r"[\d.]+(us|ms|ns|sec)", r"#", re.sub(" +", " ", x))
            for x in s.getvalue().splitlines()
        ],
        re.sub(r"[\d.]+", "#", u.getvalue()).split(),
        H.TimerHook.table,
    )


case("timer", tm)
case(
    "timer bad",
    lambda: (lambda h: (h.__enter__(), L.Linear(1, 1)(f(1, 1)), h.__exit__(), h.print_report("x")))(
        H.TimerHook()
    ),
)
case("timer 0", lambda: H.TimerHook().total_time())
case("timer name", lambda: H.TimerHook.name)
for nm, mk, x in [
    ("lin", lambda: L.Linear(3, 2), f(4, 3)),
    ("linl", lambda: L.Linear(2), f(4, 3)),
    ("conv", lambda: L.Convolution2D(3, 2, 3), f(1, 3, 5, 5)),
    ("convl", lambda: L.Convolution2D(None, 2, 3), f(1, 3, 5, 5)),
    ("dec", lambda: L.Deconvolution2D(3, 2, 3), f(1, 3, 5, 5)),
    ("decl", lambda: L.Deconvolution2D(None, 2, 3), f(1, 3, 5, 5)),
    ("emb", lambda: L.EmbedID(3, 2), np.array([0, 1], "i")),
    ("c1", lambda: L.Convolution1D(3, 2, 3), f(1, 3, 5)),
    ("d3", lambda: L.Deconvolution3D(3, 2, 2), f(1, 3, 2, 2, 2)),
]:
    for kw in (
        {},
        {"n_power_iteration": 3, "use_gamma": True},
        {"factor": 2.0, "eps": 1e-3, "name": "zz"},
    ):

        def sn():
            np.random.seed(1)
            l = mk()
            h = H.SpectralNormalization(**kw)
            l.add_hook(h)
            y = l(x)
            u1 = l.W_u.copy()
            y2 = l(x)
            F.sum(y2 * y2).backward() if 0 else F.sum(y2**2).backward()
            with chainer.using_config("train", False):
                u2 = l.W_u.copy()
                y3 = l(x)
                same = (u2 == l.W_u).all()
            t = tempfile.mktemp()
            chainer.serializers.save_npz(t, l)
            names = sorted(np.load(open(t, "rb")).keys())
            r = (
                y,
                u1,
                l.W_u,
                bool(same),
                l.W.grad,
                type(l.W).__name__,
                names,
                sorted(l._persistent),
                h.axis,
                h.vector_name,
                h.v is not None,
                h.original_weight is l.W,
                sorted(n for n, _ in l.namedparams()),
            )
            l.delete_hook(h.name)
            return r, hasattr(l, "W_u"), hasattr(l, "gamma")

        case("sn %s %s" % (nm, sorted(kw)), sn)

    def ws():
        np.random.seed(1)
        l = mk()
        l.add_hook(H.WeightStandardization())
        y = l(x)
        F.sum(y**2).backward()
        return y, l.W.grad, type(l.W).__name__, sorted(n for n, _ in l.namedparams())

    case("ws " + nm, ws)
case("sn with", lambda: H.SpectralNormalization().__enter__())
case("ws with", lambda: H.WeightStandardization().__enter__())
case("sn iter", lambda: H.SpectralNormalization(0))
case("sn name", lambda: L.Linear(1, 1).add_hook(H.SpectralNormalization(weight_name="X")))
case("ws name", lambda: L.Linear(1, 1).add_hook(H.WeightStandardization(weight_name="X")))
case(
    "sn del",
    lambda: L.Linear(1, 1).add_hook(H.SpectralNormalization()).delete_hook("SpectralNormalization"),
)
case("sn zero", lambda: L.Linear(2, 0).add_hook(H.SpectralNormalization()))
case("ws 1d", lambda: L.Scale(1, (3,)).add_hook(H.WeightStandardization())(f(2, 3)))
case("ws pos", lambda: H.WeightStandardization(1e-5))
case(
    "sn attrs",
    lambda: (
        lambda h: [
            getattr(h, k)
            for k in "n_power_iteration eps use_gamma factor weight_name vector_name axis _initialized name".split()
        ]
    )(H.SpectralNormalization()),
)
case(
    "sn fns",
    lambda: (
        H.spectral_normalization.update_approximate_vectors(
            chainer.Variable(f(2, 3)), f(2), 2, 1e-6
        ),
        H.spectral_normalization.calculate_max_singular_value(
            chainer.Variable(f(2, 3)), f(2), f(3)
        ),
        H.spectral_normalization.l2normalize(np, f(3), 1e-6),
    ),
)


def snload():
    l = L.Linear(3, 2).add_hook(H.SpectralNormalization())
    l(f(1, 3))
    t = tempfile.mktemp()
    chainer.serializers.save_npz(t, l)
    k = L.Linear(3, 2).add_hook(H.SpectralNormalization())
    chainer.serializers.load_npz(t, k)
    return (k.W_u == l.W_u).all(), k(f(1, 3))


case("sn load", snload)


def snopt():
    np.random.seed(0)
    m = chainer.Sequential(
        L.Linear(3, 4).add_hook(H.SpectralNormalization(use_gamma=True)),
        F.relu,
        L.Linear(4, 1).add_hook(H.SpectralNormalization()),
    )
    o = chainer.optimizers.Adam().setup(m)
    r = []
    for i in range(5):
        l = F.mean(m(f(5, 3)) ** 2)
        m.cleargrads()
        l.backward()
        o.update()
        r.append(l.array)
    return r


case("sn train", snopt)


def sncopy():
    np.random.seed(0)
    l = L.Linear(3, 2).add_hook(H.SpectralNormalization())
    l(f(1, 3))
    c = l.copy("copy")
    d = copy.deepcopy(l)
    return d(f(1, 3)), (d.W_u == l.W_u).all()


case("sn copy", sncopy)


def fg():
    l = L.Linear(3, 2).add_hook(H.SpectralNormalization())
    x = chainer.Variable(f(2, 3))
    u = l.W_u.copy()
    y = F.sum(F.forget(l, x))
    u1 = l.W_u.copy()
    y.backward()
    return (u1 == l.W_u).all(), l.W.grad


case("sn forget", fg)
# static graph
from chainer import static_graph, static_code


class M(chainer.Chain):
    def __init__(s, **k):
        super(M, s).__init__()
        with s.init_scope():
            s.l = L.Linear(3, 2, initialW=1)
            s.m = L.Linear(2, 2, initialW=1)

    @static_graph
    def forward(s, x):
        return s.m(F.relu(s.l(x)))


class M2(M):
    @static_graph(verbosity_level=0, minimize_cache_size=True)
    def forward(s, xs, y):
        return [xs[0] + y, (xs[1] * y,)]


import contextlib


def sg():
    m = M()
    x = f(5, 3)
    r = []
    with contextlib.redirect_stdout(io.StringIO()):
        for i in range(3):
            m.cleargrads()
            y = m(x * (i + 1))
            l = F.sum(y)
            l.backward()
            r.append((l.array, m.l.W.grad.copy()))
            m.l.W.array[...] += 1
    return (
        r,
        type(y.creator).__name__,
        sorted(m.schedule_manager.schedules),
        len(m.schedule_manager.schedules["train:(5, 3)float32"]),
    )


case("sg", sg)


def sg2():
    with contextlib.redirect_stdout(io.StringIO()):
        y = M2()([f(2), f(2)], f(2))
    return y


case("sg nested", sg2)
case("sg obj", lambda: M()("x"))


def sg3():
    with chainer.using_config("use_static_graph", False):
        m = M()
        y = m(f(5, 3))
        return hasattr(m, "schedule_manager"), type(y).__name__


case("sg off", sg3)


def sg4():
    class N(chainer.Chain):
        def __init__(s):
            super(N, s).__init__()
            with s.init_scope():
                s.c = M()

        @static_graph
        def forward(s, x):
            return s.c(x)

    with contextlib.redirect_stdout(io.StringIO()):
        N()(f(5, 3))


case("sg nest", sg4)


def sg5():
    m = M()
    with contextlib.redirect_stdout(io.StringIO()):
        for i in range(3):
            m(f(5, 3))
    a = len(m.schedule_manager.schedules["train:(5, 3)float32"])
    m.schedule_manager.end_forward()
    with contextlib.redirect_stdout(io.StringIO()):
        for i in range(3):
            m(f(5, 3))
    return (
        a,
        len(m.schedule_manager.schedules["train:(5, 3)float32"]),
        m.schedule_manager.minimize_cache_size,
        m.schedule_manager.verbosity_level,
    )


case("sg end", sg5)


def sg6():
    m = M()
    with contextlib.redirect_stdout(io.StringIO()), chainer.using_config("train", False):
        y = m(f(5, 3))
        m(f(5, 3))
        F.sum(y).backward()
    return sorted((k, len(v)) for k, v in m.schedule_manager.schedules.items()), m.l.W.grad


case("sg test", sg6)


def sg7():
    m = M()
    with contextlib.redirect_stdout(io.StringIO()), chainer.no_backprop_mode():
        y = m(f(5, 3))
    return y.creator, sorted(m.schedule_manager.schedules)


case("sg nobp", sg7)

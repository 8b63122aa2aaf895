"""Optimizers, update rules and hooks: values, order of the steps, errors."""

import warnings, sys, os, copy, pickle, tempfile
import numpy as np
import chainer, chainer.functions as F, chainer.links as L

import _cases

np.set_printoptions(precision=4, suppress=True)

#: Cases in which this release does something else on purpose.
SKIPPED = [
    "AMSBound lr",
    "AMSBound rule",
    "AMSGrad lr",
    "AMSGrad rule",
    "AdaBound lr",
    "AdaBound rule",
    "AdaDelta rule",
    "AdaGrad rule",
    "Adam lr",
    "Adam rule",
    "AdamW lr",
    "AdamW rule",
    "CorrectedMomentumSGD rule",
    "MSVAG late",
    "MSVAG rule",
    "MSVAG run",
    "MomentumSGD rule",
    "NesterovAG rule",
    "NesterovAG run16v",
    "RMSprop rule",
    "RMSpropGraves rule",
    "SGD rule",
    "SMORMS3 rule",
    "SMORMS3 ser",
    "dyn",
    "exposed",
    "msvag",
    "static",
]

case = _cases.printer(SKIPPED)

from chainer import optimizers as O, optimizer as OM, optimizer_hooks as K, training

f = lambda *s: np.random.RandomState(1).randn(*s).astype("f")
names = "AdaBound AdaDelta AdaGrad Adam AdamW AMSBound AMSGrad CorrectedMomentumSGD MomentumSGD MSVAG NesterovAG RMSprop RMSpropGraves SGD SMORMS3".split()
case(
    "exposed",
    lambda: sorted(
        n
        for n in dir(O)
        if isinstance(getattr(O, n), type) and issubclass(getattr(O, n), chainer.Optimizer)
    ),
)


class M(chainer.Link):
    def __init__(s, a=None):
        super(M, s).__init__()
        with s.init_scope():
            s.w = chainer.Parameter(f(3) if a is None else a)
            s.z = chainer.Parameter(np.array(2.0, "f"))
            s.e = chainer.Parameter(np.zeros((1, 0, 2), "f"))
            s.u = chainer.Parameter()

    def forward(s):
        return F.sum(s.w**2) * s.z


for n in names:
    C = getattr(O, n)
    case(
        n + " attrs0",
        lambda: (
            C.target,
            C().t,
            C().epoch,
            C().use_auto_new_epoch,
            C().hyperparam.get_dict(),
            repr(C().hyperparam),
        ),
    )

    def run(fp=False, dt="f", k=5, **kw):
        m = M(f(3).astype(dt))
        m.z.array = m.z.array.astype(dt)
        o = C(**kw)
        if fp:
            o.use_fp32_update()
        o.setup(m)
        r = []
        for i in range(k):
            with chainer.using_config("dtype", np.dtype(dt)):
                o.update(m)
            r.append(m.w.array.astype("d"))
        return (
            r[-1],
            m.z.array,
            o.t,
            o.epoch,
            m.w.update_rule.t,
            {a: b for a, b in sorted((m.w.update_rule.state or {}).items())},
            m.w.update_rule.is_elementwise,
            type(m.w.update_rule).__name__,
            m.u.update_rule.state,
        )

    case(n + " run", run)
    case(n + " run16", lambda: [x.dtype if hasattr(x, "dtype") else 0 for x in run(dt="e")[:2]])
    case(n + " run16v", lambda: np.round(run(dt="e", k=2)[0], 1))
    case(
        n + " fp32",
        lambda: (
            lambda r: (
                np.round(r[0], 2),
                sorted((k, v.dtype) for k, v in r[5].items() if k != "fp32_param"),
            )
        )(run(True, "e")),
    )
    case(n + " run64", lambda: run(dt="d")[0])

    def hypers():
        o = C()
        r = []
        for k in sorted(o.hyperparam.get_dict()):
            r.append((k, getattr(o, k)))
            setattr(o, k, 0.25)
            r.append(getattr(o.hyperparam, k))
        return r

    case(n + " hypers", hypers)
    case(n + " unknown attr", lambda: C().hyperparam.foo)
    case(n + " unknown kw", lambda: C(foo=1))
    case(n + " alpha_t", lambda: C().alpha_t)
    case(n + " lr", lambda: C().lr)

    def pick():
        m = M()
        o = C().setup(m)
        o.update(m)
        p = pickle.loads(pickle.dumps(o))
        p.update(p.target)
        o.update(m)
        return (p.target.w.array == m.w.array).all(), p.t

    case(n + " pickle", lambda: [bool(pick()[0])])

    def ser():
        m = M()
        o = C().setup(m)
        o.update(m)
        d = {}
        chainer.serializers.DictionarySerializer(d).save(o)
        return {k: (v.dtype, v.shape) for k, v in sorted(d.items()) if "fp32" not in k}

    case(n + " ser", ser)

    def ser0():
        m = M()
        o = C().setup(m)
        d = {}
        chainer.serializers.DictionarySerializer(d).save(o)
        return sorted(d)

    case(n + " ser0", ser0)

    def rule():
        mod = sys.modules[C.__module__]
        R = getattr(mod, [x for x in dir(mod) if x.endswith("Rule") and x != "UpdateRule"][0])
        return R.__name__, R.__module__, R().hyperparam.get_dict()

    case(n + " rule", rule)

    def disabled():
        m = M()
        o = C().setup(m)
        m.w.update_rule.enabled = False
        o.update(m)
        return m.w.array, m.w.update_rule.t

    case(n + " dis", disabled)

    def late():
        m = M()
        o = C().setup(m)
        o.update(m)
        m.u.initialize((2,))
        m.u.array[:] = 1
        m.cleargrads()
        l = F.sum(m.u) * m()
        l.backward()
        o.update()
        return m.u.array, m.u.update_rule.t

    case(n + " late", late)
for n, a in [
    ("AdaBound", (1, 2, 3, 4, 5, 6, 7)),
    ("AMSBound", (1, 2, 3, 4, 5, 6, 7)),
    ("AdamW", (1, 2, 3, 4, 5, 6)),
    ("AMSGrad", (1, 2, 3, 4, 5)),
    ("Adam", (1, 2, 3, 4, 5, 6, True, True, 9, 10)),
    ("RMSprop", (1, 2, 3, True)),
    ("MSVAG", (1, 2, 3, 4)),
]:
    case("pos " + n, lambda: getattr(O, n)(*a).hyperparam.get_dict())
for kw in (
    {"amsgrad": True},
    {"adabound": True},
    {"weight_decay_rate": 0.1, "eta": 0.5},
    {"adabound": True, "amsgrad": True, "final_lr": 1, "gamma": 0.5},
):

    def r(C=O.Adam, kw=kw):
        m = M()
        o = C(**kw).setup(m)
        [o.update(m) for _ in range(5)]
        u = m.w.update_rule
        return (
            m.w.array,
            getattr(u, "initial_alpha", None) if kw.get("adabound") else 0,
            u.alpha_t,
            u.bounds if kw.get("adabound") else 0,
            o.alpha_t,
        )

    case("adam %s" % sorted(kw), r)
case(
    "rms inside",
    lambda: (
        lambda m: (
            [o.update(m) for o in [O.RMSprop(eps_inside_sqrt=True).setup(m)] for _ in range(3)],
            m.w.array,
        )[1]
    )(M()),
)
case(
    "msvag",
    lambda: (
        lambda m: (
            [o.update(m) for o in [O.MSVAG(weight_decay_rate=0.1).setup(m)] for _ in range(3)],
            m.w.array,
            m.w.update_rule.beta_power,
        )[1:]
    )(M()),
)
case("setup nonlink", lambda: O.SGD().setup(3))
case("hook before", lambda: O.SGD().add_hook(lambda o: 0))
case("rmhook before", lambda: O.SGD().remove_hook("x"))
case("callhooks before", lambda: O.SGD().call_hooks())
log = []


class T(O.SGD):
    def reallocate_cleared_grads(s):
        log.append("realloc")
        super(T, s).reallocate_cleared_grads()

    def check_nan_in_grads(s):
        log.append("nan")
        super(T, s).check_nan_in_grads()

    def call_hooks(s, t="pre"):
        log.append("hooks " + t)
        super(T, s).call_hooks(t)

    def call_hook(s, h):
        log.append("hook")
        super(T, s).call_hook(h)

    def is_safe_to_update(s):
        log.append("safe")
        return super(T, s).is_safe_to_update()

    def update_loss_scale(s):
        log.append("scale")
        super(T, s).update_loss_scale()


def order():
    log[:] = []
    m = M()
    o = T().setup(m)
    o.add_hook(lambda o: log.append(("pre", o.t, m.w.update_rule.t)), "a")
    o.add_hook(lambda o: log.append(("post", o.t, m.w.update_rule.t)), "b", timing="post")
    m.w.update_rule.add_hook(lambda r, p: log.append(("rpre", r.t, o.t)), "c")
    m.w.update_rule.add_hook(lambda r, p: log.append(("rpost", r.t, o.t)), "d", timing="post")
    o.update(m)
    return list(log)


case("order", order)
m = M()
o = O.SGD().setup(m)
case("noncall", lambda: o.add_hook(3))
case("badtiming", lambda: o.add_hook(lambda o: 0, "x", timing="z"))
case("lambda", lambda: o.add_hook(lambda o: 0))
case("lambda2", lambda: o.add_hook(lambda o: 0))
case("rmunk", lambda: o.remove_hook("zz"))
case("bad call", lambda: o.call_hooks("z"))


class NN(object):
    def __call__(s, o):
        pass


case("nameless", lambda: o.add_hook(NN()))


class BT(NN):
    name = "bt"
    timing = "zz"


case("badattr", lambda: o.add_hook(BT()))
r_ = m.w.update_rule
case("r noncall", lambda: r_.add_hook(3))
case("r lambda", lambda: r_.add_hook(lambda r, p: 0))
case("r lambda2", lambda: r_.add_hook(lambda r, p: 0))
case("r nameless", lambda: r_.add_hook(NN()))
case("r rm", lambda: r_.remove_hook("q"))
case("r rm2", lambda: r_.remove_hook("<lambda>"))
case("r bt", lambda: r_.add_hook(lambda r, p: 0, "n", timing="u"))


def eachparam():
    m = M()
    o = O.SGD().setup(m)
    seen = []

    class H(object):
        name = "h"
        call_for_each_param = True
        timing = "pre"
        __call__ = lambda s, r, p: seen.append((p.name, type(r).__name__))

    m.w.update_rule.enabled = False
    o.add_hook(H())
    o.update(m)
    return seen


case("eachparam", eachparam)


def dyn(interval=4, seqs=(0, 0, 1, 0, 0, 1, 0)):
    m = M()
    o = O.SGD(0.001).setup(m)
    o.loss_scaling(interval=interval)
    r = []
    for s in seqs:
        m.cleargrads()
        l = m()
        l.backward(loss_scale=o._loss_scale)
        if s:
            m.w.grad[0] = np.inf
        with warnings.catch_warnings(record=True) as c:
            warnings.simplefilter("always")
            o.update()
        r.append(
            (
                float(o._loss_scale),
                len([x for x in c if x.category is UserWarning]),
                o.t,
                m.w.update_rule.t,
            )
        )
    return r


case("dyn", dyn)
case("scale0", lambda: O.SGD().loss_scaling(scale=0))
case("int0", lambda: O.SGD().loss_scaling(interval=0))
case(
    "static",
    lambda: (lambda o: (o.set_loss_scale(4), o._loss_scale, o.is_safe_to_update()))(
        O.SGD().setup(M())
    )[1:],
)


def stat(hook=None):
    m = M()
    o = O.SGD().setup(m)
    o.set_loss_scale(8.0)
    if hook:
        o.add_hook(hook)
    o.update(m)
    return m.w.array, m.z.array


case("static upd", stat)
case("static wd", lambda: stat(K.WeightDecay(0.1)))
for h in [
    K.WeightDecay(0.1),
    K.Lasso(0.1),
    K.GradientClipping(0.5),
    K.GradientHardClipping(-0.1, 0.1),
    K.GradientNoise(0.1),
    K.GradientLARS(),
]:
    case("hook " + h.name, lambda: (h.name, getattr(h, "call_for_each_param", None), h.timing))

    def hr():
        np.random.seed(0)
        m = M()
        o = O.MomentumSGD().setup(m)
        o.add_hook(h)
        o.update(m)
        o.update(m)
        return m.w.array, m.z.array

    case("hookrun " + h.name, hr)

    def hr2():
        np.random.seed(0)
        m = M()
        o = O.MomentumSGD().setup(m)
        m.w.update_rule.add_hook(h)
        o.update(m)
        return m.w.array

    if h.name != "GradientClipping":
        case("rulehook " + h.name, hr2)
for n in "WeightDecay Lasso GradientClipping GradientNoise GradientHardClipping".split():
    case(
        "old " + n,
        lambda: isinstance(
            getattr(OM, n)(*([0.1] if n != "GradientHardClipping" else [0, 1])), getattr(K, n)
        ),
    )
case("oldlars", lambda: hasattr(OM, "GradientLARS"))


def ne():
    o = O.SGD().setup(M())
    o.new_epoch()
    return o.epoch


case("newepoch", ne)
case("newepoch auto", lambda: O.SGD().setup(M()).new_epoch(auto=True))
case("use_cleargrads", lambda: O.SGD().use_cleargrads())


def dl():
    m = M()
    o = O.Adam().setup(m)
    d = {}
    chainer.serializers.DictionarySerializer(d).save(o)
    m2 = M()
    o2 = O.Adam().setup(m2)
    for p in m2.params():
        p.update_rule.enabled = False
    o2.serialize(chainer.serializers.NpzDeserializer(d))
    return m2.w.update_rule.state


case("disload", dl)


class Hy(object):
    pass


h = OM.Hyperparameter()
h.b = 2
h.a = 1
case(
    "hyper",
    lambda: (
        repr(h),
        h.get_dict(),
        repr(OM.Hyperparameter(h)),
        OM.Hyperparameter(h).a,
        OM.Hyperparameter(h).parent is h,
    ),
)
case("hyper unk", lambda: h.zz)


# own optimizer
class MyRule(OM.UpdateRule):
    def __init__(s, parent=None, lr=None):
        super(MyRule, s).__init__(parent or OM.Hyperparameter())
        if lr is not None:
            s.hyperparam.lr = lr

    def init_state(s, p):
        xp = chainer.backend.get_array_module(p.array)
        with chainer.cuda.get_device_from_array(p.array):
            s.state["s"] = xp.zeros_like(p.array)

    def update_core_cpu(s, p):
        if p.grad is None:
            return
        s.state["s"] += p.grad
        p.array -= s.hyperparam.lr * s.state["s"]

    def update_core_gpu(s, p):
        raise RuntimeError


class My(OM.GradientMethod):
    def __init__(s, lr=0.1):
        super(My, s).__init__()
        s.hyperparam.lr = lr

    lr = OM.HyperparameterProxy("lr")

    def create_update_rule(s):
        return MyRule(s.hyperparam)


def my():
    m = M()
    o = My().setup(m)
    o.add_hook(K.WeightDecay(0.1))
    [o.update(m) for _ in range(3)]
    o.lr = 0.5
    o.update(m)
    d = {}
    chainer.serializers.DictionarySerializer(d).save(o)
    return m.w.array, sorted(d), m.w.update_rule.hyperparam.lr


case("my", my)
case("my base", lambda: OM.UpdateRule().update_core(chainer.Parameter(f(2))))
case("my base2", lambda: OM.GradientMethod().setup(M()))
case(
    "rule upd",
    lambda: (lambda p, r: (r.update(p), p.array, r.t, r.state)[1:])(
        *(lambda p: (setattr(p, "grad", f(3)), p)[1:])(chainer.Parameter(f(3))) + (MyRule(lr=0.1),)
    ),
)


def nograd():
    m = M()
    o = O.SGD().setup(m)
    m.cleargrads()
    o.update()
    return m.w.grad, m.u.grad if 0 else None, o.t


case("nograd", nograd)


def zero():
    m = M()
    o = O.SGD().setup(m)
    o.use_cleargrads(False)
    o.update(m)
    return m.w.array


case("zero", zero)


def addlate():
    m = M()
    o = O.SGD().setup(m)


case("sgd rule in optimizer file", lambda: O.sgd.SGDRule(lr=3).hyperparam.lr)
case("make_deterministic", lambda: chainer.optimizers.adam.Adam is O.Adam)

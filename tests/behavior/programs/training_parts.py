"""Updaters, trainers, triggers, extensions, snapshots, reports; needs matplotlib."""

import warnings, sys, os, copy, pickle, tempfile
import numpy as np
import chainer, chainer.functions as F, chainer.links as L

import _cases

np.set_printoptions(precision=4, suppress=True)

#: Cases in which this release does something else on purpose.
SKIPPED = [
    "conv res dict",
    "conv res list",
    "conv res one",
    "conv res tuple",
    "dsumm (1.0, 'a')",
    "dsumm (1.0, 2)",
    "dsumm (1.0, 2, 3)",
    "dsumm 3",
    "dsumm None",
    "dsumm [1. 1. 1.]",
    "dsumm str",
    "dump txt",
    "ev bar",
    "ev dict",
    "ev direct",
    "ev noreset",
    "ext ibt",
    "exts",
    "microavg",
    "msg",
    "names",
    "newepoch user",
    "pb",
    "print",
    "print big",
    "print own",
    "save unstarted",
    "shift polyt",
    "snap contents",
    "summ",
    "timer",
    "trig ser es",
    "trig ser esacc",
    "trig ser esmax",
    "trig time",
    "upd ser",
    "writer kinds",
]

case = _cases.printer(SKIPPED)

import io, re, json, contextlib, shutil, glob, time
from chainer import training, iterators as It, optimizers as O, serializers as S
from chainer.training import extensions as E, triggers as T, updaters as U, extension, trigger as TR

f = lambda *s: np.random.RandomState(1).randn(*s).astype("f")


class M(chainer.Link):
    def __init__(s):
        super(M, s).__init__()
        with s.init_scope():
            s.w = chainer.Parameter(f(3))

    def forward(s, x, t=None):
        l = F.sum((F.matmul(x, s.w) - (0 if t is None else t)) ** 2)
        chainer.report({"loss": l, "n": (len(x), 2)}, s)
        return l


D = lambda n=10: chainer.datasets.TupleDataset(f(n, 3), np.arange(n, dtype="f"))


def tr(stop=(2, "epoch"), n=10, bs=4, out=None, opt=None, ups={}, **kw):
    m = M()
    o = (opt or O.SGD(0.001)).setup(m)
    it = It.SerialIterator(D(n), bs, shuffle=False)
    u = U.StandardUpdater(it, o, **ups)
    t = training.Trainer(u, stop, out=out or tempfile.mkdtemp(), **kw)
    return t


def quiet(fn):
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        return fn()


# updaters
u = lambda **k: tr(ups=k).updater
case(
    "upd attrs",
    lambda: (
        u().device,
        u(device="@numpy").device.__class__.__name__,
        u(device=-1).input_device.__class__.__name__,
        u(input_device="@numpy").device,
        u(input_device="@numpy").input_device.__class__.__name__,
    ),
)
case("upd unk", lambda: u(foo=1))
case("upd anew", lambda: u().get_optimizer("main").use_auto_new_epoch)
case("upd anew no", lambda: u(auto_new_epoch=False).get_optimizer("main").use_auto_new_epoch)


def conv(dev):
    seen = []

    def c(b, d):
        seen.append(d if d is None or isinstance(d, int) else type(d).__name__)
        return chainer.dataset.concat_examples(b)

    @chainer.dataset.converter()
    def c2(b, d):
        seen.append(d if d is None or isinstance(d, int) else type(d).__name__)
        return chainer.dataset.concat_examples(b)

    for k in (c, c2):
        tr(ups=dict(converter=k, device=dev)).updater.update()
    return seen


for d in (None, -1, "@numpy", chainer.get_device("@numpy")):
    case("conv %s" % d, lambda: conv(d))
for r in ("tuple", "dict", "one", "list"):

    def rr():
        seen = []

        def loss(*a, **k):
            seen.append((len(a), sorted(k)))
            return F.sum(chainer.Parameter(f(1)))

        c = {
            "tuple": lambda b, d: (1, 2),
            "dict": lambda b, d: {"a": 1},
            "one": lambda b, d: 3,
            "list": lambda b, d: [1, 2],
        }[r]
        tr(ups=dict(converter=c, loss_func=loss)).updater.update()
        return seen

    case("conv res " + r, rr)
case("upd loss scale", lambda: u(loss_scale=4.0).get_optimizer("main")._loss_scale)
case("upd base", lambda: training.Updater().update())
case("upd base2", lambda: training.Updater().connect_trainer(1))
case("upd base3", lambda: training.Updater().get_optimizer("x"))


class CU(U.StandardUpdater):
    def update_core(s):
        it = s.get_iterator("main")
        o = s.get_optimizer("main")
        b = it.next()
        x, t = s.converter(b, s.device)
        o.update(o.target, x, t)
        if s.auto_new_epoch and it.is_new_epoch:
            o.new_epoch(auto=True)


def cu():
    m = M()
    o = O.SGD(0.001).setup(m)
    t = training.Trainer(CU(It.SerialIterator(D(), 5), o), (3, "epoch"), out=tempfile.mkdtemp())
    t.run()
    return o.epoch, t.updater.epoch, t.updater.iteration


case("CU", cu)


def useradd():
    t = tr()
    o = t.updater.get_optimizer("main")
    o.new_epoch()


case("newepoch user", useradd)
case("upd ser", lambda: (lambda d: (S.DictionarySerializer(d).save(u()), sorted(d))[1])({}))


def pu(**k):
    m = M()
    o = O.SGD(0.001).setup(m)
    p = U.ParallelUpdater(It.SerialIterator(D(), 4, shuffle=False), o, **k)
    r = chainer.Reporter()
    r.add_observer("main", m)
    with r:
        with r.scope({}):
            p.update()
    return m.w.array, sorted(r.observation)


case("par", lambda: pu(devices={"main": -1, "a": -1}))
case("par none", lambda: pu())
case("par nomain", lambda: pu(devices={"x": -1}))
# trainer
case("before", lambda: tr().is_before_training)
case("elapsed before", lambda: tr().elapsed_time)
case("ext none", lambda: tr().get_extension("x"))
case("ext training", lambda: tr().extend(lambda t: 0, name="training"))
case("ext noname", lambda: tr().extend(type("X", (), {"__call__": lambda s, t: 0})()))
case("ext ibt", lambda: tr().extend(lambda t: 0, invoke_before_training=True))
case("ext foo", lambda: tr().extend(lambda t: 0, foo=True))


def names():
    t = tr()

    @training.make_extension()
    def fn(t):
        pass

    class Ex(training.Extension):
        def __call__(s, t):
            pass

    class Nm(Ex):
        name = "nm"

    a, b = Ex(), Ex()
    t.extend(fn)
    t.extend(fn)
    t.extend(a)
    t.extend(b)
    t.extend(Nm())
    t.extend(lambda t: 0, name="q")
    t.extend(E.snapshot())
    t.extend(E.LogReport())
    t.extend(E.observe_lr())
    return (
        [k for k in t._extensions] if hasattr(t, "_extensions") else 0,
        fn.name,
        a.name,
        b.name,
        type(t.get_extension("_Snapshot")).__name__,
    )


case("names", names)
log = []


class R(training.Extension):
    def __init__(s, n, tag=None):
        s.n = n

    def initialize(s, t):
        log.append((s.n, "init"))

    def __call__(s, t):
        log.append((s.n, "call", t.updater.iteration))

    def on_error(s, t, e, tb):
        log.append((s.n, "err", type(e).__name__))

    def finalize(s):
        log.append((s.n, "fin"))

    def serialize(s, x):
        log.append((s.n, "ser"))


def lifecycle(err=None, **kw):
    log[:] = []
    t = tr((3, "iteration"), **kw)
    t.extend(R("a"), "a", trigger=(2, "iteration"))
    t.extend(R("b"), "b", priority=500, call_before_training=True)
    t.extend(R("c"), "c", trigger=T.OnceTrigger())
    if err:

        @training.make_extension(priority=1000)
        def boom(t):
            if t.updater.iteration == 2:
                raise err("x")

        t.extend(boom)
    try:
        quiet(t.run)
    except BaseException as e:
        log.append(type(e).__name__)
    return list(log), t.updater.iteration, isinstance(t.elapsed_time, float)


case("life", lifecycle)
case("life err", lambda: lifecycle(ValueError))
case("life kbd", lambda: lifecycle(KeyboardInterrupt))


def rerun():
    log[:] = []
    t = tr((4, "iteration"))
    t.extend(R("a"), "a")
    st = [0]

    @training.make_extension()
    def boom(t):
        if t.updater.iteration == 2 and not st[0]:
            st[0] = 1
            raise KeyboardInterrupt

    t.extend(boom)
    try:
        quiet(t.run)
    except KeyboardInterrupt:
        pass
    t.run()
    try:
        t.run()
    except Exception as e:
        log.append(type(e).__name__)
    return list(log), t.updater.iteration


case("rerun", rerun)


def msg(**k):
    t = tr((3, "iteration"))

    @training.make_extension()
    def boom(t):
        raise ValueError("zz")

    t.extend(boom)
    e = io.StringIO()
    with contextlib.redirect_stderr(e):
        try:
            t.run(**k)
        except ValueError:
            pass
    return [l for l in e.getvalue().splitlines() if not l.startswith("  ")]


case("msg", msg)
case("nomsg", lambda: msg(show_loop_exception_msg=False))
case("save unstarted", lambda: S.save_npz(tempfile.mktemp(), tr()))
case(
    "mkext",
    lambda: (
        lambda g: [
            getattr(g, k, "-")
            for k in "trigger default_name priority finalize initialize on_error".split()
        ]
    )(training.make_extension()(lambda t: 0)),
)
case("mkext ibt", lambda: training.make_extension(invoke_before_training=True))
case("mkext foo", lambda: training.make_extension(foo=1))
case(
    "Ext",
    lambda: (
        training.Extension.name,
        training.Extension().default_name,
        training.Extension.trigger,
        training.Extension.priority,
    ),
)
case("Ext call", lambda: training.Extension()(1))
case("Ext ibt", lambda: training.Extension().invoke_before_training)
case("prio", lambda: (training.PRIORITY_WRITER, training.PRIORITY_EDITOR, training.PRIORITY_READER))
for x in (None, (1, "epoch"), [2, "iteration"], (1,), 3, lambda t: 5):
    case(
        "gettrig %s" % type(x).__name__,
        lambda: (lambda g: g(None) if x is None or callable(x) else str(g))(
            training.get_trigger(x)
        ),
    )


# triggers over a run
def fires(mk, n=12, per=4, stopat=None, key=None):
    t = tr((n, "iteration"), n=per * 2, bs=2)
    g = mk()
    r = []

    @training.make_extension(trigger=(1, "iteration"))
    def fn(t):
        if key:
            t.observation["v"] = key[t.updater.iteration - 1]
        if g(t):
            r.append(t.updater.iteration)

    t.extend(fn)
    t.run()
    return (
        r,
        getattr(g, "finished", "-"),
        g.get_training_length() if hasattr(g, "get_training_length") else "-",
    )


vals = [3, 2, 5, 1, 7, 8, 2, 9, 0, 4, 6, 1]
for n, mk in dict(
    iv2=lambda: T.IntervalTrigger(2, "iteration"),
    iv15=lambda: T.IntervalTrigger(1.5, "epoch"),
    iv=lambda: T.IntervalTrigger(1, "epoch"),
    man=lambda: T.ManualScheduleTrigger([2, 5], "iteration"),
    man1=lambda: T.ManualScheduleTrigger(1, "epoch"),
    man3=lambda: T.ManualScheduleTrigger([0.5, 2.2], "epoch"),
    once=lambda: T.OnceTrigger(),
    mx=lambda: T.MaxValueTrigger("v", (2, "iteration")),
    mn=lambda: T.MinValueTrigger("v", (2, "iteration")),
    bv=lambda: T.BestValueTrigger("v", lambda a, b: b > a, (3, "iteration")),
    es=lambda: T.EarlyStoppingTrigger((1, "iteration"), "v", 2),
    esmax=lambda: T.EarlyStoppingTrigger((1, "iteration"), "v", 2, "max"),
    esacc=lambda: T.EarlyStoppingTrigger(
        (2, "iteration"), "v", patience=1, mode="min", max_trigger=(6, "iteration")
    ),
).items():
    case("trig " + n, lambda: fires(mk, key=vals))
    case("trig str " + n, lambda: str(mk()) if n.startswith("iv") else 0)

    def ts():
        g = mk()
        d = {}
        if not hasattr(g, "serialize"):
            return "no"
        if n.startswith("es"):
            return 0
        S.DictionarySerializer(d).save(g)
        return {k: (v.dtype, v.tolist()) for k, v in sorted(d.items())}

    case("trig ser " + n, ts)
case("iv unit", lambda: T.IntervalTrigger(1, "x"))
case("man unit", lambda: T.ManualScheduleTrigger(1, "x"))
case("es both", lambda: T.EarlyStoppingTrigger(patience=1, patients=2))
case("es alias", lambda: T.EarlyStoppingTrigger(patients=2).patience)
case(
    "iv attrs",
    lambda: (
        T.IntervalTrigger(2, "epoch").period,
        T.IntervalTrigger(2, "epoch").unit,
        T.IntervalTrigger(2, "epoch").count,
    ),
)
case("iv float", lambda: str(T.IntervalTrigger(0.5, "epoch")))
case("once attrs", lambda: T.OnceTrigger(True).finished)
case("iv arity", lambda: training.get_trigger((1, "epoch", 3)))
for n in ("IntervalTrigger", "ManualScheduleTrigger", "OnceTrigger"):
    case(
        "missing " + n,
        lambda: (lambda g: (g.serialize(S.NpzDeserializer({})), getattr(g, "finished", "-")))(
            getattr(T, n)(*([2, "epoch"] if n != "OnceTrigger" else []))
        ),
    )


def oncer(c):
    g = T.OnceTrigger(c)
    d = {}
    t = tr()
    g(t)
    S.DictionarySerializer(d).save(g)
    h = T.OnceTrigger(c)
    S.NpzDeserializer(d).load(h)
    return h.finished, h(t), h(t), h.finished


case("once resume", lambda: oncer(False))
case("once resume2", lambda: oncer(True))


# extensions
def run(exts, stop=(2, "epoch"), look=None, **kw):
    t = tr(stop, **kw)
    [t.extend(*e) if isinstance(e, tuple) else t.extend(e) for e in exts(t)]
    o = io.StringIO()
    with contextlib.redirect_stdout(o):
        t.run()
    return t, o.getvalue()


def cleanlog(t):
    l = json.load(open(os.path.join(t.out, "log")))
    for e in l:
        e.pop("elapsed_time")
    return l


case("logreport", lambda: cleanlog(run(lambda t: [E.LogReport(trigger=(1, "iteration"))])[0]))
case(
    "log keys",
    lambda: cleanlog(run(lambda t: [E.LogReport(["main/loss"], trigger=(2, "iteration"))])[0]),
)
case(
    "log post",
    lambda: cleanlog(run(lambda t: [E.LogReport(postprocess=lambda d: d.update(zz=1))])[0]),
)
case(
    "log name",
    lambda: sorted(
        os.listdir(
            run(lambda t: [E.LogReport(filename="l2"), (E.LogReport(log_name="l3"), "x")])[0].out
        )
    ),
)
case(
    "log both",
    lambda: sorted(os.listdir(run(lambda t: [E.LogReport(filename="l2", log_name="l3")])[0].out)),
)
case(
    "log fmt",
    lambda: re.sub(
        r"[\d.]+(e-\d+)?",
        "#",
        open(os.path.join(run(lambda t: [E.LogReport()])[0].out, "log")).read(),
    ),
)
case(
    "log fname fmt",
    lambda: sorted(
        os.listdir(run(lambda t: [E.LogReport(filename="log_{epoch}_{iteration}")])[0].out)
    ),
)


def cbt():
    t = tr((2, "iteration"))
    t.extend(E.LogReport(trigger=(1, "epoch")), call_before_training=True)
    t.extend(
        E.Evaluator(
            It.SerialIterator(D(), 5, repeat=False), t.updater.get_optimizer("main").target
        ),
        call_before_training=True,
        trigger=(1, "iteration"),
    )
    t.run()
    return cleanlog(t)


case("log cbt", cbt)
pr = lambda t: re.sub(r"\d+\.\d+(e-\d+)?", "#", re.sub("\x1b\\[[0-9]*[A-Z]", "", t))
case(
    "print",
    lambda: pr(
        run(
            lambda t: [
                E.LogReport(trigger=(1, "iteration")),
                (
                    E.PrintReport(["epoch", "iteration", "main/loss", "elapsed_time", "nokey"]),
                    "p",
                    (1, "iteration"),
                ),
            ]
        )[1]
    ),
)
case(
    "print big",
    lambda: pr(
        run(
            lambda t: [
                E.LogReport(trigger=(1, "iteration")),
                (
                    E.PrintReport(
                        ["epoch", "a_name_that_is_longer_than_ten", "main/n"],
                        log_report="LogReport",
                    ),
                    "p",
                    (1, "iteration"),
                ),
            ]
        )[1]
    ),
)
case(
    "print own",
    lambda: pr(
        run(
            lambda t: [
                (
                    E.PrintReport(["epoch", "main/loss"], E.LogReport(trigger=(1, "iteration"))),
                    "p",
                    (1, "iteration"),
                )
            ]
        )[1]
    ),
)
bar = lambda s: re.sub(r"[\d.e+-]+ iters/sec.*", "SPEED", s.replace("\x1b", "ESC"))
case(
    "evaluator",
    lambda: cleanlog(
        run(
            lambda t: [
                E.Evaluator(
                    It.SerialIterator(D(), 4, repeat=False, shuffle=False),
                    t.updater.get_optimizer("main").target,
                ),
                E.LogReport(),
            ]
        )[0]
    ),
)
case(
    "ev name",
    lambda: cleanlog(
        run(
            lambda t: [
                (
                    E.Evaluator(
                        It.SerialIterator(D(), 4, repeat=False, shuffle=False),
                        t.updater.get_optimizer("main").target,
                    ),
                    "vv",
                ),
                E.LogReport(),
            ]
        )[0]
    ),
)
case(
    "ev direct", lambda: E.Evaluator(It.SerialIterator(D(), 4, repeat=False, shuffle=False), M())()
)
case("ev rep", lambda: E.Evaluator(It.SerialIterator(D(), 4), M()) and 1)
case(
    "ev attrs",
    lambda: (
        lambda e: (
            e.default_name,
            e.name,
            e.device,
            type(e.get_iterator("main")).__name__,
            type(e.get_target("main")).__name__,
            sorted(e.get_all_iterators()),
            e.trigger,
            e.priority,
        )
    )(E.Evaluator(It.SerialIterator(D(), 4, repeat=False), M())),
)
case(
    "ev dict",
    lambda: E.Evaluator(
        {"main": It.SerialIterator(D(), 4, repeat=False, shuffle=False), "x": None},
        {"main": M()},
        device="@numpy",
    )(),
)
case(
    "ev hook",
    lambda: (
        lambda l: (
            E.Evaluator(
                It.SerialIterator(D(), 4, repeat=False, shuffle=False),
                M(),
                eval_hook=lambda e: l.append("h"),
                eval_func=lambda x, t: l.append(x.shape),
            )(),
            l,
        )
    )([])[1],
)


def evbar():
    o = io.StringIO()
    with contextlib.redirect_stdout(o):
        E.Evaluator(
            It.SerialIterator(D(), 4, repeat=False, shuffle=False), M(), progress_bar=True
        )()
    return bar(o.getvalue()).count("SPEED"), bar(o.getvalue()).split("\n")[:4]


case("ev bar", evbar)


class NoReset(It.SerialIterator):
    reset = property()


class PlainIt(chainer.dataset.Iterator):
    def __init__(s):
        s.i = 0

    def __next__(s):
        s.i += 1
        if s.i > 2:
            raise StopIteration
        return [(f(3), np.float32(1))]


case("ev noreset", lambda: (lambda e: (e(), e()))(E.Evaluator(PlainIt(), M())))
case("ev bar bad", lambda: quiet(lambda: E.Evaluator(PlainIt(), M(), progress_bar=True)()))


class MyEv(E.Evaluator):
    default_name = "my"

    def evaluate(s):
        d = chainer.reporter.DictSummary()
        it = s.get_iterator("main")
        it.reset()
        for b in it:
            x, t = s.converter(b, s.device)
            ob = {}
            with chainer.reporter.report_scope(ob):
                s.get_target("main")(x, t)
            d.add(ob)
        return {
            s.name + "/k": 1.0,
            "zz": d.compute_mean()["main/loss"]
            if "main/loss" in d.compute_mean()
            else sorted(d.compute_mean()),
        }


case(
    "ev own",
    lambda: (lambda t: t.observation)(
        run(
            lambda t: [
                MyEv(
                    It.SerialIterator(D(), 4, repeat=False, shuffle=False),
                    t.updater.get_optimizer("main").target,
                )
            ]
        )[0]
    ).keys(),
)


# shifts
def shift(mk, n=8, opt=None):
    t = tr((n, "iteration"), opt=opt or O.MomentumSGD(0.1))
    e = mk(t.updater.get_optimizer("main"))
    t.extend(e, trigger=(1, "iteration"))
    r = []

    @training.make_extension(trigger=(1, "iteration"), priority=-500)
    def look(t):
        r.append(float(t.updater.get_optimizer("main").lr))

    t.extend(look)
    t.run()
    d = {}
    S.DictionarySerializer(d).save(e)
    return (
        r,
        {k: v.tolist() for k, v in sorted(d.items())},
        [getattr(E.__dict__[type(e).__name__] if 0 else type(e), "default_name", "-")][0]
        if 0
        else 0,
    )


sh = dict(
    exp=lambda o: E.ExponentialShift("lr", 0.5),
    expt=lambda o: E.ExponentialShift("lr", 0.5, 1.0, 0.1),
    expup=lambda o: E.ExponentialShift("lr", 2.0, 0.1, 1.0),
    inv=lambda o: E.InverseShift("lr", 0.5, 0.75),
    invt=lambda o: E.InverseShift("lr", 0.5, 2.0, 1.0, 0.2),
    lin=lambda o: E.LinearShift("lr", (1.0, 0.2), (2, 6)),
    poly=lambda o: E.PolynomialShift("lr", 2.0, 5, 1.0),
    polyt=lambda o: E.PolynomialShift("lr", 0.5, 6, 1.0, 0.5),
    step=lambda o: E.StepShift("lr", 0.5, 3),
    stept=lambda o: E.StepShift("lr", 0.5, 2, 1.0, 0.3),
    multi=lambda o: E.MultistepShift("lr", 0.1, [2, 5], 1.0),
    warm=lambda o: E.WarmupShift("lr", 0.01, 4, 0.1),
    warmn=lambda o: E.WarmupShift("lr", None, 4, 0.5),
    expo=lambda o: E.ExponentialShift("lr", 0.5, optimizer=o),
)
for k, v in sh.items():
    case("shift " + k, lambda: shift(v))
case("shift rate", lambda: E.ExponentialShift("lr", -1))
case("shift gamma", lambda: E.InverseShift("lr", -1, 1))
for n, a in [
    ("ExponentialShift", ("lr", 0.5)),
    ("InverseShift", ("lr", 0.5, 0.5)),
    ("LinearShift", ("lr", (1.0, 0.0), (1, 3))),
    ("PolynomialShift", ("lr", 1.0, 5)),
    ("StepShift", ("lr", 0.5, 2)),
    ("MultistepShift", ("lr", 0.5, [2, 3], 1.0)),
    ("WarmupShift", ("lr", 0.1, 3, 1.0)),
]:
    case("def " + n, lambda: (lambda e: (e.trigger, e.priority, e.default_name))(getattr(E, n)(*a)))


# snapshots
def snap(mk, n=6, look=None):
    t = tr((n, "iteration"))
    t.extend(mk(t), trigger=(1, "iteration"))
    quiet(t.run)
    return sorted(x for x in os.listdir(t.out))


case("snap", lambda: snap(lambda t: E.snapshot()))
case("snap fn", lambda: snap(lambda t: E.snapshot(filename="a{.updater.iteration}")))
case(
    "snap callable",
    lambda: snap(lambda t: E.snapshot(filename=lambda t: "b%d" % t.updater.iteration)),
)
case("snap retain", lambda: snap(lambda t: E.snapshot(n_retains=2)))
case("snap num_retain", lambda: snap(lambda t: E.snapshot(num_retain=2)))
case(
    "snap cond", lambda: snap(lambda t: E.snapshot(condition=lambda: t.updater.iteration % 2 == 0))
)
case(
    "snap obj",
    lambda: snap(
        lambda t: E.snapshot_object(
            t.updater.get_optimizer("main").target, "m{.updater.iteration}", n_retains=1
        )
    ),
)
case(
    "snap both",
    lambda: E.snapshot(savefun=lambda a, b: 0, writer=E.snapshot_writers.SimpleWriter()),
)
case("snap unk", lambda: E.snapshot(foo=1))
seen = []


def sf(fn, obj, **k):
    seen.append((os.path.basename(fn), sorted(obj)[:3], type(obj["updater/iteration"]).__name__))
    np.savez(open(fn, "wb"), **obj)


case(
    "savefun",
    lambda: (
        seen.__setitem__(slice(None), []),
        snap(lambda t: E.snapshot(savefun=sf), 2),
        list(seen),
    )[1:],
)
for w in (
    "SimpleWriter",
    "ThreadWriter",
    "ProcessWriter",
    "ThreadQueueWriter",
    "ProcessQueueWriter",
):
    case("w " + w, lambda: snap(lambda t: E.snapshot(writer=getattr(E.snapshot_writers, w)()), 3))
    case(
        "w2 " + w,
        lambda: (
            snap(
                lambda t: E.snapshot(
                    writer=getattr(E.snapshot_writers, w)(savefun=S.save_npz), n_retains=1
                ),
                3,
            )
            if "Queue" not in w
            else 0
        ),
    )
case(
    "snap attrs",
    lambda: (
        lambda e: (
            e.filename,
            e.condition(),
            type(e.writer).__name__,
            e.n_retains,
            e.autoload,
            e.trigger,
            e.priority,
            callable(e),
        )
    )(E.snapshot()),
)
case(
    "snap contents",
    lambda: (
        lambda t: sorted(
            k
            for k in np.load(
                open(os.path.join(t.out, "snapshot_iter_2"), "rb"), allow_pickle=True
            ).keys()
            if "random_key" not in k and "napshot" not in k and "snapshot" not in k
        )
    )(
        run(
            lambda t: [
                (E.snapshot(), "s", (2, "iteration")),
                E.LogReport(),
                E.observe_lr(),
                E.ExponentialShift("lr", 0.5),
            ]
        )[0]
    ),
)


def onerr(**k):
    t = tr((4, "iteration"))
    t.extend(E.snapshot(snapshot_on_error=True, **k), trigger=(100, "iteration"))

    @training.make_extension()
    def boom(t):
        if t.updater.iteration == 2:
            raise ValueError

    t.extend(boom)
    try:
        quiet(t.run)
    except ValueError:
        pass
    return sorted(os.listdir(t.out))


case("onerr", onerr)


def autol():
    t = tr((3, "iteration"))
    t.extend(E.snapshot(autoload=True), trigger=(1, "iteration"))
    t.run()
    r = []
    t2 = tr((5, "iteration"), out=t.out)
    t2.extend(E.snapshot(autoload=True, n_retains=2), trigger=(1, "iteration"))
    t2.extend(lambda t: r.append(t.updater.iteration), name="l", trigger=(1, "iteration"))
    t2.run()
    return r, sorted(os.listdir(t.out)), t2.updater.get_optimizer("main").t


case("autoload", autol)
from chainer.training.extensions import _snapshot as SN


def find():
    d = tempfile.mkdtemp()
    for i in (1, 11, 9):
        open(os.path.join(d, "s_%d.npz" % i), "w").close()
        os.utime(os.path.join(d, "s_%d.npz" % i), (1000, 1000))
    return (
        [x[1] for x in SN._find_snapshot_files("s_{}.npz", d)],
        SN._find_latest_snapshot("s_{}.npz", d),
        list(SN._find_stale_snapshots("s_{}.npz", d, 1)),
        SN._find_latest_snapshot("q{}", d),
    )


case("find", find)
# writers
W = E.snapshot_writers


class CW(W.Writer):
    def __call__(s, fn, out, target):
        s.save(fn, out, target, S.save_npz)


case("writer own", lambda: snap(lambda t: E.snapshot(writer=CW()), 2))
case("writer base", lambda: W.Writer()("a", "b", {}))
case("std base", lambda: W.StandardWriter()("a", "b", {}))
case("queue base", lambda: W.QueueWriter())
case(
    "writer kinds",
    lambda: [
        [b.__name__ for b in getattr(W, n).__mro__[1:-1]]
        for n in ("ThreadWriter", "ProcessWriter", "ThreadQueueWriter", "ProcessQueueWriter")
    ],
)


def hookw():
    d = tempfile.mkdtemp()
    w = W.SimpleWriter()
    r = []
    w._add_cleanup_hook(lambda: r.append(1))
    w("x", d, {"a": np.zeros(2)})
    w.finalize()
    w.finalize()
    return os.listdir(d), r


case("writer hook", hookw)


class TW(W.QueueWriter):
    def create_queue(s):
        import queue

        return queue.Queue()

    def create_consumer(s, q):
        import threading

        t = threading.Thread(target=s.consume, args=(q,))
        return t


def tw():
    d = tempfile.mkdtemp()
    w = TW()
    w("x", d, {"a": np.zeros(2)})
    w("y", d, {"a": np.zeros(2)})
    w.finalize()
    return sorted(os.listdir(d))


case("own queue", tw)
# others
case(
    "failnan",
    lambda: quiet(
        lambda: run(
            lambda t: [
                (
                    setattr(t.updater.get_optimizer("main").target.w, "array", f(3) * np.nan),
                    E.FailOnNonNumber(),
                )[1]
            ]
        )
    ),
)
case(
    "microavg",
    lambda: run(lambda t: [E.MicroAverage("main/loss", "main/loss", "r")])[0].observation.get("r"),
)
case("obslr", lambda: run(lambda t: [E.observe_lr()])[0].observation["lr"])
case(
    "obsval",
    lambda: run(lambda t: [E.observe_value("q", lambda t: t.updater.iteration)])[0].observation[
        "q"
    ],
)
case("unchain", lambda: (lambda e: (e.priority, e.name, e.default_name))(E.unchain_variables()))


def dump(**k):
    t = run(lambda t: [E.DumpGraph("main/loss", **k)])[0]
    return sorted(x for x in os.listdir(t.out) if x.endswith("dot") or x == "g")


case("dump", dump)
case("dump2", lambda: dump(filename="g"))
case("dump3", lambda: dump(out_name="g"))
case(
    "dump same",
    lambda: (
        isinstance(E.dump_graph("main/loss"), E.DumpGraph),
        E.DumpGraph.default_name if hasattr(E.DumpGraph, "default_name") else 0,
    ),
)
case(
    "dump txt",
    lambda: (lambda t: re.sub("[0-9]{6,}", "#", open(os.path.join(t.out, "cg.dot")).read()))(
        run(lambda t: [E.DumpGraph("main/loss")])[0]
    ),
)


def pstat(**k):
    return sorted(
        run(
            lambda t: [
                E.ParameterStatistics(
                    t.updater.get_optimizer("main").target, trigger=(1, "iteration"), **k
                )
            ]
        )[0].observation
    )


case("pstat", pstat)
case("pstat none", lambda: pstat(statistics=None))
case("pstat own", lambda: pstat(statistics={"q": lambda x: x.sum()}, prefix="pp"))
case("pstat nograd", lambda: pstat(report_grads=False))


def pb(**k):
    o = io.StringIO()
    t = tr((4, "iteration"))
    t.extend(E.ProgressBar(update_interval=2, **k))
    with contextlib.redirect_stdout(o):
        t.run()
    return bar(o.getvalue()).replace("ESC[J", "").replace("ESC[4A", "").splitlines()


case("pb", pb)


class UB(E.util.ProgressBar):
    def get_lines(s):
        return ["a\n", "b\n"]


def ub():
    o = io.StringIO()
    b = UB(out=o)
    b.update()
    b.close()
    return o.getvalue(), b._bar_length, [type(x).__name__ for x in b.update_speed(1, 0.5)]


case("util bar", ub)
case(
    "plot",
    lambda: (lambda t: sorted(x for x in os.listdir(t.out)))(
        run(lambda t: [E.PlotReport(["main/loss"], trigger=(1, "iteration"))])[0]
    ),
)
case(
    "plot names",
    lambda: sorted(
        os.listdir(
            run(
                lambda t: [
                    E.PlotReport(["main/loss"], filename="a.png"),
                    (E.PlotReport(["main/loss"], file_name="b.png"), "x"),
                ]
            )[0].out
        )
    ),
)
case(
    "vsp",
    lambda: sorted(
        os.listdir(
            run(
                lambda t: [E.VariableStatisticsPlot(t.updater.get_optimizer("main").target)],
                (3, "iteration"),
            )[0].out
        )
    ),
)
case("vsp none", lambda: E.VariableStatisticsPlot(chainer.Link()))
case(
    "vsp nothing",
    lambda: E.VariableStatisticsPlot(
        M(), report_data=True, plot_mean=False, plot_std=False, percentile_sigmas=()
    ),
)
case(
    "exts",
    lambda: sorted(
        n
        for n in dir(E)
        if n[0].isupper()
        or n
        in (
            "snapshot",
            "snapshot_object",
            "unchain_variables",
            "dump_graph",
            "observe_lr",
            "observe_value",
        )
    ),
)
# reporter
R_ = chainer.reporter


def rep():
    r = chainer.Reporter()
    m = M()
    r.add_observer("m", m)
    r.add_observers("c", chainer.Chain(a=L.Linear(1, 1)).namedlinks())
    with r:
        chainer.report({"a": 1}, m)
        chainer.report({"b": 2})
    return r.observation


case("rep", rep)
case("rep cur", lambda: R_.get_current_reporter())
case(
    "rep unreg",
    lambda: (lambda r: (r.__enter__(), chainer.report({"a": 1}, M())))(chainer.Reporter()),
)
while True:
    try:
        R_.get_current_reporter().__exit__(None, None, None)
    except IndexError:
        break


def summ():
    s = R_.Summary()
    s.add(1)
    s.add(3, weight=3)
    return s.compute_mean(), s.make_statistics()


case("summ", summ)
case(
    "summ ser", lambda: (lambda d: (S.DictionarySerializer(d).save(R_.Summary()), sorted(d)))({})[1]
)
for v in (
    (1.0, 2),
    (1.0, np.array(2.0)),
    (1.0, np.ones(1)),
    (1.0, "a"),
    (chainer.Variable(np.array(1.0, "f")), chainer.Variable(np.array(2.0, "f"))),
    "str",
    np.ones(3),
    None,
    3,
    (1.0, 2, 3),
):
    case(
        "dsumm %s" % (v,),
        lambda: (
            lambda s: (s.add({"a": v}), s.add({"a": 5.0}), s.compute_mean(), s.make_statistics())
        )(R_.DictSummary())[2:],
    )
case(
    "dsumm ser",
    lambda: (
        lambda d, s: (
            s.add({"a": 1.0, "b/c": 2.0}),
            S.DictionarySerializer(d).save(s),
            {k: v.tolist() for k, v in sorted(d.items())},
        )
    )({}, R_.DictSummary())[2],
)


def threadrep():
    import threading

    r = chainer.Reporter()
    with r:
        t = threading.Thread(target=lambda: chainer.report({"x": 1}))
        t.start()
        t.join()
    return r.observation


case("thread", threadrep)

"""Snapshots, resumed trainings, triggers, errors during the training."""

import json
import os
import warnings

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions, triggers

warnings.simplefilter("ignore")
X = np.random.RandomState(0).randn(12, 4).astype("f")
T = (X.sum(1) > 0).astype("i")


def make(n, out, resume=None, **k):
    np.random.seed(3)
    model = L.Classifier(chainer.Sequential(L.Linear(4, 5), F.relu, L.Linear(5, 2)))
    opt = chainer.optimizers.Adam(alpha=0.05).setup(model)
    it = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(X, T), 4, shuffle=False)
    te = chainer.iterators.SerialIterator(
        chainer.datasets.TupleDataset(X, T), 4, repeat=False, shuffle=False
    )
    tr = training.Trainer(training.StandardUpdater(it, opt), (n, "epoch"), out=out)
    tr.extend(extensions.Evaluator(te, model))
    tr.extend(extensions.LogReport(trigger=(2, "iteration")))
    tr.extend(extensions.snapshot(**k), trigger=(1, "epoch"))
    tr.extend(extensions.ExponentialShift("alpha", 0.5), trigger=(1, "epoch"), name="shift")
    tr.extend(extensions.LinearShift("beta1", (0.9, 0.5), (2, 8)), trigger=(1, "iteration"))
    tr.extend(extensions.observe_lr())
    tr.extend(
        lambda t: print("man", t.updater.iteration),
        name="man",
        trigger=triggers.ManualScheduleTrigger([2, 5, 9], "iteration"),
    )
    tr.extend(
        lambda t: print("once", t.updater.iteration), name="once", trigger=triggers.OnceTrigger()
    )
    if resume:
        chainer.serializers.load_npz(resume, tr)
    return (tr, model, opt)


def show(tr, model, opt):
    print(
        tr.updater.iteration,
        tr.updater.epoch,
        opt.t,
        opt.epoch,
        "%.6f" % opt.alpha,
        "%.4f" % opt.beta1,
        "%.5f" % float(abs(model.predictor[0].W.array).sum()),
    )
    print(
        [
            sorted(((k, round(v, 4)) for k, v in e.items() if k != "elapsed_time"))
            for e in json.load(open(tr.out + "/log"))
        ]
    )
    print(sorted(os.listdir(tr.out)))


a = make(4, "a")
a[0].run()
show(*a)
b = make(2, "b")
b[0].run()
c = make(4, "c", "b/snapshot_iter_6")
c[0].run()
show(*c)
d = make(2, "d", n_retains=1, autoload=True, filename="s_{.updater.iteration}")
d[0].run()
show(*d)
try:
    d[0].run()
except RuntimeError:
    print("RuntimeError")
t = triggers.EarlyStoppingTrigger(
    monitor="validation/main/loss",
    patience=2,
    check_trigger=(1, "epoch"),
    max_trigger=(9, "epoch"),
    verbose=True,
)
e = make(4, "e")
e[0].stop_trigger = t
e[2].alpha = 5.0
e[0].run()
print(e[0].updater.epoch, t.count, t.get_training_length())


class Boom(Exception):
    pass


f = make(3, "f")
calls = []


class Ext(training.Extension):
    trigger = (1, "iteration")

    def __call__(self, tr):
        if tr.updater.iteration == 4 and (not calls):
            calls.append(1)
            raise Boom()

    def on_error(self, tr, exc, tb):
        print("on_error", type(exc).__name__)

    def finalize(self):
        print("fin")


f[0].extend(Ext())
try:
    f[0].run(show_loop_exception_msg=False)
except Boom:
    print("boom", f[0].updater.iteration)
f[0].run()
print(f[0].updater.iteration)
for bad in [
    lambda: make(1, "x")[0].extend(lambda t: 0, name="training"),
    lambda: make(1, "x")[0].get_extension("nope"),
    lambda: training.Trainer(None, (1, "foo")),
    lambda: training.get_trigger((1,)),
    lambda: triggers.IntervalTrigger(1, "x"),
    lambda: make(1, "x")[0].elapsed_time,
    lambda: extensions.snapshot(foo=1),
    lambda: extensions.snapshot(savefun=1, writer=2),
    lambda: training.make_extension(foo=1),
    lambda: training.Extension()(None),
]:
    try:
        print("ok", bad())
    except Exception as ex:
        print(type(ex).__name__)

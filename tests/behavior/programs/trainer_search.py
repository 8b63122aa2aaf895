"""A search over settings as scripts of 2019 did it: early stopping, best snapshots, triggers and
extensions of their own, several shifts, a trainer inside of a loop, and an aborted run."""

import json
import os
import tempfile

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions, triggers


class Net(chainer.Chain):
    def __init__(self, n_units, ratio):
        super(Net, self).__init__()
        self.ratio = ratio
        with self.init_scope():
            self.l1 = L.Linear(None, n_units, initialW=chainer.initializers.HeNormal())
            self.l2 = L.Linear(None, 1)

    def forward(self, x):
        return self.l2(F.elu(self.l1(x)))


class PlateauTrigger(object):
    """Fires when a value has not become smaller for some epochs."""

    def __init__(self, key, patience, trigger=(1, "epoch")):
        self.key = key
        self.patience = patience
        self.best = None
        self.count = 0
        self._interval = triggers.IntervalTrigger(*trigger)

    def __call__(self, trainer):
        if not self._interval(trainer) or self.key not in trainer.observation:
            return False
        value = float(trainer.observation[self.key])
        if self.best is None or value < self.best * 0.98:
            self.best, self.count = value, 0
            return False
        self.count += 1
        if self.count < self.patience:
            return False
        self.count = 0
        return True

    def serialize(self, serializer):
        self.count = serializer("count", self.count)


class Cosine(training.Extension):
    """A learning rate of its own, without a snapshot."""

    def __init__(self, attr, first, length):
        self.attr, self.first, self.length = attr, first, length
        self.t = 0

    def initialize(self, trainer):
        setattr(trainer.updater.get_optimizer("main"), self.attr, self.first)

    def __call__(self, trainer):
        self.t += 1
        rate = self.first * 0.5 * (1 + np.cos(np.pi * min(1.0, self.t / self.length)))
        setattr(trainer.updater.get_optimizer("main"), self.attr, rate)

    def serialize(self, serializer):
        self.t = serializer("t", self.t)


class Guard(training.Extension):
    trigger = (1, "iteration")
    priority = training.PRIORITY_WRITER + 1
    events = []

    def __init__(self, limit):
        self.limit = limit

    def initialize(self, trainer):
        self.events.append("initialize")

    def __call__(self, trainer):
        if trainer.updater.iteration == self.limit:
            raise RuntimeError("limit of %d" % self.limit)

    def on_error(self, trainer, exc, tb):
        self.events.append("on_error %s %s" % (type(exc).__name__, tb is not None))

    def finalize(self):
        self.events.append("finalize")


def data():
    random = np.random.RandomState(5)
    x = random.uniform(-1, 1, (40, 3)).astype("f")
    t = (np.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:]).astype("f")
    return chainer.datasets.split_dataset(chainer.datasets.TupleDataset(x, t), 30)


def build(out, optimizer, stop, n_units=6):
    train, valid = data()
    np.random.seed(1)
    model = L.Classifier(Net(n_units, 0.1), lossfun=F.mean_squared_error)
    model.compute_accuracy = False
    optimizer.setup(model)
    train_iter = chainer.iterators.SerialIterator(train, 6, shuffle=False)
    valid_iter = chainer.iterators.SerialIterator(valid, 5, repeat=False, shuffle=False)
    updater = training.updaters.StandardUpdater(train_iter, optimizer, loss_func=model)
    trainer = training.Trainer(updater, stop, out=out)
    trainer.extend(extensions.Evaluator(valid_iter, model), name="val")
    trainer.extend(extensions.LogReport(log_name="log_{epoch}.json"), name="log")
    return trainer, model


def search():
    makers = {
        "adam": lambda: chainer.optimizers.Adam(0.02),
        "nesterov": lambda: chainer.optimizers.NesterovAG(0.02, 0.8),
        "smorms3": lambda: chainer.optimizers.SMORMS3(0.02),
        "corrected": lambda: chainer.optimizers.CorrectedMomentumSGD(0.05),
    }
    for name in sorted(makers):
        out = tempfile.mkdtemp()
        stop = triggers.EarlyStoppingTrigger(
            monitor="val/main/loss",
            patients=2,
            max_trigger=(8, "epoch"),
            check_trigger=(1, "epoch"),
        )
        trainer, model = build(out, makers[name](), stop)
        best = triggers.MinValueTrigger("val/main/loss")
        trainer.extend(extensions.snapshot_object(model, "best"), trigger=best, name="best")
        optimizer = trainer.updater.get_optimizer("main")
        attribute = "alpha" if name == "adam" else "lr"

        @training.make_extension(trigger=PlateauTrigger("val/main/loss", 2), default_name="drop")
        def drop(trainer):
            setattr(optimizer, attribute, getattr(optimizer, attribute) * 0.5)

        trainer.extend(drop)
        trainer.extend(extensions.observe_value("rate", lambda t: getattr(optimizer, attribute)))
        trainer.run()
        logs = sorted(f for f in os.listdir(out) if f.startswith("log_"))
        with open(os.path.join(out, logs[-1])) as file:
            entries = json.load(file)
        losses = [entry["val/main/loss"] for entry in entries]
        print(name, len(logs), ["%.4f" % x for x in losses], "%.5f" % entries[-1]["rate"])
        print(" ".join(sorted(entries[-1])), os.path.exists(os.path.join(out, "best")))


def aborted():
    out = tempfile.mkdtemp()
    optimizer = chainer.optimizers.MomentumSGD(0.1)
    trainer, _ = build(out, optimizer, (4, "epoch"))
    trainer.extend(Cosine("lr", 0.05, 20), trigger=(1, "iteration"))
    trainer.extend(
        extensions.LinearShift("momentum", (0.9, 0.5), (2, 12)), trigger=(2, "iteration")
    )
    trainer.extend(
        extensions.snapshot(filename="snap_{.updater.iteration}"), trigger=(5, "iteration")
    )
    trainer.extend(Guard(13))
    try:
        trainer.run(show_loop_exception_msg=False)
    except RuntimeError as error:
        print("stopped:", error, trainer.updater.iteration, "%.5f" % optimizer.lr)
    print(Guard.events, sorted(f for f in os.listdir(out) if f.startswith("snap")))

    optimizer = chainer.optimizers.MomentumSGD(0.1)
    trainer, model = build(out, optimizer, (4, "epoch"))
    trainer.extend(Cosine("lr", 0.05, 20), trigger=(1, "iteration"))
    trainer.extend(
        extensions.LinearShift("momentum", (0.9, 0.5), (2, 12)), trigger=(2, "iteration")
    )
    chainer.serializers.load_npz(os.path.join(out, "snap_10"), trainer, strict=False)
    rates = []
    trainer.extend(
        lambda t: rates.append("%.4f/%.3f" % (optimizer.lr, optimizer.momentum)),
        name="rates",
        trigger=(1, "iteration"),
    )
    trainer.run()
    print(rates)
    print("%.5f" % float((model.predictor.l2.W.array**2).sum()), optimizer.t, optimizer.epoch)
    print(
        "%.4f" % trainer.get_extension("log").log[-1]["val/main/loss"], trainer.updater.epoch_detail
    )


if __name__ == "__main__":
    search()
    aborted()

"""Parts that programs of 2018 to 2020 brought along: an optimizer with its rule, an iterator, a converter,
an updater with several losses, a reporter without a trainer, writers of snapshots, hooks with state."""

import os
import threading

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer, reporter, training
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers


class SignRule(optimizer.UpdateRule):
    """Signs of averaged gradients, decoupled decay."""

    def __init__(self, parent_hyperparam=None, lr=None):
        super(SignRule, self).__init__(parent_hyperparam)
        if lr is not None:
            self.hyperparam.lr = lr

    def init_state(self, param):
        with chainer.using_device(param.device):
            self.state["m"] = param.xp.zeros_like(param.data)

    def update_core_cpu(self, param):
        grad = param.grad
        if grad is None:
            return
        m, hp = self.state["m"], self.hyperparam
        m *= hp.beta
        m += (1 - hp.beta) * grad
        param.data -= hp.lr * (np.sign(m) + hp.decay * param.data)

    update_core_gpu = update_core_cpu


class Sign(optimizer.GradientMethod):
    lr = optimizer.HyperparameterProxy("lr")

    def __init__(self, lr=0.01, beta=0.9, decay=0.01):
        super(Sign, self).__init__()
        self.hyperparam.lr = lr
        self.hyperparam.beta = beta
        self.hyperparam.decay = decay

    def create_update_rule(self):
        return SignRule(self.hyperparam)


class NoiseHook(object):
    name = "noise"
    call_for_each_param = True
    timing = "pre"

    def __init__(self):
        self.calls = 0

    def __call__(self, rule, param):
        self.calls += 1
        if param.grad is not None:
            param.grad += 1e-3 * (self.calls % 3 - 1)


class Buckets(chainer.dataset.Iterator):
    """Sequences of equal lengths together; knows nothing of files."""

    def __init__(self, dataset, batch_size, repeat=True):
        self.dataset = dataset
        self.batch_size = batch_size
        self.repeat = repeat
        order = sorted(range(len(dataset)), key=lambda i: (len(dataset[i]["x"]), i))
        self.batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
        self.position = 0
        self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self.repeat and self.epoch > 0:
            raise StopIteration
        batch = [self.dataset[i] for i in self.batches[self.position]]
        self.position = (self.position + 1) % len(self.batches)
        self.is_new_epoch = self.position == 0
        self.epoch += self.is_new_epoch
        return batch

    next = __next__

    @property
    def epoch_detail(self):
        return self.epoch + float(self.position) / len(self.batches)

    @property
    def previous_epoch_detail(self):
        return self.epoch_detail - 1.0 / len(self.batches)

    def reset(self):
        self.epoch = self.position = 0


class Tagger(chainer.Chain):
    def __init__(self):
        super(Tagger, self).__init__()
        with self.init_scope():
            self.embed = L.EmbedID(9, 5, ignore_label=-1)
            self.out = L.Linear(5, 3)

    def __call__(self, x, length, t):
        h = F.sum(self.embed(x), axis=1) / length[:, None]
        y = self.out(F.tanh(h))
        loss = F.softmax_cross_entropy(y, t)
        with reporter.report_scope({}):
            reporter.report({"hidden": 1}, self)
        reporter.report({"loss": loss, "accuracy": F.accuracy(y, t)}, self)
        return loss


def convert(batch, device):
    arrays = chainer.dataset.concat_examples(batch, device, padding=-1)
    length = np.array([len(example["x"]) for example in batch], "f")
    return {"x": arrays["x"], "length": length, "t": arrays["t"]}


def examples():
    random = np.random.RandomState(7)
    result = []
    for _ in range(21):
        x = random.randint(0, 9, random.randint(1, 6)).astype("i")
        result.append({"x": x, "t": np.array(x.sum() % 3, "i")})
    return result


class Weights(training.Extension):
    name = "weights"
    priority = training.PRIORITY_EDITOR
    trigger = (1, "epoch")

    def __init__(self):
        self.history = []

    def __call__(self, trainer):
        value = float(abs(trainer.updater.get_optimizer("main").target.out.W.data).mean())
        self.history.append(value)
        reporter.report({"weights": value})

    def serialize(self, serializer):
        history = np.array(self.history, "f")
        self.history = list(serializer("history", history if len(history) else np.zeros(2, "f")))


def train(out, length, resume=None, writer=None):
    np.random.seed(2)
    model = Tagger()
    opt = Sign(lr=0.03)
    print(opt.setup(model) is opt, opt.lr)
    model.embed.W.update_rule.add_hook(NoiseHook())
    model.out.b.update_rule.hyperparam.lr = 0.1
    updater = training.updaters.StandardUpdater(Buckets(examples(), 6), opt, converter=convert)
    trainer = training.Trainer(updater, (length, "epoch"), out)
    evaluator = extensions.Evaluator(Buckets(examples(), 9, repeat=False), model, converter=convert)
    evaluator.name = "dev"
    trainer.extend(evaluator)
    trainer.extend(Weights())
    keys = ["main/loss", "dev/main/loss", "weights", "main/hidden"]
    trainer.extend(
        extensions.LogReport(
            keys, postprocess=lambda entry: entry.update(double=2 * entry["epoch"])
        )
    )
    trainer.extend(
        extensions.snapshot(
            filename="s{.updater.epoch}", writer=writer, n_retains=2, condition=lambda: True
        ),
        trigger=(1, "epoch"),
    )
    trainer.extend(extensions.PolynomialShift("lr", 1.0, 40, init=0.03), trigger=(1, "iteration"))
    if resume:
        chainer.serializers.load_npz(resume, trainer)
    trainer.run()
    for entry in trainer.get_extension("LogReport").log:
        print(" ".join("%s=%.3f" % (k, entry[k]) for k in sorted(entry) if k != "elapsed_time"))
    print("%.5f" % opt.lr, opt.t, model.out.b.update_rule.hyperparam.lr, model.out.b.update_rule.t)
    print(["%.4f" % w for w in trainer.get_extension("weights").history])
    print(sorted(f for f in os.listdir(out) if f.startswith("s")))
    print("%.4f" % float((model.embed.W.data**2).sum()), sorted(model.out.W.update_rule.state))


def scopes():
    model = chainer.Sequential(L.Linear(2, 2), L.Linear(2, 1))
    own = reporter.Reporter()
    own.add_observer("m", model)
    own.add_observers("m", model.namedlinks(skipself=True))
    observation = {}
    with own.scope(observation):
        reporter.report({"a": 1}, model)
        reporter.report({"b": 2.5}, model[1])
        reporter.report({"c": chainer.Variable(np.array(3.0, "f"))})
        with own:
            own.report({"d": 4}, model[0])
    print(sorted((k, float(getattr(v, "data", v))) for k, v in observation.items()))
    print(sorted(own.observation.items()))
    try:
        with own:
            reporter.report({"x": 0}, L.Linear(1, 1))
    except KeyError:
        print("KeyError")
    summary = reporter.DictSummary()
    for value in (1, 2, 6):
        summary.add({"n": value, "w": (float(value), value)})
    print(sorted((k, "%.3f" % float(v)) for k, v in summary.make_statistics().items()))


def main():
    train("a", 2, writer=snapshot_writers.ThreadQueueWriter())
    print(threading.active_count())
    train("b", 4, resume="a/s2", writer=snapshot_writers.ThreadWriter())
    scopes()


if __name__ == "__main__":
    main()

"""Domain adaptation as repositories of 2018 wrote it: an updater of its own for three models, several
iterators and optimizers, snapshots of each model, an evaluator of its own, and a resumed training."""

import os

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import reporter, training
from chainer.training import extensions


class Encoder(chainer.Chain):
    def __init__(self):
        super(Encoder, self).__init__(
            fc1=L.Linear(4, 8), bn1=L.BatchNormalization(8), fc2=L.Linear(8, 6)
        )

    def __call__(self, x):
        return F.relu(self.fc2(F.leaky_relu(self.bn1(self.fc1(x)))))


class Head(chainer.Chain):
    def __init__(self, n_out):
        super(Head, self).__init__()
        with self.init_scope():
            self.fc = L.Linear(None, n_out)

    def __call__(self, h):
        return self.fc(h)


class DomainUpdater(training.StandardUpdater):
    def __init__(self, *args, **kwargs):
        self.weight = kwargs.pop("weight")
        super(DomainUpdater, self).__init__(*args, **kwargs)

    def update_core(self):
        encoder = self.get_optimizer("encoder").target
        label = self.get_optimizer("label").target
        domain = self.get_optimizer("domain").target
        xs, ts = self.converter(self.get_iterator("main").next(), self.device)
        xt = self.converter(self.get_iterator("target").next(), self.device)
        d = np.array([0] * len(xs) + [1] * len(xt), "i")

        h = encoder(chainer.Variable(np.concatenate([xs, xt])))
        y_domain = domain(h)
        loss_domain = F.softmax_cross_entropy(y_domain, d)
        domain.cleargrads()
        domain_input = chainer.Variable(h.array)
        loss_d = F.softmax_cross_entropy(domain(domain_input), d)
        loss_d.backward()
        self.get_optimizer("domain").update()

        loss_label = F.softmax_cross_entropy(label(h[: len(xs)]), ts)
        loss = loss_label - self.weight * loss_domain
        encoder.cleargrads()
        label.cleargrads()
        loss.backward()
        self.get_optimizer("encoder").update()
        self.get_optimizer("label").update()
        chainer.reporter.report(
            {
                "label/loss": loss_label,
                "domain/loss": loss_d,
                "domain/accuracy": F.accuracy(y_domain, d),
            }
        )


class TargetEvaluator(extensions.Evaluator):
    default_name = "target"

    def evaluate(self):
        iterator = self.get_iterator("main")
        encoder, label = self.get_target("encoder"), self.get_target("label")
        if hasattr(iterator, "reset"):
            iterator.reset()
            it = iterator
        summary = reporter.DictSummary()
        for batch in it:
            observation = {}
            with reporter.report_scope(observation):
                x, t = self.converter(batch, self.device)
                with chainer.no_backprop_mode():
                    y = label(encoder(x))
                    reporter.report({"accuracy": F.accuracy(y, t)}, label)
                    reporter.report({"loss": F.softmax_cross_entropy(y, t)}, label)
            summary.add(observation)
        return summary.compute_mean()


def shift(value):
    @training.make_extension(trigger=(2, "epoch"), default_name="halve")
    def halve(trainer):
        trainer.updater.weight *= value
        for name in sorted(trainer.updater.get_all_optimizers()):
            trainer.updater.get_optimizer(name).alpha *= value

    return halve


def get_trainer(out, stop):
    random = np.random.RandomState(3)
    xs = random.randn(30, 4).astype("f")
    ts = (xs[:, 0] > xs[:, 1]).astype("i")
    xt = xs[:24] * 1.2 + 0.3
    np.random.seed(0)
    models = {"encoder": Encoder(), "label": Head(2), "domain": Head(2)}
    optimizers = {}
    for name in sorted(models):
        optimizers[name] = chainer.optimizers.Adam(alpha=0.01, beta1=0.5)
        optimizers[name].setup(models[name])
    optimizers["encoder"].add_hook(chainer.optimizer.WeightDecay(1e-3), "decay")
    iterators = {
        "main": chainer.iterators.SerialIterator(
            chainer.datasets.TupleDataset(xs, ts), 10, shuffle=False
        ),
        "target": chainer.iterators.SerialIterator(xt.astype("f"), 10, shuffle=False),
    }
    updater = DomainUpdater(iterators, optimizers, device=-1, weight=0.1)
    trainer = training.Trainer(updater, (stop, "epoch"), out=out)
    test = chainer.iterators.SerialIterator(
        chainer.datasets.TupleDataset(xt.astype("f"), ts[:24]), 8, repeat=False, shuffle=False
    )
    targets = {"encoder": models["encoder"], "label": models["label"]}
    trainer.extend(TargetEvaluator(test, targets), trigger=(1, "epoch"))
    for name in sorted(models):
        trainer.extend(
            extensions.snapshot_object(models[name], name + "_{.updater.epoch}.npz"),
            trigger=(2, "epoch"),
        )
    trainer.extend(
        extensions.snapshot(filename="trainer_{.updater.iteration}"), trigger=(2, "epoch")
    )
    trainer.extend(shift(0.5))
    trainer.extend(extensions.LogReport(trigger=(1, "epoch")))
    trainer.extend(
        extensions.PrintReport(
            [
                "epoch",
                "iteration",
                "label/loss",
                "domain/loss",
                "domain/accuracy",
                "target/accuracy",
            ]
        )
    )
    return trainer


def main():
    first = get_trainer("result", 4)
    first.run()
    print(sorted(os.listdir("result")))
    for entry in first.get_extension("LogReport").log:
        print(" ".join("%s=%.4f" % (k, entry[k]) for k in sorted(entry) if k != "elapsed_time"))
    print("weight %.4f" % first.updater.weight)

    second = get_trainer("resumed", 6)
    chainer.serializers.load_npz("result/trainer_12", second)
    print(second.updater.iteration, second.updater.epoch, second.updater.is_new_epoch)
    second.run()
    for name in ("encoder", "label", "domain"):
        optimizer = second.updater.get_optimizer(name)
        norm = sum(float((p.array**2).sum()) for p in optimizer.target.params())
        print(name, optimizer.t, "%.5f %.4f" % (optimizer.alpha, norm))
    alone = Encoder()
    chainer.serializers.load_npz("result/encoder_4.npz", alone)
    both = zip(
        sorted(alone.namedparams()),
        sorted(first.updater.get_optimizer("encoder").target.namedparams()),
    )
    print(all((a.array == b.array).all() for (_, a), (_, b) in both))
    print(sorted(os.listdir("resumed")))
    print("%.4f" % alone.bn1.avg_var.sum(), alone.bn1.N)


if __name__ == "__main__":
    main()

"""Word embeddings with three losses and an iterator of its own."""

import collections

import chainer.initializers as I
import chainer.optimizers as O
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import reporter, training
from chainer.training import extensions

np.random.seed(5)


class ContinuousBoW(chainer.Chain):
    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def forward(self, x, contexts):
        e = self.embed(contexts)
        h = F.sum(e, axis=1) * (1.0 / contexts.shape[1])
        loss = self.loss_func(h, x)
        reporter.report({"loss": loss}, self)
        return loss


class SkipGram(ContinuousBoW):
    def forward(self, x, contexts):
        e = self.embed(contexts)
        batch_size, n_context, n_units = e.shape
        x = F.broadcast_to(x[:, None], (batch_size, n_context))
        e = F.reshape(e, (batch_size * n_context, n_units))
        x = F.reshape(x, (batch_size * n_context,))
        loss = self.loss_func(e, x)
        reporter.report({"loss": loss}, self)
        return loss


class SoftmaxCrossEntropyLoss(chainer.Chain):
    def __init__(self, n_in, n_out):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(n_in, n_out, initialW=0)

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.out(x), t)


class WindowIterator(chainer.dataset.Iterator):
    def __init__(self, dataset, window, batch_size, repeat=True):
        self.dataset = np.array(dataset, np.int32)
        self.window, self.batch_size, self._repeat = (window, batch_size, repeat)
        self.order = np.random.permutation(len(dataset) - window * 2).astype(np.int32)
        self.order += window
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self._repeat and self.epoch > 0:
            raise StopIteration
        i = self.current_position
        i_end = i + self.batch_size
        position = self.order[i:i_end]
        w = np.random.randint(self.window - 1) + 1
        offset = np.concatenate([np.arange(-w, 0), np.arange(1, w + 1)])
        pos = position[:, None] + offset[None, :]
        contexts = self.dataset.take(pos)
        center = self.dataset.take(position)
        if i_end >= len(self.order):
            np.random.shuffle(self.order)
            self.epoch += 1
            self.is_new_epoch = True
            self.current_position = 0
        else:
            self.is_new_epoch = False
            self.current_position = i_end
        return (center, contexts)

    @property
    def epoch_detail(self):
        return self.epoch + float(self.current_position) / len(self.order)

    def serialize(self, serializer):
        self.current_position = serializer("current_position", self.current_position)
        self.epoch = serializer("epoch", self.epoch)
        self.is_new_epoch = serializer("is_new_epoch", self.is_new_epoch)
        if self.order is not None:
            serializer("order", self.order)


@chainer.dataset.converter()
def convert(batch, device):
    center, contexts = batch
    return (device.send(center), device.send(contexts))


train = np.random.RandomState(0).randint(0, 15, 200).astype("i")
val = train[:50]
counts = collections.Counter(train)
n_vocab = max(train) + 1
for out in ["hsm", "ns", "original"]:
    for M in [SkipGram, ContinuousBoW]:
        np.random.seed(7)
        if out == "hsm":
            HSM = L.BinaryHierarchicalSoftmax
            tree = HSM.create_huffman_tree(counts)
            loss_func = HSM(8, tree)
            loss_func.W.array[...] = 0
        elif out == "ns":
            cs = [counts[w] for w in range(len(counts))]
            loss_func = L.NegativeSampling(8, cs, 4)
            loss_func.W.array[...] = 0
        else:
            loss_func = SoftmaxCrossEntropyLoss(8, n_vocab)
        model = M(n_vocab, 8, loss_func)
        opt = O.Adam()
        opt.setup(model)
        ti, vi = (WindowIterator(train, 3, 40), WindowIterator(val, 3, 40, repeat=False))
        up = training.updaters.StandardUpdater(ti, opt, converter=convert, device="@numpy")
        tr = training.Trainer(up, (3, "epoch"), out="r")
        tr.extend(extensions.Evaluator(vi, model, converter=convert, device="@numpy"))
        tr.extend(extensions.LogReport())
        tr.extend(extensions.PrintReport(["epoch", "main/loss", "validation/main/loss"]))
        tr.extend(extensions.snapshot_object(model, "model_{.updater.epoch}"), trigger=(3, "epoch"))
        tr.run()
        print(
            out,
            M.__name__,
            "%.5f" % float(np.abs(model.embed.W.array).sum()),
            sorted(np.load("r/model_3").keys()),
        )

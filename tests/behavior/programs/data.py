"""Datasets, iterators, truncated backpropagation through time."""

import os
import pickle

import numpy as np
from chainer.dataset import convert, tabular

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import datasets, iterators, training

np.random.seed(0)


class SeqIt(chainer.dataset.Iterator):
    def __init__(self, d, bs, repeat=True):
        self.dataset, self.batch_size, self.epoch, self.is_new_epoch, self.repeat = (
            d,
            bs,
            0,
            False,
            repeat,
        )
        n = len(d)
        self.offsets = [i * n // bs for i in range(bs)]
        self.iteration = 0
        self._previous_epoch_detail = -1.0

    def __next__(self):
        n = len(self.dataset)
        if not self.repeat and self.iteration * self.batch_size >= n:
            raise StopIteration
        cur = [self.dataset[(o + self.iteration) % n] for o in self.offsets]
        self._previous_epoch_detail = self.epoch_detail
        self.iteration += 1
        nxt = [self.dataset[(o + self.iteration) % n] for o in self.offsets]
        e = self.iteration * self.batch_size // n
        self.is_new_epoch = self.epoch < e
        if self.is_new_epoch:
            self.epoch = e
        return list(zip(cur, nxt))

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.dataset)

    @property
    def previous_epoch_detail(self):
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def serialize(self, s):
        self.iteration = s("iteration", self.iteration)
        self.epoch = s("epoch", self.epoch)


class BPTT(training.updaters.StandardUpdater):
    def __init__(self, it, opt, n, device):
        super().__init__(it, opt, device=device)
        self.n = n

    def update_core(self):
        loss = 0
        it = self.get_iterator("main")
        opt = self.get_optimizer("main")
        for i in range(self.n):
            batch = it.__next__()
            x, t = self.converter(batch, self.device)
            loss += opt.target(chainer.Variable(x), chainer.Variable(t))
        opt.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        opt.update()


class RNN(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.e = L.EmbedID(9, 6)
            self.l1 = L.LSTM(6, 6)
            self.l2 = L.LSTM(6, 6)
            self.o = L.Linear(6, 9)
        for p in self.params():
            p.array[...] = np.random.uniform(-0.1, 0.1, p.array.shape)

    def reset_state(self):
        self.l1.reset_state()
        self.l2.reset_state()

    def forward(self, x):
        return self.o(F.dropout(self.l2(F.dropout(self.l1(F.dropout(self.e(x)))))))


m = L.Classifier(RNN())
m.compute_accuracy = False
o = chainer.optimizers.SGD(1.0)
o.setup(m)
o.add_hook(chainer.optimizer_hooks.GradientClipping(0.5))
d = np.random.RandomState(1).randint(0, 9, 60).astype("i")
up = BPTT(SeqIt(d, 5), o, 4, -1)
tr = training.Trainer(up, (3, "epoch"), out="r")
em = m.copy()
er = em.predictor
er.train = False


def perp(result):
    result["perplexity"] = np.exp(result["main/loss"])
    if "validation/main/loss" in result:
        result["val_perplexity"] = np.exp(result["validation/main/loss"])


tr.extend(
    training.extensions.Evaluator(
        SeqIt(d[:20], 1, repeat=False), em, device=-1, eval_hook=lambda _: er.reset_state()
    )
)
tr.extend(training.extensions.LogReport(postprocess=perp, trigger=(3, "iteration")))
tr.extend(
    training.extensions.PrintReport(["epoch", "iteration", "perplexity", "val_perplexity"]),
    trigger=(3, "iteration"),
)
tr.run()
print(up.epoch, up.epoch_detail, "%.4f" % float(er.l1.h.array.sum()))
t = tabular.from_data(
    {"x": np.arange(6).reshape(3, 2), "y": [1, 2, 3], "z": lambda i: i * 10}, size=3
)
print(
    t.keys,
    t.mode,
    len(t),
    t[1]["z"],
    t.slice[[0, 2], ("y", "z")].fetch(),
    t.slice[1:, "y"].fetch(),
    t.astuple()[0][1:],
    t.transform(("a", "b"), lambda x, y, z: (y + z, y)).fetch(),
    t.concat(t).fetch()["y"],
)
print(
    t.join(tabular.from_data(("w", [7, 8, 9]))).keys,
    t.with_converter(lambda **k: sorted(k)).convert(t.fetch()),
    t.transform_batch("q", lambda x, y, z: np.array(y)).fetch().tolist(),
    [sorted(e) for e in iterators.SerialIterator(t, 2, shuffle=False).next()],
)
with open("a.txt", "w") as f:
    f.write("l1\nl22\nl3\n")
with open("b.txt", "w") as f:
    f.write("m1\nm2\nm3")
x = datasets.TextDataset("a.txt", encoding="utf-8")
print(len(x), x[1], x[:2])
y = datasets.TextDataset(
    ["a.txt", "b.txt"], encoding=["utf-8", "ascii"], filter_func=lambda a, b: "l3" not in a
)
print(len(y), y[1], pickle.loads(pickle.dumps(y))[0])
with datasets.open_pickle_dataset_writer("p.pkl") as w:
    for i in range(3):
        w.write({"i": i})
with datasets.open_pickle_dataset("p.pkl") as p:
    print(len(p), p[2], p[-1], p[:2])


class Img(chainer.dataset.DatasetMixin):
    def __init__(self, pairs, root):
        self.base = datasets.LabeledImageDataset(pairs, root)

    def __len__(self):
        return len(self.base)

    def get_example(self, i):
        im, l = self.base[i]
        return (im[:, ::-1] / 255.0, l)


from PIL import Image

os.makedirs("im", exist_ok=True)
for i in range(3):
    Image.fromarray((np.arange(12) * i % 255).astype("u1").reshape(2, 2, 3)).save("im/%d.png" % i)
open("list.txt", "w").write("0.png 0\n1.png 5\n2.png 2\n")
q = Img("list.txt", "im")
im, l = q[1]
print(len(q), im.shape, im.dtype, l, l.dtype, im.sum().round(4))
b = convert.concat_examples(q[:3])
print(b[0].shape, b[1], b[1].dtype)
print(
    datasets.ImageDataset(["0.png"], "im")[0].dtype,
    datasets.image_dataset._read_image_as_array("im/1.png", np.float32).shape,
)
import zipfile

with zipfile.ZipFile("z.zip", "w") as z:
    [z.write("im/%d.png" % i, "%d.png" % i) for i in range(3)]
z = datasets.ZippedImageDataset("z.zip")
print(len(z), z[1].shape, z["2.png"].sum())
mz = datasets.MultiZippedImageDataset(["z.zip", "z.zip"])
print(len(mz), mz[4].sum())
lz = datasets.LabeledZippedImageDataset("z.zip", "list.txt")
print(lz[1][1], lz[1][0].shape)
cs = F.classification_summary(
    np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]], "f"), np.array([1, 0, 0], "i")
)
print([c.array.round(3).tolist() for c in cs])

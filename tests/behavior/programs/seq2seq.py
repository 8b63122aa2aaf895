"""Translation with attention: sequences of several lengths, a converter, an extension."""

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions

np.random.seed(1)
UNK, EOS = (0, 1)


def sequence_embed(embed, xs):
    x_len = [len(x) for x in xs]
    x_section = np.cumsum(x_len[:-1])
    ex = embed(F.concat(xs, axis=0))
    return F.split_axis(ex, x_section, 0)


class Attention(chainer.Chain):
    def __init__(self, n):
        super().__init__()
        with self.init_scope():
            self.W = L.Linear(n, n, nobias=True)

    def __call__(self, os, hs):
        ws = []
        for o, h in zip(os, hs):
            s = F.matmul(self.W(o), h, transb=True)
            ws.append(F.matmul(F.softmax(s, axis=1), h))
        return ws


class Seq2seq(chainer.Chain):
    def __init__(self, n_layers, n_source_vocab, n_target_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed_x = L.EmbedID(n_source_vocab, n_units)
            self.embed_y = L.EmbedID(n_target_vocab, n_units, ignore_label=-1)
            self.encoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.decoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.att = Attention(n_units)
            self.W = L.Linear(n_units * 2, n_target_vocab)
        self.n_layers, self.n_units = (n_layers, n_units)

    def forward(self, xs, ys):
        xs = [x[::-1] for x in xs]
        eos = self.xp.array([EOS], np.int32)
        ys_in = [F.concat([eos, y], axis=0) for y in ys]
        ys_out = [F.concat([y, eos], axis=0) for y in ys]
        exs = sequence_embed(self.embed_x, xs)
        eys = sequence_embed(self.embed_y, ys_in)
        batch = len(xs)
        hx, cx, hs = self.encoder(None, None, exs)
        _, _, os = self.decoder(hx, cx, eys)
        cs = self.att(os, hs)
        concat_os = F.concat([F.concat(os, axis=0), F.concat(cs, axis=0)], axis=1)
        concat_ys_out = F.concat(ys_out, axis=0)
        loss = F.sum(F.softmax_cross_entropy(self.W(concat_os), concat_ys_out, reduce="no")) / batch
        chainer.report({"loss": loss}, self)
        n_words = concat_ys_out.shape[0]
        perp = self.xp.exp(loss.array * batch / n_words)
        chainer.report({"perp": perp}, self)
        return loss

    def translate(self, xs, max_length=6):
        batch = len(xs)
        with chainer.no_backprop_mode(), chainer.using_config("train", False):
            xs = [x[::-1] for x in xs]
            exs = sequence_embed(self.embed_x, xs)
            h, c, hs = self.encoder(None, None, exs)
            ys = self.xp.full(batch, EOS, np.int32)
            result = []
            for i in range(max_length):
                eys = F.split_axis(self.embed_y(ys), batch, 0)
                h, c, os = self.decoder(h, c, eys)
                cs = self.att(os, hs)
                wy = self.W(F.concat([F.concat(os, axis=0), F.concat(cs, axis=0)], axis=1))
                ys = self.xp.argmax(wy.array, axis=1).astype(np.int32)
                result.append(ys)
        result = np.concatenate(
            [np.expand_dims(chainer.backends.cuda.to_cpu(x), 0) for x in result]
        ).T
        outs = []
        for y in result:
            inds = np.argwhere(y == EOS)
            if len(inds) > 0:
                y = y[: inds[0, 0]]
            outs.append(y)
        return outs


@chainer.dataset.converter()
def convert(batch, device):

    def to_device_batch(batch):
        if device is None:
            return batch
        elif device.xp is np:
            return [device.send(x) for x in batch]
        xp = device.xp
        concat = xp.concatenate(batch, axis=0)
        return concat

    return {
        "xs": to_device_batch([x for x, _ in batch]),
        "ys": to_device_batch([y for _, y in batch]),
    }


class CalculateBleu(chainer.training.Extension):
    trigger = (1, "epoch")
    priority = chainer.training.PRIORITY_WRITER

    def __init__(self, model, test_data, key, batch=4, device=None):
        self.model, self.test_data, self.key, self.batch, self.device = (
            model,
            test_data,
            key,
            batch,
            device,
        )

    def __call__(self, trainer):
        hyp = []
        for i in range(0, len(self.test_data), self.batch):
            sources, targets = zip(*self.test_data[i : i + self.batch])
            sources = [chainer.dataset.to_device(self.device, x) for x in sources]
            hyp.extend([y.tolist() for y in self.model.translate(sources)])
        chainer.report({self.key: float(np.mean([len(h) for h in hyp]))})


rs = np.random.RandomState(3)
data = [
    (
        rs.randint(2, 12, rs.randint(2, 7)).astype("i"),
        rs.randint(2, 9, rs.randint(1, 5)).astype("i"),
    )
    for _ in range(20)
]
model = Seq2seq(2, 12, 9, 10)
opt = chainer.optimizers.Adam()
opt.setup(model)
opt.add_hook(chainer.optimizer_hooks.GradientClipping(5))
it = chainer.iterators.SerialIterator(data, 5, shuffle=False)
chainer.config.train = True
up = training.updaters.StandardUpdater(it, opt, converter=convert, device="@numpy")
tr = training.Trainer(up, (4, "epoch"), out="result")
tr.extend(extensions.LogReport(trigger=(4, "iteration")))
tr.extend(
    extensions.PrintReport(
        ["epoch", "iteration", "main/loss", "main/perp", "validation/main/bleu"]
    ),
    trigger=(4, "iteration"),
)
tr.extend(
    CalculateBleu(model, data, "validation/main/bleu", device=up.device), trigger=(4, "iteration")
)
tr.run()
print([list(map(int, t)) for t in model.translate([d[0] for d in data[:3]])])
print([n for n, p in model.namedparams()])

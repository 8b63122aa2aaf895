# sequences, attention, memory, mixed precision, custom containers, serializers, sparse, utilities
import copy, io, os, tempfile, pickle, gc, weakref
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import (
    Variable,
    serializers,
    utils,
    initializers,
    optimizers,
    iterators,
    datasets,
    training,
)
from chainer.dataset import convert, concat_examples

np.random.seed(11)


def show(name, x):
    x = chainer.as_array(x)
    print(name, x.dtype, x.shape, " ".join("%.4f" % v for v in np.asarray(x, "d").ravel()[:5]))


# encoder-decoder with NStepBiLSTM, attention, pad_sequence
class Enc(chainer.Chain):
    def __init__(self, n_vocab, n):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n, ignore_label=-1, initialW=initializers.Normal(0.5))
            self.rnn = L.NStepBiLSTM(2, n, n, 0.0)
            self.att = L.Linear(2 * n, 1, initialW=initializers.Normal(0.5))

    def __call__(self, xs):
        lens = [len(x) for x in xs]
        ex = F.split_axis(self.embed(F.concat(xs, 0)), np.cumsum(lens)[:-1], 0)
        hy, cy, ys = self.rnn(None, None, list(ex))
        pad = F.pad_sequence(ys, padding=0.0)
        mask = np.arange(pad.shape[1])[None] < np.array(lens)[:, None]
        score = F.reshape(self.att(F.reshape(pad, (-1, pad.shape[2]))), pad.shape[:2])
        w = F.softmax(F.where(mask, score, np.full(score.shape, -1e9, "f")))
        return F.sum(pad * F.broadcast_to(w[:, :, None], pad.shape), axis=1), hy


enc = Enc(7, 4)
for p in sorted(enc.rnn.namedparams()):
    p[1].array[...] = np.sin(np.arange(p[1].size)).reshape(p[1].shape) * 0.3
xs = [np.array(a, "i") for a in ([1, 2, 3, 4], [5, 6], [0])]
c, hy = enc(xs)
enc.cleargrads()
F.sum(c**2).backward()
show("ctx", c)
show("hy", hy)
show("gE", enc.embed.W.grad)
show("gR", sorted(enc.rnn.namedparams())[0][1].grad)
# crf
np.random.seed(12)
crf = L.CRF1d(3)
crf.cost.array[...] = np.arange(9).reshape(3, 3) * 0.1
hs = [np.random.randn(n, 3).astype("f") for n in (3, 2)]
ts = [np.array([0, 1, 2], "i"), np.array([2, 0], "i")]
loss = crf(hs[:1] + hs[1:], ts, transpose=True)
loss.backward()
show("crf", loss)
show("gcost", crf.cost.grad)
s, path = crf.argmax(hs, transpose=True)
show("score", s)
print([p.tolist() for p in path])

# float16 with loss scaling and fp32 update
with chainer.using_config("dtype", chainer.mixed16):
    m = chainer.Sequential(
        L.Linear(3, 4, initialW=0.5), L.BatchNormalization(4), F.relu, L.Linear(4, 2, initialW=0.25)
    )
opt = optimizers.MomentumSGD(0.1)
opt.use_fp32_update()
opt.setup(m)
opt.loss_scaling()
x = np.random.randn(6, 3).astype("e")
t = np.array([0, 1, 0, 1, 0, 1], "i")
for i in range(3):
    opt.update(lambda a, b: F.softmax_cross_entropy(m(a), b), x, t)
    print(i, opt._loss_scale, m[0].W.dtype, m[1].gamma.dtype, m[1].avg_mean.dtype)
show("W16", m[0].W)
print(m[0].W.update_rule._fp32_param.dtype, opt.is_safe_to_update())
m[0].W.array[...] = np.inf
import warnings

with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    opt.update(lambda a, b: F.softmax_cross_entropy(m(a), b), x, t)
    print(any("Non finite" in str(i.message) for i in w), opt._loss_scale, opt.is_safe_to_update())

# graph lifetime
x = Variable(np.ones((3, 3), "f"))
y = F.relu(x * 2)
r = weakref.ref(y.node)
h = y.creator.inputs[0].get_variable_or_none()
print(h is None, y.creator.rank, y.creator.inputs[0].creator.label, y.node.data is None)
del y
gc.collect()
print(r() is None)
g = chainer.computational_graph.build_computational_graph(
    [F.sum(F.relu(Variable(np.ones((2, 2), "f"), name="in") * 2))], rankdir="LR"
)
print(len(g.nodes), len(g.edges), "rankdir=LR" in g.dump(), '"in: (2, 2), float32"' in g.dump())

# serializers
dct = {}
ser = serializers.DictionarySerializer(dct)
enc.serialize(ser)
print(sorted(dct)[:4])
e2 = Enc(7, 4)
serializers.NpzDeserializer(dct).load(e2)
print((e2.embed.W.array == enc.embed.W.array).all())
p = os.path.join(tempfile.mkdtemp(), "x.npz")
serializers.save_npz(p, enc, compression=False)
e3 = chainer.Chain(embed=L.EmbedID(7, 4))
serializers.load_npz(p, e3, strict=False)
try:
    serializers.load_npz(p, chainer.Chain(other=L.Linear(1, 1)))
except KeyError as e:
    print("KeyError")
serializers.load_npz(p, e3.embed, path="embed/")
print((e3.embed.W.array == enc.embed.W.array).all())
opt.setup(enc)

# sparse, walker alias, conv utilities, caches
A = utils.to_coo(np.array([[0, 2, 0], [1, 0, 3]], "f"), requires_grad=True)
B = Variable(np.arange(6, dtype="f").reshape(3, 2))
y = F.sparse_matmul(A, B)
F.sum(y * y).backward()
show("sp", y)
show("gA", A.data.grad)
show("gB", B.grad)
np.random.seed(5)
show("alias", utils.WalkerAlias([1, 3, 6]).sample((8,)))
col = utils.conv.im2col_cpu(np.arange(16, dtype="f").reshape(1, 1, 4, 4), 2, 2, 2, 2, 0, 0)
show("col", col)
show("img", utils.conv.col2im_cpu(col, 2, 2, 0, 0, 4, 4))
print(utils.conv.get_conv_outsize(10, 3, 2, 1, d=2))
with utils.tempdir() as td:
    print(os.path.isdir(td))


class P(object):
    @utils.cache.cached_property
    def v(self):
        return F.exp(Variable(np.zeros(1, "f")))


q = P()
a = q.v
with chainer.no_backprop_mode():
    b = q.v
print(a is q.v, a is b, b.creator)

# converters, datasets, iterators
batch = [(np.arange(n), n, {"k": 1.0}) for n in (1, 3)]
print(
    [type(v).__name__ for v in concat_examples([(np.zeros(2), 1), (np.ones(2), 2)])],
    concat_examples([(np.zeros(2), 1), (np.ones(2), 2)])[1].dtype,
)
print(
    concat_examples([np.arange(n) for n in (1, 3)], padding=-1).tolist(),
    sorted(concat_examples([{"a": 1, "b": np.ones(1)}] * 2)),
)


@chainer.dataset.converter()
def conv(batch, device):
    return device.send(np.array([b for b in batch])), None


print(conv([1, 2], chainer.get_device("@numpy"))[0].tolist(), isinstance(conv, convert.Converter))
ds = datasets.TransformDataset(
    datasets.TupleDataset(np.arange(5), np.arange(5) * 2), lambda i: (i[0] + 1, i[1])
)
print(np.array(ds[1:3]).tolist(), len(ds))
print(
    datasets.get_cross_validation_datasets(list(range(6)), 3)[1][1][:],
    datasets.split_dataset_random(list(range(6)), 2, seed=0)[0][:],
    datasets.ConcatenatedDataset([1, 2], [3])[2],
    datasets.DictDataset(a=[1, 2], b=[3, 4])[1],
    datasets.SubDataset([1, 2, 3], 1, 3)[:],
)
it = iterators.SerialIterator(list(range(5)), 2, shuffle=False)
for _ in range(4):
    print(next(it), it.epoch, it.is_new_epoch, it.epoch_detail, it.previous_epoch_detail)
it = iterators.MultithreadIterator(list(range(5)), 2, repeat=False, shuffle=False, n_threads=2)
print([b for b in it])
it.finalize()

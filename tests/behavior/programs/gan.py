"""A generative adversarial network: an updater with two optimizers, snapshots, an extension."""

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable, training
from chainer.training import extensions

np.random.seed(0)


def add_noise(h, sigma=0.2):
    xp = chainer.backend.get_array_module(h.array)
    if chainer.config.train:
        return h + sigma * xp.random.randn(*h.shape).astype(h.dtype)
    return h


class Generator(chainer.Chain):
    def __init__(self, n_hidden, bottom_width=2, ch=16, wscale=0.02):
        super(Generator, self).__init__()
        self.n_hidden, self.ch, self.bottom_width = (n_hidden, ch, bottom_width)
        with self.init_scope():
            w = chainer.initializers.Normal(wscale)
            self.l0 = L.Linear(self.n_hidden, bottom_width * bottom_width * ch, initialW=w)
            self.dc1 = L.Deconvolution2D(ch, ch // 2, 4, 2, 1, initialW=w)
            self.dc2 = L.Deconvolution2D(ch // 2, 1, 4, 2, 1, initialW=w)
            self.bn0 = L.BatchNormalization(bottom_width * bottom_width * ch)
            self.bn1 = L.BatchNormalization(ch // 2)

    def make_hidden(self, batchsize):
        dtype = chainer.get_dtype()
        return np.random.uniform(-1, 1, (batchsize, self.n_hidden, 1, 1)).astype(dtype)

    def forward(self, z):
        h = F.reshape(
            F.relu(self.bn0(self.l0(z))), (len(z), self.ch, self.bottom_width, self.bottom_width)
        )
        h = F.relu(self.bn1(self.dc1(h)))
        return F.sigmoid(self.dc2(h))


class Discriminator(chainer.Chain):
    def __init__(self, ch=16, wscale=0.02):
        w = chainer.initializers.Normal(wscale)
        super(Discriminator, self).__init__()
        with self.init_scope():
            self.c0 = L.Convolution2D(1, ch // 2, 3, 1, 1, initialW=w)
            self.c1 = L.Convolution2D(ch // 2, ch, 4, 2, 1, initialW=w)
            self.l4 = L.Linear(None, 1, initialW=w)
            self.bn = L.BatchNormalization(ch, use_gamma=False)

    def forward(self, x):
        h = add_noise(x)
        h = F.leaky_relu(add_noise(self.c0(h)))
        h = F.leaky_relu(add_noise(self.bn(self.c1(h))))
        return self.l4(h)


class DCGANUpdater(training.updaters.StandardUpdater):
    def __init__(self, *args, **kwargs):
        self.gen, self.dis = kwargs.pop("models")
        super(DCGANUpdater, self).__init__(*args, **kwargs)

    def loss_dis(self, dis, y_fake, y_real):
        n = len(y_fake)
        loss = F.sum(F.softplus(-y_real)) / n + F.sum(F.softplus(y_fake)) / n
        chainer.report({"loss": loss}, dis)
        return loss

    def loss_gen(self, gen, y_fake):
        loss = F.sum(F.softplus(-y_fake)) / len(y_fake)
        chainer.report({"loss": loss}, gen)
        return loss

    def update_core(self):
        gen_optimizer = self.get_optimizer("gen")
        dis_optimizer = self.get_optimizer("dis")
        batch = self.get_iterator("main").next()
        device = self.device
        x_real = Variable(self.converter(batch, device)) / 255.0
        gen, dis = (self.gen, self.dis)
        y_real = dis(x_real)
        z = Variable(np.asarray(gen.make_hidden(len(batch))))
        x_fake = gen(z)
        y_fake = dis(x_fake)
        dis_optimizer.update(self.loss_dis, dis, y_fake, y_real)
        gen_optimizer.update(self.loss_gen, gen, y_fake)


def make_opt(model, alpha=0.0002, beta1=0.5):
    o = chainer.optimizers.Adam(alpha=alpha, beta1=beta1)
    o.setup(model)
    o.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001), "hook_dec")
    return o


gen, dis = (Generator(8), Discriminator())
data = (np.random.rand(24, 1, 8, 8) * 255).astype("f")
it = chainer.iterators.SerialIterator(data, 6, shuffle=False)
updater = DCGANUpdater(
    models=(gen, dis),
    iterator=it,
    optimizer={"gen": make_opt(gen), "dis": make_opt(dis)},
    device=-1,
)
trainer = training.Trainer(updater, (3, "epoch"), out="result")
interval = (2, "iteration")
trainer.extend(
    extensions.snapshot(filename="snapshot_iter_{.updater.iteration}.npz"), trigger=interval
)
trainer.extend(
    extensions.snapshot_object(gen, "gen_iter_{.updater.iteration}.npz"), trigger=interval
)
trainer.extend(extensions.LogReport(trigger=interval))
trainer.extend(
    extensions.PrintReport(["epoch", "iteration", "gen/loss", "dis/loss"]), trigger=interval
)


@chainer.training.make_extension(trigger=(4, "iteration"))
def out_image(trainer):
    with chainer.using_config("train", False):
        x = gen(Variable(gen.make_hidden(4)))
    print("image", "%.5f" % float(x.array.mean()), trainer.updater.epoch)


trainer.extend(out_image)
trainer.run()
import os

print(sorted(os.listdir("result")))
for o in sorted(updater.get_all_optimizers()):
    print(o, updater.get_optimizer(o).t)

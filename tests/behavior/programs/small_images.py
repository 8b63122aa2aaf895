"""Small programs about images: adversarial networks, detection, segmentation, style."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _cases import printer
from _small import chain, magnitude, noise, trained
from chainer import Variable
from chainer.link_hooks import SpectralNormalization

case = printer(())


def adversarial(loss_dis, loss_gen, hook=None):
    gen = chainer.Sequential(L.Linear(4, 12), L.BatchNormalization(12), F.relu, L.Linear(12, 6))
    first, last = L.Linear(6, 8), L.Linear(8, 1)
    if hook:
        first.add_hook(hook())
        last.add_hook(hook())
    dis = chainer.Sequential(first, F.leaky_relu, last)
    og = chainer.optimizers.Adam(1e-2, beta1=0.5).setup(gen)
    od = chainer.optimizers.Adam(1e-2, beta1=0.5).setup(dis)
    seen = []
    for _ in range(3):
        real, z = noise(5, 6) + 1, noise(5, 4)
        fake = gen(z)
        loss = loss_dis(dis, real, fake)
        dis.cleargrads()
        loss.backward()
        od.update()
        loss_g = loss_gen(dis(gen(z)))
        gen.cleargrads()
        loss_g.backward()
        og.update()
        seen += [float(loss.array), float(loss_g.array)]
    return seen, magnitude(first.W.array), magnitude(gen[0].W.array)


def lsgan():
    return adversarial(
        lambda dis, real, fake: (
            0.5 * (F.mean((dis(real) - 1) ** 2) + F.mean(dis(Variable(fake.array)) ** 2))
        ),
        lambda y: 0.5 * F.mean((y - 1) ** 2),
    )


def hinge_with_spectral_normalization():
    return adversarial(
        lambda dis, real, fake: F.mean(F.relu(1 - dis(real))) + F.mean(F.relu(1 + dis(fake))),
        lambda y: -F.mean(y),
        SpectralNormalization,
    )


def wgan_gp():
    def loss(dis, real, fake):
        e = np.random.rand(len(real), 1).astype("f")
        mid = Variable(e * real + (1 - e) * fake.array)
        (g,) = chainer.grad([dis(mid)], [mid], enable_double_backprop=True)
        norm = F.sqrt(F.batch_l2_norm_squared(g))
        return F.mean(dis(fake)) - F.mean(dis(real)) + 10 * F.mean((norm - 1) ** 2)

    return adversarial(loss, lambda y: -F.mean(y))


def r1_penalty():
    def loss(dis, real, fake):
        x = Variable(real)
        y = dis(x)
        (g,) = chainer.grad([y], [x], enable_double_backprop=True)
        return F.mean(F.softplus(-y)) + F.mean(F.softplus(dis(fake))) + 5 * F.mean(F.sum(g * g, 1))

    return adversarial(loss, lambda y: F.mean(F.softplus(-y)))


def weight_clipping():
    critic = chainer.Sequential(L.Linear(3, 5), F.tanh, L.Linear(5, 1))
    optimizer = chainer.optimizers.RMSprop(0.05).setup(critic)
    for _ in range(3):
        loss = F.mean(critic(noise(4, 3))) - F.mean(critic(noise(4, 3) + 1))
        critic.cleargrads()
        loss.backward()
        optimizer.update()
        for p in critic.params():
            p.array[...] = np.clip(p.array, -0.1, 0.1)
    return float(loss.array), magnitude(critic[0].W.array)


def conditional_batch_normalization():
    model = chain(g=L.EmbedID(3, 4, initialW=1), b=L.EmbedID(3, 4, initialW=0))

    def loss(step):
        x, c = noise(6, 4, 2, 2), np.array([0, 1, 2, 0, 1, 2], "i")
        h = F.batch_normalization(x, np.ones(4, "f"), np.zeros(4, "f"))
        g, b = (F.broadcast_to(e(c)[:, :, None, None], h.shape) for e in (model.g, model.b))
        return F.mean_squared_error(F.tanh(h * g + b), x)

    return trained(model, loss)


def single_shot_detector():
    model = chain(
        c=L.Convolution2D(3, 8, 3, 2, 1),
        loc=L.Convolution2D(8, 8, 3, 1, 1),
        conf=L.Convolution2D(8, 6, 3, 1, 1),
    )

    def loss(step):
        h = F.relu(model.c(noise(2, 3, 8, 8)))
        loc = F.reshape(F.transpose(model.loc(h), (0, 2, 3, 1)), (2, -1, 4))
        conf = F.reshape(F.transpose(model.conf(h), (0, 2, 3, 1)), (-1, 3))
        label = np.random.randint(0, 3, len(conf)).astype("i")
        ce = F.softmax_cross_entropy(conf, label, reduce="no")
        # Hard negatives: the boxes without an object that lose the most.
        rank = np.argsort(np.argsort(-np.where(label, 0, ce.array)))
        kept = np.logical_or(label > 0, rank < 3 * (label > 0).sum())
        h = F.huber_loss(loc, np.zeros(loc.shape, "f"), 1, reduce="no")
        positive = (label > 0).reshape(2, -1)
        return (F.sum(ce * kept.astype("f")) + F.sum(F.sum(h, 2) * positive.astype("f"))) / max(
            1, positive.sum()
        )

    return trained(model, loss, chainer.optimizers.MomentumSGD(0.01))


def region_pooling_head():
    model = chain(c=L.Convolution2D(2, 4, 3, pad=1), f=L.Linear(16, 3))
    rois = np.array([[0, 0, 0, 5, 5], [1, 1, 2, 7, 6], [0, 2, 2, 7, 7]], "f")

    def loss(step):
        h = F.relu(model.c(noise(2, 2, 8, 8)))
        y = model.f(F.roi_pooling_2d(h, rois, 2, 2, 1.0))
        return F.softmax_cross_entropy(y, np.array([0, 1, 2], "i"))

    return trained(model, loss)


def fully_convolutional_network():
    model = chain(
        c=L.Convolution2D(1, 4, 3, 2, 1),
        d=L.DilatedConvolution2D(4, 4, 3, 1, 2, dilate=2),
        u=L.Deconvolution2D(4, 3, 4, 2, 1),
    )

    def loss(step):
        x = noise(2, 1, 8, 8)
        t = (x[:, 0] > 0).astype("i") + (x[:, 0] > 1)
        t[:, 0] = -1
        y = model.u(F.elu(model.d(F.elu(model.c(x)))))
        return F.softmax_cross_entropy(y, t, class_weight=np.array([1, 2, 3], "f"))

    return trained(model, loss, hooks=[chainer.optimizer_hooks.WeightDecay(1e-3)])


def u_net_with_crops():
    model = chain(
        a=L.Convolution2D(1, 4, 3), b=L.Convolution2D(4, 4, 3), c=L.Convolution2D(8, 2, 1)
    )

    def loss(step):
        x = noise(2, 1, 10, 10)
        a = F.relu(model.a(x))
        b = F.unpooling_2d(F.relu(model.b(F.max_pooling_2d(a, 2))), 2, outsize=(4, 4))
        y = model.c(F.concat([a[:, :, 2:6, 2:6], b]))
        return F.sum(F.sigmoid_cross_entropy(y, (y.array > 0).astype("i"), normalize=False))

    return trained(model, loss)


def style_transfer():
    np.random.seed(1)
    net = L.Convolution2D(3, 4, 3, pad=1)

    def gram(h):
        h = F.reshape(h, (h.shape[0], h.shape[1], -1))
        return F.matmul(h, h, transb=True) / h.shape[2]

    style, content = (F.relu(net(noise(1, 3, 6, 6))).array for _ in range(2))
    image = L.Parameter(noise(1, 3, 6, 6))

    def loss(step):
        h = F.relu(net(image()))
        s = F.mean_squared_error(gram(h), gram(Variable(style)))
        c = F.mean_squared_error(h, content)
        tv = F.sum(F.absolute(image.W[:, :, 1:] - image.W[:, :, :-1]))
        return s + c + 1e-3 * tv

    return trained(image, loss, steps=4)


def pixel_shuffle():
    model = chain(c=L.Convolution2D(1, 8, 3, pad=1), d=L.Convolution2D(8, 4, 3, pad=1))

    def loss(step):
        x = noise(2, 1, 8, 8)
        small = F.resize_images(F.average_pooling_2d(x, 2), (4, 4))
        return F.mean_absolute_error(F.depth2space(model.d(F.relu(model.c(small))), 2), x)

    return trained(model, loss, chainer.optimizers.AdaGrad(0.05))


def squeeze_and_excitation():
    model = chain(
        c=L.Convolution2D(2, 8, 3, pad=1), f=L.Linear(8, 2), g=L.Linear(2, 8), o=L.Linear(8, 3)
    )

    def loss(step):
        h = model.c(noise(4, 2, 5, 5))
        s = F.sigmoid(model.g(F.relu(model.f(F.average(h, (2, 3))))))
        h = h * F.broadcast_to(s[:, :, None, None], h.shape)
        y = model.o(F.max(h, axis=(2, 3)))
        return F.softmax_cross_entropy(y, np.array([0, 1, 2, 0], "i"))

    return trained(model, loss, chainer.optimizers.NesterovAG(0.05))


for function in (
    lsgan,
    hinge_with_spectral_normalization,
    wgan_gp,
    r1_penalty,
    weight_clipping,
    conditional_batch_normalization,
    single_shot_detector,
    region_pooling_head,
    fully_convolutional_network,
    u_net_with_crops,
    style_transfer,
    pixel_shuffle,
    squeeze_and_excitation,
):
    case(function.__name__, function)

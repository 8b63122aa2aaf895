"""Small programs about language, speech, graphs, reinforcement learning and physics."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _cases import printer
from _small import chain, noise, trained
from chainer import Variable, distributions, link_hooks

case = printer(())
int32 = np.int32


def language_model_by_truncated_backpropagation():
    model = chain(e=L.EmbedID(7, 5), l=L.LSTM(5, 6), o=L.Linear(6, 7))
    text = np.random.randint(0, 7, 40).astype(int32)

    def loss(step):
        total = 0
        for i in range(4):
            x, t = text[step * 4 + i :: 20], text[step * 4 + i + 1 :: 20]
            total += F.softmax_cross_entropy(model.o(F.dropout(model.l(model.e(x)), 0.2)), t)
        if step:
            model.l.h.unchain_backward()
        return total

    hook = chainer.optimizer_hooks.GradientClipping(0.5)
    return trained(model, loss, chainer.optimizers.SGD(0.5), hooks=[hook])


def encoder_decoder_with_attention():
    model = chain(
        e=L.EmbedID(6, 4, ignore_label=-1),
        f=L.NStepBiLSTM(1, 4, 4, 0.0),
        d=L.NStepLSTM(1, 4, 8, 0.0),
        o=L.Linear(16, 6),
    )

    def loss(step):
        xs = [np.random.randint(0, 6, n).astype(int32) for n in (4, 3, 2)]
        _, _, hs = model.f(None, None, [model.e(x) for x in xs])
        _, _, ys = model.d(None, None, [model.e(x) for x in xs])
        found = []
        for h, y in zip(hs, ys):
            weights = F.softmax(F.matmul(y, h, transb=True))
            found.append(F.concat([F.matmul(weights, h), y]))
        return F.softmax_cross_entropy(model.o(F.concat(found, 0)), np.concatenate(xs))

    return trained(model, loss)


def convolutional_sentences():
    model = chain(
        e=L.EmbedID(9, 4, ignore_label=-1),
        c=L.Convolution2D(4, 5, (3, 1), pad=(1, 0)),
        o=L.Linear(5, 2),
    )

    def loss(step):
        xs = [np.random.randint(0, 9, n).astype(int32) for n in (5, 3, 4)]
        x = chainer.dataset.convert.concat_examples(xs, padding=-1)
        h = F.transpose(model.e(x), (0, 2, 1))[:, :, :, None]
        return F.softmax_cross_entropy(
            model.o(F.max(F.relu(model.c(h)), (2, 3))), np.array([0, 1, 0], "i")
        )

    return trained(model, loss)


def transformer_block():
    model = chain(
        q=L.Linear(8, 24, nobias=True),
        o=L.Linear(8, 8),
        n=L.LayerNormalization(8),
        f=L.Linear(8, 16),
        g=L.Linear(16, 8),
    )

    def loss(step):
        x = noise(2, 5, 8)
        q, k, v = F.split_axis(F.reshape(model.q(F.reshape(x, (-1, 8))), (2, 5, 24)), 3, 2)
        q, k, v = (F.transpose(F.reshape(a, (2, 5, 2, 4)), (0, 2, 1, 3)) for a in (q, k, v))
        scores = F.matmul(q, k, transb=True) / 2.0
        mask = np.broadcast_to(np.tril(np.ones((5, 5), bool)), scores.shape)
        scores = F.where(mask, scores, np.full(scores.shape, -1e9, "f"))
        h = F.transpose(F.matmul(F.softmax(scores, axis=3), v), (0, 2, 1, 3))
        h = model.n(model.o(F.reshape(h, (-1, 8))) + x.reshape(-1, 8))
        h = h + model.g(F.relu(model.f(h)))
        return F.mean_squared_error(F.reshape(h, (2, 5, 8))[:, :-1], x[:, 1:])

    return trained(model, loss, chainer.optimizers.Adam(0.01, amsgrad=True))


def tagging_by_a_random_field():
    model = chain(e=L.EmbedID(8, 4), r=L.NStepBiGRU(1, 4, 3, 0.0), o=L.Linear(6, 3), c=L.CRF1d(3))

    def parts(step):
        rng = np.random.RandomState(step)
        xs = [rng.randint(0, 8, n).astype(int32) for n in (4, 4, 2)]
        ts = [(x % 3).astype(int32) for x in xs]
        _, hs = model.r(None, [model.e(x) for x in xs])
        return F.transpose_sequence([model.o(h) for h in hs]), F.transpose_sequence(ts)

    found = trained(model, lambda step: model.c(*parts(step)))
    score, paths = model.c.argmax(parts(0)[0])
    return found, score, [np.asarray(p).tolist() for p in paths]


def skip_gram_with_negative_samples():
    counts = [5, 3, 2, 1, 4]
    model = chain(e=L.EmbedID(5, 3), n=L.NegativeSampling(3, counts, 4))

    def loss(step):
        t = np.random.randint(0, 5, 6).astype(int32)
        return model.n(model.e(t[::-1].copy()), t)

    return trained(model, loss)


def hierarchical_softmax():
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 5, 1: 2, 2: 1, 3: 4})
    model = chain(e=L.EmbedID(4, 3), b=L.BinaryHierarchicalSoftmax(3, tree))
    t = np.array([0, 1, 2, 3, 0], int32)
    return trained(model, lambda step: model.b(model.e(t[::-1].copy()), t))


def listener_with_ctc():
    model = chain(l=L.NStepLSTM(2, 4, 5, 0.1), o=L.Linear(5, 4))

    def loss(step):
        xs = [noise(n, 4) for n in (7, 6, 5)]
        _, _, hs = model.l(None, None, xs)
        ys = F.pad_sequence([model.o(h) for h in hs])
        ts = np.array([[1, 2, 3], [2, 2, -1], [1, -1, -1]], int32)
        lengths = np.array([7, 6, 5], int32), np.array([3, 2, 1], int32)
        ys = F.separate(ys, axis=1)
        return F.connectionist_temporal_classification(list(ys), ts, 0, *lengths)

    return trained(model, loss, chainer.optimizers.AdaDelta(rho=0.9, eps=1e-3))


def dilated_waveform_model():
    links = {"c%d" % i: L.ConvolutionND(1, 4, 8, 2, dilate=2**i) for i in range(3)}
    model = chain(i=L.ConvolutionND(1, 1, 4, 1), o=L.ConvolutionND(1, 4, 5, 1), **links)

    def loss(step):
        x = noise(2, 1, 16)
        h = model.i(x)
        for i in range(3):
            padded = F.pad(h, [(0, 0), (0, 0), (2**i, 0)], "constant")
            a, b = F.split_axis(model["c%d" % i](padded), 2, axis=1)
            h = h + F.tanh(a) * F.sigmoid(b)
        t = np.digitize(x[:, 0, 1:], [-1, 0, 0.5, 1]).astype(int32)
        return F.softmax_cross_entropy(model.o(F.relu(h))[:, :, :-1], t)

    return trained(model, loss)


def vector_quantization():
    model = chain(e=L.Linear(3, 2), d=L.Linear(2, 3), book=L.EmbedID(4, 2))

    def loss(step):
        x = noise(6, 3)
        z = model.e(x)
        distance = ((z.array[:, None] - model.book.W.array[None]) ** 2).sum(2)
        q = model.book(distance.argmin(1).astype(int32))
        straight = z + Variable(q.array - z.array)
        kept = F.mean((z - q.array) ** 2) + F.mean((Variable(z.array) - q) ** 2)
        return F.mean_squared_error(model.d(straight), x) + 0.25 * kept

    return trained(model, loss)


def mixture_density():
    model = chain(h=L.Linear(1, 6), o=L.Linear(6, 9))

    def loss(step):
        x = noise(8, 1)
        pi, mu, log = F.split_axis(model.o(F.tanh(model.h(x))), 3, 1)
        t = np.broadcast_to(np.sin(x), mu.shape).astype("f")
        return -F.mean(F.logsumexp(F.log_softmax(pi) - F.gaussian_nll(t, mu, log, "no"), 1))

    return trained(model, loss, chainer.optimizers.SMORMS3(0.01))


def graph_convolution():
    model = chain(a=L.Linear(4, 6), b=L.Linear(6, 2))
    edges = np.random.rand(5, 5) < 0.4
    a = (edges | edges.T | np.eye(5, dtype=bool)).astype("f")
    a /= np.sqrt(a.sum(0)[:, None] * a.sum(1)[None])
    x, sparse = noise(5, 4), chainer.utils.CooMatrix
    row, col = a.nonzero()
    matrix = sparse(a[row, col], row.astype(int32), col.astype(int32), a.shape)

    def loss(step):
        h = F.relu(F.sparse_matmul(matrix, model.a(x)))
        return F.softmax_cross_entropy(F.matmul(a, model.b(h)), np.array([0, 1, -1, 0, 1], "i"))

    return trained(model, loss, hooks=[chainer.optimizer_hooks.Lasso(1e-4)])


def gated_graph_network():
    model = chain(m=L.Linear(3, 3), g=L.GRU(3, 3), r=L.Linear(6, 1))

    def loss(step):
        atoms, bonds = noise(2, 4, 3), (np.random.rand(2, 4, 4) < 0.5).astype("f")
        h = Variable(atoms)
        model.g.reset_state()
        for _ in range(2):
            message = F.matmul(bonds, F.reshape(model.m(F.reshape(h, (-1, 3))), (2, 4, 3)))
            h = F.reshape(model.g(F.reshape(message, (-1, 3))), (2, 4, 3))
        y = model.r(F.concat([F.sum(h, 1), F.max(h, 1)]))
        return F.mean_squared_error(y, np.ones((2, 1), "f"))

    return trained(model, loss)


def graph_attention():
    model = chain(w=L.Linear(3, 4, nobias=True), a=L.Linear(8, 1, nobias=True))
    links = np.random.rand(5, 5) < 0.6
    np.fill_diagonal(links, True)

    def loss(step):
        h = model.w(noise(5, 3))
        pairs = F.concat([F.repeat(h, 5, 0), F.tile(h, (5, 1))])
        e = F.leaky_relu(F.reshape(model.a(pairs), (5, 5)), 0.2)
        alpha = F.softmax(F.where(links, e, np.full((5, 5), -1e9, "f")))
        return F.mean(F.squared_error(F.elu(F.matmul(alpha, h)), 1 - h))

    return trained(model, loss)


def double_q_learning():
    online = chain(a=L.Linear(3, 8), v=L.Linear(8, 1), d=L.Linear(8, 2))
    target = online.copy("copy")

    def q(net, s):
        h = F.relu(net.a(s))
        d = net.d(h)
        return (
            F.broadcast_to(net.v(h), d.shape)
            + d
            - F.broadcast_to(F.mean(d, 1, keepdims=True), d.shape)
        )

    def loss(step):
        s, n, r = noise(6, 3), noise(6, 3), noise(6)
        a = np.random.randint(0, 2, 6).astype(int32)
        with chainer.no_backprop_mode():
            best = F.argmax(q(online, n), 1)
            t = r + 0.9 * F.select_item(q(target, n), best).array
        for name, p in target.namedparams():
            p.array += 0.1 * (dict(online.namedparams())[name].array - p.array)
        return F.mean(F.huber_loss(F.select_item(q(online, s), a), t, 1.0, reduce="no"))

    return trained(online, loss, chainer.optimizers.RMSpropGraves(0.01)), trained(
        target, loss, steps=1
    )


def proximal_policy_optimization():
    model = chain(p=L.Linear(3, 2), v=L.Linear(3, 1))
    s, a, adv = noise(8, 3), np.random.randint(0, 2, 8).astype(int32), noise(8)
    old = F.select_item(F.log_softmax(model.p(s)), a).array

    def loss(step):
        logits = model.p(s)
        log = F.log_softmax(logits)
        ratio = F.exp(F.select_item(log, a) - old)
        clipped = F.minimum(ratio * adv, F.clip(ratio, 0.8, 1.2) * adv)
        entropy = -F.sum(F.softmax(logits) * log) / 8
        value = F.mean_squared_error(F.squeeze(model.v(s), 1), adv)
        return -F.mean(clipped) + 0.5 * value - 0.01 * entropy

    return trained(model, loss, chainer.optimizers.Adam(0.05), steps=5)


def policy_gradient_by_a_distribution():
    model = chain(m=L.Linear(3, 2), s=L.Linear(3, 2))

    def loss(step):
        s = noise(5, 3)
        d = distributions.Normal(model.m(s), log_scale=model.s(s))
        a = d.sample().array
        return -F.mean(F.sum(d.log_prob(a), 1) * noise(5)) - 0.1 * F.mean(d.entropy)

    return trained(model, loss)


def squashed_gaussian_actor():
    actor, critic = L.Linear(3, 4), L.Linear(5, 1)

    def loss(step):
        s = noise(6, 3)
        mu, log = F.split_axis(actor(s), 2, 1)
        log = F.clip(log, -2.0, -0.5)
        mu = 0.5 * mu
        raw = F.gaussian(mu, 2 * log)
        a = F.tanh(raw)
        log_p = F.sum(-F.gaussian_nll(raw, mu, 2 * log, "no") - F.log(1 - a * a + 1e-6), 1)
        return F.mean(0.2 * log_p - F.squeeze(critic(F.concat([s, a])), 1))

    return trained(actor, loss)


def trust_region_step():
    model = chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 2))
    s = noise(6, 3)
    params = [p for _, p in sorted(model.namedparams())]
    old = F.softmax(model(s)).array
    kl = F.sum(old * (np.log(old) - F.log_softmax(model(s)))) / 6
    g = chainer.grad([kl], params, enable_double_backprop=True)
    v = [np.ones_like(p.array) for p in params]
    product = sum(F.sum(a * b) for a, b in zip(g, v))
    return [float(np.abs(h.array).sum()) for h in chainer.grad([product], params)]


def hamiltonian_network():
    model = chain(a=L.Linear(2, 8), b=L.Linear(8, 1))

    def loss(step):
        x = Variable(noise(6, 2))
        (g,) = chainer.grad([model.b(F.tanh(model.a(x)))], [x], enable_double_backprop=True)
        return F.mean_squared_error(
            F.concat([g[:, 1:], -g[:, :1]]), x.array[:, ::-1] * np.array([1, -1], "f")
        )

    return trained(model, loss)


def learning_to_learn():
    model = chain(l=L.Linear(1, 4), m=L.Linear(4, 1))

    def run(params, x):
        return F.linear(F.tanh(F.linear(x, *params[:2])), *params[2:])

    def loss(step):
        x, a = noise(5, 1), np.random.rand() + 1
        params = [model.l.W, model.l.b, model.m.W, model.m.b]
        inner = F.mean_squared_error(run(params, x), (a * x).astype("f"))
        g = chainer.grad([inner], params, enable_double_backprop=True)
        new = [p - 0.1 * d for p, d in zip(params, g)]
        z = noise(5, 1)
        return F.mean_squared_error(run(new, z), (a * z).astype("f"))

    return trained(model, loss)


def ladder_of_labels_and_virtual_adversaries():
    model = chainer.Sequential(L.Linear(4, 6), F.relu, L.Linear(6, 3))

    def loss(step):
        x = noise(5, 4)
        p = F.softmax(model(x)).array
        d = Variable(noise(5, 4) * 0.1)
        (g,) = chainer.grad([-F.sum(p * F.log_softmax(model(x + d)))], [d])
        r = 0.5 * g.array / (np.sqrt((g.array**2).sum(1, keepdims=True)) + 1e-6)
        return -F.sum(p * F.log_softmax(model(x + r))) / 5 + F.softmax_cross_entropy(
            model(x), np.arange(5, dtype="i") % 3
        )

    return trained(model, loss)


def metric_learning():
    model = L.Linear(4, 3)

    def loss(step):
        a, p, n = (F.normalize(model(noise(5, 4) + i)) for i in range(3))
        return F.triplet(a, p, n, margin=0.3) + F.contrastive(a, p, np.array([0, 1, 1, 0, 1], "i"))

    return trained(model, loss)


def center_loss_with_own_persistents():
    model = chain(l=L.Linear(3, 2))
    model.add_persistent("centers", np.zeros((2, 2), "f"))

    def loss(step):
        t = np.array([0, 1, 1, 0], "i")
        h = model.l(noise(4, 3))
        diff = h - model.centers[t]
        np.subtract.at(model.centers, t, -0.5 * diff.array)
        return F.mean(F.batch_l2_norm_squared(diff)) + F.softmax_cross_entropy(h, t)

    return trained(model, loss), model.centers


def weight_standardization_and_groups():
    conv = L.Convolution2D(2, 4, 3)
    conv.add_hook(link_hooks.WeightStandardization())
    model = chain(c=conv, g=L.GroupNormalization(2, 4), o=L.Linear(4, 2))

    def loss(step):
        h = F.relu(model.g(model.c(noise(3, 2, 6, 6))))
        return F.softmax_cross_entropy(model.o(F.mean(h, (2, 3))), np.array([0, 1, 1], "i"))

    return trained(model, loss, chainer.optimizers.CorrectedMomentumSGD(0.05))


def stochastic_depth_and_cosine_rate():
    model = chainer.ChainList(*[L.Linear(4, 4) for _ in range(3)])
    optimizer = chainer.optimizers.MomentumSGD(0.1)

    def loss(step):
        optimizer.lr = 0.05 * (1 + np.cos(np.pi * step / 5))
        x = noise(5, 4)
        h = Variable(x)
        for layer in model:
            if np.random.rand() < 0.8:
                h = h + F.relu(layer(h))
        return F.mean_absolute_error(h, x + 1)

    return trained(model, loss, optimizer, steps=5)


for function in (
    language_model_by_truncated_backpropagation,
    encoder_decoder_with_attention,
    convolutional_sentences,
    transformer_block,
    tagging_by_a_random_field,
    skip_gram_with_negative_samples,
    hierarchical_softmax,
    listener_with_ctc,
    dilated_waveform_model,
    vector_quantization,
    mixture_density,
    graph_convolution,
    gated_graph_network,
    graph_attention,
    double_q_learning,
    proximal_policy_optimization,
    policy_gradient_by_a_distribution,
    squashed_gaussian_actor,
    trust_region_step,
    hamiltonian_network,
    learning_to_learn,
    ladder_of_labels_and_virtual_adversaries,
    metric_learning,
    center_loss_with_own_persistents,
    weight_standardization_and_groups,
    stochastic_depth_and_cosine_rate,
):
    case(function.__name__, function)

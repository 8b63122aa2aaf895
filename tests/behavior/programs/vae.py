"""A variational autoencoder on distributions, and the properties of distributions."""

import numpy as np

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
from chainer import reporter, training
from chainer.training import extensions

np.random.seed(4)


class AvgELBOLoss(chainer.Chain):
    def __init__(self, encoder, decoder, prior, beta=1.0, k=1):
        super().__init__()
        self.beta, self.k = (beta, k)
        with self.init_scope():
            self.encoder, self.decoder, self.prior = (encoder, decoder, prior)

    def __call__(self, x):
        q_z = self.encoder(x)
        z = q_z.sample(self.k)
        p_x = self.decoder(z)
        p_z = self.prior()
        reconstr = F.mean(p_x.log_prob(F.broadcast_to(x[None, :], (self.k,) + x.shape)))
        kl = F.mean(chainer.kl_divergence(q_z, p_z))
        loss = -(reconstr - self.beta * kl)
        reporter.report({"loss": loss}, self)
        reporter.report({"reconstr": reconstr}, self)
        reporter.report({"kl_penalty": kl}, self)
        return loss


class Encoder(chainer.Chain):
    def __init__(self, n_in, n_latent, n_h):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(n_in, n_h)
            self.mu = L.Linear(n_h, n_latent)
            self.ln_sigma = L.Linear(n_h, n_latent)

    def forward(self, x):
        h = F.tanh(self.linear(x))
        return D.Normal(loc=self.mu(h), log_scale=self.ln_sigma(h))


class Decoder(chainer.Chain):
    def __init__(self, n_in, n_latent, n_h, binary_check=False):
        super().__init__()
        self.binary_check = binary_check
        with self.init_scope():
            self.linear = L.Linear(n_latent, n_h)
            self.output = L.Linear(n_h, n_in)

    def forward(self, z, inference=False):
        n_batch_axes = 1 if inference else 2
        h = F.tanh(self.linear(z, n_batch_axes=n_batch_axes))
        h = self.output(h, n_batch_axes=n_batch_axes)
        return D.Bernoulli(logit=h, binary_check=self.binary_check)


class Prior(chainer.Link):
    def __init__(self, n_latent):
        super().__init__()
        self.loc = np.zeros(n_latent, np.float32)
        self.scale = np.ones(n_latent, np.float32)
        self.register_persistent("loc")
        self.register_persistent("scale")

    def forward(self):
        return D.Normal(self.loc, scale=self.scale)


m = AvgELBOLoss(Encoder(12, 3, 8), Decoder(12, 3, 8, True), Prior(3), beta=0.8, k=2)
opt = chainer.optimizers.Adam()
opt.setup(m)
x = (np.random.rand(30, 12) > 0.5).astype("f")
it = chainer.iterators.SerialIterator(x, 10, shuffle=False)
te = chainer.iterators.SerialIterator(x[:7], 5, repeat=False, shuffle=False)
up = training.updaters.StandardUpdater(it, opt, device=chainer.get_device(-1), loss_func=m)
tr = training.Trainer(up, (3, "epoch"), out="r")
tr.extend(extensions.Evaluator(te, m, device=-1))
tr.extend(extensions.dump_graph("main/loss"))
tr.extend(extensions.snapshot(), trigger=(1, "epoch"))
tr.extend(extensions.LogReport())
tr.extend(
    extensions.PrintReport(
        ["epoch", "main/loss", "validation/main/loss", "main/reconstr", "main/kl_penalty"]
    )
)
tr.extend(extensions.ProgressBar(update_interval=100, out=open("bar", "w")))
tr.run()
import os

print(sorted(os.listdir("r")))
print([n for n, _ in m.namedparams()])
d = D.Normal(np.zeros(2, "f"), np.ones(2, "f"))
print(
    d.entropy.array,
    d.cdf(np.array([0, 1.0], "f")).array.round(4),
    d.batch_shape,
    d.event_shape,
    repr(d.variance),
)
for n in [
    "Normal",
    "Gamma",
    "Beta",
    "Laplace",
    "Gumbel",
    "Exponential",
    "Pareto",
    "Poisson",
    "Cauchy",
    "LogNormal",
]:
    c = getattr(D, n)
    a = {
        "Normal": 2,
        "Gamma": 2,
        "Beta": 2,
        "Laplace": 2,
        "Gumbel": 2,
        "Uniform": 2,
        "Exponential": 1,
        "Pareto": 2,
        "Poisson": 1,
        "Cauchy": 2,
        "LogNormal": 2,
    }[n]
    args = [np.array([1.0, 2.0], "f"), np.array([2.0, 3.0], "f")][:a]
    q = c(*args)
    np.random.seed(0)
    s = q.sample(3)
    print(
        n,
        s.shape,
        s.dtype,
        np.array(s.array).round(3).tolist(),
        q.log_prob(np.array([1.5, 2.5], "f") if n != "Beta" else np.array([0.3, 0.4], "f"))
        .array.round(3)
        .tolist()
        if n != "Poisson"
        else q.log_prob(np.array([1.0, 2.0], "f")).array.round(3).tolist(),
    )
    for at in [
        "mean",
        "variance",
        "entropy",
        "stddev",
        "support",
        "params",
        "covariance",
        "xp",
        "event_shape",
        "batch_shape",
    ]:
        try:
            v = getattr(q, at)
            v = (
                v.array.round(3).tolist()
                if hasattr(v, "array")
                else sorted(v)
                if isinstance(v, dict)
                else v.__name__
                if hasattr(v, "__name__")
                else v
            )
        except Exception as e:
            v = type(e).__name__
        print("  ", at, v)

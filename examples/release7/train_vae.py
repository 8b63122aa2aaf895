"""A variational autoencoder with chainer.distributions.

python train_vae.py --epochs 100
python train_vae.py --small
"""

import argparse

import numpy as np
from small_data import add_options, duration, extend, images, set_weights

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
from chainer import reporter, training


class AutoEncoder(chainer.Chain):
    """Returns the negative evidence lower bound.

    ``noise`` of shape (samples, latent), if given, takes the place of random numbers.
    """

    def __init__(self, pixels, hidden, latent, beta=1.0, noise=None):
        super().__init__()
        self.beta = beta
        with self.init_scope():
            self.encode = L.Linear(pixels, hidden)
            self.mean = L.Linear(hidden, latent)
            self.log_variance = L.Linear(hidden, latent)
            self.decode = L.Linear(latent, hidden)
            self.logit = L.Linear(hidden, pixels)
        if noise is not None:
            self.add_persistent("noise", noise)

    def posterior(self, x):
        h = F.tanh(self.encode(x))
        return D.Normal(loc=self.mean(h), log_scale=self.log_variance(h) * 0.5)

    def likelihood(self, z):
        logit = self.logit(F.tanh(self.decode(z)))
        return D.Independent(D.Bernoulli(logit=logit), 1)

    def forward(self, x):
        posterior = self.posterior(x)
        zeros = self.xp.zeros(posterior.loc.shape, np.float32)
        prior = D.Independent(D.Normal(zeros, self.xp.ones_like(zeros)), 1)
        noise = getattr(self, "noise", None)
        z = (
            posterior.sample()
            if noise is None
            else posterior.loc + posterior.scale * noise[: len(x)]
        )
        reconstruction = F.mean(self.likelihood(z).log_prob(x))
        divergence = F.mean(chainer.kl_divergence(D.Independent(posterior, 1), prior))
        loss = self.beta * divergence - reconstruction
        reporter.report({"loss": loss, "reconstruction": reconstruction, "kl": divergence}, self)
        return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=100)
    parser.add_argument("--batch-size", "-b", type=int, default=100)
    parser.add_argument("--latent", type=int, default=20)
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    if arguments.small:
        pixels, hidden, arguments.latent, arguments.batch_size = 64, 16, 4, 10
        train = [(np.round(image),) for image, _ in images(50, shape=(pixels,))]
        noise = np.random.RandomState(1).normal(size=(10, 4)).astype(np.float32)
    else:
        pixels, hidden, noise = 784, 500, None
        train = [(np.round(image),) for image in chainer.datasets.get_mnist(withlabel=False)[0]]
    model = AutoEncoder(pixels, hidden, arguments.latent, noise=noise)
    if arguments.small:
        set_weights(model)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)

    iterator = chainer.iterators.SerialIterator(
        train, arguments.batch_size, shuffle=not arguments.small
    )
    # Without a loss function, the updater calls the model.
    updater = training.StandardUpdater(iterator, optimizer, device=device)
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)
    extend(trainer, arguments, "main/reconstruction", "main/kl")
    trainer.run()


if __name__ == "__main__":
    main()

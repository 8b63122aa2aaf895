"""DCGAN: a generator and a discriminator, with an updater of its own and spectral normalization.

python train_dcgan.py --epochs 100
python train_dcgan.py --small
"""

import argparse

import numpy as np
from small_data import add_options, duration, extend, images, set_weights

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.link_hooks import SpectralNormalization


class Generator(chainer.Chain):
    def __init__(self, hidden, width, size, channels):
        super().__init__()
        self.hidden, self.width, self.bottom = hidden, width, size // 4
        with self.init_scope():
            self.l0 = L.Linear(hidden, self.bottom**2 * width)
            self.bn0 = L.BatchNormalization(self.bottom**2 * width)
            self.dc1 = L.Deconvolution2D(width, width // 2, 4, stride=2, pad=1)
            self.bn1 = L.BatchNormalization(width // 2)
            self.dc2 = L.Deconvolution2D(width // 2, channels, 4, stride=2, pad=1)

    def draw(self, random, count):
        """Returns hidden vectors on the device of the generator."""
        z = random.uniform(-1, 1, (count, self.hidden)).astype(np.float32)
        return self.device.send(z)

    def forward(self, z):
        h = F.relu(self.bn0(self.l0(z)))
        h = F.reshape(h, (len(z), self.width, self.bottom, self.bottom))
        h = F.relu(self.bn1(self.dc1(h)))
        return F.sigmoid(self.dc2(h))


class Discriminator(chainer.Chain):
    def __init__(self, width, size, channels, spectral):
        super().__init__()
        with self.init_scope():
            self.c0 = L.Convolution2D(channels, width // 2, 4, stride=2, pad=1)
            self.c1 = L.Convolution2D(width // 2, width, 4, stride=2, pad=1)
            self.out = L.Linear(width * (size // 4) ** 2, 1)
        if spectral:
            for link in self.children():
                link.add_hook(SpectralNormalization())

    def forward(self, x):
        h = F.leaky_relu(self.c0(x))
        h = F.leaky_relu(self.c1(h))
        return self.out(h)


class DCGANUpdater(training.updaters.StandardUpdater):
    def __init__(self, iterator, optimizers, random, **kwargs):
        super().__init__(iterator, optimizers, **kwargs)
        self.random = random

    def update_core(self):
        gen_optimizer = self.get_optimizer("gen")
        dis_optimizer = self.get_optimizer("dis")
        generator, discriminator = gen_optimizer.target, dis_optimizer.target
        real = chainer.Variable(self.converter(self.get_iterator("main").next(), self.device))
        fake = generator(generator.draw(self.random, len(real)))
        y_real, y_fake = discriminator(real), discriminator(fake)

        gen_loss = F.mean(F.softplus(-y_fake))
        generator.cleargrads()
        gen_loss.backward()
        gen_optimizer.update()

        fake.unchain_backward()
        dis_loss = F.mean(F.softplus(-y_real)) + F.mean(F.softplus(y_fake))
        discriminator.cleargrads()
        dis_loss.backward()
        dis_optimizer.update()
        chainer.report({"main/loss": dis_loss, "gen/loss": gen_loss})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=100)
    parser.add_argument("--batch-size", "-b", type=int, default=50)
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--spectral", action="store_true", help="normalize the discriminator")
    arguments = parser.parse_args()
    device = chainer.get_device(arguments.device)
    device.use()

    if arguments.small:
        size, channels, width, arguments.hidden, arguments.batch_size = 16, 3, 8, 10, 8
        train = [image for image, _ in images(40, shape=(channels, size, size))]
    else:
        size, channels, width = 32, 3, 256
        train, _ = chainer.datasets.get_cifar10(withlabel=False)
    generator = Generator(arguments.hidden, width, size, channels)
    discriminator = Discriminator(width, size, channels, arguments.spectral)
    optimizers = {}
    for name, model in (("gen", generator), ("dis", discriminator)):
        if arguments.small:
            set_weights(model)
        model.to_device(device)
        optimizers[name] = chainer.optimizers.Adam(alpha=2e-4, beta1=0.5).setup(model)

    iterator = chainer.iterators.SerialIterator(
        train, arguments.batch_size, shuffle=not arguments.small
    )
    updater = DCGANUpdater(iterator, optimizers, np.random.RandomState(0), device=device)
    trainer = training.Trainer(updater, duration(arguments), out=arguments.out)
    extend(trainer, arguments, "gen/loss")
    trainer.run()
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        pictures = generator(generator.draw(np.random.RandomState(1), 16))
    pictures.to_cpu()
    np.save(arguments.out + "/pictures.npy", pictures.array)


if __name__ == "__main__":
    main()

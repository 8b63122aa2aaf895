"""Writes pickles of links made by an earlier release (4.3.1 or 7.8.1).

Run in an environment of that release: python make_upstream_pickles.py FILE

``FILE``, a zip archive, gets for every case of ``link_cases.py`` that the release has: ``CASE``,
the link with other parameters than at first, and ``CASE/lazy``, the link without input size.
``model`` is a model with nested links whose parameters have update rules and gradients, and
``hooked`` a link with a link hook.
"""

import os
import pickle
import sys
import warnings
import zipfile

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import link_cases


def make_model():
    model = chainer.Chain(
        first=L.Linear(3, 2),
        layers=chainer.Sequential(L.Linear(2, 2), F.relu, L.BatchNormalization(2)),
        items=chainer.ChainList(L.EmbedID(3, 2), L.Convolution2D(None, 2, 3)),
    )
    with model.init_scope():
        model.scale = chainer.Parameter(chainer.initializers.Normal(), (2,))
    model.add_persistent("count", 3)
    model.other = {"text": "kept", "variable": chainer.Variable(np.ones(2, np.float32), name="v")}
    chainer.optimizers.MomentumSGD(0.1).setup(model)
    model.cleargrads()
    model.first.W.grad = np.ones((2, 3), np.float32)
    model.first.W.update()
    return model


def main(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:

        def write(name, obj):
            archive.writestr(name, pickle.dumps(obj, protocol=2))

        for case in link_cases.CASES:
            if not hasattr(L, case.name.split("-")[0]):
                continue
            np.random.seed(0)
            link = case.make(L)
            link_cases.perturb(link)
            write(case.name, link)
            if case.lazy is not None:
                np.random.seed(0)
                write(case.name + "/lazy", case.lazy(L))
        write("model", make_model())
        if hasattr(chainer, "LinkHook"):
            from chainer.link_hooks import SpectralNormalization

            link = L.Linear(3, 2)
            link.add_hook(SpectralNormalization(use_gamma=True))
            link(link_cases.X2)
            write("hooked", link)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])

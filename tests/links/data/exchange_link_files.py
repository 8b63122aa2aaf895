"""Writes and reads a file of each link; runs under this and under earlier releases.

``python exchange_link_files.py write FOLDER`` saves every link of ``link_cases.py`` with
``save_npz`` as ``FOLDER/CASE.npz`` and writes what the links compute to ``FOLDER/outputs.npz``.
``python exchange_link_files.py read FOLDER`` loads these files into fresh links, compares what
they compute, and prints the number of links that agree.
"""

import os
import sys
import warnings

import numpy as np

import chainer
import chainer.links as L

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import link_cases


def outputs_of(case, link):
    np.random.seed(42)
    variables = link_cases.variables_of(case, chainer.Variable)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        return link_cases.joined(y.array for y in link_cases.flatten(case.call(link, *variables)))


def cases(folder=None):
    """The cases that this release has, and the other one, whose files are in a folder."""
    return [
        case
        for case in link_cases.CASES
        if hasattr(L, case.name.split("-")[0])
        and (folder is None or os.path.exists(os.path.join(folder, case.name + ".npz")))
    ]


def write(folder):
    outputs = {}
    for case in cases():
        link = case.make(L)
        link_cases.perturb(link)
        chainer.serializers.save_npz(os.path.join(folder, case.name + ".npz"), link)
        outputs[case.name] = outputs_of(case, link)
    np.savez_compressed(os.path.join(folder, "outputs.npz"), **outputs)


def read(folder):
    outputs = np.load(os.path.join(folder, "outputs.npz"))
    for case in cases(folder):
        link = case.make(L)
        chainer.serializers.load_npz(os.path.join(folder, case.name + ".npz"), link)
        np.testing.assert_allclose(
            outputs_of(case, link), outputs[case.name], rtol=1e-4, atol=2e-5, err_msg=case.name
        )
    print(f"{len(cases(folder))} links agree")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])

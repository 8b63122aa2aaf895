"""Writes parameters, outputs and gradients of all links of an earlier release (4.3.1 or 7.8.1).

Run in an environment of that release: python make_upstream_links.py FILE

``FILE`` gets for every case of ``link_cases.py``, as one flat array each: ``initial/CASE``, the
state right after ``numpy.random.seed(0)``; ``lazy/CASE``, the same for the link without input size,
after a call; and with other parameters ``outputs/CASE``, ``inputs/CASE`` (gradients of the inputs),
``gradients/CASE`` (of the parameters) and ``after/CASE`` (the state after the call).
"""

import os
import sys
import warnings

import numpy as np

import chainer
import chainer.links as L

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import link_cases


def record(case, result):
    def put(kind, values):
        result[kind + "/" + case.name] = np.asarray(values, np.float32)

    np.random.seed(0)
    link = case.make(L)
    put("initial", link_cases.joined_state(link))
    if case.lazy is not None:
        np.random.seed(0)
        lazy = case.lazy(L)
        with chainer.using_config("train", False):
            case.call(lazy, *link_cases.variables_of(case, chainer.Variable))
        put("lazy", link_cases.joined_state(lazy))
    link_cases.perturb(link)
    outputs, gradients = link_cases.run(case, link, chainer.Variable)
    put("outputs", link_cases.joined(outputs))
    put("inputs", link_cases.joined(gradients))
    put("gradients", link_cases.joined(param.grad for _, param in sorted(link.namedparams())))
    put("after", link_cases.joined_state(link))


def main(path):
    result = {}
    for case in link_cases.CASES:
        record(case, result)
    np.savez_compressed(path, **result)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])

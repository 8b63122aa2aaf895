"""Runs one job: ``python tests/clients/job.py PACKAGE JOB``.

It is run by its path: a released package may install a package ``tests``, which would hide ours.
"""

import importlib
import random
import sys
import warnings

import numpy

from chainer.compat import clients

#: Packages that are enabled in chainer.compat.clients for the jobs of each package.
ENABLED = {
    "chainercv": ["chainercv"],
    "chainerrl": ["chainerrl", "gym"],
    "chainer_chemistry": ["chainer_chemistry"],
    "chainercv2": [],
}


def main(package, name):
    # Old packages use what is deprecated; their users cannot change that.
    warnings.simplefilter("ignore")
    if ENABLED[package]:
        clients.enable(*ENABLED[package])
    random.seed(0)
    numpy.random.seed(0)
    getattr(importlib.import_module(f"jobs.{package}_jobs"), name)()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What programs share that compare with release 7.8.1. It runs in Python 3.7, too."""

import os
import sys

import numpy as np

import chainer


def text(value):
    """Returns a text that does not depend on the versions of NumPy and Python."""
    if isinstance(value, chainer.Variable):
        value = value.array
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{(np.round(value.astype(float), 4) + 0.0).tolist()}"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4f}"
    if isinstance(value, np.integer):
        return str(int(value))
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return "{}[{}]".format(kind, ", ".join(map(text, value)))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text(value[key])}" for key in sorted(value)) + "}"
    return repr(value)


def outcome(call):
    """Returns the text of a result, or of the class of an exception."""
    try:
        return text(call())
    except Exception as error:
        return type(error).__name__


def write(cases, comm, folder):
    """Runs all cases, or the ones that further arguments name, and writes ``folder/RANK.txt``."""
    only = sys.argv[2:]
    with open(os.path.join(folder, f"{comm.rank}.txt"), "w") as file:
        for name, call in cases.items():
            if only and not any(word in name for word in only):
                continue
            comm.mpi_comm.barrier()
            file.write(f"{name}: {outcome(call)}\n")
            file.flush()

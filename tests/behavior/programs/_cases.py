"""Prints cases: a name, and the result of a function or the class of its error.

Programs beside this file import it. It runs in Python 3.7, too.
"""

import warnings

import chainer
import numpy as np


def show(x):
    if isinstance(x, chainer.Variable):
        return "V:" + show(x.array)
    if isinstance(x, np.ndarray):
        v = x.tolist() if x.dtype.kind != "f" else np.round(x.astype("d"), 4).tolist()
        return "%s%s%s" % (x.dtype, x.shape, v)
    if isinstance(x, np.generic):
        return "%s(%s)" % (type(x).__name__, x)
    if isinstance(x, float):
        return "%.5g" % x
    if isinstance(x, dict):
        return "{" + ", ".join("%s: %s" % (k, show(x[k])) for k in x) + "}"
    if isinstance(x, tuple):
        return "(" + ", ".join(map(show, x)) + ")"
    if isinstance(x, list):
        return "[" + ", ".join(map(show, x)) + "]"
    return repr(x)


def public(kind):
    """Name of the class of Python that an error or a warning derives from."""
    return next(c.__name__ for c in kind.__mro__ if c.__module__ == "builtins")


def printer(skipped):
    """Returns the function that prints a case, unless its name is among ``skipped``."""

    def case(name, f):
        if name in skipped:
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.random.seed(0)
            try:
                text = show(f())
            except Exception as error:
                text = "! " + public(type(error))
            ws = sorted(
                {
                    public(w.category)
                    for w in caught
                    if w.category not in (PendingDeprecationWarning, ResourceWarning)
                }
            )
        print(name, "|", text, ("| W " + ",".join(ws)) if ws else "")

    return case

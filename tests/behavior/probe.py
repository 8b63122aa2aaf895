# ruff: noqa: F401, UP031
"""Runs probes: one line of Python each, or some lines, whose outcome is written as text.

The file runs in Python 3.7 with release 7.8.1 as well as here:

    python tests/behavior/probe.py tests/behavior/probes/functions.txt > functions.json

An outcome is the text of a value with its type, dtype and shape, or the classes of an exception,
and the classes of the warnings. ``test_probes.py`` compares with the stored outcomes of 7.8.1.
"""

import ast
import io
import json
import sys
import threading
import unittest
import warnings

import numpy as np

import chainer
import chainer.functions as F
import chainer.initializers as I
import chainer.links as L
from chainer import Variable, backend, cuda, gradient_check, testing, utils
from chainer.utils import type_check


def filled(*shape, **options):
    """Returns the same array of numbers between -1 and 1 at every call."""
    dtype = options.get("dtype", "f")
    size = int(np.prod(shape))
    x = np.sin(np.arange(1, size + 1) * options.get("seed", 1.7)).reshape(shape)
    return (x * 4 if np.dtype(dtype).kind in "iu" else x).astype(dtype)


def variable(*shape, **options):
    return Variable(filled(*shape, **options))


def gradients(function, *inputs, **options):
    """Returns the outputs of a function and the gradients of its inputs that are Variables.

    With ``second=True`` follow the gradients of the sum of the squares of the first gradients.
    """
    ys = function(*inputs)
    ys = ys if isinstance(ys, tuple) else (ys,)
    xs = [x for x in inputs if isinstance(x, Variable)]
    gys = [Variable(filled(*y.shape, dtype=y.dtype, seed=0.9)) for y in ys]
    second = options.get("second", False)
    gxs = chainer.grad(ys, xs, gys, enable_double_backprop=second)
    if not second:
        return ys, gxs
    total = sum(F.sum(gx * gx) for gx in gxs if gx is not None)
    return ys, gxs, chainer.grad([total], xs + gys)


def message(function, *args, **kwargs):
    """Returns the text of the exception that a call raises."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return str(error)
    return "no exception"


def node(y):
    """Returns the creator of a variable."""
    return y.creator_node


def attributes(thing, names):
    return [getattr(thing, name) for name in names.split()]


def printed(function):
    """Returns what a function writes into the file that it gets."""
    out = io.StringIO()
    function(out)
    return out.getvalue()


def configure(dtype):
    """Sets the configured dtype until the probe ends."""
    chainer.using_config("dtype", dtype).__enter__()


def dtypes_of(link, *inputs):
    """Calls a link; returns the dtypes of outputs, parameters and statistics."""
    y = link(*inputs)
    outputs = [v for each in (y if isinstance(y, tuple) else (y,)) for v in flat(each)]
    statistics = [
        (name, getattr(each, name).dtype.name)
        for each in link.links()
        for name in sorted(each._persistent)
        if hasattr(getattr(each, name), "dtype")
    ]
    params = [(name, param.dtype.name) for name, param in link.namedparams()]
    return [v.dtype.name for v in outputs], params, statistics


def flat(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def define(text):
    """Executes a definition at module level, where decorators of test cases look."""
    exec(text, globals())


class Outcomes(unittest.TestResult):
    """Collects the outcome of each test: ``"ok"``, ``"skip"`` or the class of its exception."""

    def __init__(self):
        super().__init__()
        self.found = []

    def add(self, outcome):
        self.found.append(outcome)

    def addSuccess(self, test):
        self.add("ok")

    def addSkip(self, test, reason):
        self.add("skip")

    def addError(self, test, err):
        # A class of ours that was derived from several is the same as the first of them.
        several = err[0].__name__ == "WrongTestCase"
        self.add(err[0].__bases__[0].__name__ if several else err[0].__name__)

    addFailure = addError


def run_tests(prefix):
    """Runs the test cases of this module whose names begin so; returns their outcomes."""
    found = {}
    for name in sorted(globals()):
        case = globals()[name]
        if name.startswith(prefix) and isinstance(case, type):
            del globals()[name]
            for test in unittest.TestLoader().loadTestsFromTestCase(case):
                outcomes = Outcomes()
                test.run(outcomes)
                found[name + "." + test._testMethodName] = outcomes.found
    return found


def text_of(value):
    if isinstance(value, Variable):
        return "Variable " + text_of(value.array)
    if isinstance(value, np.ndarray):
        name = "%s%s" % (value.dtype.name, value.shape)
        numbers = value.ravel()[:24].tolist()
        return name.replace(" ", "") + " " + " ".join(text_of(x) for x in numbers)
    if isinstance(value, np.generic):
        return "%s %s" % (value.dtype.name, text_of(value.item()))
    if isinstance(value, float):
        text = "%.6g" % value
        return text if set(text) & set(".ean") else text + ".0"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(text_of(x) for x in value)
        return ("(%s)" if isinstance(value, tuple) else "[%s]") % inside
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (k, text_of(v)) for k, v in sorted(value.items()))
    if value is None or isinstance(value, (bool, int, str, np.dtype)):
        return repr(value)
    if isinstance(value, type):
        return "class " + value.__name__
    return "object of " + type(value).__name__


def outcome(line):
    """Runs a probe in a thread of its own, whose configuration ends with it."""
    results = []
    thread = threading.Thread(target=lambda: results.append(outcome_here(line)))
    thread.start()
    thread.join()
    return results[0]


def outcome_here(line):
    """Runs a line of statements that ends with an expression."""
    names = dict(globals(), V=variable, A=filled, G=gradients)
    body = ast.parse(line).body
    last = ast.Expression(body.pop().value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.random.seed(0)
        try:
            # The module of a list of statements is made in two ways by Python 3.7 and later ones.
            tree = ast.parse("")
            tree.body = body
            exec(compile(tree, line, "exec"), names)
            result = {"value": text_of(eval(compile(last, line, "eval"), names))}
        except Exception as error:
            result = {"error": [c.__name__ for c in type(error).__mro__[:-3]]}
    warned = sorted({w.category.__name__ for w in caught} - {"VisibleDeprecationWarning"})
    if warned:
        result["warnings"] = warned
    return result


#: First line of a file whose probes are programs of several lines.
SEVERAL_LINES = "# programs, separated by empty lines"


def probes_of(path):
    with open(path) as file:
        text = file.read()
    if text.startswith(SEVERAL_LINES):
        parts = ["\n".join(uncommented(part)) for part in text.split("\n\n")]
        return [part for part in parts if part]
    return [line.strip() for line in uncommented(text)]


def uncommented(text):
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


if __name__ == "__main__":
    json.dump({line: outcome(line) for line in probes_of(sys.argv[1])}, sys.stdout, indent=0)

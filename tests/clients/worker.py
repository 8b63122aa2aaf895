"""Runs the programs of ``tests/clients/calls`` and prints what they give, one JSON object a line.

    python tests/clients/worker.py PACKAGE FIRST LAST [PART-OF-A-PROGRAM]

It runs by its path in Python 3.7 with release 7.8.1 as well as here, and ``tests.clients.calls``
compares both. A program is a few lines of Python that end with an expression. It runs once for each
seed. In its namespace are all public names of the package by their last part (``mellowmax``), its
modules by their last part (``iqn.compute_value_loss``), and:

    rng             RandomState of this seed
    n, m, k         sizes from 1 to 4
    A(3, 4), V(3)   array, Variable of random numbers between -1 and 1
    ints(9, 3, 4)   int32 array of random numbers below 9
    G(f, x, ...)    outputs of f(x, ...), gradients of the inputs and of the parameters in ``link=``
    state(link)     parameters, their gradients and the persistent values
    folder          a temporary folder
"""

import ast
import importlib
import inspect
import json
import os
import pkgutil
import random
import re
import sys
import tempfile
import threading
import warnings

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

HERE = os.path.dirname(os.path.abspath(__file__))
#: Elements of an array that are printed besides its sum. Gradients of whole networks are large.
SHOWN = 60


def programs_of(package):
    """Returns the programs of a package, which are separated by empty lines."""
    with open(os.path.join(HERE, "calls", package + ".txt")) as file:
        parts = file.read().split("\n\n")
    found = []
    for part in parts:
        lines = [line for line in part.splitlines() if not line.startswith("#")]
        if lines:
            found.append("\n".join(lines))
    return found


def modules_of(package):
    """Yields the modules of a package that can be imported."""
    top = importlib.import_module(package)
    yield top
    for info in pkgutil.walk_packages(top.__path__, package + ".", onerror=lambda name: None):
        try:
            yield importlib.import_module(info.name)
        except (ImportError, AttributeError) as error:
            sys.stderr.write(info.name + ": " + str(error) + "\n")


def public_names(package):
    """Returns the modules, functions and classes of a package by the last part of their names.

    Returns:
        dict: Name to a list of (module, object): two modules may define the same name.
    """
    names = {}
    modules = list(modules_of(package))
    for module in modules:
        names.setdefault(module.__name__.rsplit(".", 1)[-1], []).append((module.__name__, module))
    for module in modules:
        for name, value in sorted(vars(module).items()):
            is_ours = getattr(value, "__module__", None) == module.__name__
            is_code = inspect.isfunction(value) or inspect.isclass(value)
            if is_code and is_ours and not name.startswith("_"):
                names.setdefault(name, []).append((module.__name__, value))
    return names


class Draw:
    """Functions with which a program draws arguments and looks at results.

    Args:
        seed: Number of the run.
    """

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def A(self, *shape, **options):
        low, high = options.get("low", -1), options.get("high", 1)
        values = np.asarray(self.rng.uniform(low, high, shape))
        return values.astype(options.get("dtype", np.float32))

    def V(self, *shape, **options):
        return chainer.Variable(self.A(*shape, **options))

    def ints(self, high, *shape):
        return self.rng.randint(0, high, shape).astype(np.int32)

    def G(self, function, *inputs, **options):
        """Calls a function, and runs backpropagation with random gradients of the outputs."""
        link = options.get("link")
        ys = function(*inputs)
        floats = [
            y
            for y in flattened(ys)
            if isinstance(y, chainer.Variable) and y.dtype.kind == "f" and y.size
        ]
        parameters = [] if link is None else [p for _, p in sorted(link.namedparams())]
        if link is not None:
            link.cleargrads()
        if floats:
            sum(F.sum(y * self.A(*y.shape).astype(y.dtype)) for y in floats).backward()
        xs = [x for x in flattened(inputs) if isinstance(x, chainer.Variable)]
        return ys, [x.grad for x in xs], [p.grad for p in parameters]


def state(link):
    """Returns parameters, their gradients and persistent values of a link by their names."""
    found = {name: (p.array, p.grad) for name, p in link.namedparams() if p.array is not None}
    for path, child in link.namedlinks():
        for name in child._persistent:
            found[path + "/" + name] = getattr(child, name)
    return found


def flattened(value):
    if isinstance(value, (list, tuple)):
        for item in value:
            for each in flattened(item):
                yield each
    elif isinstance(value, dict):
        for name in sorted(value):
            for each in flattened(value[name]):
                yield each
    else:
        yield value


def encoded(value):
    """Returns a value in a form for JSON."""
    if isinstance(value, chainer.Variable):
        return ["Variable", encoded(value.array)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        numbers = value.astype(np.float64).ravel()
        largest = float(np.nanmax(np.abs(numbers))) if numbers.size else 0.0
        shown = numbers[:: max(1, numbers.size // SHOWN)].tolist()
        head = ["array", value.dtype.name, list(value.shape)]
        return head + [shown, float(numbers.sum()), largest]
    if isinstance(value, np.ndarray):
        return ["array", value.dtype.name, list(value.shape), encoded(value.tolist())]
    if isinstance(value, np.generic) and not isinstance(value, float):
        return ["scalar", value.dtype.name, encoded(value.item())]
    if isinstance(value, dict):
        return {str(key): encoded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [encoded(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, chainer.Link):
        return [type(value).__name__, encoded(state(value))]
    return "object of " + type(value).__name__


def outcome(program, seed, names):
    """Runs a program with a seed in a thread of its own, whose configuration ends with it."""
    results = []
    thread = threading.Thread(target=lambda: results.append(outcome_here(program, seed, names)))
    thread.start()
    thread.join()
    return results[0]


def outcome_here(program, seed, names):
    draw = Draw(seed)
    random.seed(seed)
    np.random.seed(seed)
    namespace = {"np": np, "chainer": chainer, "F": F, "L": L, "os": os, "state": state}
    namespace.update(draw.__dict__, A=draw.A, V=draw.V, ints=draw.ints, G=draw.G)
    namespace.update(zip("nmk", (int(size) for size in draw.rng.randint(1, 5, 3))))
    words = set(re.findall(r"\w+", program))
    namespace.update(
        (word, names[word][-1][1]) for word in words if word in names and word not in namespace
    )
    body = ast.parse(program).body
    last = ast.Expression(body.pop().value)
    with tempfile.TemporaryDirectory() as folder:
        namespace["folder"] = folder
        try:
            tree = ast.parse("")
            tree.body = body
            exec(compile(tree, program, "exec"), namespace)
            return {"value": encoded(eval(compile(last, program, "eval"), namespace))}
        except Exception as error:
            mro = [cls.__name__ for cls in type(error).__mro__[:-3]]
            return {"error": mro, "text": str(error)[:300]}


def enable(package):
    """Restores names that today's NumPy and Python lack, where this release is chainer."""
    try:
        from chainer.compat import clients
    except ImportError:
        return  # release 7.8.1
    clients.enable(*([package, "gym"] if package == "chainerrl" else [package]))


def main(arguments):
    package, first, last = arguments[0], int(arguments[1]), int(arguments[2])
    part = arguments[3] if len(arguments) > 3 else ""
    warnings.simplefilter("ignore")
    sys.path.insert(0, os.path.join(HERE, "calls"))
    enable(package)
    # Packages print while they are imported, and from C: only the answers go to the output.
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    names = public_names(package)
    programs = [program for program in programs_of(package) if part in program]
    defined = {name: sorted({entry[0] for entry in entries}) for name, entries in names.items()}
    stdout.write(json.dumps({"names": defined}) + "\n")
    for program in programs:
        for seed in range(first, last):
            answer = outcome(program, seed, names)
            answer.update(program=program, seed=seed)
            stdout.write(json.dumps(answer) + "\n")
            stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])

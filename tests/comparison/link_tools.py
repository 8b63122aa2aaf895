"""Names that the programs of ``link_trees.py`` use, and the state of the links that they leave.

The file runs in Python 3.7 with release 7.8.1, too.
"""

from __future__ import annotations

import collections
import copy
import importlib
import io
import pickle
from typing import Any, Iterable, Iterator

import numpy as np


def names_of(chainer, trace):
    """Returns the names that a program begins with.

    Args:
        chainer: The library.
        trace: List to which statements add what they say.
    """

    def array(*shape):
        return (np.arange(np.prod(shape)).reshape(shape) % 5 - 1.5).astype("f")

    def say(value):
        trace.append(described(chainer, value))

    def called(link, x):
        say(link(x))

    def backward_of(link, x):
        y = link(x)
        chainer.functions.sum(y[0] if isinstance(y, tuple) else y).backward()

    def save(link):
        serializer = chainer.serializers.DictionarySerializer()
        link.serialize(serializer)
        say([(key, np.asarray(value)) for key, value in sorted(serializer.target.items())])
        file = io.BytesIO()
        chainer.serializers.save_npz(file, link)
        return file.getvalue()

    def load(saved, link, strict=True):
        chainer.serializers.load_npz(io.BytesIO(saved), link, strict=strict)

    names = {
        "chainer": chainer,
        # Not an attribute of chainer before it is imported, in release 7.8.1.
        "link_hooks": importlib.import_module("chainer.link_hooks"),
        "np": np,
        "copy": copy,
        "F": chainer.functions,
        "L": chainer.links,
        "A": array,
        "X": array(2, 3),
        "say": say,
        "called": called,
        "backward_of": backward_of,
        "save": save,
        "load": load,
        "pickled": lambda link: pickle.loads(pickle.dumps(link)),
        "state_of": lambda names: state_of(chainer, names),
    }
    for thing in classes_of(chainer, trace):
        # A class or function of this module can be pickled.
        thing.__module__, thing.__qualname__ = __name__, thing.__name__
        globals()[thing.__name__] = names[thing.__name__] = thing
    return names


def classes_of(chainer, trace):
    """Returns classes and functions that programs use; see :func:`names_of`."""
    L = chainer.links

    class Filled(chainer.initializer.Initializer):
        """Small numbers that depend on the shape alone."""

        def __call__(self, array):
            array[...] = np.arange(array.size).reshape(array.shape) % 5 - 2

    class Block(chainer.Chain):
        """A Chain with a link and a parameter of its own."""

        def __init__(self, n_in):
            super().__init__()
            with self.init_scope():
                self.l1 = L.Linear(n_in, 3, initialW=Filled())
                self.p = chainer.Parameter(Filled(), (3,))

        def forward(self, x):
            return self.l1(x) * chainer.functions.broadcast_to(self.p, (len(x), 3))

    class OldBlock(chainer.Chain):
        """A Chain in the style of release 1."""

        def __init__(self):
            super().__init__(a=L.Linear(3, 3, initialW=Filled()), b=L.BatchNormalization(3))

        def __call__(self, x):
            return self.b(self.a(x))

    class Lists(chainer.ChainList):
        """A ChainList whose number of links is an argument."""

        def __init__(self, count):
            super().__init__()
            for _ in range(count):
                self.add_link(L.Linear(None, 3, initialW=Filled()))

        def forward(self, x):
            for link in self:
                x = link(x)
            return x

    class Nested(chainer.Chain):
        """A Chain of a Chain and a ChainList."""

        def __init__(self, n_in):
            super().__init__()
            with self.init_scope():
                self.block = Block(n_in)
                self.items = chainer.ChainList(Lists(1), Block(3))

        def forward(self, x):
            x = self.block(x)
            for link in self.items:
                x = link(x)
            return x

    class Stateful(chainer.Link):
        """A Link with persistent values of several kinds."""

        def __init__(self, dtype="f"):
            super().__init__()
            self.seen = np.zeros(3, dtype)
            self.register_persistent("seen")
            self.add_persistent("count", 0)
            with self.init_scope():
                self.scale = chainer.Parameter(chainer.initializers.One(dtype), (3,))

        def forward(self, x):
            self.count += 1
            self.seen += 1
            return x * chainer.functions.broadcast_to(self.scale, (len(x), 3)).array.astype("f")

    class Reporting(chainer.Link):
        """A Link that says who is calling it."""

        def forward(self, x):
            trace.append(["called", self.name])
            return x

    class Note(chainer.LinkHook):
        """A hook that writes down what it sees."""

        def __init__(self, name):
            self.name = name

        def added(self, link):
            trace.append(["added", self.name, None if link is None else link.name])

        def deleted(self, link):
            trace.append(["deleted", self.name, None if link is None else link.name])

        def forward_preprocess(self, args):
            trace.append(["before", self.name, type(args.link).__name__, args.forward_name])

        def forward_postprocess(self, args):
            trace.append(["after", self.name, args.link.name, len(args.args)])

    def half(x):
        return x * 0.5

    return [Filled, Block, OldBlock, Lists, Nested, Stateful, Reporting, Note, half]


def described(chainer, value):
    """Returns a value in a form for JSON: arrays with dtype and shape, other objects by class."""
    if isinstance(value, chainer.Variable):
        return [type(value).__name__, described(chainer, value.array)]
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind in "OUS":
            return [value.dtype.kind, list(value.shape)]
        numbers = np.asarray(value).ravel().tolist()
        return [value.dtype.name, list(value.shape), [float("%.5g" % x) for x in numbers]]
    if isinstance(value, (list, tuple)):
        return [described(chainer, item) for item in value]
    if isinstance(value, dict):
        return [[key, described(chainer, value[key])] for key in sorted(value)]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, type):
        return "class " + value.__name__
    return "object of " + type(value).__name__


def state_of(chainer, names):
    """Returns the state of all links among the names; see :func:`state_of_link`."""
    seen = {}
    links = sorted((k, v) for k, v in names.items() if isinstance(v, chainer.Link))
    # A link that is in several places has the name of one of them.
    counts = collections.Counter(
        id(part)
        for _, link in links
        for part in [*whole_part(link.links()), *whole_part(link.params())]
    )
    several = {key for key, count in counts.items() if count > 1}
    return {name: state_of_link(chainer, name, link, seen, several) for name, link in links}


def state_of_link(chainer, root, link, seen, several):
    """Returns paths, names, values, gradients and persistent values of a tree of links.

    Args:
        chainer: The library.
        root: Name of the tree.
        link: Its root.
        seen: Identity of an object -> where it was met first. The state tells of objects that are
            met again. Objects are kept alive by it.
        several: Identities of the links and parameters that are in several places.
    """

    def first(thing, path):
        return seen.setdefault(id(thing), (root + path, thing))[0]

    def attempt(function):
        try:
            return function()
        except Exception as error:
            return "raises " + type(error).__name__

    params = []
    for path, p in whole_part(link.namedparams()):
        if not isinstance(p, chainer.Parameter):
            params.append([path, type(p).__name__])
            continue
        rule = p.update_rule
        params.append(
            [
                path,
                None if id(p) in several else p.name,
                first(p, path),
                p.array is not None,
                p.shape if p.array is not None else None,
                attempt(lambda p=p: described(chainer, p.array)),
                attempt(lambda p=p: described(chainer, p.grad)),
                None if p.array is None else first(p.array, path + ".array"),
                p.requires_grad,
                None if rule is None else [type(rule).__name__, rule.enabled, rule.t],
            ]
        )
    links = []
    for path, child in whole_part(link.namedlinks()):
        if not isinstance(child, chainer.Link):
            links.append([path, type(child).__name__])
            continue
        values = [
            [name, described(chainer, getattr(child, name, "missing"))]
            for name in sorted(child._persistent)
        ]
        links.append(
            [
                path,
                None if id(child) in several else child.name,
                type(child).__name__,
                first(child, path),
                values,
                sorted(child._params),
                sorted(child.local_link_hooks),
                attempt(lambda child=child: len(list(child.children()))),
                attempt(lambda child=child: child.update_enabled),
                child.within_init_scope,
            ]
        )
    return [params, links]


def whole_part(items: Iterable[Any]) -> Iterator[Any]:
    """Yields elements up to an error: a tree may lack an attribute, or hold what is not a link."""
    try:
        yield from items
    except (AttributeError, KeyError, TypeError) as error:
        yield "raises " + type(error).__name__, None

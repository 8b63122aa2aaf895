"""Arguments drawn at random: shapes, dtypes, memory layouts, axes, and mistakes."""

from __future__ import annotations

import numpy as np

#: Share of calls with a mistake or a peculiarity on purpose, beside what the generators draw.
DISTURBED = 0.3

#: Share of arguments, such as axes, that do not fit.
WRONG = 0.06


class Input:
    """An array argument.

    Args:
        array: The array.
        variable: Whether it is passed as a Variable.
    """

    def __init__(self, array, variable=True):
        self.array = array
        self.variable = variable

    def __repr__(self):
        kind = "Variable" if self.variable else "array"
        return f"{kind} {self.array.dtype}{list(self.array.shape)}"


class Source:
    """An argument given as Python source: a function, or an object of the library under test.

    Args:
        text: Expression, evaluated with ``np``, ``chainer`` and ``F``.
        arrays: Arrays that the expression names ``a``, ``b``, ``c``.
    """

    def __init__(self, text, *arrays):
        self.text = text
        self.arrays = arrays

    def __repr__(self):
        return f"<{self.text}>"


class Call:
    """A call of a function.

    Args:
        number: Number of the call, which determines all the rest.
        function: Name in ``chainer.functions``, or an expression for a function.
        args: Positional arguments: Input, Source, or what they are; lists and tuples of these.
        kwargs: Keyword arguments.
    """

    def __init__(self, number, function, args, kwargs):
        self.number = number
        self.function = function
        self.args = args
        self.kwargs = kwargs

    def inputs(self):
        """Returns all array arguments, in order."""
        return inputs_of((self.args, sorted(self.kwargs.items())))

    def __repr__(self):
        parts = [repr(a) for a in self.args]
        parts += [f"{k}={v!r}" for k, v in sorted(self.kwargs.items())]
        return "{}: {}({})".format(self.number, self.function, ", ".join(parts))


def inputs_of(value):
    """Returns the array arguments within nested lists and tuples."""
    if isinstance(value, Input):
        return [value]
    if isinstance(value, (list, tuple)):
        return [found for item in value for found in inputs_of(item)]
    return []


class Draw:
    """Source of random arguments.

    Args:
        seed: Number of the call.
    """

    def __init__(self, seed):
        # The streams of RandomState are the same in every release of NumPy.
        self.random = np.random.RandomState(seed)
        self.dtype = self.choice("f", "f", "f", "d", "e")
        # Values on a coarse grid have ties and exact zeros.
        self.coarse = self.maybe(0.3)
        self.layout = self.choice("C", "C", "C", "F", "strided", "reversed")
        self.empty = 0.04

    def maybe(self, probability):
        """Returns True with a probability."""
        return bool(self.random.random_sample() < probability)

    def choice(self, *options):
        """Returns one of the options."""
        return options[self.random.randint(len(options))]

    def integer(self, low, high):
        """Returns an integer from low to high, both included."""
        return int(self.random.randint(low, high + 1))

    def number(self, low, high):
        """Returns a float with two decimals."""
        return round(float(self.random.uniform(low, high)), 2)

    def size(self, low=1, high=4):
        """Returns the length of an axis, now and then 0."""
        return 0 if self.maybe(self.empty) else self.integer(low, high)

    def shape(self, low=0, high=3):
        """Returns a shape of low to high axes."""
        return tuple(self.size() for _ in range(self.integer(low, high)))

    def axis(self, ndim):
        """Returns an axis, now and then one that does not exist."""
        if self.maybe(WRONG) or ndim == 0:
            return self.choice(ndim, -ndim - 1, ndim + 2)
        return self.integer(-ndim, ndim - 1)

    def axes(self, ndim):
        """Returns None, an axis, or a tuple of axes, now and then one with a mistake."""
        kind = self.integer(0, 3)
        if kind == 0:
            return None
        if kind == 1 or ndim == 0:
            return self.axis(ndim)
        if self.maybe(WRONG):
            return self.choice((0, 0), (0, -ndim), (0, ndim), 1.0, [0])
        order = self.random.permutation(ndim)[: self.integer(0, ndim)]
        return tuple(int(a) - (ndim if self.maybe(0.3) else 0) for a in order)

    def floats(self, *shape, **options):
        """Returns an array of floating-point numbers.

        Args:
            shape: Its shape; without it, any.
            options: ``low``, ``high``: range of the values. ``dtype``. ``variable``: whether it is
                a Variable; now and then it is not, by default.
        """
        if not shape:
            shape = self.shape()
        elif isinstance(shape[0], tuple):
            (shape,) = shape
        low, high = options.get("low", -2.0), options.get("high", 2.0)
        values = self.random.uniform(low, high, shape)
        if self.coarse:
            # Still within the range.
            values = np.clip(np.round(values * 2) / 2, low, high)
        array = np.asarray(values).astype(options.get("dtype", self.dtype))
        return Input(arranged(array, self.layout), options.get("variable", not self.maybe(0.08)))

    def integers(self, *shape, **options):
        """Returns an array of integers from ``low`` to ``high``; int32 by default."""
        low, high = options.get("low", 0), options.get("high", 3)
        values = self.random.randint(low, high + 1, shape)
        return Input(np.asarray(values).astype(options.get("dtype", "i")), variable=False)

    def disturb(self, args, kwargs):
        """Returns the arguments, now and then with a mistake or another dtype among them."""
        args = list(args)
        inputs = inputs_of((args, sorted(kwargs.items())))
        if not inputs or not self.maybe(DISTURBED):
            return args, kwargs
        victim = inputs[self.integer(0, len(inputs) - 1)]
        kind = self.integer(0, 11)
        if kind <= 4:
            if victim.array.dtype.kind == "f":
                victim.array = victim.array.astype(self.choice("e", "f", "d"))
            else:
                victim.array = victim.array.astype(self.choice("i", "l", "b", "B"))
        elif kind == 5:
            victim.array = victim.array.astype(self.choice("i", "l", "?", "f"))
        elif kind == 6:
            victim.array = victim.array[None]
        elif kind == 7 and victim.array.ndim:
            victim.array = victim.array[0] if len(victim.array) else victim.array[None]
        elif kind == 8 and victim.array.ndim:
            victim.array = np.concatenate([victim.array, victim.array[..., :1]], axis=-1)
        elif kind == 9:
            victim.variable = not victim.variable
        elif kind == 10:
            kwargs = dict(kwargs, **{self.choice("train", "foo", "deterministic"): True})
        elif victim.array.ndim > 1:
            victim.array = victim.array.swapaxes(0, -1)
        return args, kwargs


def arranged(array, layout):
    """Returns an equal array with a memory layout.

    Args:
        array: The array.
        layout: ``"C"``, ``"F"``, ``"strided"`` (every second element of a larger one) or
            ``"reversed"`` (negative strides).
    """
    if layout == "F":
        return np.asfortranarray(array)
    if not array.ndim or layout == "C":
        return array
    if layout == "strided":
        larger = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        larger[..., ::2] = array
        return larger[..., ::2]
    return np.ascontiguousarray(array[::-1])[::-1]

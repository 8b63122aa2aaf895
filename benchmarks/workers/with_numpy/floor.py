"""The products and exponentials that rows of ``fast`` need, as bare calls of libraries

Three programs are tried, and the fastest one counts: NumPy's BLAS library makes all products,
chainer-numba makes all of them, or the faster library makes each product. With several threads the
two libraries take the processors from each other, so that the third program is not always best.
"""

from __future__ import annotations

import functools
import operator
import time

import numpy as np

try:
    from chainer_numba.linears import LinearKernel
except ImportError:
    LinearKernel = None

UNIT = "us"

_STEPS, _BATCH, _UNITS, _WORDS = 35, 20, 200, 1000


class _Calls:
    """Calls with memory of their own."""

    def __init__(self):
        #: Times of each call, and libraries that make it.
        self._made = []
        self._chosen = None
        self._linear = None
        if LinearKernel is not None:
            import chainer

            self._linear = LinearKernel(chainer.get_device("@numpy").backend)
        self._random = np.random.RandomState(0)

    def product(self, rows, terms, columns, transposes="", times=1):
        """Adds products; ``transposes`` names the factors that are read transposed."""
        a = self._array((terms, rows) if "a" in transposes else (rows, terms))
        b = self._array((columns, terms) if "b" in transposes else (terms, columns))
        out = np.empty((rows, columns), "f")
        left, right = a.T if "a" in transposes else a, b.T if "b" in transposes else b
        candidates = [lambda: np.matmul(left, right, out=out)]
        if self._linear is not None:
            linear = self._linear
            candidates.append(
                {
                    "b": lambda: linear.forward(a, b, None, out=out),
                    "": lambda: linear.backward_data(a, b, out=out),
                    "a": lambda: linear.backward_weight(b, a, out.dtype, out=out),
                }[transposes]
            )
        self._made.append((times, candidates))

    def layer(self, rows, inputs, outputs, gives_gx=True, steps=1):
        """Adds the three products of an affine layer, of which each step has a part."""
        self.product(rows, inputs, outputs, "b", steps)
        if gives_gx:
            self.product(rows, outputs, inputs, "", steps)
        # Gradients of the weights are sums over all steps: one product is the least.
        self.product(outputs, rows * steps, inputs, "a")

    def exponentials(self, rows, columns, times=1):
        """Adds exponentials of an array."""
        x = self._array((rows, columns))
        out = np.empty_like(x)
        self._made.append((times, [lambda: np.exp(x, out=out)]))

    def updated(self, count):
        """Adds reading and writing of parameters, gradients and two states of Adam."""
        p, g, m, v = (self._array((count,)) for _ in range(4))
        for read, written in (g, m), (g, v), (m, p):
            add = functools.partial(np.add, written, read, out=written)
            self._made.append((1, [add]))

    def _array(self, shape):
        return (self._random.rand(*shape) - 0.5).astype("f")

    def __call__(self):
        if self._chosen is None:
            programs = [
                [(times, choose(candidates)) for times, candidates in self._made]
                for choose in (_first, _last, functools.partial(min, key=_seconds))
            ]
            self._chosen = min(programs, key=lambda program: _seconds(lambda: _run(program)))
        _run(self._chosen)


def _run(program):
    for times, call in program:
        for _ in range(times):
            call()


_first, _last = operator.itemgetter(0), operator.itemgetter(-1)


def _seconds(call, samples=30):
    """Returns the time of a call, the smallest of some."""
    found = []
    call()  # code is compiled, or read from disk
    for _ in range(samples):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def _language_model(steps_at_once, recurrent=(4,), exponentials=5):
    """Calls of a language model of one recurrent layer.

    Args:
        steps_at_once: Whether products that do not wait for each other are one.
        recurrent: Gates of the products with the state, which wait for each other.
        exponentials: Exponentials of a unit in a step.
    """
    calls = _Calls()
    gates = sum(recurrent)
    rows, steps = (_BATCH * _STEPS, 1) if steps_at_once else (_BATCH, _STEPS)
    calls.layer(rows, _UNITS, gates * _UNITS, steps=steps)
    calls.layer(rows, _UNITS, _WORDS, steps=steps)
    for part in recurrent:
        calls.layer(_BATCH, _UNITS, part * _UNITS, steps=_STEPS - 1)
    calls.exponentials(_BATCH, exponentials * _UNITS, _STEPS)
    calls.exponentials(_BATCH, _WORDS, _STEPS)
    calls.updated(2 * _WORDS * _UNITS + 2 * gates * _UNITS * _UNITS + _WORDS + gates * _UNITS)
    return calls


def _gru(steps_at_once):
    # The new state waits for the gate that resets the former one.
    return _language_model(steps_at_once, recurrent=(2, 1), exponentials=3)


def _lenet():
    calls = _Calls()
    # Convolutions as products, without the copies that bring their windows together.
    calls.layer(64 * 24 * 24, 25, 20, gives_gx=False)
    calls.layer(64 * 8 * 8, 500, 50)
    calls.layer(64, 800, 500)
    calls.layer(64, 500, 10)
    calls.updated(520 + 25050 + 400500 + 5010)
    return calls


CASES = {
    "eager: LSTM 35x20": lambda: _language_model(False),
    "eager: GRU 35x20": lambda: _gru(False),
    "eager: NStepLSTM 35x20": lambda: _language_model(True),
    "eager: LeNet b64": _lenet,
    "captured: LSTM 35x20": lambda: _language_model(True),
    "captured: GRU 35x20": lambda: _gru(True),
    "captured: NStepLSTM 35x20": lambda: _language_model(True),
    "captured: LeNet b64": _lenet,
}

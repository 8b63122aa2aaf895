"""The calls of which steps of recurrent layers consist, by name.

They stand apart from :mod:`chainer_numba.step_programs`, which imports Numba: a program without
such steps need not wait for that.
"""

from __future__ import annotations

#: Codes of the elementwise calls, and the time of an element in units of a pass over memory.
ELEMENTWISE = {
    "numpy.add": (1, 1),
    "numpy.subtract": (2, 1),
    "numpy.multiply": (3, 1),
    "numpy.negative": (4, 1),
    "numpy.square": (5, 1),
    "numpy.tanh": (6, 4),
    "sigmoid.forward": (7, 4),
    "sigmoid.backward": (8, 1),
    # Of which a sigmoid consists where an array is small.
    "numpy.exp": (9, 4),
    "numpy.reciprocal": (10, 2),
    # Copies, such as those that join two arrays.
    "numpy.positive": (11, 1),
}

#: Products of rows with a weight and its transpose. NumPy's own is what the kernel of ``linear``
#: leaves to it: small products.
PRODUCTS = ("linear.forward", "linear.backward_data", "numpy.matmul")

#: All of them.
CALLS = frozenset({*ELEMENTWISE, *PRODUCTS})

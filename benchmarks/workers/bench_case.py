"""What benchmark programs share with the worker that runs them. Python 3.7 compatible, standard
library only.

A program is a Python file with a docstring, whose first line is its title, and these names:

``CASES``
    Dictionary from the name of a case to a function without arguments that prepares it and returns
    what to time: a function without arguments, or a :class:`Case`.
``UNIT``
    Unit in which numbers are printed: a key of :data:`UNITS`. Default ``"ms"``.
``PER_CALL``
    Number of operations in one call; times are printed per operation. Default 1.
``MEASURED``
    True when calls return the value to report (in the base unit: seconds, bytes) instead of being
    timed. Default False.
``BUDGETS``
    Dictionary from a peer's name to the largest ratio ``BASE`` / peer that each row may have;
    ``"A/B"`` means the ratio of peers A and B, and the peer ``"best"`` is the fastest of other
    frameworks in each row. A dictionary instead of a ratio gives one for the rows
    whose names begin with each key, the longest of several; ``""`` is all others. Default: none.
``MEAN_BUDGETS``
    The same for the geometric mean of all rows.
``ROW_BUDGETS``
    List of ``[row, other row, ratio]``: the largest ratio of two rows, in each of our columns.
    Default: none.
``BEST_BUDGETS``
    Dictionary from a peer's name to a dictionary, which gives the largest ratio of the best of our
    columns to that peer, among all rows whose names begin with the key. Default: none.
``BASE``
    The peer that others are compared with. Default ``"ours"``.
``COMPARES_FRAMEWORKS``
    Whether the results of all peers must agree, not only among the peers of each framework.
    Default False.
``PEERS``
    Names of the peers to run with when the command line names none. Default: those of all others.
``QUICK_PEERS``
    The same for ``--quick``. Default: ``PEERS``.
``THREADS``
    Numbers of threads to run with when the command line names none. Default: one thread.
"""

from __future__ import annotations

#: Printed unit -> how many of it make one base unit (second or byte).
UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "MB": 1e-6, "kB": 1e-3}

#: Whether the peer being measured is to use iDeep; set by the worker before it loads a program.
USE_IDEEP = False


class Missing(Exception):
    """Raised by a case's preparation when the framework has no such function; shown as ``n/a``."""


class Case:
    """Something to time, in one or more phases.

    Args:
        phases: List of ``(name, function)``. A single function is called without arguments. Of
            several, each is called with what the one before returned (the first with ``None``), and
            each is timed on its own; a phase whose name starts with an underscore is not reported.
        result: Function that returns floats which every peer of the same framework must agree on,
            or ``None``.
    """

    def __init__(self, phases, result=None):
        self.phases = phases
        self.result = result


def as_case(prepared):
    """Returns a :class:`Case` as it is, a function as the only phase of one."""
    return prepared if isinstance(prepared, Case) else Case([("", prepared)])

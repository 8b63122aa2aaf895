"""Documentation and the choice of directions, shared by all functions of recurrent networks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from string import Template
from typing import Any, ParamSpec, TypeVar

from chainer.backends.operations.rnns import WEIGHTS
from chainer.core.utils.argument import REMOVED_TRAIN, REMOVED_USE_CUDNN, removed_arguments

_P = ParamSpec("_P")
_R = TypeVar("_R")

_TEMPLATE = Template("""
Sequences are given transposed, by time, sorted by their lengths in descending order (see
:func:`~chainer.functions.transpose_sequence`). With several layers, the input of a layer is the
output of the layer below it, after dropout in training mode.

Args:
    n_layers (int): Number of layers :math:`S`.
    dropout_ratio (float): Dropout ratio, ``0.0 <= dropout_ratio < 1.0``.
    hx (~chainer.Variable or array): Initial hidden states of shape ``(${twice}S, B, N)``.
$cx    ws (list of list of ~chainer.Variable or array): Weights.
        $which of the ``i``-th layer,
        a list of $count matrices, $symbol in the equations, with the shape
        $shapes.
    bs (list of list of ~chainer.Variable or array): Biases likewise, each of shape ``(N,)``.
    xs (list of ~chainer.Variable or array): Input of each time: ``xs[t]`` has the shape
        ``(B_t, I)``, where ``B_t`` is the number of sequences longer than ``t``, so that
        ``B_t >= B_{t + 1}``.
${activation}
Returns:
    tuple: $results: the last states, with the shape of ``hx``, and a tuple with the
    hidden states of the last layer at each time, ``ys[t]`` of shape ``(B_t, ${twice}N)``.

Raises:
    InvalidType: If dtypes or shapes do not fit.
    ValueError: If numbers of weights or biases do not fit, or for the removed arguments
        ``train`` and ``use_cudnn``.
    TypeError: If ``xs`` is not a list or tuple.

.. seealso:: $links

Example:
    >>> xs = [np.ones((b, 3), np.float32) for b in [3, 2, 1]]  # lengths 3, 2 and 1
    >>> hx = np.ones(($groups, 3, 2), np.float32)
    >>> def width(i, j):
    ...     return 2 if j >= $half else 3 if i < $directions else $below
    >>> ws = [[np.ones((2, width(i, j)), np.float32) for j in range($count)]
    ...       for i in range($groups)]
    >>> bs = [[np.ones(2, np.float32) for j in range($count)] for i in range($groups)]
    >>> $call
    >>> hy.shape
    ($groups, 3, 2)
    >>> [y.shape for y in ys]
    [(3, $below), (2, $below), (1, $below)]
""")

_CELL_STATES = """\
    cx (~chainer.Variable or array): Initial cell states, with the shape of ``hx``.
"""

_ACTIVATION = """\
    activation (str): Name of the activation function, ``tanh`` or ``relu``.
"""


def documented(
    mode: str, directions: int, *links: str
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator that completes the docstring of a function of a recurrent network.

    The function refuses the arguments ``train`` and ``use_cudnn`` of earlier releases.

    Args:
        mode: Kind of the cells. Functions with an argument ``activation`` pass ``"tanh"``.
        directions: Number of directions.
        links: Names of the links of the function.
    """
    count, both = WEIGHTS[mode], directions == 2
    states = ("hx", "cx") if mode == "lstm" else ("hx",)
    results = ["hy", "cy", "ys"] if mode == "lstm" else ["hy", "ys"]

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        arguments = ", ".join([*states, "ws", "bs", "xs"])
        if mode == "lstm":
            # The example is executed: cell states are as simple as they can be.
            arguments = arguments.replace("cx", "np.ones_like(hx)")
        shared = _TEMPLATE.substitute(
            twice="2" if both else "",
            cx=_CELL_STATES if mode == "lstm" else "",
            which="``ws[2 * i]`` (forward) and ``ws[2 * i + 1]`` (backward) are those"
            if both
            else "``ws[i]`` are those",
            count=count,
            half=count // 2,
            symbol="W^f_j and W^b_j" if both else "W_j",
            shapes="``(N, I)`` for products with the input, ``(N, 2N)`` for products with the\n"
            "        output of a layer below, and ``(N, N)`` for products with the state"
            if both
            else "``(N, I)`` for products with the input, and ``(N, N)`` for the others",
            activation=_ACTIVATION if mode == "tanh" else "",
            results=", ".join([f"``{name}``" for name in results]),
            links=", ".join([f":class:`~chainer.links.{link}`" for link in links]),
            groups=2 * directions,
            directions=directions,
            below=2 * directions,
            call=f"{', '.join(results)} = F.{function.__name__}(2, 0.0, {arguments})",
        )
        # The text of the function itself comes first, then the text that all of them share.
        function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n{shared}"
        return removed_arguments(train=REMOVED_TRAIN, use_cudnn=REMOVED_USE_CUDNN)(function)

    return decorate


_BASE = Template("""\
Calls :func:`$both` or :func:`$one`.

Args:
    n_layers (int): See :func:`$one`, as for the following arguments.
    dropout_ratio (float): Dropout ratio.
    hx (~chainer.Variable or array): Initial hidden states.
$cx    ws (list of list of ~chainer.Variable or array): Weights.
    bs (list of list of ~chainer.Variable or array): Biases.
    xs (list of ~chainer.Variable or array): Input of each time.
${activation}    use_bi_direction (bool): Whether there are two directions.

Returns:
    tuple: $results.
""")


def by_use_of_directions(
    one: Callable[..., tuple[Any, ...]], both: Callable[..., tuple[Any, ...]]
) -> Callable[..., tuple[Any, ...]]:
    """Returns a function with one more argument at the end, which chooses between two functions.

    Args:
        one: Function of a uni-directional network. None of the arguments has a default afterwards.
        both: Function of a bi-directional network, with the same arguments.
    """
    parameters = inspect.signature(one).parameters
    signature = inspect.Signature(
        [
            *(p.replace(default=inspect.Parameter.empty) for p in parameters.values()),
            inspect.Parameter(
                "use_bi_direction", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="bool"
            ),
        ],
        return_annotation="tuple[Any, ...]",
    )

    def base(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        try:
            *arguments, use_bi_direction = signature.bind(*args, **kwargs).args
        except TypeError as error:
            raise TypeError(f"{base.__name__}() {error}") from None
        return (both if use_bi_direction else one)(*arguments)

    base.__name__ = base.__qualname__ = f"{one.__name__}_base"
    base.__module__ = one.__module__
    cells = "    cx (~chainer.Variable or array): Initial cell states.\n"
    activation = "    activation (str): ``tanh`` or ``relu``.\n"
    base.__doc__ = _BASE.substitute(
        one=one.__name__,
        both=both.__name__,
        cx=cells if "cx" in parameters else "",
        activation=activation if "activation" in parameters else "",
        results="``hy``, ``cy`` and ``ys``" if "cx" in parameters else "``hy`` and ``ys``",
    )
    accepting = removed_arguments(train=REMOVED_TRAIN, use_cudnn=REMOVED_USE_CUDNN)(base)
    accepting.__dict__["__signature__"] = signature
    return accepting

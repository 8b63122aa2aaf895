"""Code with side effects within static chains: :func:`static_code`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.config.configuration import config
from chainer.core.typing import Array

__all__ = ["static_code", "static_forward_optimizations"]

_F = TypeVar("_F", bound=Callable[..., Any])


@overload
def static_code(function: _F, /) -> _F: ...


@overload
def static_code(*, func_name: str | None = None) -> Callable[[_F], _F]: ...


def static_code(function: Any = None, /, *, func_name: str | None = None) -> Any:
    """Decorator: the body of a function or method has to run in every iteration of a static chain.

    Within a method decorated with :func:`chainer.static_graph`, only functions of the graph and
    functions with this decorator are certain to run at each call. It is meant for side effects
    (counters, messages) and for computations on arrays. Elsewhere a call is an ordinary call.

    Arrays that are shared with other functions are passed by keyword: those that are read as
    ``inputs=[...]``, and arrays for the results as ``outputs=[...]``, which the function writes in
    place. A function that makes its result arrays returns them as a tuple or list.

    Args:
        function (callable): The function.
        func_name (str): Name for messages. Default: the name of the function.

    Returns:
        callable: The function or method, which raises RuntimeError within a static chain if it
        returns an array that was in use before.

    Example:
        >>> class Net(chainer.Chain):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.calls = 0
        ...         with self.init_scope():
        ...             self.l1 = L.Linear(3, 2)
        ...     @chainer.static_code
        ...     def count(self):
        ...         self.calls += 1
        ...     @chainer.static_graph
        ...     def forward(self, x):
        ...         self.count()
        ...         return self.l1(x)
        >>> net = Net()
        >>> for _ in range(3):
        ...     y = net(np.zeros((1, 3), np.float32))
        >>> net.calls
        3
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            schedule = config.schedule_func
            if schedule is None:
                return func(*args, **kwargs)
            return schedule.append_function(func, args, kwargs, func_name)

        return wrapper

    return decorate if function is None else decorate(function)


def static_forward_optimizations(func: FunctionNode, inputs: Sequence[Array]) -> Any:
    """Runs the forward computation of a function; programs need not call it.

    Release 7 recorded the function here. Functions of the graph need no recording now, because a
    static chain runs its Python code at each call.

    Args:
        func (FunctionNode): The function.
        inputs (tuple of arrays): Its input arrays.

    Returns:
        tuple of arrays: The output arrays.
    """
    return func.forward(tuple(inputs))

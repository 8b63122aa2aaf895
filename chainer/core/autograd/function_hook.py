"""Function hooks: callbacks around the forward and backward computation of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from chainer.core.config.configuration import threads
from chainer.core.safe_exit import safe_exit
from chainer.core.utils.repr_texts import ShowsArguments

if TYPE_CHECKING:
    from chainer.core.autograd.function import Function
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import ArrayGrads


class FunctionHook(ShowsArguments):
    """Base class of hooks for functions.

    Subclasses override the four callbacks :meth:`forward_preprocess`, :meth:`forward_postprocess`,
    :meth:`backward_preprocess` and :meth:`backward_postprocess`, which do nothing here. A hook is
    used as a context manager, for all functions applied in this thread inside the block, or given
    to :meth:`FunctionNode.add_hook`, for that function only.

    Attributes:
        name: Name of the hook.
        inside_backward: Whether the hook sees the functions that ``backward`` of a function calls.
            For that, gradients are computed on Variables, which takes a few microseconds more. If
            it is False for all hooks, gradients are computed as without a hook; the callbacks for
            backward are called in both cases.

    Example:
        >>> class Count(chainer.FunctionHook):
        ...     name = 'Count'
        ...     calls = 0
        ...     def forward_preprocess(self, function, in_data):
        ...         self.calls += 1
        >>> with Count() as hook:
        ...     _ = F.relu(F.sigmoid(np.zeros(3, np.float32)))
        >>> hook.calls
        2
    """

    name: str = "FunctionHook"
    inside_backward: bool = True

    def __enter__(self) -> Self:
        install_hook(threads.state.hooks, self, None, None)
        return self

    def _depth(self) -> int:
        return int(threads.state.hooks.get(self.name) is self)

    @safe_exit
    def __exit__(self, *_: object) -> None:
        remove_hook(threads.state.hooks, self.name, None)

    def added(self, function: FunctionNode | None = None) -> None:
        """Called when the hook is added.

        Args:
            function (FunctionNode): Function the hook is added to; None when it is added to all
                functions of the thread.
        """

    def deleted(self, function: FunctionNode | None = None) -> None:
        """Called when the hook is deleted.

        Args:
            function (FunctionNode): Function the hook is deleted from; None when it was added to
                all functions of the thread.
        """

    def forward_preprocess(self, function: FunctionNode | Function, in_data: ArrayGrads) -> None:
        """Called before forward propagation.

        Args:
            function (FunctionNode): Function that is applied.
            in_data (tuple of arrays): Input of forward propagation.
        """

    def forward_postprocess(self, function: FunctionNode | Function, in_data: ArrayGrads) -> None:
        """Called after forward propagation.

        Args:
            function (FunctionNode): Function that was applied.
            in_data (tuple of arrays): Input of forward propagation.
        """

    def backward_preprocess(
        self, function: FunctionNode | Function, in_data: ArrayGrads, out_grad: ArrayGrads
    ) -> None:
        """Called before backward propagation.

        Args:
            function (FunctionNode): Function that is differentiated.
            in_data (tuple of arrays): Input of forward propagation; None for what was not retained.
            out_grad (tuple of arrays): Gradients w.r.t. the outputs; None where there is none.
        """

    def backward_postprocess(
        self, function: FunctionNode | Function, in_data: ArrayGrads, out_grad: ArrayGrads
    ) -> None:
        """Called after backward propagation.

        Args:
            function (FunctionNode): Function that was differentiated.
            in_data (tuple of arrays): Input of forward propagation; None for what was not retained.
            out_grad (tuple of arrays): Gradients w.r.t. the outputs; None where there is none.
        """


def install_hook(
    hooks: dict[str, FunctionHook], hook: object, name: str | None, function: FunctionNode | None
) -> None:
    """Adds a hook to a dictionary of hooks and calls its ``added``."""
    if not isinstance(hook, FunctionHook):
        raise TypeError(f"hook must be of type FunctionHook, got {type(hook).__name__}")
    name = hook.name if name is None else name
    if name in hooks:
        raise KeyError(f"hook {name} already exists")
    hooks[name] = hook
    _tell(hook.added, function)


def remove_hook(hooks: dict[str, FunctionHook], name: str, function: FunctionNode | None) -> None:
    """Removes a hook from a dictionary of hooks and calls its ``deleted``."""
    if name not in hooks:
        raise KeyError(f"hook {name} does not exist")
    hook = hooks.pop(name)
    _tell(hook.deleted, function)


def _tell(method: Callable[..., object], function: FunctionNode | None) -> None:
    """Calls ``added`` or ``deleted`` of a hook, which may be defined without the argument.

    For hooks of the thread, release 4 called these methods without an argument. Later releases
    always pass one.
    """
    try:
        takes_none = not inspect.signature(method).parameters
    except (TypeError, ValueError):  # some callables have no signature
        takes_none = False
    if takes_none:
        method()
    else:
        method(function)


class ThreadLocal:
    """``chainer.thread_local``: the hooks of the current thread."""

    __slots__ = ()

    @property
    def function_hooks(self) -> dict[str, FunctionHook]:
        """Ordered dictionary of the hooks installed for all functions of this thread."""
        return threads.state.hooks


thread_local = ThreadLocal()


def get_function_hooks() -> dict[str, FunctionHook]:
    """Returns the ordered dictionary of the hooks installed for all functions of this thread.

    Example:
        >>> from chainer.function_hooks import TimerHook
        >>> with TimerHook():
        ...     print(list(chainer.get_function_hooks()))
        ['TimerHook']
    """
    return threads.state.hooks

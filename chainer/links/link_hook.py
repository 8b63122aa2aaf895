"""Link hooks: code that runs before and after the calls of links (``chainer.link_hook``)."""

from __future__ import annotations

import threading
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from chainer.core.safe_exit import safe_exit
from chainer.core.utils.repr_texts import ShowsArguments

if TYPE_CHECKING:
    from typing import Self

    from chainer.links.link import Link
    from chainer.links.serializer import Deserializer


class _ForwardPreprocessCallbackArgs:
    """Description of a call that is about to run.

    The class is private by its name only: exporters import it.

    Attributes:
        link (Link): The link that was called.
        forward_name (str): Name of the method that computes: ``'forward'``.
        args (tuple): Positional arguments of the call.
        kwargs (dict): Keyword arguments of the call.
    """

    def __init__(
        self, link: Link, forward_name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.link = link
        self.forward_name = forward_name
        self.args = args
        self.kwargs = kwargs

    #: Arguments that the link is called with instead; see :meth:`replace`.
    replacement: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    def replace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Calls the link with other arguments. (Assigning to ``args`` has no effect, as ever.)

        Args:
            args (tuple): Positional arguments.
            kwargs (dict): Keyword arguments.
        """
        self.replacement = args, kwargs

    def __repr__(self) -> str:
        fields = " ".join(f"{name}={value!s}" for name, value in vars(self).items())
        return f"<chainer.link_hook.{type(self).__name__} {fields}>"


class _ForwardPostprocessCallbackArgs(_ForwardPreprocessCallbackArgs):
    """Description of a call that has run.

    Attributes:
        out: Result of the call. Its arrays may be replaced by assignment to ``out.array``.
    """

    def __init__(
        self,
        link: Link,
        forward_name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
    ) -> None:
        super().__init__(link, forward_name, args, kwargs)
        self.out = out

    #: A tuple of the result that the caller gets instead; see :meth:`replace_out`.
    other_out: tuple[Any] | None = None

    def replace_out(self, out: Any) -> None:
        """Gives the caller another result. (Assigning to ``out`` has no effect, as ever.)

        Args:
            out: The result, for example a variable that was computed from the former one.
        """
        self.out = out
        self.other_out = (out,)


class HookCount:
    """How many hooks are active in all threads together.

    Calls of links read it instead of the hooks of their thread, because reading an attribute of a
    ``threading.local`` takes longer than the rest of the call.
    """

    __slots__ = ("_lock", "value")

    def __init__(self) -> None:
        self.value = 0
        self._lock = threading.Lock()

    def add(self, number: int) -> None:
        """Adds a number, which may be negative."""
        with self._lock:
            self.value += number


hook_count = HookCount()


class _HookTable(dict[str, "LinkHook"]):
    """Hooks by name, in the order in which they run.

    Programs add hooks to the dictionary that ``chainer._get_link_hooks()`` returns and delete them
    there, so each change of it is counted.
    """

    def __setitem__(self, name: str, hook: LinkHook) -> None:
        if name not in self:
            hook_count.add(1)
        super().__setitem__(name, hook)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        hook_count.add(-1)

    # These call the two methods above. The methods of dict would not.
    clear = MutableMapping.clear
    pop = MutableMapping.pop
    popitem = MutableMapping.popitem
    setdefault = MutableMapping.setdefault
    update = MutableMapping.update


class _ThreadHooks(threading.local):
    """The hooks that are active for all links of a thread, by name."""

    def __init__(self) -> None:
        self.hooks: dict[str, LinkHook] = _HookTable()


thread_hooks = _ThreadHooks()


def get_link_hooks() -> dict[str, LinkHook]:
    """Returns the hooks that are active for all links of this thread, by name, in order."""
    return thread_hooks.hooks


class LinkHook(ShowsArguments):
    """Base class of link hooks.

    A link hook is called before and after ``forward`` of links. It is active for all links that
    are called in a ``with`` block, or for one link that it was added to by
    :meth:`chainer.Link.add_hook`. A container such as :class:`~chainer.Chain` is a link, too: its
    hooks run before and after the hooks of the links it calls.

    Hooks are kept per thread. They do not run for links that override ``__call__``. If the call
    raises, :meth:`forward_postprocess` is not called.

    Attributes:
        name (str): Key under which the hook is registered; a subclass sets its own.

    Example:
        >>> class PrintShapes(chainer.LinkHook):
        ...     name = 'PrintShapes'
        ...     def forward_postprocess(self, args):
        ...         print(type(args.link).__name__, args.out.shape)
        >>> model = chainer.Sequential(L.Linear(3, 2), F.relu, L.Linear(2, 1))
        >>> with PrintShapes():
        ...     y = model(np.zeros((4, 3), np.float32))
        Linear (4, 2)
        Linear (4, 1)
        Sequential (4, 1)
    """

    name: str = "LinkHook"

    def __enter__(self) -> Self:
        # Names are unique, so that a hook can be replaced by one of a link, see Link.add_hook.
        hooks = thread_hooks.hooks
        if self.name in hooks:
            raise KeyError(f"hook {self.name} already exists")
        hooks[self.name] = self
        # The hook is active when it is notified, and still is when it is deleted.
        self.added(None)
        return self

    def _depth(self) -> int:
        return int(thread_hooks.hooks.get(self.name) is self)

    @safe_exit
    def __exit__(self, *_: object) -> None:
        thread_hooks.hooks[self.name].deleted(None)
        del thread_hooks.hooks[self.name]

    def added(self, link: Link | None) -> None:
        """Is called when the hook becomes active.

        Args:
            link (Link): The link it is added to; None for all links of the thread.
        """

    def deleted(self, link: Link | None) -> None:
        """Is called when the hook ceases to be active.

        Args:
            link (Link): The link it is deleted from; None for all links of the thread.
        """

    def _loading(self, link: Link, deserializer: Deserializer) -> None:
        """Called before a link that has this hook loads its values from a file.

        Args:
            link (Link): The link.
            deserializer (Deserializer): It reads the file at the place of the link.
        """

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        """Is called before a link computes.

        Args:
            args: The call: attributes ``link``, ``forward_name``, ``args`` and ``kwargs``. To
                replace one of them has no effect on the call; ``kwargs`` may be changed in place.
        """

    def _forward_failed(self, args: _ForwardPreprocessCallbackArgs) -> None:
        """Is called in place of :meth:`forward_postprocess` if the link raised an exception.

        Hooks that change a link during its calls undo the change here.

        Args:
            args: The call, as :meth:`forward_preprocess` got it.
        """

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        """Is called after a link has computed.

        Args:
            args: The call: the attributes of :meth:`forward_preprocess`, and the result ``out``.
        """

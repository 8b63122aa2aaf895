"""Runs a program and finds the models that it calls."""

from __future__ import annotations

import functools
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import chainer
import numpy as np
from chainer import Link, LinkHook, Variable

from chainer_torch.trees import map_leaves


@dataclass
class Found:
    """A link that a program called.

    Attributes:
        link: The link.
        args: Arguments of the first call, with copies of arrays in the place of Variables.
        kwargs: Keyword arguments, in the same way.
        is_loss: Whether it returned one number.
        inner: The links that it called itself.
    """

    link: Link
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_loss: bool = False
    inner: list[Found] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Number of trained numbers."""
        return sum([p.array.size for p in self.link.params() if p.array is not None])


class _EnoughError(BaseException):
    """Ends a program: no handler of ``Exception`` catches it."""


class _Calls(LinkHook):
    """Records the first call of each link, at the outermost level and the one below."""

    name = "chainer_torch.rescue"

    def __init__(self, seconds: float, calls: int) -> None:
        self.found: dict[int, Found] = {}
        self._open: list[tuple[Link, Found | None]] = []
        self._deadline = time.monotonic() + seconds
        self._left = self._most = calls

    @property
    def count(self) -> int:
        """Number of calls from outside of links."""
        return self._most - self._left

    def forward_preprocess(self, args: Any) -> None:
        found = None
        # A class may call the method of its base.
        again = bool(self._open) and self._open[-1][0] is args.link
        if not self._open:
            if id(args.link) not in self.found:
                found = self.found[id(args.link)] = _call_of(args)
        elif len(self._open) == 1 and not again:
            parent = self.found[id(self._open[0][0])]
            if all([f.link is not args.link for f in parent.inner]):
                found = _call_of(args)
                parent.inner.append(found)
        self._open.append((args.link, found))

    def forward_postprocess(self, args: Any) -> None:
        # Calls that an exception ended are above this one.
        while self._open:
            link, found = self._open.pop()
            if link is args.link:
                break
        else:
            return
        if found is not None:
            found.is_loss = isinstance(args.out, Variable) and args.out.shape == ()
        if not self._open:
            self._left -= 1
            if self._left <= 0 or time.monotonic() > self._deadline:
                raise _EnoughError


@contextmanager
def _all_calls(hook: _Calls) -> Iterator[None]:
    """Makes classes that define ``__call__`` call the hook, as programs before release 5 do.

    Hooks see calls of ``forward``, which ``Link.__call__`` makes. A class that defines ``__call__``
    replaces it.
    """
    replaced: list[tuple[type, Any]] = []

    def watch(cls: type) -> None:
        original = vars(cls).get("__call__")
        if original is None or cls is Link:
            return

        @functools.wraps(original)
        def call(self: Link, *args: Any, **kwargs: Any) -> Any:
            event = SimpleNamespace(link=self, args=args, kwargs=kwargs, out=None)
            hook.forward_preprocess(event)
            event.out = original(self, *args, **kwargs)
            hook.forward_postprocess(event)
            return event.out

        cls.__call__ = call  # type: ignore[method-assign]
        replaced.append((cls, original))

    for known in _subclasses(Link):
        watch(known)
    defined = vars(Link)["__init_subclass__"]

    def __init_subclass__(cls: type, **kwargs: Any) -> None:
        defined.__func__(cls, **kwargs)
        watch(cls)

    Link.__init_subclass__ = classmethod(__init_subclass__)  # type: ignore[assignment]
    try:
        yield
    finally:
        Link.__init_subclass__ = defined
        for cls, original in replaced:
            cls.__call__ = original  # type: ignore[method-assign]


def _subclasses(cls: type) -> Iterator[type]:
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def _call_of(args: Any) -> Found:
    def copied(value: Any) -> Any:
        array = value.array if isinstance(value, Variable) else value
        is_array = hasattr(array, "shape") and hasattr(array, "dtype")
        return np.array(chainer.get_device("@numpy").send(array)) if is_array else value

    positional, keywords = map_leaves(copied, (tuple(args.args), dict(args.kwargs)))
    return Found(args.link, positional, keywords)


def run_program(
    program: Path, arguments: Sequence[str], *, seconds: float = 60.0, calls: int = 50
) -> tuple[list[Found], str]:
    """Runs a program until it has called its models a number of times, or it ends.

    Args:
        program: The program. It runs in this process, in its folder.
        arguments: Its arguments.
        seconds: Longest time. Outside of the main thread, and on Windows, it is looked at after
            calls of models only.
        calls: Greatest number of calls of models.

    Returns:
        tuple: The links, the largest first, and how the program ended.
    """
    hook = _Calls(seconds, calls)
    end = "it ended by itself"
    argv = [str(program), *arguments]
    with _in_folder(program.parent), _arguments(argv), hook, _all_calls(hook):
        try:
            with _time_limit(seconds), _no_sudden_end():
                runpy.run_path(str(program), run_name="__main__")
        except _EnoughError:
            end = f"it was stopped after {hook.count} calls of models"
        except SystemExit as error:
            end = f"it ended with the status {error.code}"
        except Exception as error:
            end = f"it failed with {type(error).__name__}: {error}"
    return models_of(list(hook.found.values())), end


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Ends a program that calls no model, such as one that waits for ever."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise _EnoughError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _no_sudden_end() -> Iterator[None]:
    """Makes ``os._exit`` end the program alone: the report is still to be written."""
    original, process = os._exit, os.getpid()

    def leave(status: int) -> NoReturn:
        # Children, such as workers of an iterator, end as they do.
        if os.getpid() != process or threading.current_thread() is not threading.main_thread():
            original(status)
        raise SystemExit(status)

    os._exit = leave
    try:
        yield
    finally:
        os._exit = original


def models_of(found: Sequence[Found]) -> list[Found]:
    """Returns the models among the links that were called.

    A link that returns a loss is replaced by the link within it that has nearly all of its
    parameters, such as the predictor of an ``L.Classifier``. A link within another one is left out.
    """
    models: list[Found] = []
    for call in found:
        if call.is_loss:
            inner = [f for f in call.inner if 0 < f.size >= 0.8 * call.size]
            call = inner[0] if inner else call
        if call.size and all([call.link is not model.link for model in models]):
            models.append(call)
    inside = {id(child) for model in models for child in model.link.links(skipself=True)}
    models = [model for model in models if id(model.link) not in inside]
    return sorted(models, key=lambda model: -model.size)


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        with own_modules(folder):
            yield
    finally:
        os.chdir(before)


@contextmanager
def own_modules(folder: Path) -> Iterator[None]:
    """Makes modules of a folder importable, and forgets them at the end.

    Another program may have modules of the same names. Modules that were replaced are put back.

    Args:
        folder: The folder, an absolute path.
    """
    path, before = list(sys.path), dict(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if before.get(name) is module or not _is_below(folder, module):
                continue
            if name in before:
                sys.modules[name] = before[name]
            else:
                del sys.modules[name]


def _is_below(folder: Path, module: Any) -> bool:
    """Returns whether a module was read from a file of a folder."""
    file = getattr(module, "__file__", None)
    # A package without __init__.py has folders in place of a file.
    places = list(getattr(module, "__path__", ())) if file is None else [file]
    return any([folder in Path(place).parents for place in places])


@contextmanager
def _arguments(arguments: list[str]) -> Iterator[None]:
    before = sys.argv
    sys.argv = arguments
    try:
        yield
    finally:
        sys.argv = before

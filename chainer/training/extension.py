"""Trainer extensions: what is done in a training loop besides the update."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from chainer.core.foreign_names import CheckedKeywords
from chainer.core.utils.repr_texts import attributes_text
from chainer.links.loaded_state import serialize_if_able
from chainer.links.serializer import AbstractSerializer, Serializer

if TYPE_CHECKING:
    from types import TracebackType

    from chainer.training.trainer import Trainer
    from chainer.training.trigger import Trigger, TriggerLike

#: Priority of extensions that write observations.
PRIORITY_WRITER = 300
#: Priority of extensions that edit observations already reported.
PRIORITY_EDITOR = 200
#: Priority of extensions that only read observations, or do not use them at all.
PRIORITY_READER = 100

F = TypeVar("F", bound=Callable[..., Any])

ExtensionLike: TypeAlias = "Callable[[Trainer], Any]"
"""An :class:`Extension`, or any other callable that takes a trainer."""


class Extension(CheckedKeywords):
    """Base class of trainer extensions.

    An extension is a callable that takes the trainer. There are three ways to define one: derive
    from this class, which gives it methods and a state; decorate a function by
    :func:`make_extension`; or pass any callable, such as a lambda, to :meth:`Trainer.extend`.
    Attributes that a callable does not define (trigger, priority, ...) have the values of this
    class, unless ``extend()`` is told otherwise.

    Attributes:
        trigger: Default trigger: ``(1, 'iteration')``. It may be a method that takes the trainer.
        priority (int): Default priority: ``PRIORITY_READER``.
        name (str): Name under which the extension is registered; None before that.

    Example:
        >>> class Halve(chainer.training.Extension):
        ...     trigger = 10, 'epoch'
        ...     def __call__(self, trainer):
        ...         trainer.updater.get_optimizer('main').lr /= 2
    """

    trigger: Any = (1, "iteration")
    priority: int = PRIORITY_READER
    name: str | None = None

    def __repr__(self) -> str:
        return attributes_text(self, ("name", "trigger", "priority"))

    @property
    def default_name(self) -> str:
        """Default name of the extension: the name of the class.

        Implementations can override this property, or hide it by a class attribute.
        """
        return type(self).__name__

    def __call__(self, trainer: Trainer) -> Any:
        """Invokes the extension; called at iterations that the trigger accepts.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__(trainer)")

    def restore(self, trainer: Trainer) -> None:
        """Loads a state of the trainer, such as a snapshot that is found in its output directory.

        Called before :meth:`initialize` of any extension, which rely on what is loaded.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """

    def initialize(self, trainer: Trainer) -> None:
        """Initializes the trainer state; called before the training loop.

        A trainer does not call it if the trigger has an attribute ``finished`` that is True.

        When the trainer has been restored from a snapshot, this method has to recover its part of
        the state of the trainer. For example,
        :class:`~chainer.training.extensions.ExponentialShift` changes a hyperparameter, which a
        snapshot does not contain, and sets it again here.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """

    def finalize(self) -> None:
        """Finalizes the extension; called at the end of the training loop, however it ends."""

    def on_error(self, trainer: Trainer, exc: Exception, tb: TracebackType | None) -> None:
        """Handles an error raised during training; called before the finalization.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the extension state; called when the trainer is serialized.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """


def make_extension(
    trigger: TriggerLike = None,
    default_name: str | None = None,
    priority: int | None = None,
    finalizer: Callable[[], Any] | None = None,
    initializer: Callable[..., Any] | None = None,
    on_error: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Callable[[F], F]:
    """Decorator to make given functions into trainer extensions.

    It adds attributes to the function, see :class:`Extension`.

    Args:
        trigger: Default trigger of the extension; ``(1, 'iteration')`` when None.
        default_name (str): Default name of the extension; the name of the function when None.
        priority (int): Default priority of the extension; ``PRIORITY_READER`` when None.
        finalizer (callable): Called without arguments at the end of the training loop.
        initializer (callable): Called with the trainer at the beginning of the training loop.
        on_error (callable): Called with the trainer, the exception and its traceback when an error
            was raised.

    Raises:
        ValueError: For the argument ``invoke_before_training``, which v2 removed.

    Example:
        >>> @chainer.training.make_extension(trigger=(10, 'epoch'))
        ... def lr_drop(trainer):
        ...     trainer.updater.get_optimizer('main').lr *= 0.1
    """
    if "invoke_before_training" in kwargs:
        raise ValueError(
            "invoke_before_training has been removed since Chainer v2.0.0. Use initializer= "
            "instead."
        )
    if kwargs:
        raise TypeError(
            f"make_extension() got unexpected keyword argument(s) {', '.join(map(repr, kwargs))}"
        )

    def decorate(extension: F) -> F:
        attributes: dict[str, Any] = {
            "trigger": Extension.trigger if trigger is None else trigger,
            "default_name": default_name or getattr(extension, "__name__", None),
            "priority": Extension.priority if priority is None else priority,
            "finalize": finalizer,
            "initialize": initializer,
            "on_error": on_error,
        }
        for name, value in attributes.items():
            setattr(extension, name, value)
        return extension

    return decorate


class ExtensionEntry:
    """An extension as a trainer keeps it.

    Attributes:
        name: Name under which it is registered.
        extension: The extension.
        priority: Its priority.
        trigger: Its trigger.
        call_before_training: Whether it is also called once before the training loop.
        named_by_user: Whether the name was given by the user rather than by the extension.
    """

    __slots__ = (
        "call_before_training",
        "extension",
        "name",
        "named_by_user",
        "priority",
        "trigger",
    )

    def __init__(
        self,
        name: str,
        extension: ExtensionLike,
        priority: int,
        trigger: Trigger,
        call_before_training: bool,
        named_by_user: bool,
    ) -> None:
        self.name = name
        self.extension = extension
        self.priority = priority
        self.trigger = trigger
        self.call_before_training = call_before_training
        self.named_by_user = named_by_user

    def call(self, method: str, *args: object) -> None:
        """Calls an optional method of the extension (an attribute of functions; may be None)."""
        function = getattr(self.extension, method, None)
        if function is not None:
            function(*args)


# A snapshot of a trainer has the entries that release 7 writes. Where release 4 uses another name,
# the entry is written under both names, so that both releases load the file. When a file is read,
# either name is enough.


class _TwoNames(AbstractSerializer):
    """A deserializer of something that is in a file under one of two names.

    Args:
        first: Deserializer for the first name.
        second: Deserializer for the second one.
    """

    def __init__(self, first: AbstractSerializer, second: AbstractSerializer) -> None:
        self._first = first
        self._second = second

    def __getitem__(self, key: str) -> _TwoNames:
        return _TwoNames(self._first[key], self._second[key])

    def __call__(self, key: str, value: Any) -> Any:
        try:
            loaded = self._first(key, value)
        except KeyError:
            return self._second(key, value)
        # A deserializer that is not strict returns the value itself if there is no entry.
        return self._second(key, value) if loaded is value else loaded


def names_in_release_7(entries: dict[str, ExtensionEntry]) -> dict[str, str]:
    """Returns the names that release 7 gives to snapshot extensions that the user has not named.

    Args:
        entries: Extensions of a trainer by name.

    Returns:
        dict: Names of release 7 by the names here.
    """
    aliases: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, entry in entries.items():
        base = getattr(entry.extension, "name_in_release_7", None)
        if base is not None and not entry.named_by_user:
            ordinal = counts[base] = counts.get(base, -1) + 1
            aliases[name] = f"{base}_{ordinal}" if ordinal else base
    return aliases


def serialize_extensions(
    entries: dict[str, ExtensionEntry], serializer: AbstractSerializer
) -> None:
    """Serializes the extensions of a trainer and their triggers.

    Args:
        entries: Extensions by name.
        serializer: Serializer or deserializer of the trainer.
    """
    states = serializer["extensions"]
    triggers = serializer["extension_triggers"]
    aliases = names_in_release_7(entries)
    for name, entry in entries.items():
        serialize_if_able(entry.extension, states[name])
        alias = aliases.get(name)
        if alias is None:
            serialize_if_able(entry.trigger, triggers[name])
        elif isinstance(serializer, Serializer):
            serialize_if_able(entry.trigger, triggers[name])
            serialize_if_able(entry.trigger, triggers[alias])
        else:
            serialize_if_able(entry.trigger, _TwoNames(triggers[name], triggers[alias]))

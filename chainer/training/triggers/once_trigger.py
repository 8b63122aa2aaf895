"""Trigger that fires once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.training.trigger import load_optional

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class OnceTrigger:
    """Trigger that fires at the first iteration only.

    Args:
        call_on_resume (bool): Whether it fires again when the training is resumed from a snapshot.

    Attributes:
        finished (bool): Whether it will not fire any more.
    """

    def __init__(self, call_on_resume: bool = False) -> None:
        self._call_on_resume = call_on_resume
        self._fired = False

    @property
    def finished(self) -> bool:
        """Whether it will not fire any more."""
        return self._fired

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension should be called on this iteration.

        Args:
            trainer (Trainer): Trainer object that this trigger is associated with.

        Returns:
            bool: True at the first call.
        """
        fire = not self._fired
        self._fired = True
        return fire

    def serialize(self, serializer: Any) -> None:
        """Serializes whether it has fired.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        if not self._call_on_resume:
            self._fired = not load_optional(serializer, "_flag_first", not self._fired)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(call_on_resume={self._call_on_resume})"

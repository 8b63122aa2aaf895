"""The signature of the last call, to recognize the next one."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import configuration_changes, global_config, threads
from chainer.training.capturing.program import Recording

_of_array = attrgetter("__class__", "dtype", "shape")
_of_signed_array = attrgetter("__class__", "signature")
_of_variable = attrgetter("__class__", "dtype", "shape", "requires_grad")


class LastCall:
    """Arguments and settings of a call that repeated a recording.

    Most calls of a step are like the one before. Comparing the two takes a quarter of the
    time of making the key of a call.

    Args:
        args: The positional arguments, arrays and Variables; there were no others.
        has_reporter: Whether a reporter was current.
        recording: What was repeated.
    """

    __slots__ = (
        "_change",
        "_enable_backprop",
        "_getters",
        "_has_reporter",
        "_own",
        "_shared",
        "_signatures",
        "_state",
        "recording",
    )

    def __init__(self, args: tuple[Any, ...], has_reporter: bool, recording: Recording) -> None:
        self.recording = recording
        self._getters = [_getter_for(x) for x in args]
        self._signatures = [getter(x) for getter, x in zip(self._getters, args)]
        self._has_reporter = has_reporter
        state = self._state = threads.state
        self._enable_backprop = state.enable_backprop
        self._shared = dict(vars(global_config))
        self._own = dict(state.values)
        self._change = configuration_changes.value

    def has_signature_of(self, args: tuple[Any, ...], has_reporter: bool) -> bool:
        """Returns whether a call has the same arguments, but for values, and the same settings.

        Args:
            args: The positional arguments; there must be no others.
            has_reporter: Whether a reporter is current.
        """
        try:
            return (
                len(args) == len(self._getters)
                and [getter(x) for getter, x in zip(self._getters, args)] == self._signatures
                and has_reporter is self._has_reporter
                and self._has_configuration()
            )
        except (AttributeError, TypeError, ValueError):
            return False  # another kind of argument, or an entry that cannot be compared

    def _has_configuration(self) -> bool:
        """Returns whether the configuration is as it was."""
        state, change = threads.state, configuration_changes.value
        if (
            change == self._change
            and state is self._state
            and state.enable_backprop is self._enable_backprop
        ):
            return True
        if vars(global_config) != self._shared or state.values != self._own:
            return False
        # An entry was changed and put back, as by using_config().
        self._change, self._state, self._enable_backprop = change, state, state.enable_backprop
        return True


def _getter_for(x: Any) -> Any:
    """Returns what returns the part of an argument that programs depend on."""
    if isinstance(x, Variable):
        return _of_variable
    # Backends may have a quicker way to tell shape and dtype.
    return _of_signed_array if hasattr(type(x), "signature") else _of_array

"""State of a registered backend. Errors that the code of a plugin raises are caught."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chainer.core.arrays.protocol import Backend
from chainer.core.registry import registries
from chainer.core.registry.registry import Entry
from chainer.core.registry.requirements import describe_error


@dataclass(frozen=True)
class BackendStatus:
    """The state that a backend reports.

    Attributes:
        entry: Its entry in the registry.
        backend: The backend; None if it could not be loaded.
        reason: Why it is not available; None if it is.
        version: Version of its array library; None if it is not available.
        devices: Specifiers of its devices.
    """

    entry: Entry
    backend: Backend | None
    reason: str | None
    version: str | None = None
    devices: list[str] = field(default_factory=list[str])


def backend_status(name: str) -> BackendStatus:
    """Asks a backend whether it is available.

    Args:
        name: Name of a registered backend.

    Returns:
        BackendStatus: The state. If the backend raises an error, the reason names the error and the
            plugin.
    """
    entry = registries.backends.entry(name)
    backend: Any = None
    try:
        backend = entry.load()
        reason = backend.unavailable_reason()
        if reason is not None:
            return BackendStatus(entry, backend, str(reason))
        version = str(backend.version())
        return BackendStatus(entry, backend, None, version, [str(d) for d in backend.devices()])
    except ImportError as error:  # the text of the error already names the plugin
        return BackendStatus(entry, backend, str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise any error; it must not end the program
        text = f"error in the code of {entry.origin}: {describe_error(error)}"
        return BackendStatus(entry, backend, text)

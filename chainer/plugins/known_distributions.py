"""Distributions of this repository whose names are useful in error messages."""

from __future__ import annotations

from importlib import metadata

from chainer.core.installation import install_command
from chainer.plugins.discovery import normalize

#: Kind of registry -> name of an entry -> the distribution that supplies it. For kernels it is the
#: name of the provider.
KNOWN: dict[str, dict[str, str]] = {
    "backends": {
        "array_api_strict": "chainer-array-api",
        "jax": "chainer-jax",
        "torch": "chainer-array-api",
    },
    "kernels": {"jax": "chainer-jax", "numba": "chainer-numba"},
    # Names of entry points, for the commands that take the name of a plugin.
    "plugins": {
        "array-api": "chainer-array-api",
        "chainermn": "chainermn",
        "jax": "chainer-jax",
        "models": "chainer-models",
        "numba": "chainer-numba",
        "onnx": "onnx-chainer",
    },
}


def suggestion(kind: str, name: str) -> str | None:
    """Returns how to get a name, for the message of the error that it is missing.

    Args:
        kind: Kind of registry, such as ``'backends'``, or ``'plugins'``.
        name: The missing name. A plugin may be called by the name of its distribution.

    Returns:
        str: None if no distribution is known, or if it is installed and still lacks the name.
    """
    names = KNOWN.get(kind, {})
    distribution = names.get(name)
    if kind == "plugins" and distribution is None and normalize(name) in names.values():
        distribution = normalize(name)
    if distribution is None or _is_installed(distribution):
        return None
    return (
        f"it is part of the distribution {distribution}, which is not installed: "
        f"{install_command(distribution)}"
    )


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True

"""Distributions of this repository whose names are useful in error messages."""

from __future__ import annotations

from importlib import metadata

from chainer.core.installation import install_command

#: Kind of registry -> name of an entry -> the distribution that supplies it.
KNOWN: dict[str, dict[str, str]] = {
    "backends": {
        "array_api_strict": "chainer-array-api",
        "jax": "chainer-jax",
        "torch": "chainer-array-api",
    },
}


def suggestion(kind: str, name: str) -> str | None:
    """Returns how to get a name, for the message of the error that it is missing.

    Args:
        kind: Kind of registry, such as ``'backends'``.
        name: The missing name.

    Returns:
        str: None if no distribution is known, or if it is installed and still lacks the name.
    """
    distribution = KNOWN.get(kind, {}).get(name)
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

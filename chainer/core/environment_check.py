"""Versions of the packages that are installed beside Chainer.

It is ``chainer._environment_check`` of release 7, which checks while it is imported. Here programs
call it: it reads the metadata of many packages, and the command ``chainer doctor`` tells more.
"""

from __future__ import annotations

import os
import re
import warnings
from importlib import metadata

#: A requirement with a least version, as in ``cupy-cuda12x[extra]>=13.0; extra == "cupy"``.
_REQUIREMENT = re.compile(r"([\w.-]+)[^;>]*>=\s*([\d.]+)")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def too_old(requirements: list[str]) -> dict[str, tuple[str, str]]:
    """Returns the installed packages that are older than requirements ask for.

    Args:
        requirements: Requirements as in the metadata of a distribution.

    Returns:
        dict: Name -> the installed version and the least one.
    """
    found: dict[str, tuple[str, str]] = {}
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is None:
            continue
        name, least = match.groups()
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:  # an extra that is not installed
            continue
        if _numbers(installed) < _numbers(least):
            found[name] = installed, least
    return found


def check() -> None:
    """Warns of installed packages that are older than this release needs.

    The environment variable ``CHAINER_WARN_VERSION_MISMATCH=0`` turns the warnings off.
    """
    if os.environ.get("CHAINER_WARN_VERSION_MISMATCH", "1") == "0":
        return
    for name, (installed, least) in too_old(metadata.requires("chainer") or []).items():
        warnings.warn(
            f"{name} {installed} is installed; this release of Chainer needs {least} or later.",
            stacklevel=2,
        )

"""Conditions for examples in documentation that are run as tests."""

from __future__ import annotations

import os

from chainer.testing.attr import gpu_limit
from chainer.testing.helper import requirements_satisfied


def skipif(condition: object) -> bool:
    """Returns whether an example is to be skipped: if the condition holds.

    Args:
        condition: The condition. With ``READTHEDOCS=True`` in the environment no example is
            skipped, because the pages show all of them.
    """
    return os.environ.get("READTHEDOCS") != "True" and bool(condition)


def skipif_requires_satisfied(*requirements: str) -> bool:
    """Returns whether an example is to be skipped: if all requirements are satisfied.

    Args:
        requirements: Requirement specifiers such as ``'numpy>=2.1'``.
    """
    return skipif(requirements_satisfied(*requirements))


def skipif_not_enough_cuda_devices(device_count: int) -> bool:
    """Returns whether an example is to be skipped: if there are fewer GPUs.

    Args:
        device_count (int): Number of GPUs that the example needs.
    """
    return skipif(gpu_limit() < device_count)

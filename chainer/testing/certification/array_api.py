"""The test suite of the array API standard, on the arrays of a backend."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from chainer.core.arrays.backend import get_device
from chainer.core.arrays.device import Device
from chainer.testing.certification import standard_namespace
from chainer.testing.certification.suite_error import SuiteError

#: Version of the standard that is tested.
VERSION = "2024.12"

#: A limitation of a backend -> the dtypes that the suite leaves out then.
_DTYPES = {"complex": "complex64,complex128", "float64": "float64"}

#: The suite is on no package index: it is a repository.
REPOSITORY = "https://github.com/data-apis/array-api-tests"


def command(subject: str) -> str:
    """Returns the command that fetches the suite and runs it.

    Args:
        subject: Name of the backend or plugin.
    """
    return (
        f"git clone --recurse-submodules {REPOSITORY} && "
        f"{sys.executable} -m pip install -r array-api-tests/requirements.txt && "
        f"chainer certify {subject} --array-api-tests array-api-tests"
    )


def follows_the_standard(device: Device) -> bool:
    """Returns whether the namespace of a backend has the inspection functions of the standard.

    Args:
        device: A device of the backend.
    """
    return hasattr(device.backend.xp, "__array_namespace_info__")


def check(checkout: Path, subject: str) -> None:
    """Raises unless a folder has the suite, and what it needs is installed.

    Args:
        checkout: The folder.
        subject: Name of the backend or plugin.

    Raises:
        SuiteError: In this case.
    """
    if not (checkout / "array_api_tests" / "__init__.py").exists():
        raise SuiteError(
            f"--array-api-tests {checkout}: the folder has no array_api_tests; get it by: "
            f"{command(subject)}"
        )
    if importlib.util.find_spec("hypothesis") is None:
        raise SuiteError(
            f"--array-api-tests {checkout}: the suite needs hypothesis: "
            f"{sys.executable} -m pip install -r {checkout / 'requirements.txt'}"
        )


def arguments(checkout: Path) -> list[str]:
    """Returns the arguments of pytest.

    Args:
        checkout: Folder with the suite.
    """
    found = [str(checkout.resolve() / "array_api_tests"), "--hypothesis-seed=0"]
    options = checkout / "conftest.py"
    # A limit of time for each example fails on a busy machine. Not all versions have the option.
    text = options.read_text(encoding="utf-8") if options.exists() else ""
    return found + [name for name in ("--disable-deadline",) if name in text]


def environment(device: str) -> dict[str, str]:
    """Returns the environment variables of the suite.

    Args:
        device: The device under test.
    """
    found = {
        "ARRAY_API_TESTS_MODULE": standard_namespace.__name__,
        "ARRAY_API_TESTS_VERSION": VERSION,
        standard_namespace.DEVICE: device,
    }
    left_out = left_out_dtypes(get_device(device))
    return {**found, "ARRAY_API_TESTS_SKIP_DTYPES": left_out} if left_out else found


def left_out_dtypes(device: Device) -> str:
    """Returns the dtypes that a backend declares not to have, as the suite takes them.

    Args:
        device: A device of the backend.
    """
    limitations = device.backend.limitations
    return ",".join(dtypes for name, dtypes in _DTYPES.items() if name in limitations)

"""Plugin of pytest for runs on a GPU with pytest-xdist: ``-p tests.gpu.broken_device``.

After a kernel has read or written where it may not, CUDA refuses everything in that process.
Without this plugin all tests that follow in the process fail, too. With it the failure is printed
and the process ends; pytest-xdist reports the test, and starts another process for the next ones.
"""

from __future__ import annotations

import os
import sys

import pytest

#: Errors after which CUDA does nothing more in a process.
_FINAL = (
    "cudaErrorAssert",
    "cudaErrorECCUncorrectable",
    "cudaErrorHardwareStackError",
    "cudaErrorIllegalAddress",
    "cudaErrorIllegalInstruction",
    "cudaErrorInvalidAddressSpace",
    "cudaErrorInvalidPc",
    "cudaErrorLaunchFailure",
    "cudaErrorLaunchTimeout",
    "cudaErrorMisalignedAddress",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Ends a worker of pytest-xdist whose device is of no use any more."""
    report = yield
    text = report.longreprtext if report.failed else ""
    if any(name in text for name in _FINAL) and "PYTEST_XDIST_WORKER" in os.environ:
        print(f"\n{item.nodeid} broke the device:\n{text}", file=sys.__stderr__, flush=True)
        os._exit(70)
    return report

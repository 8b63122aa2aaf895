"""Runs a certification."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import numpy

from chainer.core.arrays.backend import get_device
from chainer.core.arrays.kernel_declaration import KernelDeclaration
from chainer.core.registry import registries
from chainer.core.version import __version__
from chainer.testing.certification import isolation
from chainer.testing.certification.certificate import Certificate, Result
from chainer.testing.certification.isolation import Limits
from chainer.testing.certification.subject import Part, parts_of

_SUITE = "chainer.testing.conformance"
_OPERATIONS = f"{_SUITE}.test_operations"
_CHECKS = "chainer.testing.certification.checks"


def certify(
    name: str,
    *,
    quick: bool = False,
    only: str | None = None,
    specs: str | None = None,
    device: str | None = None,
    limits: Limits | None = None,
    progress: Callable[[Result], None] = lambda result: None,
) -> Certificate:
    """Tests a backend, a kernel provider or everything that a plugin supplies.

    Args:
        name: Name of a backend, a kernel provider, or a plugin (its entry point, its distribution
            or its module).
        quick: Whether operations are tested in float32 only.
        only: Expression of pytest's option ``-k`` that selects tests. The certificate is then not
            complete.
        specs: Table of rows of the package's functions, as ``'module:attribute'``. By default it is
            ``SPECS`` in the module ``specs`` of the package.
        device: Device for kernels and functions.
        limits: Limits of processes and time.
        progress: Is called with each result.

    Raises:
        UnknownSubjectError: If nothing has this name.
    """
    start = time.monotonic()
    certificate = Certificate(name, quick, complete=only is None, versions=_versions())
    for part in parts_of(name, specs, device):
        arguments = _arguments(part, quick, specs)
        if only is not None:
            arguments += ["-k", only]
        outcome = isolation.run(part.title, arguments, limits or Limits(), progress)
        certificate.results += outcome.results
        _describe(part, certificate)
        declared = _declared(part)
        if declared and only is None:
            certificate.unreached[part.title] = sorted(declared - outcome.kernels)
    certificate.seconds = time.monotonic() - start
    return certificate


def _arguments(part: Part, quick: bool, specs: str | None) -> list[str]:
    device = f"--chainer-backend={part.device}"
    options = ["--chainer-quick"] if quick else []
    match part.kind:
        case "backend":
            return ["--pyargs", _SUITE, device, *options]
        case "kernels":
            table = [f"--chainer-specs={specs}"] if specs else []
            provider = f"--chainer-provider={part.name}"
            return ["--pyargs", _SUITE, device, provider, *table, *options]
        case "functions":
            return ["--pyargs", _OPERATIONS, device, f"--chainer-specs={part.name}", *options]
        case _:
            table = [f"--chainer-specs={specs}"] if specs else []
            return ["--pyargs", _CHECKS, f"--chainer-package={part.name}", *table]


def _versions() -> dict[str, str]:
    return {
        "chainer": __version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def _describe(part: Part, certificate: Certificate) -> None:
    """Adds what a backend or a provider has and declares."""
    if part.kind == "backend":
        device = get_device(f"@{part.device.removeprefix('@')}")
        backend = device.backend
        certificate.versions[backend.name] = backend.version()
        certificate.limitations[part.title] = dict(backend.limitations)
        recorder = backend.recorder(device)
        certificate.facts[part.title] = {
            "devices": ", ".join(map(str, backend.devices())),
            "recorder": "none" if recorder is None else type(recorder).__name__,
            "accelerator": "yes" if backend.is_accelerator else "no",
        }
    elif part.kind == "kernels":
        limits = {
            f"{kernel.operation}: {name}": reason
            for kernel in _kernels(part.name)
            for name, reason in kernel.limitations.items()
        }
        certificate.limitations[part.title] = limits
        certificate.facts[part.title] = {"kernels": str(len(_kernels(part.name)))}


def _declared(part: Part) -> set[str]:
    if part.kind not in ("backend", "kernels"):
        return set()
    name = part.name.partition(":")[0]
    return {kernel.key for kernel in _kernels(name)}


def _kernels(provider: str) -> list[KernelDeclaration]:
    every = [registries.kernels.get(name) for name in registries.kernels.names()]
    return [kernel for kernel in every if kernel.provider == provider]

"""Runs a certification."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy

from chainer.core.arrays.backend import get_device
from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel_declaration import KernelDeclaration
from chainer.core.registry import registries
from chainer.core.version import __version__
from chainer.testing.certification import array_api, isolation
from chainer.testing.certification.certificate import ARRAY_API, Certificate, Result
from chainer.testing.certification.isolation import Limits
from chainer.testing.certification.opinfo.exporting import Exported, export_samples
from chainer.testing.certification.opinfo.samples import FOLDER
from chainer.testing.certification.subject import Part, keys_of, parts_of
from chainer.testing.conformance.options import left_out

_SUITE = "chainer.testing.conformance"
_OF_FUNCTIONS = (f"{_SUITE}.test_operations", f"{_SUITE}.test_transforms")
_CHECKS = "chainer.testing.certification.checks"
_OPINFO = "chainer.testing.certification.opinfo"

#: Loads everything that is registered, as :func:`certify` does.
_LOADING = (
    "import sys; from chainer.testing.certification.subject import parts_of; parts_of(sys.argv[1])"
)

#: Computes on a device.
_TRYING = (
    "import sys, numpy; from chainer.backend import get_device; "
    "x = get_device('@' + sys.argv[1].removeprefix('@')).send(numpy.ones(2, 'f')); x + x"
)


def certify(
    name: str,
    *,
    quick: bool = False,
    only: str | None = None,
    specs: str | None = None,
    device: str | None = None,
    opinfo: str | os.PathLike[str] | None = None,
    array_api_tests: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    progress: Callable[[Result], None] = lambda result: None,
) -> Certificate:
    """Tests a backend, a kernel provider or everything that a plugin supplies.

    Args:
        name: Name of a backend, a kernel provider, or a plugin (its entry point, its distribution
            or its module).
        quick: Whether few dtypes and samples of operations are tested. The certificate says what is
            left out.
        only: Expression of pytest's option ``-k`` that selects tests. The certificate is then not
            complete.
        specs: Table of rows of the package's functions, as ``'module:attribute'``. By default it is
            ``SPECS`` in the module ``specs`` of the package.
        device: Device for kernels and functions.
        opinfo: A Python that has PyTorch. Functions are then compared with PyTorch's on the samples
            of its OpInfo.
        array_api_tests: Folder with the test suite of the array API standard, which then runs on
            backends that follow the standard.
        limits: Limits of processes and time.
        progress: Is called with each result.

    Raises:
        UnknownSubjectError: If nothing has this name.
        SuiteError: If PyTorch or the test suite cannot be used.
    """
    start = time.monotonic()
    limits = limits or Limits()
    certificate = Certificate(name, quick, complete=only is None, versions=_versions())
    # In another process first: a pack that dies while it is imported would end this one.
    crash = isolation.crash_of(_LOADING, [name], limits.seconds_per_test)
    if crash is not None:
        death, output = crash
        message = f"{death} while packs were loaded"
        text = f"{message}\n{output}"
        certificate.results.append(Result("packs", "loading", "crashed", 0.0, text, message))
        certificate.seconds = time.monotonic() - start
        return certificate
    parts = parts_of(name, specs, device)
    chosen = [] if only is None else ["-k", only]
    # A suite that cannot run says so before the tests, which take minutes.
    if array_api_tests is not None:
        array_api.check(Path(array_api_tests), name)
    with _samples(parts, opinfo, quick, certificate) as samples:
        for part in parts:
            arguments = [*_arguments(part, quick, specs), *chosen]
            _describe(part, certificate)
            environment = _environment(part, quick, limits, certificate)
            outcome = isolation.run(part.title, arguments, limits, progress, environment)
            certificate.results += outcome.results
            declared = _declared(part)
            if declared and only is None:
                certificate.unreached[part.title] = sorted(declared - outcome.kernels)
            if samples is not None and part.kind in _ON_ARRAYS:
                arguments = [*_arguments(part, quick, None, _OPINFO), *chosen]
                title = f"OpInfo: {part.title}"
                found = isolation.run(title, arguments, limits, progress, {FOLDER: str(samples)})
                certificate.results += found.results
            if array_api_tests is not None and _follows_the_standard(part):
                suite = Path(array_api_tests)
                found = _run_array_api(part, suite, chosen, limits, progress, certificate)
                certificate.results += found
    _say_what_did_not_run(parts, opinfo, array_api_tests, certificate)
    certificate.seconds = time.monotonic() - start
    return certificate


#: Parts that have arrays of their own, or kernels for some.
_ON_ARRAYS = ("backend", "kernels")

#: Parts whose functions are tested, of which the quick form leaves something out.
_WITH_FUNCTIONS = (*_ON_ARRAYS, "functions")


def _device_of(part: Part) -> Device:
    return get_device(f"@{part.device.removeprefix('@')}")


def _follows_the_standard(part: Part) -> bool:
    return part.kind == "backend" and array_api.follows_the_standard(get_device(part.device))


@contextmanager
def _samples(
    parts: list[Part],
    python: str | os.PathLike[str] | None,
    quick: bool,
    certificate: Certificate,
) -> Iterator[Path | None]:
    """Makes a folder with the samples of OpInfo; None if they are not asked for."""
    titles = [part.title for part in parts if part.kind in _ON_ARRAYS]
    if python is None or not titles:
        yield None
        return
    dtypes = ("float32",) if quick else ("float32", "float64")
    with tempfile.TemporaryDirectory(prefix="chainer-opinfo-") as folder:
        exported = export_samples(os.fspath(python), Path(folder), dtypes)
        for title in titles:
            _describe_samples(f"OpInfo: {title}", exported, certificate)
        yield Path(folder)


def _describe_samples(title: str, exported: Exported, certificate: Certificate) -> None:
    certificate.facts[title] = {"PyTorch": exported.version}
    if exported.missing:
        certificate.facts[title]["not in this version"] = ", ".join(exported.missing)
    for file, text in exported.errors.items():
        test = f"test_opinfo.py::PyTorch's samples[{file}]"
        certificate.results.append(Result(title, test, "failed", 0.0, text, text))


def _run_array_api(
    part: Part,
    suite: Path,
    chosen: list[str],
    limits: Limits,
    progress: Callable[[Result], None],
    certificate: Certificate,
) -> list[Result]:
    """Runs the suite of the standard, and returns its results."""
    title = f"{ARRAY_API}: {part.title}"
    arguments = [*array_api.arguments(suite), *chosen]
    environment = array_api.environment(part.device)
    certificate.facts[title] = {"version of the standard": array_api.VERSION}
    left_out = array_api.left_out_dtypes(get_device(part.device))
    if left_out:
        certificate.facts[title]["dtypes left out, as declared"] = left_out
    return isolation.run(title, arguments, limits, progress, environment).results


def _say_what_did_not_run(
    parts: list[Part],
    opinfo: str | os.PathLike[str] | None,
    array_api_tests: str | os.PathLike[str] | None,
    certificate: Certificate,
) -> None:
    """Notes what was not asked for, with the command that runs it."""
    if certificate.quick:
        for part in parts:
            if part.kind in _WITH_FUNCTIONS:
                what = left_out(_device_of(part))
                certificate.not_run[what] = f"chainer certify {certificate.subject}"
    if opinfo is None and any(part.kind in _ON_ARRAYS for part in parts):
        command = f"chainer certify {certificate.subject} --opinfo PYTHON"
        certificate.not_run["PyTorch's OpInfo"] = f"{command} (a Python that has PyTorch)"
    if array_api_tests is None and any(_follows_the_standard(part) for part in parts):
        command = array_api.command(certificate.subject)
        certificate.not_run["test suite of the array API standard"] = command


def _arguments(part: Part, quick: bool, specs: str | None, suite: str = _SUITE) -> list[str]:
    device = f"--chainer-backend={part.device}"
    options = ["--chainer-quick"] if quick else []
    match part.kind:
        case "backend":
            provider = part.name.partition(":")[0]
            own = [f"--chainer-provider={provider}"] if part.prefers else []
            return ["--pyargs", suite, device, *own, *options]
        case "kernels":
            table = [f"--chainer-specs={specs}"] if specs else []
            provider = f"--chainer-provider={part.name}"
            return ["--pyargs", suite, device, provider, *table, *options]
        case "functions":
            table = f"--chainer-specs={part.name}"
            return ["--pyargs", *_OF_FUNCTIONS, device, table, *options]
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
        device = _device_of(part)
        backend = device.backend
        certificate.versions[backend.name] = backend.version()
        certificate.limitations[part.title] = dict(backend.limitations)
        recorder = backend.recorder(device)
        certificate.facts[part.title] = {
            "devices": ", ".join(map(str, backend.devices())),
            "recorder": "none" if recorder is None else type(recorder).__name__,
            "accelerator": "yes" if backend.is_accelerator else "no",
        }
        if part.prefers:
            certificate.facts[part.title]["kernels"] = "preferred (by default they are off)"
    elif part.kind == "kernels":
        limits = {
            f"{kernel.operation}: {name}": reason
            for kernel in _kernels(part.name)
            for name, reason in kernel.limitations.items()
        }
        certificate.limitations[part.title] = limits
        certificate.facts[part.title] = {"kernels": str(len(keys_of(part)))}


def _environment(
    part: Part, quick: bool, limits: Limits, certificate: Certificate
) -> dict[str, str]:
    """Returns the environment variables that a backend or kernels declare for tests.

    A library may know them in some versions only, and end the process in others. So a process tries
    them first.
    """
    if not part.device:
        return {}
    backend = _device_of(part).backend
    declared = dict(backend.quick_environment) if quick else {}
    if part.kind in _ON_ARRAYS:
        for kernel in _kernels(part.name.partition(":")[0]):
            declared.update(kernel.test_environment)
    environment = {name: text for name, text in declared.items() if name not in os.environ}
    if not environment:
        return {}
    text = " ".join(f"{name}={value!r}" for name, value in environment.items())
    facts = certificate.facts.setdefault(part.title, {})
    crash = isolation.crash_of(_TRYING, [part.device], limits.seconds_per_test, environment)
    if crash is not None:
        facts["environment of tests"] = f"not used, {crash[0]} with {text}"
        return {}
    facts["environment of tests"] = text
    return environment


def _declared(part: Part) -> set[str]:
    return keys_of(part) if part.kind in _ON_ARRAYS else set()


def _kernels(provider: str) -> list[KernelDeclaration]:
    every = [registries.kernels.get(name) for name in registries.kernels.names()]
    return [kernel for kernel in every if kernel.provider == provider]

"""The options of the suite, and their values in this run."""

# pyright: basic
from __future__ import annotations

import importlib
from collections.abc import Sequence

import numpy
import pytest

from chainer.core.arrays.backend import get_device, is_array_type
from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel import KernelDeclaration
from chainer.core.registry import registries
from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs import all_specs


def device(config: pytest.Config) -> Device:
    """Returns the device under test.

    Args:
        config: Configuration of pytest.
    """
    name = str(config.getoption("--chainer-backend"))
    try:
        return get_device("@" + name.removeprefix("@"))
    except (ValueError, RuntimeError) as error:
        raise pytest.UsageError(f"--chainer-backend={name}: {error}") from error


def specs(config: pytest.Config) -> tuple[OpSpec, ...]:
    """Returns the rows to test.

    Args:
        config: Configuration of pytest.
    """
    place: str | None = config.getoption("--chainer-specs")
    return all_specs() if place is None else table(place)


def table(place: str) -> tuple[OpSpec, ...]:
    """Returns a table of rows.

    Args:
        place: The table, as ``'module:attribute'``.

    Raises:
        pytest.UsageError: If there is no such table.
    """
    module, _, attribute = place.partition(":")
    try:
        return tuple(getattr(importlib.import_module(module), attribute or "SPECS"))
    except (ImportError, AttributeError) as error:
        raise pytest.UsageError(f"--chainer-specs={place}: {error}") from error


def quick(config: pytest.Config) -> bool:
    """Tells whether the run is quick: see :data:`LEFT_OUT`.

    Args:
        config: Configuration of pytest.
    """
    return bool(config.getoption("--chainer-quick"))


def dtypes(spec: OpSpec, config: pytest.Config) -> tuple[str, ...]:
    """Returns the dtypes to test a row with.

    Args:
        spec: The row.
        config: Configuration of pytest.
    """
    if not quick(config):
        return spec.dtypes
    return ("float32",) if "float32" in spec.dtypes else spec.dtypes[:1]


#: The quick form takes so many samples of a function where it does not take every sample.
_SAMPLES_OF_QUICK = 3

#: Tests that take every sample of contiguous arrays, also in the quick form.
_EVERY_SAMPLE = ("test_forward", "test_backward")

#: What the quick form leaves out, for reports.
LEFT_OUT = (
    "operations in other dtypes than float32, forward mode and transforms in float64; more than "
    f"{_SAMPLES_OF_QUICK} samples of a function for gradients of gradients and for empty and "
    "zero-dimensional arrays; more than one sample for each layout of strided arrays; batches of "
    "more than its first sample"
)


def cases(
    found: Sequence[Sample], test: str, layout: str, dtype: str, config: pytest.Config
) -> list[tuple[Sample, int]]:
    """Returns the samples of a function that a test takes, each with the variant of its layout.

    In the quick form outputs and gradients of contiguous arrays take every sample. Other tests take
    few samples, spread evenly from the first one to the last one, and strided arrays have another
    sample in each layout. A library that compiles each operation for each shape takes seconds for a
    sample.

    Args:
        found: The samples that are of the kind of the layout.
        test: Name of the test.
        layout: Name of the layout.
        dtype: Name of the dtype.
        config: Configuration of pytest.
    """
    # All arrays in the order of Fortran: it is the same for every dtype.
    variants = (0,) if layout != "strided" else (1, 2, 3) if dtype == "float32" else (1, 2)
    if not quick(config):
        return [(sample, variant) for sample in found for variant in variants]
    most = _SAMPLES_OF_QUICK
    is_whole = test in _EVERY_SAMPLE and layout == "contiguous"
    if not is_whole and len(found) > most:
        found = [found[i * (len(found) - 1) // (most - 1)] for i in range(most)]
    if layout == "strided":
        return [(found[i % len(found)], variant) for i, variant in enumerate(variants)]
    return [(sample, 0) for sample in found]


def check_provider(config: pytest.Config) -> None:
    """Raises unless the provider to prefer has kernels for the arrays under test.

    Args:
        config: Configuration of pytest.
    """
    provider: str | None = config.getoption("--chainer-provider")
    if provider is None:
        return
    if not _kernels_of(provider):
        everyone = {registries.kernels.get(name).provider for name in registries.kernels.names()}
        known = ", ".join(sorted(everyone)) or "none"
        raise pytest.UsageError(f"--chainer-provider={provider}: no such provider; known: {known}")
    if not kernels(config):
        raise pytest.UsageError(
            f"--chainer-provider={provider}: it has no kernel for arrays of "
            f"{_array_type(device(config))}"
        )


def kernels(config: pytest.Config) -> list[str]:
    """Returns the keys of the kernels under test.

    They are those that the provider (or else the backend itself) declares for arrays of the device.

    Args:
        config: Configuration of pytest.
    """
    place = device(config)
    array_type = _array_type(place)
    provider: str = config.getoption("--chainer-provider") or place.backend.name
    return [
        kernel.key
        for kernel in _kernels_of(provider)
        if is_array_type(kernel.array_type, array_type)
    ]


def _array_type(place: Device) -> type:
    return type(place.send(numpy.zeros(1, numpy.float32)))


def _kernels_of(provider: str) -> list[KernelDeclaration]:
    registries.kernels.load_all()
    declared = [registries.kernels.get(name) for name in registries.kernels.names()]
    return [kernel for kernel in declared if kernel.provider == provider]

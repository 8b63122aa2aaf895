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


#: Tests of contiguous arrays for which the quick form takes the most samples.
_MOST_SAMPLES = ("test_forward", "test_backward")


def _samples_of_quick(test: str, layout: str, place: Device) -> int | None:
    """Returns how many samples of a function a test takes in the quick form; None for every one."""
    has_most = test in _MOST_SAMPLES and layout == "contiguous"
    if place.backend.compiles_each_shape:
        return 2 if has_most else 1
    return None if has_most else 3


def left_out(place: Device) -> str:
    """Returns what the quick form leaves out, for reports.

    Args:
        place: The device under test.
    """
    dtypes = "operations in other dtypes than float32, forward mode and transforms in float64; "
    batches = "; batches of more than its first sample"
    if place.backend.compiles_each_shape:
        most = _samples_of_quick("test_forward", "contiguous", place)
        return (
            f"{dtypes}more than {most} samples of a function, and more than one for gradients of "
            "gradients, for empty and zero-dimensional arrays, and for strided arrays, which have "
            f"one layout{batches}"
        )
    most = _samples_of_quick("test_double_backward", "contiguous", place)
    return (
        f"{dtypes}more than {most} samples of a function for gradients of gradients and for empty "
        "and zero-dimensional arrays; more than one sample for each layout of strided arrays"
        f"{batches}"
    )


def cases(
    found: Sequence[Sample], test: str, layout: str, dtype: str, place: Device, *, is_quick: bool
) -> list[tuple[Sample, int]]:
    """Returns the samples of a function that a test takes, each with the variant of its layout.

    In the quick form outputs and gradients of contiguous arrays take every sample. Other tests take
    few samples, spread evenly from the first one to the last one, and strided arrays have another
    sample in each layout. A library that compiles each operation for each shape takes seconds for a
    sample. If the backend says so (``compiles_each_shape``), all tests take fewer samples, and
    strided arrays have one layout.

    Args:
        found: The samples that are of the kind of the layout.
        test: Name of the test.
        layout: Name of the layout.
        dtype: Name of the dtype.
        place: The device under test.
        is_quick: Whether the run is quick.
    """
    # All arrays in the order of Fortran: it is the same for every dtype.
    variants = (0,) if layout != "strided" else (1, 2, 3) if dtype == "float32" else (1, 2)
    if not is_quick:
        return [(sample, variant) for sample in found for variant in variants]
    most = _samples_of_quick(test, layout, place)
    if most is not None and len(found) > most:
        found = [found[i * (len(found) - 1) // max(most - 1, 1)] for i in range(most)]
    if layout != "strided":
        return [(sample, 0) for sample in found]
    if most == 1:
        return [(found[0], variants[0])]
    return [(found[i % len(found)], variant) for i, variant in enumerate(variants)]


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

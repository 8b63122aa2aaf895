"""The options of the suite, and their values in this run."""

# pyright: basic
from __future__ import annotations

import importlib

import numpy
import pytest

from chainer.core.arrays.backend import get_device, is_array_type
from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel import KernelDeclaration
from chainer.core.registry import registries
from chainer.testing.op_spec import OpSpec
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
    """Tells whether one dtype is enough.

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

"""Parameters and fixtures of the conformance suite."""

# pyright: basic
from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy
import pytest

from chainer.core import registries
from chainer.core.backend import get_device, is_instance_of_lazy
from chainer.core.configuration import using_config
from chainer.core.device import Device
from chainer.core.kernel import Kernel
from chainer.plugins.testing.conformance import expected_failures, reports
from chainer.plugins.testing.conformance.contract import values
from chainer.plugins.testing.op_spec import OpSpec
from chainer.plugins.testing.specs import all_specs

_HERE = Path(__file__).parent
#: Property of the reports that are about tests of the suite.
_MARK = "chainer-conformance"
_ORDERS = {"test_backward": 1, "test_double_backward": 2}


def _device(config: pytest.Config) -> Device:
    name = str(config.getoption("--chainer-backend"))
    try:
        return get_device("@" + name.removeprefix("@"))
    except (ValueError, RuntimeError) as error:
        raise pytest.UsageError(f"--chainer-backend={name}: {error}") from error


def _specs(config: pytest.Config) -> tuple[OpSpec, ...]:
    place: str | None = config.getoption("--chainer-specs")
    if place is None:
        return all_specs()
    module, _, attribute = place.partition(":")
    try:
        return tuple(getattr(importlib.import_module(module), attribute or "SPECS"))
    except (ImportError, AttributeError) as error:
        raise pytest.UsageError(f"--chainer-specs={place}: {error}") from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test of each row, dtype and layout."""
    if "spec" not in metafunc.fixturenames:
        return
    specs = _specs(metafunc.config)
    if "layout" not in metafunc.fixturenames:
        rows = [spec for spec in specs if spec.errors is not None]
        metafunc.parametrize("spec", rows, ids=[spec.name for spec in rows])
        return
    order = _ORDERS.get(metafunc.function.__name__, 0)
    parameters = [
        pytest.param(spec, dtype, layout, id=f"{spec.name}-{dtype}-{layout}")
        for spec in specs
        if spec.gradient_order >= order
        for layout in _layouts(spec)
        for dtype in _dtypes(spec, metafunc.config)
    ]
    metafunc.parametrize(("spec", "dtype", "layout"), parameters)


def _dtypes(spec: OpSpec, config: pytest.Config) -> tuple[str, ...]:
    if not config.getoption("--chainer-quick"):
        return spec.dtypes
    return ("float32",) if "float32" in spec.dtypes else spec.dtypes[:1]


def _layouts(spec: OpSpec) -> list[str]:
    kinds = {sample.kind for sample in spec.samples(spec.draw())}
    layouts = ["contiguous", "strided"] if "regular" in kinds else []
    return layouts + [kind for kind in ("empty", "zero-dim") if kind in kinds]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuses a provider without kernels, and marks the expected failures."""
    _check_provider(config)
    ours = [item for item in items if item.path.parent == _HERE]
    for item in ours:
        item.user_properties.append((_MARK, True))
    path: str | None = config.getoption("--chainer-xfail")
    if path is None:
        return
    collected = {item.name.partition("[")[0] for item in ours}
    try:
        failures = expected_failures.read(path)
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"--chainer-xfail: {error}") from error
    for failure in failures:
        fitting = [item for item in ours if failure.fits(item.name)]
        for item in fitting:
            item.add_marker(pytest.mark.xfail(reason=failure.reason, strict=True))
        # Only a complete collection can tell that a line is stale.
        if not fitting and {"test_forward", "test_refuses"} <= collected:
            raise pytest.UsageError(f"{failure.place}: no test fits {failure.pattern!r}")


def _check_provider(config: pytest.Config) -> None:
    provider: str | None = config.getoption("--chainer-provider")
    if provider is None:
        return
    kernels = kernels_of_provider(provider)
    if not kernels:
        registries.kernels.load_all()
        everyone = {registries.kernels.get(name).provider for name in registries.kernels.names()}
        known = ", ".join(sorted(everyone)) or "none"
        raise pytest.UsageError(f"--chainer-provider={provider}: no such provider; known: {known}")
    array_type = _array_type(_device(config))
    if not any(is_instance_of_lazy(kernel.array_type, array_type) for kernel in kernels):
        raise pytest.UsageError(
            f"--chainer-provider={provider}: it has no kernel for arrays of {array_type}"
        )


def _array_type(device: Device) -> type:
    return type(device.send(numpy.zeros(1, numpy.float32)))


def kernels_of_provider(provider: str) -> list[Kernel]:
    """Returns the kernels a provider declares.

    Args:
        provider: Name of the provider.
    """
    registries.kernels.load_all()
    kernels = [registries.kernels.get(name) for name in registries.kernels.names()]
    return [kernel for kernel in kernels if kernel.provider == provider]


@pytest.fixture(scope="module")
def device(pytestconfig: pytest.Config) -> Device:
    """The device under test."""
    return _device(pytestconfig)


@pytest.fixture(scope="module")
def backend(device: Device):
    """The backend under test."""
    return device.backend


@pytest.fixture
def xp(backend):
    """Array namespace of the backend under test."""
    return backend.xp


@pytest.fixture
def array(device: Device):
    """An array on the device under test: 0, 1, 2, ... of shape (2, 3) and dtype float32."""
    return device.send(values())


@pytest.fixture(autouse=True)
def _provider(pytestconfig: pytest.Config):
    """Prefers the kernels of the provider under test."""
    provider: str | None = pytestconfig.getoption("--chainer-provider")
    if provider is None:
        yield
    elif provider in ("cudnn", "ideep"):
        with using_config(f"use_{provider}", "always"):
            yield
    else:
        with using_config("kernels", (provider,)):
            yield


# -- the summary at the end -----------------------------------------------------------------------


class _Results:
    """Collects the results of the suite; the kernels that were chosen, too, from all processes."""

    def __init__(self, config: pytest.Config) -> None:
        self.tally = reports.Tally()
        self.chosen: set[str] = set()
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (_MARK, True) in map(tuple, report.user_properties):  # lists when they come from xdist
            self.tally.add(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # of pytest-xdist
        self.chosen.update(node.workeroutput.get("chainer_kernels", ()))

    def pytest_sessionfinish(self) -> None:
        chosen = reports.chosen_kernels()
        output: Any = getattr(self._config, "workeroutput", None)
        if output is None:
            self.chosen.update(chosen)
        else:
            output["chainer_kernels"] = chosen

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.tally.count:
            return
        config = self._config
        device = _device(config)
        provider: str | None = config.getoption("--chainer-provider")
        array_type = _array_type(device)
        kernels = [
            kernel.key
            for kernel in kernels_of_provider(provider or device.backend.name)
            if is_instance_of_lazy(kernel.array_type, array_type)
        ]
        report = reports.Report(device, provider, self.tally, kernels, self.chosen)
        terminalreporter.section(report.title)
        terminalreporter.write_line(report.markdown())
        path: str | None = config.getoption("--chainer-report")
        if path is not None:
            report.write(path)
            terminalreporter.write_line(f"written to {path}")


def pytest_configure(config: pytest.Config) -> None:
    """Collects results from now on."""
    config.pluginmanager.register(_Results(config), "chainer-conformance")

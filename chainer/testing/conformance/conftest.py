"""Parameters and fixtures of the conformance suite."""

# pyright: basic
from __future__ import annotations

from pathlib import Path

import pytest

from chainer.core.arrays.device import Device
from chainer.core.config.configuration import global_config, threads
from chainer.testing.conformance import options, refusals, results, served
from chainer.testing.conformance.contract import values
from chainer.testing.op_spec import OpSpec

_HERE = Path(__file__).parent
_ORDERS = {"test_backward": 1, "test_double_backward": 2, "test_transforms": 2}


def pytest_configure(config: pytest.Config) -> None:
    """Collects results, unless the plugin does so already."""
    results.collect(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test of each row, dtype and layout."""
    if "spec" not in metafunc.fixturenames:
        return
    specs = options.specs(metafunc.config)
    if "layout" not in metafunc.fixturenames:
        rows = [spec for spec in specs if spec.errors is not None]
        metafunc.parametrize("spec", rows, ids=[spec.name for spec in rows])
        return
    name = metafunc.function.__name__
    order = _ORDERS.get(name, 0)
    parameters = [
        pytest.param(spec, dtype, layout, id=f"{spec.name}-{dtype}-{layout}")
        for spec in specs
        if spec.gradient_order >= order
        for layout in _layouts(spec)
        for dtype in options.dtypes(spec, metafunc.config)
        if _is_run(name, dtype, layout)
    ]
    metafunc.parametrize(("spec", "dtype", "layout"), parameters)


def _is_run(name: str, dtype: str, layout: str) -> bool:
    """Returns whether a test runs in a dtype and layout.

    Transforms consist of functions that are tested in each dtype and layout themselves.
    """
    if name == "test_batching":
        return layout == "contiguous" or (layout != "strided" and dtype == "float64")
    if name in ("test_forward_mode", "test_transforms"):
        return layout != "strided" and dtype == "float64"
    return True


def _layouts(spec: OpSpec) -> list[str]:
    kinds = {sample.kind for sample in spec.samples(spec.draw())}
    layouts = ["contiguous", "strided"] if "regular" in kinds else []
    return layouts + [kind for kind in ("empty", "zero-dim") if kind in kinds]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuses a provider without kernels, and marks the refusals that are declared."""
    options.check_provider(config)
    ours = [item for item in items if item.path.parent == _HERE]
    for item in ours:
        item.user_properties.append(results.MARK)
    if ours:
        backend = options.device(config).backend
        refusals.check_names(backend, options.specs(config))
        refusals.expect(ours, backend)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Names the kernels that served the calls of a test that failed."""
    report = yield
    if report.failed and item.path.parent == _HERE:
        chosen = ", ".join(kernel.key for kernel in served.kernels())
        if chosen:
            report.sections.append(("kernels that served a call", chosen))
    return report


@pytest.fixture(scope="module")
def device(pytestconfig: pytest.Config) -> Device:
    """The device under test."""
    return options.device(pytestconfig)


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
    """An array on the device under test: 0, 1, 2, ... of shape (2, 3) and dtype float32.

    The device is current meanwhile: array libraries compute on the current device.
    """
    with device:
        yield device.send(values())


@pytest.fixture(autouse=True)
def _provider(pytestconfig: pytest.Config):
    """Prefers the kernels of the provider under test."""
    provider: str | None = pytestconfig.getoption("--chainer-provider")
    if provider is None:
        yield
        return
    # Providers that existed in earlier releases have a configuration entry of their own.
    switch = threads.state.policy.switch_of(provider)
    name, value = ("kernels", (provider,)) if switch is None else (switch, "always")
    # For all threads: some tests start others.
    before = getattr(global_config, name)
    setattr(global_config, name, value)
    yield
    setattr(global_config, name, before)


@pytest.fixture(autouse=True)
def _served():
    """Notes which kernels serve the calls of the test."""
    with served.observed():
        yield

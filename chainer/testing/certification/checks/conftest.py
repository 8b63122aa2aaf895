"""The package under test."""

# pyright: basic
from __future__ import annotations

import pytest

from chainer import plugins
from chainer.core.registry import registries
from chainer.plugins.records import PluginRecord

_KEY = pytest.StashKey[PluginRecord]()


def _record(config: pytest.Config) -> PluginRecord:
    if _KEY not in config.stash:
        for registry in registries.ALL.values():
            registry.load_all()
        name: str | None = config.getoption("--chainer-package")
        found = [record for record in plugins.records() if name and record.matches(name)]
        if not found:
            raise pytest.UsageError(f"--chainer-package={name}: no such plugin")
        config.stash[_KEY] = found[0]
    return config.stash[_KEY]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test of each name that the package registers."""
    for argument in ("registered", "registered_optimizer"):
        if argument not in metafunc.fixturenames:
            continue
        pairs = _record(metafunc.config).entries
        if argument == "registered_optimizer":
            pairs = [pair for pair in pairs if pair[0].kind == "optimizers"]
        ids = [f"{registry.kind}:{entry.name}" for registry, entry in pairs]
        metafunc.parametrize(argument, pairs, ids=ids)


@pytest.fixture
def record(pytestconfig: pytest.Config) -> PluginRecord:
    """The record of the plugin."""
    return _record(pytestconfig)

"""Every test leaves the configuration as it found it."""

import pytest

import chainer
from chainer.plugins.testing import pytest_plugin


def pytest_addoption(parser, pluginmanager):
    """Adds options and markers where Chainer is on the path without being installed."""
    if not pluginmanager.has_plugin("chainer"):
        pluginmanager.register(pytest_plugin, "chainer")


@pytest.fixture(autouse=True)
def restored_configuration():
    """Takes back what a test set in ``chainer.config`` or ``chainer.global_config`` for good."""
    local = dict(chainer.config._threads.state.values)
    shared = chainer.global_config._entries()
    yield
    for name in set(chainer.config._threads.state.values) - set(local):
        delattr(chainer.config, name)
    for name, value in local.items():
        setattr(chainer.config, name, value)
    for name in set(chainer.global_config._entries()) - set(shared):
        delattr(chainer.global_config, name)
    for name, value in shared.items():
        if chainer.global_config.__dict__[name] is not value:
            setattr(chainer.global_config, name, value)

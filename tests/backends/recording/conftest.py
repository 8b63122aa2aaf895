"""Plugins of third parties, whose kernels captured steps use."""

import pytest

import chainer


@pytest.fixture
def accelerated():
    """Lets the recorder rewrite steps; providers that are installed serve, too."""
    with chainer.using_config("accelerate", "auto"):
        yield


@pytest.fixture
def provider(request):
    """Installs the class ``Plugin`` of the module, whose kernels are of the provider ``tiles``.

    The list ``made`` of the module, to which the kernels add, is empty when a test begins.
    """
    request.module.made.clear()
    plugin = request.module.Plugin()
    chainer.plugins.register(plugin)
    with chainer.using_config("kernels", ("tiles",)):
        yield
    chainer.plugins.unregister(plugin)

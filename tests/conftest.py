"""Every test draws the same random numbers each time and leaves the configuration alone."""

import gc
import importlib.util
import random
import signal
import sys
import warnings
import zlib

import numpy
import pytest

import chainer
from chainer.core.config.configuration import _entries_of
from chainer.testing import pytest_plugin
from tests import sampling


def pytest_addoption(parser, pluginmanager):
    """Adds options and markers where Chainer is on the path without being installed."""
    if not pluginmanager.has_plugin("chainer"):
        pluginmanager.register(pytest_plugin, "chainer")
    parser.addoption(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="run one test in N, always the same ones (make coverage)",
    )
    parser.addoption(
        "--all-combinations",
        action="store_true",
        help="run all combinations of parameters of tests that are marked sampled",
    )


@pytest.hookimpl(trylast=True)  # when all parameters are known
def pytest_generate_tests(metafunc):
    """Keeps the combinations that the marker ``sampled`` asks for."""
    sampling.keep_sample(metafunc)


def pytest_collection_modifyitems(config, items):
    """Keeps the sample that ``--sample`` asks for."""
    every = config.getoption("--sample")
    left_out = [item for item in items if zlib.crc32(item.nodeid.encode()) % every]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not zlib.crc32(item.nodeid.encode()) % every]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keeps the collected tests away from the garbage collector.

    A collection that walks over the objects of 60,000 tests takes a second. Tests of memory start
    hundreds of collections, and Python starts others.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)  # after the fixtures of the module
def pytest_runtest_teardown(item, nextitem):
    """Keeps what the tests of a module leave away from the garbage collector, too.

    Modules that tests import and the caches that they fill are millions of objects in the end, and
    a collection would take seconds. Garbage is collected before.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_configure(config):
    """Makes Ctrl-C work, and imports CuPy before warnings become errors: some are about its code.

    A shell starts programs in the background with Ctrl-C ignored. Tests of Ctrl-C failed there.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if importlib.util.find_spec("cupy") is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chainer.backends.cuda.available


@pytest.fixture(autouse=True)
def repeatable_randomness(request):
    """Seeds the global generators by the name of the test: what fails once, fails again."""
    seed = zlib.crc32(request.node.nodeid.encode())
    random.seed(seed)
    numpy.random.seed(seed)
    # chainer.utils.seed() would load all backends, which some tests check to be unloaded.
    strict = sys.modules.get("chainer_strict_backend.namespace")
    if strict is not None:
        strict.random.seed(seed)


@pytest.fixture(autouse=True)
def restored_configuration():
    """Undoes the changes of a test to ``chainer.config`` and ``chainer.global_config``."""
    local = dict(chainer.config._threads.state.values)
    shared = _entries_of(chainer.global_config)
    yield
    for name in set(chainer.config._threads.state.values) - set(local):
        delattr(chainer.config, name)
    for name, value in local.items():
        setattr(chainer.config, name, value)
    for name in set(_entries_of(chainer.global_config)) - set(shared):
        delattr(chainer.global_config, name)
    for name, value in shared.items():
        if chainer.global_config.__dict__[name] is not value:
            setattr(chainer.global_config, name, value)

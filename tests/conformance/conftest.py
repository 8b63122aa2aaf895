"""The conformance suite as part of our own tests: each module here runs it on one device.

A module with ``QUICK = True`` runs the quick form, as the option ``--chainer-quick`` does.
"""

import pytest

from chainer.testing.conformance import conftest as suite
from chainer.testing.conformance.conftest import _provider, array, backend, xp  # noqa: F401


def pytest_generate_tests(metafunc):
    with pytest.MonkeyPatch.context() as patch:
        if getattr(metafunc.module, "QUICK", False):
            patch.setattr(metafunc.config.option, "chainer_quick", True)
        suite.pytest_generate_tests(metafunc)


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items):
    # A minute of processor time each: on NumPy in every run, on other arrays by -m slow.
    for item in items:
        name = getattr(item, "originalname", "")
        if name == "test_transforms" and item.module.__name__.endswith("test_strict"):
            item.add_marker(pytest.mark.slow)

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

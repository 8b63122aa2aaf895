import sys
import types
from unittest import mock

import pytest

import chainer
from chainer.core.utils.installed import is_installed


def test_packages():
    assert is_installed("numpy")
    assert not is_installed("a_package_that_nobody_has")


@pytest.mark.parametrize("stand_in", [types.ModuleType("cupy"), mock.MagicMock()])
def test_mocks_are_not_the_package(monkeypatch, stand_in):
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    assert not is_installed("cupy")
    chainer.utils.seed(0)  # asks all backends

"""Test cases of functions and links, under the module name of earlier releases."""

from __future__ import annotations

from chainer.testing.errors import FunctionTestError, LinkTestError
from chainer.testing.function_case import FunctionTestBase, FunctionTestCase
from chainer.testing.initializer_argument import InitializerArgument
from chainer.testing.link_case import LinkTestCase
from chainer.testing.link_initializers_case import LinkInitializersTestCase

__all__ = [
    "FunctionTestBase",
    "FunctionTestCase",
    "FunctionTestError",
    "InitializerArgument",
    "LinkInitializersTestCase",
    "LinkTestCase",
    "LinkTestError",
]

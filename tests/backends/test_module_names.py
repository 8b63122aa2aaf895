"""Kernels of an operation are in a module of the same name in every provider."""

from __future__ import annotations

import pkgutil

import pytest

from chainer.backends import operations
from chainer.backends.cupy import kernels as cupy_kernels
from chainer.backends.cupy.cudnn import kernels as cudnn_kernels
from chainer.backends.ideep import kernels as ideep_kernels
from chainer.backends.numpy import kernels as numpy_kernels
from chainer.core.arrays.kernel import get_operation

PROVIDERS = [numpy_kernels, ideep_kernels, cupy_kernels, cudnn_kernels]
MODULE_OF = {name: module for module, names in operations.MODULES.items() for name in names}


def modules_of(package):
    """Names of the modules of a package but for helpers, whose names begin with an underscore."""
    found = {module.name for module in pkgutil.iter_modules(package.__path__)}
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("package", PROVIDERS, ids=lambda package: package.__name__)
def test_modules_are_named_like_those_of_the_operations(package):
    modules = modules_of(package)
    assert modules
    assert modules <= set(operations.MODULES)


def test_every_module_of_operations_is_in_the_table():
    assert modules_of(operations) == set(operations.MODULES)


@pytest.mark.parametrize("name", sorted(MODULE_OF))
def test_reference_is_in_the_module_of_the_operation(name):
    module = get_operation(name).reference.partition(":")[0]
    assert module == f"{numpy_kernels.__name__}.{MODULE_OF[name]}"


@pytest.mark.parametrize("package", PROVIDERS[1:], ids=lambda package: package.__name__)
def test_kernel_is_in_the_module_of_its_operation(package):
    for kernel in package.declarations():
        module = kernel.load.partition(":")[0]
        assert module == f"{package.__name__}.{MODULE_OF[kernel.operation]}"

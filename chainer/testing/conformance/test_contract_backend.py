"""The contract of backends: names, availability, which backend an array belongs to."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from chainer.core.arrays.backend import (
    Backend,
    backend_of,
    find_backend,
    get_array_module,
    get_backend,
    get_device,
    get_device_from_array,
    is_array,
)
from chainer.core.autograd.variable import Variable
from chainer.testing.conformance.contract import assert_equal, assert_on_device, values


def test_is_a_backend(backend):
    assert isinstance(backend, Backend)


def test_has_a_name_that_works_in_specifiers(backend):
    assert isinstance(backend.name, str)
    assert backend.name.isidentifier()


def test_is_registered_under_its_name(backend):
    assert get_backend(backend.name) is backend


def test_is_available(backend):
    assert backend.unavailable_reason() is None


def test_says_why_it_is_not_available(backend, monkeypatch):
    monkeypatch.setattr(type(backend), "unavailable_reason", lambda self: "the driver is missing")
    with pytest.raises(RuntimeError, match=r"'@\w+' is not available: the driver is missing"):
        get_device(f"@{backend.name}")


def test_tells_the_version_of_its_library(backend):
    assert isinstance(backend.version(), str)
    assert backend.version()


def test_has_a_family(backend):
    assert isinstance(backend.family, str)
    assert backend.family


def test_tells_whether_it_is_an_accelerator(backend):
    assert isinstance(backend.is_accelerator, bool)


def test_array_types_are_classes_or_lazy_names(backend):
    assert backend.array_types
    for entry in backend.array_types:
        assert isinstance(entry, type) or (isinstance(entry, str) and ":" in entry)


def test_array_namespace_is_a_module(backend):
    assert isinstance(backend.xp, ModuleType)
    assert backend.xp is backend.xp


def test_has_a_text(backend):
    assert backend.name in repr(backend)


def test_plain_backend_is_of_the_family(backend):
    plain = backend.xp_backend
    assert isinstance(plain, Backend)
    assert plain.family == backend.family
    assert plain.xp is backend.xp
    assert plain.xp_backend is plain
    assert plain.makes_xp_arrays
    if plain is not backend:
        assert not backend.makes_xp_arrays, "to_xp() must return arrays of xp_backend"


def test_is_found_in_a_new_process(backend):
    # Through its entry point alone, not because something here imported it.
    code = f"import chainer; print(chainer.get_device('@{backend.name}').backend.name)"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [backend.name]


# -- which backend an array belongs to ------------------------------------------------------------


def test_arrays_are_recognised(backend, array):
    assert is_array(array)
    assert find_backend(type(array)) is backend
    assert backend_of(array) is backend


def test_array_module(backend, array):
    assert get_array_module(array) is backend.xp
    assert get_array_module(None, 1.0, Variable(array)) is backend.xp
    assert get_array_module(values(), array) is backend.xp


def test_device_of_an_array(backend, device, array):
    assert backend.device_of(array) == device
    assert get_device_from_array(array) == device
    assert get_device_from_array(None, Variable(array)) == device


def test_asarray_of_scalars(backend, device):
    with device:
        scalar = backend.asarray(2.5, "float32")
        integers = backend.asarray([1, 2], "int32")
    assert_on_device(scalar, device)
    assert scalar.shape == ()
    assert scalar.dtype == np.float32
    assert float(scalar) == 2.5
    assert_equal(integers, [1, 2])


def test_asarray_of_arrays_does_not_copy(backend, array):
    same = backend.asarray(array)
    if backend.makes_xp_arrays:
        assert same is array
    same[0, 0] = 100
    assert_equal(array[0, 0], 100)


def test_plain_arrays_are_those_of_the_namespace(backend, device, array):
    plain = backend.to_xp(array)
    assert_equal(plain, values())
    assert backend_of(plain) is backend.xp_backend
    assert_on_device(plain, device)
    assert backend.to_xp(plain) is plain
    if backend.makes_xp_arrays:
        assert plain is array


def test_plain_views_share_memory(backend, array):
    backend.xp_view(array)[0, 1] = 50
    assert_equal(array[0, 1], 50)


def test_adopted_arrays_are_adopted_once(backend, device, array):
    adopted = backend.wrap(array)
    assert backend.wrap(adopted) is adopted
    assert_on_device(adopted, device)
    assert_equal(adopted, values())
    assert type(Variable(array).array) is type(adopted)


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="expected"):
        backend_of("text")

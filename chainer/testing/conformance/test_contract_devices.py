"""The contract of devices: specifiers, the current device, memory."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import copy
import pickle
import threading

import pytest

from chainer.core.arrays.backend import get_device, using_device
from chainer.core.arrays.device import Device
from chainer.testing.conformance.contract import assert_on_device, values


def test_has_at_least_one_device(backend):
    devices = backend.devices()
    assert devices
    assert all(isinstance(entry, Device) and entry.backend is backend for entry in devices)


def test_devices_are_distinct(backend):
    devices = backend.devices()
    assert len(set(devices)) == len(devices)
    assert len({str(entry) for entry in devices}) == len(devices)


def test_device_under_test_is_listed(backend, device):
    assert device in backend.devices()


def test_specifier_leads_back_to_the_device(backend):
    for entry in backend.devices():
        assert get_device(entry.name) == entry
        assert get_device(str(entry)) == entry
        assert get_device(entry) is entry
        assert hash(get_device(entry.name)) == hash(entry)


def test_specifier_without_index_is_a_device_of_the_backend(backend):
    assert get_device(f"@{backend.name}") in backend.devices()


def test_devices_by_index(backend):
    for entry in backend.devices():
        assert backend.device(entry.index) == entry
    assert backend.device() in backend.devices()


def test_missing_device_is_refused(backend):
    with pytest.raises(ValueError, match="999"):
        backend.device(999)


def test_device_knows_the_array_namespace(backend, device):
    assert device.xp is backend.xp
    assert device.is_array_supported(device.send(values()))


def test_devices_are_pickled_and_copied(device):
    assert pickle.loads(pickle.dumps(device)) == device
    assert copy.deepcopy(device) == device


def test_device_becomes_current_and_is_given_back(backend):
    before = backend.device()
    for entry in backend.devices():
        with using_device(entry):
            assert backend.device() == entry
        assert backend.device() == before


def test_devices_nest(backend):
    first, last = backend.devices()[0], backend.devices()[-1]
    before = backend.device()
    with first:
        with last, last:
            assert backend.device() == last
        assert backend.device() == first
    assert backend.device() == before


def test_device_is_given_back_after_an_error(backend):
    before = backend.device()
    with pytest.raises(KeyError), backend.devices()[-1]:
        raise KeyError
    assert backend.device() == before


def test_device_becomes_current_for_good(backend):
    before = backend.device()
    try:
        for entry in backend.devices():
            entry.use()
            assert backend.device() == entry
    finally:
        before.use()
    assert backend.device() == before


def test_current_device_is_that_of_the_thread(backend):
    before = backend.device()
    seen = []

    def elsewhere():
        with backend.devices()[-1]:
            seen.append(backend.device())

    with backend.devices()[0]:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert backend.device() == backend.devices()[0]
    assert seen == [backend.devices()[-1]]
    assert backend.device() == before


def test_creation_functions_use_the_current_device(backend):
    for entry in backend.devices():
        with entry:
            assert_on_device(backend.xp.zeros((2,), "float32"), entry)


def test_synchronises(backend, device):
    device.send(values())
    assert backend.synchronize(device) is None

"""A pytest plugin that puts a fault into the strict backend, the one that ``FAULT`` names.

Which test of the contract finds it is in ``FINDS``.
"""

import os

FINDS = {
    "dtype": "test_arrays_survive_the_way_there_and_back",
    "device_of": "test_device_of_an_array",
    "use": "test_device_becomes_current_and_is_given_back",
    "copy": "test_copies_are_independent",
    "family": "test_host_arrays_are_not_mixed_in",
    "seed": "test_random_numbers_are_repeatable",
    "asarray": "test_asarray_of_arrays_does_not_copy",
    "devices": "test_missing_device_is_refused",
    "name": "test_has_a_name_that_works_in_specifiers",
    "version": "test_tells_the_version_of_its_library",
    "plain": "test_plain_arrays_are_those_of_the_namespace",
}


def pytest_configure(config):
    import numpy as np
    from chainer_strict_backend import current
    from chainer_strict_backend.backend import StrictBackend

    from chainer.core.arrays.device import Device

    fault = os.environ["FAULT"]
    original = {name: getattr(StrictBackend, name) for name in dir(StrictBackend)}

    def narrow(self, array, device):
        return original["from_host"](self, array.astype(np.float32), device)

    class Stays:
        def __init__(self, device):
            current.use(device.index or 0)

        def __enter__(self):
            return self

        def __exit__(self, *args):
            pass

    class Unseeded:
        def __init__(self, random):
            self._random = random

        def seed(self, seed):
            pass

        def __getattr__(self, name):
            return getattr(self._random, name)

    changes = {
        "dtype": {"from_host": narrow},
        "device_of": {"device_of": lambda self, array: Device(self, 0)},
        "use": {"use": lambda self, device: Stays(device)},
        "copy": {"copy": lambda self, array, device: array},
        "family": {"family": "host"},
        "seed": {"random": lambda self, device: Unseeded(self.xp.random)},
        "asarray": {"asarray": lambda self, value, dtype=None: self.xp.array(value, dtype)},
        "devices": {"device": lambda self, index=None: Device(self, index or current.get())},
        "name": {"name": "strict-backend"},
        "version": {"version": lambda self: ""},
        "plain": {"to_xp": lambda self, array: self.to_host(array)},
    }
    for name, value in changes[fault].items():
        setattr(StrictBackend, name, value)

"""A pytest plugin for the strict backend.

It declares the limitations in ``LIMITATIONS``, and refuses the dtypes in ``REFUSED``.
"""

import json
import os


def pytest_configure(config):
    from chainer_strict_backend.backend import StrictBackend

    refused = os.environ.get("REFUSED", "").split()
    from_host = StrictBackend.from_host

    def refusing(self, array, device):
        if str(array.dtype) in refused:
            raise TypeError(f"strict has no {array.dtype}")
        return from_host(self, array, device)

    StrictBackend.from_host = refusing
    StrictBackend.limitations = json.loads(os.environ["LIMITATIONS"])

"""array-api-strict: the standard and nothing else, on NumPy. For tests."""

from __future__ import annotations

from chainer_array_api.backend import ArrayAPIBackend


class StrictArrayAPIBackend(ArrayAPIBackend):
    """Arrays of ``array_api_strict``; the devices are the library's devices with float64."""

    name = "array_api_strict"
    namespace = "array_api_strict"
    native_types = ("array_api_strict:Array",)
    install = "pip install array-api-strict"
    limitations = {
        "float16": "the standard has no float16",
        "strides": "the standard has no strides",
    }


backend = StrictArrayAPIBackend()

"""Serializers, which save and load a hierarchy of objects (``chainer.serializers``).

``MODULES`` is the table of public names: module -> names in it.
"""

from __future__ import annotations

import importlib
import threading

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES = {
    "file_format": ("FileFormatError",),
    "hdf5": ("HDF5Deserializer", "HDF5Serializer", "load_hdf5", "save_hdf5"),
    "npz": ("DictionarySerializer", "NpzDeserializer", "load_npz", "save_npz"),
    "safetensors": ("load_safetensors", "save_safetensors"),
    "safetensors_file": ("SafetensorsFile", "open_safetensors"),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.serializers)

# Programs look these modules up in sys.modules, to replace what is in them. A second thread could
# be importing one of them, and need this package for that: then the imports could stop each other.
if threading.active_count() == 1:
    for _name in ("hdf5", "npz"):
        importlib.import_module(f"chainer.serializers.{_name}")

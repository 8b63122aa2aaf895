# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.links.serializers import (
    file_format as file_format,
    hdf5 as hdf5,
    hdf5_heaps as hdf5_heaps,
    hdf5_superblock as hdf5_superblock,
    npz as npz,
    npz_archive as npz_archive,
    pickled_none as pickled_none,
    positions as positions,
    rollback as rollback,
    safetensors as safetensors,
    safetensors_archive as safetensors_archive,
    safetensors_file as safetensors_file,
    values as values,
)
from chainer.links.serializers.file_format import FileFormatError as FileFormatError
from chainer.links.serializers.hdf5 import (
    HDF5Deserializer as HDF5Deserializer,
    HDF5Serializer as HDF5Serializer,
    load_hdf5 as load_hdf5,
    save_hdf5 as save_hdf5,
)
from chainer.links.serializers.npz import (
    DictionarySerializer as DictionarySerializer,
    NpzDeserializer as NpzDeserializer,
    load_npz as load_npz,
    save_npz as save_npz,
)
from chainer.links.serializers.safetensors import (
    load_safetensors as load_safetensors,
    save_safetensors as save_safetensors,
)
from chainer.links.serializers.safetensors_file import (
    SafetensorsFile as SafetensorsFile,
    open_safetensors as open_safetensors,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...

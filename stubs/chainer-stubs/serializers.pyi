# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.links.serializers import *
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

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...

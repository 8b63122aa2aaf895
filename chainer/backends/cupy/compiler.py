"""Compiles the CUDA sources of this package, each for the types of the arrays of a call."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.cupy import library
from chainer.core.typing import DTypeLike

#: Name of a data type -> name of the type in the sources.
TYPES = {
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
}

#: The types that a source is compiled for: pairs of a name in the source and a type, in order.
Types = tuple[tuple[str, str], ...]


def type_name(dtype: DTypeLike) -> str:
    """Returns the type in the sources for a data type.

    Raises:
        TypeError: If there is none.
    """
    name = numpy.dtype(dtype).name
    if name not in TYPES:
        raise TypeError(f"CUDA kernels have no type for arrays of dtype {name}")
    return TYPES[name]


@cache
def types_for(
    dtype: DTypeLike, arithmetic: DTypeLike = None, wide: bool = False, **others: DTypeLike
) -> Types:
    """Returns the types to compile a source for.

    Args:
        dtype: Data type of the arrays, ``T`` in the sources.
        arithmetic: Data type of the arithmetic, ``A``; chosen by ``dtype`` if None.
        wide: Whether positions in arrays need 64 bits. Arithmetic on 32 bits is twice as fast.
        others: Data types of other arrays, by their name in the source.
    """
    if arithmetic is None:
        arithmetic = compute_dtype(dtype)
    return (
        ("T", type_name(dtype)),
        ("A", type_name(arithmetic)),
        ("Index", "long long" if wide else "int"),
        *[(name, type_name(other)) for name, other in others.items()],
    )


@cache
def read(name: str) -> str:
    """Returns the text of a file in the directory of the sources."""
    return (resources.files("chainer.backends.cupy") / "sources" / name).read_text("utf-8")


def source_code(name: str, types: Types) -> str:
    """Returns a complete source: the types, the shared prelude and the kernels.

    It includes no headers, so that NVRTC compiles it without an installation of CUDA.

    Args:
        name: File name of the source.
        types: Result of :func:`types_for`.
    """
    # The prelude defines the 16-bit types, which the other types may be, and its functions need
    # Index.
    before = [f"typedef {value} {key};" for key, value in types if key == "Index"]
    after = [f"typedef {value} {key};" for key, value in types if key != "Index"]
    return "\n".join([*before, read("prelude.cuh"), *after, read(name)])


@cache
def load(name: str, types: Types) -> Any:
    """Returns the compiled module of a source; its method ``get_function`` gives kernels.

    CuPy compiles at the first call on each kind of device, and caches the result on the disk.
    """
    return library.require().RawModule(code=source_code(name, types), options=("-std=c++17",))

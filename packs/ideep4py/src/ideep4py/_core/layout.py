"""Memory layouts: oneDNN memory descriptors as interned, hashable Python objects.

Two arrays have the same layout exactly when their ``Layout`` is the same object, so that layouts
can be compared by identity and used in cache keys at no cost. Interning compares with
``dnnl_memory_desc_equal``: names and strides alone do not tell two blocked layouts apart.
"""

from __future__ import annotations

import functools
import math
import threading
import weakref
from typing import Any

import numpy as np

from ideep4py._core import constants as C
from ideep4py._core.errors import check
from ideep4py._core.library import NULL, ffi, lib

# bfloat16 is missing: numpy_dtype() adds it once a program needs the package that supplies it.
_DTYPES: dict[int, np.dtype[Any]] = {
    C.F16: np.dtype(np.float16),
    C.F32: np.dtype(np.float32),
    C.F64: np.dtype(np.float64),
    C.S32: np.dtype(np.int32),
    C.S8: np.dtype(np.int8),
    C.U8: np.dtype(np.uint8),
}
_TYPES: dict[str, int] = {
    "float16": C.F16,
    "bfloat16": C.BF16,
    "float32": C.F32,
    "float64": C.F64,
    "int32": C.S32,
    "int8": C.S8,
    "uint8": C.U8,
}
_BY_DTYPE: dict[Any, int] = {np.dtype(name): n for name, n in _TYPES.items() if n != C.BF16}


def dnnl_type(dtype: Any) -> int | None:
    """The oneDNN data type of a NumPy dtype (or of its name), or None."""
    try:
        return _BY_DTYPE[dtype]  # fast path: looking up the name costs more than a small primitive
    except (KeyError, TypeError):
        pass
    if dtype == "bfloat16":
        return C.BF16
    return _TYPES.get(np.dtype(dtype).name)


def numpy_dtype(data_type: int) -> np.dtype[Any]:
    """The NumPy dtype of a oneDNN data type. The package ml_dtypes supplies bfloat16."""
    if data_type == C.BF16 and C.BF16 not in _DTYPES:
        try:
            import ml_dtypes  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ImportError(
                "bfloat16 arrays need the package ml_dtypes: pip install ml_dtypes"
            ) from error
        _DTYPES[C.BF16] = np.dtype(ml_dtypes.bfloat16)
    return _DTYPES[data_type]


def c_dims(values: Any) -> Any:
    """A ``dim_t[12]`` with ``values`` in front."""
    values = list(values)
    return ffi.new("dim_t[12]", values + [0] * (C.MAX_NDIM - len(values)))


class Layout:
    """How an array of one shape and data type is arranged in memory.

    Attributes:
        md: the memory descriptor (owned).
        shape: logical shape, a tuple of ints.
        data_type: oneDNN data type.
        size: number of logical elements.
        nbytes: bytes of memory, padding included.
        dtype: the NumPy dtype.
        dense: whether it is row-major without gaps, as a C-contiguous NumPy array is.
        strides: strides in elements, or None for a layout in blocks.
    """

    __slots__ = (
        "__weakref__",
        "_dims",
        "_flat",
        "data_type",
        "dense",
        "dtype",
        "itemsize",
        "md",
        "nbytes",
        "shape",
        "size",
        "strides",
    )

    def __init__(self, md: Any, shape: tuple[int, ...] | None = None) -> None:
        self.md = md
        # All queries are made here, once: each is a call of C, and layouts live long.
        facts = _facts(md)
        dims, data_type, kind, padded, offset, strides, blocks = facts
        self._dims = dims
        self.shape = dims if shape is None else shape
        self.data_type = data_type
        self.size = math.prod(dims)
        # Not size * itemsize: blocks are padded to whole ones.
        self.nbytes = lib.dnnl_memory_desc_get_size(md)
        self.itemsize = {C.F64: 8, C.F32: 4, C.S32: 4, C.F16: 2, C.BF16: 2}.get(data_type, 1)
        # Only memory without padding and offset is a NumPy array with strides.
        regular = kind == C.FORMAT_BLOCKED and not blocks and padded == dims and not offset
        self.strides = strides if regular else None
        self._flat: Layout | None = None
        if data_type in _DTYPES:
            self.dtype = _DTYPES[data_type]
        self.dense = regular and _is_row_major(dims, strides)

    def __getattr__(self, name: str) -> Any:
        if name == "dtype":  # only that of bfloat16 is missing: it needs a package
            self.dtype = numpy_dtype(self.data_type)
            return self.dtype
        raise AttributeError(f"'Layout' object has no attribute {name!r}")

    @property
    def ndim(self) -> int:
        """Number of logical dimensions."""
        return len(self.shape)

    def flat(self) -> Layout:
        """The same memory, padding included, as a vector, for functions that map zero to zero.

        For vectors oneDNN always has compiled code for elementwise primitives with several
        operands; for blocks it may not. A layout that does not consist of blocks is returned
        unchanged.
        """
        found = self._flat
        if found is None:
            found = self
            geometry = self.block_geometry()
            if geometry is not None:
                outer, _, blocks = geometry
                n = math.prod(outer) * math.prod(size for size, _ in blocks)
                # Gaps between the outer sizes would be part of the vector.
                if n * self.itemsize == self.nbytes:
                    found = dense((n,), self.data_type)
            self._flat = found
        return found

    def unpadded(self) -> bool:
        """Whether the memory holds the elements only, without padding."""
        return self.size * self.itemsize == self.nbytes

    def block_geometry(self) -> tuple[list[int], tuple[int, ...], tuple[Any, ...]] | None:
        """Returns outer sizes, their strides in elements, and the blocks (size, axis).

        None for other kinds of layout.
        """
        _, _, kind, padded, offset, strides, blocks = _facts(self.md)
        if kind != C.FORMAT_BLOCKED or offset or not self.size:
            return None
        # The padded sizes count elements; the outer sizes count blocks.
        outer = list(padded)
        for size, axis in blocks:
            outer[axis] //= size
        return outer, strides, blocks

    def __reduce__(self) -> Any:
        raise TypeError("layouts cannot be pickled: pickle the array")

    def __repr__(self) -> str:
        _, _, kind, padded, _, strides, blocks = _facts(self.md)
        if self.dense:
            form = "dense"
        elif kind != C.FORMAT_BLOCKED:
            form = "opaque"
        else:
            inner = "".join(f"{size}{chr(ord('a') + axis)}" for size, axis in blocks)
            order = sorted(range(len(strides)), key=lambda i: -strides[i])
            blocked = {axis for _, axis in blocks}
            outer = "".join(chr(ord("A") + i) if i in blocked else chr(ord("a") + i) for i in order)
            form = outer + inner + (f", padded to {padded}" if padded != self._dims else "")
        return f"<Layout {self.shape} {self.dtype.name} {form}>"


def _facts(md: Any) -> tuple[Any, ...]:
    number = ffi.new("int *")
    wide = ffi.new("dim_t *")
    pointer = ffi.new("dim_t **")

    def scalar(what: int) -> int:
        check(lib.dnnl_memory_desc_query(md, what, number), "query a memory descriptor")
        return number[0]

    def vector(what: int, n: int) -> tuple[int, ...]:
        # A status other than 0: the kind of this descriptor has no such property.
        if lib.dnnl_memory_desc_query(md, what, pointer):
            return ()
        return tuple(pointer[0][0:n])

    # The descriptor that means "none" has no dimensions and no kind.
    n = scalar(C.QUERY_NDIMS)
    kind = scalar(C.QUERY_FORMAT_KIND) if n else 0
    dims = vector(C.QUERY_DIMS, n)
    data_type = scalar(C.QUERY_DATA_TYPE)
    offset = 0
    if not lib.dnnl_memory_desc_query(md, C.QUERY_OFFSET, wide):
        offset = wide[0]
    if kind != C.FORMAT_BLOCKED:
        return dims, data_type, kind, dims, offset, (), ()
    nblks = scalar(C.QUERY_INNER_NBLKS)
    sizes = vector(C.QUERY_INNER_BLKS, nblks)
    axes = vector(C.QUERY_INNER_IDXS, nblks)
    return (
        dims,
        data_type,
        kind,
        vector(C.QUERY_PADDED_DIMS, n),
        offset,
        vector(C.QUERY_STRIDES, n),
        tuple(zip(sizes, axes, strict=True)),
    )


def _is_row_major(dims: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    expected = 1
    for size, stride in zip(reversed(dims), reversed(strides), strict=True):
        # The stride of an axis of length 1 is never used, and oneDNN may set it to anything.
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def row_major_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of a dense array."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        # max(): an empty axis must not make the strides of all axes before it zero.
        strides[i] = strides[i + 1] * max(shape[i + 1], 1)
    return tuple(strides)


def own_md(box: Any) -> Any:
    """The descriptor in ``box`` as an object that frees it when it is dropped."""
    return ffi.gc(box[0], lib.dnnl_memory_desc_destroy)


# Layouts by what oneDNN tells of them. A bucket has several entries when these facts are equal but
# the layouts differ. Weak references: a layout lives as long as its arrays and plans.
_interned: dict[Any, list[weakref.ref[Layout]]] = {}
_intern_lock = threading.RLock()


def intern(md: Any) -> Layout:
    """The one ``Layout`` that equals the descriptor ``md`` (which is copied when new)."""
    key = _facts(md)
    # Reentrant, because the collector may call _forget() while a thread is in here.
    with _intern_lock:
        bucket = _interned.setdefault(key, [])
        for reference in bucket:
            layout = reference()
            if layout is not None and lib.dnnl_memory_desc_equal(layout.md, md):
                return layout
        bucket[:] = [r for r in bucket if r() is not None]
        box = ffi.new("md_t *")
        check(lib.dnnl_memory_desc_clone(box, md), "copy a memory descriptor")
        layout = Layout(own_md(box))
        bucket.append(weakref.ref(layout, functools.partial(_forget, key)))
        return layout


def _forget(key: Any, reference: weakref.ref[Layout]) -> None:
    with _intern_lock:
        bucket = _interned.get(key)
        if bucket is not None:
            bucket[:] = [r for r in bucket if r is not reference]
            if not bucket:
                del _interned[key]


def strided_md(shape: tuple[int, ...], strides: tuple[int, ...], data_type: int) -> Any:
    """A descriptor with explicit strides (in elements)."""
    box = ffi.new("md_t *")
    status = lib.dnnl_memory_desc_create_with_strides(
        box, len(shape), c_dims(shape), data_type, c_dims(strides)
    )
    check(status, f"describe an array of shape {shape}")
    return own_md(box)


@functools.lru_cache(maxsize=4096)
def dense(shape: tuple[int, ...], data_type: int = C.F32) -> Layout:
    """The row-major layout. A zero-dimensional array is one element in memory."""
    if len(shape) > C.MAX_NDIM:
        raise ValueError(f"at most {C.MAX_NDIM} dimensions are possible, got shape {shape}")
    if not shape:
        return Layout(strided_md((1,), (1,), data_type), ())
    return intern(strided_md(shape, row_major_strides(shape), data_type))


def strided(shape: tuple[int, ...], strides: tuple[int, ...], data_type: int = C.F32) -> Layout:
    """A layout with explicit strides in elements."""
    return intern(strided_md(shape, strides, data_type))


@functools.lru_cache(maxsize=1024)
def any_md(shape: tuple[int, ...], data_type: int = C.F32) -> Any:
    """A descriptor that lets a primitive choose the layout."""
    return _tagged_md(shape, C.TAG_ANY, data_type)


def tagged(shape: tuple[int, ...], tag: int, data_type: int = C.F32) -> Layout:
    """The layout that oneDNN has a number for."""
    return intern(_tagged_md(shape, tag, data_type))


def _tagged_md(shape: tuple[int, ...], tag: int, data_type: int) -> Any:
    box = ffi.new("md_t *")
    status = lib.dnnl_memory_desc_create_with_tag(box, len(shape), c_dims(shape), data_type, tag)
    check(status, f"describe an array of shape {shape}")
    return own_md(box)


__all__ = [
    "NULL",
    "Layout",
    "any_md",
    "c_dims",
    "dense",
    "dnnl_type",
    "intern",
    "numpy_dtype",
    "row_major_strides",
    "strided",
    "strided_md",
    "tagged",
]

"""The array class: data in the layout that oneDNN chose, usable wherever NumPy arrays are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ideep4py import _arithmetic as arithmetic
from ideep4py import _numpy_protocol as protocol
from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.buffers import allocate, copy_bytes
from ideep4py._core.library import ffi
from ideep4py._core.reorder import Data, copy_into, densified
from ideep4py._core.runtime import creation_lock
from ideep4py._core.views import dense_view, strided_view
from ideep4py._kernels.accumulate import scaled_add, scaled_add_inplace
from ideep4py._kernels.reduction import sum_axes

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

NDArray = np.ndarray[Any, Any]


class Flags(NamedTuple):
    """The flags of ``numpy.ndarray.flags`` that apply."""

    c_contiguous: bool = True
    f_contiguous: bool = False
    owndata: bool = True
    writeable: bool = True
    aligned: bool = True


class mdarray:
    """An n-dimensional array, possibly in the blocked layout of a oneDNN primitive.

    It behaves like a NumPy array. Results of primitives (convolution, pooling, ...) keep the layout
    that the primitive chose, and the next primitive uses them without a copy.
    :func:`numpy.asarray`, indexing, the buffer protocol and DLPack show C-contiguous memory: the
    first such access to an array in blocks reorders it in place, once. Views share its memory from
    then on.

    NumPy functions (``numpy.tanh(x)``, ``numpy.concatenate``, ...) accept it and return NumPy
    arrays. ``+ - * /`` with an mdarray or a float32 array of the same shape, or with a Python
    number, are computed by oneDNN in the layout of the array and give an mdarray, also in place.
    NumPy computes with all other operands.

    Args:
        array: a C-contiguous NumPy array (or any object with a C-contiguous buffer) of dtype
            float32, int32, int8 or uint8, or an mdarray. It is copied.
        itype: ``"d"`` (data) or ``"w"`` (weights): accepted for compatibility; layouts follow from
            use.

    Raises:
        TypeError: ``array`` has no buffer or an unsupported dtype.
        ValueError: ``array`` is not C-contiguous.

    Example:
        >>> import numpy as np, ideep4py
        >>> x = ideep4py.mdarray(np.arange(6, dtype=np.float32).reshape(2, 3))
        >>> x.shape, x.dtype.name, float((x + x).sum())
        ((2, 3), 'float32', 30.0)
    """

    __slots__ = ("__dict__", "__weakref__", "_data", "_form", "_recipe")
    _data: Data  # one attribute, so that a change of layout is seen whole by other threads
    _form: L.Layout  # its first layout: shape and dtype stay
    _recipe: Callable[[], Data] | None  # computes _data when first asked for: see deferred()

    def __init__(self, array: AnyArray, itype: str = "d") -> None:
        if isinstance(array, mdarray):
            layout, pointer = array._data
            self._data = layout, copy_bytes(pointer, layout.nbytes)
            self._form, self._recipe = layout, None
            return
        if not isinstance(array, np.ndarray):
            try:
                array = np.asarray(memoryview(array))
            except TypeError:
                raise TypeError(
                    f"array must be a NumPy array or have a buffer, got {type(array).__name__}"
                ) from None
        if not array.flags.c_contiguous:
            raise ValueError("ndarray is not C-contiguous")
        self._data = _copied(array)
        self._form, self._recipe = self._data[0], None

    # -- what it is ---------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Logical shape."""
        return self._form.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._form.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._form.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type, as a NumPy dtype."""
        return self._form.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._form.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, without the padding of blocks."""
        layout = self._form
        return layout.size * layout.itemsize

    # Attributes of the class: programs ask for them in each function that they apply.
    is_mdarray: ClassVar[bool] = True
    """Always True."""
    flags: ClassVar[Flags] = Flags()
    """Flags of the C-contiguous memory that NumPy sees; looking at them reorders nothing."""

    @property
    def base(self) -> None:
        """Always None: an mdarray keeps its memory alive by itself."""
        return None

    @property
    def layout(self) -> L.Layout:
        """How the array is arranged in memory.

        Two arrays have the same layout when this is the same object.
        """
        return self._data[0]

    def __len__(self) -> int:
        shape = self._form.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __repr__(self) -> str:
        return np.array_repr(_readable(self)).replace("array(", "mdarray(", 1)

    def __str__(self) -> str:
        return str(_readable(self))

    # -- NumPy and other array libraries ------------------------------------------------------

    def _view(self) -> NDArray:
        """The C-contiguous array that shares memory; an array in another layout is reordered in
        place first.
        """
        data = self._data
        if not data[0].dense:
            with creation_lock:  # threads that ask at the same time must see the same memory
                data = self._data
                if not data[0].dense:
                    data = self._data = densified(data)
        return dense_view(*data)

    # There is no __array_interface__: a view that NumPy makes of it would keep the mdarray alive,
    # but not the memory, which the mdarray releases when its layout changes (prepare_weights, ...).

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        """``numpy.asarray`` shares memory; ``copy=True`` does not.

        ``copy=False`` raises ValueError when a copy is needed (another dtype).
        """
        array = self._view()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(
                    f"a copy is needed to convert from {array.dtype} to {np.dtype(dtype)}"
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __buffer__(self, flags: int) -> memoryview:
        """``memoryview(x)`` on Python 3.12 and later."""
        return memoryview(self._view().data)

    def __dlpack__(self, **options: Any) -> Any:
        return self._view().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return protocol.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        return protocol.array_function(func, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """All other attributes of NumPy arrays (``T``, ``astype``, ``max``, ...), of the view."""
        if name == "_data":
            return self._computed()
        if name.startswith("_"):
            raise AttributeError(f"'mdarray' object has no attribute {name!r}")
        try:
            return getattr(self._view(), name)
        except AttributeError:
            raise AttributeError(f"'mdarray' object has no attribute {name!r}") from None

    def __getitem__(self, key: Any) -> Any:
        return self._view()[protocol.plain(key)]

    def __setitem__(self, key: Any, value: AnyArray) -> None:
        self._view()[protocol.plain(key)] = protocol.plain(value)

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._view())

    def __contains__(self, value: AnyArray) -> bool:
        return value in _readable(self)

    def __bool__(self) -> bool:
        return bool(_readable(self))

    def __float__(self) -> float:
        return float(self._view().item())

    def __int__(self) -> int:
        return int(self._view().item())

    __hash__ = object.__hash__  # by identity, as in the original, although == is elementwise

    # -- copies -------------------------------------------------------------------------------

    def copy(self, order: str = "C") -> mdarray:
        """A copy in the same layout. ``order`` is ignored; it is accepted as NumPy does."""
        layout, pointer = self._data
        return wrap(layout, copy_bytes(pointer, layout.nbytes))

    def __copy__(self) -> mdarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> mdarray:
        return self.copy()

    def __reduce__(self) -> Any:
        return _unpickle, (np.ascontiguousarray(_readable(self)),)

    def set(self, array: AnyArray) -> None:
        """Copies the elements of ``array`` (same shape and dtype) into this array, keeping its
        layout.

        Raises:
            TypeError: ``array`` is not an array of the same dtype.
            ValueError: the shapes differ.
        """
        source = array._data if isinstance(array, mdarray) else readable_data(array, "array")
        target = self._data
        if source[0].shape != target[0].shape:
            raise ValueError(f"array must have shape {self.shape}, got {source[0].shape}")
        if source[0].data_type != target[0].data_type:
            raise TypeError(f"array must have dtype {self.dtype}, got {source[0].dtype}")
        copy_into(source, target)

    # -- shape and sums -----------------------------------------------------------------------

    def reshape(self, *shape: Any, **options: Any) -> mdarray:
        """The same elements in another shape; shares memory (an array in blocks is reordered in
        place first).

        Raises:
            ValueError: the sizes differ.
        """
        view = self._view()
        result = view.reshape(*shape, **options)
        if result.shape == view.shape:
            return wrap(*self._data)
        layout, pointer = self._data
        return wrap(L.dense(result.shape, layout.data_type), pointer)

    def flat(self) -> NDArray:
        """The elements as a one-dimensional NumPy array that shares memory.

        A method, as in the original.
        """
        return self._view().reshape(-1)

    def sum(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Sum over axes.

        Args:
            axis: an int, a tuple of ints, or None for all.
            dtype: accumulator and result type. The original's second parameter was ``keepdims``: a
                bool or int here is taken as that.
            out: NumPy array for the result.
            keepdims: keep the reduced axes with length 1.

        Returns:
            An mdarray; a NumPy scalar when no axis remains.
        """
        if isinstance(dtype, (bool, int)):
            dtype, keepdims = None, bool(dtype)
        data = self._data
        layout = data[0]
        if dtype is not None or out is not None or layout.data_type != C.F32 or not layout.size:
            return _readable(self).sum(axis=axis, dtype=dtype, out=out, keepdims=keepdims)
        axes = _normalized_axes(axis, layout.ndim)
        if not axes:
            return self.copy() if layout.shape else dense_view(*data)[()]
        if keepdims:
            shape = tuple(1 if i in axes else n for i, n in enumerate(layout.shape))
        else:
            shape = tuple(n for i, n in enumerate(layout.shape) if i not in axes)
        result = sum_axes(data, axes, shape)
        return wrap(*result) if shape else dense_view(*result)[()]

    def axpby(self, a: float, b: float, y: AnyArray) -> mdarray:
        """``a * self + b * y`` for a float32 array ``y`` of the same shape."""
        return wrap(*scaled_add(self._float(), self._same(y), float(a), float(b)))

    def inplace_axpby(self, a: float, b: float, y: AnyArray) -> mdarray:
        """``self[...] = a * self + b * y``; returns ``self``."""
        scaled_add_inplace(self._float(), self._same(y), float(b), float(a))
        return self

    def _computed(self) -> Data:
        """Computes the data of an array that :func:`deferred` made, at the first access."""
        with creation_lock:  # which a fork waits for
            recipe = self._recipe
            if recipe is not None:
                self._data, self._recipe = recipe(), None
        return object.__getattribute__(self, "_data")

    def _float(self) -> Data:
        if self.dtype != np.float32:
            raise TypeError(f"the array must be of dtype float32, not {self.dtype}")
        return self._data

    def _same(self, y: AnyArray) -> Data:
        data = readable_data(y, "y")
        if data[0].shape != self.shape or data[0].dtype != np.float32:
            raise ValueError(
                f"y must be a float32 array of shape {self.shape}, "
                f"got {data[0].dtype} {data[0].shape}"
            )
        return data


_new = object.__new__


def wrap(layout: L.Layout, pointer: Any) -> mdarray:
    """An mdarray of existing memory. ``pointer`` keeps the memory alive."""
    array = _new(mdarray)
    array._data = layout, pointer
    array._form = layout
    array._recipe = None
    return array


def deferred(layout: L.Layout, recipe: Callable[[], Data]) -> mdarray:
    """An mdarray that is computed at the first access to its elements.

    Args:
        layout: the layout it will have.
        recipe: computes it. Its inputs must not change until then.
    """
    array = _new(mdarray)
    array._form = layout
    array._recipe = recipe
    return array


def _copied(array: NDArray) -> Data:
    data_type = L.dnnl_type(array.dtype)
    if data_type is None or not array.dtype.isnative:
        raise TypeError(f"array must be of dtype float32, int32, int8 or uint8, got {array.dtype}")
    layout = L.dense(array.shape, data_type)
    pointer = allocate(layout.nbytes)
    if layout.size:
        dense_view(layout, pointer)[...] = array
    return layout, pointer


def readable_data(array: AnyArray, name: str) -> Data:
    """Layout and pointer of an mdarray or NumPy array (not copied when C-contiguous), for reading.

    Raises:
        TypeError: ``array`` (called ``name``) is neither, or of a dtype that oneDNN does not have.
    """
    if type(array) is mdarray:
        return array._data
    if isinstance(array, mdarray):
        return array._data
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"{name} must be an ideep4py.mdarray or a NumPy array, got {type(array).__name__}"
        )
    data_type = L.dnnl_type(array.dtype)
    if data_type is None or not array.dtype.isnative:
        raise TypeError(f"{name} must be of dtype float32, got {array.dtype}")
    array = np.ascontiguousarray(array) if array.ndim else array
    layout = L.dense(array.shape, data_type)
    return layout, ffi.from_buffer(array) if layout.size else allocate(0)


def shared(array: NDArray) -> mdarray:
    """An mdarray that shares the memory of a C-contiguous, writable NumPy array."""
    return wrap(L.dense(array.shape, L.dnnl_type(array.dtype) or 0), ffi.from_buffer(array))


def _readable(array: mdarray) -> NDArray:
    """The elements as a NumPy array for reading: a view, or a copy of an array in blocks."""
    data = array._data
    view = strided_view(*data)
    return dense_view(*densified(data)) if view is None else view


def _normalized_axes(axis: Any, ndim: int) -> frozenset[int]:
    if axis is None:
        return frozenset(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    normalized = [np.lib.array_utils.normalize_axis_index(a, ndim) for a in axes]
    if len(set(normalized)) != len(normalized):
        raise ValueError("duplicate value in 'axis'")
    return frozenset(normalized)


def _unpickle(array: NDArray) -> mdarray:
    return mdarray(array)


# A program asks for these several times in each function that it applies. Getters in C take a third
# of the time of those in Python that they replace, and touch less memory between large products.
for _name in ("shape", "dtype"):
    setattr(
        mdarray, _name, property(attrgetter(f"_form.{_name}"), doc=vars(mdarray)[_name].__doc__)
    )

mdarray.__module__ = "ideep4py"
protocol.bind(mdarray, _readable)
arithmetic.install(mdarray, wrap, readable_data)

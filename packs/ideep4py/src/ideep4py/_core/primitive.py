"""One compiled oneDNN operation with its arguments bound in advance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.errors import check
from ideep4py._core.library import NULL, ffi, lib

_set_handle = lib.dnnl_memory_set_data_handle
_execute = lib.dnnl_primitive_execute


PostOp = tuple[Any, ...]
"""``("eltwise", name, alpha, beta)``, ``("sum", scale)`` or ``("binary", name, layout)``."""


def attributes(
    post_ops: Iterable[PostOp] = (), *, default_precision: bool = False, scaled: bool = False
) -> Any:
    """Primitive attributes: the caller provides scratch memory.

    Args:
        post_ops: operations to fuse.
        default_precision: multiply as :func:`ideep4py.set_math_mode` says, not in float32 always.
        scaled: whether a number that the input is multiplied by is an argument of the call.
    """
    box = ffi.new("attr_t *")
    check(lib.dnnl_primitive_attr_create(box), "create attributes")
    attr = ffi.gc(box[0], lib.dnnl_primitive_attr_destroy)
    # New attributes have the math mode of the process, which may allow bfloat16: most operations
    # ask for float32.
    if not default_precision:
        check(lib.dnnl_primitive_attr_set_fpmath_mode(attr, C.FPMATH_STRICT), "set the math mode")
    # 1 is dnnl_scratchpad_mode_user: scratch memory is an argument of the call, and one buffer
    # serves all primitives of a thread.
    check(lib.dnnl_primitive_attr_set_scratchpad_mode(attr, 1), "set the scratchpad mode")
    if scaled:  # the mask 0 means one number for all elements
        check(lib.dnnl_primitive_attr_set_scales_mask(attr, C.SRC, 0), "set the scale")
    post_ops = list(post_ops)
    if not post_ops:
        return attr
    chain_box = ffi.new("post_ops_t *")
    check(lib.dnnl_post_ops_create(chain_box), "create post-operations")
    chain = ffi.gc(chain_box[0], lib.dnnl_post_ops_destroy)
    for kind, *rest in post_ops:
        if kind == "eltwise":
            name, alpha, beta = rest
            status = lib.dnnl_post_ops_append_eltwise(chain, C.ELTWISE[name], alpha, beta)
        elif kind == "sum":
            # The zeros: no zero point, and the data type of the destination.
            status = lib.dnnl_post_ops_append_sum(chain, rest[0], 0, 0)
        else:
            name, layout = rest
            status = lib.dnnl_post_ops_append_binary(chain, C.BINARY[name], layout.md)
        check(status, f"fuse {kind}")
    check(lib.dnnl_primitive_attr_set_post_ops(attr, chain), "set post-operations")
    return attr


def describe(create: Callable[..., int], what: str, *args: Any) -> Any:
    """Calls ``create(&pd, engine, *args)`` and returns the primitive descriptor."""
    box = ffi.new("pd_t *")
    with runtime.creation_lock:
        check(create(box, runtime.engine, *args), what)
    return ffi.gc(box[0], lib.dnnl_primitive_desc_destroy)


def describe_reorder(source: L.Layout, target: L.Layout, attr: Any) -> Any:
    """The descriptor of a reorder, whose C function takes other arguments."""
    box = ffi.new("pd_t *")
    engine = runtime.engine
    with runtime.creation_lock:
        status = lib.dnnl_reorder_primitive_desc_create(
            box, source.md, engine, target.md, engine, attr
        )
        check(status, f"reorder {source!r} to {target!r}")
    return ffi.gc(box[0], lib.dnnl_primitive_desc_destroy)


def layout_of(pd: Any, query: int, index: int = 0) -> L.Layout | None:
    """The layout that a primitive chose for an argument, or None if it does not have one."""
    md = lib.dnnl_primitive_desc_query_md(pd, query, index)
    if md == NULL:
        return None
    number = ffi.new("int *")
    check(lib.dnnl_memory_desc_query(md, C.QUERY_NDIMS, number), "query a memory descriptor")
    # For an argument that a primitive does not have oneDNN may also answer with a descriptor
    # without axes.
    return L.intern(md) if number[0] else None


def chosen(pd: Any, query: int, index: int = 0) -> L.Layout:
    """Like :func:`layout_of`, for an argument that exists."""
    layout = layout_of(pd, query, index)
    assert layout is not None
    return layout


def implementation(pd: Any) -> str:
    """oneDNN's name of the implementation, such as ``jit:avx2``."""
    box = ffi.new("char **")
    check(lib.dnnl_primitive_desc_query(pd, C.QUERY_IMPL_INFO, 0, box), "query the implementation")
    return ffi.string(box[0]).decode()


class Primitive:
    """A primitive whose memory objects and argument table are made once.

    A call sets the data pointers and executes. The caller keeps the memory alive during the call;
    between calls the pointers are not used. The object belongs to the thread that made it.

    Args:
        pd: primitive descriptor.
        arguments: pairs (argument index, layout), in the order in which :meth:`run` gets the
            pointers.
    """

    __slots__ = (
        "_args",
        "_handle",
        "_limit",
        "_memories",
        "_nargs",
        "_scratch",
        "_scratch_size",
        "_stream",
        "_team",
        "implementation",
    )

    def __init__(self, pd: Any, arguments: Sequence[tuple[int, L.Layout]]) -> None:
        box = ffi.new("primitive_t *")
        with runtime.creation_lock:
            check(lib.dnnl_primitive_create(box, pd), "create a primitive")
        self._handle = ffi.gc(box[0], lib.dnnl_primitive_destroy)
        self.implementation = implementation(pd)
        pairs = [(index, _memory(layout)) for index, layout in arguments]
        self._memories = [memory for _, memory in pairs]
        scratch = layout_of(pd, C.QUERY_SCRATCHPAD)
        self._scratch: Any = None
        self._scratch_size = 0
        if scratch is not None and scratch.nbytes:
            self._scratch = _memory(scratch)
            self._scratch_size = scratch.nbytes
            pairs.append((C.SCRATCHPAD, self._scratch))
        self._nargs = len(pairs)
        # A C structure does not keep alive the objects that its handles point to: _memories and
        # _scratch do.
        self._args = ffi.new("exec_arg_t[]", [{"arg": i, "memory": m} for i, m in pairs])
        self._stream = runtime.stream()
        self._team = runtime.team()
        self._limit = self._team.limit

    def run(self, *pointers: Any) -> None:
        """Executes with these data pointers."""
        # oneDNN has divided the work, and the scratch memory, among so many threads.
        if self._team.limit != self._limit:
            self._team.enter(self._limit)
        for memory, pointer in zip(self._memories, pointers):  # noqa: B905 (strict= costs per call)
            _set_handle(memory, pointer)
        if self._scratch_size:
            _set_handle(self._scratch, runtime.scratch(self._scratch_size))
        status = _execute(self._handle, self._stream, self._nargs, self._args)
        if status:
            check(status, f"execute {self.implementation}")


def _memory(layout: L.Layout) -> Any:
    box = ffi.new("memory_t *")
    check(lib.dnnl_memory_create(box, layout.md, runtime.engine, NULL), "create a memory object")
    return ffi.gc(box[0], lib.dnnl_memory_destroy)

"""Calls of compiled loops whose parts run on other threads without Python.

A compiled function of its own collects the arguments, and a function of threads gets a pointer to
them. The loop is known by its address: Numba keeps compiled code on disk, and code that contained
the loop would not notice that the loop has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numba
import numpy
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

intrinsic: Any = extending.intrinsic

#: Types of ``part``, ``start`` and ``stop``.
_BOUNDS = (types.int64, types.int64, types.int64)


def _token(signature: Sequence[Any]) -> int:
    """Returns a number that represents the types of the arguments of a loop."""
    text = ", ".join(map(str, signature)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little", signed=True)


@intrinsic
def _token_of(typingctx: Any, arguments: Any) -> Any:
    token = _token((*_BOUNDS, *arguments))

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_constant(types.int64, token)

    return types.int64(arguments), generate


@intrinsic
def _run(typingctx: Any, run: Any, loop: Any, bounds: Any, arguments: Any) -> Any:
    """Calls the function of threads at an address; returns whether all parts have succeeded."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, loop_address, limits, values = args
        number = ir.IntType(64)
        pointer = context.get_value_type(types.voidptr)
        elements = cgutils.unpack_tuple(builder, values)
        limits = context.make_array(bounds)(context, builder, limits)
        whole = cgutils.pack_struct(
            builder, [loop_address, limits.data, ir.Constant(number, 0), *elements]
        )
        place = cgutils.alloca_once_value(builder, whole)
        part = _part(context, builder, place.type, (*_BOUNDS, *arguments))
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, ir.IntType(32)])
        target = builder.inttoptr(address, kind.as_pointer())
        length = cgutils.unpack_tuple(builder, limits.shape)[0]
        count = builder.trunc(builder.sub(length, ir.Constant(number, 1)), ir.IntType(32))
        argument = builder.bitcast(place, pointer)
        builder.call(target, [builder.bitcast(part, pointer), argument, count])
        failures = builder.load(cgutils.gep_inbounds(builder, place, 0, 2))
        return builder.icmp_signed("==", failures, ir.Constant(number, 0))

    return types.boolean(run, loop, bounds, arguments), generate


def _part(context: Any, builder: Any, kind: Any, signature: tuple[Any, ...]) -> Any:
    """Makes the function that calls the loop for one part.

    Args:
        context: Of the code generator.
        builder: Of the function that collects the arguments.
        kind: Type of the pointer to them.
        signature: Types of the arguments of the loop.
    """
    number, short = ir.IntType(64), ir.IntType(32)
    function_type = ir.FunctionType(ir.VoidType(), [context.get_value_type(types.voidptr), short])
    module = builder.module
    function = ir.Function(module, function_type, module.get_unique_name("part"))
    function.linkage = "internal"
    inner = ir.IRBuilder(function.append_basic_block())
    place = inner.bitcast(function.args[0], kind)
    i = inner.zext(function.args[1], number)

    def field(position: int) -> Any:
        return inner.load(cgutils.gep_inbounds(inner, place, 0, position))

    limits = field(1)
    start, stop = (
        inner.load(inner.gep(limits, [inner.add(i, ir.Constant(number, k))])) for k in (0, 1)
    )
    callee_type = context.call_conv.get_function_type(types.none, signature)
    callee = inner.inttoptr(field(0), callee_type.as_pointer())
    rest = [field(3 + k) for k in range(len(signature) - len(_BOUNDS))]
    values = [i, start, stop, *rest]
    status, _ = context.call_conv.call_function(inner, callee, types.none, signature, values)
    with inner.if_then(status.is_error, likely=False):
        failures = cgutils.gep_inbounds(inner, place, 0, 2)
        inner.atomic_rmw("add", failures, ir.Constant(number, 1), "seq_cst")
    inner.ret_void()
    return function


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _call(table, run, bounds, *arguments):
    token = _token_of(arguments)
    for i in range(0, len(table), 2):
        if table[i] == token:
            return 1 if _run(run, table[i + 1], bounds, arguments) else 0
    return -1


#: Loop -> types and addresses of what was compiled of it, one after the other.
TABLES: dict[Any, Any] = {}
_EMPTY = numpy.empty(0, numpy.int64)


def call(loop: Any, run: int, bounds: Sequence[int], arguments: tuple[Any, ...]) -> bool:
    """Calls a loop once for each part, on the threads of a function.

    Args:
        loop: The compiled loop.
        run: Address of the function of threads, see
            :func:`chainer_numba.native_threads.run_with`.
        bounds: Start of each part, followed by the end of the last part.
        arguments: Further arguments of the loop.

    Returns:
        bool: Whether all parts have succeeded.
    """
    limits = numpy.array(bounds, numpy.int64)
    done = _call(TABLES.get(loop, _EMPTY), run, limits, *arguments)
    if done < 0:
        _add(loop, arguments)
        done = _call(TABLES[loop], run, limits, *arguments)
    return done == 1


def _add(loop: Any, arguments: tuple[Any, ...]) -> None:
    """Compiles a loop for the types of some arguments, and adds its address to the table."""
    signature = (*_BOUNDS, *map(numba.typeof, arguments))
    loop.compile(signature)
    compiled = loop.overloads[signature]
    name = compiled.fndesc.llvm_func_name
    address = compiled.library.get_pointer_to_function(name)
    TABLES[loop] = numpy.append(TABLES.get(loop, _EMPTY), [_token(signature), address])

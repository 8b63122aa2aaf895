"""Numbers below the normal ones of float32 (1.2e-38), which some processors compute slowly.

A mean that decays by a factor at each update, as optimizers have them, does not reach zero: it
stays at a few units of the least number of float32. So a unit whose gradient is zero, such as a
word that does not occur or a relu that is off, has such numbers for ever. A Xeon takes a hundred
times as long for a vector with one of them: a step of a perceptron with Adam took 4.6 milliseconds
in the beginning, and 53 after some thousand updates. Updates take these numbers for zero instead.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_INT32 = ir.IntType(32)
_POINTER = ir.IntType(8).as_pointer()

#: Bits of the control register of vectors (MXCSR): results, and arguments, that are subnormal are
#: taken for zero.
_ZERO = 0x8000 | 0x0040

#: Elsewhere such numbers are computed as fast as others, or the register is another one.
IS_THERE = llvmlite.binding.get_process_triple().startswith("x86_64")


def _register_call(builder: Any, name: str, place: Any) -> None:
    kind = ir.FunctionType(ir.VoidType(), [_POINTER])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.sse.{name}")
    builder.call(function, [builder.bitcast(place, _POINTER)])


@intrinsic
def _left_out(typingctx: Any) -> tuple[Any, Any]:
    signature = types.int32()

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = cgutils.alloca_once_value(builder, _INT32(0))
        if not IS_THERE:
            return builder.load(place)
        _register_call(builder, "stmxcsr", place)
        before = builder.load(place)
        builder.store(builder.or_(before, _INT32(_ZERO)), place)
        _register_call(builder, "ldmxcsr", place)
        return before

    return signature, build


@intrinsic
def _restored(typingctx: Any, before: Any) -> tuple[Any, Any]:
    signature = types.void(types.int32)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if IS_THERE:
            place = cgutils.alloca_once_value(builder, arguments[0])
            _register_call(builder, "ldmxcsr", place)
        return context.get_dummy_value()

    return signature, build


# For type checkers, which do not know that the decorator fills in the first parameter.

#: Makes the thread take subnormal numbers for zero; returns what :data:`restore` needs. For
#: compiled functions.
leave_out: Any = _left_out

#: Makes the thread compute as before. A loop that called :data:`leave_out` has to call it in the
#: end: the thread belongs to NumPy, too.
restore: Any = _restored

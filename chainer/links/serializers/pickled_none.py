"""How None is stored in an NPZ file, read and written without pickle.

All releases store None as a zero-dimensional object array, whose contents NumPy pickles. Unpickling
can run any code, so files are never unpickled here. Instead, the few opcodes that make an array of
None are compared and written literally.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator
from typing import Any

# Longer than any spelling of None that pickle has (protocol 4 takes about 150 bytes).
_MAX_LENGTH = 512

#: A whole ``.npy`` file that holds None, as NumPy 1.16 writes it: every NumPy since can read it.
NONE_NPY = (
    b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '|O', 'fortran_order': False, 'shape': (), }".ljust(117)
    + b"\n"
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nq\x01K\x00\x85q\x02c_codecs\nencode\n"
    b"q\x03X\x01\x00\x00\x00bq\x04X\x06\x00\x00\x00latin1q\x05\x86q\x06Rq\x07\x87q\x08Rq\t(K\x01)cnumpy\ndtype\n"
    b"q\nX\x02\x00\x00\x00O8q\x0bK\x00K\x01\x87q\x0cRq\r(K\x03X\x01\x00\x00\x00|q\x0eNNNJ\xff\xff\xff\xff"
    b"J\xff\xff\xff\xffK?tq\x0fb\x89]q\x10Natq\x11b."
)

# _reconstruct(ndarray, (0,), b'b'), then the state (1, (), dtype('O8', False, True), False,
# [None]).
_NONE_TOKENS: tuple[object, ...] = (
    *("numpy.core.multiarray", "_reconstruct", "GLOBAL", "numpy", "ndarray", "GLOBAL"),
    *(0, "TUPLE", "b", "TUPLE", "REDUCE", "MARK", 1, "EMPTY_TUPLE"),
    *("numpy", "dtype", "GLOBAL", "O8", 0, 1, "TUPLE", "REDUCE"),
    *("MARK", 3, "|", "NONE", "NONE", "NONE", -1, -1, 63, "TUPLE", "BUILD"),
    *(0, "EMPTY_LIST", "NONE", "APPEND", "TUPLE", "BUILD", "STOP"),
)
_ENCODED_B = ("_codecs", "encode", "GLOBAL", "b", "latin1", "TUPLE", "REDUCE")


def is_pickled_none(data: bytes) -> bool:
    """Returns whether pickled data is a zero-dimensional array of None, without unpickling it.

    Args:
        data: The bytes after the header of the ``.npy`` file.
    """
    if len(data) > _MAX_LENGTH:
        return False
    try:
        tokens = tuple(_tokens(data))
    except (ValueError, KeyError, IndexError):  # truncated, unknown opcode, bad memo reference
        return False
    at = 8  # protocol 2 writes the byte string b'b' as a call, here
    if tokens[at : at + len(_ENCODED_B)] == _ENCODED_B:
        tokens = (*tokens[:at], "b", *tokens[at + len(_ENCODED_B) :])
    return tokens == _NONE_TOKENS


def _tokens(data: bytes) -> Iterator[object]:
    """Yields the opcodes of a pickle in one spelling for all protocols."""
    memo: dict[int, object] = {}
    last: object = None
    for opcode, argument, _ in pickletools.genops(data):
        arg: Any = argument
        name = opcode.name
        if name in ("PROTO", "FRAME"):
            continue
        if name == "MEMOIZE":
            memo[len(memo)] = last
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[int(arg)] = last
        elif name == "GLOBAL":
            module, _, attribute = str(arg).partition(" ")
            last = None
            yield from (_old_module(module), attribute, "GLOBAL")
        else:
            if name == "BINGET":
                last = memo[int(arg)]
            elif name in ("NEWTRUE", "NEWFALSE"):
                last = int(name == "NEWTRUE")
            elif isinstance(arg, bytes):
                last = arg.decode("latin1")
            elif isinstance(arg, (str, int)):
                last = _old_module(arg) if isinstance(arg, str) else arg
            else:
                last = {"STACK_GLOBAL": "GLOBAL", "TUPLE1": "TUPLE", "TUPLE2": "TUPLE"}.get(name)
                last = last or {"TUPLE3": "TUPLE"}.get(name, name)
            yield last


def _old_module(name: str) -> str:
    return name.replace("numpy._core", "numpy.core")

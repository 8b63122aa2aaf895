"""The encoding of protocol buffers: fields read from bytes and written to them.

See https://protobuf.dev/programming-guides/encoding. Messages are read by a schema that names the
fields of interest by number; all others are skipped. Each value is within the bytes of its
message, messages nest no deeper than their schema, and their number is limited, so that no file can
make the reader use more than a small multiple of its size.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy

#: Messages, strings and single numbers in one file; ResNet-152 has some twenty thousand.
MAX_VALUES = 1_000_000

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """Bytes that are not a message."""


@dataclass(frozen=True)
class Field:
    """A field of a message.

    Args:
        name: Name, under which the value is found.
        kind: ``'int'`` (also enums), ``'bool'``, ``'float'``, ``'double'``, ``'str'``, or the
            schema of a message.
        default: Value if the field is not there; ``[]`` for repeated fields.
        repeated: Whether the value is a list; an array for floats and doubles.
    """

    name: str
    kind: Any
    default: Any = None
    repeated: bool = False


@dataclass(frozen=True)
class Schema:
    """Name of a message and its fields by number."""

    name: str
    fields: Mapping[int, Field] = field(default_factory=dict)


class Message:
    """A message that was read; fields are attributes."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._present: set[str] = set()
        for item in schema.fields.values():
            setattr(self, item.name, [] if item.repeated else item.default)

    def has(self, name: str) -> bool:
        """Whether the field was there."""
        return name in self._present

    def __getattr__(self, name: str) -> Any:  # fields, for type checkers
        raise AttributeError(f"message has no field {name!r}")


def read_message(schema: Schema, data: Any) -> Message:
    """Reads a message.

    Args:
        schema: Fields of the message.
        data: Bytes of the whole message. Arrays of the result may share their memory.

    Raises:
        WireError: If the bytes are not such a message; the text names the place.
    """
    view = memoryview(data).cast("B")
    return _Reader(view).message(schema, 0, len(view))


class _Reader:
    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._values = 0

    def message(self, schema: Schema, start: int, end: int) -> Message:
        message = Message(schema)
        chunks: dict[str, list[Any]] = {}
        position = start
        while position < end:
            number, wire_type, value, position = self._next(position, end)
            item = schema.fields.get(number)
            if item is None:
                continue
            self._values += 1
            if self._values > MAX_VALUES:
                raise WireError(f"the file has more than {MAX_VALUES} values")
            message._present.add(item.name)
            where = f"field {item.name!r} of {schema.name} at byte {position}"
            if item.kind in ("float", "double") and item.repeated:
                chunks.setdefault(item.name, []).append(self._floats(item, wire_type, value, where))
            elif item.repeated:
                getattr(message, item.name).extend(self._list(item, wire_type, value, where))
            else:
                setattr(message, item.name, self._single(item, wire_type, value, where))
        for name, arrays in chunks.items():
            joined = arrays[0] if len(arrays) == 1 else numpy.concatenate(arrays)
            setattr(message, name, joined)
        return message

    def _next(self, position: int, end: int) -> tuple[int, int, Any, int]:
        """Returns number, wire type and value of the field at a position, and the next position.

        Values are an integer, or the bounds of bytes.
        """
        at = position
        key, position = self._varint(position, end)
        number, wire_type = key >> 3, key & 7
        if number == 0:
            raise WireError(f"field number 0 at byte {at}")
        if wire_type == _VARINT:
            value, position = self._varint(position, end)
            return number, wire_type, value, position
        if wire_type == _BYTES:
            length, position = self._varint(position, end)
        elif wire_type in (_FIXED32, _FIXED64):
            length = 4 if wire_type == _FIXED32 else 8
        else:
            raise WireError(f"wire type {wire_type} at byte {at}")
        if length > end - position:
            raise WireError(
                f"field {number} at byte {at} needs {length} bytes, {end - position} are left"
            )
        return number, wire_type, (position, position + length), position + length

    def _varint(self, position: int, end: int) -> tuple[int, int]:
        value = 0
        for shift in range(0, 70, 7):
            if position >= end:
                raise WireError(f"the message ends within a number at byte {position}")
            byte = self._view[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, position
        raise WireError(f"a number of more than ten bytes at byte {position}")

    def _floats(self, item: Field, wire_type: int, value: Any, where: str) -> Any:
        size = 4 if item.kind == "float" else 8
        if wire_type != _BYTES and wire_type != (_FIXED32 if size == 4 else _FIXED64):
            raise WireError(f"{where} has wire type {wire_type}, not that of {item.kind}")
        start, end = value
        if (end - start) % size:
            raise WireError(f"{where} has {end - start} bytes, not a multiple of {size}")
        return numpy.frombuffer(self._view[start:end], dtype=f"<f{size}")

    def _list(self, item: Field, wire_type: int, value: Any, where: str) -> list[Any]:
        if item.kind not in ("int", "bool") or wire_type != _BYTES:
            return [self._single(item, wire_type, value, where)]
        position, end = value
        numbers: list[int] = []
        while position < end:
            number, position = self._varint(position, end)
            numbers.append(_signed(number))
            self._values += 1
            if self._values > MAX_VALUES:
                raise WireError(f"the file has more than {MAX_VALUES} values")
        return numbers

    def _single(self, item: Field, wire_type: int, value: Any, where: str) -> Any:
        kind = item.kind
        expected = {"int": _VARINT, "bool": _VARINT, "float": _FIXED32, "double": _FIXED64}
        wanted = _BYTES if isinstance(kind, Schema) else expected.get(kind, _BYTES)
        if wire_type != wanted:
            raise WireError(f"{where} has wire type {wire_type}, expected {wanted}")
        if kind == "int":
            return _signed(value)
        if kind == "bool":
            return bool(value)
        start, end = value
        if isinstance(kind, Schema):
            return self.message(kind, start, end)
        raw = self._view[start:end]
        if kind == "str":
            try:
                return bytes(raw).decode("utf-8")
            except UnicodeDecodeError as error:
                raise WireError(f"{where} is not UTF-8 text: {error}") from error
        return struct.unpack("<f" if kind == "float" else "<d", raw)[0]


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


# -- writing ---------------------------------------------------------------------------------------


def _write_varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def write_message(schema: Schema, values: Mapping[str, Any]) -> bytes:
    """Returns the bytes of a message.

    Args:
        schema: Schema of the message.
        values: Values by field name. Nested messages are mappings, too. Unknown names are an error.
    """
    numbers = {item.name: (number, item) for number, item in schema.fields.items()}
    return b"".join(
        part for name, value in values.items() for part in _field(*numbers[name], value)
    )


def _field(number: int, item: Field, value: Any) -> Iterator[bytes]:
    if item.repeated and item.kind in ("float", "double"):
        data = numpy.ascontiguousarray(value, "<f4" if item.kind == "float" else "<f8").tobytes()
        yield _write_varint(number << 3 | _BYTES) + _write_varint(len(data))
        yield data
        return
    for element in value if item.repeated else (value,):
        wire_type, data = _encode(item.kind, element)
        prefix = _write_varint(number << 3 | wire_type)
        yield prefix + _write_varint(len(data)) if wire_type == _BYTES else prefix
        yield data


def _encode(kind: Any, value: Any) -> tuple[int, bytes]:
    if isinstance(kind, Schema):
        return _BYTES, write_message(kind, value)
    encoders: dict[str, tuple[int, Callable[[Any], bytes]]] = {
        "int": (_VARINT, lambda v: _write_varint(int(v))),
        "bool": (_VARINT, lambda v: _write_varint(int(v))),
        "float": (_FIXED32, lambda v: struct.pack("<f", v)),
        "double": (_FIXED64, lambda v: struct.pack("<d", v)),
        "str": (_BYTES, lambda v: v.encode("utf-8")),
    }
    wire_type, encode = encoders[kind]
    return wire_type, encode(value)

"""Caffe's messages as classes of Google's protobuf library (``pip install protobuf``).

Chainer reads and writes caffemodels without this library. The classes are for programs that look
into such files: ``NetParameter``, ``LayerParameter``, ``V1LayerParameter``, ``BlobProto`` and so
on, with all fields of the format, which ``messages.txt`` lists.

Example:
    >>> from chainer.links.caffe.protobuf3 import caffe_pb2
    >>> net = caffe_pb2.NetParameter(name="net")
    >>> net.layer.add(name="relu1", type="ReLU").relu_param.negative_slope = 0.5
    >>> caffe_pb2.NetParameter.FromString(net.SerializeToString()).layer[0].name
    'relu1'
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainer.core.installation import install_command

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as error:
    raise ImportError(
        "the classes of Caffe's messages need Google's protobuf library: "
        + install_command("protobuf")
    ) from error

_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = ("bool", "bytes", "double", "float", "int32", "int64", "string", "uint32")


def _add_enumeration(messages: dict[str, Any], file: Any, words: list[str]) -> None:
    """Adds an enumeration, which belongs to a message if its name has a dot."""
    owner, _, name = words[0].rpartition(".")
    enumeration = (messages[owner] if owner else file).enum_type.add(name=name)
    for word in words[1:]:
        value, _, number = word.partition("=")
        enumeration.value.add(name=value, number=int(number))


def _add_field(message: Any, words: list[str], enumerations: set[str]) -> None:
    number, name, kind, *rest = words
    many = rest[:1] in (["repeated"], ["packed"])
    field = message.field.add(
        name=name,
        number=int(number),
        label=_FIELD.LABEL_REPEATED if many else _FIELD.LABEL_OPTIONAL,
    )
    if kind in _SCALARS:
        field.type = getattr(_FIELD, f"TYPE_{kind.upper()}")
    else:
        field.type = _FIELD.TYPE_ENUM if kind in enumerations else _FIELD.TYPE_MESSAGE
        field.type_name = f".caffe.{kind}"
    if many:
        field.options.packed = rest[0] == "packed"
    elif rest:
        field.default_value = rest[0].removeprefix("=")


def _description() -> Any:
    """Returns the description of the format that the protobuf library takes."""
    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
    text = (Path(__file__).parent / "messages.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    enumerations = {words[1] for words in lines if words[0] == "enum"}
    messages: dict[str, Any] = {}
    name = ""
    for words in lines:
        if words[0] == "message":
            name = words[1]
            messages[name] = file.message_type.add(name=name)
        elif words[0] == "enum":
            _add_enumeration(messages, file, words[1:])
        else:
            _add_field(messages[name], words, enumerations)
    return file


def _message_classes() -> dict[str, Any]:
    """Returns the classes of all messages, and the numbers of the enumeration ``Phase``."""
    # A pool of our own: the default pool may have the complete file of Caffe itself.
    pool = descriptor_pool.DescriptorPool()
    description = _description()
    pool.Add(description)
    classes: dict[str, Any] = {
        message.name: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"caffe.{message.name}")
        )
        for message in description.message_type
    }
    for enumeration in description.enum_type:
        classes.update((value.name, value.number) for value in enumeration.value)
    return classes


_CLASSES = _message_classes()
globals().update(_CLASSES)

__all__ = sorted(_CLASSES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    # Reached for names that are not defined only. It tells checkers that there are others.
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

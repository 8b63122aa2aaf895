"""Caffe's messages as classes of Google's protobuf library (``pip install protobuf``).

Chainer reads and writes caffemodels without this library. The classes are for programs that look
into such files: ``NetParameter``, ``LayerParameter``, ``V1LayerParameter``, ``BlobProto`` and so
on. They have the fields that :class:`~chainer.links.caffe.CaffeFunction` knows. The library keeps
other fields of a file, but does not give them names.

Example:
    >>> from chainer.links.caffe.protobuf3 import caffe_pb2
    >>> net = caffe_pb2.NetParameter(name="net")
    >>> net.layer.add(name="relu1", type="ReLU").relu_param.negative_slope = 0.5
    >>> caffe_pb2.NetParameter.FromString(net.SerializeToString()).layer[0].name
    'relu1'
"""

from __future__ import annotations

from typing import Any

from chainer.core.installation import install_command
from chainer.links.caffe import _schema
from chainer.links.caffe._wire import Field, Schema

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as error:
    raise ImportError(
        "the classes of Caffe's messages need Google's protobuf library: "
        + install_command("protobuf")
    ) from error

_TYPES = {"int": "INT64", "bool": "BOOL", "float": "FLOAT", "double": "DOUBLE", "str": "STRING"}

_V1_NAMES = {
    "NONE": 0,
    "CONCAT": 3,
    "CONVOLUTION": 4,
    "DATA": 5,
    "DROPOUT": 6,
    "IMAGE_DATA": 12,
    "INNER_PRODUCT": 14,
    "LRN": 15,
    "POOLING": 17,
    "RELU": 18,
    "SIGMOID": 19,
    "SOFTMAX": 20,
    "SOFTMAX_LOSS": 21,
    "SPLIT": 22,
    "ELTWISE": 25,
    "MEMORY_DATA": 29,
    "SLICE": 33,
    "DECONVOLUTION": 39,
}

#: Message and field -> name of the enumeration and its values. Programs read them from the class of
#: the message: ``PoolingParameter.AVE``.
_ENUMERATIONS: dict[tuple[str, str], tuple[str, dict[str, int]]] = {
    ("EltwiseParameter", "operation"): ("EltwiseOp", {"PROD": 0, "SUM": 1, "MAX": 2}),
    ("LRNParameter", "norm_region"): ("NormRegion", {"ACROSS_CHANNELS": 0, "WITHIN_CHANNEL": 1}),
    ("PoolingParameter", "pool"): ("PoolMethod", {"MAX": 0, "AVE": 1, "STOCHASTIC": 2}),
    ("V1LayerParameter", "type"): ("LayerType", _V1_NAMES),
}


def _add_message(file: Any, schema: Schema, seen: set[str]) -> None:
    """Adds a message, and the messages it contains, to the description of a file."""
    if schema.name in seen:
        return
    seen.add(schema.name)
    message = file.message_type.add(name=schema.name)
    for number, item in schema.fields.items():
        _add_field(file, message, number, item, seen)


def _add_field(file: Any, message: Any, number: int, item: Field, seen: set[str]) -> None:
    proto = descriptor_pb2.FieldDescriptorProto
    label = proto.LABEL_REPEATED if item.repeated else proto.LABEL_OPTIONAL
    field = message.field.add(name=item.name, number=number, label=label)
    enumeration = _ENUMERATIONS.get((message.name, item.name))
    if isinstance(item.kind, Schema):
        field.type, field.type_name = proto.TYPE_MESSAGE, f".caffe.{item.kind.name}"
        _add_message(file, item.kind, seen)
    elif enumeration is not None:
        name, values = enumeration
        kind = message.enum_type.add(name=name)
        for value_name, value in values.items():
            kind.value.add(name=value_name, number=value)
        field.type, field.type_name = proto.TYPE_ENUM, f".caffe.{message.name}.{name}"
        field.default_value = next(n for n, value in values.items() if value == item.default)
    else:
        field.type = getattr(proto, f"TYPE_{_TYPES[item.kind]}")
        # Lists of numbers are written as one block, as by Caffe.
        field.options.packed = item.repeated and item.kind in ("float", "double")
        if item.default is not None and not item.repeated:
            field.default_value = str(item.default).lower()


def _message_classes() -> dict[str, type]:
    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
    _add_message(file, _schema.NET, set())
    # A pool of our own: the default pool may have the complete file of Caffe itself.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        message.name: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"caffe.{message.name}")
        )
        for message in file.message_type
    }


_CLASSES = _message_classes()
globals().update(_CLASSES)

__all__ = sorted(_CLASSES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    # Reached for names that are not defined only. It tells checkers that there are others.
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

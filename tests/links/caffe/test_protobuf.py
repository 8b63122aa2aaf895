"""Files exchanged with Google's protobuf library, which gets the schema as a descriptor."""

from __future__ import annotations

import numpy as np
import pytest

from chainer.links.caffe import _schema
from chainer.links.caffe._wire import Schema, read_message, write_message

pytest.importorskip("google.protobuf")

KINDS = {"int": "INT64", "bool": "BOOL", "float": "FLOAT", "double": "DOUBLE", "str": "STRING"}


def add_message(file, schema: Schema, seen: set[str]) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

    if schema.name in seen:
        return
    seen.add(schema.name)
    message = file.message_type.add(name=schema.name)
    for number, item in schema.fields.items():
        label = Proto.LABEL_REPEATED if item.repeated else Proto.LABEL_OPTIONAL
        field = message.field.add(name=item.name, number=number, label=label)
        if isinstance(item.kind, Schema):
            field.type, field.type_name = Proto.TYPE_MESSAGE, f".caffe.{item.kind.name}"
            add_message(file, item.kind, seen)
        else:
            field.type = getattr(Proto, f"TYPE_{KINDS[item.kind]}")
            field.options.packed = item.repeated and item.kind in ("float", "double")


@pytest.fixture(scope="module")
def net_class():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
    add_message(file, _schema.NET, set())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.NetParameter"))


def random_values(schema: Schema, random, depth=0):
    """Returns values of every field of a message; messages within are there most of the time."""

    def value(kind):
        if isinstance(kind, Schema):
            return random_values(kind, random, depth + 1)
        return {
            "int": lambda: int(random.integers(-(2**40), 2**40)),
            "bool": lambda: bool(random.integers(2)),
            "float": lambda: float(np.float32(random.normal())),
            "double": lambda: float(random.normal()),
            "str": lambda: "".join(map(chr, random.integers(0x20, 0x2000, 5))),
        }[kind]()

    values = {}
    for item in schema.fields.values():
        if random.random() < 0.2:
            continue
        values[item.name] = (
            [value(item.kind) for _ in range(3)] if item.repeated else value(item.kind)
        )
    return values


def check(schema: Schema, message, values) -> None:
    """Compares a message, of either library, with values by name."""
    for item in schema.fields.values():
        got = getattr(message, item.name)
        if item.name not in values:
            continue
        expected = values[item.name]
        pairs = zip(got, expected, strict=True) if item.repeated else [(got, expected)]
        for one, other in pairs:
            if isinstance(item.kind, Schema):
                check(item.kind, one, other)
            else:
                assert one == other, (schema.name, item.name)


@pytest.mark.parametrize("seed", range(3))
def test_written_here_read_there_and_back(net_class, seed):
    values = random_values(_schema.NET, np.random.default_rng(seed))
    net = net_class()
    assert net.ParseFromString(write_message(_schema.NET, values))
    check(_schema.NET, net, values)
    check(_schema.NET, read_message(_schema.NET, net.SerializeToString()), values)


def test_defaults_agree(net_class):
    layer = net_class().layer.add()
    text = layer.SerializeToString()
    message = read_message(_schema.LAYER, text)
    assert (message.name, message.type) == (layer.name, layer.type)
    assert not message.has("name") and not layer.HasField("name")

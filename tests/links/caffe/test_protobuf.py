"""Files exchanged with Google's protobuf library, and its classes of Caffe's messages."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from chainer.links.caffe import _schema, caffe_function
from chainer.links.caffe._wire import Schema, read_message, write_message

pytest.importorskip("google.protobuf")


#: Fields that the library knows as enumerations, which keep known numbers only.
ENUMERATIONS = {
    ("EltwiseParameter", "operation"): [0, 1, 2],
    ("LRNParameter", "norm_region"): [0, 1],
    ("PoolingParameter", "pool"): [0, 1, 2],
    ("V1LayerParameter", "type"): [0, *_schema.V1_TYPES],
    ("SoftmaxParameter", "engine"): [0, 1, 2],
}


@pytest.fixture(scope="module")
def net_class():
    from chainer.links.caffe.caffe_function import caffe_pb

    return caffe_pb.NetParameter


def random_values(schema: Schema, random, depth=0):
    """Returns values of every field of a message; messages within are there most of the time."""

    def value(kind):
        if isinstance(kind, Schema):
            return random_values(kind, random, depth + 1)
        return {
            "int": lambda: int(random.integers(0, 2**31)),
            "bool": lambda: bool(random.integers(2)),
            "float": lambda: float(np.float32(random.normal())),
            "double": lambda: float(random.normal()),
            "str": lambda: "".join(map(chr, random.integers(0x20, 0x2000, 5))),
        }[kind]()

    values = {}
    for item in schema.fields.values():
        if random.random() < 0.2:
            continue
        if (schema.name, item.name) in ENUMERATIONS:
            values[item.name] = int(random.choice(ENUMERATIONS[schema.name, item.name]))
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


def test_classes():
    from google.protobuf import text_format

    from chainer.links.caffe.protobuf3 import caffe_pb2

    assert caffe_function.caffe_pb is caffe_pb2
    net = text_format.Merge(
        """
        name: "net"
        layer { name: "pool1" type: "Pooling" pooling_param { pool: AVE kernel_size: 2 } }
        layers { name: "ip" type: INNER_PRODUCT }
        """,
        caffe_pb2.NetParameter(),
    )
    assert net.layer[0].pooling_param.pool == caffe_pb2.PoolingParameter.AVE == 1
    assert net.layer[0].pooling_param.stride == 1 and net.layers[0].type == 14
    assert caffe_pb2.ConvolutionParameter().bias_term is True
    assert caffe_pb2.EltwiseParameter().operation == caffe_pb2.EltwiseParameter.SUM
    assert caffe_pb2.BlobProto(data=[1, 2]).data[1] == 2
    # The numbers of the types are those that the reader knows.
    names = {number: name for name, number in caffe_pb2.V1LayerParameter.LayerType.items()}
    assert names.keys() >= {0, *_schema.V1_TYPES}
    with pytest.raises(AttributeError, match="no_such_message"):
        caffe_pb2.no_such_message


def test_messages_have_all_fields_of_the_format():
    from chainer.links.caffe.protobuf3 import caffe_pb2

    assert caffe_pb2.SoftmaxParameter(engine=2).engine == caffe_pb2.SoftmaxParameter.CUDNN
    assert caffe_pb2.SolverParameter().regularization_type == "L2"
    assert caffe_pb2.LayerParameter(phase=caffe_pb2.TEST).phase == 1
    assert caffe_pb2.LayerParameter().prelu_param.channel_shared is False
    # The fields that the reader knows have the same numbers.
    for schema in (
        _schema.NET,
        _schema.LAYER,
        _schema.V1_LAYER,
        *_schema.PARAMETER_SCHEMAS.values(),
    ):
        fields = getattr(caffe_pb2, schema.name).DESCRIPTOR.fields_by_number
        assert {number: item.name for number, item in schema.fields.items()} == {
            number: fields[number].name for number in schema.fields
        }


def test_without_the_library(monkeypatch):
    for name in list(sys.modules):
        if name.startswith(("google.protobuf", "chainer.links.caffe.protobuf3")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    monkeypatch.delattr(caffe_function, "caffe_pb", raising=False)
    with pytest.raises(ImportError, match="pip install protobuf"):
        importlib.import_module("chainer.links.caffe.protobuf3.caffe_pb2")
    with pytest.raises(AttributeError, match="pip install protobuf"):
        caffe_function.caffe_pb

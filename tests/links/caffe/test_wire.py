"""Messages of protocol buffers: known bytes, round trips, broken and hostile input."""

from __future__ import annotations

import numpy as np
import pytest

from chainer.links.caffe import _schema, _wire
from chainer.links.caffe._wire import Field, Schema, WireError, read_message, write_message

INNER = Schema("Inner", {1: Field("value", "int", 7)})
OUTER = Schema(
    "Outer",
    {
        1: Field("number", "int", 0),
        2: Field("text", "str", ""),
        3: Field("inner", INNER),
        4: Field("floats", "float", repeated=True),
        5: Field("numbers", "int", repeated=True),
        6: Field("flag", "bool", False),
        7: Field("single", "float", 0.5),
        8: Field("doubles", "double", repeated=True),
        200: Field("inners", INNER, repeated=True),
    },
)


def test_bytes_of_the_published_examples():
    # https://protobuf.dev/programming-guides/encoding: 150, "testing", an embedded message.
    assert write_message(OUTER, {"number": 150}) == b"\x08\x96\x01"
    assert write_message(OUTER, {"text": "testing"}) == b"\x12\x07testing"
    assert write_message(OUTER, {"inner": {"value": 150}}) == b"\x1a\x03\x08\x96\x01"
    assert read_message(OUTER, b"\x08\x96\x01").number == 150
    assert read_message(OUTER, b"\x2a\x06\x03\x8e\x02\x9e\xa7\x05").numbers == [3, 270, 86942]


def test_round_trip_and_defaults():
    values = {"number": -3, "flag": True, "single": 0.25, "numbers": [1, -1, 1 << 40]}
    data = write_message(OUTER, {**values, "floats": [1.5, 2], "inners": [{}, {"value": 1}]})
    message = read_message(OUTER, data)
    assert {name: getattr(message, name) for name in values} == values
    np.testing.assert_array_equal(message.floats, np.array([1.5, 2], np.float32))
    assert [inner.value for inner in message.inners] == [7, 1]
    assert message.has("number") and not message.has("text") and message.text == ""
    assert message.doubles == []


def test_floats_one_by_one_and_in_several_parts():
    data = b"\x25\x00\x00\x80\x3f" + write_message(OUTER, {"floats": [2, 3]})
    np.testing.assert_array_equal(read_message(OUTER, data).floats, [1, 2, 3])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x08", "ends within a number"),
        (b"\x08" + b"\xff" * 11, "more than ten bytes"),
        (b"\x12\x7fabc", "needs 127 bytes, 3 are left"),
        (b"\x12\xff\xff\xff\xff\xff\xff\xff\x7fabc", "needs .* bytes, 3 are left"),
        (b"\x0b", "wire type 3"),
        (b"\x00\x01", "field number 0"),
        (b"\x12\x01\xff", "UTF-8"),
        (b"\x0a\x01a", "'number' of Outer .*wire type 2, expected 0"),
        (b"\x22\x03abc", "3 bytes, not a multiple of 4"),
        (b"\x20\x01", "wire type 0, not that of float"),
        (b"\x3a\x01a", "wire type 2, expected 5"),
        (b"\x1a\x02\x08", "needs 2 bytes"),
    ],
)
def test_broken_messages(data, text):
    with pytest.raises(WireError, match=text):
        read_message(OUTER, data)


def test_the_number_of_values_is_limited(monkeypatch):
    monkeypatch.setattr(_wire, "MAX_VALUES", 100)
    for data in (b"\x1a\x00" * 101, b"\x2a\x7f" + b"\x01" * 127, b"\x08\x01" * 101):
        with pytest.raises(WireError, match="more than 100 values"):
            read_message(OUTER, data)


def test_random_and_cut_bytes_give_an_error_or_a_message():
    random = np.random.RandomState(0)
    layer = {"name": "l", "type": "ReLU", "blobs": [{"data": np.ones(9), "shape": {"dim": [3, 3]}}]}
    whole = write_message(_schema.NET, {"name": "net", "layer": [layer] * 3})
    broken = 0
    for i in range(2000):
        data = bytearray(whole[: random.randint(len(whole))] if i % 2 else whole)
        for _ in range(i % 5):
            if data:
                data[random.randint(len(data))] = random.randint(256)
        try:
            read_message(_schema.NET, bytes(data))
        except WireError:
            broken += 1
    assert broken > 500

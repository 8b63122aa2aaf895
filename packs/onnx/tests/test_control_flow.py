"""Control flow, functions, sequences, external data, frozen weights, and operators of callers."""

from __future__ import annotations

import os
import zipfile

import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx import TensorProto, helper, numpy_helper, parser
from onnx_chainer.importing import limits
from onnx_chainer.importing.attributes import UnsupportedAttributeError
from onnx_chainer.importing.errors import LimitError
from onnx_chainer.importing.load import ONNXFormatError, UnsupportedOperatorError

import chainer
import chainer.functions as F

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'


def parse(text: str, head: str = HEAD) -> onnx.ModelProto:
    return parser.parse_model(head + text)


LOOP = """
g (float[n] x, int64 count) => (float[n] y, float[m, n] steps)
<float[1] w = {0.5}>
{
    y, steps = Loop (count, , x) <body = body (int64 i, bool c, float[n] s)
        => (bool again, float[n] next, float[n] out)
    {
        again = Identity (c)
        next = Mul (s, w)
        out = Identity (next)
    }>
}
"""


class TestLoop:
    def test_gradient_of_a_weight_in_the_body(self):
        model = onnx_chainer.load(parse(LOOP))
        assert [name for name, _ in model.namedparams()] == ["/w"]
        x = chainer.Variable(np.array([2.0, 3.0], np.float32))
        y, steps = model(x, np.array(3))
        np.testing.assert_allclose(y.array, [0.25, 0.375])
        assert steps.shape == (3, 2)
        model.cleargrads()
        F.sum(y).backward()
        # y = w ** 3 x
        np.testing.assert_allclose(model.w.grad, [3 * 0.25 * 5])
        np.testing.assert_allclose(x.grad, [0.125, 0.125])

    def test_without_an_end(self, monkeypatch):
        monkeypatch.setattr(limits, "MAX_ITERATIONS", 50)
        endless = LOOP.replace("(count, , x)", "(, , x)")
        with pytest.raises(ValueError, match=r"Loop: iterations: 50 .*limits\.MAX_ITERATIONS"):
            onnx_chainer.load(parse(endless))(np.ones(2, np.float32), np.array(1))


def test_if_reads_values_around_it():
    model = onnx_chainer.load(
        parse(
            """
g (float[n] x, bool c) => (float[n] y)
{
    twice = Add (x, x)
    y = If (c) <
        then_branch = a () => (float[n] p) { p = Neg (twice) },
        else_branch = b () => (float[n] q) { q = Relu (x) }
    >
}
"""
        )
    )
    x = chainer.Variable(np.array([1.0, -2.0], np.float32))
    np.testing.assert_array_equal(model(x, np.array(True)).array, [-2, 4])
    np.testing.assert_array_equal(model(x, np.array(False)).array, [1, 0])
    (gx,) = chainer.grad([model(x, np.array(True))], [x])
    np.testing.assert_array_equal(gx.array, [-2, -2])


FUNCTION = """<ir_version: 10, opset_import: ["" : 21, "mine" : 1]>
g (float[n] x) => (float[n] y)
{
    y = mine.scaled <by: float = 3.0> (x)
}
<domain: "mine", opset_import: ["" : 21]>
scaled <by> (a) => (b)
{
    factor = Constant <value_float: float = @by> ()
    b = Mul (a, factor)
}
"""


class TestFunctions:
    def test_attributes_of_the_call(self):
        model = onnx_chainer.load(parse(FUNCTION, ""))
        np.testing.assert_array_equal(model(np.ones(2, np.float32)).array, [3, 3])

    def test_a_function_that_calls_itself(self):
        proto = parse(FUNCTION, "")
        node = proto.functions[0].node[1]
        node.op_type, node.domain = "scaled", "mine"
        proto.functions[0].opset_import.add(domain="mine", version=1)
        with pytest.raises(ONNXFormatError):
            onnx_chainer.load(proto)

    def test_calls_of_calls_are_bounded(self, monkeypatch):
        monkeypatch.setattr(limits, "MAX_NODES", 5000)
        functions = []
        for level in range(40):
            call = f"f{level + 1}" if level < 39 else "Relu"
            domain = "mine" if level < 39 else ""
            nodes = [
                helper.make_node(call, ["a"], ["b"], domain=domain),
                helper.make_node(call, ["b"], ["c"], domain=domain),
            ]
            opsets = [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)]
            functions.append(helper.make_function("mine", f"f{level}", ["a"], ["c"], nodes, opsets))
        info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
        out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
        graph = helper.make_graph(
            [helper.make_node("f0", ["x"], ["y"], domain="mine")], "g", [info], [out]
        )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)]
        proto = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)
        with pytest.raises(LimitError, match="nodes: 5001 is more than 5000"):
            onnx_chainer.load(proto)


def test_sequences():
    model = onnx_chainer.load(
        parse(
            """
g (float[n] x) => (seq(float[m]) parts, float[k] joined)
<int64[2] sizes = {1, 2}>
{
    parts = SplitToSequence <axis = 0> (x, sizes)
    joined = ConcatFromSequence <axis = 0> (parts)
}
"""
        )
    )
    parts, joined = model(np.arange(3, dtype=np.float32))
    assert [part.shape for part in parts] == [(1,), (2,)]
    np.testing.assert_array_equal(joined.array, [0, 1, 2])


@pytest.mark.parametrize(("position", "order"), [(-2, "xab"), (0, "xab"), (1, "axb"), (2, "abx")])
def test_positions_of_inserted_tensors(position, order):
    joined = inserted(position)
    np.testing.assert_array_equal(joined.array, ["abx".index(name) for name in order])


@pytest.mark.parametrize("position", [-3, 3])
def test_positions_outside_of_a_sequence(position):
    with pytest.raises(ValueError, match=rf"position {position} is outside of a sequence of 2"):
        inserted(position)


def inserted(position):
    model = onnx_chainer.load(
        parse(
            f"""
g (float[n] a, float[n] b, float[n] x) => (float[k] joined)
<int64 position = {{{position}}}>
{{
    two = SequenceConstruct (a, b)
    three = SequenceInsert (two, x, position)
    joined = ConcatFromSequence <axis = 0> (three)
}}
"""
        )
    )
    return model(*[np.full(1, i, np.float32) for i in range(3)])


def linear_with(tensors):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])
    nodes = [
        helper.make_node("MatMul", ["x", "fc.weight"], ["h"]),
        helper.make_node("Add", ["h", "fc.bias"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


WEIGHT = numpy_helper.from_array(np.ones((3, 2), np.float32), "fc.weight")
BIAS = numpy_helper.from_array(np.zeros(2, np.float32), "fc.bias")


class TestTrainable:
    @pytest.mark.parametrize(
        ("trainable", "names"),
        [
            (None, ["/fc_bias", "/fc_weight"]),
            (False, []),
            ("*.bias", ["/fc_bias"]),
            (["fc.w*"], ["/fc_weight"]),
            (lambda name: "bias" in name, ["/fc_bias"]),
        ],
    )
    def test_choice(self, trainable, names):
        model = onnx_chainer.load(linear_with([WEIGHT, BIAS]), trainable=trainable)
        assert sorted([name for name, _ in model.namedparams()]) == names
        # Frozen weights are saved, but no optimizer sees them.
        assert model(np.ones((1, 3), np.float32)).array.tolist() == [[3.0, 3.0]]
        state = chainer.serializers.DictionarySerializer()
        state.save(model)
        assert set(state.target) == {"fc_weight", "fc_bias"}

    def test_a_pattern_without_a_weight(self):
        with pytest.raises(ValueError, match=r"no weight has the name 'head\.\*'; there are"):
            onnx_chainer.load(linear_with([WEIGHT, BIAS]), trainable="head.*")


def external(location, offset=None, length=None):
    tensor = onnx.TensorProto(name="fc.weight", data_type=TensorProto.FLOAT, dims=[3, 2])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": offset, "length": length}.items():
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return linear_with([tensor, BIAS])


class TestExternalData:
    def test_beside_the_model(self, tmp_path):
        (tmp_path / "weights.bin").write_bytes(np.ones((3, 2), np.float32).tobytes())
        onnx.save_model(external("weights.bin", 0, 24), tmp_path / "m.onnx")
        model = onnx_chainer.load(tmp_path / "m.onnx")
        np.testing.assert_array_equal(model.fc_weight.array, np.ones((3, 2)))

    @pytest.mark.parametrize("location", ["../secret.bin", "sub/../../secret.bin", "ABSOLUTE", ""])
    def test_paths_that_leave_the_folder(self, tmp_path, location):
        secret = tmp_path / "secret.bin"
        secret.write_bytes(bytes(24))
        (tmp_path / "model" / "sub").mkdir(parents=True)
        location = str(secret) if location == "ABSOLUTE" else location
        path = tmp_path / "model" / "m.onnx"
        path.write_bytes(external(location).SerializeToString())
        with pytest.raises(ONNXFormatError, match="outside of the folder"):
            onnx_chainer.load(path)

    def test_links_that_leave_the_folder(self, tmp_path):
        (tmp_path / "secret.bin").write_bytes(bytes(24))
        (tmp_path / "model").mkdir()
        os.symlink(tmp_path / "secret.bin", tmp_path / "model" / "w.bin")
        path = tmp_path / "model" / "m.onnx"
        path.write_bytes(external("w.bin").SerializeToString())
        with pytest.raises(ONNXFormatError, match="outside of the folder"):
            onnx_chainer.load(path)

    @pytest.mark.parametrize(
        ("offset", "length"), [(0, 2**40), (-4, 24), (20, 24), ("many", 24), (0, "x")]
    )
    def test_ranges_that_the_file_does_not_have(self, tmp_path, offset, length):
        (tmp_path / "w.bin").write_bytes(bytes(24))
        path = tmp_path / "m.onnx"
        path.write_bytes(external("w.bin", offset, length).SerializeToString())
        with pytest.raises(ONNXFormatError, match=r"fc\.weight"):
            onnx_chainer.load(path)

    def test_missing(self, tmp_path):
        path = tmp_path / "m.onnx"
        path.write_bytes(external("w.bin").SerializeToString())
        with pytest.raises(ONNXFormatError, match=r"no file 'w\.bin'"):
            onnx_chainer.load(path)

    @pytest.mark.parametrize("location", ["a\0b", "w.bin/x", ".", "..", "/dev/zero", "./../w.bin"])
    def test_strange_locations(self, tmp_path, location):
        folder = tmp_path / "model"
        folder.mkdir()
        (folder / "w.bin").write_bytes(bytes(24))
        path = folder / "m.onnx"
        path.write_bytes(external(location).SerializeToString())
        with pytest.raises(ONNXFormatError, match=r"fc\.weight"):
            onnx_chainer.load(path)

    def test_a_pipe_is_not_read(self, tmp_path):
        os.mkfifo(tmp_path / "w.bin")
        path = tmp_path / "m.onnx"
        path.write_bytes(external("w.bin").SerializeToString())
        with pytest.raises(ONNXFormatError, match=r"there is no file 'w\.bin'"):
            onnx_chainer.load(path)

    @pytest.mark.parametrize("length", [24, None])
    def test_bytes_that_are_read_again_and_again(self, tmp_path, length):
        (tmp_path / "w.bin").write_bytes(bytes(24))
        proto = external("w.bin", 0, length)
        for i in range(10):
            tensor = proto.graph.initializer.add()
            tensor.CopyFrom(proto.graph.initializer[0])
            tensor.name = f"copy{i}"
        path = tmp_path / "m.onnx"
        path.write_bytes(proto.SerializeToString())
        with pytest.raises(ONNXFormatError, match="120 bytes, more than 4 times its 24 bytes"):
            onnx_chainer.load(path)

    def test_archives_are_not_unpacked(self, tmp_path):
        path = tmp_path / "m.onnx"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.onnx", linear_with([WEIGHT, BIAS]).SerializeToString())
        with pytest.raises(ONNXFormatError):
            onnx_chainer.load(path)

    def test_of_a_model_in_memory(self):
        with pytest.raises(ONNXFormatError, match="load the model by its path"):
            onnx_chainer.load(external("w.bin"))


CUSTOM = """<ir_version: 10, opset_import: ["" : 21, "mine" : 1]>
g (float[n] x) => (float[n] y) { y = mine.Thing <k: int = 4> (x) }
"""


class TestOperatorsOfCallers:
    def test_unknown(self):
        with pytest.raises(
            UnsupportedOperatorError, match=r"loaded: mine\.Thing; load\("
        ) as caught:
            onnx_chainer.load(parse(CUSTOM, ""))
        assert caught.value.names == ["mine.Thing"]

    def test_given(self):
        operators = {"mine.Thing": lambda attributes, x: x * attributes["k"]}
        model = onnx_chainer.load(parse(CUSTOM, ""), operators=operators)
        np.testing.assert_array_equal(model(np.ones(2, np.float32)).array, [4, 4])


def test_variants_that_are_not_computed_are_named():
    model = onnx_chainer.load(
        parse("g (float[n, m] x) => (float[n, m] y) { y = LpNormalization <p: int = 3> (x) }")
    )
    with pytest.raises(
        UnsupportedAttributeError, match=r"LpNormalization with p=3 cannot"
    ) as caught:
        model(np.ones((2, 2), np.float32))
    error = caught.value
    assert (error.operator, error.attribute, error.value) == ("LpNormalization", "p", 3)

"""Models that ask for too much memory or work, and nodes that cannot be computed."""

from __future__ import annotations

import itertools
import threading
import warnings

import numpy as np
import onnx_chainer
import pytest
from onnx import parser
from onnx_chainer import LimitError, ONNXModelError, OperatorError
from onnx_chainer.importing import limits

import chainer
import chainer.functions as F
from chainer.serializers import FileFormatError

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'

X = np.ones((1, 2, 3, 3), np.float32)


def load(text: str, **options):
    return onnx_chainer.load(parser.parse_model(HEAD + text), **options)


def one(call: str, initializers: str = "", kind: str = "float[a, b, c, d]"):
    return load(f"g (float[n, c, h, w] x) => ({kind} y) <{initializers}> {{ y = {call} }}")


BIG = 2**20

HUGE = {
    "Expand": ("Expand (x, s)", f"int64[6] s = {{{BIG}, {BIG}, 1, 2, 3, 3}}"),
    "Tile": ("Tile (x, s)", f"int64[4] s = {{{BIG}, {BIG}, 1, 1}}"),
    "ConstantOfShape": ("ConstantOfShape (s)", f"int64[2] s = {{{BIG}, {BIG}}}"),
    "Range": ("Range (s, t, d)", f"int64 s = {{0}}, int64 t = {{{2**50}}}, int64 d = {{1}}"),
    "Pad": ("Pad (x, s)", f"int64[8] s = {{0, 0, {2**40}, 0, 0, 0, 0, 0}}"),
    "Resize": ("Resize (x, , , s)", f"int64[4] s = {{1, 2, {BIG}, {BIG}}}"),
    "Resize by scales": ("Resize (x, , s)", "float[4] s = {1.0, 1.0, 1e7, 1e7}"),
    "Upsample": (
        'Resize <mode = "linear"> (x, , , s)',
        f"int64[4] s = {{1, 2, {BIG}, {BIG}}}",
    ),
    "CenterCropPad": ("CenterCropPad (x, s)", f"int64[4] s = {{1, 2, {BIG}, {BIG}}}"),
    "RandomNormal": (f"RandomNormal <shape = [{BIG}, {BIG}]> ()", ""),
    "OneHot": (
        "OneHot (i, d, v)",
        f"int64[2] i = {{0, 1}}, int64 d = {{{2**50}}}, float[2] v = {{0.0, 1.0}}",
    ),
    "Conv": (
        f"Conv <pads = [{BIG}, {BIG}, {BIG}, {BIG}]> (x, w)",
        "float[1, 2, 1, 1] w = {1.0, 1.0}",
    ),
    "Conv with other pads": (
        f"Conv <pads = [0, 0, {BIG}, {BIG}]> (x, w)",
        "float[1, 2, 1, 1] w = {1.0, 1.0}",
    ),
    "ConvTranspose": (
        f"ConvTranspose <strides = [{BIG}, {BIG}]> (x, w)",
        "float[2, 1, 1, 1] w = {1.0, 1.0}",
    ),
    "MaxPool": (f"MaxPool <kernel_shape=[1, 1], pads=[0, 0, {BIG}, {BIG}]> (x)", ""),
    "AveragePool": (f"AveragePool <kernel_shape=[1, 1], pads=[1, 0, {BIG}, {BIG}]> (x)", ""),
    "RoiAlign": (
        f"RoiAlign <output_height={BIG}, output_width={BIG}> (x, r, i)",
        "float[1, 4] r = {0.0, 0.0, 1.0, 1.0}, int64[1] i = {0}",
    ),
    "MaxRoiPool": (
        f"MaxRoiPool <pooled_shape=[{BIG}, {BIG}]> (x, r)",
        "float[1, 5] r = {0.0, 0.0, 0.0, 1.0, 1.0}",
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_results_are_refused_before_memory_is_used(name):
    call, initializers = HUGE[name]
    model = one(call, initializers)
    with pytest.raises(LimitError, match=r"elements of the result.*limits\.MAX_ELEMENTS"):
        model(X)


@pytest.mark.parametrize(
    "call", ["Add (a, b)", "Less (a, b)", "Max (a, b)", "MatMul (a, b)", "Gemm (a, b)"]
)
def test_results_of_small_inputs_are_refused(monkeypatch, call):
    # Each input has 300 elements, the result 90,000.
    monkeypatch.setattr(limits, "MAX_ELEMENTS", 10_000)
    kind = "bool" if "Less" in call else "float"
    model = load(f"g (float[n, m] a, float[k, l] b) => ({kind}[n, l] y) {{ y = {call} }}")
    a, b = np.ones((300, 1), np.float32), np.ones((1, 300), np.float32)
    monkeypatch.setattr(limits, "ELEMENTS_PER_INPUT", 64)
    with pytest.raises(LimitError, match="90000 is more than 38400"):
        model(a, b)


def test_einsum_and_gather(monkeypatch):
    monkeypatch.setattr(limits, "MAX_ELEMENTS", 10_000)
    outer = load(
        'g (float[n] a, float[k] b) => (float[n, k] y) { y = Einsum <equation = "i,j->ij"> (a, b) }'
    )
    with pytest.raises(LimitError, match="Einsum"):
        outer(np.ones(300, np.float32), np.ones(300, np.float32))
    gather = load("g (float[n, m] a, int64[k] b) => (float[k, m] y) { y = Gather (a, b) }")
    with pytest.raises(LimitError, match="Gather"):
        gather(np.ones((1, 300), np.float32), np.zeros(300, np.int64))


def test_large_inputs_raise_the_limit(monkeypatch):
    monkeypatch.setattr(limits, "MAX_ELEMENTS", 100)
    model = load("g (float[n] x) => (float[m] y) <int64[1] s = {10}> { y = Tile (x, s) }")
    assert model(np.ones(20, np.float32)).shape == (200,)


DOUBLING = """
g (float[n] x) => (float[m] y)
<int64 count = {40}>
{
    y = Loop (count, , x) <body = body (int64 i, bool c, float[n] s) => (bool again, float[k] next)
    {
        again = Identity (c)
        next = Concat <axis = 0> (s, s)
    }>
}
"""

KEEPING = """
g (float[n] x) => (float[m, n] y)
<int64 count = {1000}>
{
    y = Loop (count, , ) <body = body (int64 i, bool c) => (bool again, float[n] next)
    {
        again = Identity (c)
        next = Neg (x)
    }>
}
"""

NESTED = """
g (float[n] x) => (float[n] y)
<int64 count = {100}>
{
    y = Loop (count, , x) <body = outer (int64 i, bool c, float[n] s) => (bool again, float[n] next)
    {
        again = Identity (c)
        next = Loop (count, , s) <body = inner (int64 j, bool d, float[n] t)
            => (bool more, float[n] u)
        {
            more = Identity (d)
            u = Neg (t)
        }>
    }>
}
"""


class TestLoops:
    def test_doubling(self, monkeypatch):
        monkeypatch.setattr(limits, "MAX_ELEMENTS", 10_000)
        with pytest.raises(LimitError, match="Concat: elements of the result: 16384 is more"):
            load(DOUBLING)(np.ones(1, np.float32))

    def test_results_that_are_kept(self, monkeypatch):
        monkeypatch.setattr(limits, "MAX_LIVE_ELEMENTS", 5000)
        with pytest.raises(LimitError, match=r"elements of all results.*MAX_LIVE_ELEMENTS"):
            load(KEEPING)(np.ones(10, np.float32))
        monkeypatch.setattr(limits, "MAX_LIVE_ELEMENTS", 50_000)
        assert load(KEEPING)(np.ones(10, np.float32)).shape == (1000, 10)

    def test_loops_in_loops_count_together(self, monkeypatch):
        monkeypatch.setattr(limits, "MAX_ITERATIONS", 5000)
        model = load(NESTED)
        with pytest.raises(LimitError, match="Loop: iterations: 5000"):
            model(np.ones(1, np.float32))
        monkeypatch.setattr(limits, "MAX_ITERATIONS", 20_000)
        # Each call counts anew.
        for _ in range(2):
            assert model(np.ones(1, np.float32)).array.tolist() == [1]


def test_a_long_graph_is_computed_and_differentiated():
    count = 20_000
    names = ["x", *[f"v{i}" for i in range(count)], "y"]
    lines = "\n".join([f"{b} = Neg ({a})" for a, b in itertools.pairwise(names)])
    model = load(f"g (float[n] x) => (float[n] y) {{ {lines} }}")
    x = chainer.Variable(np.ones(1, np.float32))
    y = model(x)
    assert y.array.tolist() == [-1]
    (gx,) = chainer.grad([y], [x])
    assert gx.array.tolist() == [-1]


def test_a_sparse_tensor_of_a_huge_shape():
    onnx = pytest.importorskip("onnx")
    proto = parser.parse_model(HEAD + "g (float[n] x) => (float[n] y) { y = Relu (x) }")
    sparse = proto.graph.sparse_initializer.add()
    sparse.values.CopyFrom(onnx.numpy_helper.from_array(np.ones(1, np.float32), "s"))
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.zeros(1, np.int64), "i"))
    sparse.dims[:] = [2**16, 2**16]
    with pytest.raises(ONNXModelError, match="4294967296"):
        onnx_chainer.load(proto)


def test_constants_that_calls_multiply(monkeypatch):
    monkeypatch.setattr(limits, "MAX_CONSTANT_BYTES", 1000)
    text = """<ir_version: 10, opset_import: ["" : 21, "mine" : 1]>
    g (float[n] x) => (float[n] y) { CALLS y = Neg (v9) }
    <domain: "mine", opset_import: ["" : 21]>
    f (a) => (b) { c = Constant <value = float[50] {VALUES}> () b = Max (a, c) }
    """
    calls = "\n".join([f"v{i} = mine.f ({'x' if not i else f'v{i - 1}'})" for i in range(10)])
    text = text.replace("CALLS", calls).replace("VALUES", ", ".join(["0.5"] * 50))
    with pytest.raises(LimitError, match=r"bytes of constants: 1200.*MAX_CONSTANT_BYTES"):
        onnx_chainer.load(parser.parse_model(text))


class TestErrorsOfNodes:
    def test_they_name_the_node_and_its_inputs(self):
        model = load("g (float[n, m] x, float[k, l] z) => (float[n, l] y) { y = MatMul (x, z) }")
        with pytest.raises(
            OperatorError, match=r"MatMul 'y' cannot be computed for .*float32\[2, 3\], float32\[2"
        ) as caught:
            model(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
        assert (caught.value.operator, caught.value.node) == ("MatMul", "y")
        assert isinstance(caught.value, (ONNXModelError, ValueError))
        assert isinstance(caught.value, FileFormatError)

    def test_inputs_that_are_left_out(self):
        model = load("g (float[n] x) => (float[n] y) { y = Max (x, , x) }")
        with pytest.raises(OperatorError, match=r"Max 'y' .*\(float32\[3\], none, float32\[3\]\)"):
            model(np.ones(3, np.float32))

    def test_a_recorder_that_gives_up_is_not_an_error_of_a_node(self):
        def reads(attributes, x):
            # The value of a result decides about what is computed.
            return x * 2 if float(F.sum(x).array) > 0 else x

        text = "g (float[n] x) => (float[n] y) { y = Neg (x) }"
        model = load(text, operators={"Neg": reads})
        call = chainer.capture(lambda x: model(x), model)
        x = np.ones(3, np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [call(x * sign).array.tolist() for sign in (1, 1, 1, 1, -1)]
        assert results == [[2.0] * 3] * 4 + [[-1.0] * 3]

    def test_of_the_reference_implementation(self):
        model = load(
            "g (float[n] x, float[m] z) => (float[n] y) "
            "{ b = QuantizeLinear (x, z) y = Cast <to = 1> (b) }"
        )
        with pytest.raises(OperatorError, match=r"QuantizeLinear 'b'"):
            model(np.ones(3, np.float32), np.ones(2, np.float32))


def test_threads_have_budgets_of_their_own(monkeypatch):
    monkeypatch.setattr(limits, "MAX_ITERATIONS", 11_000)
    model = load(NESTED)
    results = []

    def call():
        results.append(model(np.ones(1, np.float32)).array.tolist())

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[1]] * 3

"""``external_link_converters``: whole links as single operators."""

from __future__ import annotations

import numpy as np
import onnx.numpy_helper
import onnx_chainer
import pytest
from onnx_chainer import onnx_helper

import chainer
import chainer.functions as F
import chainer.links as L

X = np.random.RandomState(0).randn(2, 3).astype("f")
DOMAIN = {"external_opset_imports": {"my.ops": 1}}


class Block(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(3, 3)
            self.bn = L.BatchNormalization(3)

    def forward(self, x):
        return F.relu(self.bn(self.linear(x)))


class CalledBlock(Block):
    def __call__(self, x):
        return Block.forward(self, x)


class Model(chainer.Chain):
    def __init__(self, cls=Block):
        super().__init__()
        with self.init_scope():
            self.first = cls()
            self.second = cls()

    def forward(self, x):
        return F.softmax(self.second(self.first(x)))


def convert_block(call):
    inputs = [*call.input_names, call.param_names["linear/W"], call.param_names["bn/avg_mean"]]
    return (onnx_helper.make_node("Block", inputs, call.output_names, domain="my.ops"),)


@pytest.mark.filterwarnings("ignore:external_opset_imports:FutureWarning")
class TestLinkConverters:
    @pytest.mark.parametrize("cls", [Block, CalledBlock])
    def test_calls_are_single_nodes(self, cls):
        model = Model(cls)
        proto = onnx_chainer.export(
            model, X, external_link_converters={Block: convert_block}, **DOMAIN
        )
        name = cls.__name__
        assert [(n.op_type, list(n.input), list(n.output)) for n in proto.graph.node] == [
            (
                "Block",
                ["Input_0", "param_first_linear_W", "param_first_bn_avg_mean"],
                [f"{name}_0"],
            ),
            (
                "Block",
                [f"{name}_0", "param_second_linear_W", "param_second_bn_avg_mean"],
                [f"{name}_1"],
            ),
            ("Softmax", [f"{name}_1"], ["Softmax_0"]),
        ]
        values = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}
        np.testing.assert_array_equal(values["param_second_linear_W"], model.second.linear.W.array)
        np.testing.assert_array_equal(values["param_second_bn_avg_mean"], model.second.bn.avg_mean)
        assert type(model.first) is cls

    def test_nearest_class_serves(self):
        def refuse(call):
            raise AssertionError("the converter of the base class was called")

        onnx_chainer.export(
            Model(CalledBlock),
            X,
            external_link_converters={Block: refuse, CalledBlock: convert_block},
            **DOMAIN,
        )

    def test_result_of_the_rule_form(self):
        convert = onnx_chainer.converter(register=False)(
            lambda nodes, x: nodes("Relu", nodes("Neg", x))
        )
        model = Model()
        proto = onnx_chainer.export(model, X, external_link_converters={Block: convert})
        assert [n.op_type for n in proto.graph.node] == ["Neg", "Relu", "Neg", "Relu", "Softmax"]

    def test_function_of_the_same_name(self):
        class GroupNormalization(L.GroupNormalization):
            pass

        link = GroupNormalization(1, 4)

        def forward(x):
            return link(x), F.group_normalization(x, 2, np.ones(4, "f"), np.zeros(4, "f"))

        model = _Apply(forward, link)
        convert = onnx_chainer.converter(register=False)(lambda nodes, x: nodes("Neg", x))
        x = np.random.RandomState(0).randn(2, 4, 3).astype("f")
        proto = onnx_chainer.export(
            model, x, external_link_converters={GroupNormalization: convert}
        )
        assert [n.op_type for n in proto.graph.node] == ["Neg", "GroupNormalization"]

    def test_links_are_restored_after_an_error(self):
        model = Model()
        with pytest.raises(chainer.utils.type_check.InvalidType):
            onnx_chainer.export(model, X[:, :2], external_link_converters={Block: convert_block})
        assert type(model.first) is Block

    @pytest.mark.parametrize(
        ("converters", "message"),
        [
            ({"Block": convert_block}, "has the key 'Block', not a class of links"),
            ({F.relu: convert_block}, "not a class of links"),
            ({Block: 3}, "has 3 for Block, which cannot be called"),
        ],
    )
    def test_wrong_argument(self, converters, message):
        with pytest.raises(TypeError, match=message):
            onnx_chainer.export(Model(), X, external_link_converters=converters)


class _Apply(chainer.Chain):
    def __init__(self, function, link):
        super().__init__()
        self.function = function
        with self.init_scope():
            self.link = link

    def forward(self, x):
        return self.function(x)

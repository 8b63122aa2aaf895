"""The arguments of ``export``: names, shapes, files, errors."""

from __future__ import annotations

import io
import warnings

import numpy as np
import onnx
import onnx_chainer
import pytest
from models import images
from onnx_chainer import onnx_helper
from onnx_chainer.graph_conversion import MissingConverterError
from onnx_chainer.testing import get_test_data_set, input_generator
from onnx_chainer.testing.test_onnxruntime import check_model_expect
from running import Apply, check, operators, run

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.registry.registry import NameConflictError

X = images(2, 3)


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.l2 = L.Linear(4, 2, nobias=True)

    def forward(self, x):
        return F.softmax(self.l2(F.relu(self.l1(x))))


def names(values):
    return [value.name for value in values]


class TestNames:
    def test_default(self):
        proto = onnx_chainer.export(MLP(), X)
        assert names(proto.graph.input) == ["Input_0"]
        assert names(proto.graph.output) == ["Softmax_0"]
        assert sorted(names(proto.graph.initializer)) == ["param_l1_W", "param_l1_b", "param_l2_W"]
        nodes = ["LinearFunction_0", "ReLU_0", "LinearFunction_1", "Softmax_0"]
        assert names(proto.graph.node) == nodes
        assert [node.output[0] for node in proto.graph.node] == nodes

    def test_several_outputs_and_temporaries(self):
        proto = onnx_chainer.export(Apply(lambda x: F.split_axis(x, 3, 1)), X)
        assert names(proto.graph.output) == ["SplitAxis_0_0", "SplitAxis_0_1", "SplitAxis_0_2"]
        proto = onnx_chainer.export(Apply(F.erfc), X)
        assert [node.output[0] for node in proto.graph.node] == [
            "Erfc_0_const_0",
            "Erfc_0_tmp_0",
            "Erfc_0",
        ]

    def test_statistics(self):
        model = chainer.Sequential(L.BatchNormalization(3))
        proto = onnx_chainer.export(model, X)
        statistics = {"param_0_avg_mean", "param_0_avg_var"}
        assert statistics < set(names(proto.graph.initializer))
        lone = onnx_chainer.export(L.BatchNormalization(3, use_gamma=False), X)
        assert set(names(lone.graph.initializer)) == {
            "param_beta",
            "FixedBatchNormalization_0_param_gamma",
            "FixedBatchNormalization_0_param_avg_mean",
            "FixedBatchNormalization_0_param_avg_var",
        }

    def test_arrays_of_the_model(self):
        proto = onnx_chainer.export(Apply(lambda x: F.maximum(x, X)), X + 1)
        assert names(proto.graph.initializer) == ["Maximum_0_input_1"]

    @pytest.mark.parametrize("given", ["x", ["x"]])
    def test_single_input(self, given):
        proto = onnx_chainer.export(MLP(), X, input_names=given, output_names="y")
        assert names(proto.graph.input) == ["x"]
        assert names(proto.graph.output) == ["y"]
        assert proto.graph.node[0].input[0] == "x"

    def test_dict(self):
        model = Apply(None)
        model.forward = lambda a, b: {"sum": a + b, "product": a * b}
        args = {"a": X, "b": X + 1}
        proto = onnx_chainer.export(
            model, args, input_names={"b": "B", "a": "A"}, output_names={"product": "p", "sum": "s"}
        )
        assert type(args["a"]) is np.ndarray
        assert names(proto.graph.input) == ["A", "B"]
        assert names(proto.graph.output) == ["s", "p"]
        (s, p), _ = run(proto, {"A": X, "B": X + 1})
        np.testing.assert_allclose(s, X + X + 1)
        np.testing.assert_allclose(p, X * (X + 1), rtol=1e-6)

    @pytest.mark.parametrize(
        "options",
        [
            {"input_names": ["a", "b"]},
            {"input_names": {"x": "a"}},
            {"input_names": [1]},
            {"output_names": ["a", "b"]},
            {"input_names": "param_l1_W"},
            {"output_names": "Input_0"},
            {"input_shapes": ((2, 3),)},
            {"input_shapes": [(2, 3), (2, 3)]},
            {"input_shapes": (2, 3, 4)},
            {"input_shapes": (2.0, 3)},
            {"input_shapes": "b"},
        ],
    )
    def test_wrong(self, options):
        with pytest.raises(ValueError, match="put_"):
            onnx_chainer.export(MLP(), X, **options)


class TestOutputs:
    def test_inputs_and_intermediate_values(self):
        def function(x):
            y = F.relu(x)
            return x, y, F.exp(y), y

        proto = check(function, X)
        assert len(set(names(proto.graph.output))) == 4

    @pytest.mark.parametrize("result", [X, 1.0, None])
    def test_not_variables(self, result):
        with pytest.raises(RuntimeError, match="must return"):
            onnx_chainer.export(Apply(lambda x: result), X)

    def test_containers_of_others(self):
        for result in ([X], [[chainer.Variable(X)]], {"a": 1}, []):
            with pytest.raises(ValueError, match="must return"):
                onnx_chainer.export(Apply(lambda x, result=result: result), X)

    def test_constant(self):
        proto = onnx_chainer.export(Apply(lambda x: chainer.Variable(X + 2)), X)
        np.testing.assert_array_equal(run(proto, {"Input_0": X})[0][0], X + 2)


class TestModel:
    def test_versions(self):
        proto = onnx_chainer.export(MLP(), X)
        assert (proto.producer_name, proto.producer_version) == ("Chainer", chainer.__version__)
        assert [(o.domain, o.version) for o in proto.opset_import] == [("", 21)]
        assert proto.ir_version == 10
        assert onnx_chainer.export(MLP(), X, opset_version=9).ir_version == 4
        assert (onnx_chainer.MINIMUM_OPSET_VERSION, onnx_chainer.MAXIMUM_OPSET_VERSION) == (9, 26)

    def test_untested_opset(self):
        with pytest.warns(UserWarning, match="opset_version 8 is not tested"):
            onnx_chainer.export(Apply(F.relu), X, opset_version=8)

    def test_without_parameters(self):
        proto = onnx_chainer.export(MLP(), X, export_params=False)
        assert not proto.graph.initializer
        assert set(names(proto.graph.input)) == {
            "Input_0",
            "param_l1_W",
            "param_l1_b",
            "param_l2_W",
        }

    def test_unused_links(self):
        class Unused(chainer.Chain):
            def __init__(self):
                super().__init__()
                with self.init_scope():
                    self.l = L.Linear(None, 3)

            def forward(self, x):
                return F.relu(x)

        with pytest.warns(UserWarning, match="/l/W is not initialized"):
            proto = onnx_chainer.export(Unused(), X)
        assert names(proto.graph.initializer) == ["param_l_b"]

    def test_files(self, tmp_path):
        path = tmp_path / "model.onnx"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            proto = onnx_chainer.export(MLP(), X, path, save_text=True, graph_name="G")
        assert onnx.load(path) == proto
        assert 'name: "G"' in (tmp_path / "model.onnx.txt").read_text()
        assert sorted(p.name for p in tmp_path.iterdir()) == ["model.onnx", "model.onnx.txt"]
        file = io.BytesIO()
        onnx_chainer.export(MLP(), X, file)
        assert onnx.load_from_string(file.getvalue()).graph.name == "Graph"

    def test_named_inputs_and_outputs(self):
        x = chainer.Variable(X)
        with pytest.warns(FutureWarning, match="return_named_inout"):
            _, inputs, outputs = onnx_chainer.export(MLP(), x, return_named_inout=True)
        assert inputs == {"Input_0": x}
        assert list(outputs) == ["Softmax_0"]

    @pytest.mark.parametrize("args", ["x", [X, 1], {"a": [X]}, None])
    def test_wrong_args(self, args):
        with pytest.raises(ValueError, match="args must be"):
            onnx_chainer.export(MLP(), args)

    def test_state_is_restored(self):
        model = MLP()
        with chainer.using_config("train", True):
            onnx_chainer.export(model, X)
            assert chainer.config.train
        assert not chainer.get_function_hooks()

    def test_convert_parameter(self):
        model = MLP()
        context = onnx_chainer.context.Context(model)
        context.set_name(model.l1.W, "w")
        tensor = onnx_chainer.convert_parameter(model.l1.W, context)
        assert tensor.name == "w"
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), model.l1.W.array)
        with pytest.raises(ValueError, match="parameter must be"):
            onnx_chainer.convert_parameter(3, context)

    def test_strict_backend(self):
        strict = pytest.importorskip("chainer_strict_backend")
        assert strict
        model = MLP()
        expected = onnx_chainer.export(model, X)
        device = chainer.get_device("strict:0")
        model.to_device(device)
        assert onnx_chainer.export(model, device.send(X)) == expected


class TestShapes:
    def test_dict_and_list(self):
        model = Apply(None)
        model.forward = lambda a, b: a + b
        for shapes in ({"b": (1, 3), "a": ("n", 3)}, [("n", 3), (1, 3)]):
            proto = onnx_chainer.export(model, {"a": X, "b": X[:1]}, input_shapes=shapes)
            dims = proto.graph.input[0].type.tensor_type.shape.dim
            assert [d.dim_param or d.dim_value for d in dims] == ["n", 3]

    def test_length_that_is_not_that_of_the_sample(self):
        # The file has the length that was asked for, and the model computes with it.
        model = Apply(lambda x: F.reshape(x, (len(x) * 3, 1)))
        proto = onnx_chainer.export(model, X, input_shapes=(5, 3))
        assert [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim] == [5, 3]
        longer = images(5, 3)
        np.testing.assert_array_equal(run(proto, {"Input_0": longer})[0][0], longer.reshape(15, 1))
        with pytest.warns(UserWarning, match="cannot be called with longer"):
            onnx_chainer.export(MLP(), X, input_shapes=("b", 7))
        with pytest.raises(ValueError, match="the length -1"):
            onnx_chainer.export(MLP(), X, input_shapes=(-1, 3))

    def test_arrays_that_depend_on_lengths(self):
        def mean(x):  # an array that is proportional to one over the length
            return F.sum(x, axis=0) * (np.array([1, 2, 0], "f") / len(x))

        proto = onnx_chainer.export(Apply(mean), X, input_shapes=("b", 3))
        longer = images(5, 3)
        expected = mean(chainer.Variable(longer)).array
        np.testing.assert_allclose(run(proto, {"Input_0": longer})[0][0], expected, rtol=1e-6)

        def other(x):
            return F.sum(x, axis=0) * (np.array([1, 2, 0], "f") + len(x))

        with pytest.warns(UserWarning, match="constant array depends on axes"):
            onnx_chainer.export(Apply(other), X, input_shapes=("b", 3))

        def of_an_input(x):
            return F.maximum(F.sum(x, axis=0), np.full(3, len(x), "f"))

        with pytest.warns(UserWarning, match="input 1 depends on axes"):
            onnx_chainer.export(Apply(of_an_input), X, input_shapes=("b", 3))

    def test_axis_of_length_one(self):
        with pytest.warns(UserWarning, match="Export with a longer sample"):
            onnx_chainer.export(Apply(F.squeeze), X[:1], input_shapes=("b", 3))

    def test_unknown_dependency(self):
        with pytest.warns(UserWarning, match="is as long as axes that have names"):
            onnx_chainer.export(
                Apply(lambda x: x + np.arange(x.shape[0], dtype="f")[:, None]),
                X,
                input_shapes=("b", 3),
            )

    def test_other_functions(self):
        def function(x):
            return F.relu(x) if len(x) < 3 else F.exp(x)

        with pytest.warns(UserWarning, match="other functions"):
            onnx_chainer.export(Apply(function), X, input_shapes=("b", 3))

    def test_fails_with_other_lengths(self):
        def function(x):
            assert len(x) == 2
            return F.relu(x)

        with pytest.warns(UserWarning, match="cannot be called with longer"):
            onnx_chainer.export(Apply(function), X, input_shapes=("b", 3))


class Gain(chainer.FunctionNode):
    factor = 3.0

    def forward(self, inputs):
        y = np.empty_like(inputs[0])
        # No expression that Variables can compute: the function needs a converter.
        np.multiply(inputs[0], np.float32(self.factor), out=y)
        return (y,)


class Other(Gain):
    pass


def gain(x):
    return Gain().apply((x,))[0]


class TestConverters:
    def test_wrong_ones(self):
        def export(converter):
            with pytest.warns(FutureWarning, match="external_converters"):
                onnx_chainer.export(Apply(gain), X, external_converters={"Gain": converter})

        with pytest.raises(TypeError, match="must return nodes, got None"):
            export(lambda call: None)
        rule = onnx_chainer.converter(register=False)
        with pytest.raises(TypeError, match="must return the name of its output"):
            export(rule(lambda nodes, x: None))
        with pytest.raises(TypeError, match="2 positional arguments|takes 1 pos") as caught:
            export(rule(lambda nodes: ""))
        assert "converter of Gain(float32[2, 3])" in caught.value.__notes__[0]
        with pytest.raises(TypeError, match="must be callable, got 3"):
            onnx_chainer.export(Apply(gain), X, external_converters={"Gain": 3})
        with pytest.raises(ValueError, match="the class MLP"):
            onnx_chainer.export(MLP, X)

    def test_all_missing_are_named(self):
        def function(x):
            return (
                Other().apply((gain(x),))[0]
                + F.cholesky(F.matmul(x, x, transb=True) + np.eye(2, dtype="f"))[0, 0]
            )

        with pytest.raises(MissingConverterError) as caught:
            onnx_chainer.export(Apply(function), X)
        text = str(caught.value)
        assert caught.value.names == ["Gain", "Other", "Cholesky"]
        for name in caught.value.names:
            assert f"{name} is not supported" in text
        assert "chainer.config.debug = True" in text
        assert '@onnx_chainer.converter("Gain")' in text

    def test_stacks_in_debug_mode(self):
        with chainer.using_config("debug", True), pytest.raises(ValueError) as caught:
            onnx_chainer.export(Apply(gain), X)
        assert "return Gain().apply((x,))[0]" in str(caught.value)
        assert "config.debug" not in str(caught.value)

    def test_decorator(self):
        @onnx_chainer.converter("Gain")
        def convert_gain(nodes, x):
            return nodes("Mul", x, nodes.const(nodes.func.factor))

        try:
            check(gain, X)
            # A subclass without a converter has its base class's converter.
            check(lambda x: Other().apply((x,))[0], X)
            assert onnx_chainer.mapping.converters["Gain"] is convert_gain
        finally:
            onnx_chainer.converter_registry.registry.unregister("Gain")

    def test_register(self):
        def convert(params):
            factor = params.context.add_const(np.float32(params.func.factor), "factor")
            return (
                onnx_helper.make_node("Mul", [*params.input_names, factor], params.output_names),
            )

        with onnx_chainer.register_converter("Gain", convert):
            proto = check(gain, X)
            assert proto.graph.node[0].output[0] == "Gain_0_const_factor"
            with pytest.raises(NameConflictError):
                onnx_chainer.register_converter("Gain", convert)
        with pytest.raises(ValueError, match="not supported"):
            check(gain, X)
        full = f"{Gain.__module__}.Gain"
        with onnx_chainer.register_converter(full, convert):
            check(gain, X)
        with pytest.raises(TypeError, match="function must be callable"):
            onnx_chainer.register_converter("Gain", 3)

    def test_external(self):
        def convert(params):
            return (
                onnx_helper.make_node(
                    "Gain", params.input_names, params.output_names, domain="my.ops", factor=3.0
                ),
            )

        with pytest.warns(FutureWarning):
            proto = onnx_chainer.export(
                Apply(gain),
                X,
                external_converters={"Gain": convert},
                external_opset_imports={"my.ops": 1},
            )
        assert [(o.domain, o.version) for o in proto.opset_import] == [("", 21), ("my.ops", 1)]
        convert.domain, convert.domain_version = "my.ops", 2
        with pytest.warns(FutureWarning):
            proto = onnx_chainer.export(Apply(gain), X, external_converters={"Gain": convert})
        assert proto.opset_import[1].version == 2

    def test_external_without_domain(self):
        def convert(params):
            return (onnx_helper.make_node("Gain", params.input_names, params.output_names),)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            onnx_chainer.export(Apply(gain), X, external_converters={"Gain": convert})
        assert [w.category for w in caught] == [FutureWarning, UserWarning]

    def test_old_style_converter(self):
        from onnx_chainer.functions.opset_version import support

        seen = []

        @support((9, 13))
        def convert(params):
            seen.append(params.opset_version)
            return (onnx_helper.make_node("Identity", params.input_names, params.output_names),)

        with onnx_chainer.register_converter("Gain", convert):
            for opset in (9, 12, 21):
                onnx_chainer.export(Apply(gain), X, opset_version=opset)
            assert seen == [9, 9, 13]
            with (
                pytest.warns(UserWarning, match="not tested"),
                pytest.raises(RuntimeError, match="Gain.*opset 8"),
            ):
                onnx_chainer.export(Apply(gain), X, opset_version=8)

    def test_versions(self):
        @onnx_chainer.converter(opsets=(11, 13), register=False)
        def convert(nodes, x):
            assert nodes.version in (11, 13)
            return nodes("Identity", x)

        with onnx_chainer.register_converter("Gain", convert):
            onnx_chainer.export(Apply(gain), X, opset_version=12)
            with pytest.raises(RuntimeError, match="Gain cannot be exported to opset 9"):
                onnx_chainer.export(Apply(gain), X, opset_version=9)

    def test_composed_functions_need_none(self):
        from chainer.functions.rules import ComposedFunction

        class LogCosh(ComposedFunction):
            def compose(self, x):
                return (F.log(F.cosh(x)),)

        proto = check(lambda x: LogCosh().apply((x,))[0], X, output_names="y")
        assert operators(proto) == ["Cosh", "Log", "Identity"]

    def test_old_style_functions(self):
        class Twice(chainer.Function):
            def forward(self, inputs):
                return (inputs[0] * 2,)

        def convert(params):
            assert isinstance(params.func, Twice)
            assert params.func.inputs[0].shape == (2, 3)
            return (onnx_helper.make_node("Add", params.input_names * 2, params.output_names),)

        with onnx_chainer.register_converter("Twice", convert):
            check(lambda x: Twice()(x), X)

    def test_table_of_the_pack(self):
        import importlib

        from onnx_chainer import pack

        for module, listed in pack.CONVERTERS.items():
            converters = importlib.import_module(f"onnx_chainer.converters.{module}")
            for name in listed.split():
                assert callable(getattr(converters, name)), name
            defined = {
                name
                for name, value in vars(converters).items()
                if hasattr(value, "rule") and not name.startswith("_")
            }
            assert defined <= set(listed.split()), module


class TestRestrictions:
    @pytest.mark.parametrize(
        "function",
        [
            lambda x: F.pad(x, 1, "mean"),
            lambda x: F.pad(x, 1, "constant", constant_values=((1, 2), (3, 4))),
        ],
    )
    def test_pad(self, function):
        with pytest.raises(ValueError, match="Pad cannot be exported with"):
            onnx_chainer.export(Apply(function), X)


class TestTestcase:
    def test_files(self, tmp_path):
        model = MLP()
        with pytest.warns(FutureWarning, match="output_grad"):
            onnx_chainer.export_testcase(model, X, tmp_path / "case", output_grad=True)
        folder = tmp_path / "case" / "test_data_set_0"
        found = sorted(p.name for p in folder.iterdir())
        assert found == [
            "gradient_0.pb",
            "gradient_1.pb",
            "gradient_2.pb",
            "input_0.pb",
            "output_0.pb",
        ]
        tensor = onnx.TensorProto.FromString((folder / "gradient_0.pb").read_bytes())
        assert tensor.name == "param_l1_W"
        check_model_expect(str(tmp_path / "case"), ["Input_0"])
        with pytest.raises(AssertionError):
            check_model_expect(str(tmp_path / "case"), ["x"])

    def test_data_of_another_length(self, tmp_path):
        onnx_chainer.export_testcase(MLP(), X, tmp_path, input_shapes=("b", 3))
        raw = (tmp_path / "test_data_set_1" / "output_0.pb").read_bytes()
        assert list(onnx.TensorProto.FromString(raw).dims) == [4, 2]
        check_model_expect(str(tmp_path))

    def test_wrong_data_is_found(self, tmp_path):
        onnx_chainer.export_testcase(MLP(), X, tmp_path)
        path = tmp_path / "test_data_set_0" / "output_0.pb"
        onnx_helper.write_tensor_pb(path, "Softmax_0", np.zeros((2, 2), np.float32))
        with pytest.raises(AssertionError):
            check_model_expect(str(tmp_path))

    def test_gradients_of_several_outputs(self, tmp_path):
        model = chainer.Sequential(L.Linear(3, 2), lambda y: (y * 2, y + 1))
        with pytest.warns(FutureWarning):
            onnx_chainer.export_testcase(model, X, tmp_path, output_grad=True)
        raw = (tmp_path / "test_data_set_0" / "gradient_1.pb").read_bytes()
        gradient = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(raw))
        np.testing.assert_allclose(gradient, [6, 6])

    def test_refused_arguments(self, tmp_path):
        with pytest.raises(TypeError, match="filename"):
            onnx_chainer.export_testcase(MLP(), X, tmp_path, filename="x")

    def test_generators(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        path = get_test_data_set.gen_test_data_set(MLP(), X, "mlp", 13)
        assert path.replace("\\", "/") == "out/opset13/mlp"
        check_model_expect(path)
        np.testing.assert_array_equal(input_generator.increasing(4), np.float32([-1, -0.5, 0, 0.5]))
        np.testing.assert_array_equal(input_generator.increasing(3, dtype=np.int32), [-1, 0, 1])
        assert (input_generator.nonzero_increasing(3) != 0).all()
        assert (input_generator.positive_increasing(3) > 0).all()


def test_import_without_onnx():
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import onnx_chainer, chainer, numpy as np\n"
        "try: onnx_chainer.export(chainer.Sequential(), np.zeros(2))\n"
        "except ImportError as e: print(e)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    command = chainer.utils.install_command("onnx-chainer")
    assert out.stdout == f"onnx is not installed; install it with: {command}\n"

"""Static chains: numbers, schedules and side effects."""

import copy
import pickle
import weakref

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import static_code, static_graph
from chainer.graph_optimizations import static_graph as module
from chainer.graph_optimizations.static_graph_utilities import static_forward_optimizations

KEY = "train:(5, 3)float32"


class MLP(chainer.Chain):
    """Three layers, with normalization, and with dropout on request."""

    def __init__(self, ratio=0.0):
        super().__init__()
        self.ratio = ratio
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.bn = L.BatchNormalization(4)
            self.l2 = L.Linear(4, 2)

    def compute(self, x):
        return self.l2(F.dropout(F.relu(self.bn(self.l1(x))), self.ratio))

    def forward(self, x):
        return self.compute(x)


class StaticMLP(MLP):
    @static_graph
    def forward(self, x):
        return self.compute(x)


class Both(chainer.Chain):
    """Returns what a function makes of the arguments."""

    def __init__(self, compute):
        super().__init__()
        self.compute = compute

    @static_graph
    def forward(self, *xs):
        return self.compute(*xs)


def batch(seed=0, dtype=np.float32):
    return np.random.RandomState(seed).randn(5, 3).astype(dtype)


def lengths(chain):
    return {key: len(value) for key, value in chain.schedule_manager.schedules.items()}


@pytest.fixture
def x():
    return chainer.Variable(batch())


@pytest.fixture
def mlp():
    return StaticMLP()


class TestNumbers:
    def test_training_is_that_of_define_by_run(self):
        models = [MLP(0.5), StaticMLP(0.5)]
        models[1].copyparams(models[0])
        losses = []
        for model in models:
            np.random.seed(0)
            optimizer = chainer.optimizers.Adam().setup(model)
            losses.append([])
            for step in range(4):
                x = chainer.Variable(batch(step))
                loss = F.sum(model(x) ** 2)
                model.cleargrads()
                loss.backward()
                optimizer.update()
                losses[-1] += [loss.array, x.grad]
        for expected, actual in zip(*losses, strict=True):
            np.testing.assert_array_equal(actual, expected)
        for expected, actual in zip(models[0].params(), models[1].params(), strict=True):
            np.testing.assert_array_equal(actual.array, expected.array)
        # The running statistics count each call once.
        np.testing.assert_array_equal(models[1].bn.avg_mean, models[0].bn.avg_mean)

    @pytest.mark.parametrize("train", [True, False])
    def test_gradients_reach_parameters_in_both_modes(self, mlp, x, train):
        with chainer.using_config("train", train):
            F.sum(mlp(x)).backward()
        assert all(param.grad is not None for param in mlp.params())
        assert x.grad is not None

    def test_replaced_and_changed_parameters_are_seen(self, mlp, x):
        for change in (lambda p: p.array.fill(0.5), lambda p: setattr(p, "array", p.array * 2)):
            for param in mlp.params():
                change(param)
            np.testing.assert_array_equal(mlp(x).array, mlp.compute(x).array)

    def test_outputs_without_a_loss(self, x):
        weight = chainer.Parameter(2.0, ())
        chain = Both(lambda x: (x * weight, F.exp(x)))
        first, _ = chain(x)
        F.sum(first).backward()
        np.testing.assert_allclose(x.grad, 2)

    def test_earlier_outputs_stay_valid(self, mlp):
        with chainer.using_config("train", False):
            first = mlp(batch(0))
            before = first.array.copy()
            mlp(batch(1))
        np.testing.assert_array_equal(first.array, before)

    def test_gradients_of_gradients(self, x):
        chain = Both(lambda x: x**3)
        (gx,) = chainer.grad([chain(x)], [x], enable_double_backprop=True)
        (ggx,) = chainer.grad([gx], [x])
        np.testing.assert_allclose(ggx.array, 6 * x.array, rtol=1e-5)

    def test_dropout_draws_anew(self, x):
        chain = Both(lambda x: F.dropout(x))
        np.random.seed(0)
        masks = []
        for _ in range(2):
            y = chain(x)
            F.sum(y).backward()
            masks.append(y.array != 0)
        assert (masks[0] != masks[1]).any()

    def test_without_backprop(self, mlp, x):
        with chainer.no_backprop_mode():
            assert mlp(x).creator is None
        assert list(lengths(mlp)) == ["test:(5, 3)float32"]

    def test_unrolled_network(self):
        class Unrolled(chainer.Chain):
            def __init__(self):
                super().__init__()
                with self.init_scope():
                    self.lstm = L.LSTM(3, 2)

            def compute(self, xs):
                self.lstm.reset_state()
                return [self.lstm(x) for x in xs]

            forward = static_graph(compute)

        chain = Unrolled()
        xs = [batch(i) for i in range(3)]
        ys = chain(xs)
        assert isinstance(ys, tuple)
        for y, expected in zip(ys, chain.compute(xs), strict=True):
            np.testing.assert_array_equal(y.array, expected.array)


class TestArguments:
    def test_nested(self):
        seen = []

        def compute(a, b):
            seen.append((a, b))
            return [a * 2, (b[0] + 1, [b[1][0] * 2])]

        a = np.ones(2, np.float32)
        result = Both(compute)(a, [chainer.Variable(a), [a + 1]])
        first, (second, (third,)) = result
        assert type(result) is type(result[1]) is type(result[1][1]) is tuple
        np.testing.assert_array_equal(
            np.stack([y.array for y in (first, second, third)])[:, 0], [2, 2, 4]
        )
        (given, (other, inner)) = seen[0]
        assert isinstance(given, chainer.Variable) and isinstance(other, chainer.Variable)
        assert type(inner) is tuple and isinstance(inner[0], chainer.Variable)

    @pytest.mark.parametrize("bad", [1, "x", None, {}])
    def test_other_arguments(self, bad):
        with pytest.raises(TypeError, match=f"got {type(bad).__name__}"):
            Both(lambda x: x)([np.ones(1), [bad]])

    @pytest.mark.parametrize("bad", [None, np.ones(1), {}])
    def test_other_results(self, bad):
        with pytest.raises(TypeError, match=f"got {type(bad).__name__}"):
            Both(lambda x: bad)(np.ones(1))

    def test_an_argument_that_is_returned(self, x):
        y = Both(lambda x: x)(x)
        np.testing.assert_array_equal(y.array, x.array)
        F.sum(y).backward()
        np.testing.assert_array_equal(x.grad, 1)

    def test_nothing(self):
        assert Both(lambda: ())() == ()

    def test_method_of_another_name_and_keywords(self, x):
        class Chain(chainer.Chain):
            @static_graph
            def static_call(self, x, factor=1):
                """Multiplies."""
                return x * factor

        np.testing.assert_array_equal(Chain().static_call(x, factor=3).array, 3 * x.array)
        assert Chain.static_call.__name__ == "static_call"
        assert Chain.static_call.__doc__ == "Multiplies."

    def test_not_a_chain(self):
        with pytest.raises(TypeError, match="methods of chains, got ndarray"):
            static_graph(lambda x: x)(np.ones(1))

    def test_options(self, x):
        class Chain(chainer.Chain):
            @static_graph(minimize_cache_size=True, verbosity_level=2, unknown=1)
            def forward(self, x):
                return x * 2

        chain = Chain()
        chain(x)
        assert chain.schedule_manager.minimize_cache_size is True
        assert chain.schedule_manager.verbosity_level == 2


class TestSwitches:
    def test_configuration(self, mlp, x):
        with chainer.using_config("use_static_graph", False):
            y = mlp(x)
        assert not isinstance(y.creator, module.StaticScheduleFunction)
        assert "schedule_manager" not in vars(mlp) and "static_schedule" not in vars(mlp)

    def test_define_by_run_in_test_mode(self, x):
        class Chain(chainer.Chain):
            @static_graph(force_test_define_by_run=True)
            def forward(self, x):
                return x * 2

        chain = Chain()
        with chainer.using_config("train", False):
            chain(x)
            assert "schedule_manager" not in vars(chain)
        chain(x)
        assert lengths(chain) == {KEY: 1}

    def test_nesting(self, mlp, x):
        outer = Both(lambda x: mlp(x))
        with pytest.raises(RuntimeError, match="Not allowed to nest static chains") as error:
            outer(x)
        assert error.value.args[1] is mlp
        # The error does not leave the recording open.
        assert chainer.config.schedule_func is None
        assert mlp(x).shape == (5, 2)


class TestSchedules:
    def test_attributes(self, mlp, x):
        assert "schedule_manager" not in vars(mlp)
        y = mlp(x)
        assert isinstance(y.creator, module.StaticScheduleFunction)
        assert y.creator.label == "StaticScheduleFunction"
        assert mlp.static_schedule is y.creator
        assert mlp.schedule_manager.schedules == {KEY: [y.creator]}
        assert mlp.schedule_manager.minimize_cache_size is False

    def test_configuration_entry(self, x):
        seen = []

        def compute(x):
            seen.append(chainer.config.schedule_func)
            return x * 2

        chain = Both(compute)
        chain(x)
        assert seen == [chain.static_schedule]
        assert chainer.config.schedule_func is None

    def test_each_call_of_an_iteration_has_its_own(self, mlp, x):
        for count in range(1, 4):
            y = mlp(x)
            assert lengths(mlp) == {KEY: count}
        mlp.schedule_manager.end_forward()
        for _ in range(3):
            y = mlp(x)
        assert lengths(mlp) == {KEY: 3}
        F.sum(y).backward()
        mlp(x)
        assert lengths(mlp) == {KEY: 3}

    def test_gradient_of_grad_ends_an_iteration(self, mlp, x):
        for _ in range(3):
            chainer.grad([mlp(x)], [x])
        assert lengths(mlp) == {KEY: 1}

    def test_several_calls_in_one_graph(self, mlp):
        xs = [chainer.Variable(batch(i)) for i in range(3)]
        F.sum(sum(mlp(x) for x in xs)).backward()
        expected = [x.grad for x in xs]
        for x in xs:
            x.cleargrad()
        F.sum(sum(mlp.compute(x) for x in xs)).backward()
        for x, gradient in zip(xs, expected, strict=True):
            np.testing.assert_allclose(gradient, x.grad, rtol=1e-6)

    def test_test_mode_has_one(self, mlp, x):
        with chainer.using_config("train", False):
            mlp(x), mlp(x)
        assert lengths(mlp) == {"test:(5, 3)float32": 1}

    def test_keys(self, mlp):
        chain = Both(lambda *xs: F.sum(xs[0]))
        chain(batch(), [np.zeros(3, np.int32)])
        chain(batch(dtype=np.float64))
        assert list(lengths(chain)) == ["train:(5, 3)float32(3,)int32", "train:(5, 3)float64"]

    @pytest.mark.parametrize(
        ("minimize", "expected"), [(True, 1), (False, 2)], ids=["minimized", "kept"]
    )
    def test_cache_size(self, x, minimize, expected):
        class Chain(chainer.Chain):
            @static_graph(minimize_cache_size=minimize)
            def forward(self, x):
                return x * 2

        chain = Chain()
        chain(x)
        with chainer.using_config("train", False):
            chain(x)
        assert len(lengths(chain)) == expected

    def test_graphs_of_earlier_iterations_are_released(self, mlp):
        """The schedules do not keep the variables of two iterations alive."""
        h = mlp(batch())
        F.sum(h).backward()
        inner = weakref.ref(h.creator.inputs[0])
        del h
        mlp(batch())
        assert inner() is None

    @pytest.mark.parametrize(
        "duplicate",
        [
            copy.deepcopy,
            lambda chain: chain.copy("copy"),
            lambda chain: chain.copy("share"),
            lambda chain: pickle.loads(pickle.dumps(chain)),
        ],
        ids=["deepcopy", "copy", "share", "pickle"],
    )
    def test_copies(self, mlp, x, duplicate):
        expected = mlp(x)
        y = duplicate(mlp)(x)
        np.testing.assert_array_equal(y.array, expected.array)
        F.sum(y).backward()
        F.sum(expected).backward()

    @pytest.mark.parametrize(("level", "count"), [(0, 0), (1, 1), (2, 3)])
    def test_messages(self, x, level, count, capsys):
        class Chain(chainer.Chain):
            @static_graph(verbosity_level=level)
            def forward(self, x):
                return x * 2

        chain = Chain()
        for _ in range(2):
            F.sum(chain(x)).backward()
        assert len(capsys.readouterr().out.splitlines()) == count


class TestStaticCode:
    def test_side_effects_run_once_for_each_call(self, x):
        log = []

        @static_code
        def note(a, b=None):
            log.append((a, b))

        chain = Both(lambda x: [note(1, b=2), x * 2][1])
        for _ in range(3):
            F.sum(chain(x)).backward()
        assert log == [(1, 2)] * 3
        note(3)  # an ordinary call
        assert log[-1] == (3, None)
        assert note.__name__ == "note"

    def test_arrays(self, x):
        @static_code(func_name="double")
        def double(inputs, outputs=None):
            if outputs is None:
                return [inputs[0] * 2]
            outputs[0][...] = inputs[0] * 2

        target = np.empty_like(x.array)

        def compute(x):
            (y,) = double(inputs=[x.array])
            assert double(inputs=[x.array], outputs=[target]) is None
            return x * 1 + y

        chain = Both(compute)
        np.testing.assert_array_equal(chain(x).array, 3 * x.array)
        np.testing.assert_array_equal(target, 2 * x.array)
        schedule = chain.static_schedule
        assert [info.func_name for info in schedule.schedule_info_list] == ["double", "double"]
        assert not schedule.is_empty()
        assert repr(schedule) == "StaticScheduleFunction(Both, static_code: [double, double])"
        target[...] = 0
        schedule.schedule_info_list[1]()
        np.testing.assert_array_equal(target, 2 * x.array)

    def test_known_arrays(self, x):
        @static_code
        def same(inputs):
            return inputs

        assert same([x.array])[0] is x.array
        with pytest.raises(RuntimeError, match="returned an array that other functions use"):
            Both(lambda x: [same(inputs=(x.array,)), x][1])(x)

    def test_wrong_results(self, x):
        @static_code
        def wrong():
            return x.array

        with pytest.raises(TypeError, match="None or a tuple or list of arrays, got ndarray"):
            Both(lambda x: [wrong(), x][1])(x)

    def test_forward_of_a_function(self, x):
        node = F.activation.relu.ReLU()
        (y,) = static_forward_optimizations(node, (x.array,))
        np.testing.assert_array_equal(y, np.maximum(x.array, 0))

    def test_array_info(self):
        array = np.zeros((2, 3), np.float16)
        info = module.ArrayInfo(array)
        assert repr(info) == "ArrayInfo(shape=(2, 3), dtype=float16, alive)"
        assert info.refers_to(array) and not info.was_deleted()
        new = info.get_new_empty_array()
        assert (new.shape, new.dtype) == ((2, 3), np.float16)
        del array
        assert info.was_deleted()


def test_names():
    import chainer.graph_optimizations as package

    assert package.static_graph is module
    assert package.static_code is chainer.static_code
    assert module.static_graph is chainer.static_graph


def test_on_a_device():
    pytest.importorskip("chainer_strict_backend")
    device = chainer.get_device("@strict")
    chain = StaticMLP().to_device(device)
    x = chainer.Variable(device.send(batch()))
    y = chain(x)
    F.sum(y).backward()
    for array in (y.array, x.grad, chain.l1.W.grad):
        assert chainer.backend.get_device_from_array(array) == device


def test_options_are_keywords():
    with pytest.raises(TypeError, match="static_graph decorates a method, got 2"):
        chainer.static_graph(2)

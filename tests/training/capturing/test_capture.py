"""Captured steps compute what the same steps compute as they are written, bit by bit."""

from __future__ import annotations

import warnings
from inspect import signature

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers, training
from chainer.training.capturing.capture import CaptureError
from chainer.training.optimizers.sgd import SGDRule

STEPS = 10


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(6, 5)
            self.bn = L.BatchNormalization(5)
            self.l2 = L.Linear(5, 3)

    def forward(self, x):
        return self.l2(F.dropout(F.relu(self.bn(self.l1(x))), 0.4))


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(1, 3, 3)
            self.c2 = L.Convolution2D(3, 4, 3)
            self.fc = L.Linear(None, 3)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.c1(x)), 2)
        return self.fc(F.average_pooling_2d(F.relu(self.c2(h)), 2))


class LanguageModel(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(9, 4)
            self.lstm = L.LSTM(4, 5)
            self.out = L.Linear(5, 9)

    def forward(self, x):
        return self.out(self.lstm(self.embed(x)))


class Training:
    """A model, an optimizer and a step of them, once as written and once captured."""

    def __init__(self, make, optimizer=optimizers.Adam, **options):
        np.random.seed(0)
        self.model = L.Classifier(make())
        self.optimizer = optimizer().setup(self.model)
        self.options = options

    def step(self, *batch):
        loss = 0
        for x, t in zip(batch[::2], batch[1::2]):
            loss = loss + self.model(x, t)
        self.model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        self.optimizer.update()
        return loss

    def capture(self):
        return chainer.capture(
            self.step, self.model, self.optimizer, on_failure="error", **self.options
        )

    def values(self):
        arrays = [p.array.copy() for p in self.model.params()]
        for link in self.model.links():
            arrays += [np.copy(getattr(link, name)) for name in sorted(link._persistent)]
        return arrays


def images(*shape, classes=3):
    rng = np.random.RandomState(1)
    return [
        (rng.rand(*shape).astype("f"), rng.randint(0, classes, shape[0]).astype("i"))
        for _ in range(STEPS)
    ]


def words():
    rng = np.random.RandomState(1)
    return [tuple(rng.randint(0, 9, (6, 4)).astype("i")) for _ in range(STEPS)]


def compare(make, batches, change=lambda i, training: None, optimizer=optimizers.Adam):
    """Runs both; returns the captured step."""
    runs = []
    for is_captured in (False, True):
        run = Training(make, optimizer)
        step = run.capture() if is_captured else run.step
        np.random.seed(3)
        losses = []
        for i, batch in enumerate(batches):
            change(i, run)
            losses.append(step(*batch).array.tobytes())
        runs.append((losses, run.values(), np.random.rand()))
    assert runs[0][0] == runs[1][0]
    for a, b in zip(runs[0][1], runs[1][1], strict=True):
        np.testing.assert_array_equal(a, b)
    assert runs[0][2] == runs[1][2]
    return step


def programs(step):
    """How many programs are in use."""
    return chainer.explain(step).count("in use")


class TestModels:
    @pytest.mark.parametrize(
        "name",
        [
            *("SGD", "MomentumSGD", "NesterovAG", "CorrectedMomentumSGD", "Adam", "AdamW"),
            *("AMSGrad", "AdaGrad", "AdaDelta", "RMSprop", "RMSpropGraves", "SMORMS3"),
            *(
                "AdaBound",
                "AMSBound",
                "MSVAG",
                "LAMB",
                "RAdam",
                "NAdam",
                "Adafactor",
                "Muon",
                "Lion",
            ),
        ],
    )
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_optimizers(self, name, dtype):
        """The learning rate changes, and the numbers that depend on the count of updates."""

        def change(i, training):
            rate = "alpha" if hasattr(training.optimizer, "alpha") else "lr"
            if i == 7 and getattr(training.optimizer, rate, None) is not None:
                setattr(training.optimizer, rate, getattr(training.optimizer, rate) / 2)

        def make():
            eps = {"eps": 1e-4} if "eps" in signature(getattr(optimizers, name)).parameters else {}
            return getattr(optimizers, name)(**eps if dtype == "float16" else {})

        data = [(x.astype(dtype), t) for x, t in images(4, 6)]
        with chainer.using_config("dtype", np.dtype(dtype)):
            assert programs(compare(MLP, data, change, make)) == 1

    def test_rate_of_adafactor_instead_of_its_schedule(self):
        def change(i, training):
            if i == 5:
                training.optimizer.lr = 0.01

        step = compare(MLP, images(4, 6), change, optimizers.Adafactor)
        assert programs(step) == 2

    def test_convolutions(self):
        assert programs(compare(LeNet, images(2, 1, 10, 10))) == 1

    def test_state_is_carried_and_reset(self):
        def reset(i, training):
            if i in (6, 8):
                training.model.predictor.lstm.reset_state()

        step = compare(LanguageModel, words(), reset)
        text = chainer.explain(step)
        assert "carried from call to call: attribute 'h' of LSTM" in text

    @pytest.mark.parametrize("dtype", ["float16", "float64"])
    def test_dtypes(self, dtype):
        with chainer.using_config("dtype", np.dtype(dtype)):
            batches = [(x.astype(dtype), t) for x, t in images(4, 6)]

            def optimizer():
                return optimizers.MomentumSGD()

            assert programs(compare(MLP, batches, optimizer=optimizer)) == 1

    def test_inference(self):
        model = MLP()
        step = chainer.capture(model, model, on_failure="error")
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            for x, _ in images(4, 6):
                np.testing.assert_array_equal(step(x).array, model(x).array)
        assert programs(step) == 1

    def test_structures(self):
        link = L.Linear(3, 2)

        def function(pair, options, scale=2):
            a, b = pair
            return {"sum": link(a) + link(b), "raw": [options["c"] * 2], "none": None}, scale > 1

        step = chainer.capture(function, link, on_failure="error")
        rng = np.random.RandomState(0)
        for _ in range(4):
            a, b, c = rng.rand(3, 2, 3).astype("f")
            expected, _ = function((a, chainer.Variable(b)), {"c": c})
            found, flag = step((a, chainer.Variable(b)), {"c": c})
            assert flag is True
            assert found["none"] is None
            assert isinstance(found["raw"][0], np.ndarray)
            np.testing.assert_array_equal(found["raw"][0], expected["raw"][0])
            np.testing.assert_array_equal(found["sum"].array, expected["sum"].array)


class TestPitfalls:
    """One test for each way in which a record could differ from the step without a sign."""

    def test_other_shapes(self):
        batches = images(4, 6)
        batches[5:] = [(x[:3], t[:3]) for x, t in batches[5:]]
        assert programs(compare(MLP, batches)) == 2

    def test_configuration(self):
        def change(i, training):
            chainer.config.train = i < 5

        try:
            step = compare(MLP, images(4, 6), change)
        finally:
            del chainer.config.train
        assert programs(step) == 2

    def test_learning_rate(self):
        def change(i, training):
            training.optimizer.lr = 0.1 / (i + 1)

        assert programs(compare(MLP, images(4, 6), change, optimizers.MomentumSGD)) == 1

        def change_alpha(i, training):
            training.optimizer.alpha = 0.01 / (i + 1)

        assert programs(compare(MLP, images(4, 6), change_alpha)) == 1

    def test_learning_rate_of_one_parameter(self):
        def change(i, training):
            if i == 5:
                training.model.predictor.l1.W.update_rule.hyperparam.lr = 0.5

        compare(MLP, images(4, 6), change, optimizers.SGD)

    def test_other_hyperparameters(self):
        def change(i, training):
            if i == 5:
                training.optimizer.momentum = 0.5

        step = compare(MLP, images(4, 6), change, optimizers.MomentumSGD)
        assert "recorded anew" in chainer.explain(step)

    def test_hooks_and_their_settings(self):
        def change(i, training):
            if i == 0:
                training.optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
            if i == 5:
                training.optimizer._hooks.pre["WeightDecay"].rate = 0.3
            if i == 8:
                training.optimizer.remove_hook("WeightDecay")

        compare(MLP, images(4, 6), change)

    @pytest.mark.parametrize("threshold", [0.05, 0.5, 100.0])
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_gradient_clipping(self, threshold, dtype):
        def add_hook(i, training):
            if i == 0:
                hook = chainer.optimizer_hooks.GradientClipping(threshold)
                training.optimizer.add_hook(hook)

        with chainer.using_config("dtype", np.dtype(dtype)):
            batches = [(x.astype(dtype), t) for x, t in images(4, 6)]
            assert programs(compare(MLP, batches, add_hook, optimizers.SGD)) == 1

    def test_parameter_is_replaced(self):
        def change(i, training):
            if i == 5:
                W = training.model.predictor.l1.W
                W.array = W.array * 2

        step = compare(MLP, images(4, 6), change)
        assert "the array of parameter 'W' was replaced" in chainer.explain(step)

    def test_parameter_is_changed_in_place(self):
        def change(i, training):
            if i == 5:
                training.model.predictor.l1.W.array[...] *= 2

        assert programs(compare(MLP, images(4, 6), change)) == 1

    def test_parameter_is_frozen(self):
        def change(i, training):
            if i == 5:
                training.model.predictor.l1.disable_update()

        step = compare(MLP, images(4, 6), change)
        assert "the update rule of parameter" in chainer.explain(step)

    def test_parameter_is_added(self):
        def change(i, training):
            if i == 5:
                with training.model.predictor.init_scope():
                    training.model.predictor.extra = chainer.Parameter(np.ones(2, "f"))

        step = compare(MLP, images(4, 6), change)
        assert "added or removed" in chainer.explain(step)

    def test_state_is_loaded(self, tmp_path):
        def change(i, training):
            if i == 3:
                chainer.serializers.save_npz(tmp_path / "o", training.optimizer)
            if i == 7:
                chainer.serializers.load_npz(tmp_path / "o", training.optimizer)

        compare(MLP, images(4, 6), change)

    def test_states_that_are_referred_to_stay_the_same_arrays(self):
        held = {}

        def change(i, training):
            if i == 1:
                rule = training.model.predictor.l1.W.update_rule
                held[id(training)] = rule, rule.state["m"]

        compare(MLP, images(4, 6), change)
        assert len(held) == 2
        for rule, m in held.values():
            assert rule.state["m"] is m

    def test_two_signatures_share_states(self):
        batches = images(4, 6)
        batches[1::2] = [(x[:3], t[:3]) for x, t in batches[1::2]]
        assert programs(compare(MLP, batches)) == 2

    def test_noise_of_the_random_source(self):
        def noisy(x):
            return x + F.gaussian(x * 0, x * 0)

        class Noisy(MLP):
            def forward(self, x):
                return super().forward(noisy(x))

        assert programs(compare(Noisy, images(4, 6))) == 1

    def test_indexes_out_of_bounds_raise(self):
        run = Training(LanguageModel)
        step = run.capture()
        for batch in words():
            step(*batch)
        assert programs(step) >= 1
        bad = [np.array(x) for x in words()[0]]
        bad[0][0] = 9
        with pytest.raises(IndexError):
            step(*bad)

    def test_link_hooks_and_the_debug_mode_run_the_step_as_written(self):
        run = Training(MLP)
        step = run.capture()
        batches = images(4, 6)
        for batch in batches[:5]:
            step(*batch)
        labels = []

        class Hook(chainer.LinkHook):
            name = "recording"

            def forward_preprocess(self, args):
                labels.append(args.link.name)

        with Hook():
            step(*batches[5])
        assert "l1" in labels
        x, t = batches[6]
        with chainer.using_config("debug", True), pytest.raises(RuntimeError, match="NaN"):
            step(x * np.float32("nan"), t)

    def test_memory_of_arguments_belongs_to_the_caller(self):
        link = L.Linear(6, 2)
        step = chainer.capture(lambda x: link(F.relu(x)), link, on_failure="error")
        for i in range(STEPS):
            # Another layout of the same values, and memory that changes after the call.
            x = np.full((4, 6), i - 4, "f", order="F" if i % 2 else "C")
            y = step(x)
            x[...] = -1
            expected = np.full((4, 6), max(i - 4, 0), "f") @ link.W.array.T + link.b.array
            np.testing.assert_allclose(y.array, expected, rtol=1e-6)

    def test_function_hook_sees_every_call(self):
        calls = []

        class Hook(chainer.FunctionHook):
            name = "counting"

            def forward_preprocess(self, function, in_data):
                calls.append(function.label)

        run = Training(MLP)
        step = run.capture()
        batches = images(4, 6)
        for batch in batches[:5]:
            step(*batch)
        with Hook():
            step(*batches[5])
        assert "LinearFunction" in calls

    def test_reports(self):
        run = Training(MLP)
        step = run.capture()
        reporter = chainer.Reporter()
        reporter.add_observer("main", run.model)
        for batch in images(4, 6):
            observation = {}
            with reporter.scope(observation):
                loss = step(*batch)
            assert set(observation) == {"main/loss", "main/accuracy"}
            assert float(observation["main/loss"].array) == float(loss.array)

    def test_results_are_not_overwritten(self):
        run = Training(MLP)
        step = run.capture()
        losses = [step(*batch) for batch in images(4, 6)]
        assert len({float(loss.array) for loss in losses}) == STEPS

    def test_results_have_no_graph(self):
        run = Training(MLP)
        step = run.capture()
        for batch in images(4, 6):
            loss = step(*batch)
        with pytest.raises(RuntimeError, match="a result of a captured step has no graph"):
            loss.backward()

    @pytest.mark.parametrize("keep_grads", [False, True])
    def test_gradients(self, keep_grads):
        run, other = Training(MLP, keep_grads=keep_grads), Training(MLP)
        step = run.capture()
        for batch in images(4, 6):
            state = np.random.get_state()
            step(*batch)
            np.random.set_state(state)
            other.step(*batch)
        for a, b in zip(run.model.params(), other.model.params(), strict=True):
            if keep_grads:
                np.testing.assert_array_equal(a.grad, b.grad)
            else:
                assert a.grad is None

    def test_explain_names_what_is_used(self):
        run = Training(MLP)
        step = run.capture()
        assert "captured step" in chainer.explain(step)
        for batch in images(4, 6)[:4]:
            step(*batch)
        text = chainer.explain(step)
        assert "bytes of intermediate results, in use" in text
        assert "numbers that grow: t" in text


def refused(function, *targets, batches=None):
    """Returns the warning of a step that runs as it is written, and what it returned."""
    step = chainer.capture(function, *targets)
    results = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for batch in batches or [(x,) for x, _ in images(4, 6)]:
            results.append(step(*batch))
    (warning,) = [w for w in caught if "cannot be captured" in str(w.message)]
    assert warning.filename == __file__
    assert "runs as it is written" in chainer.explain(step)
    return str(warning.message), results


class TestRefused:
    """Steps that cannot be repeated run as they are written, with one warning."""

    @pytest.mark.parametrize(
        "read",
        [
            lambda y: float(y.array.sum()),
            lambda y: y.array.sum().item(),
            lambda y: 1 if (y.array > 0).all() else 2,
            lambda y: int(y.array.argmax()),
            lambda y: len(np.nonzero(y.array)[0]),
            lambda y: len(y.array[y.array > 0]),
        ],
    )
    def test_values_decide(self, read):
        link = L.Linear(6, 2)

        def step(x):
            y = link(x)
            return y * read(y)

        text, results = refused(step, link)
        assert "value" in text
        for (x, _), y in zip(images(4, 6), results, strict=True):
            np.testing.assert_array_equal(y.array, step(x).array)

    def test_line_is_named(self):
        link = L.Linear(6, 2)
        text, _ = refused(lambda x: link(x) * float(x.sum()), link)
        assert "test_capture.py, line" in text

    def test_random_numbers_of_numpy(self):
        link = L.Linear(6, 2)
        text, results = refused(lambda x: link(x) + np.random.rand(4, 2).astype("f"), link)
        assert "differs from that of the step as written" in text
        assert len({y.array.tobytes() for y in results}) == STEPS

    def test_arrays_made_by_the_step_without_chainer(self):
        link, count = L.Linear(6, 2), [0]

        def step(x):
            count[0] += 1
            return link(x) * np.full((4, 2), count[0], "f")

        text, _ = refused(step, link)
        assert "differs from that of the step as written" in text

    def test_arguments_that_are_changed(self):
        link = L.Linear(6, 2)

        def step(x):
            x *= 2
            return link(x)

        text, _ = refused(step, link)
        assert "an argument is changed in place" in text

    def test_arrays_that_are_kept_elsewhere(self):
        link, kept = L.Linear(6, 2), []

        def step(x):
            y = link(x)
            kept[:] = [y.array]
            return y

        text, results = refused(step, link)
        assert "it keeps an array (float32[4, 2])" in text
        np.testing.assert_array_equal(kept[0], results[-1].array)

    def test_python_counter_of_a_link(self):
        class Counting(L.Linear):
            calls = 0

            def forward(self, x):
                self.calls += 1
                return super().forward(x) * self.calls

        link = Counting(6, 2)
        text, _ = refused(lambda x: link(x), link)
        assert "changes attribute 'calls' of Counting" in text
        assert link.calls == STEPS

    def test_accumulated_gradients(self):
        link = L.Linear(6, 2)
        optimizer = optimizers.SGD(0.1).setup(link)

        def step(x):
            loss = F.sum(link(x))
            loss.backward()
            optimizer.update()
            return loss

        text, _ = refused(step, optimizer)
        assert "gradients are added to those of the call before" in text

    def test_numbers_as_results(self):
        link = L.Linear(6, 2)
        text, _ = refused(lambda x: (link(x), 3.5), link)
        assert "returns the Python number 3.5" in text

    def test_rules_that_compare_numbers_that_vary(self):
        class CautiousRule(SGDRule):
            def update_core_cpu(self, param):
                if self.scalars().lr < 1:
                    super().update_core_cpu(param)

        class CautiousSGD(optimizers.SGD):
            def create_update_rule(self):
                return CautiousRule(self.hyperparam)

        run = Training(MLP, CautiousSGD)
        text, _ = refused(run.step, run.model, run.optimizer, batches=images(4, 6))
        assert "a number that varies, such as a learning rate, is compared" in text
        assert run.optimizer.t == STEPS

    def test_too_many_shapes(self):
        link = L.Linear(6, 2)
        batches = [(np.ones((n, 6), "f"),) for n in range(1, 12) for _ in range(2)]
        text, _ = refused(lambda x: link(x), link, batches=batches)
        assert "more than 8 programs" in text
        assert "Pad batches" in text

    def test_error_on_demand(self):
        link = L.Linear(6, 2)
        step = chainer.capture(lambda x: link(x) * float(x.sum()), link, on_failure="error")
        x = np.ones((4, 6), "f")
        step(x)
        with pytest.raises(CaptureError, match="the value of an array is read"):
            step(x)

    def test_errors_of_the_step(self):
        link = L.Linear(6, 2)
        step = chainer.capture(lambda x: link(x), link)
        with pytest.raises(chainer.utils.type_check.InvalidType):
            step(np.ones((4, 5), "f"))

    def test_python_values_are_found_by_audit(self):
        class Options:
            scale = 1.0

        # The code does not name the attribute.
        name = "".join(["sc", "ale"])
        link = L.Linear(6, 2)
        step = chainer.capture(lambda x: link(x) * getattr(Options, name), link, audit=4)
        x = np.ones((4, 6), "f")
        for _ in range(3):
            step(x)
        Options.scale = 2.0
        with pytest.warns(UserWarning, match="differs from that of the step as written"):
            y = step(x)
        np.testing.assert_array_equal(y.array, (link(x) * 2.0).array)

    def test_backends_that_cannot_record(self):
        link = L.Linear(3, 2).to_device("@strict")
        device = chainer.get_device("@strict")
        step = chainer.capture(lambda x: link(x), link)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(3):
                assert step(device.send(np.ones((1, 3), "f"))).shape == (1, 2)
        assert "backend 'strict' cannot record" in chainer.explain(step)


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "options", "error", "message"),
        [
            ((3,), {}, TypeError, "function must be callable, got int"),
            ((F.relu, 3), {}, TypeError, "targets must be links and optimizers, got int"),
            ((F.relu,), {"audit": "x"}, TypeError, "audit must be an integer, got 'x' of type str"),
            ((F.relu,), {"audit": -1}, ValueError, "audit must not be negative, got -1"),
            ((F.relu,), {"on_failure": "x"}, ValueError, "on_failure must be 'eager' or 'error'"),
        ],
    )
    def test_wrong(self, arguments, options, error, message):
        with pytest.raises(error, match=message):
            chainer.capture(*arguments, **options)


def test_updater(tmp_path):
    logs = []
    for capture in (False, True):
        np.random.seed(0)
        model = L.Classifier(MLP())
        optimizer = optimizers.Adam().setup(model)
        data = [pair for x, t in images(4, 6) for pair in zip(x, t)]
        iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        updater = training.updaters.StandardUpdater(iterator, optimizer, capture=capture)
        trainer = training.Trainer(updater, (2, "epoch"), out=tmp_path)
        log = training.extensions.LogReport(trigger=(1, "iteration"))
        trainer.extend(log)
        trainer.run()
        logs.append([entry["main/loss"] for entry in log.log])
        if capture:
            assert programs(updater._captured[2]) == 1
    assert logs[0] == logs[1]

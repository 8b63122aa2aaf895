"""Mistakes in training: updates, gradients, labels, keys, triggers."""

import io
import warnings

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning, iterators, optimizers
from chainer.training import extensions, triggers
from tests.robustness.misuse_cases import WRONG, T, X, case, steps, trainer


@case(MisuseWarning, r"'/W' is updated with a gradient that was added.*cleargrads\(\); loss.back")
def update_before_cleargrads(out):
    model = L.Linear(3, 2)
    steps(model, lambda: F.sum(model(X)), 2, clear=False)


@case(MisuseWarning, r"'/W' is updated with a gradient that was added to the one of an earlier")
def cleargrads_after_the_first_step_only(out):
    model = L.Linear(3, 2)
    model.cleargrads()
    steps(model, lambda: F.sum(model(X)), 2, clear=False)


@case(MisuseWarning, "'/W' is updated without a gradient: it is NaN")
def update_of_a_new_model_without_backward(out):
    optimizers.SGD().setup(L.Linear(3, 2)).update()


@case(MisuseWarning, "found no gradient in any parameter")
def update_without_backward(out):
    model = L.Linear(3, 2)
    steps(model, lambda: F.sum(model(X)), 3, backward=False)


@case(MisuseWarning, r"found no gradient in any parameter.*\.array")
def training_through_array(out):
    model = L.Linear(3, 2)
    optimizers.SGD().setup(model).update(lambda: F.sum(chainer.Variable(model(X).array)))


@case(MisuseWarning, "'/b/W' has a gradient but is not updated.*setup")
def parameters_added_after_setup(out):
    model = chainer.Chain(a=L.Linear(3, 3))
    optimizer = optimizers.SGD().setup(model)
    with model.init_scope():
        model.b = L.Linear(3, 3)
    optimizer.update(lambda: F.sum(model.b(model.a(X))))


@case(MisuseWarning, "'layers' of Listed.*a list hides them: use a ChainList")
def links_in_a_list(out):
    class Listed(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.first = L.Linear(3, 3)
                self.layers = [L.Linear(3, 3)]

    model = Listed()
    model.layers[0].cleargrads()
    steps(model, lambda: F.sum(model.layers[0](model.first(X))))


@case(MisuseWarning, r"'second' of Outside.*assign it within init_scope\(\)")
def link_outside_of_init_scope(out):
    class Outside(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.first = L.Linear(3, 3)
            self.second = L.Linear(3, 3)

    model = Outside()
    model.second.cleargrads()
    steps(model, lambda: F.sum(model.second(model.first(X))))


@case(MisuseWarning, "Adam has no hyperparameter 'alhpa'; did you mean 'alpha'")
def misspelled_hyperparameter(out):
    model = L.Linear(3, 2)
    optimizer = optimizers.Adam().setup(model)
    optimizer.alhpa = 0.1
    optimizer.update(lambda: F.sum(model(X)))


@case(TypeError, r"initializer must be an object, got the class HeNormal: write HeNormal\(\)")
def class_as_initializer(out):
    L.Linear(3, 2, initialW=chainer.initializers.HeNormal)


@case(ValueError, "hyperparameter 'lr' must be a finite number, got nan")
def learning_rate_nan(out):
    optimizers.SGD(lr=float("nan"))


@case(ValueError, "hyperparameter 'alpha' must be a finite number, got '0.1'")
def learning_rate_as_text(out):
    optimizers.Adam(alpha="0.1")


@case(ValueError, "hyperparameter 'momentum' must be a finite number, got inf")
def infinite_momentum(out):
    optimizers.MomentumSGD().momentum = float("inf")


@case(MisuseWarning, "lr is -0.1: with a negative learning rate the loss grows")
def negative_learning_rate(out):
    optimizers.SGD(lr=-0.1)


@case(IndexError, r"t\[2\] is 5, but must be from 0 to 2, or -1, which is ignored")
def label_out_of_range(out):
    F.softmax_cross_entropy(X, WRONG)


@case(
    IndexError, r"t\[1\] is 1 \(and 1 more\), .* from 0 to 0, .*one output has one class.*sigmoid"
)
def two_classes_of_one_output(out):
    F.softmax_cross_entropy(X[:, :1], T)


@case(AttributeError, r"SGD has no attribute 'alpha'; the optimizer is SGD\(lr=0.01, target=")
def shift_of_a_hyperparameter_of_another_optimizer(out):
    t = trainer(out)
    t.extend(extensions.ExponentialShift("alpha", 0.5))
    t.run(show_loop_exception_msg=False)


@case(IndexError, r"t\[1\] is -7 \(and 1 more\), but must be from 0 to 2")
def negative_label(out):
    F.softmax_cross_entropy(X, np.array([0, -7, 1, 9], "i"))


@case(IndexError, r"x\[0, 1\] is 9, but must be from 0 to 4")
def id_out_of_range(out):
    L.EmbedID(5, 2)(np.array([[0, 9]], "i"))


@case(IndexError, r"t\[2\] is 5, but must be from 0 to 2")
def item_out_of_range(out):
    F.select_item(X, WRONG)


@case(IndexError, r"t\[2\] is 5, but must be from 0 to 2")
def hinge_label_out_of_range(out):
    F.hinge(X, WRONG)


@case(ValueError, "Each label `t` need to satisfy")
def label_in_debug_mode(out):
    with chainer.using_config("debug", True):
        F.softmax_cross_entropy(X, np.array([0, -2, 1, 0], "i"))


@case(UserWarning, "A batch with no more than one sample has been given to F.batch_normalization")
def batch_normalization_of_one(out):
    L.BatchNormalization(3)(X[:1])


@case(RuntimeError, r"input 0 of _ \* _ .*was changed in place between forward and backward")
def changed_in_place(out):
    with chainer.using_config("debug", True):
        a = chainer.Variable(X.copy())
        y = F.sum(a * F.exp(a))
        a.array[...] = 5
        y.backward()


@case(MisuseWarning, r"backward\(\) has no effect: the variable was computed from arrays")
def backward_without_graph(out):
    F.sum(F.relu(X)).backward()


@case(MisuseWarning, "Halved defines neither backward")
def function_without_backward(out):
    class Halved(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] / 2,)

    (y,) = Halved().apply((chainer.Variable(X),))
    F.sum(y).backward()


@case(MisuseWarning, r"all gradients are None: no differentiable function leads from inputs\[0\]")
def grad_of_an_unconnected_input(out):
    a, b = chainer.Variable(X), chainer.Variable(X)
    chainer.grad([F.sum(a)], [b])


@case(MisuseWarning, "nothing reads the configuration entry 'trian'; did you mean 'train'")
def misspelled_configuration(out):
    with chainer.using_config("trian", False):
        pass


@case(MisuseWarning, "'main/lsos', which PrintReport waits for; did you mean 'main/loss'")
def misspelled_key_to_print(out):
    t = trainer(out)
    t.extend(extensions.LogReport())
    t.extend(extensions.PrintReport(["epoch", "main/lsos"], out=io.StringIO()))
    t.run()


@case(MisuseWarning, "'main/loss', which PrintReport waits for; 'loss' was: chainer.report.*link")
def reported_without_the_link(out):
    class Model(L.Classifier):
        def forward(self, x, t):
            loss = F.softmax_cross_entropy(self.predictor(x), t)
            chainer.report({"loss": loss})
            return loss

    t = trainer(out)
    t.updater.get_optimizer("main").setup(model := Model(L.Linear(3, 3)))
    t.reporter.add_observer("main", model)
    t.extend(extensions.LogReport())
    t.extend(extensions.PrintReport(["epoch", "main/loss"], out=io.StringIO()))
    t.run()


@case(TypeError, "axis must be int, got ndarray")
def arrays_of_stack_without_a_list(out):
    F.stack(X, X)


@case(MisuseWarning, "'main/lsos', which PlotReport waits for; did you mean 'main/loss'")
def misspelled_key_to_plot(out):
    t = trainer(out)
    t.extend(extensions.PlotReport(["main/lsos"], "epoch", filename="plot.png"))
    t.run()


@case(MisuseWarning, "'main/lsos', which MinValueTrigger waits for; did you mean 'main/loss'")
def misspelled_key_of_a_trigger(out):
    t = trainer(out)
    t.extend(lambda t: None, name="f", trigger=triggers.MinValueTrigger("main/lsos"))
    t.run()


@case(TypeError, r"got the class LogReport: write trainer.extend\(LogReport\(\.\.\.\)\)")
def class_as_extension(out):
    trainer(out).extend(extensions.LogReport)


@case(StopIteration, "the SerialIterator of the updater ended before the training")
def iterator_that_ends(out):
    trainer(out, repeat=False).run(show_loop_exception_msg=False)


@case(ValueError, "the evaluation would never end.*repeat=False")
def evaluator_that_repeats(out):
    iterator = iterators.SerialIterator(chainer.datasets.TupleDataset(X, T), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = extensions.Evaluator(iterator, L.Classifier(L.Linear(3, 3)))
    evaluator()


@case(chainer.utils.type_check.InvalidType, "Expect: b.dtype == x.dtype")
def other_dtype(out):
    L.Linear(3, 2)(X.astype("d"))

"""Mistakes that programs make, and what is said about each: class and a phrase of the message.

The table is in ``misuse_in_training.py``, ``misuse_of_objects.py``,
``misuse_of_shapes_and_files.py`` and ``misuse_of_settings.py``. Four of the five mistakes that stay
silent are here; ``docs/robustness.md`` has the reasons. Run
``python -m tests.robustness.test_misuse`` to print what is said about each, and how many are
silent.
"""

import pathlib
import re
import tempfile
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning, iterators, optimizers
from chainer.core import misuse
from tests.robustness import (
    misuse_in_training,
    misuse_of_objects,
    misuse_of_settings,
    misuse_of_shapes_and_files,
)
from tests.robustness.misuse_cases import CASES, IMAGES, WRONG, InvalidType, T, X, steps
from tests.robustness.misuse_in_training import other_dtype
from tests.robustness.misuse_of_objects import Column

#: Each fills the table of cases when it is imported.
TABLES = (
    misuse_in_training,
    misuse_of_objects,
    misuse_of_shapes_and_files,
    misuse_of_settings,
)


def negative_id():
    L.EmbedID(5, 2)(np.array([0, -2], "i"))


def accuracy_of_a_label_without_class():
    F.accuracy(X, WRONG)


def input_changed_in_place():
    x = chainer.Variable(X.copy())
    y = F.sum(x * x)
    x.array += 1
    y.backward()


def grad_of_inputs_of_which_one_is_unconnected():
    a, b = chainer.Variable(X), chainer.Variable(X)
    chainer.grad([F.sum(a)], [a, b])


SILENT = [
    negative_id,
    accuracy_of_a_label_without_class,
    input_changed_in_place,
    grad_of_inputs_of_which_one_is_unconnected,
]


@pytest.mark.parametrize("function", SILENT)
def test_silent_mistakes(function):
    """If one of them is told one day, its row in the page goes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    assert not caught


@pytest.mark.parametrize(("function", "kind", "phrase"), CASES)
def test_what_is_said(function, kind, phrase, tmp_path, monkeypatch):
    monkeypatch.setattr(misuse, "_reported", set())
    if not issubclass(kind, Warning):
        with warnings.catch_warnings(), pytest.raises(kind, match=phrase):
            warnings.simplefilter("ignore")
            function(tmp_path)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(tmp_path)
    said = [str(w.message) for w in caught if issubclass(w.category, kind)]
    assert any([re.search(phrase, text) for text in said]), said


def test_labels_that_are_positions_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = chainer.datasets.TupleDataset(X, Column(T, range(4)))
        iterators.SerialIterator(data, 2).next()


def test_dtype_refusal_ends_with_the_remedy():
    with pytest.raises(chainer.utils.type_check.InvalidType) as caught:
        other_dtype(None)
    (note,) = caught.value.__notes__
    assert note.startswith("x is float64, W is float32, b is float32: convert by x.astype(np.float")


@pytest.mark.parametrize(
    ("call", "note"),
    [
        (
            lambda: F.softmax_cross_entropy(X, T.astype("f")),
            "x is float32 of shape (4, 3), t is float32 of shape (4,): if t has class numbers, "
            "convert by t.astype(np.int32)",
        ),
        (
            lambda: F.softmax_cross_entropy(X, T.astype("d")),
            "x is float32 of shape (4, 3), t is float64 of shape (4,): if t has class numbers, "
            "convert by t.astype(np.int32)",
        ),
        (
            lambda: F.softmax_cross_entropy(X, np.eye(4, 3, dtype="i")),
            "x is float32 of shape (4, 3), t is int32 of shape (4, 3): if t is one-hot, "
            "convert by t.argmax(axis=1)",
        ),
        (
            lambda: L.Convolution2D(3, 4, 3, nobias=True)(np.ones((1, 3, 8, 8), "u1")),
            "input 0 is uint8 of shape (1, 3, 8, 8), input 1 is float32 of shape (4, 3, 3, 3): "
            "convert input 0 by astype(np.float32)",
        ),
    ],
)
def test_refusals_end_with_the_inputs_and_a_remedy(call, note):
    with pytest.raises(chainer.utils.type_check.InvalidType) as caught:
        call()
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (
            lambda: L.Convolution2D(3, 4, 3)(IMAGES.transpose(0, 2, 3, 1)),
            "channels must be on axis 1: convert input 0 by transpose(0, 3, 1, 2)",
        ),
        (
            lambda: L.Convolution2D(3, 4, 3)(IMAGES[0]),
            "if input 0 is one sample, add the axis of samples by x[None]",
        ),
        (lambda: L.EmbedID(5, 2)(X[0]), "convert x by astype(np.int32)"),
        (
            lambda: F.sigmoid_cross_entropy(X[:, 0], T.astype("f")),
            "convert t by astype(np.int32)",
        ),
        (lambda: F.softmax_cross_entropy(X, T.astype("u1")), "convert t by astype(np.int32)"),
        (lambda: F.sigmoid_cross_entropy(X[:, 0], T > 0), "convert t by astype(np.int32)"),
        (lambda: F.softmax_cross_entropy(X, T[:, None]), "if t has class numbers, take t[:, 0]"),
        (lambda: F.softmax_cross_entropy(T, X), "convert x by astype(np.float32)"),
        (
            lambda: F.mean_squared_error(X, X.astype("d")),
            "convert x1 by astype(np.float32)",
        ),
        (
            lambda: F.mean_squared_error(X.astype("d"), X),
            "convert x0 by astype(np.float32)",
        ),
        (
            lambda: F.mean_squared_error(X[:, :1], T[:, None]),
            "convert x1 by astype(np.float32)",
        ),
        (
            lambda: F.mean_absolute_error(X[:, :1], X[:, 0]),
            "convert x1 by reshape(4, 1)",
        ),
        (lambda: L.Linear(3, 2)(X[0]), "if x is one sample, add the axis of samples by x[None]"),
    ],
)
def test_remedies(call, remedy):
    with pytest.raises(InvalidType) as caught:
        call()
    assert caught.value.__notes__[0].endswith(": " + remedy)


@pytest.mark.parametrize(
    ("call", "note"),
    [
        # Nothing common: a remedy would be a guess.
        (lambda: F.mean_squared_error(X, X[:2]), "x0 is float32 of shape (4, 3), x1 is float32 of"),
        (lambda: F.matmul(X, X), "a is float32 of shape (4, 3), b is float32 of shape (4, 3)"),
        (lambda: L.Linear(5, 2)(X), "x is float32 of shape (4, 3), W is float32 of shape (2, 5)"),
        (lambda: L.Linear(5, 2)(X[0]), "x is float32 of shape (3,), W is float32 of shape (2, 5)"),
        (lambda: F.concat([X, X[:, :2]], 0), "input 0 is float32 of shape (4, 3), input 1 is"),
    ],
)
def test_no_remedy_is_made_up(call, note):
    with pytest.raises(InvalidType) as caught:
        call()
    (text,) = caught.value.__notes__
    assert text.startswith(note)
    assert ":" not in text


def test_each_parameter_is_reported_once(monkeypatch):
    monkeypatch.setattr(misuse, "_reported", set())
    model = L.Linear(3, 2)
    with pytest.warns(MisuseWarning) as caught:
        steps(model, lambda: F.sum(model(X)), 5, clear=False)
    assert len(caught) == 2


class TestSilent:
    """Correct programs do the same; a warning would be wrong for them."""

    def test_gan(self):
        """The generator's loss adds gradients to the discriminator, which clears them later."""
        gen, dis = L.Linear(3, 3), L.Linear(3, 1)
        gen_opt, dis_opt = optimizers.SGD().setup(gen), optimizers.SGD().setup(dis)
        for _ in range(3):
            dis_opt.update(lambda: F.sum(dis(gen(X))))
            gen_opt.update(lambda: F.sum(dis(gen(X))))

    def test_accumulated_gradients(self):
        model = L.Linear(3, 2)
        optimizer = optimizers.SGD().setup(model)
        for _ in range(3):
            model.cleargrads()
            for _ in range(2):
                F.sum(model(X)).backward()
            optimizer.update()

    def test_gradients_set_by_hand(self):
        model = L.Linear(3, 2)
        optimizer = optimizers.SGD().setup(model)
        model.W.grad, model.b.grad = np.ones_like(model.W.array), np.ones_like(model.b.array)
        for _ in range(3):
            optimizer.update()

    def test_zeroed_by_hand(self):
        model = L.Linear(3, 2)
        model.cleargrads()
        optimizer = optimizers.SGD().setup(model)
        for _ in range(3):
            F.sum(model(X)).backward()
            optimizer.update()
            for param in model.params():
                param.grad[...] = 0

    def test_frozen_teacher(self):
        class Student(chainer.Chain):
            def __init__(self):
                super().__init__()
                with self.init_scope():
                    self.own = L.Linear(3, 2)
                self._teacher = L.Linear(3, 2)  # hidden on purpose

        model = Student()
        with chainer.no_backprop_mode():
            wanted = model._teacher(X)
        steps(model, lambda: F.mean_squared_error(model.own(X), wanted), 2)

    def test_entries_of_programs(self):
        with chainer.using_config("user_trian", 1), chainer.using_config("batch_size", 2):
            pass


def main():
    """Prints what is said about each mistake."""
    counts = {"said": 0, "silent": 0, "other": 0}
    silent = [(function, None, None) for function in SILENT]
    for case_of in [*(c.values for c in CASES), *silent]:
        function, kind, phrase = case_of
        misuse._reported.clear()
        texts = []
        with warnings.catch_warnings(record=True) as caught, tempfile.TemporaryDirectory() as out:
            warnings.simplefilter("always")
            try:
                function(pathlib.Path(out)) if kind else function()
            except pytest.skip.Exception:
                continue
            except Exception as error:
                texts = [(type(error), str(error))]
        texts += [(w.category, str(w.message)) for w in caught]
        said = kind and [t for c, t in texts if issubclass(c, kind) and re.search(phrase, t)]
        result = "said" if said else "other" if texts else "silent"
        counts[result] += 1
        print(f"{result}: {function.__name__}: {' '.join((said or [''])[0].split())[:200]}")
    print(counts)
    raise SystemExit(counts["silent"] > 5 or counts["other"] > 0)


if __name__ == "__main__":
    main()

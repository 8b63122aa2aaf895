"""Mistakes that earlier releases pass over in silence."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core import misuse


@pytest.fixture(autouse=True)
def nothing_reported(monkeypatch):
    monkeypatch.setattr(misuse, "_reported", set())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_negative_labels_are_refused(dtype, shape):
    x = np.zeros((3, 4, *shape[1:]), np.float32)
    t = np.zeros(shape, dtype)
    t.flat[1] = -2
    with pytest.raises(IndexError, match=r"is -2, but must be from 0 to 3, or -1, which is ign"):
        F.softmax_cross_entropy(x, t)
    F.softmax_cross_entropy(x, t, ignore_label=-2)
    with pytest.raises(ValueError, match=r"each label must be from 0 to 3 or -1, got -2"):
        F.focal_loss(x, t)
    with pytest.raises(ValueError, match=r"each label must be from 0 to 3 or -1, got -2"):
        F.label_smoothed_cross_entropy(x, t)


class InList(chainer.Chain):
    def __init__(self, links):
        super().__init__()
        with self.init_scope():
            self.layers = links


def test_a_list_of_links_in_init_scope_is_reported():
    with pytest.warns(chainer.MisuseWarning, match=r"the links in the list 'layers' of InList"):
        InList([L.Linear(2, 2), L.Linear(2, 2)])


def test_lists_of_other_things_and_of_children_are_not():
    class Registered(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l1 = L.Linear(2, 2)
                self.layers = [self.l1]
                self.sizes = [1, 2]
                self.empty = []

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Registered()


class Outside(chainer.Chain):
    def __init__(self, **links):
        super().__init__()
        with self.init_scope():
            self.inside = L.Linear(2, 2)
        for name, link in links.items():
            setattr(self, name, link)


def test_a_link_outside_of_init_scope_is_reported_where_it_is_assigned():
    expected = r"Outside.l1 is assigned outside of init_scope\(\), so that .* not registered"
    with pytest.warns(chainer.MisuseWarning, match=expected) as caught:
        made = Outside(l1=L.Linear(2, 2))
    assert [path for path, _ in made.namedparams()] == ["/inside/W", "/inside/b"]
    (warning,) = caught
    assert warning.filename == __file__
    line = Path(__file__).read_text().splitlines()[warning.lineno - 1]
    assert line.strip() == "setattr(self, name, link)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Outside(l1=L.Linear(2, 2))  # once for each class and name


def test_links_that_are_hidden_on_purpose_are_not_reported():
    other = chainer.Chain(teacher=L.Linear(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = Outside(_private=L.Linear(2, 2))
        # A child, under a second name or of another chain.
        made.again = made.inside
        made.teacher = other.teacher
        # The replacement of a child is registered, as in release 7.
        made.inside = L.Linear(2, 3)
        object.__setattr__(made, "hidden", L.Linear(2, 2))
        # The children of a list are those that are appended, under any attribute.
        items = chainer.ChainList()
        items.head = L.Linear(2, 2)
        items.append(items.head)
        copied = made.copy("init")
    assert len(list(made.params())) == len(list(copied.params())) == 2


def test_entries_that_nothing_asks_for(tmp_path):
    full = chainer.Sequential(L.Linear(3, 2), L.Linear(2, 2))
    chainer.serializers.save_npz(tmp_path / "full.npz", full)
    part = chainer.Sequential(L.Linear(3, 2))
    text = r"has 2 entries that the object does not have: '1/W', '1/b'"
    with pytest.raises(KeyError, match=text):
        chainer.serializers.load_npz(tmp_path / "full.npz", part, unused="error")
    with pytest.warns(chainer.MisuseWarning, match=text):
        chainer.serializers.load_npz(tmp_path / "full.npz", part)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chainer.serializers.load_npz(tmp_path / "full.npz", part, unused="ignore")
        chainer.serializers.load_npz(tmp_path / "full.npz", full)
        chainer.serializers.load_npz(tmp_path / "full.npz", part[0], path="0/")
        chainer.serializers.load_npz(tmp_path / "full.npz", part, ignore_names=["1/W", "1/b"])
    with pytest.raises(ValueError, match="unused must be 'warn', 'error' or 'ignore', got 'x'"):
        chainer.serializers.load_npz(tmp_path / "full.npz", part, unused="x")


def test_a_class_in_a_sequential():
    with pytest.raises(ValueError, match=r"got the class Linear: write Linear\(\.\.\.\)"):
        chainer.Sequential(L.Linear)


@pytest.mark.parametrize("name", ["s_{iter}", "{trainer.updater}", "{iteration:03}"])
def test_fields_of_a_file_name(name):
    with pytest.raises(ValueError, match="fields are attributes of the trainer"):
        chainer.training.extensions.snapshot(filename=name)
    for good in ("s", "s_{.updater.iteration}", "s_{0.updater.epoch}", "{.updater.iteration:06}"):
        chainer.training.extensions.snapshot(filename=good)


class Forgetful(chainer.FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (x * gys[0],)


def test_backward_without_retained_inputs_is_told_to_retain_them():
    x = chainer.Variable(np.ones(2, np.float32))
    (y,) = Forgetful().apply((x,))
    with pytest.raises(ValueError, match="not enough values") as caught:
        F.sum(y).backward()
    (note,) = caught.value.__notes__
    assert note.startswith("Forgetful retains nothing")
    assert "self.retain_inputs((0,))" in note


def test_mixed_precision_imports_ml_dtypes(monkeypatch):
    model = L.Linear(2, 2)
    optimizer = chainer.optimizers.SGD().setup(model)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match="needs ml_dtypes: .*pip install ml_dtypes"):
        optimizer.mixed_precision(dtype="bfloat16")
    monkeypatch.undo()
    pytest.importorskip("ml_dtypes")
    optimizer.mixed_precision(dtype="bfloat16")
    assert model.W.dtype.name == "bfloat16"


def test_the_trainer_does_not_print_the_traceback(tmp_path, capsys):
    def fail():
        raise RuntimeError("broken")

    class Updater(chainer.training.Updater):
        iteration = epoch = 0
        epoch_detail = 0.0
        is_new_epoch = False

        def get_all_optimizers(self):
            return {}

        def update(self):
            fail()

        def finalize(self):
            pass

    trainer = chainer.training.Trainer(Updater(), (1, "iteration"), out=str(tmp_path))
    with pytest.raises(RuntimeError, match="broken"):
        trainer.run()
    # Python prints the traceback of an error that nothing catches.
    error = capsys.readouterr().err
    assert error.startswith("Exception in main training loop: broken\n")
    assert "Traceback" not in error

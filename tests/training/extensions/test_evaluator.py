from __future__ import annotations

import re

import numpy as np
import pytest

import chainer
from chainer.core.config.configuration import config
from chainer.core.reporting.reporter import Reporter, report
from chainer.training.dataset.convert import concat_examples
from chainer.training.extensions import Evaluator, notebook_bar
from chainer.training.extensions.evaluator import _EvaluationBar
from chainer.training.iterators.serial_iterator import SerialIterator
from tests.training.small_training import Regression, make_dataset, make_trainer


def make_iterator(batch=4):
    return SerialIterator(make_dataset(), batch, repeat=False, shuffle=False)


def mean_loss(model, batch=4):
    dataset, losses = make_dataset(), []
    for start in range(0, 10, batch):
        x, t = (np.array(c) for c in zip(*dataset[start : start + batch], strict=True))
        losses.append((((model.W.array * x).sum(axis=1) - t) ** 2).sum())
    return np.mean(losses)


def test_without_a_trainer():
    model = Regression()
    result = Evaluator(make_iterator(), model)()
    assert list(result) == ["main/loss"]
    np.testing.assert_allclose(result["main/loss"], mean_loss(model), rtol=1e-6)


def test_can_be_called_again():
    evaluator = Evaluator(make_iterator(), Regression())
    assert evaluator() == evaluator()


def test_iterator_without_reset_is_copied():
    class Old:
        """An iterator of the time before reset(): a copy starts where it was."""

        def __init__(self):
            self.position = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.position >= 10:
                raise StopIteration
            self.position += 5
            return make_dataset()[self.position - 5 : self.position]

    iterator = Old()
    evaluator = Evaluator(iterator, Regression())
    with pytest.warns(DeprecationWarning, match="does not have the reset method"):
        assert evaluator() == evaluator()
    assert iterator.position == 0


class TestProgressBar:
    def run(self, iterator, capsys):
        Evaluator(iterator, Regression(), progress_bar=True)()
        shown = capsys.readouterr().out
        return re.sub(
            r"[0-9.e+infa-]+ iters/sec. Estimated time to finish: \S+\.\n", "SPEED\n", shown
        )

    def test_output(self, capsys):
        # As observed in 7.8.1.
        iterator = SerialIterator(make_dataset(10), 4, repeat=False, shuffle=False)
        expected = ""
        for share, marks, position in ((40, 20, 4), (80, 40, 8), (100, 50, 0)):
            expected += (
                f"\x1b[Jvalidation [{'#' * marks}{'.' * (50 - marks)}] {share:.2f}%\n"
                f"{position:10} / 10 iterations\n"
                "SPEED\n\x1b[3A"
            )
        shown = self.run(iterator, capsys)
        assert re.sub(" +SPEED", "SPEED", shown) == expected + "\x1b[J"

    def test_notebook(self, capsys, monkeypatch):
        pytest.importorskip("tqdm")
        monkeypatch.setattr(notebook_bar, "in_notebook", lambda: True)
        iterator = SerialIterator(make_dataset(10), 4, repeat=False, shuffle=False)
        Evaluator(iterator, Regression(), progress_bar=True)()
        shown = capsys.readouterr().out
        assert "\n" not in shown  # it removes itself
        assert "\x1b" not in shown
        assert "40%|" in shown
        assert "validation: 8 / 10 iterations, " in shown

    def test_default_is_none(self, capsys):
        Evaluator(SerialIterator(make_dataset(10), 4, repeat=False), Regression())()
        assert capsys.readouterr().out == ""

    def test_dataset_without_length(self):
        class Stream:
            current_position, epoch_detail = 3, 0.5

        assert _EvaluationBar(Stream()).get_lines()[1] == "         3 iterations\n"

    def test_iterator_that_does_not_know_its_position(self):
        class Plain:
            repeat = False

            def __next__(self):
                raise StopIteration

            def reset(self):
                pass

        evaluator = Evaluator(Plain(), Regression(), progress_bar=True)
        with pytest.raises(TypeError, match="attribute 'current_position', which Plain does not"):
            evaluator()


def test_device(tmp_path):
    seen = []

    def converter(batch, device):
        seen.append(device)
        return concat_examples(batch, device)

    for device in (None, -1, "@numpy"):
        iterator = SerialIterator(make_dataset(4), 4, repeat=False)
        evaluator = Evaluator(iterator, Regression(), converter, device)
        assert evaluator.device == (None if device is None else chainer.get_device("@numpy"))
        evaluator()
    assert seen == [None, -1, -1]


def test_in_a_trainer(tmp_path):
    trainer = make_trainer(tmp_path, (1, "epoch"))
    model = trainer.updater.get_optimizer("main").target
    for name in (None, None, "test"):
        trainer.extend(Evaluator(make_iterator(), model), name=name)
    trainer.run()
    assert set(trainer.observation) == {
        "main/loss", "validation/main/loss", "validation_1/main/loss", "test/main/loss",
    }  # fmt: skip


def test_mode_and_hook():
    seen = []

    class Watching(Regression):
        def forward(self, x, t):
            seen.append((config.train, config.enable_backprop))
            return super().forward(x, t)

    evaluator = Evaluator(make_iterator(5), Watching(), eval_hook=lambda e: seen.append(e))
    evaluator()
    assert seen == [evaluator, (False, False), (False, False)]
    assert config.train


def test_eval_func_and_converter():
    evaluator = Evaluator(
        make_iterator(),
        Regression(),
        converter=lambda batch, device: {"n": len(batch), "device": device},
        device=-1,
        eval_func=lambda n, device: report({"n": n, "device": device}),
    )
    assert evaluator() == {"n": pytest.approx(10 / 3), "device": -1}


def test_reports_to_the_current_reporter():
    observation = {}
    with Reporter().scope(observation):
        result = Evaluator(make_iterator(), Regression())()
    assert observation == result


def test_several_targets_and_iterators():
    model = Regression()
    other = Regression()
    evaluator = Evaluator(
        {"main": make_iterator(), "second": make_iterator()}, {"main": model, "other": other}
    )
    assert set(evaluator.get_all_iterators()) == {"main", "second"}
    assert evaluator.get_all_targets() == {"main": model, "other": other}
    assert evaluator.get_target("other") is other
    assert evaluator.get_iterator("second") is not evaluator.get_iterator("main")
    evaluator.finalize()


def test_custom_evaluate(tmp_path):
    class Fixed(Evaluator):
        def evaluate(self):
            return {"fixed": 3}

    assert Fixed(make_iterator(), Regression())() == {"fixed": 3}


def test_mistakes():
    with pytest.warns(UserWarning, match="repeat=True"):
        Evaluator(SerialIterator(make_dataset(), 2), Regression())
    with pytest.raises(ValueError, match="nonsense"):
        Evaluator(make_iterator(), Regression(), device="@nonsense")
    with pytest.raises(TypeError, match="target 'main' must be a chainer.Link, got int"):
        Evaluator(make_iterator(), 3)
    evaluator = Evaluator({"x": make_iterator()}, Regression())
    with pytest.raises(KeyError, match="no iterator is called 'main'; there are: x"):
        evaluator()
    with pytest.raises(KeyError, match="no target is called 'y'; there are: main"):
        evaluator.get_target("y")

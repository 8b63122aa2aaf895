"""dump_graph and unchain_variables."""

from __future__ import annotations

import os
import stat

import pytest

from chainer.core.config.configuration import config
from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training import extensions as E
from tests.training.small_training import make_trainer


@pytest.fixture(autouse=True)
def no_graphviz(monkeypatch, tmp_path):
    """Hides the program dot; tests that want it put their own into this directory."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    return directory


def make_program(directory, text):
    path = directory / "dot"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class TestDumpGraph:
    def test_dumps_once(self, tmp_path):
        trainer = make_trainer(tmp_path / "out", (3, "iteration"))
        flags = []
        trainer.extend(lambda t: flags.append(config.keep_graph_on_report), name="a", priority=200)
        trainer.extend(E.dump_graph("main/loss", "graph.dot"))
        trainer.extend(
            lambda t: flags.append(t.observation["main/loss"].creator is None), name="b", priority=0
        )
        trainer.run()
        text = (tmp_path / "out" / "graph.dot").read_text()
        assert text.startswith("digraph graphname{")
        assert '[label="W: (3), float32",shape="octagon"' in text
        assert '[label="BroadcastTo",shape="record",fillcolor="#6495ED",style="filled"]' in text
        assert flags == [True, False, False, True, False, True]
        assert os.listdir(tmp_path / "out") == ["graph.dot"]

    def test_styles_and_name_of_later_releases(self, tmp_path):
        trainer = make_trainer(tmp_path, (1, "iteration"))
        trainer.extend(
            E.dump_graph("main/loss", filename="g", variable_style={"shape": "box"},
                         function_style={"color": "red"})
        )  # fmt: skip
        trainer.run()
        assert 'label="Sum",shape="box",color="red"' in (tmp_path / "g").read_text()
        assert '[label="float32",shape="box"]' in (tmp_path / "g").read_text()

    def test_resumed_training_does_not_dump_again(self, tmp_path):
        first = make_trainer(tmp_path, (1, "iteration"))
        first.extend(E.dump_graph("main/loss"))
        first.run()
        save_npz(tmp_path / "snapshot", first)
        (tmp_path / "cg.dot").unlink()
        second = make_trainer(tmp_path, (2, "iteration"))
        second.extend(E.dump_graph("main/loss"))
        load_npz(tmp_path / "snapshot", second)
        second.run()
        assert not (tmp_path / "cg.dot").exists()
        assert not config.keep_graph_on_report

    def test_images_by_graphviz(self, tmp_path, no_graphviz):
        make_program(no_graphviz, 'echo "$1 $2" > "$4"\n')
        trainer = make_trainer(tmp_path, (1, "iteration"))
        trainer.extend(E.dump_graph("main/loss"))
        trainer.run()
        assert (tmp_path / "cg.svg").read_text() == f"-Tsvg {tmp_path}/cg.dot\n"
        assert (tmp_path / "cg.png").read_text() == f"-Tpng {tmp_path}/cg.dot\n"

    def test_failing_graphviz(self, tmp_path, no_graphviz):
        make_program(no_graphviz, "exit 1\n")
        trainer = make_trainer(tmp_path, (1, "iteration"))
        trainer.extend(E.dump_graph("main/loss", formats=["svg"]))
        with pytest.warns(UserWarning, match=r"Graphviz could not draw .*cg\.dot as svg"):
            trainer.run()
        assert (tmp_path / "cg.dot").exists()
        assert not (tmp_path / "cg.svg").exists()

    def test_nothing_of_this_name(self, tmp_path):
        trainer = make_trainer(tmp_path)
        trainer.extend(E.dump_graph("main/accuracy"))
        with pytest.raises(KeyError, match=r"no 'main/accuracy' in the observation.*main/loss"):
            trainer.run(show_loop_exception_msg=False)
        assert not config.keep_graph_on_report

    def test_not_a_variable(self, tmp_path):
        trainer = make_trainer(tmp_path)
        trainer.extend(lambda t: t.observation.update(x=3.0), name="x", priority=300)
        trainer.extend(E.dump_graph("x"))
        with pytest.raises(TypeError, match="'x' must be a chainer.Variable, got float"):
            trainer.run(show_loop_exception_msg=False)

    def test_flag_is_restored_when_training_fails_before(self, tmp_path):
        def fail(trainer):
            raise ValueError("boom")

        trainer = make_trainer(tmp_path)
        trainer.extend(fail, priority=300)
        trainer.extend(E.dump_graph("main/loss"))
        with pytest.raises(ValueError, match="boom"):
            trainer.run(show_loop_exception_msg=False)
        assert not config.keep_graph_on_report


class TestUnchainVariables:
    def run(self, tmp_path, *extensions):
        trainer = make_trainer(tmp_path, (2, "iteration"))
        trainer.extend(E.unchain_variables())
        for extension in extensions:
            trainer.extend(extension)
        unchained = []
        trainer.extend(
            lambda t: unchained.append(t.observation["main/loss"].creator is None),
            name="look", priority=-1,
        )  # fmt: skip
        trainer.run()
        return unchained

    def test_kept_graphs_are_unchained(self, tmp_path, monkeypatch):
        config.keep_graph_on_report = True
        try:
            assert self.run(tmp_path) == [True, True]
        finally:
            del config.keep_graph_on_report

    def test_graph_of_dump_graph(self, tmp_path):
        assert self.run(tmp_path, E.dump_graph("main/loss")) == [True, True]

    def test_trigger(self):
        extension = E.unchain_variables()
        assert not extension.trigger(None)
        config.keep_graph_on_report = True
        try:
            extension.initialize(None)
            assert extension.trigger(None)
        finally:
            del config.keep_graph_on_report
        assert extension.trigger(None)  # the flag was on at the last look
        assert not extension.trigger(None)

    def test_attributes(self):
        extension = E.unchain_variables()
        assert (extension.priority, extension.name) == (0, None)
        assert extension.default_name == "unchain_variables"


def test_repr_of_an_extension_whose_trigger_is_a_method():
    extension = E.dump_graph("loss")
    assert "trigger=DumpGraph.trigger" in repr(extension)
    assert "trigger=unchain_variables.trigger" in repr(E.unchain_variables())

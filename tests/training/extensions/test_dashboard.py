from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import chainer
from chainer import training
from chainer.training.extensions import Dashboard
from chainer.utils import install_command
from tests.training.observed_training import assert_same_rows, make_trainer, observing

if sys.platform != "win32":
    from tests.training.terminal import Terminal

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")

PROGRAM = """
    import os, signal, sys, time
    from tests.training.observed_training import make_trainer
    from chainer.training.extensions import Dashboard

    def act(trainer):
        iteration = trainer.updater.iteration
        if iteration == 6:
            print("a line of the program")
            print("an error line", file=sys.stderr)
        if iteration == 7:
            {action}

    trainer = make_trainer(sys.argv[1], (2, "epoch"))
    trainer.extend(Dashboard(refresh_interval=0))
    trainer.extend(act, name="act", priority=0)
    trainer.run(show_loop_exception_msg=False)
    print("after the training")
"""


@pytest.fixture
def run(tmp_path):
    terminals = []

    def start(action="pass", **variables):
        terminals.append(Terminal(PROGRAM.format(action=action), str(tmp_path), **variables))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()


@needs_terminal
def test_panel(run, tmp_path):
    terminal = run()
    lines = terminal.read()
    top = next(i for i, line in enumerate(lines) if line.startswith("╭"))
    assert lines[:top] == ["a line of the program", "an error line"]
    panel = [line.strip("│ ") for line in lines[top + 1 : -1]]
    assert re.fullmatch(r"training ━+ 100% of 2 epochs", panel[0])
    assert re.fullmatch(r"epoch 2  ━+ +iteration 10", panel[1])
    # A fast machine makes 1.2e+04 iterations per second, and a busy one takes minutes.
    assert re.fullmatch(r"[\d.e+-]+ iterations/s, \d:\d\d:\d\d elapsed, 0:00:00 left", panel[2])
    assert re.fullmatch(r"last +min +max +course", panel[3])
    number = r" +[\d.]+"
    names = ("main/loss", "main/accuracy", "validation/main/loss", "validation/main/accuracy")
    for name, line in zip(names, panel[4:8], strict=True):
        assert re.fullmatch(rf"{name}({number}){{3}}  [▁-█]{{2}}", line)
    assert lines[top + 9].startswith("╰")
    assert lines[top + 10] == "after the training"
    assert not any(lines[top + 11 :])
    assert terminal.is_sane
    assert terminal.process.returncode == 0


@needs_terminal
def test_during_the_training(run, tmp_path):
    seen = tmp_path / "seen"
    # The training waits until its panel was seen, and not for some time.
    terminal = run(f"while not os.path.exists({str(seen)!r}): time.sleep(0.01)")
    lines = terminal.read(until="iteration 7")
    assert any(re.search("training ━+[╸╺].* 70% of 2 epochs", line) for line in lines)
    assert any("epoch 2" in line for line in lines)
    assert terminal.screen.cursor.hidden
    seen.touch()
    terminal.read()
    assert terminal.is_sane


@needs_terminal
@pytest.mark.parametrize(
    ("action", "status", "code"),
    [
        (
            "raise ValueError('no [bold]good[/bold]')",
            "ended by ValueError: no [bold]good[/bold]",
            1,
        ),
        ("os.kill(os.getpid(), signal.SIGTERM)", "ended by SystemExit: 143", 143),
        ("trainer.stop('enough')", "stopped: enough", 0),
    ],
)
def test_other_ends(run, action, status, code):
    terminal = run(action)
    lines = [line.strip("│ ") for line in terminal.read()]
    assert lines.count(status) == 1
    assert terminal.is_sane
    assert terminal.process.returncode == code
    # What is printed now comes after the panel.
    bottom = next(i for i, line in enumerate(lines) if line.startswith("╰"))
    assert lines.index(status) < bottom
    assert ("after the training" in lines[bottom:]) == (code == 0)


@needs_terminal
def test_ctrl_c(run, tmp_path):
    sleeping = tmp_path / "sleeping"
    terminal = run(f"open({str(sleeping)!r}, 'w').close(); time.sleep(60)")
    # The panel may still be written when its text is on the screen: the file says that it is not.
    terminal.read(until=sleeping.exists)
    terminal.type(b"\x03")
    lines = terminal.read()
    assert sum(line.startswith("╭") for line in lines) == 1
    assert any("ended by KeyboardInterrupt" in line for line in lines)
    assert terminal.is_sane
    assert terminal.process.returncode == -signal.SIGINT


@needs_terminal
def test_without_unicode(run):
    terminal = run(PYTHONIOENCODING="ascii")
    lines = terminal.read()
    assert any(re.search("training -+ 100%", line) for line in lines), lines
    assert terminal.process.returncode == 0


@needs_terminal
@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {}])
def test_plain_lines_where_there_is_no_screen(run, variables, tmp_path):
    if variables:
        terminal = run(**variables)
        lines = terminal.read()
        assert b"\033" not in terminal.output
    else:
        code = "import textwrap, sys; exec(textwrap.dedent(sys.argv.pop(2)))"
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path), PROGRAM.format(action="pass")],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
            capture_output=True,
            text=True,
            check=True,
            timeout=600,  # a machine with many programs takes minutes; a hang would last for ever
        )
        lines = done.stdout.splitlines()
        assert "an error line" in done.stderr
    found = [line for line in lines if "epoch" in line]
    assert len(found) == 2, lines
    # Long lines are wrapped, where a space may get lost.
    text = "".join(lines).replace(" ", "")
    number = r"\d[\d.e+-]*"  # a fast machine makes 1.2e+04 iterations per second
    assert re.search(
        rf"50%epoch1iteration5main/loss{number}main/accuracy{number}"
        rf"validation/main/loss{number}validation/main/accuracy{number}"
        rf"\({number}iterations/s,0:00:\d\delapsed,0:00:\d\dleft\)",
        text,
    ), text


class Screenless(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self):
        return True


def test_without_rich(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.delitem(sys.modules, "chainer.training.extensions.dashboard_view", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    trainer = observing(tmp_path, [1], Dashboard(out=Screenless()))
    with pytest.raises(ImportError, match=re.escape(install_command("chainer[rich]"))):
        trainer.run(show_loop_exception_msg=False)
    out = io.StringIO()  # no terminal, no need
    observing(tmp_path, [1], Dashboard(trigger=(1, "iteration"), out=out)).run()
    assert "metric 1" in out.getvalue()


def test_entries_and_intervals(tmp_path, capsys):
    out = io.StringIO()
    trainer = observing(tmp_path, [1, 2, 3, 4], Dashboard(["metric"], (2, "iteration"), out=out))
    trainer.extend(
        training.make_extension(priority=300)(lambda trainer: chainer.report({"other": 1.0})),
        name="other",
    )
    trainer.run()
    lines = out.getvalue().splitlines()
    assert [re.split(r"  +\(", line)[0] for line in lines] == [
        " 50%  epoch 0.2  iteration 2  metric 1.5",
        "100%  epoch 0.4  iteration 4  metric 3.5",
    ]
    assert capsys.readouterr().out == ""


def test_a_training_without_an_end(tmp_path):
    out = io.StringIO()
    trainer = observing(tmp_path, [1, 2], Dashboard(trigger=(1, "iteration"), out=out))
    trainer.stop_trigger = lambda trainer: trainer.updater.iteration == 2
    trainer.run()
    first, _ = out.getvalue().splitlines()
    assert re.fullmatch(r"epoch 0.1  iteration 1  metric 1  \(.* elapsed\)", first)


def test_resumed_run_shows_all(tmp_path):
    def make(stop):
        trainer = make_trainer(tmp_path, stop)
        dashboard = Dashboard(trigger=(2, "iteration"), out=io.StringIO())
        trainer.extend(dashboard)
        return trainer, dashboard

    whole, expected = make((10, "iteration"))
    whole.run()
    first, _ = make((7, "iteration"))
    first.run()
    chainer.serializers.save_npz(tmp_path / "s", first)
    second, dashboard = make((10, "iteration"))
    chainer.serializers.load_npz(tmp_path / "s", second)
    second.run()
    assert len(expected.rows) == 5
    assert_same_rows(dashboard.rows, expected.rows)


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([], ""),
        ([3], "▅"),
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([0, float("nan"), 7, float("inf")], "▁?█?"),
        ([1.0] * 5, "▅" * 5),
    ],
)
def test_sparkline(values, marks):
    from chainer.training.extensions.dashboard_view import sparkline

    assert sparkline(values) == marks


@needs_terminal
@pytest.mark.parametrize(("key", "length"), [("a", 24), ("x" * 38, 14), ("y" * 60, 6)])
def test_courses_take_the_room_there_is(tmp_path, key, length):
    terminal = Terminal(
        """
        import sys
        from tests.training.observed_training import observing
        from chainer.training.extensions import Dashboard
        dashboard = Dashboard(trigger=(1, "iteration"))
        observing(sys.argv[1], list(range(40)), dashboard, key=sys.argv[2]).run()
        """,
        str(tmp_path),
        key,
    )
    text = "".join(terminal.read())
    terminal.close()
    (course,) = re.findall(r"[▁-█]+", text)
    assert len(course) == length
    assert key[:38] in text

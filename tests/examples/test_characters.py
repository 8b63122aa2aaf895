"""The example learns."""

import runpy

import pytest

from tests.examples.programs import EXAMPLES

EXAMPLE = EXAMPLES / "characters" / "train_characters.py"


@pytest.mark.slow
def test_train_characters(tmp_path, capsys):
    program = runpy.run_path(str(EXAMPLE))
    trainer = program["main"](["--iterations", "50", "--out", str(tmp_path)])
    # The most frequent character makes 16 % of the text.
    assert trainer.observation["validation/main/accuracy"] > 0.7
    assert "This is the cat,\n" in capsys.readouterr().out
    assert (tmp_path / "log").exists()

"""The example learns."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples" / "train_characters.py"


def test_train_characters(tmp_path, capsys):
    program = runpy.run_path(str(EXAMPLE))
    trainer = program["main"](["--iterations", "50", "--out", str(tmp_path)])
    # The most frequent character makes 16 % of the text.
    assert trainer.observation["validation/main/accuracy"] > 0.7
    assert "This is the cat,\n" in capsys.readouterr().out
    assert (tmp_path / "log").exists()

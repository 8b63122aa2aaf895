"""A small GPT is trained, saved, continued, fine-tuned and exported."""

import importlib.util

import pytest

from tests.examples.programs import EXAMPLES, run

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("chainer_models") is None, reason="make install EXTRAS=models"
)
PROGRAM = "gpt/train_gpt.py"
TEXT = EXAMPLES / "characters" / "the_house_that_jack_built.txt"


def test_all_steps(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text(TEXT.read_text(encoding="utf-8")[::-1], encoding="utf-8")
    out = run(
        PROGRAM, "--out", tmp_path / "gpt", "--iterations", 10, "--length", 16,
        "--tune", other, cwd=tmp_path,
    )  # fmt: skip
    files = {path.name for path in (tmp_path / "gpt").iterdir()}
    assert {"config.json", "model.safetensors", "adapter"} <= files
    losses = [float(line.split()[1]) for line in out.splitlines() if line.startswith("10 ")]
    # 33 letters: 3.5 at first.
    assert len(losses) == 2
    assert losses[0] < 3.4


@pytest.mark.slow
def test_it_learns_the_text(tmp_path):
    pytest.importorskip("onnx_chainer", reason="make install EXTRAS=onnx")
    out = run(PROGRAM, "--out", tmp_path / "gpt", "--onnx", cwd=tmp_path)
    assert (tmp_path / "gpt" / "model.onnx").stat().st_size > 100_000
    text = TEXT.read_text(encoding="utf-8")
    # It goes on as the text does somewhere.
    start = out.index(text[:12])
    assert out[start : start + 30] in text


def test_unknown_letters(tmp_path):
    (tmp_path / "other.txt").write_text("\u00e4" * 30, encoding="utf-8")
    run(
        PROGRAM, "--out", tmp_path / "gpt", "--iterations", 1, "--tune", tmp_path / "other.txt",
        cwd=tmp_path, expect=2,
    )  # fmt: skip

import re

import pytest

from tests.examples.programs import run

TEXT = "The cat sees the dog. The dog sees a bird!\nA bird sees the cat.\n" * 80


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.mark.slow
def test_train_and_generate(tmp_path, text):
    args = [text, "-b", 4, "-l", 5, "-u", 32, "--log-interval", 10, "-o", "out"]
    out = run("rnnlm/train_rnnlm.py", *args, "-e", 6, cwd=tmp_path)
    # 8 words, "." "!" <unk> and <eos>
    assert "#vocab = 10" in out
    # The text is a chain of few sentences: far from the 10 of an even guess.
    assert float(re.search(r"test perplexity: ([\d.]+)", out)[1]) < 5
    out = run("rnnlm/train_rnnlm.py", *args, "-e", 7, "-r", "out/snapshot.npz", cwd=tmp_path)
    assert "test perplexity" in out
    out = run("rnnlm/generate.py", "-p", "the dog", "-o", "out", cwd=tmp_path)
    words = out.split()
    assert words[:2] == ["the", "dog"]
    assert set(words) <= {*["the", "cat", "sees", "dog", "a", "bird", ".", "!", "<eos>"]}
    out = run("rnnlm/generate.py", "-p", "the horse", "-o", "out", cwd=tmp_path, expect=2)
    assert "horse" in out


def test_captured_training_gives_the_same_numbers(tmp_path, text, monkeypatch):
    # A step that cannot be captured warns.
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")
    args = ["rnnlm/train_rnnlm.py", text, "-b", 4, "-l", 5, "-u", 8, "-e", 1]
    written = run(*args, cwd=tmp_path)
    captured = run(*args, "--capture", cwd=tmp_path)
    found = [re.search(r"test perplexity: [\d.]+", out)[0] for out in (written, captured)]
    assert found[0] == found[1]


def test_text_too_short(tmp_path):
    (tmp_path / "text.txt").write_text("Too short.")
    out = run("rnnlm/train_rnnlm.py", "text.txt", cwd=tmp_path, expect=1)
    assert "too short" in out


def test_truncated_bptt(tmp_path, text):
    out = run("rnnlm/truncated_bptt.py", text, "-u", 16, "-l", 10, "-n", 400, "-e", 4, cwd=tmp_path)
    perplexities = [float(p) for p in re.findall(r"perplexity ([\d.]+)", out)]
    assert len(perplexities) == 4
    assert perplexities[-1] < 0.9 * perplexities[0]

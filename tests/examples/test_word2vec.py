import pytest

from tests.examples.programs import run, table

TEXT = "the red cat eats fish and the red dog eats meat but one blue boat sails over water " * 20


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("model", "out_type"),
    [("skipgram", "ns"), ("skipgram", "original"), ("cbow", "hsm")],
)
def test_train_and_search(tmp_path, text, model, out_type):
    args = [text, "-m", model, "-t", out_type, "-w", 2, "-u", 8, "-b", 10, "-o", "out"]
    out = run("word2vec/train_word2vec.py", *args, "-e", 20, cwd=tmp_path)
    assert "n_vocab: 15" in out
    # The training loss: that of the validation, on some thirty words, jumps with the samples drawn.
    losses = [float(row[1]) for row in table(out)]
    assert len(losses) == 20
    assert losses[-1] < 0.9 * losses[0]
    run("word2vec/train_word2vec.py", *args, "-e", 21, "-r", "out/snapshot.npz", cwd=tmp_path)
    lines = run("word2vec/search.py", "-o", "out", "cat", "horse", cwd=tmp_path).splitlines()
    assert lines[0] == "query: cat"
    assert len(lines) == 1 + 5 + 1
    assert all(-1 <= float(line.split(": ")[1]) <= 1 for line in lines[1:6])
    assert '"horse" is not' in lines[6]


def test_text_too_short(tmp_path):
    (tmp_path / "text.txt").write_text("too short")
    out = run("word2vec/train_word2vec.py", "text.txt", cwd=tmp_path, expect=1)
    assert "too short" in out

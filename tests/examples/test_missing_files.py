"""Files that are not there: one line says so, before anything is computed."""

from __future__ import annotations

import pytest

from tests.examples.programs import run

NAME = "nowhere.npz"
CALLS = [
    ("convnets/train_convnet.py", [NAME]),
    ("convnets/train_convnet.py", ["--model", NAME]),
    ("convnets/train_convnet.py", ["--resume", NAME]),
    ("digits/train_digits.py", ["--resume", NAME]),
    ("extensions/polynomial_shift.py", ["--resume", NAME]),
    ("rnnlm/train_rnnlm.py", [NAME]),
    ("rnnlm/train_rnnlm.py", ["--resume", NAME]),
    ("rnnlm/truncated_bptt.py", [NAME]),
    ("rnnlm/generate.py", ["--out", NAME]),
    ("seq2seq/seq2seq.py", [NAME] * 4),
    ("word2vec/train_word2vec.py", [NAME]),
    ("word2vec/train_word2vec.py", ["--resume", NAME]),
    ("word2vec/search.py", ["--out", NAME, "word"]),
]


@pytest.mark.parametrize(("program", "arguments"), CALLS)
def test_what_is_missing_is_said(program, arguments, tmp_path):
    lines = run(program, *arguments, cwd=tmp_path, expect=2).splitlines()
    assert lines[0].startswith("usage: ")
    assert "error: " in lines[-1]
    assert "there is no " in lines[-1]
    assert NAME in lines[-1]
    assert "Traceback" not in "".join(lines)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("position", range(4))
def test_each_file_of_seq2seq(position, tmp_path):
    there = tmp_path / "there"
    there.write_text("a\n")
    files = [str(there)] * 4
    files[position] = NAME
    output = run("seq2seq/seq2seq.py", *files, cwd=tmp_path, expect=2)
    name = ("SOURCE", "TARGET", "SOURCE_VOCAB", "TARGET_VOCAB")[position]
    assert f"argument {name}: there is no file '{NAME}'" in output


def test_resume_without_a_snapshot(tmp_path):
    output = run("digits/train_digits.py", "--resume", cwd=tmp_path, expect=2)
    assert "there is no file 'result/snapshot.npz'" in output

import importlib.util
import json
import math

import pytest

from tests.examples.programs import EXAMPLES, run


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / "seq2seq" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("n", "english", "french"),
    [
        (0, "zero", "zéro"),
        (17, "seventeen", "dix sept"),
        (21, "twenty one", "vingt et un"),
        (71, "seventy one", "soixante et onze"),
        (80, "eighty", "quatre vingts"),
        (91, "ninety one", "quatre vingt onze"),
        (200, "two hundred", "deux cents"),
        (
            1999,
            "one thousand nine hundred and ninety nine",
            "mille neuf cent quatre vingt dix neuf",
        ),
        (5005, "five thousand and five", "cinq mille cinq"),
    ],
)
def test_rules_of_the_corpus(n, english, french):
    corpus = load("make_corpus")
    assert " ".join(corpus.english(n)) == english
    assert " ".join(corpus.french(n)) == french


def test_bleu():
    bleu = load("bleu").corpus_bleu
    assert bleu([["abcde"]], ["abcde"]) == 1
    assert bleu([["abcde"]], ["xyz"]) == 0
    # 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples
    assert bleu([["abcde"]], ["abcdx"]) == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 / 2) ** 0.25)
    # Brevity is punished, and a word counts as often as it is in the reference.
    assert bleu([["abcdef"]], ["abcd"]) == pytest.approx(math.exp(1 - 6 / 4))
    assert bleu([["abcd"]], ["aaaa"]) == pytest.approx((1 / 4 * 0.1 / 3 * 0.1 / 2 * 0.1) ** 0.25)


@pytest.mark.slow
def test_train(tmp_path):
    run("seq2seq/make_corpus.py", "-n", 100, cwd=tmp_path)
    files = [f"corpus/{name}" for name in ("train.en", "train.fr", "vocab.en", "vocab.fr")]
    validation = [
        "--validation-source",
        "corpus/valid.en",
        "--validation-target",
        "corpus/valid.fr",
    ]
    args = [*files, *validation, "-u", 32, "-b", 10, "--log-interval", 45]
    args += ["--validation-interval", 45]
    out = run("seq2seq/seq2seq.py", *args, "-e", 20, cwd=tmp_path)
    assert "Train source unknown ratio: 0.00%" in out
    assert out.count("# result : ") == 4
    log = json.loads((tmp_path / "result" / "log").read_text())
    assert [entry["iteration"] for entry in log] == [45, 90, 135, 180]
    assert log[-1]["main/loss"] < 0.5 * log[0]["main/loss"]
    assert all(0 <= entry["validation/main/bleu"] <= 1 for entry in log)
    run("seq2seq/seq2seq.py", *args, "-e", 25, "-r", "result/snapshot.npz", cwd=tmp_path)
    log = json.loads((tmp_path / "result" / "log").read_text())
    assert log[-1]["iteration"] == 225
    assert (tmp_path / "result" / "model.npz").exists()

"""The interactive samples of the documentation run and print what the documentation shows."""

import doctest
import pathlib

import numpy as np
import pytest

from chainer.utils.type_check import InvalidType

SAMPLES = sorted((pathlib.Path(__file__).parent / "doctests").glob("*.txt"))

# What NumPy 2 prints, or rounds, differently from the NumPy of the documentation.
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_sample(sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Release 7 names the arguments in refusals, and notes below them are newer than the page.
    text = sample.read_text().replace("in_types[0].shape", "x.shape")
    monkeypatch.setattr(InvalidType, "add_note", lambda self, note: None, raising=False)
    parser = doctest.DocTestParser()
    test = parser.get_doctest(text, {"__name__": "__main__"}, sample.stem, str(sample), 0)
    output = []
    with np.printoptions(legacy="1.25"):
        result = doctest.DocTestRunner(optionflags=FLAGS, checker=_Checker()).run(
            test, out=output.append
        )
    assert result.attempted > 0
    assert result.failed == 0, "".join(output)


class _Checker(doctest.OutputChecker):
    """Compares numbers as float32 numbers: the last digit depends on the NumPy version."""

    def check_output(self, want, got, optionflags):
        if not want and got.startswith("function\t"):
            return True  # the page does not show what PrintHook prints
        if got.startswith("Sequential(\n"):
            return True  # releases 5 to 7 print a tree, tests/links/test_sequential.py shows it
        if super().check_output(want, got, optionflags):
            return True
        return _same_numbers(want, got)


def _same_numbers(want, got):
    import re

    number = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
    skeletons = [re.sub(r"\s+", "", number.sub("#", text)) for text in (want, got)]
    if skeletons[0] != skeletons[1]:
        return False
    numbers = [np.array(number.findall(text), float) for text in (want, got)]
    return np.allclose(*numbers, rtol=2e-6, atol=1e-7)

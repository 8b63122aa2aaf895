"""The examples in the docstrings and in the README."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import chainer_modern
import chainer_modern.pack
import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def _examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in pkgutil.walk_packages(chainer_modern.__path__, "chainer_modern."):
        found = finder.find(importlib.import_module(module.name), module.name)
        yield from (test for test in found if test.examples)


EXAMPLES = list(_examples())


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_example(example):
    example.globs = {"np": np, "chainer": chainer, "F": F, "L": L}
    output = []
    np.random.seed(0)
    with np.printoptions(legacy="1.25"):
        result = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=output.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(output)


def test_there_are_many():
    assert len(EXAMPLES) >= 24


README = (Path(__file__).parent.parent / "README.md").read_text()


def test_readme_programs_run():
    programs = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, "README.md", "exec"), {})


def test_readme_lists_everything():
    for name in (*chainer_modern.pack.FUNCTIONS, *chainer_modern.pack.LINKS):
        assert re.search(rf"`[FL]\.{name}\b", README), name

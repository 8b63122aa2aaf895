"""The examples in the docstrings run in one process, and print what they show."""

import doctest
import importlib
import pkgutil

import chainermn
import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L


def _examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in pkgutil.walk_packages(chainermn.__path__, "chainermn."):
        found = finder.find(importlib.import_module(module.name), module.name)
        yield from (test for test in found if test.examples)


@pytest.mark.parametrize("example", list(_examples()), ids=lambda example: example.name)
def test_docstrings(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example.globs = {"np": np, "chainer": chainer, "F": F, "L": L}
    output = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(optionflags=flags).run(example, out=output.append)
    assert not output, "".join(output)

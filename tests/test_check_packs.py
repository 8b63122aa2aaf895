"""The packs of this repository use what any plugin may use (docs/plugin-api.md)."""

import pytest

from scripts.check_packs import OPEN, PUBLIC, complex_functions, is_public, main, private_imports


def test_packs(capsys):
    assert main() == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import chainer\nimport chainer.functions as F", []),
        ("from chainer.utils.argument import require_attribute", []),
        ("from chainer.training.extensions.evaluator import Evaluator", []),
        ("from chainer import __version__\nprint(chainer.__version__)", []),
        ("from chainerx import ndarray\nimport chainermn._private", []),
        ("from chainer.core.typing import Array", ["chainer.core.typing.Array"]),
        ("import chainer.core.arrays.backend", ["chainer.core.arrays.backend"]),
        ("from chainer.training import _private", ["chainer.training._private"]),
        ("from chainer.functions._inputs import x", ["chainer.functions._inputs.x"]),
        ("import chainer\nchainer.core.lazy", ["chainer.core.lazy"]),
    ],
)
def test_private_imports(source, found):
    assert [name for _, name in private_imports(source)] == found


def test_complex_functions():
    source = "def f(x):\n" + "".join(f"    if x == {i}:\n        return {i}\n" for i in range(20))
    assert list(complex_functions(source)) == [("f", 21)]


@pytest.mark.parametrize("module", [*OPEN, *PUBLIC])
def test_public_modules_exist(module):
    import importlib

    assert is_public(module)
    importlib.import_module(module)

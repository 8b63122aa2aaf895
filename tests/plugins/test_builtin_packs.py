from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

from chainer.core.registry import registries
from chainer.plugins import _builtin
from chainer.plugins.hooks import hook_names

ROOT = Path(__file__).parents[2]


def test_the_table_is_that_of_the_metadata() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["chainer"] == _builtin.PACKS
    assert project["scripts"]["chainer"] == "chainer.plugins.cli:main"


def test_every_pack_says_which_registries_it_fills() -> None:
    assert set(_builtin.FILLS) == set(_builtin.PACKS)
    for name, target in _builtin.PACKS.items():
        pack = importlib.import_module(target)
        hooks = {hook for hook in hook_names() if hasattr(pack, hook)}
        assert hooks == {f"chainer_{kind}" for kind in _builtin.FILLS[name]}, name


def test_registries_without_a_pack_of_ours_are_known() -> None:
    # NumPy has reference kernels only; others have kernels of their own. Converters to ONNX and
    # its operators, and published models, are in distributions of their own.
    empty = set(registries.ALL) - frozenset().union(*_builtin.FILLS.values())
    others = {"kernels", "onnx_converters", "onnx_operators", "communicators"}
    assert empty <= others | {"model_architectures"}

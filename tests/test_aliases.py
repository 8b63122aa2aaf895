from __future__ import annotations

import importlib
import json
import operator
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chainer import _aliases

TREE = {
    "sample/__init__.py": "",
    "sample/inner/__init__.py": "",
    "sample/inner/tools/__init__.py": "base = 1\n",
    "sample/inner/tools/saw.py": "class Saw: pass\n",
    "sample/inner/broken.py": "import no_such_module_at_all\n",
    "sample/inner/raising.py": "raise OSError('bad')\n",
}
TREE["sample/inner/circle/__init__.py"] = (
    "before = 1\nimport sample.circle\nfrom sample.circle import before as again\n"
)
TABLE = {
    "sample.tools": "sample.inner.tools",
    "sample.circle": "sample.inner.circle",
    "sample.saw": "sample.inner.tools.saw",
    "sample.broken": "sample.inner.broken",
    "sample.raising": "sample.inner.raising",
    "sample.missing": "sample.inner.missing",
    "sample.lost": "sample.nowhere.lost",
}


@pytest.fixture(autouse=True)
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for path, code in TREE.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [_aliases.AliasFinder(TABLE), *sys.meta_path])
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "sample"]:
        del sys.modules[name]


@pytest.mark.parametrize("first", ["sample.tools.saw", "sample.inner.tools.saw", "sample.saw"])
def test_all_names_give_one_module_whichever_comes_first(first: str) -> None:
    module = importlib.import_module(first)
    names = ["sample.tools.saw", "sample.inner.tools.saw", "sample.saw"]
    assert all(importlib.import_module(name) is module for name in names)
    assert all(sys.modules[name] is module for name in names)
    assert module.__name__ == module.__spec__.name == "sample.inner.tools.saw"
    import sample

    assert sample.tools.saw is sample.saw is sample.inner.tools.saw is module  # type: ignore[attr-defined]
    assert sample.tools.__name__ == "sample.inner.tools"  # type: ignore[attr-defined]


def test_from_imports() -> None:
    from sample import saw, tools  # type: ignore[import-not-found]
    from sample.tools.saw import Saw  # type: ignore[import-not-found]

    assert saw.Saw is Saw
    assert tools.base == 1


def test_pickles_made_under_either_name_agree() -> None:
    saw = importlib.import_module("sample.tools.saw")
    text = pickle.dumps(saw.Saw(), protocol=0)
    assert b"sample.inner.tools.saw" in text
    old = text.replace(b"sample.inner.tools.saw", b"sample.tools.saw")
    assert type(pickle.loads(old)) is type(pickle.loads(text)) is saw.Saw


def test_reload_keeps_the_object() -> None:
    saw = importlib.import_module("sample.saw")
    old = saw.Saw
    assert importlib.reload(saw) is saw
    assert saw.Saw is not old
    assert (
        sys.modules["sample.tools.saw" if "sample.tools.saw" in sys.modules else "sample.saw"]
        is saw
    )


@pytest.mark.parametrize("first", ["sample.circle", "sample.inner.circle"])
def test_circular_imports_see_the_module_half_done(first: str) -> None:
    module = importlib.import_module(first)
    assert module.again == 1
    assert sys.modules["sample.circle"] is sys.modules["sample.inner.circle"] is module


def test_missing_modules_are_named_as_the_user_named_them() -> None:
    with pytest.raises(
        ModuleNotFoundError,
        match=r"No module named 'sample.missing' \(which is 'sample.inner.missing",
    ) as info:
        importlib.import_module("sample.missing")
    assert info.value.name == "sample.missing"
    with pytest.raises(ModuleNotFoundError, match=r"'sample.lost' \(which is 'sample.nowhere.lo"):
        importlib.import_module("sample.lost")
    with pytest.raises(
        ModuleNotFoundError, match=r"'sample.tools.no' \(which is 'sample.inner.too"
    ):
        importlib.import_module("sample.tools.no")
    with pytest.raises(ModuleNotFoundError) as info:
        importlib.import_module("sample.broken")
    assert info.value.name == "no_such_module_at_all"


def test_a_module_that_raises_leaves_nothing_behind() -> None:
    for _ in range(2):
        with pytest.raises(OSError, match="bad"):
            importlib.import_module("sample.raising")
        assert "sample.raising" not in sys.modules
        assert "sample.inner.raising" not in sys.modules


def test_names_outside_the_table_are_left_alone() -> None:
    finder = _aliases.AliasFinder(TABLE)
    assert finder.find_spec("samples", None) is None
    assert finder.find_spec("sample.inner.tools", None) is None
    assert finder.find_spec("sample.toolshed", None) is None
    assert finder.canonical_name("sample.tools.a.b") == "sample.inner.tools.a.b"


# The real table


def child(code: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_importing_chainer_installs_one_finder_and_loads_no_alias() -> None:
    result = child("""
        import sys, json, chainer
        from chainer import _aliases
        _aliases.install()
        finders = [f for f in sys.meta_path if isinstance(f, _aliases.AliasFinder)]
        loaded = sorted(name for name in _aliases.ALIASES if name in sys.modules)
        print(json.dumps([len(finders), sys.meta_path[0] is finders[0], loaded]))
    """)
    assert result == [1, True, []]


@pytest.mark.parametrize("public", sorted(_aliases.ALIASES))
def test_second_names_are_the_canonical_modules(public: str) -> None:
    module = importlib.import_module(public)
    assert module is importlib.import_module(_aliases.ALIASES[public])
    assert module.__name__ == _aliases.ALIASES[public]
    import chainer

    assert operator.attrgetter(public.removeprefix("chainer."))(chainer) is module


def test_deep_public_names() -> None:
    from chainer.optimizers import adam
    from chainer.training.optimizers import adam as canonical
    from chainer.utils import type_check

    assert adam is canonical
    assert type_check is sys.modules["chainer.core.utils.type_check"]

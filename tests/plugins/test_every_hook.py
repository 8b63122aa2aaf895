"""Every hook is documented with its exact signature and an example that shows its effect.

``docs/hooks.md`` has a section for each hook: the signature, ``pack.py`` with an implementation,
and ``use.py``, which fails unless the implementation was called.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from pathlib import Path

import pytest

import chainer
from chainer.plugins import hookspecs
from chainer.plugins.hooks import hook_names

DOCS = Path(__file__).parents[2] / "docs"
_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r'^```python(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def signature(name):
    """Returns a hook's declaration, as the documentation must have it."""
    return f"def {name}{inspect.signature(getattr(hookspecs, name))}".replace("'", "")


def section(name):
    """Returns the blocks of the section about a hook: by title, '' for the one without."""
    sections = dict(_SECTION.findall((DOCS / "hooks.md").read_text(encoding="utf-8")))
    assert name in sections, f"docs/hooks.md has no section about {name}"
    return {title: code for title, code in _BLOCK.findall(sections[name])}


def load(code, monkeypatch):
    """Returns the code of a pack as the module ``pack``."""
    module = types.ModuleType("pack")
    monkeypatch.setitem(sys.modules, "pack", module)
    exec(compile(code, "pack.py", "exec"), module.__dict__)
    return module


def use(code):
    exec(compile(code, "use.py", "exec"), {"__name__": "use"})


@pytest.mark.parametrize("name", hook_names())
def test_signature_is_documented(name):
    pages = [path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")]
    declaration = re.compile(rf"^{re.escape(signature(name))}:?( \.\.\.)?$", re.MULTILINE)
    assert any(map(declaration.search, pages)), f"no page in docs/ has {signature(name)!r}"


@pytest.mark.parametrize("name", hook_names())
def test_hook_is_called_and_has_an_effect(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    blocks = section(name)
    pack = load(blocks["pack.py"], monkeypatch)
    assert [hook for hook in vars(pack) if hook.startswith(hookspecs.PREFIX)] == [name]

    with pytest.raises((AssertionError, LookupError, AttributeError, ValueError)):
        use(blocks["use.py"])  # without the pack
    chainer.plugins.register(pack)
    try:
        use(blocks["use.py"])
    finally:
        chainer.plugins.unregister(pack)
    pack = load(blocks["pack.py"], monkeypatch)
    with pytest.raises((AssertionError, LookupError, AttributeError, ValueError)):
        use(blocks["use.py"])  # it was taken back


def test_no_section_is_about_something_else():
    titles = re.findall(r"^## (.*)$", (DOCS / "hooks.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert titles == hook_names()


def test_a_new_hook_is_noticed(monkeypatch):
    def chainer_new(registry: object) -> None:
        """Registers something new."""

    monkeypatch.setattr(hookspecs, "chainer_new", chainer_new, raising=False)
    assert "chainer_new" in hook_names()
    with pytest.raises(AssertionError, match="no section about chainer_new"):
        section("chainer_new")
    with pytest.raises(AssertionError, match="no page in docs"):
        test_signature_is_documented("chainer_new")


def test_a_changed_signature_is_noticed(monkeypatch):
    def chainer_links(registry: object, more: int = 0) -> None:
        """Registers links."""

    monkeypatch.setattr(hookspecs, "chainer_links", chainer_links)
    with pytest.raises(AssertionError, match="no page in docs"):
        test_signature_is_documented("chainer_links")

"""The reference of the documentation site: its names, and docstrings as Markdown.

The site itself is built by ``make docs``, where warnings are errors.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytest.importorskip("griffe", reason="needs the extra docs")

from scripts.site.aliases import NAMES, PAGES, pages
from scripts.site.names import link_targets, main_names, sections, value_of
from scripts.site.roles import public_bases, to_markdown
from scripts.site.typed import TYPED

ROOT = Path(__file__).parents[2]
PAGE = "chainer.core.autograd.variable.Variable"
TARGETS = {"chainer.Variable": PAGE}


def test_every_registered_function_has_a_page() -> None:
    names = {name.public for name in sections()["Functions"]}
    assert {"chainer.functions.relu", "chainer.functions.convolution_2d"} <= names
    assert all(name.origin for name in sections()["Links"])


def test_words_of_the_search_lead_to_pages() -> None:
    """``python -m scripts.site.queries site`` types them into the search of the built site."""
    targets = link_targets()
    for name in NAMES:
        public = f"chainer.{name}"
        # The page of a second name is not in the search.
        assert main_names()[targets[public]].public == public
    for page in PAGES:
        assert (ROOT / "docs" / page).exists(), page
    words = [word for group in pages().values() for word in group]
    assert len(words) == len(set(words)) >= 60


def test_typed_searches_mean_pages() -> None:
    """As ``scripts.site.queries`` looks for them in the results."""
    targets = link_targets()
    for words, meant in TYPED.items():
        if meant.startswith(("chainer.", "chainermn.")):
            assert main_names()[targets[meant]].public == meant, words
        else:
            assert (ROOT / "docs" / f"{meant}.md").exists(), words
    assert len(TYPED) >= 60


def test_names_lead_to_objects() -> None:
    for names in sections().values():
        for name in names:
            assert callable(value_of(name.public)), name.public


def test_an_object_has_one_page() -> None:
    variable = main_names()[link_targets()["chainer.Variable"]]
    assert variable.public == "chainer.Variable"


def test_canonical_names_can_be_imported() -> None:
    for name in sections()["Core"]:
        module, _, attribute = name.canonical.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":class:`chainer.Variable`", f"[`chainer.Variable`][{PAGE}]"),
        (":class:`~chainer.Variable`", f"[`Variable`][{PAGE}]"),
        (
            ":class:`the variable <chainer.Variable>`",
            f"[`the variable`][{PAGE}]",
        ),
        (
            ":meth:`chainer.Variable.backward`",
            f"[`chainer.Variable.backward`][{PAGE}]",
        ),
        (":func:`numpy.dot`", "`numpy.dot`"),
        (":envvar:`PATH`", "`PATH`"),
        ("`A paper <https://arxiv.org/abs/1>`_", "[A paper](https://arxiv.org/abs/1)"),
        (
            "    x (:class:`~chainer.Variable` or array): Input.",
            "    x (Variable or array): Input.",
        ),
        ("    ~chainer.Variable: Output.", "    Variable: Output."),
        ("Example:\n    >>> 1\n    1", "Examples:\n    >>> 1\n    1"),
        ("``CHAINER_DEBUG=1``", "``CHAINER_DEBUG=1``"),
        (".. note:: Careful.\n\nText", "**Note** Careful.\n\n\nText"),
        (".. seealso:: :func:`numpy.dot`", "**See also** `numpy.dot`\n"),
        ("Returns:\n    tuple of str: Names.", "Returns:\n    (tuple of str): Names."),
        ("Returns:\n    A tuple: two.", "Returns:\n    A tuple: two."),
    ],
)
def test_docstrings_become_markdown(text: str, expected: str) -> None:
    assert to_markdown(text, TARGETS) == expected


def test_settings_become_links() -> None:
    targets = {"CHAINER_DEBUG": "variables.html#a", "chainer.config.debug": "configuration.html#b"}
    text = to_markdown("``CHAINER_DEBUG=1`` sets ``chainer.config.debug``, not ``X_Y``.", targets)
    assert text == (
        '<a href="../variables.html#a"><code>CHAINER_DEBUG=1</code></a> sets '
        '<a href="../configuration.html#b"><code>chainer.config.debug</code></a>, not ``X_Y``.'
    )


def test_formulas_become_mathml() -> None:
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in to_markdown(":math:`x^2`", TARGETS)
    # Markdown would make a paragraph of a line that begins with <math>.
    assert to_markdown(":math:`x`", TARGETS).startswith("<span><math")
    text = to_markdown(".. math::\n\n   a &= b,\\\\\n   c &= d\n\nText", TARGETS)
    assert text.count("<mtr>") == 2 and "&=" not in text and text.endswith("\n\nText")
    assert 'display="block"' in text


def test_the_page_of_a_name_says_what_supplies_it() -> None:
    names = {name.public: name for name in sections()["Functions"]}
    assert names["chainer.functions.relu"].origin.startswith(
        "Supplied by the distribution `chainer` "
    )
    # A pack of this repository, which is installed for the tests.
    exporter = {name.public: name for name in sections()["ONNX"]}["onnx_chainer.export"]
    assert exporter.distribution == "onnx-chainer"


def test_addresses_of_sources_are_links() -> None:
    text = "See: https://arxiv.org/abs/1212.0901. As in\n\nSee: `A title <https://a.b/c>`_"
    shown = to_markdown(text, {})
    assert "See: <https://arxiv.org/abs/1212.0901>. As in" in shown
    assert "See: [A title](https://a.b/c)" in shown


def test_bases_are_public_classes() -> None:
    """A reader learns nothing from a class that only shares code between ours."""
    names = main_names()

    def bases(name: str) -> list[str]:
        return [base.__name__ for base in public_bases(value_of(name), names)]

    assert bases("chainer.optimizers.Adam") == ["GradientMethod"]
    assert bases("chainer.datasets.transforms.RandomCrop") == []
    assert bases("chainer.distributions.Gamma") == ["Distribution"]
    assert bases("chainer.links.ResNet50Layers") == ["Chain"]

"""The walk through the built site finds what is wrong. ``make docs`` runs it on the site itself."""

import pytest

pytest.importorskip("griffe", reason="needs the extra docs")

from scripts.site.walk import problems


def write(site, pages):
    for name, text in pages.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_good_site(tmp_path):
    write(
        tmp_path,
        {
            "index.html": "<a href='reference/'>r</a><a href='https://x.org/a'>x</a>",
            "reference/index.html": "<a href='chainer.relu.html#top'>p</a><img src='../a.png'>",
            "reference/chainer.relu.html": "<h1 id='top'>relu</h1><a href='#top'>t</a>",
            "a.png": "",
        },
    )
    assert problems(tmp_path, ["chainer.relu"]) == []


def test_problems_are_found(tmp_path):
    write(
        tmp_path,
        {
            "index.html": "<a href='gone.html'>r</a><a href='b.html#x'>b</a><a href='../c'>c</a>"
            "<script src='https://x.org/a.js'></script>",
            "b.html": "[<code>chainer.gone</code>][]",
            "alone.html": "",
        },
    )
    assert sorted(problems(tmp_path, ["chainer.relu"])) == [
        "alone.html: no link leads here",
        "b.html: nothing is known of chainer.gone",
        "chainer.relu: has no page",
        "index.html: dead link ../c",
        "index.html: dead link gone.html",
        "index.html: loads https://x.org/a.js from elsewhere",
        "index.html: no anchor for b.html#x",
    ]

"""The page "Add a kernel" of Chainer's documentation shows code of this distribution."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACK = Path(__file__).parents[1]
PAGE = PACK.parents[1] / "docs" / "add-a-kernel.md"


@pytest.mark.skipif(not PAGE.exists(), reason="not in Chainer's repository")
def test_the_page_shows_what_the_sources_say():
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index("\n## 2. ") : text.index("\n## 3. ")]
    section = section.partition("\n### ")[0]  # what follows is about kernels in general
    blocks = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    sources = [path.read_text(encoding="utf-8") for path in PACK.rglob("*.py")]
    assert len(blocks) == 5
    for block in blocks:
        assert any(block in source for source in sources), block

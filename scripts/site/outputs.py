"""Shows on a page what its program printed when the site was built, instead of ``...``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripts.run_guide import with_outputs


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Called by MkDocs with the text of each page."""
    source = Path(page.file.abs_src_path or "")
    outputs = source.parent / "pictures" / f"{source.stem}.json"
    return with_outputs(markdown, outputs) if outputs.is_file() else markdown

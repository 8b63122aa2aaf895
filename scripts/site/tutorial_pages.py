"""Writes the pages of the tutorials, with the results of their cells, while MkDocs builds."""

from __future__ import annotations

import mkdocs_gen_files

from scripts.site.tutorials import TUTORIALS, page_of, run


def main() -> None:
    """Runs each notebook and writes its page and pictures."""
    for notebook in sorted(TUTORIALS.glob("*.ipynb")):
        text, pictures = page_of(run(notebook), notebook.stem)
        with mkdocs_gen_files.open(f"tutorials/{notebook.stem}.md", "w") as page:
            page.write(text)
        for name, data in pictures.items():
            with mkdocs_gen_files.open(f"tutorials/pictures/{name}", "wb") as picture:
                picture.write(data)


main()

"""Writes the reference of the site while MkDocs builds the site.

There is one page for each public name, and one each for the configuration, the environment
variables and the command line.
"""

from __future__ import annotations

import inspect
import re
from functools import lru_cache
from html import escape

import griffe
import mkdocs_gen_files

from scripts.site.names import PACKAGES, Name, main_names, sections, value_of
from scripts.site.roles import to_markdown
from scripts.site.settings import SETTINGS, link_targets

_OPTIONS = """\
    options:
      heading: "{heading}"
      toc_label: "{label}"
"""


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-")


@lru_cache(maxsize=1)
def _sources() -> griffe.ModulesCollection:
    loader = griffe.GriffeLoader()
    for package in PACKAGES:
        loader.load(package)
    return loader.modules_collection


def _is_in_source(canonical: str) -> bool:
    """Returns whether the source has a class or function of that name."""
    try:
        found = _sources()[canonical]
    except KeyError:
        return False
    return not found.is_alias and not found.is_module


def _first_line(name: Name) -> str:
    """Returns the first sentence of the docstring, for a cell of a table."""
    text = inspect.getdoc(value_of(name.public)) or ""
    line = " ".join(text.partition("\n\n")[0].split())
    return to_markdown(line, {}).replace("|", "\\|")


def _described(name: Name) -> str:
    """Returns the text for a name that is made while the program runs, from the object."""
    value = value_of(name.public)
    text = to_markdown(inspect.getdoc(value) or "", link_targets())
    # The identifier is the one that links lead to.
    return f"# {name.public} {{#{name.canonical}}}\n\n{text}\n\n{name.origin}\n"


def _write_name(section: str, name: Name) -> str:
    """Writes the page of a name; returns its path relative to the reference."""
    label = name.public.rpartition(".")[2]
    path = f"{_slug(section)}/{name.public}.md"
    with mkdocs_gen_files.open(f"reference/{path}", "w") as page:
        print(f"---\ntitle: {label}\n---\n", file=page)
        main = main_names()[name.canonical]
        if main != name:
            print(f"# {name.public}\n", file=page)
            print(f"Another name of [`{main.public}`][{name.canonical}].", file=page)
        elif _is_in_source(name.canonical):
            print(f"::: {name.canonical}", file=page)
            print(_OPTIONS.format(heading=name.public, label=label), file=page)
            # What the results of a search show of the page: they take text of its own only.
            # The results of a search show this as it is: without marks of Markdown.
            text = re.sub(r"[`\\]", "", _first_line(name))
            print(f"\n<p hidden>{escape(text)}</p>", file=page)
        else:
            print(_described(name), file=page)
    return path


def _label(name: Name, names: list[Name]) -> str:
    """Returns the title in the navigation: without the module, if the section has but one."""
    if len({each.public.rpartition(".")[0] for each in names}) == 1:
        return name.public.rpartition(".")[2]
    return name.public.removeprefix("chainer.")


def main() -> None:
    """Writes all pages, a page of contents for each section, and the navigation."""
    navigation = mkdocs_gen_files.Nav()
    index = ["# Reference", "", "Every public name, by section.", ""]
    for title, (file, text) in SETTINGS.items():
        navigation[(title,)] = file
        with mkdocs_gen_files.open(f"reference/{file}", "w") as page:
            print(text(), file=page)
        index.append(f"- [{title}]({file})")
    for section, names in sections().items():
        listing = f"{_slug(section)}/index.md"
        navigation[(section,)] = listing
        index.append(f"- [{section}]({listing}): {len(names)} names")
        with mkdocs_gen_files.open(f"reference/{listing}", "w") as page:
            print(f"# {section}\n\n| name | what it is | distribution |\n|---|---|---|", file=page)
            for name in names:
                path = _write_name(section, name)
                navigation[(section, _label(name, names))] = path
                link = f"[`{name.public}`]({path.partition('/')[2]})"
                print(f"| {link} | {_first_line(name)} | {name.distribution} |", file=page)
    with mkdocs_gen_files.open("reference/index.md", "w") as page:
        print("\n".join(index), file=page)
    with mkdocs_gen_files.open("reference/SUMMARY.md", "w") as page:
        page.writelines(["- [Reference](index.md)\n", *navigation.build_literate_nav()])


main()

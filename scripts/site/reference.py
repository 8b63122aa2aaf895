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
from scripts.site.pictures import path_of, picture
from scripts.site.roles import to_markdown
from scripts.site.settings import SETTINGS, link_targets

#: Folder of functions and links -> heading on the page of the section.
CATEGORIES = {
    "activation": "Activations",
    "array": "Arrays",
    "connection": "Layers",
    "loss": "Losses",
    "math": "Mathematics",
    "model": "Models",
    "noise": "Random",
    "rnn": "Recurrent",
    "theano": "Other libraries",
    "util": "Utilities",
}
NODE_CLASSES = "Classes of nodes"

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


def _is_node_class(name: Name) -> bool:
    """Returns whether a name of the functions is a class of nodes, which few programs use."""
    value = value_of(name.public)
    return inspect.isclass(value) and name.public.startswith("chainer.functions.")


def _category(name: Name) -> str:
    """Returns the heading under which the page of a section lists a name."""
    if _is_node_class(name):
        return NODE_CLASSES
    parts = name.canonical.split(".")
    if parts[:2] in (["chainer", "functions"], ["chainer", "links"]):
        return CATEGORIES.get(parts[2], parts[2].replace("_", " ").capitalize())
    return "" if parts[0] == "chainer" else f"From {name.distribution}"


def _by_category(names: list[Name]) -> dict[str, list[Name]]:
    """Returns the headings of a section in order, and the names of each."""
    found: dict[str, list[Name]] = {}
    for name in names:
        found.setdefault(_category(name), []).append(name)
    return dict(sorted(found.items(), key=lambda item: (item[0] == NODE_CLASSES, item[0])))


def _card(name: Name, path: str) -> str:
    """Returns a name with its description, as a link in HTML."""
    label = name.public.rpartition(".")[2]
    # Formulas are MathML already; of Markdown, a card shows the words only.
    text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", _first_line(name))
    text = re.sub(r"`+([^`]*)`+", lambda match: f"<code>{escape(match[1])}</code>", text)
    return f'<a href="{path}"><b>{label}</b><span>{text}</span></a>'


def _search(name: Name) -> str:
    """Returns the front matter that ranks a page in the search."""
    if main_names()[name.canonical] != name:
        return "search:\n  exclude: true\n"
    return f"search:\n  boost: {0.2 if _is_node_class(name) else 2}\n"


def _write_picture(name: Name) -> None:
    """Writes the picture of a name, to which its docstring refers (see roles.py)."""
    drawn = picture(name)
    if drawn is not None:
        # A file of its own: the page stays small, and its styles do not meet those of the picture.
        with mkdocs_gen_files.open(f"reference/{path_of(name)}", "w") as file:
            file.write(drawn[0])


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
        print(f"---\ntitle: {label}\n{_search(name)}---\n", file=page)
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
            _write_picture(name)
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
            print(f"# {section}", file=page)
            for category, members in _by_category(names).items():
                cards = []
                for name in members:
                    path = _write_name(section, name)
                    # Few categories have a level of their own in the navigation.
                    place = (section, category) if category else (section,)
                    navigation[(*place, _label(name, names))] = path
                    cards.append(_card(name, path.partition("/")[2].removesuffix("md") + "html"))
                heading = f"\n## {category}\n" if category else ""
                print(f'{heading}\n<div class="cards">{"".join(cards)}</div>', file=page)
    with mkdocs_gen_files.open("reference/index.md", "w") as page:
        print("\n".join(index), file=page)
    with mkdocs_gen_files.open("reference/SUMMARY.md", "w") as page:
        page.writelines(["- [Reference](index.md)\n", *navigation.build_literate_nav()])


main()

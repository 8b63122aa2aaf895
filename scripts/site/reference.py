"""Writes the reference of the site while MkDocs builds the site.

There is one page for each public name, and one each for the configuration, the environment
variables, the command line and the types of arguments.
"""

from __future__ import annotations

import inspect
import re
from functools import lru_cache
from html import escape

import griffe
import mkdocs_gen_files

from scripts.site.names import PACKAGES, Name, main_names, sections, slug, value_of
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
SECOND_NAMES = "Second names"

#: Package -> heading under which the section Core lists what it defines, in order.
CORE = {
    "chainer.core.autograd": "Variables and gradients",
    "chainer.functions": "Variables and gradients",
    "chainer.links": "Links",
    "chainer.training": "Training",
    "chainer.core.config": "Configuration",
    "chainer.core.reporting": "Reports",
    "chainer.core.arrays": "Devices and kernels",
    "chainer.backends": "Devices and kernels",
}

#: Heading of the page of contents -> sections, as users look for them. Others follow.
CONTENTS = {
    "Networks": ("Functions", "Links", "Distributions", "Initializers", "Link hooks"),
    "Training": (
        *("Training", "Updaters", "Optimizers", "Schedules", "Optimizer hooks"),
        *("Extensions", "Triggers", "Serializers"),
    ),
    "Data": ("Datasets", "Data", "Image transforms", "Iterators"),
    "Arrays and graphs": (
        *("Core", "Backends and devices", "Computational graphs", "Function hooks", "Profiler"),
    ),
    "Further": ("Many machines", "ONNX", "Plugins", "Testing", "Utilities"),
}
ABOUT = {
    "Functions": "Differentiable functions of arrays: `chainer.functions`.",
    "Links": "Layers with parameters: `chainer.links`.",
    "Distributions": "Probability distributions with differentiable samples.",
    "Initializers": "First values of parameters.",
    "Link hooks": "Called before and after a link: spectral norm, timers.",
    "Training": "Trainer, the base classes of updaters, extensions and triggers.",
    "Updaters": "How a minibatch becomes an update.",
    "Optimizers": "SGD, Adam and others.",
    "Schedules": "Learning rates that change while a training goes on.",
    "Optimizer hooks": "Weight decay, clipping and noise of gradients.",
    "Extensions": "What a trainer does besides updates: logs, plots, snapshots, evaluation.",
    "Triggers": "When an extension is called, and when a training ends.",
    "Serializers": "Files of models: npz, HDF5, safetensors.",
    "Datasets": "Known datasets, images, texts, pairs, parts of datasets.",
    "Data": "Base classes of datasets, converters of batches, downloads.",
    "Image transforms": "Augmentation of images.",
    "Iterators": "Minibatches, also from several processes.",
    "Core": "`Variable`, `Parameter`, `Link`, `grad`, `fit` and what else `chainer` has.",
    "Backends and devices": "Arrays of NumPy, CUDA and others; copies between them.",
    "Computational graphs": "Pictures of graphs.",
    "Function hooks": "Called before and after each function: timers, prints.",
    "Profiler": "Where the time goes.",
    "Many machines": "Training in many processes: `chainermn`.",
    "ONNX": "Export to ONNX and import from it: `onnx_chainer`.",
    "Plugins": "The plugin host, and kernels of your own.",
    "Testing": "Gradient checks and test cases for functions and links of your own.",
    "Utilities": "Type checks, seeds and small helpers.",
    "Configuration": "Entries of `chainer.config`.",
    "Environment variables": "Settings from outside of a program.",
    "Command line": "The command `chainer`.",
    "Types of arguments": "Names in signatures: `VariableLike`, `IntPair`, `InitializerLike`.",
}

_OPTIONS = """\
    options:
      heading: "{heading}"
      toc_label: "{label}"
"""


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
    if main_names()[name.canonical] != name:
        return SECOND_NAMES
    parts = name.canonical.split(".")
    module = name.public.rpartition(".")[0]
    if parts[0] != "chainer":
        return f"From {name.distribution}"
    if module in ("chainer.functions", "chainer.links"):
        return CATEGORIES.get(parts[2], parts[2].replace("_", " ").capitalize())
    if module == "chainer":
        found = [heading for start, heading in CORE.items() if name.canonical.startswith(start)]
        return found[0] if found else "Others"
    return ""


def _by_category(names: list[Name]) -> dict[str, list[Name]]:
    """Returns the headings of a section in order, and the names of each."""
    found: dict[str, list[Name]] = {}
    for name in names:
        found.setdefault(_category(name), []).append(name)
    last = {"Others": 1, NODE_CLASSES: 2, SECOND_NAMES: 3}
    core = list(CORE.values())

    def place(heading: str) -> tuple[int, int, str]:
        return last.get(heading, 0), core.index(heading) if heading in core else 0, heading

    return {heading: found[heading] for heading in sorted(found, key=place)}


def _contents(section: str, path: str, names: list[Name] | None) -> str:
    """Returns the card of a section on the page of contents, with the number of its names."""
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", ABOUT[section])
    if names is not None:
        text += f" {len(names)} names."
    return f'<a href="{path}"><b>{section}</b><span>{text}</span></a>'


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
    path = f"{slug(section)}/{name.public}.md"
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
    settings: list[str] = []
    groups = {heading: list[str]() for heading in CONTENTS}
    group_of = {section: heading for heading, each in CONTENTS.items() for section in each}
    order = list(group_of)
    for section, names in sorted(sections().items(), key=lambda item: order.index(item[0])):
        listing = f"{slug(section)}/index.md"
        navigation[(section,)] = listing
        card = _contents(section, f"{slug(section)}/index.html", names)
        groups[group_of[section]].append(card)
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
    for title, (file, text) in SETTINGS.items():
        navigation[(title,)] = file
        with mkdocs_gen_files.open(f"reference/{file}", "w") as page:
            print(text(), file=page)
        settings.append(_contents(title, file.removesuffix("md") + "html", None))
    with mkdocs_gen_files.open("reference/index.md", "w") as page:
        print(
            "# Reference\n\nEvery public name has a page. The search finds it by name.", file=page
        )
        for heading, cards in (groups | {"Settings and commands": settings}).items():
            print(f'\n## {heading}\n\n<div class="cards">{"".join(cards)}</div>', file=page)
    with mkdocs_gen_files.open("reference/SUMMARY.md", "w") as page:
        # The source of the navigation, which the search does not need.
        page.write("---\nsearch:\n  exclude: true\n---\n\n")
        page.writelines(["- [Reference](index.md)\n", *navigation.build_literate_nav()])


main()

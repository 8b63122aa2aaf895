"""Docstrings with roles of reStructuredText, as Markdown for the site.

Docstrings refer to names by roles (``:func:`chainer.grad```), which editors and Sphinx understand.
The site is written in Markdown: this extension of griffe turns roles into links and the few other
forms that docstrings use into Markdown.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Collection, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Protocol

import griffe
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from scripts.site.names import Name

_ROLE = re.compile(r":(?:py:)?(?:class|func|meth|mod|attr|data|obj|exc):`([^`]+)`")
_TITLED_ROLE = re.compile(r"^(.*?)\s*<([^>]+)>$", re.DOTALL)
#: The address of a source without a title.
_SOURCE = re.compile(r"(?<=See: )https?://\S*[^\s.,;]")
_MATH_ROLE = re.compile(r":math:`([^`]+)`")
_LITERAL_ROLE = re.compile(r":(?:envvar|ref|doc|term):`([^`]+)`")
#: A configuration entry or an environment variable, maybe with a value.
_SETTING = re.compile(r"``((chainer\.config\.\w+|[A-Z][A-Z0-9]*_[A-Z0-9_]+)(?: ?=[^`]*)?)``")
_LINK = re.compile(r"`([^`<]+?)\s*<(https?://[^>]+)>`_{1,2}")
#: The type of an argument, as in "x (:class:`~chainer.Variable` or array): ...".
_ARGUMENT_TYPE = re.compile(r"^(\s+[*\w, ]+ \()(.*?)(\):)", re.MULTILINE)
#: What a function returns, as in "tuple of str: Names". griffe wants types in parentheses.
_RETURNED_TYPE = re.compile(
    r"^(\s*(?:Returns|Yields):\n\s+)([A-Za-z_][\w.]*(?: (?:of|or) [\w.]+| or [\w.]+|, [\w.]+)*): ",
    re.M,
)
_DIRECTIVE = re.compile(r"^( *)\.\. (math|note|warning|deprecated|seealso|code-block)::(.*)$")


def to_markdown(text: str, targets: Mapping[str, str]) -> str:
    """Returns a docstring as Markdown.

    Args:
        text: The docstring.
        targets: The heading of the site that each public name has. Roles with other names become
            code instead of links.
    """

    def link(match: re.Match[str]) -> str:
        inner = " ".join(match.group(1).split())
        titled = _TITLED_ROLE.match(inner)
        if titled:
            title, target = titled.groups()
        else:
            target = inner.removeprefix("~")
            title = target.rpartition(".")[2] if inner.startswith("~") else target
        target = target.removeprefix("~")
        owner, _, member = target.rpartition(".")
        if target in targets:
            return f"[`{title}`][{targets[target]}]"
        if owner in targets and not member.startswith("_"):
            # A method or an attribute: the page of its class.
            return f"[`{title}`][{targets[owner]}]"
        return f"`{title}`"

    def setting(match: re.Match[str]) -> str:
        target = targets.get(match[2])
        if target is None:
            return match[0]
        # All pages of names are in folders of the reference, the pages of settings beside these.
        code = escape(match[1], quote=False)
        return f'<a href="../{target}"><code>{code}</code></a>'

    # griffe shows types as code, in which there are no links.
    text = _ARGUMENT_TYPE.sub(lambda m: m[1] + _ROLE.sub(_last_part, m[2]) + m[3], text)
    text = re.sub(r"(?<![:`\w])~(chainer[\w.]*)", lambda m: m[1].rpartition(".")[2], text)
    text = _LINK.sub(r"[\1](\2)", text)
    text = _SOURCE.sub(r"<\g<0>>", text)
    text = _MATH_ROLE.sub(lambda m: formula(m[1]), text)
    text = _LITERAL_ROLE.sub(r"`\1`", text)
    text = _ROLE.sub(link, text)
    text = _SETTING.sub(setting, text)
    text = _RETURNED_TYPE.sub(r"\1(\2): ", text)
    # griffe knows the section in the plural only.
    text = re.sub(r"^( *)Example:$", r"\1Examples:", text, flags=re.MULTILINE)
    return "\n".join(_without_directives(text.splitlines()))


def formula(latex: str, display: bool = False) -> str:
    """Returns a formula as MathML, which browsers show without a script.

    Args:
        latex: The formula in LaTeX. It may have several lines, aligned at ``&``.
        display: Whether it is a paragraph of its own.
    """
    latex = " ".join(latex.split())
    if "&" in latex:
        latex = "\\begin{align*}" + latex + "\\end{align*}"
    text = convert(latex, display="block" if display else "inline").replace("\n", " ")
    # Markdown takes <math> at the beginning of a line for a paragraph of its own.
    return text if display else f"<span>{text}</span>"


def _last_part(match: re.Match[str]) -> str:
    return match[1].rpartition(".")[2]


def _without_directives(lines: list[str]) -> list[str]:
    """Replaces directives by fenced code and admonitions."""
    result: list[str] = []
    i = 0
    while i < len(lines):
        match = _DIRECTIVE.match(lines[i])
        if match is None:
            result.append(lines[i])
            i += 1
            continue
        indent, kind, argument = match.groups()
        body = [f"{indent}    {argument.strip()}"] if argument.strip() and kind == "math" else []
        i += 1
        while i < len(lines) and (not lines[i].strip() or lines[i].startswith(indent + "  ")):
            body.append(lines[i])
            i += 1
        if kind == "math":
            result += ["", indent + formula("\n".join(body), display=True), ""]
        elif kind == "code-block":
            code = [line.removeprefix(indent) for line in body]
            result += ["", f"{indent}```text", *(indent + c.strip() for c in code if c.strip())]
            result += [f"{indent}```", ""]
        else:
            title = {"seealso": "See also"}.get(kind, kind.capitalize())
            result += [f"{indent}**{title}** {argument.strip()}", "", *body]
    return result


#: The decorator of functions that have the arguments of another one.
_SIGNATURE_OF = re.compile(r"fixed_dimensions\((\w+), .*\)", re.DOTALL)


def _complete(item: griffe.Object | griffe.Alias) -> None:
    """Takes the docstring and the signature of a decorated function as they are at run time.

    Decorators add what a family of functions shares, which the source does not show.
    """
    if item.is_class:
        _complete_class(item)
        return
    parent = item.parent
    if not (item.is_function and item.decorators and parent is not None):
        return
    owner: Any = importlib.import_module(item.module.path)
    if parent.is_class:
        owner = getattr(owner, parent.name, None)
    function = getattr(owner, item.name, None)
    text = inspect.getdoc(function)
    if text and item.docstring is not None:
        item.docstring.value = text
    for decorator in item.decorators:
        other = _SIGNATURE_OF.fullmatch(str(decorator.value))
        if other:
            item.parameters = parent.members[other[1]].parameters
            item.returns = parent.members[other[1]].returns


def _complete_class(item: griffe.Object | griffe.Alias) -> None:
    """Gives a class the signature that its declaration makes, such as the one of an optimizer."""
    try:
        value: Any = getattr(importlib.import_module(item.module.path), item.name, None)
    except ImportError:  # a module that needs a package of an extra
        return
    if not hasattr(vars(value or object).get("__init__"), "__signature__"):
        return
    # Annotations as they are in the source, which have links: of an attribute, or of a base class.
    inherited = [base.members.get("__init__") for base in item.mro()] if item.is_class else []
    known = {
        parameter.name: parameter.annotation
        for method in reversed(inherited)
        if isinstance(method, griffe.Function)
        for parameter in method.parameters
    }
    parameters = griffe.Parameters(griffe.Parameter("self"))
    for name, parameter in inspect.signature(value).parameters.items():
        attribute = item.members.get(name)
        required = parameter.default is inspect.Parameter.empty
        parameters.add(
            griffe.Parameter(
                name,
                annotation=getattr(attribute, "annotation", None) or known.get(name),
                kind=griffe.ParameterKind(parameter.kind.description),
                default=None if required else repr(parameter.default),
            )
        )
    item.set_member("__init__", griffe.Function("__init__", parameters=parameters))


def public_bases(value: type, names: Collection[str]) -> list[type]:
    """Returns the nearest base classes that have a page, and those of other packages.

    Classes that only share code between ours would say nothing to a reader.
    """
    package = value.__module__.partition(".")[0]
    found: list[type] = []
    for base in value.__bases__:
        inner = base.__module__.partition(".")[0] == package
        if not inner or f"{base.__module__}.{base.__qualname__}" in names:
            found.append(base)
        else:
            found += public_bases(base, names)
    found = [base for base in dict.fromkeys(found) if base not in (object, Generic, Protocol)]
    return [base for base in found if not any(o is not base and issubclass(o, base) for o in found)]


def _namepublic_bases(item: griffe.Object | griffe.Alias, names: Collection[str]) -> None:
    """Lists the public base classes of a class in place of private ones."""
    if not (isinstance(item, griffe.Class) and item.bases):
        return
    try:
        value = getattr(importlib.import_module(item.module.path), item.name, None)
    except ImportError:  # a module that needs a package of an extra
        return
    if not isinstance(value, type):
        return
    bases = public_bases(value, names)
    if not set(bases) >= set(value.__bases__) - {object}:
        item.bases = [_expression(base, item.package) for base in bases]


def _expression(base: type, package: griffe.Module) -> griffe.Expr | str:
    """Returns a class as griffe's name, which becomes a link, or as text if it is not ours."""
    inside = base.__module__.removeprefix(f"{package.path}.")
    if inside == base.__module__:
        return base.__qualname__
    return griffe.ExprName(base.__qualname__, parent=package[inside])


def _add_origin_and_picture(item: griffe.Object | griffe.Alias, names: Mapping[str, Name]) -> None:
    """Adds what supplies a public name to its docstring, and the picture of it."""
    name = names.get(item.path)
    if name is not None and item.docstring is not None:
        from scripts.site.pictures import figure

        item.docstring.value += f"\n\n{figure(name)}\n\n{name.origin}"


class Roles(griffe.Extension):
    """Turns the docstrings of all objects into Markdown when griffe has loaded the package."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Changes the docstrings of a package in place."""
        from scripts.site.names import main_names
        from scripts.site.settings import link_targets

        targets = link_targets()
        names = main_names()
        seen: set[int] = set()
        pending: list[griffe.Object | griffe.Alias] = [pkg]
        while pending:
            item = pending.pop()
            if item.is_alias or id(item) in seen:
                continue
            seen.add(id(item))
            _namepublic_bases(item, names)
            if item.docstring is not None:
                _complete(item)
                item.docstring.value = to_markdown(item.docstring.value, targets)
                _add_origin_and_picture(item, names)
            pending += item.members.values()

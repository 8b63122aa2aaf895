"""The files of a certification: JSON, a page, a badge, a table for a README."""

from __future__ import annotations

import html
from importlib import resources
from pathlib import Path
from string import Template

from chainer.testing.certification.certificate import OUTCOMES, Certificate, Result, place_of
from chainer.utils.atomic_file import replacing

BEGIN, END = "<!-- chainer certify -->", "<!-- end of chainer certify -->"

#: Colors of the badge.
_GREEN, _BLUE, _RED = "#2e8b3d", "#2f6fab", "#b3362b"

#: Width of a character of the badge in pixels, and the space around a text.
_CHARACTER, _MARGIN = 6.6, 12

#: Failures with a whole text on the page. The others have one line.
_MAX_TEXTS = 200


def write(certificate: Certificate, folder: Path) -> list[Path]:
    """Writes all files.

    Args:
        certificate: The certificate.
        folder: The folder. It is created if it does not exist.

    Returns:
        list of Path: The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "certificate.json": certificate.json(),
        "certificate.html": page(certificate),
        "certificate.md": readme_table(certificate) + "\n",
        "badge.svg": badge(certificate),
    }
    for name, text in texts.items():
        _write(folder / name, text)
    return [folder / name for name in texts]


def update_readme(certificate: Certificate, path: Path) -> None:
    """Puts the table between the two marks of a README, or at its end if it has no marks.

    Args:
        certificate: The certificate.
        path: The README.
    """
    text = path.read_text(encoding="utf-8")
    table = f"{BEGIN}\n\n{readme_table(certificate)}\n\n{END}"
    before, mark, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] if mark else "\n"
    if not mark:
        before = text.rstrip("\n") + "\n\n"
    _write(path, before + table + after)


def readme_table(certificate: Certificate) -> str:
    """Returns a Markdown table of the results, with what is declared.

    Args:
        certificate: The certificate.
    """
    version = certificate.versions["chainer"]
    lines = [
        f"**{certificate.subject}: {certificate.verdict}** by Chainer {version}",
        "",
        "| part | tests | passed | failed | refused as declared | skipped |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (part, group), counts in certificate.table().items():
        failed = counts["failed"] + counts["crashed"]
        numbers = (counts["passed"], failed, counts["refused"], counts["skipped"])
        lines.append(f"| {part} | {group} | " + " | ".join(map(str, numbers)) + " |")
    # Without commands: they name the Python of this machine.
    lines += ["", *(f"- {line}" for line in remarks(certificate, commands=False))]
    return "\n".join(lines).rstrip()


def remarks(certificate: Certificate, commands: bool = True) -> list[str]:
    """Returns what the parts have and declare, a line each.

    Args:
        certificate: The certificate.
        commands: Whether the commands of suites that did not run are told.
    """
    found = ["versions: " + ", ".join(f"{n} {v}" for n, v in certificate.versions.items())]
    for part, facts in certificate.facts.items():
        found.append(f"{part}: " + "; ".join(f"{name} {value}" for name, value in facts.items()))
    for part, limitations in certificate.limitations.items():
        found += [f"{part} declares: no {name} ({why})" for name, why in limitations.items()]
    for part, kernels in certificate.unreached.items():
        if kernels:
            found.append(f"{part}: no test reached {', '.join(kernels)}")
    for name, command in certificate.not_run.items():
        found.append(f"not run: {name}" + (f": {command}" if commands else ""))
    return found


def badge(certificate: Certificate) -> str:
    """Returns an SVG with the verdict.

    Args:
        certificate: The certificate.
    """
    label, value = "chainer", certificate.verdict
    color = _RED if not certificate.passed else _BLUE if certificate.quick else _GREEN
    left, right = (round(len(text) * _CHARACTER + 2 * _MARGIN) for text in (label, value))
    return _template("badge.svg").substitute(
        label=html.escape(label),
        value=html.escape(value),
        color=color,
        left=left,
        right=right,
        width=left + right,
        middle_left=left / 2,
        middle_right=left + right / 2,
    )


def page(certificate: Certificate) -> str:
    """Returns a page of HTML that needs no other file.

    Args:
        certificate: The certificate.
    """
    rows = [
        f"<tr><td>{html.escape(part)}</td><td>{html.escape(group)}</td>"
        + "".join(_number(outcome, counts[outcome]) for outcome in OUTCOMES)
        + "</tr>"
        for (part, group), counts in certificate.table().items()
    ]
    texts = [_failure(f, i < _MAX_TEXTS) for i, f in enumerate(certificate.failures)]
    places = ", ".join(map(html.escape, certificate.places()))
    return _template("page.html").substitute(
        title=html.escape(f"{certificate.subject}: {certificate.verdict}"),
        state="good" if certificate.passed else "bad",
        seconds=f"{certificate.seconds:.0f}",
        tests=len(certificate.results),
        header="".join(f"<th>{outcome}</th>" for outcome in OUTCOMES),
        rows="\n".join(rows),
        remarks="\n".join(f"<li>{html.escape(line)}</li>" for line in remarks(certificate)),
        places=f"Failures are about: {places}." if places else "None failed.",
        failures="\n".join(["<h2>Failures</h2>", *texts]) if texts else "",
    )


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")


def _number(outcome: str, count: int) -> str:
    mark = f' class="{outcome}"' if count else ""
    return f"<td{mark}>{count or ''}</td>"


def _failure(result: Result, whole: bool) -> str:
    title = html.escape(f"{place_of(result)}: {result.name}: {result.message}")
    if not whole:
        return f"<p>{title}</p>"
    text = html.escape(result.text)
    return f"<details><summary>{title}</summary><pre>{text}</pre></details>"


def _template(name: str) -> Template:
    place = resources.files("chainer.testing.certification").joinpath("templates", name)
    return Template(place.read_text(encoding="utf-8"))

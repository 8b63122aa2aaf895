"""Runs the program of the start page while MkDocs builds the site, and shows its result.

The curves are drawn in colors of the page, so that they fit light and dark.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import mkdocs_gen_files

from chainer.core.registry import registries

PAGE = Path(__file__).resolve().parents[2] / "docs" / "index.md"

#: Size of the picture and of its margins, in the units of the SVG.
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 420, 300, 44, 18, 36


def run(program: str) -> tuple[str, list[float], list[float]]:
    """Runs the program of the page.

    Returns:
        tuple: The text that it prints; loss and accuracy of each step.
    """
    losses: list[float] = []
    accuracies: list[float] = []

    def note(model: Any) -> None:
        losses.append(float(model.loss.array))
        accuracies.append(float(model.accuracy.array))

    # One more line at the end of the loop. The line below the loop prints the result.
    *lines, last = program.rstrip().splitlines()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join([*lines, "    note(model)", last]), {"note": note})
    return printed.getvalue(), losses, accuracies


def curves(losses: list[float], accuracies: list[float]) -> str:
    """Returns a picture of both curves as SVG for a page of HTML."""
    top = max(1.0, *losses)
    steps = len(losses)

    def points(values: list[float]) -> str:
        scale = (HEIGHT - TOP - BOTTOM) / top
        width = (WIDTH - LEFT - 10) / (steps - 1)
        return " ".join(
            f"{LEFT + i * width:.1f},{HEIGHT - BOTTOM - value * scale:.1f}"
            for i, value in enumerate(values)
        )

    grid = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y = HEIGHT - BOTTOM - tick * (HEIGHT - TOP - BOTTOM) / top
        grid.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}"/>')
        grid.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for step in range(0, steps + 1, 50):
        x = LEFT + step * (WIDTH - LEFT - 10) / steps
        grid.append(f'<text x="{x:.1f}" y="{HEIGHT - 18}" text-anchor="middle">{step}</text>')
    label = f"Loss falls to {losses[-1]:.3f}, accuracy rises to {accuracies[-1]:.3f}"
    return (
        f'<svg class="curves" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f'<g class="grid">{"".join(grid)}'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 2}" text-anchor="middle">step</text></g>'
        f'<polyline class="loss" points="{points(losses)}"/>'
        f'<polyline class="accuracy" points="{points(accuracies)}"/>'
        f'<text class="loss" x="{LEFT + 60}" y="{HEIGHT - BOTTOM - 60}">loss</text>'
        f'<text class="accuracy" x="{WIDTH - 90}" y="{TOP + 30}">accuracy</text></svg>'
    )


def figures() -> str:
    """Returns what can be counted, as a row of numbers."""
    counted = [
        (len(registries.functions.names()), "names in chainer.functions"),
        (len(registries.links.names()), "links"),
        (len(registries.optimizers.names()), "optimizers"),
        (9000, "random calls compared with release 7.8.1"),
        (2, "dependencies: NumPy and pluggy"),
    ]
    cells = "".join(f"<div><b>{n:,}</b><span>{what}</span></div>" for n, what in counted)
    return f'<div class="figures">{cells}</div>'


def main() -> None:
    """Writes the start page."""
    text = PAGE.read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert program is not None
    printed, losses, accuracies = run(program[1])
    result = f"```text\n{printed.rstrip()}\n```"
    text = text.replace("<!-- result of the program -->", result)
    text = text.replace("<!-- curves of the program -->", curves(losses, accuracies))
    text = text.replace("<!-- figures -->", figures())
    with mkdocs_gen_files.open("index.md", "w") as page:
        page.write(text)


main()

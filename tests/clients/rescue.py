"""Runs ``chainer rescue`` on old programs, and prints a table of their models.

It takes the programs of ``examples/release7`` and the jobs of released packages::

    make clients                                     # installs the packages
    .venv-clients/bin/python -m pip install torch onnxruntime safetensors
    .venv-clients/bin/python -m pip install -e packs/onnx -e packs/torch
    .venv-clients/bin/python tests/clients/rescue.py --page docs/clients.md

``--only release7`` needs none of the packages. A line is printed for each model, and a table of
counts at the end, which ``--page`` writes into a page. A model counts as converted if all of its
files are there and its outputs in onnxruntime and in PyTorch are within 1e-5 of Chainer's. The exit
status is 1 if no model is found, or fewer than 80 percent of them are converted, and 2 if a runtime
is missing.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "examples" / "release7"

#: Share of the models that is promised.
PROMISED = 0.8

#: What the outputs are compared with.
RUNTIMES = ("onnxruntime", "torch")

#: Longest time of ``chainer rescue`` with its conversions: a multiple of the program's time.
PATIENCE = 10

PROGRAM = """import sys
sys.path.insert(0, {here!r})
from job import main
main({package!r}, {job!r})
"""

#: The lines of the page between which the table is written.
BEGIN, END = "<!-- rescue: begin -->", "<!-- rescue: end -->"


@dataclass
class Count:
    """Numbers of one source of programs.

    Attributes:
        programs: Programs that ran.
        models: Models that they called.
        converted: Models that were converted.
        largest: Greatest difference of outputs of a converted model.
    """

    programs: int = 0
    models: int = 0
    converted: int = 0
    largest: float = 0.0

    @property
    def cells(self) -> list[str]:
        """The cells of the table."""
        numbers = [self.programs, self.models, self.converted]
        return [*map(str, numbers), f"{self.largest:.0e}" if self.converted else "-"]


def programs_of(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the name of each program of a source, and how it is run.

    Args:
        source: ``"release7"``, or the name of a package with jobs.
    """
    if source == "release7":
        for path in sorted(PROGRAMS.glob("*.py")):
            if "__main__" in path.read_text():
                yield path.stem, [str(path), "--small"]
        return
    path = HERE / "jobs" / f"{source}_jobs.py"
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, []


def models_of(source: str, name: str, words: list[str], seconds: float) -> list[dict]:
    """Returns what the report says about the models of a program.

    Args:
        source: Where the program comes from.
        name: Its name.
        words: The program and its arguments; empty for a job.
        seconds: Longest time of the program.
    """
    with tempfile.TemporaryDirectory() as folder:
        if not words:
            program = Path(folder) / "program" / f"{name}.py"
            program.parent.mkdir()
            program.write_text(PROGRAM.format(here=str(HERE), package=source, job=name))
            words = [str(program)]
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "chainer.plugins.cli", "rescue", "--output", str(out)]
        environment = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", **os.environ}
        try:
            done = subprocess.run(
                [*command, "--seconds", str(seconds), *words],
                capture_output=True,
                text=True,
                check=False,
                env=environment,
                timeout=PATIENCE * seconds,
            )
        except subprocess.TimeoutExpired:
            print(f"{source} {name}: takes more than {PATIENCE * seconds:.0f} s", file=sys.stderr)
            return []
        report = out / "report.json"
        if not report.is_file():
            print(f"{source} {name}: no report\n{done.stderr[-2000:]}", file=sys.stderr)
            return []
        return json.loads(report.read_text())["models"]


def is_converted(model: dict) -> bool:
    """Returns whether a model was converted, and compared in both runtimes.

    Args:
        model: What the report says about it.
    """
    return model["is_converted"] and set(model["differences"]) == set(RUNTIMES)


def line_of(source: str, name: str, model: dict) -> str:
    """Returns the line that is printed for a model."""
    differences = " ".join(f"{k} {v:.1e}" for k, v in model["differences"].items())
    mark = "converted" if is_converted(model) else "NOT"
    remarks = "; ".join(model["remarks"])[:200]
    return f"{source} {name} {model['link']}: {mark} {differences} {remarks}".rstrip()


def table_of(counts: dict[str, Count]) -> str:
    """Returns the table of counts.

    Args:
        counts: Count of each source.
    """
    lines = [
        "| programs of | programs | models | converted | greatest difference |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for source, count in counts.items():
        lines.append(f"| {' | '.join([f'`{source}`', *count.cells])} |")
    values = counts.values()
    total = Count(
        sum(c.programs for c in values),
        sum(c.models for c in values),
        sum(c.converted for c in values),
        max((c.largest for c in values), default=0.0),
    )
    return "\n".join([*lines, f"| {' | '.join(['all', *total.cells])} |"])


def write_page(page: Path, table: str) -> None:
    """Writes the table into a page, between two comments.

    Args:
        page: The page.
        table: The table.

    Raises:
        ValueError: If the page lacks the comments.
    """
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} must contain the lines {BEGIN} and {END}")
    text = f"{datetime.date.today()}:\n\n{table}"
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    packages = [path.name.removesuffix("_jobs.py") for path in HERE.glob("jobs/*_jobs.py")]
    sources = ["release7", *sorted(packages)]
    parser.add_argument("--only", nargs="+", choices=sources, default=sources)
    parser.add_argument("--jobs", nargs="+", default=[], help="names of programs; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest time of a program")
    parser.add_argument("--page", type=Path, help="page to write the counts to")
    options = parser.parse_args()
    missing = [name for name in RUNTIMES if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{', '.join(missing)} must be installed: see {__file__}", file=sys.stderr)
        return 2
    counts: dict[str, Count] = {}
    for source in options.only:
        count = counts[source] = Count()
        for name, words in programs_of(source):
            if options.jobs and name not in options.jobs:
                continue
            count.programs += 1
            models = models_of(source, name, words, options.seconds)
            if not models:
                print(f"{source} {name}: no model", flush=True)
            for model in models:
                count.models += 1
                if is_converted(model):
                    count.converted += 1
                    count.largest = max(count.largest, *model["differences"].values())
                print(line_of(source, name, model), flush=True)
    table = table_of(counts)
    print(table)
    if options.page:
        write_page(options.page, table)
    total, converted = (
        sum(getattr(c, name) for c in counts.values()) for name in ("models", "converted")
    )
    return int(not total or converted < PROMISED * total)


if __name__ == "__main__":
    sys.exit(main())

"""Writes the table of what passes into the README, from runs of the conformance suite.

python scripts/make_table.py                  # runs the suite, for minutes
python scripts/make_table.py REPORT.json ...  # from reports (--chainer-report) of earlier runs
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PACK = Path(__file__).parents[1]
BACKENDS = ("torch", "array_api_strict")
BEGIN, END = "<!-- table: scripts/make_table.py -->\n", "<!-- end of table -->\n"


def run(name: str, report: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--pyargs", "chainer.testing.conformance", f"--chainer-backend={name}"]
    subprocess.run([*command, f"--chainer-report={report}"], cwd=PACK, check=False)


def table(reports: list[dict]) -> str:
    groups = sorted({group for report in reports for group in report["groups"]})
    names = [report["backend"] for report in reports]
    lines = [f"| tests | {' | '.join(f'`{name}`' for name in names)} |"]
    lines.append("|---|" + "---:|" * len(names))
    for group in [*groups, "all"]:
        cells = []
        for report in reports:
            counts = report["total"] if group == "all" else report["groups"].get(group, {})
            cells.append(_cell(counts))
        lines.append(f"| {group} | {' | '.join(cells)} |")
    versions = {name: v for report in reports for name, v in report["versions"].items()}
    lines += ["", "Versions: " + ", ".join(f"{n} {v}" for n, v in versions.items()) + "."]
    return "\n".join(lines) + "\n"


def _cell(counts: dict[str, int]) -> str:
    done = sum(counts.values()) - counts.get("skipped", 0)
    missing = [f"{n} {outcome}" for outcome, n in counts.items() if n and outcome != "passed"]
    return f"{counts.get('passed', 0)} of {done}" + (f" ({', '.join(missing)})" if missing else "")


def main(paths: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        if not paths:
            paths = [str(Path(directory) / f"{name}.json") for name in BACKENDS]
            for name, path in zip(BACKENDS, paths, strict=True):
                run(name, Path(path))
        reports = [json.loads(Path(path).read_text(encoding="utf-8")) for path in paths]
    readme = PACK / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(before + BEGIN + "\n" + table(reports) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

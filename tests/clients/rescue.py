"""Runs ``chainer rescue`` on the jobs of released packages, and prints a table of their models.

::

    make clients                                     # installs the packages
    .venv-clients/bin/python -m pip install torch onnxruntime
    python scripts/install.py --extras torch         # in that environment
    .venv-clients/bin/python tests/clients/rescue.py --only chainercv

The exit status is 1 if no model is found, or fewer than 80 percent of them are converted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: Share of the models that is promised.
PROMISED = 0.8

PROGRAM = """import sys
sys.path.insert(0, {here!r})
from job import main
main({package!r}, {job!r})
"""


def models_of(package: str, job: str, seconds: float) -> list[dict]:
    """Returns what the report says about the models of a job."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program" / f"{job}.py"
        program.parent.mkdir()
        program.write_text(PROGRAM.format(here=str(HERE), package=package, job=job))
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "chainer.plugins.cli", "rescue", "--output", str(out)]
        done = subprocess.run(
            [*command, "--seconds", str(seconds), str(program)],
            capture_output=True,
            text=True,
            check=False,
        )
        report = out / "report.json"
        if not report.is_file():
            print(f"{package} {job}: no report\n{done.stderr[-2000:]}", file=sys.stderr)
            return []
        return json.loads(report.read_text())["models"]


def main() -> int:
    sys.path.insert(0, str(HERE))
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", nargs="+", default=["chainercv", "chainerrl"])
    parser.add_argument("--jobs", nargs="+", default=[], help="names of jobs; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest time of a job")
    options = parser.parse_args()
    total = converted = 0
    for package in options.only:
        text = (HERE / "jobs" / f"{package}_jobs.py").read_text()
        lines = [line for line in text.splitlines() if line.startswith("def ")]
        jobs = [line[4 : line.index("(")] for line in lines if line.endswith("():")]
        for job in [j for j in jobs if not options.jobs or j in options.jobs]:
            for model in models_of(package, job, options.seconds):
                total += 1
                converted += model["is_converted"]
                differences = " ".join(f"{k} {v:.1e}" for k, v in model["differences"].items())
                mark = "converted" if model["is_converted"] else "NOT"
                remarks = "; ".join(model["remarks"])[:200]
                line = f"{package} {job} {model['link']}: {mark} {differences} {remarks}"
                print(line.rstrip(), flush=True)
    print(f"{converted} of {total} models are converted")
    return int(not total or converted < PROMISED * total)


if __name__ == "__main__":
    sys.exit(main())

"""Installs released packages that depend on Chainer, and runs jobs with them.

Usage::

    python -m tests.clients [--environment .venv-clients] [--only chainerrl ...]
                            [--page docs/clients.md] [--calls 3]

The packages are installed without changes into an environment of its own, together with this
Chainer. Each job runs in a process of its own. A table tells package, release, job, and "ok" or the
first error; ``--page`` writes it into a page, with the date. ``--calls N`` compares instead:
programs that call the public functions of three packages run N times with random arguments, under
release 7.8.1 and here. Exit status: 1 if a job failed or a call differs, 2 if an installation
failed, else 0.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import os
import platform
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from pathlib import Path

from tests.clients import calls_of_releases

ROOT = Path(__file__).resolve().parent.parent.parent

#: Needed to build the packages, which are released as sources. Later releases lack pkg_resources.
BUILD = ["setuptools<81", "wheel"]

#: Seconds that a job may take.
JOB_LIMIT = 900


@dataclass(frozen=True)
class Client:
    """A released package.

    Attributes:
        package: Import name; the jobs are in ``tests/clients/jobs/<package>_jobs.py``.
        requirement: Name and release on the package index.
        dependencies: What the jobs need besides. The package itself is installed with
            ``--no-deps``: its requirements include packages that are part of Python today.
        options: Further options of pip.
        note: What is special in its installation, for the page.
    """

    package: str
    requirement: str
    dependencies: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    note: str = ""


CLIENTS = [
    Client(
        "chainercv",
        "chainercv==0.13.1",
        ("pillow", "matplotlib", "opencv-python-headless"),
        # The C file in the source distribution is for Python 3.10 and NumPy 1 at most, so it is
        # not compiled; chainer.compat.clients has the function.
        ("-C--global-option=build_py", "-C--build-option=--skip-build"),
        "Its compiled module serves GPUs only and cannot be built any longer; it is left out.",
    ),
    Client(
        "chainerrl",
        "chainerrl==0.8.0",
        ("gym==0.17.3", "cached-property", "cloudpickle", "scipy", "pillow"),
        note="It imports `gym.wrappers.Monitor`, which Gym had until 0.21: Gym 0.17.3.",
    ),
    Client(
        "chainer_chemistry",
        "chainer-chemistry==0.7.1",
        ("rdkit", "scikit-learn", "pandas", "matplotlib", "scipy", "joblib", "tqdm"),
        note="It requires `typing`, which is part of Python: `--no-deps`.",
    ),
    Client("chainercv2", "chainercv2==0.0.62", ("requests",)),
]

#: Packages that are installed without what they require: they ask for releases that are too old.
WITHOUT_DEPENDENCIES = ("gym",)


@dataclass(frozen=True)
class Result:
    """Outcome of a job."""

    client: Client
    job: str
    description: str
    seconds: float
    error: str

    @property
    def row(self) -> str:
        """The line of the table."""
        name, _, release = self.client.requirement.partition("==")
        outcome = self.error.replace("|", "\\|") or "ok"
        return (
            f"| {name} {release} | `{self.job}` | {self.description} | {outcome} "
            f"| {self.seconds:.0f} |"
        )


HEADER = "| package | job | what it does | result | seconds |\n| --- | --- | --- | --- | ---: |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--environment", type=Path, default=ROOT / ".venv-clients")
    names = [client.package for client in CLIENTS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="these packages")
    parser.add_argument("--jobs", nargs="+", help="these jobs alone")
    parser.add_argument("--page", type=Path, help="page to write the table to")
    parser.add_argument("--no-install", action="store_true", help="use the environment as it is")
    parser.add_argument("--calls", type=int, metavar="N", help="compare N runs of each program")
    parser.add_argument("--first", type=int, default=0, help="number of the first of these runs")
    parser.add_argument(
        "--peer", type=Path, default=ROOT / ".venv-clients7", help="its environment"
    )
    options = parser.parse_args()
    chosen = [client for client in CLIENTS if client.package in options.only]
    if not options.no_install and not install(options.environment, chosen):
        return 2
    if options.calls:
        packages = [name for name in options.only if name in calls_of_releases.NEEDED]
        if not options.no_install and not calls_of_releases.install(options.peer, packages):
            return 2
        interpreters = _python(options.peer), _python(options.environment)
        different = calls_of_releases.compare(*interpreters, packages, options.first, options.calls)
        return min(1, different)
    results = []
    print(HEADER)
    for client in chosen:
        for job, description in jobs_of(client).items():
            if options.jobs and job not in options.jobs:
                continue
            results.append(run(options.environment, client, job, description))
            print(results[-1].row, flush=True)
    failed = [result for result in results if result.error]
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    if options.page:
        write_page(options.page, results, options.environment)
    return 1 if failed else 0


def install(environment: Path, clients: list[Client]) -> bool:
    """Makes the environment, unless it is there, and installs this Chainer and the packages."""
    if not _python(environment).exists():
        venv.create(environment, with_pip=True)
    commands = [["--upgrade", "pip", *BUILD], ["-e", f"{ROOT}[clients]"]]
    for client in clients:
        alone = [d for d in client.dependencies if d.startswith(WITHOUT_DEPENDENCIES)]
        others = [d for d in client.dependencies if d not in alone]
        commands.append(others)
        for requirement, extra in [(d, ()) for d in alone] + [(client.requirement, client.options)]:
            commands.append(["--no-deps", "--no-build-isolation", *extra, requirement])
    for arguments in filter(None, commands):
        command = [str(_python(environment)), "-m", "pip", "install", "--quiet", *arguments]
        if subprocess.run(command, check=False).returncode != 0:
            print(f"installation failed: pip install {' '.join(arguments)}", file=sys.stderr)
            return False
    return True


def jobs_of(client: Client) -> dict[str, str]:
    """Returns the names of a package's jobs and what they do, without importing them."""
    path = Path(__file__).parent / "jobs" / f"{client.package}_jobs.py"
    functions = [
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    return {node.name: (ast.get_docstring(node) or "").split("\n")[0] for node in functions}


def run(environment: Path, client: Client, job: str, description: str) -> Result:
    """Runs a job in a process of its own."""
    variables = dict(os.environ, PYTHONPATH=str(ROOT), MPLBACKEND="Agg")
    # Two threads or more make results depend on the machine.
    variables.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [
                str(_python(environment)),
                str(Path(__file__).with_name("job.py")),
                client.package,
                job,
            ],
            env=variables,
            capture_output=True,
            text=True,
            timeout=JOB_LIMIT,
            check=False,
        )
        lines = done.stderr.strip().splitlines()
        error = "" if done.returncode == 0 else (lines[-1] if lines else f"rc {done.returncode}")
    except subprocess.TimeoutExpired:
        error = f"takes more than {JOB_LIMIT} seconds"
    return Result(client, job, description, time.perf_counter() - start, error)


#: The lines of the page between which the table is written.
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def write_page(page: Path, results: list[Result], environment: Path) -> None:
    """Writes the table into a page, between two comments."""
    versions = subprocess.run(
        [str(_python(environment)), "-c", "import numpy; print(numpy.__version__)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or not after:
        raise ValueError(f"{page} must contain the lines {BEGIN} and {END}")
    passed = sum(not result.error for result in results)
    heading = (
        f"{datetime.date.today()}: {passed} of {len(results)} jobs pass, with Python "
        f"{platform.python_version()} and NumPy {versions}."
    )
    table = "\n".join([heading, "", HEADER, *(result.row for result in results)])
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


if __name__ == "__main__":
    sys.exit(main())

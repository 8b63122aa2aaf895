"""Type checkers see our names: pyright and mypy on a sample program.

Both checkers have to find the code and the stub package, in a wheel as users install it and in an
editable install as contributors have it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

pytestmark = pytest.mark.slow

WRONG = "import chainer.links as L\n\nlayer: L.Convolution2D = L.Linear(3, 4)\n"


def _checker(name: str) -> list[str]:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (pip install '.[lint]')")
    return [found]


@pytest.fixture(scope="module", params=["wheel", "editable"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that contains Chainer and NumPy, and nothing else."""
    folder = tmp_path_factory.mktemp(request.param)
    venv.create(folder / "env", with_pip=False)
    (site,) = (folder / "env" / "lib").glob("python3*/site-packages")
    subprocess.run(
        [
            sys.executable,
            "-c",
            f"import hatchling.build; hatchling.build.build_{request.param}({str(folder)!r})",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(site)
    numpy = metadata.distribution("numpy")
    assert numpy.files is not None
    for part in {file.parts[0] for file in numpy.files} - {"..", "__pycache__"}:
        (site / part).symlink_to(Path(str(numpy.locate_file(part))))
    return folder / "env" / "bin" / "python"


def _pyright(program: Path, python: Path) -> list[tuple[int, str, str]]:
    """Returns line, rule and text of each complaint."""
    configuration = {
        "include": [program.name],
        "reportUnnecessaryTypeIgnoreComment": "error",
        "reportUnusedExpression": "none",
        # chainer.optimizers and the like have no file of their own: second names of modules.
        "reportMissingModuleSource": "none",
    }
    (program.parent / "pyrightconfig.json").write_text(json.dumps(configuration))
    result = subprocess.run(
        [*_checker("pyright"), "--outputjson", "-p", program.parent, "--pythonpath", python],
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(result.stdout)
    assert report["summary"]["filesAnalyzed"] == 1
    return [
        (d["range"]["start"]["line"] + 1, d.get("rule", ""), d["message"])
        for d in report["generalDiagnostics"]
    ]


def _mypy(program: Path, python: Path) -> str:
    """Returns what mypy prints."""
    result = subprocess.run(
        [
            *_checker("mypy"),
            "--python-executable",
            python,
            "--cache-dir",
            python.parent / "mypy_cache",
            "--warn-unused-ignores",
            program.name,
        ],
        cwd=program.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout + result.stderr


def test_pyright_accepts_a_program_as_users_write_it(tmp_path: Path, python: Path) -> None:
    assert _pyright(Path(shutil.copy(HERE / "sample.py", tmp_path)), python) == []


def test_pyright_finds_a_wrong_type(tmp_path: Path, python: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    ((line, rule, _),) = _pyright(program, python)
    assert (line, rule) == (3, "reportAssignmentType")


def test_mypy_accepts_a_program_as_users_write_it(tmp_path: Path, python: Path) -> None:
    output = _mypy(Path(shutil.copy(HERE / "sample.py", tmp_path)), python)
    assert output == "Success: no issues found in 1 source file\n"


def test_mypy_finds_a_wrong_type(tmp_path: Path, python: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    output = _mypy(program, python)
    assert output.startswith("wrong.py:3: error: Incompatible types in assignment")
    assert "Found 1 error in 1 file" in output

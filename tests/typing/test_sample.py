"""Type checkers see our names: pyright on a sample program."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def _pyright() -> str:
    beside = Path(sys.executable).with_name("pyright")
    found = str(beside) if beside.exists() else shutil.which("pyright")
    if found is None:
        pytest.skip("pyright is not installed (pip install '.[lint]')")
    return found


def _check(program: Path, project: Path) -> dict:
    configuration = {
        "include": [program.name],
        "extraPaths": [str(ROOT)],
        "reportUnnecessaryTypeIgnoreComment": "error",
        "reportUnusedExpression": "none",
        # chainer.optimizers and its kind have no file of their own: second names of modules.
        "reportMissingModuleSource": "none",
    }
    (project / "pyrightconfig.json").write_text(json.dumps(configuration))
    command = [_pyright(), "--outputjson", "-p", str(project), "--pythonpath", sys.executable]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(result.stdout)


@pytest.mark.slow
def test_pyright_accepts_a_program_as_users_write_it(tmp_path):
    program = Path(shutil.copy(HERE / "sample.py", tmp_path))
    report = _check(program, tmp_path)
    assert report["summary"]["filesAnalyzed"] == 1
    complaints = [
        f"{d['range']['start']['line'] + 1}: {d['message']}" for d in report["generalDiagnostics"]
    ]
    assert complaints == []


@pytest.mark.slow
def test_pyright_finds_a_wrong_type(tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text("import chainer.links as L\n\nlayer: L.Convolution2D = L.Linear(3, 4)\n")
    (diagnostic,) = _check(program, tmp_path)["generalDiagnostics"]
    assert diagnostic["rule"] == "reportAssignmentType"

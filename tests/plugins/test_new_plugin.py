"""`chainer new-plugin`: what it writes installs, passes its own tests and is used by Chainer."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest

from chainer.core.installation import Installation
from chainer.plugins import cli, plugin_names, scaffold
from chainer.plugins.commands import new_plugin

ROOT = Path(__file__).parents[2]

# What a user of each plugin does.
USES = {
    "backend": """
        import chainer.links as L
        model = L.Linear(3, 2)
        model.to_device("@made_backend")
        y = model(chainer.get_device("@made_backend").send(np.ones((1, 3), np.float32)))
        print(type(y.array).__name__)
    """,
    "communicator": """
        import chainermn
        print(type(chainermn.create_communicator("timed")).__name__)
    """,
    "dataset": "print(len(chainer.datasets.TwoSpirals(7)))",
    "distribution": "print(chainer.distributions.HalfNormal(np.ones(2)).sample(3).shape)",
    "extension": """
        from chainer.training import extensions
        print(extensions.LinearWarmup("lr", 3).iterations)
    """,
    "functions": """
        x = chainer.Variable(np.zeros((), np.float64))
        chainer.functions.softcap(x).backward()
        print(x.grad)
    """,
    "kernels": """
        with chainer.using_config("kernels", ("made_kernels",)):
            print(chainer.explain("softmax", np.ones((2, 3)), axis=1).chosen.provider)
    """,
    "links": "print(chainer.links.LowRankLinear(4, 3, 2)(np.ones((1, 4), np.float32)).shape)",
    "model": """
        import chainer_models as cm
        options = {"model_type": "two_layers", "inputs": 4, "classes": 3}
        print(cm.from_config(options)(np.ones((2, 4), np.float32)).shape)
    """,
    "optimizer": "print(chainer.optimizers.Signum(lr=0.5).lr)",
}
PRINTS = {
    "backend": "MadeBackendArray",
    "communicator": "TimedCommunicator",
    "dataset": "7",
    "distribution": "(3, 2)",
    "extension": "3",
    "functions": "1.0",
    "kernels": "made_kernels",
    "links": "(1, 3)",
    "model": "(2, 3)",
    "optimizer": "0.5",
}


def create(*arguments: str) -> int:
    try:
        return cli.main(["new-plugin", *arguments])
    except SystemExit as error:
        return int(error.code or 0)


def run(*command: str, cwd: Path, path: Path) -> str:
    """Runs a command of a plugin's author that must succeed; Python sees what is installed."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTEST", "PIP"))}
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean | {"PYTHONPATH": f"{path}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"$ {' '.join(command)}\n{done.stdout}"
    return done.stdout


def test_every_kind_is_used_here() -> None:
    assert scaffold.kinds() == sorted(USES)


@pytest.mark.parametrize("kind", sorted(USES))
def test_works_as_it_is(kind: str, tmp_path: Path) -> None:
    name = f"chainer-made-{kind}"
    assert create(name, "--kind", kind, "--directory", str(tmp_path)) == 0
    project, site = tmp_path / name, tmp_path / "site"

    # There is no network here: the build tool and what the plugin needs are those of the tests.
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", *options]
    run(*pip, "--target", str(site), str(project), cwd=tmp_path, path=site)

    output = run(sys.executable, "-m", "pytest", "-q", "-n0", cwd=project, path=site)
    assert re.search(r"^\d+ passed(, \d+ deselected)? in ", output, re.MULTILINE), output

    code = "import numpy as np, chainer\n" + textwrap.dedent(USES[kind])
    assert run(sys.executable, "-c", code, cwd=tmp_path, path=site).strip() == PRINTS[kind]

    (sample,) = re.findall(r"```python\n(.*?)```", (project / "README.md").read_text(), re.DOTALL)
    run(sys.executable, "-W", "error", "-c", sample, cwd=tmp_path, path=site)

    doctor = [sys.executable, "-m", "chainer.plugins.cli", "doctor", name, "--json"]
    value = json.loads(run(*doctor, cwd=tmp_path, path=site))
    causes = [finding["cause"] for finding in value["reports"][0]["findings"]]
    assert causes[:2] == ["loaded", "registered"]

    # A selection: `chainer certify NAME --quick`, which CI runs, takes a minute for arrays.
    chosen = ["--only", "package_metadata or package_objects or contract_backend or [softcap"]
    certify = [sys.executable, "-m", "chainer.plugins.cli", "certify", name, "--quick", *chosen]
    output = run(*certify, "--processes", "1", cwd=tmp_path, path=site)
    assert f"{name}: passed a selection" in output
    assert (tmp_path / "certificate" / "badge.svg").exists()


@pytest.fixture(scope="module")
def one_of_each(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for kind in scaffold.kinds():
        names = plugin_names.plugin_names(f"a-rather-long-name-for-{kind}")
        scaffold.write(scaffold.render(kind, names), folder / kind)
        names = plugin_names.plugin_names(f"x{kind[0]}")
        scaffold.write(scaffold.render(kind, names, license="none"), folder / f"short-{kind}")
    return folder


def test_style(one_of_each: Path) -> None:
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("ruff is not installed")
    ruff = [sys.executable, "-m", "ruff"]
    run(*ruff, "check", "--no-cache", ".", cwd=one_of_each, path=one_of_each)
    # Only here: lines of long names are broken differently.
    shorts = [path.name for path in one_of_each.glob("short-*")]
    run(*ruff, "format", "--no-cache", "--check", *shorts, cwd=one_of_each, path=one_of_each)


@pytest.mark.slow
def test_types(one_of_each: Path) -> None:
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    projects = [one_of_each / kind for kind in scaffold.kinds()]
    settings = tomllib.loads((projects[0] / "pyproject.toml").read_text())["tool"]["pyright"]
    assert settings["typeCheckingMode"] == "basic"
    settings |= {
        "include": [f"{project.name}/{part}" for project in projects for part in ("src", "tests")],
        "extraPaths": [f"{project.name}/src" for project in projects],
    }
    (one_of_each / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    assert "0 errors" in run(*command, cwd=one_of_each, path=one_of_each)


@pytest.mark.parametrize("kind", scaffold.kinds())
def test_project_is_complete(one_of_each: Path, kind: str) -> None:
    folder = one_of_each / kind
    module = f"a_rather_long_name_for_{kind}"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["name"] == f"a-rather-long-name-for-{kind}"
    assert project["license"] == "MIT"
    assert project["entry-points"]["chainer"] == {module: f"{module}.pack"}
    assert any(need.startswith("chainer>=8") for need in project["dependencies"])
    source = folder / "src" / module
    assert (source / "py.typed").read_text() == ""
    assert "chainer_api = 1\n" in (source / "pack.py").read_text()
    workflow = (folder / ".github/workflows/test.yml").read_text()
    assert '["3.11", "3.12", "3.13", "3.14"]' in workflow
    assert "${{ matrix.python }}" in workflow
    assert f"chainer certify a-rather-long-name-for-{kind} --quick" in workflow
    assert "the authors of" in (folder / "LICENSE").read_text()
    ignored = (folder / ".gitignore").read_text()
    assert "/.venv/" in ignored
    # The badge that the README shows is committed, the reports are not.
    assert "/certificate/*\n!/certificate/badge.svg\n" in ignored
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert "$$" not in text
            assert not re.search(r"\$\{[a-z]", text), path
            assert "__module__" not in str(path)


def test_license_can_be_chosen(tmp_path: Path) -> None:
    arguments = ["--kind", "links", "--directory", str(tmp_path)]
    assert create("one", *arguments, "--license", "BSD-3-Clause", "--author", "Jo Doe") == 0
    assert "Jo Doe" in (tmp_path / "one/LICENSE").read_text()
    assert 'license = "BSD-3-Clause"' in (tmp_path / "one/pyproject.toml").read_text()
    assert create("two", *arguments, "--license", "none") == 0
    assert not (tmp_path / "two/LICENSE").exists()
    assert "license" not in tomllib.loads((tmp_path / "two/pyproject.toml").read_text())["project"]
    assert "No license is chosen yet" in (tmp_path / "two/README.md").read_text()


@pytest.mark.parametrize(
    ("name", "distribution", "module", "plugin", "camel"),
    [
        ("chainer-swish", "chainer-swish", "chainer_swish", "swish", "Swish"),
        ("Chainer.Big__Swish", "chainer-big-swish", "chainer_big_swish", "big_swish", "BigSwish"),
        ("swish2", "swish2", "swish2", "swish2", "Swish2"),
        # No names of their own: a number, one of Chainer's packs, words of device specifiers.
        ("chainer-3d", "chainer-3d", "chainer_3d", "chainer_3d", "Chainer3d"),
        ("chainer-numpy", "chainer-numpy", "chainer_numpy", "chainer_numpy", "ChainerNumpy"),
        ("chainer-cuda", "chainer-cuda", "chainer_cuda", "chainer_cuda", "ChainerCuda"),
        ("chainer-class", "chainer-class", "chainer_class", "chainer_class", "ChainerClass"),
    ],
)
def test_names(name: str, distribution: str, module: str, plugin: str, camel: str) -> None:
    expected = plugin_names.PluginNames(distribution, module, plugin, camel)
    assert plugin_names.plugin_names(name) == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "begins and ends with a letter or digit, got ''"),
        ("-swish", "begins and ends with"),
        ("swish_", "begins and ends with"),
        ("my plugin", "ASCII letters, digits"),
        ("größe", "ASCII letters, digits"),
        ("../up", "ASCII letters, digits"),
        ("3d", "module name '3d', which does not begin with a letter"),
        ("class", "module name 'class', which is a keyword of Python"),
        ("Json", "module name 'json', which would hide that of Python's standard library"),
        ("Chainer", "module name 'chainer', which is taken"),
        ("tests", "which is taken"),
        ("pytest-", "begins and ends with"),
    ],
)
def test_names_that_are_refused(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--kind=links", f"--directory={tmp_path}", "--", name]
    assert create(*arguments) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_installed_module_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "already_there.py").write_text("")
    (tmp_path / "only_a_folder").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "out"
    assert create("already-there", "--kind=links", f"--directory={out}") == 2
    assert "is installed already" in capsys.readouterr().err
    assert not out.exists()
    assert create("only-a-folder", "--kind=links", f"--directory={out}") == 0
    assert (out / "only-a-folder" / "pyproject.toml").exists()


def test_what_exists_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    assert create("mine", "--kind=links", f"--directory={tmp_path}") == 2
    assert "exists already; nothing was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "notes.txt"]
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert create("dangling", "--kind=links", f"--directory={tmp_path}") == 2


def test_an_error_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text, count = Path.write_text, 0

    def fails_at_the_fourth(self: Path, *args: Any, **kwargs: Any) -> int:
        nonlocal count
        count += 1
        if count == 4:
            raise OSError("no space left on device")
        return write_text(self, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", fails_at_the_fourth)
    assert create("mine", "--kind=links", f"--directory={tmp_path / 'a' / 'b'}") == 2
    assert count == 4
    assert list(tmp_path.iterdir()) == []


def test_folder_can_be_entered_by_all_whom_the_mask_allows(tmp_path: Path) -> None:
    assert create("mine", "--kind=links", f"--directory={tmp_path}") == 0
    (tmp_path / "other").mkdir()
    assert (tmp_path / "mine").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert create("Chainer.One", "--kind=links", f"--directory={tmp_path}") == 0
    text = capsys.readouterr().out
    assert "src/chainer_one/pack.py" in text
    assert "pip install " in text and '-e ".[test]"' in text
    assert create("Chainer.Two", "--kind=links", f"--directory={tmp_path}", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["directory"] == str(tmp_path / "chainer-two")
    assert (value["distribution"], value["module"], value["plugin"], value["kind"]) == (
        "chainer-two",
        "chainer_two",
        "two",
        "links",
    )
    written = {
        p.relative_to(tmp_path / "chainer-two") for p in (tmp_path / "chainer-two").rglob("*")
    }
    assert {Path(file) for file in value["files"]} <= written


def test_kind_must_be_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert create("one", "--kind=link") == 2
    assert "invalid choice: 'link'" in capsys.readouterr().err
    assert create("one") == 2


PROJECT = """
[project]
dependencies = ["chainer>=8"]
[project.optional-dependencies]
test = ["pytest", "chainermn[mpich]"]
"""


def test_commands_for_each_way_of_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = Path(sys.executable).parent
    monkeypatch.setattr("shutil.which", lambda name: str(bin_folder / name))

    def steps(installed: Installation) -> list[str]:
        monkeypatch.setattr(new_plugin, "installation", lambda: installed)
        return new_plugin.next_steps("x", Path("/some where/x"), PROJECT)

    assert steps(Installation("index")) == [
        'cd "/some where/x"',
        'pip install -e ".[test]"',
        "pytest",
        "chainer doctor x",
    ]
    assert steps(Installation("wheels", Path("/dist")))[1] == (
        'pip install --find-links /dist -e ".[test]"'
    )
    # Chainer is installed, and the pack that the tests need is in the checkout.
    packs = ROOT / "packs"
    assert shlex.split(steps(Installation("checkout", ROOT, editable=True))[1]) == [
        *("pip", "install", "-e", f"{packs}/chainermn", "-e", ".[test]")
    ]
    monkeypatch.setattr("shutil.which", lambda name: None)
    python = sys.executable
    assert steps(Installation("index"))[1:] == [
        f'{python} -m pip install -e ".[test]"',
        f"{python} -m pytest",
        f"{python} -m chainer.plugins.cli doctor x",
    ]


def test_help_describes_each_kind_without_placeholders(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        cli.main(["new-plugin", "--help"])
    text = capsys.readouterr().out
    assert "$" not in text
    for kind in scaffold.kinds():
        assert re.search(rf"^  {kind} +[A-Z].*\.$", text, re.MULTILINE)


def test_arrays_of_the_backend_template_in_named_tuples(tmp_path: Path) -> None:
    files = scaffold.render("backend", plugin_names.plugin_names("chainer-made"))
    scaffold.write(files, tmp_path / "made")
    program = """
        import numpy as np
        from chainer_made.namespace import xp
        print([type(part).__name__ for part in xp.linalg.svd(xp.asarray(np.eye(2)))])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path / "made" / "src",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['MadeArray', 'MadeArray', 'MadeArray']\n"

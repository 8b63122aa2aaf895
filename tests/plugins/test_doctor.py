"""`chainer doctor`: each way in which a plugin can be missing is named, with what to do."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

GOOD = "def chainer_functions(registry): registry.register('halve', 'halves:halve')"
HALVES = "def halve(x): return x / 2"


def doctor(site: Any, *arguments: str, cwd: Path | None = None, **variables: str) -> Any:
    command = ["-m", "chainer.plugins.cli", "doctor", *arguments, "--json"]
    if cwd is not None:
        code = f"import os, runpy, sys; os.chdir({str(cwd)!r}); sys.argv = {command[1:]!r}; "
        command = ["-c", code + "runpy.run_module('chainer.plugins.cli', run_name='__main__')"]
    done = site.run(*command, **variables)
    assert done.stderr == ""
    value = json.loads(done.stdout)
    assert done.returncode == (0 if value["sound"] else 1)
    return value


def findings(value: Any) -> dict[str, Any]:
    """Returns the findings about the one thing that was examined, by cause."""
    (report,) = value["reports"]
    return {finding["cause"]: finding for finding in report["findings"]}


def only_error(value: Any) -> Any:
    (error,) = (f for f in findings(value).values() if f["level"] == "error")
    return error


def test_a_plugin_that_is_there(site: Any) -> None:
    modules = {"good": GOOD, "halves": HALVES}
    site.add("good-pack", "1.1", entry_points={"good": "good"}, modules=modules)
    for name in ("good", "good-pack", "Good_Pack"):
        value = doctor(site, name)
        assert value["sound"]
        assert value["prefix"] == sys.prefix
        assert set(findings(value)) == {"loaded", "registered"}
        assert findings(value)["registered"]["text"] == (
            "registered 1 function: chainer.functions.halve"
        )
    assert value["reports"][0]["subject"] == "plugin 'good' of good-pack 1.1"


def test_many_names(site: Any) -> None:
    """A report about all plugins shows some of the names, one about the plugin shows all."""
    register = "def chainer_functions(registry):\n    for i in range({}):\n"
    register += "        registry.register(f'{}_{{i:02}}', 'math:sin')"
    many, few = register.format(30, "many"), register.format(9, "few")
    site.add("many-pack", entry_points={"many": "many"}, modules={"many": many})
    site.add("few-pack", entry_points={"few": "few"}, modules={"few": few})
    texts = {
        report["subject"]: finding["text"]
        for report in doctor(site)["reports"]
        for finding in report["findings"]
        if finding["cause"] == "registered"
    }
    (text,) = (text for subject, text in texts.items() if "'many'" in subject)
    assert text.startswith("registered 30 functions: chainer.functions.many_00, ")
    assert text.endswith("many_07 and 22 more (chainer doctor many shows all)")
    (text,) = (text for subject, text in texts.items() if "'few'" in subject)
    assert text.endswith("few_07, chainer.functions.few_08")
    assert findings(doctor(site, "many"))["registered"]["text"].endswith("many_29")


BROKEN = {
    # name: (code of the pack, cause, part of the text, part of the advice, part of the last line)
    "raises": ("x = 1\nx / 0", "import_error", "ZeroDivisionError", "import raises", ":2 in <mod"),
    "syntax": ("x = 1 +", "import_error", "SyntaxError: invalid", "", "syntax.py:1: x = 1 +"),
    "later": ("chainer_api = 9", "api_version", "written for version 9", "'chainer_api = ...'", ""),
    "typo": (
        "def chainer_function(registry): pass",
        "unknown_hook",
        "did you mean 'chainer_functions'?",
        "rename the function in 'typo'",
        "",
    ),
    "needs": (
        "import a_package_nobody_has.part",
        "missing_dependency",
        "No module named 'a_package_nobody_has'",
        "needs 'a_package_nobody_has': install that here",
        "needs.py:1",
    ),
    "hooked": (
        "def helper():\n    raise OSError('no disk')\ndef chainer_links(registry):\n    helper()",
        "hook_error",
        "OSError: no disk",
        "one of its hooks failed",
        "hooked.py:2 in helper: raise OSError('no disk')",
    ),
    "silent": (
        "def register(): pass",
        "registers_nothing",
        "registers nothing",
        "def chainer_",
        "",
    ),
    "exits": ("import sys; sys.exit(3)", "import_error", "it called sys.exit(3)", "", ""),
    "deep": (
        "def chainer_functions(registry): registry.register('g', 'deep_target:g')",
        "target_error",
        "which fails: ModuleNotFoundError: No module named 'scypi'",
        "it needs 'scypi': install that here, and name it in the dependencies of deep-pack",
        "deep_target.py:1 in <module>: import scypi",
    ),
    "lazy": (
        "def chainer_functions(registry): registry.register('f', 'lazy_target:f')",
        "target_error",
        "function 'f' is registered as 'lazy_target:f', which fails: AttributeError",
        "check what 'lazy' registers",
        "lazy_target.py:2 in __getattr__",
    ),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tests.plugins.conftest import Site

    site = Site(tmp_path_factory.mktemp("broken") / "site")
    for name, (code, *_) in BROKEN.items():
        site.add(f"{name}-pack", entry_points={name: name}, modules={name: code})
    lazy = "def __getattr__(name):\n    raise AttributeError(name)\n"
    (site.path / "lazy_target.py").write_text(lazy)
    (site.path / "deep_target.py").write_text("import scypi\n")
    site.add("gone-pack", entry_points={"gone": "gone.pack"})
    site.add("half-pack", entry_points={"half": "half.pack:nothing"}, modules={"half.pack": ""})
    site.add("malformed-pack", entry_points={"malformed": "a module"})
    site.add("wrong-group", entry_points={})
    folder = site.path / "wrong_group-1.0.dist-info"
    (folder / "entry_points.txt").write_text("[Chainer.plugins]\nwrong = wrong\n")
    value = doctor(site)
    assert not value["sound"]
    return {report["subject"]: report["findings"] for report in value["reports"]}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_plugins(broken: Any, name: str) -> None:
    _, cause, text, advice, line = BROKEN[name]
    (error,) = (f for f in broken[f"plugin {name!r} of {name}-pack 1.0"] if f["level"] == "error")
    assert error["cause"] == cause
    assert text in error["text"]
    assert advice in error["advice"]
    assert line in (error["lines"] or [""])[-1]
    for shown in error["lines"]:
        assert f"chainer{os.sep}plugins" not in shown
        assert "importlib" not in shown


def test_entry_points_that_point_nowhere(broken: Any) -> None:
    (gone,) = broken["plugin 'gone' of gone-pack 1.0"]
    assert gone["cause"] == "no_such_module"
    assert "the entry point is 'gone.pack': check its spelling" in gone["advice"]
    (half,) = broken["plugin 'half' of half-pack 1.0"]
    assert "names an attribute that the module does not have" in half["advice"]
    (malformed,) = broken["plugin 'malformed' of malformed-pack 1.0"]
    assert malformed["cause"] == "malformed_entry_point"
    assert "must point to 'module' or 'module:object', got 'a module'" in malformed["text"]


def test_a_misspelt_group_is_found_without_a_name(broken: Any) -> None:
    (error,) = (f for f in broken["environment"] if f["level"] == "error")
    assert error["cause"] == "wrong_group"
    assert "wrong-group 1.0 has entry points in group 'Chainer.plugins'" in error["text"]
    assert "[project.entry-points.chainer]" in error["advice"]


@pytest.mark.parametrize("group", ["chainer.plugins", "chainr", "Chainer", "chainer-plugins"])
def test_a_misspelt_group(site: Any, group: str) -> None:
    site.add("mine", entry_points={})
    text = f"[{group}]\nmine = mine\n[console_scripts]\nmine = mine:main\n"
    (site.path / "mine-1.0.dist-info" / "entry_points.txt").write_text(text)
    assert only_error(doctor(site, "mine"))["cause"] == "wrong_group"


def test_the_prefix_of_a_distribution_may_be_left_out(site: Any) -> None:
    site.add("chainer-mine", entry_points={})
    (site.path / "chainer_mine-1.0.dist-info" / "entry_points.txt").write_text(
        "[pytest11]\na = b\n"
    )
    assert only_error(doctor(site, "mine"))["cause"] == "no_entry_point"


def test_a_distribution_that_is_not_a_plugin(site: Any) -> None:
    site.add("mine", entry_points={})
    (site.path / "mine-1.0.dist-info" / "entry_points.txt").write_text(
        "[console_scripts]\nmine = mine:main\n[pytest11]\nmine = mine\n"
    )
    error = only_error(doctor(site, "mine"))
    assert error["cause"] == "no_entry_point"
    assert "entry points are recorded at installation" in error["advice"]


def test_a_library_of_a_registered_name_need_not_be_a_plugin(site: Any) -> None:
    """As PyTorch, whose name is also the name of a backend."""
    site.add("good-pack", entry_points={"good": "good"}, modules={"good": GOOD, "halves": HALVES})
    site.add("halve", entry_points={})
    value = doctor(site, "halve")
    assert value["sound"]
    found = findings(value)
    assert found["registered_name"]["text"].startswith("it is chainer.functions.halve, ")
    assert found["no_entry_point"]["level"] == "note"


def test_a_distribution_that_was_installed_too_early(site: Any, tmp_path: Path) -> None:
    site.add("mine", entry_points={})
    folder = site.path / "mine-1.0.dist-info"
    source = tmp_path / "my project"
    source.mkdir()
    (folder / "direct_url.json").write_text(
        json.dumps({"url": source.as_uri(), "dir_info": {"editable": True}})
    )
    (source / "pyproject.toml").write_text(
        '[project]\nname = "mine"\n[project.entry-points.chainer]\nmine = "mine.pack"\n'
    )
    error = only_error(doctor(site, "mine"))
    assert error["cause"] == "stale_metadata"
    assert error["advice"].startswith("install it again: ")
    assert error["advice"].endswith(f'pip install -e "{source}"')


def test_a_blocked_plugin(site: Any) -> None:
    site.add("good-pack", entry_points={"good": "good"}, modules={"good": "1 / 0"})
    error = only_error(doctor(site, "good", CHAINER_DISABLE_PLUGINS="good-pack"))
    assert error["cause"] == "blocked"
    assert "blocked by CHAINER_DISABLE_PLUGINS" in error["text"]
    value = doctor(site, CHAINER_DISABLE_PLUGINS="good-pack")
    assert value["sound"]  # the user wanted it so


def test_variables_that_name_nobody(site: Any) -> None:
    site.add("good-pack", entry_points={"good": "good"}, modules={"good": GOOD, "halves": HALVES})
    value = doctor(site, CHAINER_DISABLE_PLUGINS="god", CHAINER_KERNELS="idep")
    errors = [f for f in value["reports"][0]["findings"] if f["level"] == "error"]
    assert [error["cause"] for error in errors] == ["unknown_plugin", "unknown_provider"]
    assert [error["advice"] for error in errors] == [
        "did you mean 'good'?",
        "did you mean 'ideep'?",
    ]


def test_strict_mode_does_not_keep_it_from_looking(site: Any) -> None:
    site.add("bad", entry_points={"bad": "bad"}, modules={"bad": "1 / 0"})
    assert only_error(doctor(site, "bad", CHAINER_PLUGINS_STRICT="1"))["cause"] == "import_error"


def test_two_plugins_that_claim_one_name(site: Any) -> None:
    for name in ("first", "second"):
        modules = {name: GOOD, "halves": HALVES}
        site.add(name, entry_points={name: name}, modules=modules)
    assert doctor(site, "first")["sound"]
    error = only_error(doctor(site, "second"))
    assert error["cause"] == "name_conflict"
    assert "first 1.0" in error["text"]
    assert "second 1.0" in error["text"]


def test_a_name_replaced_on_purpose(site: Any) -> None:
    site.add("first", entry_points={"first": "first"}, modules={"first": GOOD, "halves": HALVES})
    code = GOOD.replace("'halves:halve'", "'halves:halve', override=True")
    site.add("second", entry_points={"second": "second"}, modules={"second": code})
    value = doctor(site, "first", CHAINER_ENABLE_PLUGINS="second")
    assert value["sound"]
    assert "was replaced by plugin 'second'" in findings(value)["overridden"]["text"]
    value = doctor(site, "second", CHAINER_ENABLE_PLUGINS="second")
    assert "replaces the one of plugin 'first'" in findings(value)["overrides"]["text"]
    # A plugin that is only installed replaces nothing.
    assert "overridden" not in findings(doctor(site, "first"))
    refused = findings(doctor(site, "second"))["override_refused"]
    assert "CHAINER_ENABLE_PLUGINS=second" in refused["advice"]


def test_another_copy(site: Any, tmp_path: Path) -> None:
    site.add("good", "2.0", entry_points={"good": "good"}, modules={"good": GOOD, "halves": HALVES})
    other = type(site)(tmp_path / "other").add("Good", "1.0", entry_points={"good": "good"})
    path = os.pathsep.join([str(site.path), str(other.path), str(Path(__file__).parents[2])])
    copy = findings(doctor(site, "good", PYTHONPATH=path))["hidden_copy"]
    assert copy["level"] == "note"
    assert f"good 1.0 in {other.path}" in copy["text"]


KERNELS = """
    from chainer.core.arrays.kernel import Kernel, register_kernel

    def chainer_kernels(registry):
        for operation in {operations}:
            kernel = Kernel(operation, "numpy:ndarray", "turbo", "nowhere:K",
                            unavailable=lambda: "libturbo is missing")
            register_kernel(kernel, registry)
"""


def test_kernels_that_are_not_used(site: Any) -> None:
    code = KERNELS.format(operations=["relu", "relo", "of_another_pack"])
    site.add("turbo", entry_points={"turbo": "turbo_pack"}, modules={"turbo_pack": code})
    found = findings(doctor(site, "turbo_pack"))
    assert "CHAINER_KERNELS=turbo" in found["kernels_not_enabled"]["advice"]
    assert "libturbo is missing" in found["kernels_unavailable"]["text"]
    assert found["unknown_operation"]["level"] == "error"
    assert "'relo'" in found["unknown_operation"]["text"]
    assert found["unknown_operation"]["advice"] == "did you mean 'relu'?"
    assert found["operation_not_installed"]["level"] == "note"
    assert "'of_another_pack'" in found["operation_not_installed"]["text"]
    found = findings(doctor(site, "turbo", CHAINER_KERNELS="turbo"))
    assert "kernels_not_enabled" not in found


BROKEN_KERNELS = """
    from chainer.core.arrays.kernel import Kernel, register_kernel

    def broken():
        raise SystemExit("broken on purpose")

    def chainer_kernels(registry):
        where = ("relu", "numpy:ndarray")
        lacks = {"deterministic": "it adds in any order"}
        for kernel in (
            Kernel(*where, "absent", "nowhere:K"),
            Kernel(*where, "unnamed", "broken_pack:K"),
            Kernel(*where, "broken", "broken_pack:K", unavailable=broken),
            Kernel(*where, "unclear", "broken_pack:K", unavailable="nowhere:f"),
            Kernel(*where, "sound", "broken_pack:broken", limitations=lacks),
        ):
            register_kernel(kernel, registry)
"""


def test_kernels_whose_code_is_broken(site: Any) -> None:
    modules = {"broken_pack": BROKEN_KERNELS}
    site.add("broken-pack", entry_points={"broken": "broken_pack"}, modules=modules)
    value = doctor(site, "broken")
    assert not value["sound"]
    (report,) = value["reports"]
    texts = [f["text"] for f in report["findings"] if f["cause"] == "kernel_error"]
    expected = [
        r"'relu/absent/numpy:ndarray': 'nowhere:K' cannot be imported: ModuleNotFoundError: ",
        r"'relu/unnamed/numpy:ndarray': 'broken_pack:K' cannot be imported: AttributeError: .* 'K'",
        r"'relu/broken/numpy:ndarray': .* what is missing, fails: SystemExit: broken on purpose",
        r"'relu/unclear/numpy:ndarray': 'nowhere:f', which says what is missing, fails: ",
    ]
    assert len(texts) == len(expected)
    for text, pattern in zip(texts, expected):
        assert re.search(pattern, text), text
    # What a kernel declares not to do is shown here and where a call is explained.
    assert "no deterministic (it adds in any order)" in findings(value)["limitation"]["text"]


LIMITED_BACKEND = """
    from chainer.backends.numpy.backend import NumpyBackend

    class Limited(NumpyBackend):
        name = "limited"
        limitations = {"float16": "the library has none"}

        def __init__(self):
            self.array_types = ()

    def chainer_backends(registry):
        registry.register("limited", Limited())
"""


@pytest.mark.parametrize("name", ["limited-pack", "limited"])
def test_what_a_backend_declares(site: Any, name: str) -> None:
    """It is shown for the name of the plugin, and for the name of the backend."""
    modules = {"limited_pack": LIMITED_BACKEND}
    site.add("limited-pack", entry_points={"pack": "limited_pack"}, modules=modules)
    value = doctor(site, name)
    assert value["sound"]
    text = "backend 'limited' declares: no float16 (the library has none)"
    assert findings(value)["limitation"]["text"] == text


def test_a_plugin_that_only_listens(site: Any) -> None:
    code = "def chainer_trainer_start(trainer): pass"
    site.add("ears", entry_points={"ears": "ears"}, modules={"ears": code})
    value = doctor(site, "ears")
    assert value["sound"]
    assert "CHAINER_ENABLE_PLUGINS" in findings(value)["listens"]["advice"]


def test_names_of_things(site: Any) -> None:
    site.add("good-pack", entry_points={"good": "good"}, modules={"good": GOOD, "halves": HALVES})
    value = doctor(site, "halve")
    assert value["sound"]
    assert findings(value)["registered_name"]["text"] == (
        "it is chainer.functions.halve, registered by plugin 'good' of good-pack 1.0"
    )
    error = only_error(doctor(site, "Halve"))
    assert error["cause"] == "other_name"
    assert error["advice"] == "the name is 'halve'"


def test_a_name_nobody_knows(site: Any, tmp_path: Path) -> None:
    site.add("good-pack", entry_points={"good": "good"}, modules={"good": GOOD})
    error = only_error(doctor(site, "god-pack", cwd=tmp_path))
    assert error["cause"] == "not_installed"
    assert sys.prefix in error["text"]
    assert error["advice"] == "did you mean 'good-pack'?"


def test_installed_in_another_environment(site: Any, tmp_path: Path) -> None:
    other = tmp_path / "env"
    folder = other / "lib" / "python3.12" / "site-packages"
    (folder / "chainer_mine-2.0.dist-info").mkdir(parents=True)
    (other / "bin").mkdir()
    (other / "bin" / "python").write_text("")
    found = findings(doctor(site, "chainer-mine", cwd=tmp_path, VIRTUAL_ENV=str(other)))
    assert (
        f"chainer_mine 2.0 is installed in another environment: {folder}"
        in (found["other_environment"]["text"])
    )
    assert str(other / "bin" / "python") in found["other_environment"]["advice"]
    assert sys.executable in found["other_environment"]["advice"]


def test_not_installed_but_here(site: Any, tmp_path: Path) -> None:
    project = tmp_path / "chainer-mine"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "Chainer_Mine"\n')
    for folder in (tmp_path, project):
        found = findings(doctor(site, "chainer-mine", cwd=folder))
        assert found["source_only"]["advice"].endswith(f"pip install -e {project}")
    (site.path / "chainer_mine.py").write_text("")
    found = findings(doctor(site, "chainer-mine", cwd=tmp_path))
    assert "does not belong to an installed distribution" in found["no_distribution"]["text"]


def test_for_people(site: Any) -> None:
    site.add("bad-pack", entry_points={"bad": "bad"}, modules={"bad": "x = 1\nx / 0"})
    done = site.run("-m", "chainer.plugins.cli", "doctor", "bad")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Python 3.")
    assert sys.executable in lines[0]
    assert lines[2:4] == [
        "plugin 'bad' of bad-pack 1.0",
        "  error  ZeroDivisionError: division by zero",
    ]
    assert lines[4].strip() == f"at {site.path / 'bad.py'}:2 in <module>: x / 0"
    assert lines[5].strip().startswith("-> `python -c 'import bad'`")
    assert lines[-1] == "something is wrong, see the errors above"

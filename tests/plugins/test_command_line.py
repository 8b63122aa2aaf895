from __future__ import annotations

import json
from typing import Any

import pytest

import chainer
from chainer.plugins import cli, commands
from chainer.plugins.commands import _output

GOOD = "def chainer_functions(registry): registry.register('halve', 'math:sin')"


def command(site: Any, *arguments: str, **variables: str) -> Any:
    done = site.run("-m", "chainer.plugins.cli", *arguments, **variables)
    assert "PluginWarning" not in done.stderr
    return done


@pytest.fixture
def mixed_site(site: Any) -> Any:
    site.add("good-pack", "1.1", entry_points={"good": "good"}, modules={"good": GOOD})
    site.add("bad-pack", "0.2", entry_points={"bad": "bad"}, modules={"bad": "1 / 0"})
    site.add("off-pack", entry_points={"off": "off"}, modules={"off": GOOD})
    return site


def test_plugins(mixed_site: Any) -> None:
    done = command(mixed_site, "plugins", CHAINER_DISABLE_PLUGINS="off")
    assert (done.returncode, done.stderr) == (0, "")
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["name", "distribution", "version", "state", "ms"]
    rows = {line.split()[0]: line for line in lines}
    assert {"good", "bad", "off"} <= set(rows)  # the environment may have others
    assert "functions" not in rows
    assert rows["good"].split()[1:4] == ["good-pack", "1.1", "loaded"]
    assert rows["good"].endswith("1 function")
    assert rows["bad"].split()[3] == "failed"
    assert rows["bad"].endswith("ZeroDivisionError: division by zero")
    assert rows["off"].endswith("blocked by CHAINER_DISABLE_PLUGINS")


def test_plugins_as_json(mixed_site: Any) -> None:
    done = command(mixed_site, "plugins", "--all", "--json", CHAINER_DISABLE_PLUGINS="off")
    assert done.returncode == 0
    records = {record["name"]: record for record in json.loads(done.stdout)}
    assert records["good"]["registered"] == {"functions": ["halve"]}
    assert records["bad"]["error"] == "ZeroDivisionError: division by zero"
    assert records["off"]["state"] == "blocked"
    assert records["functions"]["builtin"]
    assert "tanh" in records["functions"]["registered"]["functions"]
    assert records["functions"]["distribution"] == "chainer"


def test_failed_plugins_set_the_exit_status(mixed_site: Any) -> None:
    done = command(mixed_site, "plugins", "--failed")
    assert done.returncode == 1
    assert "plugin 'bad' of bad-pack 0.2 -> bad\n  ZeroDivisionError" in done.stdout
    assert "'off' of off-pack" in done.stdout  # registers a name of good-pack
    done = command(mixed_site, "plugins", "--failed", CHAINER_DISABLE_PLUGINS="off,bad")
    assert (done.returncode, done.stdout) == (0, "no plugins with problems\n")


def test_strict_mode_ends_the_command(mixed_site: Any) -> None:
    done = command(mixed_site, "plugins", CHAINER_PLUGINS_STRICT="1")
    assert done.returncode == 1
    assert done.stderr.startswith("chainer: plugin 'bad' of bad-pack 0.2 failed")


def test_info(mixed_site: Any) -> None:
    done = command(mixed_site, "info")
    assert done.returncode == 0
    assert f"Chainer: {chainer.__version__}\n" in done.stdout
    assert "NumPy: " in done.stdout
    assert "Plugin good: loaded (good-pack 1.1)\n" in done.stdout
    assert "Plugin bad: failed (bad-pack 0.2): ZeroDivisionError: division by zero" in done.stdout
    value = json.loads(command(mixed_site, "info", "--json").stdout)
    assert value["runtime"]["Chainer"] == chainer.__version__
    assert {"good", "bad", "functions"} <= {record["name"] for record in value["plugins"]}


def test_plugins_by_name(mixed_site: Any) -> None:
    done = command(mixed_site, "plugins", "bad-pack", "good", "--json")
    assert [record["name"] for record in json.loads(done.stdout)] == ["bad", "good"]
    done = command(mixed_site, "plugins", "functions", "--json")
    assert [record["name"] for record in json.loads(done.stdout)] == ["functions"]
    done = command(mixed_site, "plugins", "god")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no plugin named 'god' is installed; did you mean 'good'" in done.stderr


BACKEND = """
    import numpy
    from chainer.core.arrays.backend import Backend

    class Absent(Backend):
        name = "absent"
        array_types = ("absent_library:Array",)

        @property
        def xp(self):
            import absent_library

        def unavailable_reason(self):
            return "absent_library is missing"

    backend = Absent()

    def chainer_backends(registry):
        registry.register("absent", "absent_pack:backend")
"""


def test_backends(site: Any) -> None:
    site.add(
        "absent-pack", entry_points={"absent": "absent_pack"}, modules={"absent_pack": BACKEND}
    )
    site.add("turbo-pack", entry_points={"turbo": "turbo_pack"}, modules={"turbo_pack": KERNEL})
    done = command(site, "backends", "--json")
    found = {backend["name"]: backend for backend in json.loads(done.stdout)}
    assert found["absent"] == {
        "name": "absent",
        "array_types": ["absent_library:Array"],
        "family": "absent",
        "is_accelerator": False,
        "available": False,
        "reason": "absent_library is missing",
        "version": None,
        "devices": [],
        "kernels": {},
        "limitations": {},
        "origin": "plugin 'absent' of absent-pack 1.0",
    }
    assert found["numpy"]["available"]
    assert found["numpy"]["devices"] == ["@numpy"]
    assert found["numpy"]["array_types"] == ["numpy:ndarray"]
    assert found["numpy"]["kernels"]["turbo"] == 1
    assert found["numpy"]["kernels"]["ideep"] > 5
    pack = "def chainer_backends(registry): registry.register('broken', 'no_such_module:backend')"
    site.add("broken-pack", entry_points={"broken": "broken"}, modules={"broken": pack})
    (broken,) = json.loads(command(site, "backends", "broken", "--json").stdout)
    assert not broken["available"]
    assert "No module named 'no_such_module'" in broken["reason"]
    assert "Backend broken: Not Available ('broken' could" in command(site, "info").stdout
    header, line = command(site, "backends", "@absent").stdout.splitlines()
    assert header.split() == ["name", "arrays", "version", "available", "devices", "kernels"]
    assert line.split(maxsplit=3)[2:] == ["no", "absent_library is missing"]
    done = command(site, "backends", "abset")
    assert done.returncode == 2
    assert "no backend named 'abset'; did you mean 'absent'" in done.stderr


def test_list(mixed_site: Any) -> None:
    done = command(mixed_site, "list", "functions", "halve", "--json")
    assert json.loads(done.stdout) == [
        {"name": "halve", "target": "math:sin", "origin": "plugin 'good' of good-pack 1.1"}
    ]
    lines = command(mixed_site, "list", "links", "NStep*LSTM").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "NStepBiLSTM", "NStepLSTM"]
    done = command(mixed_site, "list", "links", "Linar")
    assert done.returncode == 2
    assert "no link named 'Linar'; did you mean 'Linear'" in done.stderr


KERNEL = """
    from chainer.core.arrays.kernel import Kernel, register_kernel

    def chainer_kernels(registry):
        kernel = Kernel("adam_update", "numpy:ndarray", "turbo", "nowhere:Adam", priority=5,
                        unavailable=lambda: "libturbo is missing")
        register_kernel(kernel, registry)
"""


def test_kernels(site: Any) -> None:
    site.add("turbo-pack", entry_points={"turbo": "turbo"}, modules={"turbo": KERNEL})
    done = command(site, "kernels", "adam_update", "--json")
    assert done.returncode == 0
    turbo, *others, reference = json.loads(done.stdout)
    assert turbo == {
        "operation": "adam_update",
        "provider": "turbo",
        "array_type": "numpy:ndarray",
        "priority": 5,
        "setting": "never",
        "available": "no: libturbo is missing",
        "origin": "plugin 'turbo' of turbo-pack 1.0",
    }
    assert "ideep" in [other["provider"] for other in others]
    assert (reference["provider"], reference["array_type"]) == ("reference", "any")
    lines = command(site, "kernels").stdout.splitlines()
    assert lines[0].split()[:2] == ["operation", "provider"]
    assert sum(line.startswith("adam_update ") for line in lines) == len(others) + 2


SOFTMAX = """
    from chainer.core.arrays.kernel import Kernel, register_kernel

    def supports(call):
        (x,) = call.arrays
        return True if call.attributes["axis"] == x.ndim - 1 else "for the last axis only"

    def chainer_kernels(registry):
        kernel = Kernel("softmax", "numpy:ndarray", "turbo", "nowhere:K", supports=supports)
        register_kernel(kernel, registry)
"""


def test_which_kernel_serves_a_call(site: Any) -> None:
    site.add("turbo-pack", entry_points={"turbo": "turbo_pack"}, modules={"turbo_pack": SOFTMAX})
    call = ("kernels", "softmax", "--shape", "2,3", "--attribute", "axis=1")
    value = json.loads(command(site, *call, "--provider", "turbo", "--json").stdout)
    assert (value["operation"], value["array_type"], value["chosen"]) == (
        "softmax",
        "numpy:ndarray",
        "turbo",
    )
    reasons = {candidate["provider"]: candidate["reason"] for candidate in value["candidates"]}
    assert reasons["turbo"] is None
    assert "use_ideep is 'never'" in reasons["ideep"]
    value = json.loads(command(site, *call, "--json").stdout)
    assert value["chosen"] == "reference"
    done = command(site, *call[:-1], "axis=0", CHAINER_KERNELS="turbo")
    title, _, *lines = done.stdout.splitlines()
    assert title == "softmax on numpy.ndarray is served by 'reference'"
    assert any("turbo" in line and "for the last axis only" in line for line in lines)


def test_calls_that_make_no_sense(site: Any) -> None:
    site.add("turbo-pack", entry_points={"turbo": "turbo_pack"}, modules={"turbo_pack": SOFTMAX})
    softmax = ("kernels", "softmax")
    for arguments, message in (
        (("kernels", "--shape", "2"), "--shape needs an operation"),
        ((*softmax, "--shape", "2,3", "--provider", "turbo"), "select(x, axis=...)"),
        ((*softmax, "--shape", "two"), "--shape must look like 8,3,32,32, got 'two'"),
        ((*softmax, "--shape", "2:quux"), "got '2:quux'"),
        ((*softmax, "--shape", "2", "--attribute", "axis"), "--attribute must look like axis=1"),
        ((*softmax, "--shape", "2", "--backend", "nupy"), "did you mean 'numpy'"),
        ((*softmax, "--shape", "none"), "the first array decides about the backend"),
    ):
        done = command(site, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr


def test_arrays_of_other_dtypes_and_none(site: Any) -> None:
    arguments = ("--shape", "4,3", "--shape", "4:int32", "--shape", "none", "--json")
    value = json.loads(command(site, "kernels", "softmax_cross_entropy", *arguments).stdout)
    assert value["chosen"] == "reference"


def test_tables_fit_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("a", "one two three four five six seven"), ("bb", "")]
    _output.print_table(("x", "words"), rows)
    assert capsys.readouterr().out == "x   words\na   one two three four five six seven\nbb\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "27")
    _output.print_table(("x", "words"), rows)
    _output.print_indented("one two three four five six", "- ", "  ")
    assert capsys.readouterr().out == (
        "x   words\na   one two three four five\n    six seven\nbb\n"
        "- one two three four five\n  six\n"
    )


def test_a_reader_who_has_seen_enough(site: Any) -> None:
    code = "import sys; from chainer.plugins import cli; sys.exit(cli.main(['list', 'functions']))"
    done = site.python(f"""
        import subprocess, sys
        process = subprocess.Popen([sys.executable, "-c", {code!r}],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        print(process.wait(), process.stderr.read())
    """)
    assert done.stdout == "1 b''\n"


def test_unknown_operation(site: Any) -> None:
    done = command(site, "kernels", "adam_updat")
    assert done.returncode == 2
    assert "no operation named 'adam_updat'; did you mean 'adam_update'" in done.stderr


def test_wrong_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main([])
    assert info.value.code == 2
    assert cli.main(["plugin"]) == 2
    error = capsys.readouterr().err
    assert "no command 'plugin'; did you mean 'plugins'" in error
    assert "commands are backends, board, doctor," in error
    with pytest.raises(SystemExit) as info:
        cli.main(["--version"])
    assert info.value.code == 0
    assert capsys.readouterr().out == f"chainer {chainer.__version__}\n"


def test_every_command_has_help_and_documentation() -> None:
    found = commands.find()
    assert set(found) == {
        "backends",
        "board",
        "doctor",
        "info",
        "kernels",
        "launch",
        "list",
        "new-plugin",
        "plugins",
    }
    for name, module in found.items():
        assert module.HELP
        assert f"``chainer {name}``" in (module.__doc__ or "")

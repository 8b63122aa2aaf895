from __future__ import annotations

import json
from typing import Any

import pytest

import chainer
from chainer.plugins import cli, commands

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
    assert rows["good"].endswith("1 functions")
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
    assert "'off' of off-pack" in done.stdout  # claims a name of good-pack
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


KERNEL = """
    from chainer.core.kernel import Kernel, register_kernel

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
    assert [other["provider"] for other in others] == ["ideep"]
    assert (reference["provider"], reference["array_type"]) == ("reference", "any")
    lines = command(site, "kernels").stdout.splitlines()
    assert lines[0].split()[:2] == ["operation", "provider"]
    assert sum(line.startswith("adam_update") for line in lines) == 3


def test_unknown_operation(site: Any) -> None:
    done = command(site, "kernels", "adam_updat")
    assert done.returncode == 2
    assert "no operation named 'adam_updat'; did you mean 'adam_update'" in done.stderr


def test_wrong_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["no-such-command"]):
        with pytest.raises(SystemExit) as info:
            cli.main(arguments)
        assert info.value.code == 2
    with pytest.raises(SystemExit) as info:
        cli.main(["--version"])
    assert info.value.code == 0
    assert capsys.readouterr().out == f"chainer {chainer.__version__}\n"


def test_every_command_has_help_and_documentation() -> None:
    found = commands.find()
    assert {"info", "plugins", "kernels"} <= set(found)
    for name, module in found.items():
        assert module.HELP
        assert f"``chainer {name}``" in (module.__doc__ or "")

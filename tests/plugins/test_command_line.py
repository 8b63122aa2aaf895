from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import chainer
from chainer.plugins import cli, commands, known_distributions
from chainer.plugins.commands import _output

ROOT = Path(__file__).resolve().parents[2]

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
    assert header.split() == ["name", "distribution", "version", "state", "ms", "description"]
    rows = {line.split()[0]: line for line in lines}
    # One story with `chainer info`: Chainer's own are plugins, too.
    assert {"good", "bad", "off", "functions"} <= set(rows)  # the environment may have others
    assert rows["functions"].split(maxsplit=5)[5].startswith("Differentiable functions, and ")
    assert rows["good"].split()[1:4] == ["good-pack", "1.1", "loaded"]
    assert rows["good"].endswith("A pack for tests (1 function)")
    assert rows["bad"].split()[3] == "failed"
    assert rows["bad"].endswith("ZeroDivisionError: division by zero")
    assert rows["off"].endswith("blocked by CHAINER_DISABLE_PLUGINS")


def test_plugins_as_json(mixed_site: Any) -> None:
    done = command(mixed_site, "plugins", "--others", CHAINER_DISABLE_PLUGINS="off")
    others = {line.split()[0] for line in done.stdout.splitlines()}
    assert {"good", "bad", "off"} <= others
    assert "functions" not in others
    done = command(mixed_site, "plugins", "--json", CHAINER_DISABLE_PLUGINS="off")
    assert done.returncode == 0
    records = {record["name"]: record for record in json.loads(done.stdout)}
    assert records["good"]["description"] == "A pack for tests (1 function)"
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
    # The same rows as those of `chainer plugins`; loading takes another time in each process.
    rows = [line.split() for line in command(mixed_site, "plugins").stdout.splitlines()]
    shown = [[*line.split()[:4], *line.split()[5:]] for line in done.stdout.splitlines()]
    assert all([*row[:4], *row[5:]] in shown for row in rows)
    assert ["good", "good-pack", "1.1", "loaded"] in [row[:4] for row in rows]
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
        {
            "name": "halve",
            "target": "math:sin",
            "origin": "plugin 'good' of good-pack 1.1",
            "description": "Return the sine of x (measured in radians)",
        }
    ]
    lines = command(mixed_site, "list", "links", "NStep*LSTM").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "NStepBiLSTM", "NStepLSTM"]
    assert lines[0].split() == ["name", "from", "description"]
    _, distribution, version, text = lines[1].split(maxsplit=3)
    assert (distribution, version) == ("chainer", chainer.__version__)
    assert "LSTM" in text
    done = command(mixed_site, "list", "links", "Linar")
    assert done.returncode == 2
    assert "no link named 'Linar'; did you mean 'Linear'" in done.stderr
    # As an error of a program says it, with names of other frameworks.
    done = command(mixed_site, "list", "functions", "conv2d")
    assert "no function named 'conv2d'; Chainer has F.convolution_2d" in done.stderr


HEAVY = '''
    raise RuntimeError("imported")

    class Maker:
        """Makes things of :class:`~chainer.Link`, e.g. ``x``. More."""

    def lazy(x):
        """Is lazy.

        Args: ...
        """

    made = Maker()
    lost = lazy(3)
'''

HEAVY_PACK = """
    def chainer_functions(registry):
        registry.register("lazy", "heavy.inside:lazy")
        registry.register("renamed", "heavy:renamed")
        registry.register("made", "heavy.inside:made")
        registry.register("lost", "heavy.inside:lost")
        registry.register("nowhere", "no_such_module:nowhere")
"""


ODD = """
    import sys

    class Odd(BaseException):
        def __str__(self):
            sys.exit(4)

    raise Odd()
"""

ODD_NAMES = """
    def chainer_functions(registry):
        registry.register("itself", "chainer.functions:itself")
        registry.register("odd", "odd_pack:odd")

    def chainer_backends(registry):
        registry.register("odd", "odd_pack:backend")

    def chainer_trainer_start(trainer):
        pass
"""


@pytest.mark.parametrize(
    "arguments",
    [("plugins",), ("info",), ("doctor",), ("list", "functions"), ("backends",), ("kernels",)],
    ids=" ".join,
)
def test_no_plugin_ends_a_command(site: Any, arguments: tuple[str, ...]) -> None:
    """Errors that are not exceptions, and whose text ends the program."""
    site.add("odd-pack", entry_points={"odd": "odd_pack"}, modules={"odd_pack": ODD})
    site.add("names-pack", entry_points={"names": "odd_names"}, modules={"odd_names": ODD_NAMES})
    done = command(site, *arguments)
    assert (done.returncode, done.stderr) == (int(arguments[0] == "doctor"), "")
    expected = {
        "list": "itself ",
        "backends": "whose text raises SystemExit",
        "kernels": "adam_update",
    }
    said = expected.get(arguments[0], "Odd, whose text raises SystemExit")
    assert said in done.stdout
    if arguments[0] in ("plugins", "info", "doctor"):
        assert "chainer_trainer_start" in done.stdout
        assert "CHAINER_ENABLE_PLUGINS=names" in done.stdout


def test_lists_import_nothing(site: Any) -> None:
    """Docstrings are read from source files: the modules may need what is missing, or be slow."""
    modules = {
        "pack_of_heavy": HEAVY_PACK,
        "heavy/__init__": "from .inside import lazy as renamed\n1 / 0",
        "heavy/inside": HEAVY,
    }
    site.add("heavy-pack", entry_points={"heavy": "pack_of_heavy"}, modules=modules)
    found = json.loads(command(site, "list", "functions", "--json").stdout)
    texts = {entry["name"]: entry["description"] for entry in found}
    assert texts["lazy"] == "Is lazy"
    assert texts["renamed"] == "Is lazy"
    assert texts["made"] == "Makes things of chainer.Link, e.g. x"
    assert texts["relu"] == "Rectified Linear Unit function"
    # All of Chainer's own have one.
    assert [name for name, text in texts.items() if not text] == ["lost", "nowhere"]


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
        "description": "Adam with the variants AdamW, AMSGrad and AdaBound",
    }
    assert "ideep" in [other["provider"] for other in others]
    assert (reference["provider"], reference["array_type"]) == ("reference", "any")
    lines = command(site, "kernels").stdout.splitlines()
    assert lines[0].split()[:2] == ["operation", "provider"]
    assert sum(line.startswith("adam_update ") for line in lines) == len(others) + 2
    (line,) = [line for line in lines if line.startswith("adam_update ") and " turbo " in line]
    (number,) = re.findall(r" no \((\d+)\) ", line)
    assert f"({number}) libturbo is missing" in lines


UNUSABLE = """
    from chainer.core.arrays.kernel import Kernel, register_kernel

    def broken():
        raise SystemExit("broken on purpose")

    def chainer_kernels(registry):
        kernels = [
            Kernel("relu", "absent_library:Array", "absent", "nowhere:K"),
            Kernel("relu", "unknown_library:Array", "unknown", "nowhere:K"),
            Kernel("relu", "numpy:ndarray", "broken", "nowhere:K", unavailable=broken),
            Kernel("relu", "numpy:ndarray", "lost", "nowhere:K"),
            Kernel("relu", "numpy:ndarray", "unnamed", "odd_pack:K"),
            Kernel("relu", "numpy:ndarray", "sound", "odd_pack:broken"),
        ]
        for kernel in kernels:
            register_kernel(kernel, registry)
"""


def test_kernels_for_arrays_that_do_not_exist_here(site: Any) -> None:
    """A kernel without a check of its own needs the library of its arrays."""
    site.add(
        "absent-pack", entry_points={"absent": "absent_pack"}, modules={"absent_pack": BACKEND}
    )
    site.add("odd-pack", entry_points={"odd": "odd_pack"}, modules={"odd_pack": UNUSABLE})
    found = json.loads(command(site, "kernels", "relu", "--json").stdout)
    available = {row["provider"]: row["available"] for row in found}
    assert available["absent"] == "no: absent_library is missing"
    assert available["unknown"] == (
        "no: no installed backend has arrays of the type unknown_library:Array"
    )
    assert available["broken"] == "no: SystemExit: broken on purpose"
    assert available["lost"] == (
        "no: 'nowhere:K' cannot be imported: ModuleNotFoundError: No module named 'nowhere'"
    )
    assert available["unnamed"].startswith("no: 'odd_pack:K' cannot be imported: AttributeError")
    assert available["sound"] == available["reference"] == "yes"
    # The answer of the command about backends.
    (cupy,) = json.loads(command(site, "backends", "cupy", "--json").stdout)
    assert available["cupy"] == ("yes" if cupy["available"] else f"no: {cupy['reason']}")


@pytest.mark.parametrize(
    ("kind", "name", "distribution"),
    [
        ("backends", "jax", "chainer-jax"),
        ("kernels", "numba", "chainer-numba"),
        ("plugins", "onnx", "onnx-chainer"),
        ("plugins", "Chainer.Numba", "chainer-numba"),
        ("plugins", "nothing", None),
        ("functions", "relu", None),
    ],
)
def test_distributions_of_missing_names(
    kind: str, name: str, distribution: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_distributions, "_is_installed", lambda name: False)
    text = known_distributions.suggestion(kind, name)
    if distribution is None:
        assert text is None
    else:
        assert text is not None
        assert f"it is part of the distribution {distribution}, which is not installed" in text
        assert "install" in text.partition(": ")[2]


def test_known_distributions_are_those_of_the_packs() -> None:
    """Every pack of the repository with an entry point is known by it, and no other."""
    found: dict[str, str] = {}
    for file in (ROOT / "packs").glob("*/pyproject.toml"):
        project = tomllib.loads(file.read_text("utf-8"))["project"]
        for name in project.get("entry-points", {}).get("chainer", {}):
            found[name] = project["name"]
    assert found == known_distributions.KNOWN["plugins"]


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
    monkeypatch.setitem(sys.modules, "rich.console", None)  # its import fails
    _output.print_table(("x", "words"), rows)
    _output.print_indented("one two three four five six", "- ", "  ")
    assert capsys.readouterr().out == (
        "x   words\na   one two three four five\n    six seven\nbb\n"
        "- one two three four five\n  six\n"
    )


def test_tables_on_a_terminal_with_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm")
    _output.print_table(("x", "words"), [("a", "[bold]one two three four five six"), ("bb", "")])
    text = capsys.readouterr().out
    assert "\033[1mx" in text  # bold titles
    plain = re.sub(r"\033\[[\d;]*m", "", text).splitlines()
    assert [line.split() for line in plain] == [
        ["x", "words"],
        ["a", "[bold]one", "two", "three", "four"],
        ["five", "six"],
        ["bb"],
    ]


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
    assert cli.main(["plugin"]) == 2
    error = capsys.readouterr().err
    assert "no command 'plugin'; did you mean 'plugins'" in error
    assert "commands are backends, board, certify, doctor," in error
    with pytest.raises(SystemExit) as info:
        cli.main(["--version"])
    assert info.value.code == 0
    assert capsys.readouterr().out == f"chainer {chainer.__version__}\n"


def test_every_command_has_help_and_documentation() -> None:
    found = commands.find()
    assert set(found) == {
        "backends",
        "board",
        "certify",
        "doctor",
        "info",
        "kernels",
        "launch",
        "list",
        "new-plugin",
        "plugins",
        "rescue",
    }
    for name, module in found.items():
        assert module.HELP
        assert f"``chainer {name}``" in (module.__doc__ or "")


def test_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("usage: chainer [-h]")
    assert "explain why a plugin is missing" in said.err


def test_an_operation_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kernels", "OPERATION"]) == 2
    assert capsys.readouterr().err == (
        "chainer kernels: no operation named 'OPERATION'\n"
        "chainer kernels without a name lists all operations\n"
    )

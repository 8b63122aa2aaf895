"""``chainer certify`` on a small plugin, with and without faults."""

import json
import os
import signal
import time

import pytest

import chainer
from chainer.backend import get_backend
from chainer.kernel import Kernel, register_kernel
from chainer.testing.certification import certificate, isolation, report_files, run, subject
from chainer.testing.certification.certificate import Certificate, Result
from chainer.testing.conformance.options import left_out
from tests.testing.planted.other_faults import ALL
from tests.testing.planted.run import certify, judge, start

_EVERY = [
    pytest.param(fault, id=f"{kind}: {fault.name}")
    for kind, faults in ALL.items()
    for fault in faults
]
#: One fault of each kind of plugin; each takes ten seconds.
_SAMPLE = (
    "backend: where swaps its arguments",
    "kernels: a stale kernel",
    "functions: the second gradient is wrong",
)


@pytest.mark.parametrize("fault", [p for p in _EVERY if p.id in _SAMPLE])
def test_finds_the_fault_and_names_the_place(fault):
    assert judge(fault) is None


@pytest.mark.slow
def test_finds_nearly_every_fault():
    """All of them, as ``python -m tests.testing.planted`` prints them."""
    missed = {f"{kind}: {fault.name}": judge(fault) for kind, fs in ALL.items() for fault in fs}
    missed = {name: problem for name, problem in missed.items() if problem}
    assert len(ALL["backend"]) >= 50
    assert not missed


CRASH = """
import os, signal

def backend(names):
    xp = names["xp"]
    xp.cumsum = lambda *a, **k: os.kill(os.getpid(), signal.SIGFPE)
    xp.einsum = lambda *a, **k: __import__("time").sleep(60)
"""


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crash")
    readme = folder / "README.md"
    readme.write_text("# Small\n")
    options = ("--quick", "--only", "contract_arrays", "--seconds-per-test", "8")
    done = certify(folder, "@small", *options, "--readme", str(readme), code=CRASH)
    return folder, done


def test_a_crash_and_a_hang_end_one_test_each(crashed):
    folder, done = crashed
    assert done.returncode == 1, done.stderr
    report = json.loads((folder / "certificate/certificate.json").read_text())
    bad = {r["test"].partition("::")[2]: r for r in report["results"] if r["outcome"] != "passed"}
    assert bad["test_reductions"]["outcome"] == "crashed"
    assert bad["test_reductions"]["message"] == "the process died of SIGFPE"
    assert bad["test_products"]["message"] == "did not end within 8 s"
    assert set(bad) == {"test_reductions", "test_products"}
    assert report["total"]["passed"] > 25
    assert report["verdict"] == "2 failed"
    assert "contract: arrays: test_reductions: the process died of SIGFPE" in done.stdout


@pytest.mark.parametrize(
    ("death", "message"),
    [
        ("__import__('os').kill(__import__('os').getpid(), 11)", "the process died of SIGSEGV"),
        ("__import__('time').sleep(600)", "did not end within 5 s"),
    ],
)
def test_a_pack_that_dies_while_it_is_imported(tmp_path, death, message):
    code = f"{death}\n"
    done = certify(tmp_path, "@small", "--quick", "--seconds-per-test", "5", code=code)
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "certificate/certificate.json").read_text())
    (result,) = report["results"]
    assert result["outcome"] == "crashed"
    assert result["message"] == f"{message} while packs were loaded"
    assert message in done.stdout


def test_files(crashed):
    folder, done = crashed
    names = ("certificate.json", "certificate.html", "certificate.md", "badge.svg")
    assert all(str(folder / "certificate" / name) in done.stdout for name in names)
    page = (folder / "certificate/certificate.html").read_text()
    assert "<title>@small: 2 failed</title>" in page and "<h2>Failures</h2>" in page
    assert ">2 failed</text>" in (folder / "certificate/badge.svg").read_text()
    readme = (folder / "README.md").read_text()
    assert readme.startswith("# Small\n\n" + report_files.BEGIN)
    assert "| backend small | contract: arrays |" in readme


def test_a_package_without_faults(tmp_path):
    done = certify(
        tmp_path,
        "chainer-small",
        "--quick",
        "--only",
        "package_metadata or package_objects or [twice",
    )
    report = json.loads((tmp_path / "certificate/certificate.json").read_text())
    assert done.returncode == 0, done.stdout
    assert report["verdict"] == "passed a selection"
    parts = {group["part"] for group in report["groups"]}
    assert parts == {"package chainer-small", "functions of small on numpy"}
    assert report["facts"]["backend small"]["recorder"] == "none"
    page = (tmp_path / "certificate/certificate.html").read_text()
    assert "None failed." in page and "Failures" not in page


QUICK = """
import os

def backend(names):
    names["SmallBackend"].quick_environment = {"SMALL_COMPILES": "little"}
    if "SMALL_COMPILES" in os.environ:
        print("compiles", os.environ["SMALL_COMPILES"])
        DEATH
    names["xp"].cumsum = lambda *a, **k: 1 / 0
"""


@pytest.mark.parametrize("dies", [False, True])
def test_a_backend_has_an_environment_for_quick_tests(tmp_path, dies):
    """An environment in which the library dies is not used."""
    code = QUICK.replace("DEATH", "os.abort()" if dies else "return")
    done = certify(tmp_path, "@small", "--quick", "--only", "cumsum and forward", code=code)
    report = json.loads((tmp_path / "certificate/certificate.json").read_text())
    fact = report["facts"]["backend small"]["environment of tests"]
    if dies:
        assert fact == "not used, the process died of SIGABRT with SMALL_COMPILES='little'"
    else:
        assert fact == "SMALL_COMPILES='little'"
    # Without the variable, the function of the backend is broken.
    assert done.returncode == dies
    # The report says what the quick form leaves out, and the command for the whole.
    what = left_out(chainer.get_device("@numpy"))
    assert report["not_run"][what] == "chainer certify @small"
    assert f"not run: {what}" in (tmp_path / "certificate/certificate.md").read_text()
    assert what in done.stdout


class Shiny:
    """A plugin whose kernels serve the arrays of tests only if they are told to."""

    def chainer_kernels(self, registry):
        for operation, variables in (("softmax", {"SHINY_SIZES": "all"}), ("relu", {})):
            kernel = Kernel(
                operation, "numpy:ndarray", "shiny", f"shiny:{operation}",
                test_environment=variables,
            )  # fmt: skip
            register_kernel(kernel, registry)


@pytest.mark.parametrize("quick", [False, True])
def test_kernels_have_an_environment_for_tests(monkeypatch, quick):
    plugin = Shiny()
    chainer.plugins.register(plugin)
    try:
        (part,) = subject.parts_of("shiny")
        told = Certificate("shiny", quick, complete=True, versions={})
        limits = isolation.Limits()
        assert run._environment(part, quick, limits, told) == {"SHINY_SIZES": "all"}
        assert told.facts[part.title] == {"environment of tests": "SHINY_SIZES='all'"}
        monkeypatch.setenv("SHINY_SIZES", "few")  # a variable of the user wins
        assert run._environment(part, quick, limits, told) == {}
        (numpy_part,) = subject.parts_of("numpy")
        assert run._environment(numpy_part, quick, limits, told) == {}
    finally:
        chainer.plugins.unregister(plugin)


@pytest.mark.parametrize("variables", ["SIZES=1", {"SIZES": 1}, {1: "SIZES"}, None])
def test_a_wrong_environment_of_a_kernel_is_refused(variables):
    text = "test_environment of the kernel 'softmax/shiny/numpy:ndarray' must be a dict of texts"
    with pytest.raises(TypeError, match=text):
        Kernel("softmax", "numpy:ndarray", "shiny", "shiny:Softmax", test_environment=variables)


@pytest.mark.skipif(
    get_backend("ideep").unavailable_reason() is not None, reason="ideep4py is not installed"
)
def test_the_kernels_of_a_backend_are_tested_where_they_are_off():
    """As iDeep's: they are preferred then, and tested on the arrays of other backends, too."""
    found = subject.parts_of("ideep")
    assert [(part.kind, part.prefers) for part in found] == [("backend", True), ("kernels", False)]
    assert [part.device for part in found] == ["@intel64", "numpy"]
    own, others = map(subject.keys_of, found)
    assert "linear/ideep/ideep4py:mdarray" in own
    assert others
    assert not own & others
    assert not any(part.prefers for part in subject.parts_of("strict"))


def test_unknown_names(tmp_path):
    done = certify(tmp_path, "chainer-smal")
    assert done.returncode == 2
    assert "no backend, kernel provider or plugin is named 'chainer-smal'" in done.stderr
    assert "did you mean 'chainer-small'?" in done.stderr


# -- the certificate itself -----------------------------------------------------------------------


def _certificate(*outcomes, **kwargs):
    made = Certificate("mine", versions={"chainer": "8.0.0"}, **{"quick": False, **kwargs})
    for i, outcome in enumerate(outcomes):
        test = f"test_operations.py::test_forward[relu-float32-{i}]"
        made.results.append(Result("backend mine", test, outcome, text="a < b", message="a < b"))
    return made


@pytest.mark.parametrize(
    ("outcomes", "kwargs", "verdict", "passed"),
    [
        (("passed", "refused"), {}, "certified", True),
        (("passed",), {"quick": True}, "certified (quick)", True),
        (("passed",), {"complete": False}, "passed a selection", True),
        (("passed", "failed", "crashed"), {}, "2 failed", False),
        ((), {}, "nothing tested", False),
    ],
)
def test_verdicts(outcomes, kwargs, verdict, passed):
    made = _certificate(*outcomes, **kwargs)
    assert made.verdict == verdict
    assert made.passed is passed
    assert f">{verdict}</text>" in report_files.badge(made)


def test_names_the_function():
    made = _certificate("failed", "passed")
    assert made.places() == ["F.relu"]
    assert made.summary() == "mine: 1 failed\n  F.relu: test_forward[relu-float32-0]: a < b"


def test_a_table_is_replaced(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"one\n{report_files.BEGIN}\nold\n{report_files.END}\ntwo\n")
    report_files.update_readme(_certificate("passed"), path)
    report_files.update_readme(_certificate("passed"), path)
    text = path.read_text()
    assert "old" not in text
    assert text.startswith("one\n")
    assert text.endswith("\ntwo\n")
    assert text.count("**mine: certified** by Chainer 8.0.0") == 1


def test_pages_escape_texts():
    page = report_files.page(_certificate("failed"))
    assert "a &lt; b" in page
    assert "a < b" not in page


def test_outcomes_of_a_kind_are_listed():
    assert set(_certificate("passed").total()) == set(certificate.OUTCOMES)


# -- the end of the process -----------------------------------------------------------------------

SLEEP = """
import os, subprocess, sys, time

def backend(names):
    def wait(*args, **kwargs):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(os.environ["PIDS_FILE"], "w") as file:
            file.write(f"{os.getpid()} {child.pid}\\n")
        time.sleep(600)
    names["xp"].cumsum = wait
"""


def _is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="it reads /proc")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
def test_workers_end_with_the_program(tmp_path, name):
    pids = tmp_path / "pids"
    options = ("--quick", "--only", "test_reductions and contract_arrays")
    # Programs inherit ignored signals, and `nohup` ignores SIGHUP.
    before = None if name == "SIGKILL" else signal.signal(getattr(signal, name), signal.SIG_DFL)
    process = start(tmp_path, "@small", *options, code=SLEEP, PIDS_FILE=str(pids))
    if before is not None:
        signal.signal(getattr(signal, name), before)
    until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    workers = [int(pid) for pid in pids.read_text().split()]
    assert all(map(_is_running, workers))
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=30)
    assert process.returncode != 0
    until(lambda: not any(map(_is_running, workers)))


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)

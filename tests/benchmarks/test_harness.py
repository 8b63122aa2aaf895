"""The plumbing of the benchmarks, on programs without a framework. Nothing here is timed."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import peers as peers_module
from benchmarks.cli import default_peers, default_threads, list_benchmarks, main, uses_processes
from benchmarks.client import Client, WorkerError
from benchmarks.driver import PROGRAMS, Options, Result, Row, run_benchmark
from benchmarks.machine import PREFIXES, describe_machine
from benchmarks.peers import Peer, find_peer
from benchmarks.report import format_result, geometric_mean, ratios

SAMPLES = Path(__file__).parent / "programs"
QUICK = Options(rounds=2, sample_seconds=0.0, programs=SAMPLES)


@pytest.fixture(autouse=True)
def no_packages(monkeypatch):
    """Workers describe Python alone: the samples need no framework."""
    monkeypatch.setattr(peers_module, "PACKAGES", {})


def peer(name: str, framework: str = "chainer", **arguments) -> Peer:
    return Peer(name, framework, sys.executable, **arguments)


@pytest.fixture(scope="module")
def dummy() -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(peers_module, "PACKAGES", {})
        gone = peer("gone", unavailable="not set up")
        return run_benchmark("dummy", [peer("ours"), peer("twin"), gone], QUICK)


def row(result: Result, label: str) -> Row:
    return next(row for row in result.rows if row.label == label)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux pins processes")
@pytest.mark.parametrize("is_pinned", [True, False])
def test_workers_run_on_as_many_processors_as_they_have_threads(is_pinned):
    client = Client(peer("ours"), threads=1, is_pinned=is_pinned)
    try:
        client.ask("describe", packages=[])
        found = os.sched_getaffinity(client._process.pid)
    finally:
        client.close()
    assert len(found) == (1 if is_pinned else len(os.sched_getaffinity(0)))


def test_benchmarks_of_several_processes_are_not_pinned():
    assert uses_processes(PROGRAMS, "data")
    assert not uses_processes(PROGRAMS, "mlp")


def test_each_peer_gets_one_sample_per_round(dummy):
    samples = row(dummy, "plain").samples
    assert {name: len(values) for name, values in samples.items()} == {"ours": 2, "twin": 2}


def test_phases_are_rows_and_hidden_ones_are_not(dummy):
    labels = [row.label for row in dummy.rows if row.case == "phases"]
    assert labels == ["phases first", "phases second"]


def test_missing_case_is_not_an_error(dummy):
    assert dummy.missing["missing", "ours"] == "this framework lacks it"
    assert "n/a" in format_result(dummy)


def test_cases_missing_for_one_reason_share_a_line(dummy):
    names = [f"case {i}" for i in range(8)]
    missing = {(name, "twin"): "cannot count" for name in names}
    text = format_result(dataclasses.replace(dummy, missing={**dummy.missing, **missing}))
    assert text.count("cannot count") == 1
    assert "   n/a: 8 cases; twin: cannot count" in text
    assert "   n/a: missing; ours: this framework lacks it" in text


def test_errors_of_a_program_are_shown_with_their_origin(dummy):
    text = format_result(dummy)
    assert "ERROR ours: setup {'case': 'broken'}" in text
    assert "ValueError: broken on purpose" in text
    assert "dummy.py:" in text
    assert 'raise ValueError("broken on purpose")' not in text  # no source text of what is measured


def test_death_of_a_worker_is_shown(dummy):
    assert any("stopped with status 3" in error for error in dummy.errors)


def test_differing_results_are_noted(dummy):
    assert [note for note in dummy.notes if note.startswith("different: twin and ours differ")]
    assert not [note for note in dummy.notes if note.startswith("plain")]


def test_unavailable_peer_is_named_and_does_not_fail(dummy):
    assert "gone: peer not available (not set up)" in format_result(dummy)


def test_budgets_are_judged(dummy):
    text = format_result(dummy)
    assert "budget: each ours/twin <= 1000000000.00: met" in text
    assert "budget: geometric mean of ours/twin <= 0.00: MISSED" in text
    assert "budget: ours, 'phases first' / 'phases second' <= 0.00: MISSED" in text
    assert "budget: ours, 'phases first' / 'phases first' <= 1.00: met, 1.00" in text


def test_budgets_of_some_rows():
    samples = {"ours-ideep": [3.0], "torch": [2.0]}
    result = Result(
        "made up",
        base="ours-ideep",
        peers=["ours-ideep", "torch"],
        budgets={"ours-ideep/torch": {"": 2.0, "model": 1.0, "model, slow": 1.6}},
        rows=[Row("net", "", samples), Row("model", "", samples), Row("model, slow", "", samples)],
    )
    text = format_result(result)
    assert "torch/ours-ideep" in text
    assert "torch/ours-ideep: geometric mean 0.67, minimum 0.67" in text
    assert "each other ours-ideep/torch <= 2.00: met" in text
    assert "each 'model' ours-ideep/torch <= 1.00: MISSED by 1 of 1: model 1.50" in text
    assert "each 'model, slow' ours-ideep/torch <= 1.60: met" in text


def test_budgets_of_the_best_column():
    rows = [
        Row("net", "", {"ours": [4.0], "ours-fast": [3.0], "torch": [2.0]}),
        Row("net, captured", "", {"ours": [2.5], "ours-fast": [5.0]}),
        Row("model", "", {"ours": [9.0], "torch": [2.0]}),
    ]
    result = Result(
        "made up",
        peers=["ours", "ours-fast", "torch"],
        best_budgets={"torch": {"net": 1.25, "model": 1.25, "no such": 1.0}, "jax": {"net": 1.0}},
        rows=rows,
    )
    text = format_result(result)
    assert "best of ours/torch, 'net' <= 1.25: met, 1.25 (net, captured of ours)" in text
    assert "best of ours/torch, 'model' <= 1.25: MISSED, 4.50 (model of ours)" in text
    assert text.count("budget:") == 2


def test_budgets_compare_with_the_base_and_the_best_peer():
    fast = {"ours": [9.0], "ours-fast": [2.0], "torch": [3.0], "jax": [1.5]}
    slow = {"ours": [9.0], "ours-fast": [4.0], "torch": [3.0]}
    result = Result(
        "made up",
        base="ours-fast",
        peers=["ours", "ours-fast", "torch", "jax"],
        budgets={"torch": {"eager": 1.0}, "best": {"captured": 1.0}},
        mean_budgets={"best": {"captured": 1.2}, "torch": 2.0},
        rows=[Row("eager: net", "", slow), Row("captured: net", "", fast)],
    )
    text = format_result(result)
    assert "each 'eager' ours-fast/torch <= 1.00: MISSED by 1 of 1: eager: net 1.33" in text
    assert "each 'captured' ours-fast/best <= 1.00: MISSED by 1 of 1: captured: net 1.33" in text
    assert "geometric mean of each 'captured' ours-fast/best <= 1.20: MISSED, 1.33" in text
    assert "geometric mean of ours-fast/torch <= 2.00: met, 0.94" in text


def test_the_short_form_leaves_compilers_out():
    assert "jax" in default_peers(PROGRAMS, "fast")
    assert default_peers(PROGRAMS, "fast", is_quick=True) == ["ours-fast", "torch"]
    assert default_peers(PROGRAMS, "mlp", is_quick=True) == default_peers(PROGRAMS, "mlp")


def test_numbers_of_threads_of_a_benchmark():
    assert default_threads(PROGRAMS, "ideep") == [1, 2]
    assert default_threads(SAMPLES, "dummy") == [1]


def test_what_ideep_is_judged_by():
    pytest.importorskip("ideep4py", exc_type=ImportError)
    worker = Client(peer("ours-ideep"), threads=1)
    try:
        program = PROGRAMS / "with_chainer" / "ideep.py"
        loaded = worker.ask("load", program=str(program), ideep=True)
    finally:
        worker.close()
    assert loaded["base"] == "ours-ideep"
    assert set(loaded["budgets"]) == {"ours-ideep/upstream-ideep", "ours-ideep/torch"}
    assert len(loaded["cases"]) == 6


def test_rounds_are_interleaved_and_rotate(tmp_path, monkeypatch):
    turns = tmp_path / "turns"
    monkeypatch.setenv("BENCHMARK_TURNS", str(turns))
    options = Options(rounds=3, sample_seconds=1.0, programs=SAMPLES)
    result = run_benchmark("turns", [peer("ours"), peer("twin")], options)
    assert not result.errors
    a, b, *taken = turns.read_text().split()  # the first two are the warm-up calls
    assert taken == [a, b, b, a, a, b]
    assert row(result, "note").samples == {"ours": [5e6] * 3, "twin": [5e6] * 3}
    assert "5 (5)" in format_result(result)


def test_cases_that_only_one_framework_has(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHMARK_TURNS", str(tmp_path / "turns"))
    result = run_benchmark("turns", [peer("ours"), peer("torch", "torch")], QUICK)
    assert [row.label for row in result.rows] == ["note", "other"]
    assert set(row(result, "other").samples) == {"torch"}


def test_benchmark_without_program():
    with pytest.raises(ValueError, match="no chosen peer has a program named 'absent'"):
        run_benchmark("absent", [peer("ours")], QUICK)


def test_no_answer_in_time(tmp_path):
    program = tmp_path / "slow.py"
    program.write_text('"""Slow."""\nimport time\ntime.sleep(60)\nCASES = {}\n')
    client = Client(peer("ours"), threads=1, timeout=0.5)
    try:
        with pytest.raises(WorkerError, match=r"no answer to .load. in 0\.5 s; worker ended"):
            client.ask("load", program=str(program), ideep=False)
        assert not client.alive
    finally:
        client.close()


def test_a_worker_that_died_says_its_last_words(tmp_path):
    program = tmp_path / "dying.py"
    program.write_text(
        '"""Dies."""\nimport os, signal, sys\n'
        'print("out of luck", file=sys.stderr, flush=True)\n'
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    client = Client(peer("twin"), threads=1)
    try:
        with pytest.raises(WorkerError) as caught:
            client.ask("load", program=str(program), ideep=False)
        text = str(caught.value)
        assert "twin: the worker stopped with status -9 (SIGKILL) at 'load'" in text
        assert text.endswith("out of luck")
        with pytest.raises(WorkerError, match="twin: the worker stopped"):  # the pipe is broken
            client.ask("drop", padding="x" * 100_000)
    finally:
        client.close()  # and what was not written does not matter


def test_missing_package_makes_a_peer_unavailable(monkeypatch):
    monkeypatch.setattr(peers_module, "PACKAGES", {"chainer": ["no_such_package"]})
    result = run_benchmark("dummy", [peer("ours")], QUICK)
    assert "has no package no_such_package" in result.unavailable["ours"]
    assert not result.errors


def test_peers_that_were_not_set_up(tmp_path):
    found = find_peer("upstream", folder=tmp_path)
    assert found.unavailable is not None
    assert "setup_peers.py" in found.unavailable
    with pytest.raises(ValueError, match="expected one of ours"):
        find_peer("theirs")


def test_earlier_state():
    assert find_peer("before", before="/there/bin/python").python == "/there/bin/python"
    assert "--before" in str(find_peer("before").unavailable)


def test_ratios_and_geometric_mean():
    result = Result("made up", rows=[Row("a", "", {"ours": [2.0, 1.0], "peer": [3.0, 4.0]})])
    assert ratios(result, "peer") == {"a": 3.0}
    assert geometric_mean([1.0, 4.0]) == 2.0


def test_command_line(tmp_path, capsys):
    file = tmp_path / "out.json"
    arguments = ["dummy", "--quick", "--peers", "ours", "--programs", str(SAMPLES)]
    assert main([*arguments, "--case", "pla", "--json", str(file)]) == 0
    assert "dummy: Sample benchmark" in capsys.readouterr().out
    document = json.loads(file.read_text())
    assert [row["case"] for row in document["benchmarks"][0]["rows"]] == ["plain"]
    assert main([*arguments, "--case", "broken"]) == 1
    capsys.readouterr()
    assert main([*arguments, "--case", "plian"]) == 1
    assert "contains 'plian'; there are: ['plain'" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["absent", "--programs", str(SAMPLES)])
    assert "no benchmark named absent" in capsys.readouterr().err


def test_list(capsys):
    assert main(["--list", "--programs", str(SAMPLES)]) == 0
    assert capsys.readouterr().out.split()[0] == "dummy"


def test_every_benchmark_has_a_title():
    assert all(list_benchmarks(PROGRAMS).values())


def test_worker_imports_the_standard_library_alone():
    worker = PROGRAMS / "worker.py"
    program = f"import sys, runpy; runpy.run_path({str(worker)!r}); print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    known = set(sys.stdlib_module_names) | {"bench_case", "__main__", "_distutils_hack"}
    assert {name.partition(".")[0] for name in modules} <= known


def test_the_machine_has_the_settings_of_libraries(monkeypatch):
    for name in list(os.environ):
        if name.startswith(PREFIXES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert describe_machine()["settings of libraries"] == "none"
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert describe_machine()["settings of libraries"] == {"OPENBLAS_CORETYPE": "Haswell"}

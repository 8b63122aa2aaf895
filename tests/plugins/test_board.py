"""The web page of runs."""

import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from contextlib import suppress
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pytest

from chainer.plugins import cli
from chainer.plugins.board import log_reader
from chainer.plugins.board import server as server_module
from chainer.plugins.board.files import open_inside
from chainer.plugins.board.log_reader import LogReader
from chainer.plugins.board.server import BoardServer
from chainer.training.extensions.logs.growing_json import GrowingJsonFile
from tests.plugins.board_server import answer_at, results, serving

__all__ = ["results"]  # a fixture


def log_of(run):
    """Returns the entries in an answer as a log has them."""
    pairs = zip(run["shapes"], run["rows"], strict=True)
    return [dict(zip(run["keys"][shape], row, strict=True)) for shape, row in pairs]


def entries_of(reader):
    return log_of(json.loads(b"{" + reader.entries() + b"}"))


def runs_at(url):
    answer = answer_at(url)
    assert answer["names"] == list(answer["runs"])
    return {name: run | {"log": log_of(run)} for name, run in answer["runs"].items()}


def test_runs(results):
    with serving(results) as url:
        runs = runs_at(url)
        assert list(runs) == ["first", "group/second"]
        first = runs["first"]
        assert [entry["epoch"] for entry in first["log"]] == [1, 2, 3]
        # Those of the optimizer, as LogReport writes them, and those of the program.
        found = first["hyperparameters"]
        assert found["optimizer"] == "SGD" and found["optimizer.lr"] == 0.01
        assert found["batch"] == 4 and found["rate"] is None
        assert first["resources"]["peak_memory_bytes"] > 1 << 20
        assert first["resources"]["cpu_seconds"] > 0
        assert first["pictures"] == ["loss plot.png"] and len(first["snapshots"]) == 3
        with urlopen(url + "files/first/loss%20plot.png") as response:
            assert response.read() == b"\x89PNG"
            assert response.headers["Content-Type"] == "image/png"
        # A training that goes on, and one that is broken.
        (results / "group" / "second" / "log").write_text('[{"iteration": 1, "a": Infinity}]')
        (results / "first" / "log").write_text("[{")
        runs = runs_at(url)
        assert runs["group/second"]["log"] == [{"iteration": 1, "a": None}]
        assert runs["first"]["log"] == [] and runs["first"]["problem"].startswith("log: ")


def test_only_what_is_new_is_sent(results):
    log = json.loads((results / "first" / "log").read_text())
    (results / "first" / "log").write_text(json.dumps(log))
    with serving(results) as url:
        state = answer_at(url)["state"]
        assert answer_at(url, state)["runs"] == {}
        log.append(log[-1] | {"iteration": 99})
        (results / "first" / "log").write_text(json.dumps(log))
        answer = answer_at(url, state)
        assert list(answer["runs"]) == ["first"] and answer["names"] == ["first", "group/second"]
        # The last entry of before may have changed: it comes again.
        assert answer["runs"]["first"]["from"] == 2
        assert [entry["iteration"] for entry in log_of(answer["runs"]["first"])][1:] == [99]
        assert answer_at(url, answer["state"])["runs"] == {}
        # What an older page asks for is not forgotten, and another log is sent whole.
        assert answer_at(url, state)["runs"]["first"]["from"] == 2
        (results / "first" / "log").write_text('[{"iteration": 1}]')
        assert answer_at(url, answer["state"])["runs"]["first"]["from"] == 0
        # States of another server, and wrong ones.
        for other in ("", "0-1", state + "0", "x", "-", f"{state.partition('-')[0]}-{'9' * 50}"):
            assert set(answer_at(url, other)["runs"]) <= {"first", "group/second"}
        assert len(answer_at(url, "00000000-99")["runs"]) == 2
        (results / "first" / "log").unlink()
        answer = answer_at(url, state)
        assert answer["names"] == ["group/second"] and "first" not in answer["runs"]


@pytest.mark.parametrize(
    "path", ["other", "files/secret.png", "files/first/log", "files/first/..%2Fsecret.png"]
)
def test_nothing_else_is_served(results, path):
    with serving(results) as url, pytest.raises(HTTPError, match="404") as caught:
        urlopen(url + path)
    caught.value.close()


def entries(n, keys=()):
    return [{"iteration": i, "epoch": 1, **{key: i / 8 for key in keys}} for i in range(1, n + 1)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("5", "log: not a list"),
        ("null", "log: not a list"),
        ("", "log: not a list"),
        ("[" * 100_000, "log: nested too deeply"),
        ('[{"a": 1} {"b": 2}]', "log: expected ',' or ']' after entry 1"),
        ('[{"a": 1}, {"b": ', "log: Expecting value"),
        ("[1, 2, null]", ""),
        ('[{"a": {"b": [NaN, Infinity]}, "c": "\\ud800"}]', ""),
        ('[{"a": ' + "[" * 200 + "]" * 200 + "}]", ""),
        ('[{"a": "' + "x" * 5_000_000 + '"}]', "log: entry 1 is larger than 4 MiB"),
    ],
)
def test_one_bad_run_does_not_hide_others(results, text, problem):
    (results / "first" / "log").write_text(text)
    (results / "first" / "args").write_text('{"rate": [NaN, {"x": -Infinity}], "name": "ä"}')
    with serving(results) as url:
        runs = runs_at(url)
        assert runs["first"]["problem"].startswith(problem), runs["first"]["problem"]
        assert bool(runs["first"]["problem"]) == bool(problem)
        assert runs["first"]["hyperparameters"]["rate"] == [None, {"x": None}]
        assert len(runs["group/second"]["log"]) == 3


@pytest.mark.parametrize("text", ["[" * 100_000, "5", '{"a": ' + "9" * 10_000 + "}", "{}" * 10**6])
def test_bad_descriptions(results, text):
    (results / "first" / "args").write_text(text)
    (results / "first" / "log.about.json").write_text(text)
    with serving(results) as url:
        assert runs_at(url)["first"]["hyperparameters"] == {}
        assert len(runs_at(url)["group/second"]["log"]) == 3


def request(url, **headers):
    """Returns the status and the headers of a response."""
    connection = HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=10)
    connection.putrequest("GET", urlsplit(url).path, skip_host=True)
    for name, value in headers.items():
        for one in value if isinstance(value, list) else [value]:
            connection.putheader(name.replace("_", "-"), one)
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers


def test_requests_of_others_are_refused(results):
    with serving(results) as url:
        local = urlsplit(url).netloc
        for host in (local, "localhost:8008", "LOCALHOST", "[::1]:9000"):
            assert request(url + "api/runs", Host=host)[0] == 200, host
        foreign = ("evil.example", "127.0.0.1.evil.example:8008", "localhost@evil", "10.0.0.1", "")
        for host in foreign:
            for path in ("", "api/runs", "files/first/loss%20plot.png", "none"):
                assert request(url + path, Host=host)[0] == 403, (host, path)
        assert request(url)[0] == 403  # no name at all
        assert request(url, Host=[local, "evil.example"])[0] == 403
        ours = {"Host": local, "Origin": f"http://{local}", "Sec_Fetch_Site": "same-origin"}
        assert request(url + "api/runs", **ours)[0] == 200
        for other in ("http://evil.example", "null", "http://localhost:1", f"https://{local}"):
            assert request(url + "api/runs", Host=local, Origin=other)[0] == 403, other
        for site in ("cross-site", "same-site"):
            assert request(url + "api/runs", Host=local, Sec_Fetch_Site=site)[0] == 403
            assert request(url, Host=local, Sec_Fetch_Site=site)[0] == 200  # a link to the page


def test_headers(results):
    program = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    (results / "first" / "plot.svg").write_text(program)
    (results / "first" / "page.PNG").write_text("<script>alert(1)</script>")
    with serving(results) as url:
        host = urlsplit(url).netloc
        found = {
            path: request(url + path, Host=host)[1]
            for path in ("", "api/runs", "files/first/plot.svg", "files/first/page.PNG", "none")
        }
        for headers in found.values():
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "Access-Control-Allow-Origin" not in headers
        assert "sandbox" in found["files/first/plot.svg"]["Content-Security-Policy"]
        assert "script-src" not in found["files/first/plot.svg"]["Content-Security-Policy"]
        assert found["files/first/plot.svg"]["Content-Type"] == "image/svg+xml"
        assert found["files/first/page.PNG"]["Content-Type"] == "image/png"
        assert found["api/runs"]["Content-Type"] == "application/json"
        policy = found[""]["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe-inline" not in policy


def test_links_do_not_lead_out(results, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.png").write_bytes(b"secret")
    (outside / "args").write_text('{"password": "secret"}')
    (outside / "log").write_text('[{"secret": 1}]')
    (results / "first" / "out.png").symlink_to(outside / "secret.png")
    (results / "first" / "inside.png").symlink_to(results / "first" / "loss plot.png")
    (results / "first" / "args").unlink()
    (results / "first" / "args").symlink_to(outside / "args")
    (results / "elsewhere").symlink_to(outside)
    (results / "latest").symlink_to(results / "first")
    (results / "circle").symlink_to(results / "circle")
    (results / "linked").mkdir()
    (results / "linked" / "log").symlink_to(outside / "log")
    os.mkfifo(results / "first" / "pipe.png")
    with serving(results) as url:
        runs = runs_at(url)
        assert list(runs) == ["first", "group/second", "latest"]
        assert "secret" not in json.dumps(runs["first"]["hyperparameters"])
        for name, status in (("out", 404), ("inside", 200), ("pipe", 404)):
            path = f"{url}files/first/{name}.png"
            assert request(path, Host="localhost")[0] == status, name


def test_polls_while_files_are_replaced(results):
    """Snapshots rotate, the log grows and runs are removed: no poll fails."""
    stop = threading.Event()

    def rotate():
        file, number = GrowingJsonFile(), 0
        while not stop.is_set():
            number += 1
            large = {f"key {i}": i for i in range(300 if number % 7 == 0 else 1)}
            file.write(str(results / "first" / "log"), entries(number % 50, large))
            (results / "first" / f"snapshot_iter_{number}").write_bytes(b"x")
            (results / "first" / f"snapshot_iter_{number - 2}").unlink(missing_ok=True)
            other = results / f"run{number % 3}"
            other.mkdir()
            (other / "log").write_text("[]")
            shutil.rmtree(other)

    thread = threading.Thread(target=rotate)
    thread.start()
    try:
        with serving(results) as url:
            for _ in range(100):
                assert len(runs_at(url)["group/second"]["log"]) == 3
    finally:
        stop.set()
        thread.join()


class TestLongLogs:
    def test_only_what_is_new_is_read(self, tmp_path, monkeypatch):
        """Also where LogReport exchanges two copies of the file and keeps space at its end."""
        log, all_entries = GrowingJsonFile(), []
        reader = LogReader(tmp_path / "log", tmp_path, 1 << 30)
        decoded = []
        add = LogReader._add
        monkeypatch.setattr(LogReader, "_add", lambda *a: decoded.append(1) or add(*a))
        for number in range(1, 400):
            keys = [f"key {i}" for i in range(300 if number % 5 == 0 else 3)]
            all_entries.append({"iteration": number, **{key: number / 8 for key in keys}})
            log.write(str(tmp_path / "log"), all_entries)
            reader.update(time.monotonic() + 60)
            assert reader.total == number and not reader.problem and reader.share == 1
        assert entries_of(reader) == all_entries
        assert len(decoded) == 398
        log.close()  # the spaces are gone: it is read again
        reader.update(time.monotonic() + 60)
        assert entries_of(reader) == all_entries

    @pytest.mark.parametrize("indent", [None, 4])
    @pytest.mark.parametrize("text", ["plain", "umläut \u2028 \U0001f600"])
    def test_pieces_end_anywhere(self, tmp_path, monkeypatch, indent, text):
        monkeypatch.setattr(log_reader, "_PIECE", 7)
        wanted = [{"iteration": i, text: i * 1e3, "none": None, "t": [text]} for i in range(40)]
        whole = json.dumps(wanted, indent=indent, ensure_ascii=False).replace("}", " " * 50 + "}")
        (tmp_path / "log").write_text(whole)
        reader = LogReader(tmp_path / "log", tmp_path, 1 << 30)
        while reader.share < 1:  # a call reads one entry at least
            reader.update(0)
            assert not reader.problem
        assert entries_of(reader) == wanted

    def test_another_log_of_the_same_name(self, tmp_path):
        reader = LogReader(tmp_path / "log", tmp_path, 1 << 20)
        for count, key in ((50, "a"), (60, "b"), (3, "b"), (0, "b")):
            (tmp_path / "log").write_text(json.dumps(entries(count, [key])))
            reader.update(time.monotonic() + 60)
            assert entries_of(reader) == entries(count, [key])
        # The same length and end.
        for first in (1, 2):
            (tmp_path / "log").write_text(json.dumps([{"a": first}, *entries(60, ["a"])]))
            reader.update(time.monotonic() + 60)
            assert entries_of(reader)[0] == {"a": first}
        (tmp_path / "log").unlink()
        reader.update(time.monotonic() + 60)
        assert reader.problem == "No such file or directory" and reader.total == 0

    def test_spaces_are_not_kept(self, tmp_path):
        """LogReport leaves space for new entries: a quarter of the log."""
        (tmp_path / "log").write_text(json.dumps(entries(1, ["loss"]))[:-1] + " " * 200_000 + "]")
        reader = LogReader(tmp_path / "log", tmp_path, 1 << 20)
        tracemalloc.start()
        try:
            reader.update(time.monotonic() + 60)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert reader.total == 1 and kept < 50_000

    def test_what_is_kept_is_bounded(self, tmp_path):
        (tmp_path / "log").write_text(json.dumps(entries(20_000, ["loss"])))
        reader = LogReader(tmp_path / "log", tmp_path, 50_000)
        reader.update(time.monotonic() + 60)
        kept = entries_of(reader)
        assert 20_000 < len(reader.entries()) < 52_000 and reader.total == 20_000
        numbers = [entry["iteration"] for entry in kept]
        assert numbers[0] == 1 and numbers[-1] == 20_000
        assert len(set(np.diff(numbers[:-1]))) == 1  # evenly
        # Entries with too many members keep the first ones, and the counts.
        large = [{f"key {i}": i for i in range(5000)} | {"iteration": 1, "epoch": 0}]
        (tmp_path / "log").write_text(json.dumps(large))
        reader.update(time.monotonic() + 60)
        (kept,) = entries_of(reader)
        assert len(reader.entries()) < 50_000 and len(kept) > 1000 and kept["iteration"] == 1

    @pytest.mark.slow
    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
    def test_log_of_53_megabytes(self, tmp_path):
        keys = [f"main/model/layer {i}/W/data/mean" for i in range(20)]
        (tmp_path / "log").write_text(json.dumps(entries(55_000, keys), indent=4))
        assert (tmp_path / "log").stat().st_size > 53e6
        code = """
            import json, re, sys, time
            from pathlib import Path
            from chainer.plugins.board.runs import Runs
            runs, polls, longest, share = Runs(Path(sys.argv[1]), "log"), 0, 0.0, 0.0
            def peak():
                status = Path("/proc/self/status").read_text()
                return int(re.search("VmHWM:[^0-9]*([0-9]+)", status)[1])
            before = peak()
            while share < 1:
                start = time.process_time()
                text = runs.to_json()
                longest = max(longest, time.process_time() - start)
                answer = json.loads(text)["runs"]
                share, polls = answer["."]["read"], polls + 1
            after = peak()
            run = answer["."]
            print(json.dumps([run["entries"], len(text), longest, (after - before) / 1024, polls]))
        """
        command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        count, size, longest, mebibytes, _ = json.loads(done.stdout)
        assert count == 55_000
        assert size < 20e6 and longest < 5 and mebibytes < 250


def test_half_open_connections_are_bounded(results):
    before = threading.active_count()
    with serving(results) as url:
        address = "127.0.0.1", urlsplit(url).port
        waiting = []
        for _ in range(200):
            waiting.append(socket.create_connection(address))
            with suppress(OSError):  # closed already, because it is one of the oldest
                waiting[-1].sendall(b"GET / HTTP/1.1\r\n")
        assert threading.active_count() - before <= 32 + 10  # some are ending
        start = time.monotonic()
        assert len(runs_at(url)) == 2  # a complete request is answered meanwhile
        assert time.monotonic() - start < 5
        for connection in waiting:
            connection.close()


def test_clients_that_read_slowly_share_a_response(results):
    """80 clients ask for all runs and read nothing: they take the memory of one response."""
    rows = [{"epoch": i, "loss": i / 7} for i in range(20_000)]
    (results / "first" / "log").write_text(json.dumps(rows))
    with BoardServer(results) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        waiting = []
        try:
            size = len(server.runs.to_json())
            assert size > 200_000 and server.runs.to_json() is server.runs.to_json()
            tracemalloc.start()
            for _ in range(80):
                waiting.append(socket.create_connection(server.server_address))
                # Buffers of the operating system would take it all.
                waiting[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                with suppress(OSError):
                    waiting[-1].sendall(b"GET /api/runs HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert tracemalloc.get_traced_memory()[1] < 3 * size + 3e6
            assert len(runs_at(server.url)) == 2
        finally:
            tracemalloc.stop()
            for connection in waiting:
                connection.close()
            server.shutdown()
            thread.join()
    (results / "first" / "log").write_text(json.dumps([*rows, {"epoch": 20_000}]))
    assert len(log_of(json.loads(server.runs.to_json())["runs"]["first"])) == 20_001


def test_responses_together_are_bounded(results, monkeypatch):
    """The oldest connection is closed for another one."""
    monkeypatch.setattr(server_module, "_RESPONSE_BYTES", 2500)
    ours, theirs = zip(*(socket.socketpair() for _ in range(4)), strict=True)
    with BoardServer(results) as server:
        for age, connection in enumerate(ours):
            server._open[connection] = float(age)
            server.begin_response(connection, bytes(1000))
        assert list(server._responses) == list(ours[2:])
        assert [connection.recv(1) for connection in theirs[:2]] == [b"", b""]  # shut down
        server.begin_response(ours[0], shared := server._responses[ours[2]])
        assert len(server._responses) == 3 and len(shared) == 1000
        server._open.clear()
    for connection in (*ours, *theirs):
        connection.close()


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="needs openat()")
def test_folders_that_become_links(tmp_path, monkeypatch):
    """A folder that becomes a link between the check of a path and its opening is not followed."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "log").write_text("secret")
    top = tmp_path / "top"
    (top / "run").mkdir(parents=True)
    (top / "run" / "log").write_text("good")
    resolve = type(top).resolve

    def resolve_and_swap(path):
        real = resolve(path)
        os.rename(top / "run", top / "before")
        os.symlink(tmp_path / "outside", top / "run")
        return real

    with open_inside(top / "run" / "log", top) as file:
        assert file.read() == b"good"
    monkeypatch.setattr(type(top), "resolve", resolve_and_swap)
    with pytest.raises(OSError):
        open_inside(top / "run" / "log", top)


def test_slow_connections_end(results, monkeypatch):
    monkeypatch.setattr(server_module, "_CONNECTION_SECONDS", 0.5)
    with (
        serving(results) as url,
        socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=10) as connection,
    ):
        start = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - start < 10:
                connection.sendall(b"G")  # a byte now and then never times out
                time.sleep(0.1)
        assert time.monotonic() - start < 5


def test_errors_of_the_command(tmp_path, capsys):
    assert cli.main(["board", str(tmp_path / "none")]) == 1
    assert "none is not a folder" in capsys.readouterr().err
    with BoardServer(tmp_path) as server:
        port = str(server.server_address[1])
        assert cli.main(["board", str(tmp_path), "--port", port]) == 1
    assert "choose another one by --port" in capsys.readouterr().err
    for port in ("-1", "65536"):
        assert cli.main(["board", str(tmp_path), "--port", port]) == 1
        assert f"--port must be from 0 to 65535, got {port}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"GET http://[ HTTP/1.1", 400),
        (b"GET //[::1/x HTTP/1.1", 404),
        (b"GET /files/%00/a.png HTTP/1.1", 404),
        (b"GET /files/%ff%fe/a.png HTTP/1.1", 404),
        (b"GET /files/..%2f..%2fetc/a.png HTTP/1.1", 404),
        (b"GET /files/%252e%252e%252fsecret.png HTTP/1.1", 404),
        (b"GET /%ed%a0%80 HTTP/1.1", 404),
        (b"GET /api/runs?state=" + b"9" * 60_000 + b" HTTP/1.1", 200),
        (b"GET /api/runs?state=" + b"9" * 70_000 + b" HTTP/1.1", 414),
        (b"GET /api/runs?state=x--5 HTTP/1.1", 200),
        (b"POST /api/runs HTTP/1.1", 501),
        (b"GET http://evil.example/api/runs HTTP/1.1", 403),
        (b"GET http://localhost:80/api/runs HTTP/1.1", 200),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000, 431),
        (b"GET / HTTP/1.1" + b"\r\nX: 1" * 200, 431),
        (b"GET / HTTP/1.1" + b"\r\nHost: localhost", 403),
        (b"GET /api/runs HTTP/1.1\r\nContent-Length: 99999999999", 200),
    ],
)
def test_hostile_requests_get_an_answer(results, line, status, capsys):
    with BoardServer(results) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            with socket.create_connection(server.server_address, timeout=5) as connection:
                # No more than the line where the server does not read on.
                headers = b"" if status in (414, 431) else b"\r\nHost: localhost\r\n\r\n"
                connection.sendall(line + headers)
                answer = connection.recv(1 << 16)
        finally:
            server.shutdown()
            thread.join()
    assert int(answer.split()[1]) == status
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("tail", ["9" * 5000, "-5", "%C2%B2", "%D9%A1", "1e9", "%00", "1_0", ""])
def test_hostile_states_get_all_or_nothing(results, tail):
    with serving(results) as url:
        answer = answer_at(url)
        again = answer_at(url, answer["state"].partition("-")[0] + "-" + tail)
    assert again["names"] == answer["names"]
    assert set(again["runs"]) <= set(answer["runs"])


def test_logs_that_are_no_files(tmp_path):
    for name in ("good", "pipe", "device", "surrogates", "digits"):
        (tmp_path / name).mkdir()
    (tmp_path / "good" / "log").write_text('[{"a": NaN, "b": -Infinity, "epoch": 1}]')
    os.mkfifo(tmp_path / "pipe" / "log")
    (tmp_path / "device" / "log").symlink_to("/dev/zero")
    (tmp_path / "surrogates" / "log").write_text('[{"a\\ud800": "\\udfff"}]')
    (tmp_path / "digits" / "log").write_text('[{"a": ' + "9" * 5000 + "}]")
    with serving(tmp_path) as url:
        runs = answer_at(url)["runs"]
    assert sorted(runs) == ["digits", "good", "surrogates"]
    assert log_of(runs["good"]) == [{"a": None, "b": None, "epoch": 1}]
    assert log_of(runs["surrogates"]) == [{"a\ud800": "\udfff"}]
    assert "5000 digits" in runs["digits"]["problem"]

"""The web page of runs."""

import json
import shutil
import subprocess
import threading
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from chainer.plugins import cli
from chainer.plugins.board.server import BoardServer
from chainer.training import extensions
from tests.training.small_training import make_trainer


@contextmanager
def serving(folder):
    with BoardServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


def runs_at(url):
    with urlopen(url + "api/runs") as response:
        return json.load(response)


@pytest.fixture
def results(tmp_path):
    for name in ("first", "group/second"):
        trainer = make_trainer(tmp_path / name, (3, "epoch"))
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.snapshot())
        trainer.run()
    (tmp_path / "first" / "args").write_text('{"batch": 4, "rate": NaN}')
    (tmp_path / "first" / "loss plot.png").write_bytes(b"\x89PNG")
    (tmp_path / "secret.png").write_bytes(b"no run")
    return tmp_path


def test_runs(results):
    with serving(results) as url:
        runs = runs_at(url)
        assert list(runs) == ["first", "group/second"]
        first = runs["first"]
        assert [entry["epoch"] for entry in first["log"]] == [1, 2, 3]
        assert first["hyperparameters"] == {"batch": 4, "rate": None}
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


@pytest.mark.parametrize(
    "path", ["other", "files/secret.png", "files/first/log", "files/first/..%2Fsecret.png"]
)
def test_nothing_else_is_served(results, path):
    with serving(results) as url, pytest.raises(HTTPError, match="404"):
        urlopen(url + path)


def test_errors_of_the_command(tmp_path, capsys):
    assert cli.main(["board", str(tmp_path / "none")]) == 1
    assert "none is not a folder" in capsys.readouterr().err
    with BoardServer(tmp_path) as server:
        port = str(server.server_address[1])
        assert cli.main(["board", str(tmp_path), "--port", port]) == 1
    assert "choose another one by --port" in capsys.readouterr().err


@pytest.mark.slow
def test_page_in_a_browser(results):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs chromium")
    with serving(results) as url:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000"]
        done = subprocess.run(
            [browser, *options, "--dump-dom", url],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    assert done.stdout.count("<polyline") == 2  # main/loss of two runs
    assert "main/loss" in done.stdout and "group/second" in done.stdout
    assert 'alt="loss plot.png"' in done.stdout

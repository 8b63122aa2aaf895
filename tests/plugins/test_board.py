"""The web page of runs."""

import json
import shutil
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
        trainer.extend(extensions.LogReport(about=True))
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


@pytest.fixture
def page():
    """A page in a browser without a window."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = started.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        yield page
        started.close()


@pytest.mark.slow
def test_page_in_a_browser(results, page):
    with serving(results) as url:
        page.goto(url)
        page.wait_for_selector("polyline")
        curves = page.locator("figure[data-key='main/loss'] polyline")
        assert curves.count() == 2
        assert "group/second" in page.inner_text("#table")
        # Hyperparameters that differ are marked, resources and pictures are there.
        assert "optimizer.lr" in page.inner_text("#hyper") and "SGD" in page.inner_text("#hyper")
        assert page.locator("#hyper td.differs").count() > 0
        assert "MiB" in page.inner_text("#resources")
        assert page.get_attribute("#pictures img", "alt") == "loss plot.png"
        # One run is hidden, and shown again.
        page.get_by_label("group/second").uncheck()
        assert curves.count() == 1 and "group/second" not in page.inner_text("#table")
        page.get_by_label("group/second").check()
        assert curves.count() == 2
        # Another axis, and a logarithmic one.
        before = curves.first.get_attribute("points")
        page.get_by_label("log y").check()
        assert curves.first.get_attribute("points") != before
        page.select_option("#x", "epoch")
        assert page.locator("figure[data-key='main/loss'] text.x").all_text_contents() == ["1", "3"]
        # The training goes on: the page follows without a reload.
        log = results / "group" / "second" / "log"
        entries = json.loads(log.read_text())
        entries.append(entries[-1] | {"epoch": 9, "iteration": 99})
        log.write_text(json.dumps(entries))
        page.wait_for_function("document.querySelector('#table').innerText.includes('99')")
        assert page.errors == []


@pytest.mark.slow
def test_names_cannot_change_the_page(results, page):
    name = "<img src=x onerror=alert(1)>"
    (results / "group" / "second" / "log").write_text(json.dumps([{"iteration": 1, name: 2.0}]))
    with serving(results) as url:
        page.goto(url)
        page.wait_for_selector("figcaption")
        assert name in page.inner_text("#charts")
        assert page.locator("img[src=x]").count() == 0

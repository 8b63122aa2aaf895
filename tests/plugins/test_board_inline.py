"""The board in a notebook: ``chainer.board``."""

import json
import os
import urllib.error
import urllib.request

import pytest

import chainer


def ask(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read(), response.headers


def test_shows_a_folder(tmp_path):
    (tmp_path / "log").write_text(json.dumps([{"main/loss": 0.5, "iteration": 1}]))
    with chainer.board(tmp_path) as view:
        page, headers = ask(view.url)
        assert b"<html" in page
        ancestors = headers["Content-Security-Policy"].partition("frame-ancestors ")[2]
        assert ancestors == "http://localhost:* http://127.0.0.1:* vscode-webview:"
        assert b"main/loss" in ask(view.url + "api/runs")[0]
        html = view._repr_html_()
        assert f'<iframe src="{view.url}"' in html and 'height="600"' in html
        assert repr(view) == f"<Board of {os.fspath(tmp_path)!r}: {view.url}>"
    assert "closed" in repr(view) and "<iframe" not in view._repr_html_()
    with pytest.raises(urllib.error.URLError):
        ask(view.url)
    view.close()  # does nothing twice


def test_a_cell_that_runs_again_opens_no_other(tmp_path):
    with chainer.board(tmp_path) as view:
        assert chainer.board(str(tmp_path), height=300) is view
        assert 'height="300"' in view._repr_html_()
    with chainer.board(tmp_path) as another:
        assert another is not view


def test_bad_arguments(tmp_path):
    with pytest.raises(NotADirectoryError, match="folder must be a folder that exists.*'nothing'"):
        chainer.board("nothing")
    with pytest.raises(ValueError, match="height must be positive, got 0"):
        chainer.board(tmp_path, height=0)


def test_the_command_is_not_shown_in_frames(tmp_path):
    import threading

    from chainer.plugins.board.server import BoardServer

    with BoardServer(tmp_path) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert "frame-ancestors 'none'" in ask(server.url)[1]["Content-Security-Policy"]
        finally:
            server.shutdown()
            thread.join()

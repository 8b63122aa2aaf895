"""A board for a test: its server in a thread, what it answers, and runs to show."""

import json
import threading
from contextlib import contextmanager
from urllib.request import urlopen

import pytest

from chainer.plugins.board.server import BoardServer
from chainer.training import extensions
from tests.training.small_training import make_trainer

__all__ = ["answer_at", "results", "serving"]


@contextmanager
def serving(folder):
    with BoardServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


def answer_at(url, state=""):
    with urlopen(f"{url}api/runs?state={state}") as response:
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

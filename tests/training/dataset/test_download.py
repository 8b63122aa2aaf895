"""The download cache, against a local HTTP server."""

import hashlib
import http.server
import multiprocessing
import os
import pathlib
import re
import signal
import stat
import sys
import threading
import time

import pytest

from chainer import dataset
from chainer.dataset import cache_or_load_file
from chainer.training.dataset import download
from chainer.training.dataset.file_lock import file_lock
from chainer.utils import install_command


class Server(http.server.ThreadingHTTPServer):
    """Serves ``files``; ``cut`` names files that break off."""

    def __init__(self):
        self.files = {}
        self.cut = set()
        self.requests = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        name = self.path[1:]
        self.server.requests.append(name)
        if name not in self.server.files:
            self.send_error(404)
            return
        data = self.server.files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if name in self.server.cut else data)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("pooch")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_root", None)
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(tmp_path))
    return tmp_path


def files_below(root):
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


def test_root(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_root", None)
    monkeypatch.delenv("CHAINER_DATASET_ROOT", raising=False)
    assert dataset.get_dataset_root() == os.path.expanduser("~/.chainer/dataset")
    monkeypatch.setenv("CHAINER_DATASET_ROOT", "/from/environment")
    assert dataset.get_dataset_root() == "/from/environment"
    dataset.set_dataset_root(tmp_path)
    assert dataset.get_dataset_root() == str(tmp_path)


def test_directory(root):
    path = dataset.get_dataset_directory("pfnet/chainer/x", create_directory=False)
    assert path == str(root / "pfnet" / "chainer" / "x")
    assert not os.path.exists(path)
    assert dataset.get_dataset_directory("pfnet/chainer/x") == path
    assert os.path.isdir(path)


def test_download_is_cached_under_the_sum_of_its_url(server, root):
    server.files["data"] = b"contents"
    url = server.url + "data"
    path = dataset.cached_download(url)
    # where 4.3.1 and 7.8.1 put it
    assert path == str(root / "_dl_cache" / hashlib.md5(url.encode()).hexdigest())
    assert pathlib.Path(path).read_bytes() == b"contents"
    assert dataset.cached_download(url) == path
    assert server.requests == ["data"]
    assert len(files_below(root)) == 1


def test_cache_needs_neither_network_nor_pooch(root, monkeypatch):
    url = "http://nowhere.invalid/data"
    cache = root / "_dl_cache" / hashlib.md5(url.encode()).hexdigest()
    cache.parent.mkdir()
    cache.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert dataset.cached_download(url) == str(cache)
    with pytest.raises(
        ImportError, match=re.escape(install_command("chainer[datasets]")) + r"\nadvice"
    ):
        download.download(["http://nowhere.invalid/other"], advice="advice")


@pytest.mark.parametrize("cut", [True, False])
def test_failure_leaves_nothing_and_says_what_to_do(server, root, cut):
    if cut:
        server.files["data"] = bytes(1 << 20)
        server.cut.add("data")
    url = server.url + "data"
    with pytest.raises(OSError, match=f"(?s)could not download.*{url}.*Do it by hand"):
        download.download([url], advice="Do it by hand")
    assert files_below(root) == []


def test_next_server_is_asked(server, root):
    server.files["good/data"] = b"good"
    server.files["bad/data"] = b"corrupted"
    urls = [server.url + name for name in ("missing/data", "bad/data", "good/data")]
    path = download.download(urls, md5=hashlib.md5(b"good").hexdigest(), cache_url=urls[2])
    assert pathlib.Path(path).read_bytes() == b"good"
    assert path == download.cached_path(urls[2])
    assert server.requests == ["missing/data", "bad/data", "good/data"]
    assert download.download(urls) == path


def test_wrong_checksum(server, root):
    server.files["data"] = b"corrupted"
    with pytest.raises(OSError, match="hash"):
        download.download([server.url + "data"], md5="0" * 32)
    assert files_below(root) == []


def test_verification(server, root):
    server.files["data"] = b"corrupted"

    def verify(path):
        raise ValueError("that is nonsense")

    with pytest.raises(OSError, match="that is nonsense"):
        download.download([server.url + "data"], verify=verify)
    assert files_below(root) == []


def test_file_url(root, tmp_path):
    pytest.importorskip("pooch")
    source = tmp_path / "a file"
    source.write_bytes(b"x")
    path = dataset.cached_download(source.as_uri())
    assert pathlib.Path(path).read_bytes() == b"x"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_cache_directory_that_cannot_be_made(server, root):
    root.chmod(0o500)
    with pytest.raises(OSError):
        dataset.cached_download(server.url + "data")


class TestCacheOrLoadFile:
    def create(self, path):
        assert not os.path.exists(path)
        with open(path, "w") as file:
            file.write("contents")
        return "created"

    def load(self, path):
        with open(path) as file:
            return file.read()

    def test_create_and_load(self, tmp_path):
        path = str(tmp_path / "new" / "file.npz")
        names = []

        def create(temporary):
            names.append(temporary)
            return self.create(temporary)

        assert dataset.cache_or_load_file(path, create, self.load) == "created"
        assert dataset.cache_or_load_file(path, create, self.load) == "contents"
        assert len(names) == 1
        assert names[0] != path
        assert os.path.basename(names[0]) == "file.npz"
        assert os.listdir(tmp_path / "new") == ["file.npz"]
        assert stat.S_IMODE(os.stat(path).st_mode) & 0o044 == 0o044

    def test_failure_leaves_nothing(self, tmp_path):
        def create(path):
            self.create(path)
            raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            dataset.cache_or_load_file(str(tmp_path / "file"), create, self.load)
        assert os.listdir(tmp_path) == []

    def test_many_at_once(self, tmp_path):
        path = str(tmp_path / "file")
        barrier = threading.Barrier(8)
        results = []

        def create(temporary):
            barrier.wait(60)
            return self.create(temporary)

        def run():
            results.append(dataset.cache_or_load_file(path, create, self.load))

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == ["created"] * 8
        assert os.listdir(tmp_path) == ["file"]
        assert self.load(path) == "contents"


def hold(path, log, number):
    for _ in range(5):
        with file_lock(path):
            with open(log, "a") as file:
                file.write(f"+{number} ")
            time.sleep(0.002)
            with open(log, "a") as file:
                file.write(f"-{number} ")


def test_only_one_process_holds_a_lock(tmp_path):
    path, log = str(tmp_path / "lock"), tmp_path / "log"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=hold, args=(path, log, i)) for i in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    words = log.read_text().split()
    assert len(words) == 40
    assert all(
        begin[0] == "+" and end == "-" + begin[1:] for begin, end in zip(words[::2], words[1::2])
    )
    # Nothing is left behind.
    assert os.listdir(tmp_path) == ["log"]


def test_lock_of_a_process_that_was_killed(tmp_path):
    path = str(tmp_path / "lock")
    child = os.fork()
    if child == 0:
        with file_lock(path):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert os.path.exists(path)
    with file_lock(path):
        pass
    assert not os.path.exists(path)


@pytest.mark.parametrize("error", [OSError("no locks available"), NotImplementedError(), None])
def test_without_locks(tmp_path, monkeypatch, error):
    """On a file system without locks, or without filelock, the block runs all the same."""

    def refuse(path):
        raise error

    if error is None:
        monkeypatch.setitem(sys.modules, "filelock", None)  # its import fails
    else:
        monkeypatch.setattr("filelock.FileLock", refuse)
    with file_lock(str(tmp_path / "lock")):
        assert os.listdir(tmp_path) == []
    with pytest.raises(OSError, match="of the block"), file_lock(str(tmp_path / "lock")):
        raise OSError("of the block")


def test_processes_download_a_file_once(tmp_path, monkeypatch):
    """The second process finds what the first one downloaded while it waited."""
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(tmp_path / "root"))
    monkeypatch.setattr(download, "_root", None)
    log = tmp_path / "log"

    def retrieve(url, md5, directory, advice):
        with open(log, "a") as file:
            file.write("asked\n")
        time.sleep(0.1)
        path = os.path.join(directory, "file")
        with open(path, "w") as file:
            file.write("content")
        return path

    monkeypatch.setattr(download, "_retrieve", retrieve)
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            with open(download.cached_download("http://example.com/file")) as file:
                os._exit(0 if file.read() == "content" else 1)
        children.append(child)
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert log.read_text() == "asked\n"
    assert len(os.listdir(tmp_path / "root/_dl_cache")) == 1


def test_file_that_another_process_made_meanwhile(tmp_path):
    path = tmp_path / "made.txt"

    def create(temporary):
        path.write_text("by the other one")
        with open(temporary, "w") as file:
            file.write("by this one")
        return "created"

    assert cache_or_load_file(str(path), create, lambda path: "loaded") == "created"
    assert path.read_text() == "by the other one"
    assert os.listdir(tmp_path) == ["made.txt"]

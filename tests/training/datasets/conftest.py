import pytest

from chainer.training.dataset import download
from chainer.training.datasets import fashion_mnist


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty dataset root."""
    directory = tmp_path / "root"
    monkeypatch.setattr(download, "_root", None)
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(directory))
    return directory


@pytest.fixture
def serve(root, monkeypatch):
    """Lets files be downloaded: ``serve({name: content})`` returns what was asked for."""

    def start(files):
        asked = []

        def retrieve(url, md5, directory, advice):
            name = url.rpartition("/")[2]
            asked.append(url)
            if name not in files:
                raise OSError("404")
            path = f"{directory}/{name}"
            with open(path, "wb") as file:
                file.write(files[name])
            return path

        monkeypatch.setattr(download, "_retrieve", retrieve)
        return asked

    return start


@pytest.fixture
def no_system_files(monkeypatch):
    """Hides what Debian's package installs."""
    files = {
        split: tuple(
            type(f)(f.name, f.urls, f.md5, f.cache_url, f.verify, f.alternatives) for f in pair
        )
        for split, pair in fashion_mnist._FILES.items()
    }
    monkeypatch.setattr(fashion_mnist, "_FILES", files)

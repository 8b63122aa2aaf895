"""Downloads through huggingface_hub, and tokenizers: what they are asked for, what is checked."""

import hashlib
import sys
import types

import pytest

import chainer_models as cm


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A package huggingface_hub whose cache is a folder; what it was asked for."""
    asked = {}
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "1"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    name = hashlib.sha256(b"tensors").hexdigest()
    (blobs / name).write_bytes(b"tensors")
    (snapshot / "model.safetensors").symlink_to(blobs / name)

    def snapshot_download(name, **options):
        asked.update(options, name=name)
        return str(snapshot)

    module = types.SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    asked["file"] = blobs / name
    return asked


def test_only_tensors_and_settings_are_downloaded(hub, tmp_path):
    folder = cm.download("a/b", revision="0" * 40)
    assert folder == tmp_path / "snapshots" / "1"
    assert (hub["name"], hub["revision"]) == ("a/b", "0" * 40)
    allowed = hub["allow_patterns"]
    assert "*.safetensors" in allowed
    assert not [p for p in allowed if p.endswith((".bin", ".py", ".pt", ".pkl", "*"))]


def test_a_file_with_another_content_is_refused(hub, tmp_path):
    hub["file"].write_bytes(b"other tensors")
    with pytest.raises(cm.ModelFileError, match=r"is damaged: its SHA-256 is .*, and the hub"):
        cm.download("a/b", revision="main")
    (tmp_path / "snapshots" / "1" / "model.safetensors").unlink()
    (tmp_path / "snapshots" / "1" / "model.safetensors").write_bytes(b"x")
    with pytest.raises(cm.ModelFileError, match="cannot be checked"):
        cm.download("a/b", revision="main")


def test_missing_packages(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r"huggingface_hub is not installed: .*install"):
        cm.download("a/b", revision="main")
    with pytest.raises(ImportError, match=r"tokenizers is not installed: .*install"):
        cm.load_tokenizer(tmp_path)


def test_a_folder_without_tokenizer(tmp_path):
    pytest.importorskip("tokenizers")
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json does not exist"):
        cm.load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(cm.ModelFileError, match="is not a file of a tokenizer"):
        cm.load_tokenizer(tmp_path)

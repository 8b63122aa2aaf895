import os
import stat
import threading

import pytest

from chainer.core.utils.atomic_file import replacing


def write(path, text):
    with replacing(path) as temporary, open(temporary, "w") as file:
        file.write(text)


def test_file_appears_with_the_usual_permissions(tmp_path):
    path = tmp_path / "file"
    write(path, "new")
    assert path.read_text() == "new"
    reference = tmp_path / "reference"
    reference.write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(reference.stat().st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "reference"]


def test_existing_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    write(str(path), "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_old_file_survives_an_error_and_nothing_is_left(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        with open(temporary, "w") as file:
            file.write("half")
        assert path.read_text() == "old"
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_temporary_file_lies_in_the_same_directory(tmp_path):
    with replacing(tmp_path / "file") as temporary:
        assert os.path.dirname(temporary) == str(tmp_path)


def test_symbolic_link_stays_one(tmp_path):
    target = tmp_path / "target"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_missing_directory_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere' does not exist.*nowhere/file"):
        write(tmp_path / "nowhere" / "file", "x")


def test_directory_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError):
        write(tmp_path, "x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_read_only_file_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o400)
    with pytest.raises(PermissionError):
        write(path, "new")


def test_pipe_is_written_directly(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write(path, "through")
    reader.join()
    assert got == ["through"]

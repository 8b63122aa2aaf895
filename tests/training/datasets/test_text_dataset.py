import os
import pathlib
import pickle
import threading

import pytest

from chainer.datasets import TextDataset
from chainer.iterators import MultiprocessIterator


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "letters.txt").write_bytes("a\nbb\r\nç c\n".encode())
    (tmp_path / "numbers.txt").write_bytes(b"1\n2\n3")
    return [str(tmp_path / "letters.txt"), str(tmp_path / "numbers.txt")]


def test_one_file(paths):
    dataset = TextDataset(paths[0])
    assert len(dataset) == 3
    assert dataset[:] == ["a\n", "bb\n", "ç c\n"]
    assert dataset[::-1][0] == dataset[[2]][0] == dataset[2]
    for index in (-1, 3):
        with pytest.raises(IndexError, match=f"index {index} is out of range for 3 lines"):
            dataset[index]
    dataset.close()
    assert len(dataset) == 3
    with pytest.raises(ValueError, match="closed"):
        dataset[0]
    dataset.close()


def test_several_files(paths):
    assert TextDataset(paths)[:] == [("a\n", "1\n"), ("bb\n", "2\n"), ("ç c\n", "3")]
    assert TextDataset(tuple(paths))[1] == ("bb\n", "2\n")
    # As in release 7.8.1.
    assert TextDataset(paths[1:])[:] == ["1\n", "2\n", "3"]
    assert TextDataset(pathlib.Path(paths[1]))[2] == "3"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"newline": ""}, ["a\n", "bb\r\n", "ç c\n"]),
        ({"encoding": "latin-1"}, ["a\n", "bb\n", "Ã§ c\n"]),
        ({"encoding": "ascii", "errors": "ignore"}, ["a\n", "bb\n", " c\n"]),
        ({"encoding": ["utf-8"], "errors": ["strict"]}, ["a\n", "bb\n", "ç c\n"]),
    ],
)
def test_options_of_open(paths, options, expected):
    assert TextDataset(paths[0], **options)[:] == expected


def test_options_for_each_file(paths):
    dataset = TextDataset(paths, encoding=["utf-8", "ascii"], newline=("", None))
    assert dataset[1:] == [("bb\r\n", "2\n"), ("ç c\n", "3")]
    for name in ("encoding", "errors", "newline"):
        with pytest.raises(ValueError, match=f"{name} must be .* 2 files, got 1"):
            TextDataset(paths, **{name: [None]})


@pytest.mark.parametrize(
    ("encoding", "content", "expected"),
    [
        ("utf-16", "a\nbß\n", ["a\n", "bß\n"]),
        ("utf-8-sig", "a\nb", ["a\n", "b"]),
        ("utf-8", "a\rb\r\n\nc", ["a\n", "b\n", "\n", "c"]),
        ("utf-8", "a\x0bb\x0cc\n\u2028d", ["a\x0bb\x0cc\n", "\u2028d"]),
        ("shift_jis", "あ\nいう\n", ["あ\n", "いう\n"]),
        ("utf-8", "", []),
    ],
)
def test_positions_of_lines(tmp_path, encoding, content, expected):
    path = tmp_path / "lines.txt"
    path.write_bytes(content.encode(encoding))
    dataset = TextDataset(path, encoding=encoding)
    assert [dataset[i] for i in reversed(range(len(dataset)))] == expected[::-1]
    dataset.close()


def test_filter(paths):
    assert TextDataset(paths[0], filter_func=lambda line: "b" in line)[:] == ["bb\n"]
    dataset = TextDataset(paths, filter_func=lambda letters, number: number != "2\n")
    assert dataset[:] == [("a\n", "1\n"), ("ç c\n", "3")]
    assert len(TextDataset(paths, filter_func=lambda *lines: 0)) == 0


def test_bad_arguments(paths, tmp_path):
    with pytest.raises(ValueError, match="at least one text file"):
        TextDataset([])
    short = tmp_path / "short.txt"
    short.write_text("x\n")
    with pytest.raises(ValueError, match="number of lines in files does not match"):
        TextDataset([*paths, short])
    with pytest.raises(FileNotFoundError):
        TextDataset(tmp_path / "missing")
    with pytest.raises(UnicodeDecodeError):
        TextDataset(paths[0], encoding="ascii")


def test_pickle(paths):
    dataset = TextDataset(paths, filter_func=keep_odd)
    copied = pickle.loads(pickle.dumps(dataset))
    dataset.close()
    assert copied[:] == [("a\n", "1\n"), ("ç c\n", "3")]
    copied.close()


def keep_odd(letters, number):
    return int(number) % 2


def test_all_files_are_closed_if_closing_one_fails(paths):
    dataset = TextDataset(paths)
    opened = [file.get() for file in dataset._files]

    class Broken:
        def close(self):
            opened[1].close()
            raise OSError("disk is gone")

    dataset._files[1]._file = Broken()
    with pytest.raises(OSError, match="disk is gone"):
        dataset.close()
    assert all(file.closed for file in opened)


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text("".join(f"{i} {'x' * (i % 50)}\n" for i in range(300)))
    dataset = TextDataset(path)
    yield dataset
    dataset.close()


def reads_right(dataset):
    return all(dataset[i].startswith(f"{i} ") for _ in range(5) for i in range(len(dataset)))


def test_threads_share_the_file(numbers):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(reads_right(numbers))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_forked_process_has_a_position_of_its_own(numbers):
    child = os.fork()
    if child == 0:
        os._exit(0 if reads_right(numbers) else 1)
    assert reads_right(numbers)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_multiprocess_iterator(numbers):
    with MultiprocessIterator(numbers, 50, n_processes=2, shuffle=False, repeat=False) as iterator:
        assert [int(line.split()[0]) for batch in iterator for line in batch] == list(range(300))

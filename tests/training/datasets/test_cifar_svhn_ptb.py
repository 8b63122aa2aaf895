import gzip
import io
import pickle
import sys
import tarfile

import numpy as np
import pytest

import chainer
from chainer import datasets
from chainer.serializers import FileFormatError
from chainer.training.datasets import cifar, ptb, svhn


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def pixels(n, seed, shape=(3072,)):
    return np.random.RandomState(seed).randint(0, 256, (n, *shape)).astype(np.uint8)


# -- CIFAR ---------------------------------------------------------------------


def archive(members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def batch(n, seed, **labels):
    return pickle.dumps({"data": pixels(n, seed), "batch_label": "x", **labels}, protocol=2)


CIFAR10 = archive(
    {
        "cifar-10-batches-py/readme.html": b"hello",
        **{
            f"cifar-10-batches-py/data_batch_{i}": batch(3, i, labels=[i, 0, 9])
            for i in range(1, 6)
        },
        "cifar-10-batches-py/test_batch": batch(4, 9, labels=[3, 2, 1, 0]),
    }
)
CIFAR100 = archive(
    {
        f"cifar-100-python/{name}": batch(n, n, fine_labels=[99] * n, coarse_labels=[1] * n)
        for name, n in (("train", 6), ("test", 4))
    }
)
CIFAR = {
    "cifar-10": (datasets.get_cifar10, CIFAR10, 15, 4),
    "cifar-100": (datasets.get_cifar100, CIFAR100, 6, 4),
}


@pytest.mark.parametrize("name", CIFAR)
@pytest.mark.parametrize("source", ["directory", "download"])
def test_cifar(root, serve, name, source):
    get, data, n_train, n_test = CIFAR[name]
    directory = root / "pfnet/chainer/cifar"
    if source == "directory":
        write(directory / f"{name}-python.tar.gz", data)
    else:
        serve({f"{name}-python.tar.gz": data})
    for _ in range(2):
        train, test = get()
        assert (len(train), len(test)) == (n_train, n_test)
        x, t = train[0]
        assert (x.dtype, x.shape, t.dtype) == (np.float32, (3, 32, 32), np.int32)
    assert int(t) == {"cifar-10": 1, "cifar-100": 99}[name]
    first = pixels(3, 1) if name == "cifar-10" else pixels(6, 6)
    np.testing.assert_allclose(x.ravel(), first[0] / 255, rtol=1e-6)
    if source == "download":
        with np.load(directory / f"{name}.npz") as npz:
            shapes = {key: npz[key].shape for key in npz}
            assert all(npz[key].dtype == np.uint8 for key in npz)
        assert shapes == {
            **{"train_x": (n_train, 3072), "train_y": (n_train,)},
            **{"test_x": (n_test, 3072), "test_y": (n_test,)},
        }
    train, _ = get(withlabel=False, ndim=1, scale=255)
    np.testing.assert_array_equal(train[0], first[0])
    with pytest.raises(ValueError, match="invalid ndim for CIFAR dataset"):
        get(ndim=2)


class Evil:
    def __reduce__(self):
        return (print, ("this must never be printed",))


def test_large_member_of_cifar(root, monkeypatch):
    monkeypatch.setattr(cifar, "_MAX_BYTES", 1000)
    data = archive({"x/data_batch_1": bytes(1001)})
    write(root / "pfnet/chainer/cifar/cifar-10-python.tar.gz", data)
    with pytest.raises(ValueError, match=r"member 'x/data_batch_1' of 1,001 bytes, more than"):
        datasets.get_cifar10()


def test_large_array_of_svhn(root, monkeypatch):
    monkeypatch.setattr(svhn, "_MAX_ELEMENTS", 1000)
    write(root / "pfnet/chainer/svhn/train_32x32.mat", mat(5))
    with pytest.raises(ValueError, match=r"declares 'X' of shape \(32, 32, 3, 5\), more than"):
        datasets.get_svhn()


def test_damaged_bytes_of_cifar(root):
    """Whatever a damaged pickle leads to, it is an error of the format."""
    rng = np.random.RandomState(0)
    whole = batch(1, 1, labels=[1])
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randint(min(len(damaged), 400))] = rng.randint(256)
        members = {f"x/data_batch_{i}": bytes(damaged) for i in range(1, 6)}
        write(
            root / "pfnet/chainer/cifar/cifar-10-python.tar.gz",
            archive({**members, "x/test_batch": whole}),
        )
        try:
            datasets.get_cifar10()
        except ValueError:
            pass


def test_large_number_of_an_object_in_cifar(root):
    """The unpickler in C reserves memory for all smaller numbers, here 4 GiB."""
    whole = batch(3, 1, labels=[1, 2, 3])
    assert whole.startswith(b"\x80\x02}q\x00")
    large = whole[:3] + b"r" + (1 << 28).to_bytes(4, "little") + whole[5:]
    members = {"x/data_batch_1": large, "x/test_batch": whole}
    write(root / "pfnet/chainer/cifar/cifar-10-python.tar.gz", archive(members))
    train, test = datasets.get_cifar10()
    assert [label for _, label in train] == [label for _, label in test] == [1, 2, 3]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (CIFAR10[:-100], "damaged or cut off"),
        (CIFAR10[:20], "damaged or cut off"),
        (b"hello", "damaged or cut off"),
        (
            archive({"x/data_batch_1": batch(1, 1, labels=[1])}),
            "must hold data_batch_1 and test_batch",
        ),
        (
            archive({"x/data_batch_1": pickle.dumps({"data": 1, "labels": Evil()})}),
            "is not allowed in this dataset",
        ),
        (archive({"x/data_batch_1": pickle.dumps({"labels": [1]})}), "'data'"),
        (archive({"x/data_batch_1": b""}), "damaged or cut off"),
        # What would take much memory: 2^40 bytes of an array, text that doubles at each call, and
        # lists that are the same one.
        (
            archive(
                {"x/data_batch_1": b"\x80\x02cnumpy\nndarray\n\x8a\x06" + bytes(5) + b"\x01\x85R."}
            ),
            "str",
        ),
        (
            archive({"x/data_batch_1": b"\x80\x02c_codecs\nencode\nU\x01aU\x03hex\x86R."}),
            "encoding 'hex' is not allowed",
        ),
        (archive({"x/data_batch_1": batch(1, 1, labels=[[1, 2]])}), "list of integers"),
        (archive({"x/data_batch_1": pickle.dumps({"data": [1], "labels": [1]})}), "images must be"),
        (
            archive({"x/data_batch_1": pickle.dumps({"data": np.zeros(2), "labels": [1]}, 2)}),
            "must have the dtype uint8, got 'f8'",
        ),
    ],
    ids=[
        *("cut-off", "cut-short", "foreign", "incomplete", "hostile", "no-data", "empty"),
        *("call", "encoding", "nested", "list", "dtype"),
    ],
)
def test_damaged_cifar(root, capsys, data, message):
    write(root / "pfnet/chainer/cifar/cifar-10-python.tar.gz", data)
    with pytest.raises(ValueError, match=f"(?s)cifar-10-python.tar.gz.*{message}"):
        datasets.get_cifar10()
    assert capsys.readouterr().out == ""


# -- SVHN ----------------------------------------------------------------------


SVHN_SIZES = {"train": 12, "test": 5, "extra": 20}


def mat(n):
    savemat = pytest.importorskip("scipy.io").savemat
    file = io.BytesIO()
    savemat(
        file,
        {"X": pixels(32, n, (32, 3, n)), "y": (np.arange(n, dtype=np.uint8) % 10 + 1)[:, None]},
    )
    return file.getvalue()


@pytest.mark.parametrize("source", ["directory", "download"])
def test_svhn(root, serve, source):
    files = {"train_32x32.mat": mat(12), "test_32x32.mat": mat(5)}
    if source == "directory":
        for name, data in files.items():
            write(root / "pfnet/chainer/svhn" / name, data)
    else:
        serve(files)
    for _ in range(2):
        train, test = datasets.get_svhn()
        assert (len(train), len(test)) == (12, 5)
        # as 4.3.1 numbers them: the files call the digit zero 10
        assert [int(t) for _, t in train[:]] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]
        x, t = train[7]
        assert (x.dtype, x.shape, t.dtype) == (np.float32, (3, 32, 32), np.int32)
        np.testing.assert_allclose(x[2], pixels(32, 12, (32, 3, 12))[:, :, 2, 7] / 255, rtol=1e-6)
    assert (root / "pfnet/chainer/svhn/train.npz").exists() == (source == "download")
    train, _ = datasets.get_svhn(withlabel=False, scale=255, dtype=np.float64, label_dtype=np.int64)
    assert train.dtype == np.float64
    assert train.max() == 255


def test_extra_images_of_svhn(root, serve):
    asked = serve({f"{split}_32x32.mat": mat(n) for split, n in SVHN_SIZES.items()})
    datasets.get_svhn()
    assert len(asked) == 2
    parts = datasets.get_svhn(add_extra=True)
    assert [len(part) for part in parts] == [12, 5, 20]
    assert asked[2:] == ["http://ufldl.stanford.edu/housenumbers/extra_32x32.mat"]
    assert (root / "pfnet/chainer/svhn/extra.npz").exists()
    with chainer.using_config("dtype", chainer.mixed16):
        assert datasets.get_svhn(withlabel=False)[0].dtype == np.float16


@pytest.mark.parametrize("data", [b"", b"hello", b"MATLAB 5.0 MAT-file" + bytes(200)])
def test_damaged_svhn(root, data):
    pytest.importorskip("scipy.io")
    write(root / "pfnet/chainer/svhn/train_32x32.mat", data)
    with pytest.raises(ValueError, match=r"train_32x32\.mat"):
        datasets.get_svhn()


def test_svhn_without_scipy(root, monkeypatch):
    write(root / "pfnet/chainer/svhn/train_32x32.mat", mat(3))
    monkeypatch.setitem(sys.modules, "scipy.io", None)
    with pytest.raises(ImportError, match=r"pip install .*\[datasets\]"):
        datasets.get_svhn()


# -- Penn Tree Bank ------------------------------------------------------------

TEXTS = {
    "ptb.train.txt": b" a b c \n b d <unk>\n",
    "ptb.valid.txt": b" d a\n",
    "ptb.test.txt": b"c\n\nb\n",
}
# the numbers of 4.3.1 and 7.8.1 for these texts
VOCABULARY = {"a": 0, "b": 1, "c": 2, "<eos>": 3, "d": 4, "<unk>": 5}
WORDS = ([0, 1, 2, 3, 1, 4, 5, 3], [4, 0, 3], [2, 3, 3, 1, 3])


@pytest.mark.parametrize("source", ["directory", "download"])
def test_ptb(root, serve, monkeypatch, source):
    monkeypatch.setattr(ptb, "_LENGTHS", {"train": 8, "valid": 3, "test": 5})
    directory = root / "pfnet/chainer/ptb"
    if source == "directory":
        for name, data in TEXTS.items():
            write(directory / name, data)
    else:
        asked = serve(TEXTS)
    for _ in range(2):
        assert datasets.get_ptb_words_vocabulary() == VOCABULARY
        loaded = datasets.get_ptb_words()
        assert isinstance(loaded, tuple)
        for words, expected in zip(loaded, WORDS):
            assert words.dtype == np.int32
            assert words.tolist() == expected
    if source == "download":
        assert len(asked) == 3
        expected = {"vocab.txt", "train.npz", "valid.npz", "test.npz"}
        assert {p.name for p in directory.iterdir()} == expected
        assert (directory / "vocab.txt").read_text() == "a\nb\nc\n<eos>\nd\n<unk>\n"
        with np.load(directory / "test.npz") as npz:
            assert npz["x"].tolist() == WORDS[2]


def test_unknown_words_of_ptb(root):
    directory = root / "pfnet/chainer/ptb"
    for name, data in TEXTS.items():
        write(directory / name, data)
    write(directory / "ptb.valid.txt", b"a new word\n")
    assert datasets.get_ptb_words()[1].tolist() == [0, 5, 5, 3]
    write(directory / "ptb.train.txt", b"a b c\n")
    with pytest.raises(ValueError, match=r"'new' of .*ptb\.valid\.txt.*not in the training set"):
        datasets.get_ptb_words()


def test_download_of_something_else_than_ptb(root, serve):
    serve(TEXTS)
    with pytest.raises(OSError, match="must hold 929589 words, got 8"):
        datasets.get_ptb_words()
    assert [p for p in root.rglob("*") if p.is_file()] == []


def test_damaged_ptb(root):
    write(root / "pfnet/chainer/ptb/ptb.train.txt", b"\xff\xfe")
    with pytest.raises(ValueError, match=r"ptb\.train\.txt.*UTF-8"):
        datasets.get_ptb_words()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_header_of_an_archive_that_is_too_long(kind, tmp_path):
    """A member that continues a header is read as a whole: a small file could take gigabytes."""
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 3 << 30
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(1000)))
    with pytest.raises(FileFormatError, match="header of 3,221,225,472 bytes"):
        cifar._read_batches(str(path), ["data_batch_1"], "labels")


def test_archive_of_many_members(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar, "_MAX_MEMBERS", 3)
    (tmp_path / "a").write_bytes(archive(dict.fromkeys("abc", b"")))
    assert cifar._read_batches(str(tmp_path / "a"), ["data_batch_1"], "labels") == {}
    (tmp_path / "a").write_bytes(archive(dict.fromkeys("abcd", b"")))
    with pytest.raises(FileFormatError, match="has more than 3 members"):
        cifar._read_batches(str(tmp_path / "a"), ["data_batch_1"], "labels")

import gzip
import os
import struct
import tracemalloc

import numpy as np
import pytest

import chainer
from chainer import datasets
from chainer.training.datasets.mnist_format import read_idx

LOADERS = {
    "mnist": datasets.get_mnist,
    "fashion-mnist": datasets.get_fashion_mnist,
    "kuzushiji_mnist": datasets.get_kuzushiji_mnist,
}
DEBIAN = "/usr/share/datasets/fashion-mnist"


def idx(array):
    return (
        bytes([0, 0, 8, array.ndim])
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )


def images(n, seed):
    return np.random.RandomState(seed).randint(0, 256, (n, 28, 28)).astype(np.uint8)


def labels(n):
    return (np.arange(n) % 10).astype(np.uint8)


FILES = {
    "train-images-idx3-ubyte": idx(images(12, 0)),
    "train-labels-idx1-ubyte": idx(labels(12)),
    "t10k-images-idx3-ubyte": idx(images(5, 1)),
    "t10k-labels-idx1-ubyte": idx(labels(5)),
}
COMPRESSED = {f"{name}.gz": gzip.compress(data) for name, data in FILES.items()}


def put(directory, files):
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (directory / name).write_bytes(data)


@pytest.fixture(params=LOADERS)
def name(request, no_system_files):
    return request.param


def check(loaded):
    train, test = loaded
    assert type(train) is type(test) is datasets.TupleDataset
    assert (len(train), len(test)) == (12, 5)
    x, t = train[11]
    assert (x.dtype, x.shape, t.dtype, t) == (np.float32, (784,), np.int32, 1)
    np.testing.assert_allclose(x, images(12, 0)[11].ravel() / 255, rtol=1e-6)
    np.testing.assert_allclose(test[4][0], images(5, 1)[4].ravel() / 255, rtol=1e-6)


@pytest.mark.parametrize("kind", ["compressed", "plain", "dotted"])
def test_original_files_in_the_directory_of_the_dataset(root, name, kind):
    files = COMPRESSED if kind == "compressed" else FILES
    if kind == "dotted":
        files = {key.replace("-idx", ".idx"): data for key, data in FILES.items()}
    directory = root / "pfnet/chainer" / name
    put(directory, files)
    check(LOADERS[name]())
    # Nothing is written: the files may be replaced by others.
    assert sorted(p.name for p in root.rglob("*") if p.is_file()) == sorted(files)


def test_converted_files_of_earlier_releases(root, name):
    directory = root / "pfnet/chainer" / name
    directory.mkdir(parents=True)
    for split, n, seed in (("train", 12, 0), ("test", 5, 1)):
        np.savez_compressed(directory / split, x=images(n, seed).reshape(n, 784), y=labels(n))
    check(LOADERS[name]())


def test_download(root, name, serve):
    asked = serve(COMPRESSED)
    check(LOADERS[name]())
    assert len(asked) == 4
    directory = root / "pfnet/chainer" / name
    assert sorted(os.listdir(directory)) == ["test.npz", "train.npz"]
    with np.load(directory / "train.npz") as npz:
        assert {key: (npz[key].dtype, npz[key].shape) for key in npz} == {
            "x": (np.uint8, (12, 784)),
            "y": (np.uint8, (12,)),
        }
    check(LOADERS[name]())
    assert len(asked) == 4


def test_failed_download_says_where_to_put_the_file(root, name, serve):
    serve({})
    with pytest.raises(
        OSError, match=f"(?s)404.*put the file train-images-idx3-ubyte.gz into .*{name}"
    ):
        LOADERS[name]()
    assert [p for p in root.rglob("*") if p.is_file()] == []


def test_arguments(root, name):
    put(root / "pfnet/chainer" / name, COMPRESSED)
    get = LOADERS[name]
    for ndim, rgb_format, shape in (
        *((1, False, (784,)), (2, False, (28, 28)), (3, False, (1, 28, 28))),
        *((1, True, (784,)), (2, True, (28, 28)), (3, True, (3, 28, 28))),
    ):
        train, test = get(withlabel=False, ndim=ndim, rgb_format=rgb_format)
        assert train.shape == (12, *shape)
        assert test.shape == (5, *shape)
        assert train.flags.writeable
    train, _ = get(withlabel=False, scale=255, dtype=np.float16)
    assert train.dtype == np.float16
    np.testing.assert_array_equal(train, images(12, 0).reshape(12, 784))
    train, _ = get(withlabel=False, scale=255, dtype=np.uint8)
    np.testing.assert_array_equal(train, images(12, 0).reshape(12, 784))
    assert get(label_dtype=np.int64)[0][3][1].dtype == np.int64
    for ndim in (0, 4):
        with pytest.raises(ValueError, match="invalid ndim for MNIST dataset"):
            get(ndim=ndim)


@pytest.mark.parametrize(
    ("file", "data", "message"),
    [
        ("train-images-idx3-ubyte", FILES["train-images-idx3-ubyte"][:-5], "must hold 9408 bytes"),
        ("train-images-idx3-ubyte", b"", "not a file of unsigned bytes"),
        ("train-images-idx3-ubyte", FILES["train-images-idx3-ubyte"][:9], "cut off in its header"),
        (
            "train-images-idx3-ubyte",
            FILES["train-labels-idx1-ubyte"],
            r"integers of shape \(None, 28, 28\)",
        ),
        ("train-labels-idx1-ubyte", FILES["t10k-labels-idx1-ubyte"], r"integers of shape \(12,\)"),
        ("train-images-idx3-ubyte.gz", COMPRESSED["train-images-idx3-ubyte.gz"][:-9], "cut off"),
        ("train-images-idx3-ubyte.gz", COMPRESSED["train-images-idx3-ubyte.gz"][:-1], "cut off"),
    ],
)
def test_damaged_file_is_named(root, name, file, data, message):
    directory = root / "pfnet/chainer" / name
    put(directory, {**FILES, file: data})
    with pytest.raises(ValueError, match=f"(?s){file}.*{message}"):
        LOADERS[name]()


def test_declared_sizes_are_bounded(root, name):
    directory = root / "pfnet/chainer" / name
    head = b"\0\0\x08\x03" + struct.pack(">III", 10**6, 10**3, 10**3)
    put(directory, {**FILES, "train-images-idx3-ubyte": head})
    with pytest.raises(ValueError, match="declares 1,000,000,000,000 bytes, more than"):
        LOADERS[name]()
    # A file that expands to more than its header says is not unpacked to its end.
    data = FILES["train-images-idx3-ubyte"]
    put(directory, {**FILES, "train-images-idx3-ubyte": gzip.compress(data + bytes(40 << 20))})
    tracemalloc.start()
    with pytest.raises(ValueError, match="must hold 9408 bytes .* got more than 9408"):
        LOADERS[name]()
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


def test_damaged_converted_file(root, name):
    directory = root / "pfnet/chainer" / name
    put(directory, {"train.npz": b"x"})
    with pytest.raises(ValueError, match=r"train\.npz.*Remove it"):
        LOADERS[name]()
    np.savez(directory / "train.npz", x=np.zeros((3, 784), np.uint8))
    with pytest.raises(ValueError, match=r"'y' of .*got nothing"):
        LOADERS[name]()


def test_names_of_fashion_mnist():
    names = datasets.get_fashion_mnist_labels()
    assert len(names) == 10
    assert names[9] == "Ankle boot"


@pytest.mark.skipif(not os.path.isdir(DEBIAN), reason="dataset-fashion-mnist is not installed")
def test_files_of_debian(root):
    train, test = datasets.get_fashion_mnist()
    assert (len(train), len(test)) == (60000, 10000)
    assert np.bincount([t for _, t in test]).tolist() == [1000] * 10
    assert [int(t) for _, t in train[:5]] == [9, 0, 0, 3, 0]
    assert not root.exists()


def test_idx_of_other_type(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes([0, 0, 0x0D, 1, 0, 0, 0, 1]) + bytes(4))
    with pytest.raises(ValueError, match="unsigned bytes"):
        read_idx(str(path))


@pytest.mark.parametrize("axes", [(0xFCFFFFFF, 0xFFFFFBA2, 0), (1,) * 100])
def test_idx_of_a_shape_that_no_array_has(tmp_path, axes):
    path = tmp_path / "file"
    header = bytes([0, 0, 8, len(axes)]) + b"".join(axis.to_bytes(4, "big") for axis in axes)
    path.write_bytes(header + bytes(int(np.prod([min(axis, 1) for axis in axes]))))
    with pytest.raises(chainer.serializers.FileFormatError, match="a shape that no array has"):
        read_idx(str(path))


def test_names_of_kuzushiji_mnist():
    names = datasets.get_kuzushiji_mnist_labels()
    assert names[0] == ("o", "お")
    assert "".join(character for _, character in names) == "おきすつなはまやれを"
    assert [name for name, _ in names] == [
        "o",
        "ki",
        "su",
        "tsu",
        "na",
        "ha",
        "ma",
        "ya",
        "re",
        "wo",
    ]
    names.clear()
    assert len(datasets.get_kuzushiji_mnist_labels()) == 10


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (np.float16, np.float16),
        (np.float64, np.float64),
        (chainer.mixed16, np.float16),
    ],
)
def test_default_dtype_is_that_of_the_configuration(root, name, setting, expected):
    put(root / "pfnet/chainer" / name, COMPRESSED)
    with chainer.using_config("dtype", setting):
        train, _ = LOADERS[name](withlabel=False)
        assert train.dtype == expected
        assert LOADERS[name](withlabel=False, dtype="f")[0].dtype == np.float32
    assert LOADERS[name](withlabel=False, dtype=chainer.mixed16)[0].dtype == np.float16

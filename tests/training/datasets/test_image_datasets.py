import multiprocessing
import pickle
import struct
import threading
import zipfile
import zlib

import numpy as np
import pytest

import chainer
from chainer import datasets
from chainer.training.datasets import zipped_image_dataset

Image = pytest.importorskip("PIL.Image")

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4)
RGB = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)
RGBA = np.arange(48, dtype=np.uint8).reshape(3, 4, 4)


@pytest.fixture
def root(tmp_path):
    for name, array in (("grey", GREY), ("rgb", RGB), ("rgba", RGBA), ("bits", GREY > 5)):
        Image.fromarray(array).save(tmp_path / f"{name}.png")
    (tmp_path / "a name.png").write_bytes((tmp_path / "grey.png").read_bytes())
    (tmp_path / "text.png").write_text("no image")
    return tmp_path


class TestImageDataset:
    def test_images(self, root):
        names = ["grey.png", "rgb.png", "rgba.png", "bits.png"]
        dataset = datasets.ImageDataset(names, root=str(root))
        assert len(dataset) == 4
        for image, array in zip(dataset[:], (GREY, RGB, RGBA, GREY > 5)):
            expected = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
            assert image.dtype == np.float32
            np.testing.assert_array_equal(image, expected)
        dataset[0][:] = 0  # writable

    def test_list_in_a_file(self, root):
        (root / "list.txt").write_text("grey.png\n\n rgb.png \na name.png")
        dataset = datasets.ImageDataset(str(root / "list.txt"), root=root, dtype=np.uint8)
        assert [image.shape for image in dataset[:]] == [(1, 3, 4), (3, 3, 4), (1, 3, 4)]
        assert dataset[0].dtype == np.uint8

    def test_errors(self, root):
        dataset = datasets.ImageDataset(["missing.png", "text.png"], root=root)
        with pytest.raises(FileNotFoundError, match=r"missing\.png"):
            dataset[0]
        with pytest.raises(OSError, match=r"text\.png"):
            dataset[1]
        with pytest.raises(FileNotFoundError):
            datasets.ImageDataset("missing.txt")


class TestLabeledImageDataset:
    def test_pairs(self, root):
        dataset = datasets.LabeledImageDataset([("grey.png", 3), ("rgb.png", 1)], root=root)
        image, label = dataset[0]
        np.testing.assert_array_equal(image, GREY[None])
        assert (label.dtype, label.shape, label) == (np.int32, (), 3)
        dataset = datasets.LabeledImageDataset([("rgb.png", 1)], root, np.uint8, np.float32)
        assert dataset[0][0].dtype == np.uint8
        assert dataset[0][1].dtype == np.float32

    def test_list_in_a_file(self, root):
        (root / "list.txt").write_text("grey.png 0\nrgb.png\t 1\n\na name.png 2\n")
        dataset = datasets.LabeledImageDataset(root / "list.txt", root=root)
        assert [(image.shape[0], int(label)) for image, label in dataset[:]] == [
            (1, 0),
            (3, 1),
            (1, 2),
        ]

    @pytest.mark.parametrize("line", ["grey.png", "grey.png x", "7", "grey.png 1.5"])
    def test_bad_line(self, root, line):
        (root / "list.txt").write_text(f"grey.png 0\n{line}\n")
        with pytest.raises(ValueError, match=r"invalid format at line 2 in file .*list\.txt"):
            datasets.LabeledImageDataset(root / "list.txt", root=root)


def _read_in_process(dataset, queue):
    queue.put([dataset[i].sum() for i in range(len(dataset)) for _ in range(20)])


class TestZippedImageDatasets:
    @pytest.fixture
    def archives(self, root):
        with zipfile.ZipFile(root / "one.zip", "w") as archive:
            archive.mkdir("directory")
            archive.write(root / "grey.png", "directory/grey.png")
            archive.write(root / "rgb.png", "rgb.png")
        with zipfile.ZipFile(root / "two.zip", "w") as archive:
            archive.write(root / "rgba.png", "rgba.png")
            archive.writestr("text.png", "no image")
        return root / "one.zip", root / "two.zip"

    def test_one(self, archives):
        dataset = datasets.ZippedImageDataset(str(archives[0]), dtype=np.uint8)
        assert len(dataset) == 2
        np.testing.assert_array_equal(dataset[0], GREY[None])
        np.testing.assert_array_equal(dataset[1], RGB.transpose(2, 0, 1))
        assert dataset[1].dtype == np.uint8

    def test_by_name(self, archives):
        dataset = datasets.ZippedImageDataset(archives[0], dtype=np.uint8)
        np.testing.assert_array_equal(dataset.get_example("rgb.png"), RGB.transpose(2, 0, 1))
        np.testing.assert_array_equal(dataset["rgb.png"], dataset.get_example("rgb.png"))
        with pytest.raises(KeyError, match="missing"):
            dataset.get_example("missing.png")

    def test_many(self, archives):
        dataset = datasets.MultiZippedImageDataset(archives)
        assert len(dataset) == 4
        assert [image.shape[0] for image in dataset[:3]] == [1, 3, 4]
        with pytest.raises(OSError):
            dataset[3]
        with pytest.raises(IndexError):
            dataset[4]

    def test_labeled(self, archives, root):
        (root / "labels.txt").write_text("rgb.png 5\ndirectory/grey.png 7\nmissing.png 1\n")
        dataset = datasets.LabeledZippedImageDataset(archives[0], root / "labels.txt")
        assert len(dataset) == 3
        assert [(image.shape[0], int(label)) for image, label in dataset[:2]] == [(3, 5), (1, 7)]
        with pytest.raises(KeyError, match="missing"):
            dataset[2]

    def test_no_zip_file(self, root):
        with pytest.raises(zipfile.BadZipFile, match=r"text\.png' cannot be read: .* not a zip"):
            datasets.ZippedImageDataset(root / "text.png")

    def test_one_name_for_many(self, archives):
        with pytest.raises(TypeError, match="zipfilenames must be a list of file names, got '"):
            datasets.MultiZippedImageDataset(str(archives[0]))

    def test_pickle(self, archives):
        dataset = datasets.ZippedImageDataset(archives[0])
        copy = pickle.loads(pickle.dumps(dataset))
        np.testing.assert_array_equal(copy[0], dataset[0])

    def test_threads_and_forked_processes(self, archives):
        dataset = datasets.ZippedImageDataset(archives[0])
        expected = [dataset[i].sum() for i in range(len(dataset)) for _ in range(20)]
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        processes = [
            context.Process(target=_read_in_process, args=(dataset, queue)) for _ in range(2)
        ]
        for process in processes:
            process.start()
        results = [queue.get() for _ in processes]
        for process in processes:
            process.join()

        def read():
            results.append([dataset[i].sum() for i in range(len(dataset)) for _ in range(20)])

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [expected] * 6


@pytest.mark.parametrize(
    ("setting", "expected"),
    [(np.float16, np.float16), (np.float64, np.float64), (chainer.mixed16, np.float16)],
)
def test_default_dtype_is_that_of_the_configuration(root, setting, expected):
    with zipfile.ZipFile(root / "one.zip", "w") as archive:
        archive.write(root / "grey.png", "grey.png")
    (root / "labels.txt").write_text("grey.png 5\n")
    with chainer.using_config("dtype", setting):
        made = [
            datasets.ImageDataset(["grey.png"], root),
            datasets.LabeledImageDataset([("grey.png", 5)], root),
            datasets.ZippedImageDataset(root / "one.zip"),
            datasets.MultiZippedImageDataset([root / "one.zip"]),
            datasets.LabeledZippedImageDataset(root / "one.zip", root / "labels.txt"),
        ]
    # The dtype is that of the time of construction.
    for dataset in made:
        example = dataset[0]
        image = example[0] if isinstance(example, tuple) else example
        assert image.dtype == expected
        np.testing.assert_array_equal(image, GREY[None])


def test_available():
    assert datasets.image_dataset.available is True


class TestBounds:
    """A small file cannot take much memory, and damaged images raise one kind of error."""

    @staticmethod
    def png(tmp_path, change):
        Image.fromarray(RGB).save(tmp_path / "a.png")
        data = bytearray((tmp_path / "a.png").read_bytes())
        change(data)
        (tmp_path / "a.png").write_bytes(data)
        return datasets.ImageDataset(["a.png"], root=str(tmp_path))

    def test_too_many_pixels(self, tmp_path):
        def declare(data):
            data[16:24] = struct.pack(">II", 200_000, 1000)
            data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))

        dataset = self.png(tmp_path, declare)
        text = r"image '.*a.png' is refused: .*200000000 pixels.*set PIL.Image.MAX_IMAGE_PIXELS"
        with pytest.raises(Image.DecompressionBombError, match=text):
            dataset[0]

    def test_damaged_images(self, tmp_path):
        whole = None
        for position in range(8, 80):

            def change(data, position=position):
                data[position % len(data)] ^= 255

            dataset = self.png(tmp_path, change)
            try:
                whole = dataset[0]
            except OSError:
                pass
        assert whole is not None

    def test_damaged_members(self, tmp_path):
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.png", b"x" * 1000)
        data = path.read_bytes()
        for position in range(len(data)):
            damaged = bytearray(data)
            damaged[position] ^= 0xFF
            path.write_bytes(damaged)
            try:
                dataset = datasets.ZippedImageDataset(str(path))
                dataset.get_example("a.png")
            except (OSError, KeyError, zipfile.BadZipFile):
                pass

    def test_large_member(self, tmp_path, monkeypatch):
        monkeypatch.setattr(zipped_image_dataset, "_MAX_BYTES", 100)
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("a.png", b"x" * 101)
        dataset = datasets.ZippedImageDataset(str(tmp_path / "a.zip"))
        with pytest.raises(zipfile.BadZipFile, match="'a.png' in '.*' has 101 bytes"):
            dataset[0]

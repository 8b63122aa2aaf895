"""The CIFAR-10 and CIFAR-100 datasets."""

from __future__ import annotations

import functools
import gzip
import io
import lzma
import pickle
import tarfile
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy

from chainer.core.config.dtype import get_dtype
from chainer.core.typing import DTypeLike, HostArray
from chainer.links.serializers.file_format import FileFormatError, format_errors
from chainer.training.datasets.raw_files import (
    Arrays,
    RawFile,
    image_sections,
    load_arrays,
    require,
    scaled,
)
from chainer.training.datasets.tuple_dataset import TupleDataset

_NAME = "pfnet/chainer/cifar"

CifarLike: TypeAlias = tuple[TupleDataset | HostArray, TupleDataset | HostArray]
"""Training set and test set: pairs of images and labels, or an array of images."""

# Sums published by the authors.
_CIFAR10 = RawFile(
    "cifar-10-python.tar.gz",
    ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
    "c58f30108f718f92721af3b95e74349a",
)
_CIFAR100 = RawFile(
    "cifar-100-python.tar.gz",
    ("https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",),
    "eb9058c3a382ffc7106e4002c42a8d85",
)

#: Size of the largest member that is read, in bytes. CIFAR-100 has one of 155 MB.
_MAX_BYTES = 1 << 28


class _Array:
    """An array of a pickle. NumPy's own functions for this take any shape and any state."""

    def __init__(self, *_: object) -> None:
        self.values = numpy.empty(0, numpy.uint8)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran_order, content = state
        if not isinstance(dtype, _Bytes):
            raise pickle.UnpicklingError("an array must have the dtype uint8")
        data = content.encode("latin1") if isinstance(content, str) else content
        order = "F" if fortran_order else "C"
        self.values = numpy.array(numpy.frombuffer(data, numpy.uint8).reshape(shape, order=order))


class _Bytes:
    """The dtype uint8 of a pickle."""

    def __init__(self, code: object, *_: object) -> None:
        if code != "u1":
            raise pickle.UnpicklingError(f"an array must have the dtype uint8, got {code!r}")

    def __setstate__(self, state: object) -> None:
        pass


def _encode(text: str, encoding: str) -> bytes:
    # Other encodings make a short text long: hex doubles it at each call.
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"the encoding {encoding!r} is not allowed in this dataset")
    return text.encode("latin1")


#: What pickles of arrays call, and what is called here instead. Pickles from the network may not
#: call anything else.
_ARRAY_PARTS: dict[tuple[str, str], object] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): "numpy.ndarray",  # only an argument
    ("numpy", "dtype"): _Bytes,
    ("_codecs", "encode"): _encode,
}


# The version in Python: the one in C makes a table as long as the largest number of an object in
# the file says, which is 20 GB for a few bytes.
class _ArrayUnpickler(pickle._Unpickler):  # type: ignore[name-defined]
    """Reads dictionaries of strings, numbers and arrays, and nothing that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ARRAY_PARTS:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed in this dataset")
        return _ARRAY_PARTS[module, name]


def _labels(values: object) -> HostArray:
    """Returns labels of a batch, which are a list of integers or an array."""
    if isinstance(values, _Array):
        return values.values
    # A list of lists that are the same one would become an array of any size.
    if not isinstance(values, list) or any([type(value) is not int for value in values]):
        raise pickle.UnpicklingError("labels must be a list of integers")
    return numpy.array(values, dtype=numpy.uint8)


def _images(values: object) -> HostArray:
    if not isinstance(values, _Array):
        raise pickle.UnpicklingError(f"images must be an array, got {type(values).__name__}")
    return values.values


_cifar_sections = functools.partial(
    image_sections,
    shapes="""\
        - ``ndim == 1``: the shape is ``(3072,)``
        - ``ndim == 3``: the shape is ``(3, 32, 32)``""",
)


@_cifar_sections()
def get_cifar10(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: DTypeLike = None
) -> CifarLike:
    """Gets the CIFAR-10 dataset.

    `CIFAR-10 <https://www.cs.toronto.edu/~kriz/cifar.html>`_ is a set of small natural images. Each
    example is an RGB color image of size 32x32, classified into 10 groups. In the original images,
    each component of pixels is represented by one-byte unsigned integer. This function scales the
    components to floating point values in the interval ``[0, scale]``.

    This function returns the training set and the test set of the official CIFAR-10 dataset. If
    ``withlabel`` is ``True``, each dataset consists of tuples of images and labels, otherwise it
    only consists of images.

    Files are looked for in ``pfnet/chainer/cifar`` below the dataset root before they are
    downloaded: ``cifar-10.npz`` (uint8 arrays ``train_x`` of shape (n, 3072), ``train_y`` of shape
    (n,), ``test_x`` and ``test_y``) or the official ``cifar-10-python.tar.gz``, with any number of
    images.

    Example:
        >>> train, test = chainer.datasets.get_cifar10()
        >>> image, label = train[0]
        >>> image.shape, image.dtype.name, label.dtype.name
        ((3, 32, 32), 'float32', 'int32')
    """

    def parse(path: str) -> Arrays:
        # There are five training batches; fewer make a smaller dataset.
        names = [f"data_batch_{i}" for i in range(1, 6)]
        batches = _read_batches(path, [*names, "test_batch"], "labels")
        train = [batches[name] for name in names if name in batches]
        if not train or "test_batch" not in batches:
            raise FileFormatError(f"{path!r} must hold data_batch_1 and test_batch")
        train_x, train_y = (numpy.concatenate(parts) for parts in zip(*train))
        return _arrays(train_x, train_y, *batches["test_batch"])

    return _get_cifar("cifar-10.npz", _CIFAR10, parse, withlabel, ndim, scale, dtype)


@_cifar_sections()
def get_cifar100(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: DTypeLike = None
) -> CifarLike:
    """Gets the CIFAR-100 dataset.

    `CIFAR-100 <https://www.cs.toronto.edu/~kriz/cifar.html>`_ is a set of small natural images.
    Each example is an RGB color image of size 32x32, classified into 100 groups. In the original
    images, each component pixels is represented by one-byte unsigned integer. This function scales
    the components to floating point values in the interval ``[0, scale]``.

    This function returns the training set and the test set of the official CIFAR-100 dataset. If
    ``withlabel`` is ``True``, each dataset consists of tuples of images and (fine) labels,
    otherwise it only consists of images.

    Files are looked for in ``pfnet/chainer/cifar`` below the dataset root before they are
    downloaded: ``cifar-100.npz`` (as for :func:`get_cifar10`) or the official
    ``cifar-100-python.tar.gz``.

    Example:
        >>> train, test = chainer.datasets.get_cifar100()
        >>> image, label = train[0]
        >>> image.shape, image.dtype.name, label.dtype.name
        ((3, 32, 32), 'float32', 'int32')
    """

    def parse(path: str) -> Arrays:
        batches = _read_batches(path, ["train", "test"], "fine_labels")
        if len(batches) != 2:
            raise FileFormatError(f"{path!r} must hold train and test")
        return _arrays(*batches["train"], *batches["test"])

    return _get_cifar("cifar-100.npz", _CIFAR100, parse, withlabel, ndim, scale, dtype)


def _arrays(train_x: HostArray, train_y: HostArray, test_x: HostArray, test_y: HostArray) -> Arrays:
    return {"train_x": train_x, "train_y": train_y, "test_x": test_x, "test_y": test_y}


#: Types of members that continue the header of the next one, as long names do.
_HEADERS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)

#: Size of the longest header that is read, in bytes.
_MAX_HEADER_BYTES = 1 << 20

#: Members that are looked at. An archive of CIFAR has about ten, and an empty member takes nearly
#: nothing in a file.
_MAX_MEMBERS = 10_000


class _BoundedMember(tarfile.TarInfo):
    """A member of an archive; tarfile reads the headers of members as a whole, of any size."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Returns the member that a block describes; FileFormatError if the header is too long."""
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and member.size > _MAX_HEADER_BYTES:
            raise FileFormatError(
                f"the archive has a header of {member.size:,} bytes, more than the "
                f"{_MAX_HEADER_BYTES:,} of any archive of CIFAR"
            )
        return member


def _read_batches(
    path: str, names: list[str], label_key: str
) -> dict[str, tuple[HostArray, HostArray]]:
    batches: dict[str, tuple[HostArray, HostArray]] = {}
    damaged = f"{path!r} is damaged or cut off"
    with (
        format_errors(damaged, tarfile.TarError, gzip.BadGzipFile, lzma.LZMAError),
        tarfile.open(path, tarinfo=_BoundedMember) as archive,
    ):
        for count, member in enumerate(archive):
            if count == _MAX_MEMBERS:
                raise FileFormatError(f"{path!r} has more than {_MAX_MEMBERS:,} members")
            name = member.name.rpartition("/")[2]
            # Compared without directories: some archives of parts of the data have none.
            if not member.isfile() or name not in names:
                continue
            if member.size > _MAX_BYTES:
                raise FileFormatError(
                    f"{path!r} has a member {member.name!r} of {member.size:,} bytes, more than "
                    f"the {_MAX_BYTES:,} of any part of CIFAR"
                )
            file = archive.extractfile(member)
            content = b"" if file is None else file.read()
            # A damaged pickle raises anything: SystemError, for example, in the code of NumPy.
            with format_errors(damaged, Exception):
                # The files were written by Python 2, whose strings are bytes.
                batch = _ArrayUnpickler(io.BytesIO(content), encoding="latin1").load()
                batches[name] = _images(batch["data"]), _labels(batch[label_key])
    return batches


def _get_cifar(
    npz_name: str,
    file: RawFile,
    parse: Callable[[str], Arrays],
    withlabel: bool,
    ndim: int,
    scale: float,
    dtype: DTypeLike,
) -> CifarLike:
    if ndim not in (1, 3):
        raise ValueError(f"invalid ndim for CIFAR dataset: expected 1 or 3, got {ndim}")
    # Resolved before anything is read, so that a wrong dtype fails at once.
    dtype = get_dtype(dtype)
    arrays = load_arrays(_NAME, npz_name, (file,), parse)

    def preprocess(split: str) -> TupleDataset | HostArray:
        x, y = f"{split}_x", f"{split}_y"
        require(arrays, npz_name, **{x: (None, 3072)})
        require(arrays, npz_name, **{y: (len(arrays[x]),)})
        images = scaled(arrays[x], scale, dtype)
        if ndim == 3:
            images = images.reshape(-1, 3, 32, 32)
        return TupleDataset(images, arrays[y].astype(numpy.int32)) if withlabel else images

    return preprocess("train"), preprocess("test")

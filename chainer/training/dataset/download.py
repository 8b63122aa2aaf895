"""The directory of downloaded datasets, and how files get there."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeVar
from urllib.error import URLError
from urllib.parse import urlsplit

from chainer.core.arguments import wrong_type
from chainer.core.installation import install_command
from chainer.core.typing import FilePath
from chainer.training.dataset.file_lock import file_lock

_Content = TypeVar("_Content")

_root: str | None = None

#: Directory of downloaded files below the root; names are MD5 sums of URLs, as in earlier releases.
_CACHE = "_dl_cache"
_TIMEOUT_SECONDS = 30  # without data


class DownloadError(URLError):
    """A file could not be downloaded, or is not what it should be.

    Earlier releases raise what :mod:`urllib.request` raises.
    """

    def __str__(self) -> str:
        return str(self.reason)


class DirectoryError(RuntimeError, OSError):
    """The directory of a dataset cannot be created. Earlier releases raise RuntimeError."""


def get_dataset_root() -> str:
    """Gets the path to the root directory to download and cache datasets.

    Returns:
        str: The path given to :func:`set_dataset_root`, else the environment variable
            ``CHAINER_DATASET_ROOT``, else
        ``$HOME/.chainer/dataset``.

    Example:
        >>> root = chainer.dataset.get_dataset_root()
        >>> chainer.dataset.set_dataset_root("data")
        >>> chainer.dataset.get_dataset_root()
        'data'
        >>> chainer.dataset.set_dataset_root(root)
    """
    if _root is not None:
        return _root
    # The same directory as in earlier releases, so that their downloads are found.
    default = os.path.join("~", ".chainer", "dataset")
    return os.environ.get("CHAINER_DATASET_ROOT") or os.path.expanduser(default)


def set_dataset_root(path: FilePath) -> None:
    """Sets the root directory to download and cache datasets.

    There are two ways to set the dataset root directory. One is by setting the environment variable
    ``CHAINER_DATASET_ROOT``. The other is by using this function. If both are specified, one
    specified via this function is used. The default dataset root is ``$HOME/.chainer/dataset``.

    Args:
        path (str): Path to the new dataset root directory.

    Example:
        >>> root = chainer.dataset.get_dataset_root()
        >>> chainer.dataset.set_dataset_root("data")
        >>> chainer.dataset.get_dataset_directory("mine/digits", create_directory=False)
        'data/mine/digits'
        >>> chainer.dataset.set_dataset_root(root)
    """
    global _root
    _root = os.fspath(path)


def get_dataset_directory(dataset_name: str, create_directory: bool = True) -> str:
    """Gets the path to the directory of given dataset.

    The generated path is just a concatenation of the global root directory (see
    :func:`set_dataset_root` for how to change it) and the dataset name. The dataset name can
    contain slashes, which are treated as path separators.

    Args:
        dataset_name (str): Name of the dataset, such as ``'pfnet/chainer/mnist'``.
        create_directory (bool): If True (default), this function also creates the directory at the
            first time. If the directory already exists, then this option is ignored.

    Returns:
        str: Path to the dataset directory.

    Raises:
        OSError: If the directory cannot be created.

    Example:
        >>> path = chainer.dataset.get_dataset_directory("mine/digits")
        >>> import os
        >>> os.path.isdir(path)
        True
    """
    if not isinstance(dataset_name, str):
        raise wrong_type("dataset_name", "a str", dataset_name)
    path = os.path.join(get_dataset_root(), *dataset_name.split("/"))
    if create_directory:
        os.makedirs(path, exist_ok=True)
    return path


def cached_path(url: str) -> str:
    """Returns where :func:`cached_download` keeps the file of a URL."""
    name = hashlib.md5(url.encode("utf-8"), usedforsecurity=False).hexdigest()
    return os.path.join(get_dataset_root(), _CACHE, name)


def cached_download(url: str) -> str:
    """Downloads a file and caches it.

    It downloads a file from the URL if there is no corresponding cache. After the download, this
    function stores a cache to the directory under the dataset root (see :func:`set_dataset_root`).
    If there is already a cache for the given URL, it just returns the path to the cache without
    downloading the same file. A download that fails leaves nothing behind.

    .. note::
        This function raises :class:`OSError` when it fails to create the cache directory. In older
        version, it raised
        :class:`RuntimeError`.

    Args:
        url (str): URL to download from (http, https, ftp or file).

    Returns:
        str: Path to the downloaded file.

    Raises:
        DownloadError: (an OSError) If the download fails.
        ImportError: If pooch is not installed (``pip install "chainer[datasets]"``).

    Example:
        A second call returns the same path, and downloads nothing:

        >>> from pathlib import Path
        >>> url = Path("numbers.txt").absolute().as_uri()  # or an address of the web
        >>> Path("numbers.txt").write_text("1 2 3")
        5
        >>> path = chainer.dataset.cached_download(url)
        >>> Path("numbers.txt").unlink()
        >>> Path(chainer.dataset.cached_download(url)).read_text()
        '1 2 3'
    """
    return download([url])


def download(
    urls: Sequence[str],
    md5: str | None = None,
    verify: Callable[[str], None] | None = None,
    advice: str = "",
    cache_url: str | None = None,
) -> str:
    """Downloads a file that several servers have, and caches it.

    Args:
        urls: Addresses of the file, in the order to try. A file that was cached under any of them
            is found.
        md5: MD5 sum of the file, if it is known.
        verify: Called with the path of the downloaded file; raises :class:`ValueError` if it is
            not what it should be.
        advice: A remedy, appended to the message if everything fails.
        cache_url: URL under which the file is cached; the first one by default.

    Returns:
        Path to the file.

    Raises:
        DownloadError: If no server has the file; the message contains what each answered.
        ImportError: If pooch is not installed.
    """
    # Looked up before pooch is needed, so that cached files need no further package.
    for url in urls:
        if os.path.exists(cached_path(url)):
            return cached_path(url)
    if _replaced_client() is None:
        _pooch(advice)
    target = cached_path(cache_url or urls[0])
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # Processes that start together, as in distributed training, download a file once.
    with file_lock(f"{target}.lock"):
        if os.path.exists(target):
            return target
        return _download_to(target, urls, md5, verify, advice)


def _download_to(
    target: str,
    urls: Sequence[str],
    md5: str | None,
    verify: Callable[[str], None] | None,
    advice: str,
) -> str:
    """Downloads a file from the first server that has it; see :func:`download`."""
    failures: list[str] = []
    for url in urls:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(target), prefix="tmp") as directory:
            try:
                path = _retrieve(url, md5, directory, advice)
                if verify is not None:
                    verify(path)
            except (OSError, ValueError) as error:  # what pooch, requests and verify raise
                failures.append(f"  {url}: {error}")
                continue
            os.replace(path, target)
            return target
    raise DownloadError("\n".join(["could not download:", *failures, *filter(None, [advice])]))


def _replaced_client() -> Callable[[str, str], Any] | None:
    """Returns what a program has put in the place of ``urllib.request.urlretrieve``; else None.

    Programs replace that function to work offline or to show progress: earlier releases download
    with it.
    """
    from urllib import request  # takes 20 ms to import

    retrieve = request.urlretrieve
    return None if getattr(retrieve, "__module__", None) == "urllib.request" else retrieve


def _pooch(advice: str) -> ModuleType:
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"pooch is required to download datasets: {install_command('chainer[datasets]')}"
            + (f"\n{advice}" if advice else "")
        ) from error
    return pooch


def _retrieve(url: str, md5: str | None, directory: str, advice: str) -> str:
    replaced = _replaced_client()
    if replaced is not None:
        path = os.path.join(directory, "download")
        replaced(url, path)
        if md5 is not None and _md5(path) != md5:
            raise ValueError(f"the MD5 sum must be {md5}, got {_md5(path)}")
        return path
    pooch = _pooch(advice)
    progress = sys.stderr.isatty()
    scheme = urlsplit(url).scheme
    downloader: Callable[..., Any]
    if scheme == "file":
        downloader = _copy
    elif scheme in ("http", "https"):
        downloader = pooch.HTTPDownloader(progressbar=progress, timeout=_TIMEOUT_SECONDS)
    else:
        downloader = pooch.core.choose_downloader(url, progressbar=progress)
    known_hash = None if md5 is None else f"md5:{md5}"
    level = pooch.get_logger().level
    pooch.get_logger().setLevel("WARNING")  # it asks users to write down the sum of the file
    print(f"Downloading from {url}...", file=sys.stderr, flush=True)
    try:
        return pooch.retrieve(url, known_hash, "download", directory, downloader=downloader)
    finally:
        pooch.get_logger().setLevel(level)


def _md5(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def _copy(url: str, output_file: str, pooch: object) -> None:
    from urllib.request import url2pathname  # takes 20 ms to import

    shutil.copyfile(url2pathname(urlsplit(url).path), output_file)


def cache_or_load_file(
    path: str, creator: Callable[[str], _Content], loader: Callable[[str], _Content]
) -> _Content:
    """Caches a file if it does not exist, or loads it otherwise.

    This is a utility function used in dataset loading routines. The ``creator`` creates the file to
    given path, and returns the content. If the file already exists, the ``loader`` is called
    instead, and it loads the file and returns the content.

    Note that the path passed to the creator is temporary one, and not same as the path given to
    this function. This function safely renames the file created by the creator to a given path,
    even if this function is called simultaneously by multiple threads or processes.

    Args:
        path (str): Path to save the cached file.
        creator: Function to create the file and returns the content. It takes a path to temporary
            place as the argument. Before calling the creator, there is no file at the temporary
            path.
        loader: Function to load the cached file and returns the content.

    Returns:
        It returns the returned values by the creator or the loader.

    Raises:
        DirectoryError: (a RuntimeError and an OSError) If the directory of ``path`` cannot be
            created.
        FileNotFoundError: If the creator made no file.

    .. admonition:: Example

        >>> import os, tempfile
        >>> from chainer.dataset import cache_or_load_file
        >>> path = os.path.join(tempfile.mkdtemp(), 'numbers.txt')
        >>> def create(path):
        ...     with open(path, 'w') as f:
        ...         _ = f.write('1 2 3')
        ...     return 'created'
        >>> cache_or_load_file(path, create, lambda path: 'loaded')
        'created'
        >>> cache_or_load_file(path, create, lambda path: 'loaded')
        'loaded'
    """
    if os.path.exists(path):
        return loader(path)
    directory = os.path.dirname(os.path.abspath(path))
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise DirectoryError(f"cannot create dataset directory {directory}: {error}") from error
    # A directory of its own, so that the name of the file (and its suffix) can be the final one.
    with tempfile.TemporaryDirectory(dir=directory, prefix="tmp") as temporary_directory:
        temporary = os.path.join(temporary_directory, os.path.basename(path))
        content = creator(temporary)
        # Another process may have made the file meanwhile, and may be reading it. On Windows, the
        # file of a reader cannot be replaced.
        if not os.path.exists(path):
            try:
                os.replace(temporary, path)
            except PermissionError:
                if not os.path.exists(path):
                    raise
    return content

"""Downloads of published models, only when a program asks for one."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from chainer.utils import install_command

from chainer_models.errors import ModelFileError

#: Files that are downloaded: no pickle, and no program.
PATTERNS = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")


def download(name: str, *, revision: str, cache_dir: str | None = None) -> Path:
    """Downloads a model with the package ``huggingface_hub``, and returns its folder.

    Files that are there already are not downloaded again. Only tensors and settings are fetched,
    never pickles or programs. The SHA-256 of each file of tensors is compared with the one that the
    hub tells.

    Args:
        name (str): Name of the model, such as ``"organization/model"``.
        revision (str): Commit of the model. A name such as ``"main"`` may be another model
            tomorrow.
        cache_dir (str): Where files are kept; the place of the package by default.

    Returns:
        Path: The folder, for :func:`~chainer_models.load_pretrained`.

    Raises:
        ImportError: If ``huggingface_hub`` is not installed.
        OSError: If the model cannot be downloaded.
        ModelFileError: (a ValueError) If the content of a file is not what the hub tells.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ImportError(
            f"huggingface_hub is not installed: {install_command('huggingface_hub')}"
        ) from error
    folder = snapshot_download(
        name, revision=revision, cache_dir=cache_dir, allow_patterns=list(PATTERNS)
    )
    for path in sorted(Path(folder).rglob("*.safetensors")):
        _check(path)
    return Path(folder)


def _check(path: Path) -> None:
    """Compares a file with its SHA-256: in the cache of the package it is the name of the file."""
    file = path.resolve()
    if re.fullmatch(r"[0-9a-f]{64}", file.name) is None:
        raise ModelFileError(
            f"{path} cannot be checked: the cache of huggingface_hub has no SHA-256 of it"
        )
    with open(file, "rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != file.name:
        raise ModelFileError(
            f"{path} is damaged: its SHA-256 is {found}, and the hub tells {file.name}; delete it "
            "and download it again"
        )

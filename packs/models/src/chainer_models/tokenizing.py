"""Tokenizers of published models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from chainer.utils import install_command

from chainer_models.errors import ModelFileError


def load_tokenizer(folder: str | os.PathLike[str]) -> Any:
    """Loads the tokenizer of a model with the package ``tokenizers``.

    Args:
        folder (path): The folder of the model, with ``tokenizer.json``.

    Returns:
        tokenizers.Tokenizer: The tokenizer: ``encode(text).ids`` and ``decode(ids)``.

    Raises:
        ImportError: If ``tokenizers`` is not installed.
        FileNotFoundError: If the folder has no ``tokenizer.json``.
        ModelFileError: (a ValueError) If the file is damaged.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            f"tokenizers is not installed: {install_command('tokenizers')}"
        ) from error
    path = Path(folder) / "tokenizer.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: the model has no tokenizer of this format")
    try:
        return Tokenizer.from_file(str(path))
    # The package raises plain exceptions for whatever is wrong with a file.
    except Exception as error:
        raise ModelFileError(f"{path} is not a file of a tokenizer: {error}") from error

"""The error of all files of models."""

from __future__ import annotations

from chainer.serializers import FileFormatError


class ModelFileError(FileFormatError):
    """A file of a model is damaged, does not fit the others, or is not understood.

    It is a ValueError, like the errors of all readers of files in Chainer.
    """

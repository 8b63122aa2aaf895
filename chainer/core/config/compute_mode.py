"""The mode in which links and functions choose their memory layouts."""

from __future__ import annotations

from chainer.core.config.configuration import config


def get_compute_mode() -> str | None:
    """Returns ``chainer.config.compute_mode``.

    Returns:
        str: ``'cudnn_fast'``, in which convolutions hold their weights with the channels last; None
            otherwise.

    Example:
        >>> with chainer.using_config('compute_mode', 'cudnn_fast'):
        ...     chainer.get_compute_mode()
        'cudnn_fast'
    """
    return config.compute_mode

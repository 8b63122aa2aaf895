"""Base class of extensions that plot."""

from __future__ import annotations

from chainer.training import plotting
from chainer.training.extension import Extension


class PlottingExtension(Extension):
    """Extension that needs matplotlib."""

    @staticmethod
    def available() -> bool:
        """Tells whether matplotlib is installed; warns when it is not."""
        return plotting.is_available(warn=True)

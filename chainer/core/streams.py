"""Standard output as a default argument."""

from __future__ import annotations

import sys
from typing import TextIO

#: Default of arguments that are text streams. It means ``sys.stdout`` at the time of the output,
#: which a test or a notebook may have replaced.
STANDARD_OUTPUT: TextIO = sys.stdout


def current_stream(stream: TextIO | None) -> TextIO:
    """Returns the stream to write to.

    Args:
        stream: A stream; ``STANDARD_OUTPUT`` and None mean the present ``sys.stdout``.
    """
    return sys.stdout if stream is None or stream is STANDARD_OUTPUT else stream

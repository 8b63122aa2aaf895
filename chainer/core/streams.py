"""Standard output as a default argument."""

from __future__ import annotations

import sys
from typing import TextIO

#: What signatures show as the default; stands for whatever ``sys.stdout`` is at the time of output.
STANDARD_OUTPUT: TextIO = sys.stdout


def current_stream(stream: TextIO | None) -> TextIO:
    """Returns the stream to write to.

    Args:
        stream: A stream; ``STANDARD_OUTPUT`` and None stand for ``sys.stdout`` as it is now.
    """
    return sys.stdout if stream is None or stream is STANDARD_OUTPUT else stream

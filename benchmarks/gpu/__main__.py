"""Entry point of ``python -m benchmarks.gpu``."""

import sys

from benchmarks.gpu.cli import main

sys.exit(main())

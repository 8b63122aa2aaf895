"""Imported by every Python process that starts in the emulation; does next to nothing at once."""

import importlib.util
import os
import sys
from pathlib import Path

if "CHAINER_EMULATION" in os.environ and importlib.util.find_spec("cupy_backends") is not None:
    folder = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location("chainer_emulation", folder / "__init__.py")
    package = importlib.util.module_from_spec(spec)
    sys.modules["chainer_emulation"] = package
    spec.loader.exec_module(package)

    from chainer_emulation import hooks

    hooks.install()

"""Build hook of the wheel of chainer: records the folder that ``make wheels`` writes wheels to.

Messages then name that folder in the commands that they print (chainer/core/installation.py). A
wheel for a package index has no such record: CHAINER_WHEELS_FOLDER is not set when it is built.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The same name as WHEELS_RECORD in chainer/core/installation.py.
RECORD = "chainer/wheels_folder.txt"


class WheelsFolder(BuildHookInterface):
    """Adds the record to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get("CHAINER_WHEELS_FOLDER")
        # An editable installation is that of a checkout, whatever the environment says.
        if not folder or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        record = Path(self._folder.name) / "wheels_folder.txt"
        record.write_text(f"{folder}\n", encoding="utf-8")
        build_data["force_include"][str(record)] = RECORD

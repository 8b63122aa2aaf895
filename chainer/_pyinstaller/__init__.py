"""Hooks for PyInstaller, which finds them by the entry point ``hook-dirs`` of this distribution."""

from __future__ import annotations

from pathlib import Path


def get_hook_dirs() -> list[str]:
    """Returns the folder with the hooks."""
    return [str(Path(__file__).parent)]

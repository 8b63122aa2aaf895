"""Names the modules of Chainer and of plugins that a frozen program needs.

Names are imported at their first use, from references in tables: PyInstaller, which reads import
statements, does not find them. Plugins are found by their metadata, which it leaves out.
"""

# Runs in PyInstaller, which need not be installed where the types are checked.
# pyright: basic, reportMissingImports=false

from PyInstaller.utils.hooks import (
    collect_data_files,
    collect_entry_point,
    collect_submodules,
    copy_metadata,
)

#: Parts that programs do not need: they import pytest and PyInstaller. A program that imports
#: chainer.testing gets it.
LEFT_OUT = ("chainer.testing", "chainer._pyinstaller", "chainer.plugins.templates")


def _is_wanted(name: str) -> bool:
    return not name.startswith(LEFT_OUT)


# on_error: backends import their libraries, which may be missing.
hiddenimports = collect_submodules("chainer", filter=_is_wanted, on_error="ignore")
hiddenimports += ["chainerx", "pluggy"]
datas = collect_data_files("chainer", excludes=["**/*.pyi", "plugins/templates/**"])
datas += copy_metadata("chainer")

# The packs of all plugins, and their metadata; then what the packs refer to.
_metadata, _packs = collect_entry_point("chainer")
datas += _metadata
for _package in {pack.partition(".")[0] for pack in _packs} - {"chainer"}:
    hiddenimports += collect_submodules(_package, on_error="ignore")
    datas += collect_data_files(_package)

"""The metadata of a package, and what the plugin host says about it."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys

import pytest

from chainer import plugins
from chainer.plugins.doctor import examine_name

#: Libraries that a light pack does not import. NumPy and Chainer's own modules are there already.
_HEAVY = ("torch", "jax", "tensorflow", "cupy", "scipy", "matplotlib", "pandas", "numba", "onnx")


@pytest.fixture
def metadata(record):
    if not record.distribution:
        pytest.skip("the plugin was registered at run time, it has no distribution")
    return importlib.metadata.metadata(record.distribution)


def test_doctor_finds_nothing_wrong(record):
    reports = examine_name(record.name, plugins.records())
    errors = [f.text for report in reports for f in report.findings if f.level == "error"]
    assert not errors, "\n".join(errors)


def test_declares_the_plugin_api(record):
    version = getattr(record.plugin, "chainer_api", None)
    assert version == plugins.API_VERSION, (
        f"the pack must have the line 'chainer_api = {plugins.API_VERSION}', it has {version!r}"
    )


def test_requires_a_range_of_chainer(metadata):
    required = metadata.get_all("Requires-Dist") or []
    found = [text for text in required if re.match(r"chainer(?![\w.-])", text)]
    assert found, "its dependencies must name chainer, such as 'chainer>=8,<9'"
    assert ">=" in found[0], f"it must name the oldest Chainer that it works with, got {found[0]!r}"


def test_requires_a_range_of_python(metadata):
    assert metadata.get("Requires-Python"), "requires-python is missing in its pyproject.toml"


def test_has_a_summary_and_a_license(metadata):
    assert metadata.get("Summary"), "description is missing in its pyproject.toml"
    license = metadata.get("License-Expression") or metadata.get("License")
    classifiers = metadata.get_all("Classifier") or []
    found = license or any(text.startswith("License ::") for text in classifiers)
    assert found, "license is missing in its pyproject.toml"


def test_the_pack_is_light(record):
    module = record.target.partition(":")[0]
    if not record.target or record.location == "":
        pytest.skip("the plugin was registered at run time")
    code = f"import sys, chainer, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    heavy = sorted(set(_HEAVY) & set(done.stdout.split()))
    assert not heavy, f"{module} imports {', '.join(heavy)}; register 'module:attribute' instead"

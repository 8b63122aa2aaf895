"""The reference of operations is what the script would write."""

import subprocess
import sys

from chainer.core.registry import registries
from tests.docs.author_page import ROOT


def test_is_up_to_date():
    command = [sys.executable, "scripts/make_reference.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_every_operation_and_method():
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for name in registries.operations.names():
        operation = registries.operations.get(name)
        if not type(operation).__module__.startswith("chainer."):
            continue
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        for method in operation.methods:
            assert method in section, f"{name}: {method} is not documented"


def test_explains_the_numbers_of_optimizers():
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    found = 0
    for name in registries.operations.names():
        operation = registries.operations.get(name)
        scalars = getattr(operation, "scalars", None)
        if scalars is None or not type(operation).__module__.startswith("chainer."):
            continue
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        found += 1
        for field in scalars._fields:
            assert f"\n- {field}: " in section, f"{name}: {field} is not explained"
    assert found >= 10

"""Machines that iDeep cannot run on, simulated: all is NumPy's, and ``chainer info`` says why."""

import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import platform, sys
    {first}
    import numpy as np
    import chainer, chainer.functions as F, chainer.links as L
    from chainer.backends import intel64
    from chainer.plugins.cli import main

    assert not intel64.is_ideep_available()
    model = chainer.Sequential(
        L.Convolution2D(3, 4, 3), L.BatchNormalization(4), F.relu, L.Linear(None, 2)
    )
    with chainer.using_config("use_ideep", "auto"):
        optimizer = chainer.optimizers.Adam().setup(model)
        for _ in range(2):
            y = model(np.ones((2, 3, 6, 6), "f"))
            model.cleargrads()
            F.sum(y * y).backward()
            optimizer.update()
    assert {{type(p.array) for p in model.params()}} == {{np.ndarray}}
    try:
        model.to_device("@ideep")
    except RuntimeError as error:
        print("error:", " ".join(str(error).split()))
    main(["info"])
"""

MISSING = "sys.modules['ideep4py'] = None"
ARM = "platform.machine = lambda: 'aarch64'"
NO_CFFI = "sys.modules['cffi'] = None"
CASES = {
    "not installed": (MISSING, {}, "No module named 'ideep4py'; install it with"),
    "other architecture": (ARM, {}, "Linux on x86_64 only; this is linux on aarch64"),
    "no AVX2": ("", {"ONEDNN_MAX_CPU_ISA": "SSE41"}, "the CPU lacks AVX2"),
    "no library": ("", {"IDEEP4PY_LIBRARY": "/no/such/libdnnl.so.3"}, "which does not exist"),
    "no cffi": (NO_CFFI, {}, "the package cffi is not installed: pip install cffi"),
}


@pytest.mark.parametrize("case", CASES)
def test_says_why(case):
    first, variables, reason = CASES[case]
    pytest.importorskip("ideep4py", exc_type=ImportError)
    environment = {k: v for k, v in os.environ.items() if k != "IDEEP4PY_LIBRARY"} | variables
    code = textwrap.dedent(SCRIPT).format(first=textwrap.dedent(first))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (error,) = [line for line in done.stdout.splitlines() if line.startswith("error:")]
    assert reason in error
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("iDeep:")]
    assert line.startswith("iDeep: Not Available (")
    assert reason in line

"""The module ``cudnn``, played by NumPy (``tests/backends/cupy/fake_cudnn.py``)."""

import importlib.util
import sys
from pathlib import Path

_FILE = Path(__file__).resolve().parents[3] / "backends" / "cupy" / "fake_cudnn.py"
_spec = importlib.util.spec_from_file_location("chainer_emulation_fake_cudnn", _FILE)
_module = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _module
_spec.loader.exec_module(_module)


class _Forgetful(list):
    """What the fake keeps for tests that look at it, which would here keep all memory."""

    def append(self, item):
        pass


_fake = _module.FakeCudnn()
_fake.graphs, _fake.streams = _Forgetful(), _Forgetful()
_fake._compiled_module.backend_graph._execute_plan_at_index = True


def __getattr__(name):
    return getattr(_fake, name)

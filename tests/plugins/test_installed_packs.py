"""Distributions installed beside Chainer, each seen from a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

FUNCTIONS = """
    import numpy as np
    import chainer
    from chainer import FunctionNode

    class Halve(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] / 2,)

        def backward(self, indexes, grad_outputs):
            return (grad_outputs[0] / 2,)

    def halve(x):
        return Halve().apply((x,))[0]
"""

PACK = """
    chainer_api = 1

    def chainer_functions(registry):
        registry.register("halve", "halve_functions:halve")
"""


def test_a_function_pack(site: Any) -> None:
    site.add(
        "chainer-halve",
        entry_points={"halve": "halve_pack"},
        modules={"halve_pack": PACK, "halve_functions": FUNCTIONS},
    )
    result = site.value("""
        import json, sys
        import numpy as np
        import chainer
        import chainer.functions as F
        assert "halve_pack" not in sys.modules
        x = chainer.Variable(np.array([4.0], "f"))
        F.tanh(x)
        assert "halve_pack" not in sys.modules       # no code asked for what it supplies
        y = F.halve(x)
        y.backward()
        assert "halve" in vars(F)                    # a plain attribute from now on
        assert "halve" in dir(chainer.functions)
        print(json.dumps([float(y.array[0]), float(x.grad[0])]))
    """)
    assert result == [2.0, 0.5]


BACKEND = """
    import numpy as np
    from chainer.core.arrays.backend import Backend
    from chainer.core.arrays.device import Device

    class Boxed:
        def __init__(self, array):
            self.array = array

        shape = property(lambda self: self.array.shape)
        dtype = property(lambda self: self.array.dtype)

    class BoxedBackend(Backend):
        name = "boxed"
        array_types = ("boxed_backend:Boxed",)
        family = "boxed"

        @property
        def xp(self):
            import boxed_backend
            return boxed_backend

        def from_host(self, array, device):
            return Boxed(array.copy())

        def to_host(self, array):
            return array.array.copy()

    backend = BoxedBackend()
"""

BACKEND_PACK = """
    def chainer_backends(registry):
        registry.register("boxed", "boxed_backend:backend")
"""


def test_a_backend_pack_is_there_as_soon_as_its_arrays_come(site: Any) -> None:
    site.add(
        "chainer-boxed",
        entry_points={"boxed": "boxed_pack"},
        modules={"boxed_pack": BACKEND_PACK, "boxed_backend": BACKEND},
    )
    result = site.value("""
        import json, sys
        import numpy as np
        import chainer
        chainer.as_variable(np.zeros(2, "f"))
        assert "boxed_pack" not in sys.modules
        import boxed_backend
        array = boxed_backend.Boxed(np.ones(3))
        xp = chainer.backend.get_array_module(array)
        device = chainer.get_device("@boxed")
        sent = device.send(np.arange(3))
        back = chainer.get_device("@numpy").send(sent)
        print(json.dumps([xp is boxed_backend, str(device), type(sent).__name__, back.tolist()]))
    """)
    assert result == [True, "@boxed", "Boxed", [0, 1, 2]]


KERNEL_PACK = """
    from chainer.core.arrays.kernel import Kernel, register_kernel

    def chainer_kernels(registry):
        kernel = Kernel("sgd_update", "numpy:ndarray", "turbo", "turbo_kernels:SGD")
        register_kernel(kernel, registry)
"""

KERNELS = """
    class SGD:
        def __init__(self, backend):
            pass

        def update_many(self, rows, scalars):
            for param, grad in rows:
                param -= scalars.lr * grad
"""


def test_a_kernel_pack_changes_nothing_until_it_is_named(site: Any) -> None:
    site.add(
        "chainer-turbo",
        entry_points={"turbo-pack": "turbo_pack"},
        modules={"turbo_pack": KERNEL_PACK, "turbo_kernels": KERNELS},
    )
    result = site.value("""
        import json
        import numpy as np
        import chainer
        from chainer.core.registry import registries
        from chainer.core.arrays.kernel import get_operation
        operation = get_operation("sgd_update")
        array = np.zeros(2, "f")
        def module():
            return type(operation.select(array, array)).__module__
        found = [module()]
        with chainer.using_config("kernels", ("turbo",)):
            found.append(module())
        registries.kernels.load_all()
        found.append(module())
        print(json.dumps(found))
    """)
    assert result[0].startswith("chainer.backends.numpy.kernels")
    assert result == [result[0], "turbo_kernels", result[0]]


def test_a_kernel_pack_takes_part_in_accelerate_by_the_speedup_that_it_declares(site: Any) -> None:
    pack = KERNEL_PACK.replace('"turbo_kernels:SGD")', '"turbo_kernels:SGD", speedup=50.0)')
    site.add(
        "chainer-turbo",
        entry_points={"turbo-pack": "turbo_pack"},
        modules={"turbo_pack": pack, "turbo_kernels": KERNELS},
    )
    program = """
        import json
        import numpy as np
        import chainer
        import chainer.links as L
        operation = chainer.kernel.get_operation("sgd_update")
        array = np.zeros(2, "f")
        explanation = chainer.explain("sgd_update", array, array)
        link = L.Linear(2, 2)
        optimizer = chainer.optimizers.SGD(0.5).setup(link)
        link.cleargrads()
        for param in link.params():
            param.grad = np.ones_like(param.array)
        before = link.b.array.copy()
        optimizer.update()
        moved = float((before - link.b.array)[0])
        print(json.dumps([explanation.chosen.provider, str(explanation), moved]))
    """
    provider, text, moved = site.value(program)
    assert (provider, moved) == ("reference", 0.5)
    assert "accelerate = 'auto' would use 'turbo': 50 times as fast" in text
    provider, text, moved = site.value(program, CHAINER_ACCELERATE="auto")
    assert (provider, moved) == ("turbo", 0.5)
    assert "kernel of 'turbo': 50 times as fast" in text
    for command in ("info", "doctor"):
        output = site.run("-m", "chainer.plugins.cli", command).stdout
        assert "chainer.config.accelerate = 'auto' or CHAINER_ACCELERATE=auto would use" in output
        assert "turbo (1 operation, up to 50 times as fast)" in output
    wrong = site.run("-c", "import chainer", CHAINER_ACCELERATE="fast")
    assert "CHAINER_ACCELERATE must be 'auto' or 'never', got 'fast'" in wrong.stderr


def test_a_broken_pack_breaks_nothing_but_what_it_would_supply(site: Any) -> None:
    site.add(
        "chainer-broken",
        "0.3",
        entry_points={"broken": "broken_pack"},
        modules={"broken_pack": "raise OSError('libbroken.so: cannot open shared object file')"},
    )
    done = site.python("""
        import numpy as np
        import chainer
        import chainer.functions as F
        F.tanh(np.zeros(2, "f"))
        for name in ("first", "second"):
            try:
                getattr(F, name)
            except AttributeError as error:
                assert isinstance(error.__cause__, OSError), error.__cause__
                print(error)
        assert not hasattr(chainer.links, "Third")
    """)
    assert done.stderr.count("plugin 'broken' of chainer-broken 0.3 is not used (failed)") == 1
    assert "no function named 'first'" in done.stdout
    assert "libbroken.so" in done.stdout


def test_a_backend_that_cannot_be_imported_is_no_obstacle_to_others(site: Any) -> None:
    # By name it comes before NumPy's.
    code = "def chainer_backends(registry): registry.register('a_backend', 'a_module:backend')"
    site.add("broken", entry_points={"broken": "broken_pack"}, modules={"broken_pack": code})
    done = site.python("""
        import numpy as np
        import chainer
        import chainer.functions as F
        chainer.plugins.load("broken")
        print(F.relu(np.ones(1, "f")).array, F.relu(np.ones(1, "d").view(np.memmap)).array)
        class Strange:
            shape = (1,)
        assert not chainer.core.arrays.backend.is_array(Strange())
        try:
            chainer.get_device("@a_backend")
        except ImportError as error:
            print(error)
    """)
    assert done.stdout.startswith("[1.] [1.]\n'a_backend' could not be loaded from")
    assert done.stderr.count("backend is not used: 'a_backend' could not be loaded") == 1


def test_strict_mode(site: Any) -> None:
    site.add("broken", entry_points={"b": "broken_pack"}, modules={"broken_pack": "1 / 0"})
    code = "import chainer.functions as F; print('imported', flush=True); F.no_such_function"
    done = site.run("-c", code, CHAINER_PLUGINS_STRICT="1")
    assert done.returncode == 1
    assert done.stdout == "imported\n"
    assert "ZeroDivisionError" in done.stderr
    assert "PluginError: plugin 'b' of broken 1.0 failed: ZeroDivisionError" in done.stderr


def test_a_slow_pack_slows_nobody_who_does_not_use_it(site: Any) -> None:
    code = """
        import time
        time.sleep(0.5)
        def chainer_functions(registry):
            registry.register("late", "math:sin")
    """
    site.add("chainer-slow", entry_points={"slow": "slow_pack"}, modules={"slow_pack": code})
    seconds = site.value("""
        import json, math, sys
        import numpy as np
        import chainer
        import chainer.functions as F, chainer.links as L
        layer = L.Linear(2, 3)
        F.tanh(layer(np.zeros((1, 2), "f")))
        (record,) = [r for r in chainer.plugins.records() if r.name == "slow"]
        assert record.state == "found" and record.seconds is None
        assert "slow_pack" not in sys.modules
        assert F.late is math.sin
        print(json.dumps(record.seconds))
    """)
    assert seconds >= 0.5


def test_nothing_heavy_is_imported_with_chainer(site: Any) -> None:
    modules = site.value("""
        import json, sys
        import numpy
        before = set(sys.modules)
        import chainer
        print(json.dumps(sorted(set(sys.modules) - before)))
    """)
    heavy = {
        "pluggy",
        "importlib.abc",
        "importlib.metadata",
        "argparse",
        "difflib",
        "zipfile",
        "chainer.functions",
    }
    assert heavy.isdisjoint(modules)


def test_a_blocked_pack(site: Any) -> None:
    code = "raise AssertionError('imported')"
    site.add("b", entry_points={"blocked": "blocked_pack"}, modules={"blocked_pack": code})
    states = site.value(
        """
        import json, chainer, chainer.functions
        dir(chainer.functions)
        print(json.dumps({r.name: r.state for r in chainer.plugins.records()}))
        """,
        CHAINER_DISABLE_PLUGINS="blocked",
    )
    assert states["blocked"] == "blocked"
    assert states["functions"] == "loaded"


def test_a_pack_cannot_take_a_name_of_ours(site: Any) -> None:
    code = "def chainer_functions(registry): registry.register('tanh', 'math:sin')"
    site.add("rival", "7.0", entry_points={"rival": "rival_pack"}, modules={"rival_pack": code})
    done = site.python("""
        import chainer
        import chainer.functions as F
        chainer.plugins.load("rival")
        print(F.tanh.__module__)
    """)
    assert done.stdout == "chainer.functions.activation.tanh\n"
    assert "function 'tanh' of plugin 'rival' of rival 7.0" in done.stderr
    assert "of chainer 8" in done.stderr


def test_a_trainer_event(site: Any) -> None:
    code = "def chainer_trainer_start(trainer): print('starts', trainer)"
    site.add("watch", entry_points={"watch": "watch_pack"}, modules={"watch_pack": code})
    program = """
        import chainer
        from chainer.core import events
        events.emit("chainer_trainer_start", trainer="T")
    """
    assert site.python(program).stdout == ""
    assert site.python(program, CHAINER_ENABLE_PLUGINS="watch").stdout == "starts T\n"


def test_an_unknown_name_in_a_from_import(site: Any) -> None:
    done = site.run("-c", "from chainer.functions import reluu")
    assert done.returncode == 1
    assert "cannot import name 'reluu' from 'chainer.functions'" in done.stderr


def test_pip_installs_a_pack(site: Any, tmp_path: Any) -> None:
    code = "def chainer_functions(registry): registry.register('piped', 'math:cos')\n"
    wheel = site.wheel("chainer-piped", "1.0", {"piped": "chainer_piped"}, code)
    target = tmp_path / "target"
    options = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(wheel)],
        check=True,
        timeout=120,
    )
    installed = type(site)(target)
    assert (target / "chainer_piped-1.0.dist-info" / "INSTALLER").read_text().strip() == "pip"
    program = """
        import chainer, json, math
        assert chainer.functions.piped is math.cos
        (record,) = [r for r in chainer.plugins.records() if r.name == "piped"]
        print(json.dumps(record.as_dict()))
    """
    record = installed.value(program)
    assert json.dumps(record)
    assert (record["distribution"], record["version"], record["state"]) == (
        "chainer-piped",
        "1.0",
        "loaded",
    )
    assert record["registered"] == {"functions": ["piped"]}


def test_a_malformed_entry_point_does_not_disturb_the_import(site: Any) -> None:
    site.add("malformed", entry_points={"bad": "a module"})
    code = "import chainer; print('imported', flush=True); chainer.functions.no_such_function"
    done = site.run("-c", code, CHAINER_PLUGINS_STRICT="1")
    assert done.stdout == "imported\n"
    assert "must point to 'module' or 'module:object', got 'a module'" in done.stderr
    done = site.run("-c", "import chainer; chainer.functions.tanh")
    assert (done.returncode, done.stderr) == (0, "")

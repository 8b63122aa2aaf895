"""The small plugin: a folder to import from, with a fault planted into the code."""

import textwrap
from pathlib import Path

from chainer.plugins import scaffold
from chainer.plugins.plugin_names import PluginNames

#: Where the fault is called. ``planted.py`` beside the plugin has its code.
_HOOK = "\nimport planted\nplanted.plant({place!r}, globals())\n"

PACK = '''
"""A backend, kernels and functions."""

from chainer.kernel import KernelDeclaration, register_kernel

chainer_api = 1

OPERATIONS = (
    "softmax", "relu", "sigmoid", "linear", "batch_normalization", "adam_update", "dropout",
    "max_pooling_nd", "layer_normalization", "softmax_cross_entropy", "embedding",
)


def chainer_backends(registry):
    registry.register("small", "chainer_small.backend:backend")


def chainer_kernels(registry):
    for provider, array_type in (
        ("small", "chainer_small.array:SmallArray"), ("swift", "numpy:ndarray")
    ):
        for operation in OPERATIONS:
            register_kernel(
                KernelDeclaration(
                    operation=operation,
                    array_type=array_type,
                    provider=provider,
                    load=f"chainer_small.kernels:{operation}",
                ),
                registry,
            )


def chainer_functions(registry):
    for name in ("twice", "product", "cube"):
        registry.register(name, f"chainer_small.functions:{name}")
'''

KERNELS = '''
"""Kernels: those of the reference, each method of which a fault may replace."""

import functools

import numpy as np
from chainer.kernel import get_operation
from chainer.core.lazy import resolve

#: (operation, method) -> function of the original method, the kernel and the arguments.
FAULTS = {}


class Kernel:
    def __init__(self, name, backend):
        operation = get_operation(name)
        self.backend = backend
        self.xp = backend.xp
        kernel = resolve(operation.reference)(backend)
        for method in operation.methods:
            original = getattr(kernel, method)
            fault = FAULTS.get((name, method))
            setattr(self, method, functools.partial(fault, original) if fault else original)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return functools.partial(Kernel, name)
'''

FUNCTIONS = '''
"""Three functions."""

from chainer import FunctionNode
from chainer.utils import type_check


class Twice(FunctionNode):
    """Two times the input."""

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs):
        return (inputs[0] * inputs[0].dtype.type(2),)

    def backward(self, target_input_indexes, grad_outputs):
        return (twice(grad_outputs[0]),)


class Product(FunctionNode):
    """Elementwise product of arrays of one shape."""

    def check_type_forward(self, in_types):
        type_check.expect(
            in_types.size() == 2, in_types[0].dtype.kind == "f",
            in_types[0].shape == in_types[1].shape,
        )

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, target_input_indexes, grad_outputs):
        x, y = self.get_retained_inputs()
        gradients = product(grad_outputs[0], y), product(grad_outputs[0], x)
        return tuple(gradients[i] for i in target_input_indexes)


class Cube(FunctionNode):
    """Third power."""

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] * inputs[0] * inputs[0],)

    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (grad_outputs[0] * x * x * 3,)


def twice(x):
    """Returns two times the input."""
    return Twice().apply((x,))[0]


def product(x, y):
    """Returns the elementwise product."""
    return Product().apply((x, y))[0]


def cube(x):
    """Returns the third power."""
    return Cube().apply((x,))[0]
'''

SPECS = '''
"""Rows of the functions."""

import numpy as np
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.utils.type_check import InvalidType

ROWS = {
    "twice": (lambda x: 2 * x, 1), "product": (lambda x, y: x * y, 2), "cube": (lambda x: x**3, 1)
}


def _row(name, reference, count):
    arrays = lambda draw, shape: [draw(shape) for _ in range(count)]
    return OpSpec(
        name,
        reference=reference,
        samples=lambda draw: [
            Sample(*arrays(draw, (2, 3))),
            Sample(*arrays(draw, ()), kind="zero-dim"),
            Sample(*arrays(draw, (0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(
                *[np.ones((2, 3), np.int32)] * count,
                error=InvalidType,
                match=r"in_types\\[0\\]\\.dtype\\.kind == f",
            )
        ],
    )


SPECS = [_row(name, *row) for name, row in ROWS.items()]
'''

METADATA = """\
Metadata-Version: 2.4
Name: chainer-small
Version: 1.0
Summary: A small plugin for tests
License-Expression: MIT
Requires-Python: >=3.11
Requires-Dist: chainer>=8,<9
"""


def build(folder: Path, code: str = "") -> Path:
    """Writes the plugin into a folder that can be put on the path.

    Args:
        folder: The folder.
        code: Program of the fault: ``def backend(...)``, ``def kernels(...)`` or
            ``def functions(...)``, a function that gets the names of the module of this name.
    """
    names = PluginNames("chainer-small", "chainer_small", "small", "Small")
    files = scaffold.render("backend", names)
    package = folder / "chainer_small"
    package.mkdir(parents=True)
    for path, text in files.items():
        if path.startswith("src/chainer_small/"):
            (package / path.rpartition("/")[2]).write_text(text)
    with open(package / "backend.py", "a") as file:
        file.write(_HOOK.format(place="backend"))
    (package / "pack.py").write_text(PACK.lstrip())
    (package / "kernels.py").write_text(KERNELS.lstrip() + _HOOK.format(place="kernels"))
    (package / "functions.py").write_text(FUNCTIONS.lstrip() + _HOOK.format(place="functions"))
    (package / "specs.py").write_text(SPECS.lstrip())
    planter = "def plant(place, names):\n    fault = globals().get(place)\n    if fault:\n"
    text = "import numpy as np\n\n" + textwrap.dedent(code) + "\n\n" + planter
    (folder / "planted.py").write_text(text + "        fault(names)\n")
    info = folder / "chainer_small-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text("[chainer]\nsmall = chainer_small.pack\n")
    return folder

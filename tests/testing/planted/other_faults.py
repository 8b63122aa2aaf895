"""The same kinds of faults in kernels for NumPy's arrays, and in functions."""

# ruff: noqa: E501 (programs in texts)

from tests.testing.planted.faults import BACKEND, THREADS, Fault, function_fault, kernel_fault

#: The same kinds of faults in kernels for NumPy's arrays.
PROVIDER = [
    *(
        Fault(fault.name, fault.code, fault.near, fault.places, "swift")
        for fault in BACKEND
        if fault.code.startswith("def kernels")
    ),
    *(
        Fault(fault.name, fault.code, fault.near, fault.places, "swift")
        for fault in (
            kernel_fault(
                "a kernel is not deterministic",
                "softmax",
                "forward",
                "return original(*args) * np.asarray(1 + 1e-6 * np.random.rand(), args[0].dtype)",
                "[softmax-",
            ),
            kernel_fault(
                "a kernel loses the dtype",
                "layer_normalization",
                "forward",
                "y = original(*args, **kwargs)\n"
                "widen = lambda a: a.astype('d') if hasattr(a, 'astype') else a\n"
                "return tuple(map(widen, y)) if isinstance(y, tuple) else widen(y)",
                "[layer_normalization-",
            ),
            kernel_fault(
                "the gradient of a kernel has the wrong sign",
                "max_pooling_nd",
                "backward",
                "return -original(*args, **kwargs)",
                "[max_pooling",
                "F.max_pooling_1d",
                "F.max_pooling_2d",
                "F.max_pooling_nd",
            ),
            kernel_fault(
                "a race for memory",
                "softmax",
                "forward",
                "memory = fault.__dict__\nmemory['x'] = args[0]\nfor _ in range(500): pass\n"
                "return original(memory['x'], *args[1:])",
                "contract_threads",
                THREADS,
            ),
        )
    ),
]

#: The same kinds of faults in functions.
FUNCTIONS = [
    function_fault(
        "wrong values",
        "Cube",
        "cls.forward = lambda self, x: (self.retain_inputs((0,)), (x[0] * x[0] * abs(x[0]),))[1]",
        "cube",
    ),
    function_fault(
        "the gradient misses a term",
        "Product",
        "cls.backward = lambda self, i, g: tuple(\n"
        "    [product(g[0], self.get_retained_inputs()[1]), None][j] for j in i)",
        "product",
    ),
    function_fault(
        "the second gradient is wrong",
        "Cube",
        "def backward(self, i, g):\n"
        "    (x,) = self.get_retained_inputs()\n"
        "    return (g[0] * x * x.array * 3,)\n"
        "cls.backward = backward",
        "cube",
    ),
    function_fault(
        "the gradient is of another dtype",
        "Twice",
        "cls.forward = lambda self, x: ((x[0] * 2).astype('d'),)",
        "twice",
    ),
    function_fault(
        "the input is changed",
        "Twice",
        "def forward(self, inputs):\n    inputs[0][...] *= 2\n    return (inputs[0].copy(),)\n"
        "cls.forward = forward",
        "twice",
    ),
    function_fault(
        "bad inputs are accepted",
        "Product",
        "cls.check_type_forward = lambda self, types: None",
        "product",
    ),
    function_fault(
        "not deterministic",
        "Twice",
        "import numpy as np\n"
        "cls.forward = lambda self, x: (x[0] * x[0].dtype.type(2 + 1e-6 * np.random.rand()),)",
        "twice",
    ),
    function_fault(
        "empty arrays fail",
        "Cube",
        "forward = cls.forward\ncls.forward = lambda self, x: (x[0].max(), forward(self, x))[1]",
        "cube",
    ),
    function_fault(
        "the order of the gradients",
        "Product",
        "backward = cls.backward\ncls.backward = lambda self, i, g: backward(self, i, g)[::-1]",
        "product",
    ),
    function_fault(
        "values remembered by shape",
        "Twice",
        "memory, forward = {}, cls.forward\n"
        "cls.forward = lambda self, x: memory.setdefault((x[0].shape, x[0].dtype), forward(self, x))",
        "twice",
    ),
    function_fault(
        "strides are ignored",
        "Twice",
        "def forward(self, inputs):\n"
        "    (x,) = inputs\n"
        "    order = sorted(range(x.ndim), key=lambda i: -x.strides[i])\n"
        "    return (x.transpose(order).reshape(x.shape) * x.dtype.type(2),)\n"
        "cls.forward = forward",
        "twice",
    ),
    function_fault(
        "a native crash",
        "Cube",
        "import os, signal\n"
        "forward = cls.forward\n"
        "cls.forward = lambda self, x: os.kill(os.getpid(), signal.SIGSEGV) if x[0].ndim == 0 else forward(self, x)",
        "cube",
    ),
]

#: All faults, by kind of plugin.
ALL = {"backend": BACKEND, "kernels": PROVIDER, "functions": FUNCTIONS}

"""The faults: a program that plants each one, the tests near it, and the place to be named."""

# ruff: noqa: E501 (programs in texts)

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes:
        name: Its name.
        code: Program (see :func:`tests.testing.planted.site.build`).
        near: Tests near it, as an expression of pytest's option ``-k``.
        places: Places of which the report must name one among the first five.
        subject: What is certified.
    """

    name: str
    code: str
    near: str
    places: tuple[str, ...]
    subject: str = "@small"


def _backend(name: str, body: str, near: str, *places: str) -> Fault:
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    names = ("xp", "SmallArray", "wrapped", "bare", "SmallBackend", "Device")
    unpack = "\n".join(f"    {name} = names[{name!r}]" for name in names)
    return Fault(name, f"def backend(names):\n{unpack}\n{lines}\n", near, places)


def kernel_fault(
    name: str, operation: str, method: str, body: str, near: str, *places: str
) -> Fault:
    lines = "\n".join("        " + line for line in body.strip().splitlines())
    code = (
        f"def kernels(names):\n    def fault(original, *args, **kwargs):\n{lines}\n"
        f"    names['FAULTS'][{operation!r}, {method!r}] = fault\n"
    )
    return Fault(name, code, near, places or (f"F.{operation}",))


def function_fault(
    name: str, cls: str, body: str, function: str, place: str | None = None
) -> Fault:
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    code = f"def functions(names):\n    cls = names[{cls!r}]\n    twice, product = names['twice'], names['product']\n{lines}\n"
    return Fault(name, code, f"[{function}", (place or f"F.{function}",), "chainer-small")


_ARRAYS = "contract_arrays"
_A, _B, _D, _T = "contract: arrays", "contract: backend", "contract: devices", "contract: transfers"
_V, _TR, _C, THREADS = (f"contract: {n}" for n in ("variables", "training", "capture", "threads"))

#: Replaces a function of xp by one that changes the result of NumPy's.
_XP = "original = xp.{name}\nxp.{name} = lambda *a, **k: {change}"


def _xp(name: str, function: str, change: str, near: str, *places: str) -> Fault:
    return _backend(name, _XP.format(name=function, change=change), near, *places)


_UFUNC = """
original = SmallArray.__array_ufunc__
def method(self, ufunc, kind, *inputs, **kwargs):
    result = original(self, ufunc, kind, *inputs, **kwargs)
{lines}
    return result
SmallArray.__array_ufunc__ = method
"""


def _ufunc(name: str, lines: str, near: str, *places: str) -> Fault:
    indented = "\n".join("    " + line for line in lines.strip().splitlines())
    return _backend(name, _UFUNC.format(lines=indented), near, *places)


BACKEND = [
    # wrong axis
    _backend(
        "sum over the wrong axis",
        "original = SmallArray.sum\n"
        "def method(self, axis=None, **k):\n"
        "    return original(self, axis=0 if axis == 1 and self.ndim == 2 else axis, **k)\n"
        "SmallArray.sum = method",
        _ARRAYS,
        _A,
    ),
    _xp("cumsum over the wrong axis", "cumsum", "original(a[0], axis=0)", _ARRAYS, _A),
    _xp("transposed einsum", "einsum", "original(*a, **k).T", _ARRAYS, _A, "F.einsum"),
    _xp("concatenate ignores the axis", "concatenate", "original(a[0])", _ARRAYS, _A),
    _xp("swapaxes of other axes", "swapaxes", "original(a[0], 0, -1)", "[swapaxes-", "F.swapaxes"),
    _xp("expand_dims at the end", "expand_dims", "original(a[0], -1)", _ARRAYS, _A),
    _xp("reversed stack", "stack", "original(a[0][::-1], **k)", "[stack-", "F.stack"),
    # values
    _xp("where swaps its arguments", "where", "original(a[0], *a[:0:-1])", _ARRAYS, _A),
    _xp("exp is not precise", "exp", "original(*a, **k) * (1 + 1e-3)", _ARRAYS + " or [exp-", _A),
    _xp("tanh of large values", "tanh", "original(*a, **k).clip(-.9, .9)", _ARRAYS, _A, "F.tanh"),
    _xp("matmul forgets a term", "matmul", "original(*a, **k) * 0.999", _ARRAYS, _A, "F.matmul"),
    _xp("tensordot of other axes", "tensordot", "original(a[0], a[1], 1)", _ARRAYS, _A),
    _xp("sign of zero", "sign", "original(*a, **k) + (a[0] == 0)", _ARRAYS, _A),
    _xp("maximum is minimum", "maximum", "__import__('numpy').minimum(*a, **k)", _ARRAYS, _A),
    _ufunc(
        "division rounds to zero",
        "if ufunc is np.floor_divide: result = wrapped(np.trunc(bare(inputs[0]) / bare(inputs[1])).astype(result.dtype))",
        _ARRAYS,
        _A,
    ),
    _backend(
        "clip has no lower bound",
        "SmallArray.clip = lambda self, low, high: xp.minimum(self, high)",
        _ARRAYS,
        _A,
    ),
    # dtype
    _backend(
        "float64 becomes float32",
        "original = SmallBackend.from_host\n"
        "SmallBackend.from_host = lambda self, array, device: original(\n"
        "    self, array.astype('f') if array.dtype == 'd' else array, device)",
        "contract_transfers",
        _T,
    ),
    _ufunc(
        "numbers change the dtype",
        "if ufunc is np.multiply and any(type(x) is float for x in inputs): result = result.astype('d')",
        _ARRAYS,
        _A,
    ),
    _ufunc(
        "comparisons are of integers",
        "if result is not None and result.dtype == bool: result = result.astype('uint8')",
        _ARRAYS,
        _A,
    ),
    _backend(
        "float16 becomes float32",
        "original = SmallArray.astype\n"
        "SmallArray.astype = lambda self, dtype, **k: original(\n"
        "    self, 'float32' if np.dtype(dtype) == 'float16' else dtype, **k)",
        _ARRAYS,
        _A,
    ),
    _backend(
        "sums are numbers of Python",
        "original = SmallArray.sum\n"
        "def method(self, *a, **k):\n"
        "    y = original(self, *a, **k)\n"
        "    return float(y) if y.shape == () else y\n"
        "SmallArray.sum = method",
        "[sum- or " + _ARRAYS,
        "F.sum",
        _A,
    ),
    _xp(
        "means are of float64",
        "mean",
        "original(*a, **k).astype('d')",
        "[average- or [mean- or " + _ARRAYS,
        "F.average",
        "F.mean",
        _A,
    ),
    # views and copies
    _backend(
        "slices are copies",
        "original = SmallArray.__getitem__\n"
        "SmallArray.__getitem__ = lambda self, key: original(self, key).copy()",
        _ARRAYS,
        _A,
    ),
    _backend(
        "copies are views",
        "SmallBackend.copy = lambda self, array, device: array[...]",
        "contract_transfers or contract_variables",
        _T,
        _V,
    ),
    _backend(
        "memory of the host is shared",
        "SmallBackend.from_host = lambda self, array, device: wrapped(array)",
        "contract_transfers",
        _T,
    ),
    _backend(
        "memory is given to the host",
        "SmallBackend.to_host = lambda self, array: bare(array)",
        "contract_transfers",
        _T,
    ),
    _backend(
        "addition in place makes an array",
        "SmallArray.__iadd__ = lambda self, other: self + other",
        _ARRAYS,
        _A,
    ),
    _xp("out is ignored", "add", "original(*a)", _ARRAYS, _A),
    _backend(
        "deepcopy shares memory",
        "SmallArray.__deepcopy__ = lambda self, memo: self",
        "contract_training or contract_variables",
        _V,
        _TR,
    ),
    # host and device
    _xp(
        "silent copies to the host",
        "exp",
        "bare(original(*a, **k))",
        "contract_arrays or [exp-",
        _A,
        "F.exp",
    ),
    _backend(
        "mixes with the host",
        "SmallBackend.family = 'host'",
        "contract_transfers or contract_backend",
        _T,
        _B,
    ),
    _backend(
        "takes operators from variables",
        "SmallArray.__add__ = lambda self, other: wrapped(np.add(bare(self), getattr(other, 'array', other)))",
        _ARRAYS,
        _A,
    ),
    _backend(
        "takes any device",
        "SmallBackend.device = lambda self, index=None: Device(self)",
        "contract_devices",
        _D,
    ),
    _backend("has no version", "SmallBackend.version = lambda self: ''", "contract_backend", _B),
    _backend(
        "pickles lose the type",
        "SmallArray.__reduce__ = lambda self: bare(self).__reduce__()",
        "contract_variables",
        _V,
    ),
    # random numbers
    _backend(
        "seeds are ignored",
        "xp.random.seed = lambda *a: None",
        _ARRAYS,
        _A,
    ),
    _backend(
        "uniform ignores its bounds",
        "original = xp.random.uniform\n"
        "xp.random.uniform = lambda low=0, high=1, size=None: original(size=size)",
        _ARRAYS,
        _A,
    ),
    _backend(
        "all draws are the same",
        "def uniform(low=0, high=1, size=None):\n"
        "    return wrapped(np.random.RandomState(0).uniform(low, high, size))\n"
        "xp.random.uniform = uniform",
        _ARRAYS,
        _A,
    ),
    # repetition, threads, recording
    _xp(
        "matmul is not deterministic",
        "matmul",
        "original(*a, **k) * np.float32(1 + 1e-7 * (id(object()) % 3 + np.random.rand()))",
        "[matmul-",
        "F.matmul",
    ),
    _backend(
        "a race for memory",
        "memory = {}\n"
        "original = SmallArray.__array_ufunc__\n"
        "def method(self, ufunc, kind, *inputs, **kwargs):\n"
        "    memory['x'] = inputs\n"
        "    for _ in range(20): pass\n"
        "    return original(self, ufunc, kind, *memory['x'], **kwargs)\n"
        "SmallArray.__array_ufunc__ = method",
        "contract_threads",
        THREADS,
    ),
    _backend(
        "a recorder of other arrays",
        "from chainer.backend import get_backend\n"
        "host = get_backend('numpy')\n"
        "SmallBackend.recorder = lambda self, device: host.recorder(host.device())",
        "contract_capture",
        _C,
    ),
    # its own kernels
    kernel_fault(
        "softmax over the wrong axis",
        "softmax",
        "forward",
        "return original(args[0], 0)",
        "[softmax-",
    ),
    kernel_fault(
        "gradient of softmax misses a term",
        "softmax",
        "backward",
        "y, gy, axis = args\nreturn y * gy",
        "[softmax-",
    ),
    kernel_fault(
        "gradient of sigmoid misses a term",
        "sigmoid",
        "backward",
        "y, gy = args[-2:]\nreturn gy * y",
        "[sigmoid-",
    ),
    kernel_fault(
        "relu changes its input",
        "relu",
        "forward",
        "args[0][args[0] < 0] = 0\nreturn original(*args)",
        "[relu-",
    ),
    kernel_fault(
        "linear ignores the bias",
        "linear",
        "forward",
        "return original(args[0], args[1], *[None if a is not None and i == 0 else a for i, a in enumerate(args[2:])])",
        "[linear",
        "F.linear",
        "F.linear_bias",
    ),
    kernel_fault(
        "a stale kernel",
        "relu",
        "forward",
        "memory = fault.__dict__.setdefault('memory', {})\n"
        "return memory.setdefault(args[0].shape, original(*args)).copy()",
        "[relu- or [leaky",
    ),
    kernel_fault(
        "a kernel for contiguous arrays only",
        "sigmoid",
        "forward",
        "x = args[0]\n"
        "order = sorted(range(x.ndim), key=lambda i: -x.strides[i])\n"
        "return original(x.transpose(order).reshape(x.shape))",
        "[sigmoid-",
    ),
    kernel_fault(
        "a kernel that fails on empty arrays",
        "softmax",
        "forward",
        "args[0].max()\nreturn original(*args)",
        "[softmax-",
    ),
    kernel_fault(
        "the moments of Adam are not corrected",
        "adam_update",
        "update_many",
        "rows, scalars = args\n"
        "return original(rows, scalars._replace(**{scalars._fields[0]: scalars[0] * 0.5}))",
        "contract_training",
        _TR,
    ),
    # native code
    _backend(
        "a native crash",
        "import os, signal\n"
        "original = xp.cumsum\n"
        "xp.cumsum = lambda *a, **k: os.kill(os.getpid(), signal.SIGFPE)",
        _ARRAYS,
        _A,
    ),
]

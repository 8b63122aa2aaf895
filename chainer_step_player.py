"""Runs a captured training step from a file; needs NumPy only.

``step.save(path)`` of a step that ``chainer.capture`` recorded writes such a file. It holds the
calls of NumPy that the step consists of, parameters, states and counters of optimizers, and names.
Nothing in it is unpickled or executed: a call is a name of a list in this module, and its arguments
are numbers, arrays and slices. A name that is not in the list is refused.

Run as ``python -m chainer_step_player step.npz batch.npz --steps 100 --save step.npz``. The file
``batch.npz`` has the arguments of the step in their order, as ``numpy.savez(path, x, t)`` writes
them. From Python::

    import chainer_step_player
    step = chainer_step_player.load("step.npz")
    loss = step(x, t)
    step.save("step.npz")                                  # to go on later
    numpy.savez("model.npz", **step.snapshot(0))           # for chainer.serializers.load_npz

Results are equal to those of the captured step in every bit, on the same machine with the same
release of NumPy.
"""

from __future__ import annotations

import argparse
import json
import math
import operator
import os
import sys
import tempfile
import threading

import numpy

FORMAT = "chainer step"
VERSION = 1

_UFUNC_METHODS = frozenset(("reduce", "reduceat", "accumulate", "outer", "at"))

_METHODS = frozenset(
    (
        *("__getitem__", "__setitem__", "all", "any", "argmax", "argmin", "argpartition"),
        *("argsort", "astype", "choose", "clip", "conj", "copy", "cumprod", "cumsum", "diagonal"),
        *("dot", "fill", "flatten", "max", "mean", "min", "partition", "prod", "put", "ravel"),
        *("repeat", "reshape", "round", "sort", "squeeze", "std", "sum", "swapaxes", "take"),
        *("trace", "transpose", "var"),
    )
)

#: Functions that compute a result from their arguments and do nothing else.
_FUNCTIONS = frozenset(
    (
        *("all", "any", "arange", "argmax", "argmin", "argpartition", "argsort", "array"),
        *("array_split", "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "atleast_3d"),
        *("average", "bincount", "broadcast_to", "choose", "clip", "concatenate", "copy", "copyto"),
        *("cross", "cumprod", "cumsum", "delete", "diag", "diagonal", "diff", "digitize", "dot"),
        *("dstack", "einsum", "expand_dims", "eye", "flip", "fliplr", "flipud", "full"),
        *("full_like", "hstack", "identity", "inner", "insert", "interp", "kron", "linspace"),
        *("max", "mean", "median", "min", "moveaxis", "nan_to_num", "nanmax", "nanmean"),
        *("nanmin", "nansum", "ones", "ones_like", "outer", "pad", "prod", "ptp"),
        *("put_along_axis", "ravel", "repeat", "reshape", "roll", "rollaxis", "rot90", "round"),
        *("searchsorted", "sort", "split", "squeeze", "stack", "std", "sum", "swapaxes", "take"),
        *("take_along_axis", "tensordot", "tile", "trace", "transpose", "trapezoid", "tri"),
        *("tril", "triu", "var", "vdot", "vstack", "where", "zeros", "zeros_like"),
        *("linalg.cholesky", "linalg.det", "linalg.eigh", "linalg.inv", "linalg.norm"),
        *("linalg.pinv", "linalg.qr", "linalg.slogdet", "linalg.solve", "linalg.svd"),
        *("fft.fft", "fft.ifft", "fft.fft2", "fft.ifft2", "fft.fftn", "fft.ifftn", "fft.rfft"),
        *("fft.irfft", "fft.rfftn", "fft.irfftn"),
    )
)

_RANDOM = frozenset(
    (
        *("beta", "binomial", "choice", "exponential", "gamma", "gumbel", "laplace", "logistic"),
        *("lognormal", "multinomial", "normal", "permutation", "poisson", "rand", "randint"),
        *("randn", "random", "random_sample", "shuffle", "standard_gamma", "standard_normal"),
        *("uniform",),
    )
)

#: Operators and functions of expressions.
_OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "neg": operator.neg,
    "abs": abs,
    "float": float,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
}

#: NumPy wants the output of these by name.
_BY_NAME = frozenset((numpy.maximum, numpy.minimum))

_KINDS = frozenset(("UFUNC", "OUT", "ASSIGN", "WRITE", "WHOLE"))


#: Errors that numbers and structures lead to which no step has. A file may declare any memory.
_DAMAGE = (
    *(ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, RecursionError),
    *(StopIteration, SyntaxError, TypeError, ValueError),
)


class StepFileError(ValueError):
    """A file is not one of a captured step, or it needs what is not here."""


def load(path, kernels=None):
    """Reads a file that ``step.save(path)`` wrote.

    Args:
        path: The file.
        kernels: Object that knows the kernels of Chainer: ``method(operation, name)`` returns the
            method of one, and ``record(name)`` the class of an argument. ``chainer.load_step`` has
            it; without it, steps that call kernels are refused.

    Returns:
        Step: The step.

    Raises:
        StepFileError: If the file is another one, of another version or damaged, or if it names a
            call that is not known here.
    """
    try:
        # numpy.load() leaves a file open that it cannot read, unless it gets it opened.
        with open(path, "rb") as stream, numpy.load(stream, allow_pickle=False) as file:
            header = json.loads(file["step"].tobytes().decode())
            _check_header(header, path)
            memory = [_bytes(file[f"memory{i}"]) for i in range(header["memory"])]
            random = file["random"] if header["random"] is not None else None
    except FileNotFoundError:
        raise
    except StepFileError:
        raise
    except Exception as error:
        # Without the text of NumPy, which advises to unpickle what it cannot read.
        raise StepFileError(f"{path}: not the file of a captured step") from error
    try:
        return Step(header, memory, random, kernels)
    except StepFileError as error:
        raise StepFileError(f"{path}: {error}") from None
    except _DAMAGE as error:
        raise StepFileError(f"{path}: the file is damaged ({error!r})") from error


def _check_header(header, path):
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise StepFileError(f"{path}: not the file of a captured step")
    if header.get("version") != VERSION:
        raise StepFileError(
            f"{path}: the file has version {header.get('version')!r} of the format, and this "
            f"player reads version {VERSION}"
        )
    if header["byteorder"] != sys.byteorder:
        raise StepFileError(f"{path}: the file was written on a {header['byteorder']}-endian CPU")


def _bytes(array):
    """Returns bytes in memory that is aligned as arrays of NumPy are for their kernels."""
    if array.dtype != numpy.uint8 or array.ndim != 1:
        raise StepFileError("memory must be bytes")
    aligned = _aligned(array.size)
    aligned[:] = array
    return aligned


def _aligned(nbytes):
    memory = numpy.zeros(nbytes + 64, numpy.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start : start + nbytes]


def resolve(name, random=numpy.random, kernels=None):
    """Returns the function that a call names.

    Args:
        name: A letter for the kind, a colon, and the name.
        random: Object that draws random numbers.
        kernels: See :func:`load`.

    Raises:
        StepFileError: If the name is not known.
    """
    kind, _, rest = name.partition(":")
    first, _, method = rest.partition(".")
    if kind == "ufunc":
        ufunc = getattr(numpy, first, None)
        if isinstance(ufunc, numpy.ufunc) and (not method or method in _UFUNC_METHODS):
            return getattr(ufunc, method) if method else ufunc
    elif kind == "method" and rest in _METHODS:
        return getattr(numpy.ndarray, rest)
    elif kind == "function" and rest in _FUNCTIONS:
        found = numpy
        for part in rest.split("."):
            found = getattr(found, part)
        return found
    elif kind == "random" and rest in _RANDOM:
        return getattr(random, rest)
    elif kind == "kernel":
        if kernels is None:
            raise StepFileError(
                f"the step calls {rest!r}, a kernel of Chainer; load it by chainer.load_step()"
            )
        return kernels.method(*rest.rsplit(".", 1))
    raise StepFileError(f"the call {name!r} is not known")


def flatten(value, found):
    """Returns what tells the structures of arguments apart, and collects their arrays."""
    if isinstance(value, numpy.ndarray):
        found.append(value)
        return {"array": [value.dtype.str, list(value.shape)]}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [flatten(part, found) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[key, flatten(part, found)] for key, part in value.items()]}
    if value is None or type(value) in (bool, int, float, str):
        return {"value": [type(value).__name__, value if type(value) is str else repr(value)]}
    raise TypeError(f"arguments must be arrays, numbers and texts, got {type(value).__name__}")


def unflatten(structure, leaves):
    """Returns a nested structure with given arrays."""
    ((kind, parts),) = structure.items()
    if kind == "array":
        return next(leaves)
    if kind in ("tuple", "list"):
        found = [unflatten(part, leaves) for part in parts]
        return tuple(found) if kind == "tuple" else found
    if kind == "dict":
        return {key: unflatten(part, leaves) for key, part in parts}
    name, text = parts
    make = {"NoneType": lambda _: None, "bool": "True".__eq__, "int": int, "float": float}
    return text if name == "str" else make[name](text)


def _described(structure):
    """Returns the arrays of a structure in words."""
    ((kind, parts),) = structure.items()
    if kind == "array":
        return [f"{numpy.dtype(parts[0])}{parts[1]}"]
    if kind == "value":
        return [parts[1]]
    return [text for part in parts for text in _described(part[1] if kind == "dict" else part)]


def computing(formula, counters, hyperparameters):
    """Returns a function that computes a formula.

    Args:
        formula: A number, or a list of an operator and its operands.
        counters: Numbers of updates by their names.
        hyperparameters: Hyperparameters by their names.
    """
    if not isinstance(formula, list):
        return lambda: formula
    name, *operands = formula
    if name in ("counter", "hyperparameter"):
        (key,) = operands
        values = counters if name == "counter" else hyperparameters
        if key not in values:
            raise StepFileError(f"the {name} {key!r} is not known")
        return lambda: values[key]
    if name not in _OPERATORS:
        raise StepFileError(f"the operator {name!r} is not known")
    function = _OPERATORS[name]
    parts = [computing(operand, counters, hyperparameters) for operand in operands]
    if len(parts) == 1:
        (only,) = parts
        return lambda: function(only())
    first, second = parts
    return lambda: function(first(), second())


class Step:
    """A captured step.

    Attributes:
        hyperparameters (dict): Learning rates and others that may be changed between calls.
        counters (dict): Numbers of updates.
        states (dict): Arrays of parameters and other states by their names. They may be changed in
            place.
        reported (dict): Values that the last call reported.
        gradients (dict): Gradients of the last call, if the step was captured with ``keep_grads``.
    """

    def __init__(self, header, memory, random, kernels):
        self._header, self._memory = header, memory
        self.lock = threading.Lock()
        self._random = numpy.random.RandomState(0)
        if random is not None:
            position, has_gauss, cached = header["random"]
            self._random.set_state(("MT19937", random, position, has_gauss, cached))
        self.counters = dict(header["counters"])
        self.hyperparameters = dict(header["hyperparameters"])
        self.states = {name: self.array(place) for name, place in header["states"].items()}
        self.reported, self.gradients = {}, {}
        self._programs = [
            _Exported(self, p, kernels)
            if "backend" in p
            else _Program(self, p, self._random, kernels)
            for p in header["programs"]
        ]
        self._known = {json.dumps(p.signature): p for p in self._programs}
        self._check_later_entries()

    def _check_later_entries(self):
        """Reads what nothing else reads before :meth:`snapshot` and the messages."""
        for name in ("chainer", "numpy"):
            if not isinstance(self._header[name], str):
                raise StepFileError(f"{name} must be a version, got {self._header[name]!r}")
        for number in range(len(self._header["snapshots"])):
            self.snapshot(number, copy=False)

    def array(self, place):
        """Returns the array at a place in the memory."""
        index, offset, shape, strides, dtype = place
        return _array(self._memory[index], offset, shape, strides, dtype)

    def number(self, formula):
        """Returns a function that computes a formula of counters and hyperparameters."""
        return computing(formula, self.counters, self.hyperparameters)

    def __call__(self, *args, **kwargs):
        """Repeats the step.

        Args:
            args: The arguments of the captured function; arrays have the shapes and dtypes of the
                recording.
            kwargs: Its keyword arguments.

        Returns:
            The result of the function, with arrays in place of Variables.

        Raises:
            ValueError: If the step was not recorded for such arguments.
        """
        program, found = self.program_for(args, kwargs)
        with self.lock:  # one call after another: they share memory
            leaves = program.run(self, found)
        return unflatten(program.result, iter(leaves))

    def program_for(self, args, kwargs):
        """Returns the program for arguments, and their arrays."""
        found = []
        signature = flatten((args, kwargs), found)
        program = self._known.get(json.dumps(signature))
        if program is None:
            known = "; ".join([", ".join(_described(p.signature)) for p in self._programs])
            given = ", ".join(_described(signature))
            raise ValueError(f"the step takes ({known}), got ({given})")
        return program, found

    def snapshot(self, number=0, copy=True):
        """Returns the entries of a snapshot of a target.

        Args:
            number: Its place among the targets of ``chainer.capture``.
            copy: Whether arrays are copied; else they change with the step.

        Returns:
            dict: Entries as ``chainer.serializers.load_npz`` reads them from a file.
        """
        snapshots = self._header["snapshots"]
        if not 0 <= number < len(snapshots):
            raise IndexError(f"the step has {len(snapshots)} targets, got number {number}")
        found = {}
        for key, (kind, value) in snapshots[number].items():
            if kind == "array":
                array = self.array(value)
                found[key] = array.copy() if copy else array
            else:
                found[key] = numpy.asarray(self.counters[value] if kind == "counter" else value)
        return found

    def save(self, path):
        """Writes a file with the present state, to go on with later.

        Args:
            path: The file. It is replaced when the new one is complete.
        """
        _, keys, *rest = self._random.get_state()
        header = {
            **self._header,
            "counters": self.counters,
            "hyperparameters": self.hyperparameters,
        }
        arrays = {f"memory{i}": array for i, array in enumerate(self._memory)}
        if header["random"] is not None:
            header["random"], arrays["random"] = rest, keys
        write(path, header, arrays)


def write(path, header, arrays):
    """Writes the file of a step, which replaces an older one when it is complete."""
    text = json.dumps(header).encode()
    path = os.path.realpath(os.fspath(path))
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            numpy.savez(stream, step=numpy.frombuffer(text, numpy.uint8), **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _checked(dtype):
    if dtype.hasobject:
        raise StepFileError(f"arrays of dtype {dtype} are not known")
    return dtype


def _array(data, offset, shape, strides, dtype):
    dtype = _checked(numpy.dtype(dtype))
    return numpy.ndarray(tuple(shape), dtype, data, offset, tuple(strides))


class _Program:
    """The calls of one signature."""

    def __init__(self, step, data, random, kernels):
        self._data = data
        self.signature, self.result = data["signature"], data["result"]
        scratch = _aligned(data["scratch"])
        self._buffers = []
        for kind, *numbers in data["buffers"]:
            if kind == "memory":
                self._buffers.append(step._memory[numbers[0]])
            elif kind == "scratch":
                self._buffers.append(scratch[numbers[0] : numbers[0] + numbers[1]])
            else:
                self._buffers.append(_aligned(numbers[0]))
        self._inputs = [self._place(place) for place in data["inputs"]]
        self._carried = [step.array(place) for place in data["carried"]]
        self._numbers = [(step.number(e), self._place(place)) for e, place in data["numbers"]]
        self._arguments = [step.number(expression) for expression in data["scalars"]]
        self._outputs = [self._place(place) for place in data["outputs"]]
        self._stored = [None if place is None else step.array(place) for place in data["stored"]]
        self._constants = {int(i): step.array(place) for i, place in data["constants"].items()}
        self._calls = _Source(self, random, kernels).compiled(data["calls"])
        if self._check_later_entries(step) != len(self._outputs):
            raise StepFileError(f"{len(self._outputs)} outputs do not fit the results")

    def _check_later_entries(self, step):
        """Reads what :meth:`run` reads; returns the number of arrays that it takes."""
        data = self._data
        for key, increase in data["counters"]:
            step.counters[key] + operator.index(increase)
        _described(self.signature)
        results, reports = data["results"], dict(data["reports"])
        if len(data["variables"]) != results:
            raise StepFileError(f"{results!r} results, and {len(data['variables'])} kinds of them")
        repeated = {int(i): first for i, first in data["repeated"].items()}
        if not all([0 <= operator.index(first) < i < results for i, first in repeated.items()]):
            raise StepFileError("a result repeats another one that is not before it")
        unflatten(self.result, iter([None] * results))
        count = sum([i not in repeated and i not in self._constants for i in range(results)])
        return count + len(self._stored) + len(reports) + len(set(data["gradients"]))

    def _place(self, place):
        index, *rest = place
        return _array(self._buffers[index], *rest)

    def run(self, step, found):
        """Repeats the calls; returns the arrays of the result."""
        data = self._data
        for key, increase in data["counters"]:
            step.counters[key] += increase
        outputs = iter(self._results([*found, *self._carried]))
        leaves = []
        for i in range(data["results"]):
            if str(i) in data["repeated"]:
                leaves.append(leaves[data["repeated"][str(i)]])
            else:
                leaves.append(self._constants[i].copy() if i in self._constants else next(outputs))
        for array in self._stored:
            value = next(outputs)
            if array is not None:
                numpy.copyto(array, value)
        step.reported = {key: next(outputs) for key, _ in data["reports"]}
        step.gradients = {name: next(outputs) for name in data["gradients"]}
        return leaves

    def _results(self, arguments):
        """Makes the calls; returns their results."""
        for target, value in zip(self._inputs, arguments, strict=True):
            numpy.copyto(target, value)
        for evaluate, array in self._numbers:
            array[()] = evaluate()
        self._calls([evaluate() for evaluate in self._arguments])
        return [array.copy() for array in self._outputs]


class _Exported(_Program):
    """The program of one signature that a compiler of another library made."""

    def __init__(self, step, data, kernels):
        if kernels is None:
            raise StepFileError(
                f"the step is a program of the backend {data['backend']!r}, not calls of NumPy; "
                "load it by chainer.load_step()"
            )
        self._data = data
        self.signature, self.result = data["signature"], data["result"]
        self._carried = [step.array(place) for place in data["carried"]]
        self._stored = [None if place is None else step.array(place) for place in data["stored"]]
        self._constants = {int(i): step.array(place) for i, place in data["constants"].items()}
        self._numbers = [step.number(formula) for formula in data["numbers"]]
        self._read = [step.array(place) for place in data["read"]]
        self._written = [step.array(place) for place in data["written"]]
        self._call = kernels.program(data["backend"], step.array(data["program"]).tobytes())
        self._check_later_entries(step)

    def _results(self, arguments):
        numbers = [evaluate() for evaluate in self._numbers]
        found = self._call([*self._read, *arguments], numbers)
        count = len(found) - len(self._written)
        for target, value in zip(self._written, found[count:], strict=True):
            numpy.copyto(target, value)
        return list(found[:count])


class _Source:
    """Python code of one line for each call. All names in it are made here."""

    def __init__(self, program, random, kernels):
        self._program, self._random, self._kernels = program, random, kernels
        self._names = {"errstate": numpy.errstate, "store": _store, "held": {}}
        self._known = {}

    def compiled(self, calls):
        """Returns a function of the numbers that makes the calls."""
        lines = []
        for call in calls:
            found = self._lines(*call[:5])
            if call[5]:
                lines.append(f"with errstate(**{self._name(dict(call[5]))}):")
                found = ["    " + line for line in found]
            lines += found
        body = "\n    ".join([*lines, "held.clear()"])
        exec(compile(f"def run(scalars):\n    {body}\n", "<captured step>", "exec"), self._names)
        return self._names["run"]

    def _name(self, value):
        name = f"v{len(self._names)}"
        self._names[name] = value
        return name

    def _once(self, key, make):
        if key not in self._known:
            self._known[key] = self._name(make())
        return self._known[key]

    def _expression(self, value):
        if value is None or type(value) in (bool, int):
            return repr(value)
        if type(value) in (float, str):
            return self._name(value)
        ((kind, given),) = value.items()
        if kind == "array":
            return self._once(json.dumps(given), lambda: self._program._place(given))
        if kind in ("tuple", "list"):
            parts = "".join([self._expression(part) + ", " for part in given])
            return f"({parts})" if kind == "tuple" else f"[{parts}]"
        if kind == "dict":
            parts = [f"{key!r}: {self._expression(part)}" for key, part in given]
            return "{" + ", ".join(parts) + "}"
        if kind == "held":
            return f"held[{int(given)}]"
        if kind == "scalar":
            return f"scalars[{int(given)}]"
        if kind == "slice":
            return f"{self._name(slice)}({', '.join([self._expression(part) for part in given])})"
        if kind == "ellipsis":
            return "..."
        if kind == "dtype":
            return self._name(_checked(numpy.dtype(given)))
        if kind == "record" and self._kernels is not None:
            name, parts = given
            make = self._name(self._kernels.record(name))
            return f"{make}({', '.join([self._expression(part) for part in parts])})"
        if kind == "number":  # of NumPy
            return self._name(_checked(numpy.dtype(given[0])).type(given[1]))
        raise StepFileError(f"the value {kind!r} is not known")

    def _lines(self, kind, name, args, kwargs, out):
        if kind not in _KINDS:
            raise StepFileError(f"the kind of call {kind!r} is not known")
        function = resolve(name, self._random, self._kernels)
        f = self._once(name, lambda: function)
        given = [self._expression(a) for a in args]
        if kwargs:
            given.append(f"**{self._expression({'dict': kwargs})}")
        if kind == "UFUNC":
            outputs = out["tuple"]
            if len(outputs) == 1:
                target = self._expression(outputs[0])
                by_position = isinstance(function, numpy.ufunc) and function not in _BY_NAME
                # By position, which NumPy reads faster than by name.
                given.append(target if by_position and not kwargs else f"out={target}")
            else:
                given.append(f"out={self._expression(out)}")
            return [f"{f}({', '.join(given)})"]
        if kind == "OUT":
            return [f"{f}({', '.join([*given, f'out={self._expression(out)}'])})"]
        call = f"{f}({', '.join(given)})"
        if kind == "WRITE" or out is None:
            return [call]
        return [f"r = {call}", *self._stores(out, "r")]

    def _stores(self, out, name):
        if out is None:
            return []
        ((kind, given),) = out.items()
        if kind == "held":
            return [f"held[{int(given)}] = {name}"]
        if kind == "array":
            return [f"store({self._expression(out)}, {name})"]
        parts = [f"{name}_{i}" for i in range(len(given))]
        lines = [f"{', '.join(parts)}, = {name}"] if parts else []
        for part, value in zip(parts, given, strict=True):
            lines += self._stores(value, part)
        return lines


def _store(target, value):
    if value is target:
        return
    if target.shape != numpy.shape(value):
        raise ValueError(f"a call made the shape {numpy.shape(value)}, recorded {target.shape}")
    numpy.copyto(target, value, "unsafe")


def main(arguments=None):
    """Runs a step on one batch; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m chainer_step_player", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("step", help="file that step.save() wrote")
    parser.add_argument("batch", nargs="?", help="npz file with the arguments, in their order")
    parser.add_argument("--steps", type=int, default=1, help="number of calls (default: 1)")
    parser.add_argument("--save", metavar="FILE", help="write the step with its new state")
    parser.add_argument(
        "--snapshot",
        nargs=2,
        action="append",
        default=[],
        metavar=("NUMBER", "FILE"),
        help="write a snapshot of a target of chainer.capture, by its number",
    )
    options = parser.parse_args(arguments)
    try:
        step = load(options.step)
        if options.batch is None:
            for program in step._programs:
                print(f"takes ({', '.join(_described(program.signature))})")
            print(f"hyperparameters: {step.hyperparameters}")
            print(f"counters: {step.counters}")
        else:
            with numpy.load(options.batch, allow_pickle=False) as file:
                batch = [file[name] for name in file.files]
            for _ in range(options.steps):
                result = step(*batch)
            print(result)
    except (OSError, ValueError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for number, path in options.snapshot:
        with open(path, "wb") as stream:
            numpy.savez(stream, **step.snapshot(int(number)))
    if options.save:
        step.save(options.save)
    return 0


if __name__ == "__main__":
    sys.exit(main())

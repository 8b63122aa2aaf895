"""Makes calls and records what they give. Runs in either release, on Python 3.7 and later.

    python -m tests.comparison.worker FIRST LAST > answers.json

The current directory is the root of this repository, or the folder ``comparison`` is on the path.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np

from tests.comparison.calls import make_call
from tests.comparison.calls.draw import Input, Source

#: Significant digits that are recorded, by the letter of the dtype.
DIGITS = {"e": 5, "f": 7, "d": 9}


def make_answer(chainer, number, special=False):
    """Makes a call and returns its answer.

    Args:
        chainer: The library.
        number: Number of the call.
        special: Whether some elements of inputs and of gradients are NaN or infinite.

    Returns:
        dict: ``forward``: the outputs, or the names of the classes of the error. ``gradient`` and
        ``second``: the gradients of the inputs, and those of the gradients, in the same form;
        absent if there is nothing to differentiate. ``warnings``: names of classes.
    """
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        np.random.seed(0)
        call = make_call(number)
        if special:
            make_special(call)
        answer = stages(chainer, call, special=special)
    # Warnings of NumPy depend on its release, and release 8 alone tells of misuse.
    ours = {"MisuseWarning", "RuntimeWarning", "VisibleDeprecationWarning"}
    found = {w.category.__name__ for w in caught} - ours
    if found:
        answer["warnings"] = sorted(found)
    return answer


def make_special(call):
    """Makes some elements of the inputs NaN or infinite; of every third call, none."""
    random = np.random.RandomState(call.number)
    if call.number % 3:
        for x in call.inputs():
            put_special(x.array, random)


def put_special(array, random):
    """Replaces some elements of an array of floating-point numbers."""
    if array.dtype.kind == "f" and array.flags.writeable:
        values = random.choice([np.nan, np.inf, -np.inf], array.shape)
        np.copyto(array, values.astype(array.dtype), where=random.uniform(size=array.shape) < 0.2)


def stages(chainer, call, second=True, special=False):
    """Returns the results of a call, and its gradients, stage by stage.

    Args:
        chainer: The library.
        call (Call): The call.
        second: Whether to compute gradients of gradients.
        special: Whether some elements of the gradients of outputs are NaN or infinite.
    """
    F = chainer.functions
    namespace = {"chainer": chainer, "F": F, "np": np}
    variables, changing = [], []

    def convert(value):
        if isinstance(value, Input):
            # A copy that has the memory layout: some functions change arrays that they are given.
            if not value.variable:
                changing.append(value.array)
                return value.array
            x = chainer.Variable(value.array)
            if value.array.dtype.kind == "f":
                variables.append(x)
            return x
        if isinstance(value, Source):
            return eval(value.text, dict(namespace, **dict(zip("abc", value.arrays))))
        if isinstance(value, (list, tuple)):
            return type(value)(convert(item) for item in value)
        return value

    try:
        args = [convert(value) for value in call.args]
        kwargs = {name: convert(value) for name, value in sorted(call.kwargs.items())}
        if call.function.startswith("lambda"):
            function = eval(call.function, namespace)
        else:
            function = getattr(F, call.function)
        result = function(*args, **kwargs)
        outputs = list(flattened(result))
        answer = {"forward": [encoded(y) for y in outputs]}
    except Exception as error:
        return {"forward": error_names(error)}
    if changing and ("running_mean" in call.kwargs):
        answer["statistics"] = [encoded(array) for array in changing]
    ys = [y for y in outputs if isinstance(y, chainer.Variable) and y.dtype.kind == "f"]
    xs = variables
    if not xs or not ys:
        return answer
    random = np.random.RandomState(call.number)
    gys = [chainer.Variable(np.asarray(random.uniform(-1, 1, y.shape)).astype(y.dtype)) for y in ys]
    if special:
        for gy in gys:
            put_special(gy.array, random)
    try:
        answer["gradient"] = [encoded(g) for g in chainer.grad(ys, xs, gys)]
    except Exception as error:
        answer["gradient"] = error_names(error)
        return answer
    if not second:
        return answer
    try:
        gxs = chainer.grad(ys, xs, gys, enable_double_backprop=True)
        # Times one, as the gradient of a sum is the Variable of the gradient of the output itself.
        differentiable = [g * 1 for g in gxs if g is not None and g.requires_grad]
        if not differentiable:
            return answer
        ggxs = [
            chainer.Variable(np.asarray(random.uniform(-1, 1, g.shape)).astype(g.dtype))
            for g in differentiable
        ]
        answer["second"] = [encoded(g) for g in chainer.grad(differentiable, xs + gys, ggxs)]
    except Exception as error:
        answer["second"] = error_names(error)
    return answer


def flattened(result):
    """Yields what a function returned, without the tuples and lists around it."""
    if isinstance(result, (list, tuple)):
        for item in result:
            yield from flattened(item)
    else:
        yield result


def encoded(value):
    """Returns a result in a form for JSON: kind of object, dtype, shape and values."""
    if value is None:
        return None
    kind = "variable" if hasattr(value, "creator") else "array"
    array = value.array if kind == "variable" else value
    if not isinstance(array, (np.ndarray, np.generic)):
        return [type(value).__name__, "", [], []]
    digits = DIGITS.get(array.dtype.char, 9)
    values = [float("%.*g" % (digits, v)) for v in np.asarray(array).ravel().tolist()]
    return [kind, array.dtype.name, list(array.shape), values]


def error_names(error):
    """Returns the names of the class of an error and of its bases."""
    return {
        "error": [cls.__name__ for cls in type(error).__mro__[:-2]],
        "text": str(error).strip()[:200],
    }


def main(arguments):
    """Writes the answers of a range of calls as one JSON object on each line."""
    import chainer

    special = "special" in arguments
    for number in range(int(arguments[0]), int(arguments[1])):
        sys.stdout.write(json.dumps(make_answer(chainer, number, special)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])

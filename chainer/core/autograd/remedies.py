"""The note below a refused call: all inputs by shape and dtype, and the remedy of common mistakes.

The text of the error itself is documented, and stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.arrays.extended_dtypes import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.core import utils
    from chainer.core.typing import Array, Arrays


def describe(
    argument_names: Sequence[str], in_data: Arrays, error: utils.type_check.InvalidType
) -> str:
    """Returns shapes and dtypes of all inputs by name, and a remedy where there is a common one.

    Args:
        argument_names: Names of the first inputs. Those without a name are numbered.
        in_data: Arrays that the function was called with.
        error: The refusal: what was expected, and what came.
    """
    names = [
        argument_names[i] if i < len(argument_names) else f"input {i}" for i in range(len(in_data))
    ]
    named = dict(zip(names, in_data, strict=True))
    if any([array is None for array in in_data]):
        kinds = {name: "None" if a is None else a.dtype for name, a in named.items()}
        return ", ".join([f"{name} is {kind}" for name, kind in kinds.items()])
    if not named:
        return ""
    labels = _labels(named)
    if not labels and (text := _of_two_float_types(named)):
        return text
    remedy = labels or _of_dtypes(named, error) or _of_two_shapes(named) or _of_images(named)
    text = ", ".join([f"{name} is {a.dtype} of shape {a.shape}" for name, a in named.items()])
    return f"{text}: {remedy}" if remedy else text


def _labels(named: dict[str, Array]) -> str:
    """Returns what to do with labels that are of a floating-point dtype, one-hot, or a column."""
    if len(named) != 2 or "t" not in named:
        return ""
    scores, labels = next(iter(named.values())), named["t"]
    if kind_of(scores.dtype) != "f":
        return ""  # the scores were refused
    if labels.dtype.kind == "f" and labels.ndim == scores.ndim - 1:
        return "if t has class numbers, convert by t.astype(np.int32)"
    if labels.dtype.kind in "iu" and labels.ndim == scores.ndim > 1:
        if labels.shape == scores.shape:
            return "if t is one-hot, convert by t.argmax(axis=1)"
        if labels.shape[1] == 1:
            return "if t has class numbers, take t[:, 0]"
    return ""


def _of_two_float_types(named: dict[str, Array]) -> str:
    """Returns how floating-point inputs get one dtype; an empty text if they have one."""
    floats = [(name, array.dtype) for name, array in named.items() if kind_of(array.dtype) == "f"]
    dtypes = {dtype for _, dtype in floats}
    if len(dtypes) < 2:
        return ""
    listed = ", ".join([f"{name} is {dtype}" for name, dtype in floats])
    if len(named) == 2 and "W" not in named and "input 0" not in named:
        # Two operands, such as a result and a target. The wider one comes from outside.
        (one, first), (other, second) = floats
        wide, narrow = (one, second) if first.itemsize > second.itemsize else (other, first)
        return f"{listed}: convert {wide} by astype(np.{narrow})"
    # The advice is to convert data rather than parameters. Parameters come later in the inputs.
    first, wanted = floats[0][0], floats[1][1] if floats[1][1] != floats[0][1] else floats[-1][1]
    return f"{listed}: convert by {first}.astype(np.{wanted}), or the model to {floats[0][1]}"


def _of_dtypes(named: dict[str, Array], error: utils.type_check.InvalidType) -> str:
    """Returns what to do with integers where numbers are wanted, and the other way round."""
    first = next(iter(named))
    expected = str(error.expect)
    if expected.endswith("dtype.kind == f") and named[first].dtype.kind in "biu":
        # Such inputs are most often images stored as bytes.
        return f"convert {first} by astype(np.float32)"
    if expected.endswith("dtype.kind == i"):
        name = "t" if "t" in named else first
        if named[name].dtype.kind != "i":
            return f"convert {name} by astype(np.int32)"
    if ".dtype == " in expected:
        floats = [array.dtype for array in named.values() if kind_of(array.dtype) == "f"]
        others = [name for name, array in named.items() if array.dtype.kind in "biu"]
        if floats and len(others) == 1:
            return f"convert {others[0]} by astype(np.{floats[0]})"
    return ""


def _of_two_shapes(named: dict[str, Array]) -> str:
    """Returns how two operands get one shape if they differ in axes of length 1 only."""
    if len(named) != 2 or "W" in named or "input 0" in named:
        return ""
    (_, one), (name, other) = named.items()
    if one.shape == other.shape or _without_ones(one.shape) != _without_ones(other.shape):
        return ""
    return f"convert {name} by reshape{one.shape}"


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [length for length in shape if length != 1]


def _of_images(named: dict[str, Array]) -> str:
    """Returns what to do with a sample without an axis of samples, or channels at the end."""
    if len(named) < 2:
        return ""
    (name, data), (second, weights), *_ = named.items()
    shape, weight = data.shape, weights.shape
    if len(shape) < 3 and not (second == "W" and shape):
        return ""  # two arrays of few axes need not be data and weights
    if len(weight) == len(shape) + 1 and shape[0] == weight[1]:
        return f"if {name} is one sample, add the axis of samples by x[None]"
    if len(weight) == len(shape) > 1 and shape[1] != weight[1] == shape[-1]:
        axes = ", ".join([str(axis) for axis in (0, len(shape) - 1, *range(1, len(shape) - 1))])
        return f"channels must be on axis 1: convert {name} by transpose({axes})"
    return ""

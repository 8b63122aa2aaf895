"""Random changes of models, which are loaded and run.

Run ``python tests/mutations.py --count 20000`` in the folder of the distribution. Each mutated
model must give a result, or an error of the class ``ONNXModelError``, in 30 seconds. The process
may use a bounded amount of memory. Half of the mutations change bytes of the file, half change
fields of the model: shapes, names, attributes, operators, and constants.
"""

from __future__ import annotations

import argparse
import collections
import io
import random
import resource
import signal
import time
import warnings

import numpy as np
import onnx
import onnx_chainer
from onnx.backend.test.loader import load_node_model_tests
from onnx_chainer.importing import limits

import chainer

#: Address space of the process. Mutations that get past the limits would need more.
MEMORY_BYTES = 6 * 2**30

#: Numbers that readers compute with carelessly.
NUMBERS = (0, 1, -1, 2, 7, 255, 2**16, 2**31 - 1, 2**31, 2**40, 2**62, -(2**63))

#: Loops are cut short: their number of iterations is a limit like any other.
ITERATIONS = 1000


#: Time of a mutation. Most take milliseconds.
SECONDS = 30


class TooSlow(BaseException):
    """A mutation took more time than allowed."""


def _too_slow(number: int, frame: object) -> None:
    raise TooSlow


def models(rng: random.Random) -> list[tuple[onnx.ModelProto, list[np.ndarray]]]:
    """Returns small models of all operators, with inputs."""
    found = []
    for case in load_node_model_tests():
        if case.model.ByteSize() > 20_000:
            continue
        values = case.data_sets[0][0]
        inputs = [onnx.numpy_helper.to_array(v) if hasattr(v, "dims") else v for v in values]
        if all([isinstance(v, np.ndarray) and v.size < 5000 for v in inputs]):
            found.append((case.model, inputs))
    rng.shuffle(found)
    return found


def change_bytes(data: bytes, rng: random.Random) -> bytes:
    """Returns a file of which bytes are replaced, removed or repeated."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(result))
        length = rng.choice((1, 1, 4, 16))
        kind = rng.randrange(4)
        if kind == 0:
            result[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            result[at : at + length] = rng.randbytes(length)
        elif kind == 2 and len(result) > length + 1:
            del result[at : at + length]
        else:
            result[at:at] = result[at : at + length]
    return bytes(result)


def change_fields(model: onnx.ModelProto, rng: random.Random) -> onnx.ModelProto:
    """Returns a model of which fields are changed."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for _ in range(rng.choice((1, 1, 2, 3))):
        node = rng.choice(changed.graph.node)
        rng.choice((_change_attribute, _change_names, _change_operator, _change_type))(
            changed, node, rng
        )
    return changed


def _change_attribute(model: onnx.ModelProto, node: onnx.NodeProto, rng: random.Random) -> None:
    if not node.attribute:
        return
    attribute = rng.choice(node.attribute)
    if rng.random() < 0.2:
        node.attribute.remove(attribute)
    elif attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(NUMBERS)
    elif attribute.floats:
        attribute.floats[rng.randrange(len(attribute.floats))] = rng.choice((0, -1, 1e30, np.nan))
    elif attribute.HasField("i"):
        attribute.i = rng.choice(NUMBERS)
    elif attribute.HasField("f"):
        attribute.f = rng.choice((0.0, -1.0, 1e30, float("nan")))
    elif attribute.HasField("s"):
        attribute.s = rng.choice((b"", b"NOTSET", b"linear", b"\xff", b"x" * 1000))
    elif attribute.HasField("g") and attribute.g.node:
        _change_attribute(model, rng.choice(attribute.g.node), rng)


def _change_names(model: onnx.ModelProto, node: onnx.NodeProto, rng: random.Random) -> None:
    names = [name for n in model.graph.node for name in (*n.input, *n.output)] or [""]
    values = rng.choice((node.input, node.output))
    if values:
        # May make a cycle, a name that is not defined, or an input that is left out.
        values[rng.randrange(len(values))] = rng.choice((*names, "", "undefined"))


def _change_operator(model: onnx.ModelProto, node: onnx.NodeProto, rng: random.Random) -> None:
    kind = rng.randrange(3)
    if kind == 0:
        node.op_type = rng.choice(_OPERATORS)
    elif kind == 1:
        model.opset_import[0].version = rng.choice((1, 7, 10, 13, 21, 99, -1))
    else:
        node.input.append(rng.choice(("", *[x for n in model.graph.node for x in n.input])))


def _change_type(model: onnx.ModelProto, node: onnx.NodeProto, rng: random.Random) -> None:
    tensors = [*model.graph.initializer, *[a.t for a in node.attribute if a.HasField("t")]]
    if not tensors:
        return
    tensor = rng.choice(tensors)
    if tensor.dims and rng.random() < 0.5:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(NUMBERS)
    else:
        tensor.data_type = rng.randrange(24)


_OPERATORS = sorted({schema.name for schema in onnx.defs.get_all_schemas()})


def change_inputs(inputs: list[np.ndarray], rng: random.Random) -> list[np.ndarray]:
    """Returns inputs, of which integers such as shapes and numbers of iterations may be changed."""
    result = list(inputs)
    whole = [i for i, v in enumerate(inputs) if v.dtype.kind == "i" and v.size]
    if whole and rng.random() < 0.5:
        i = rng.choice(whole)
        result[i] = result[i].copy()
        low, high = np.iinfo(result[i].dtype).min, np.iinfo(result[i].dtype).max
        result[i].flat[rng.randrange(result[i].size)] = min(max(rng.choice(NUMBERS), low), high)
    return result


def outcome(data: bytes, inputs: list[np.ndarray]) -> str:
    """Loads and runs a model; returns what happened."""
    try:
        model = onnx_chainer.load(io.BytesIO(data))
    except onnx_chainer.ONNXModelError as error:
        return f"load: {type(error).__name__}"
    except Exception as error:
        return f"WRONG, load: {type(error).__name__}: {error}"[:300]
    if len(inputs) != len(model.input_names):
        return "loaded, takes other inputs"
    try:
        with chainer.using_config("train", False), np.errstate(all="ignore"):
            model(*inputs)
    except onnx_chainer.ONNXModelError as error:
        return f"run: {type(error).__name__}"
    except Exception as error:
        return f"WRONG, run: {type(error).__name__}: {error}"[:300]
    return "computed"


def results_of(count: int, seed: int, seconds: int = 0) -> tuple[collections.Counter[str], float]:
    """Mutates, loads and runs models.

    Args:
        count: Number of mutations.
        seed: Seed of the changes.
        seconds: Time after which SIGALRM ends a mutation; 0 for no limit.

    Returns:
        tuple: What happened, and how often; the seconds of the slowest mutation.
    """
    rng = random.Random(seed)
    sources = models(rng)
    results: collections.Counter[str] = collections.Counter()
    slowest = 0.0
    for i in range(count):
        model, inputs = sources[i % len(sources)]
        if rng.random() < 0.5:
            data = change_bytes(model.SerializeToString(), rng)
        else:
            data = change_fields(model, rng).SerializeToString()
        start = time.perf_counter()
        signal.alarm(seconds)
        try:
            result = outcome(data, change_inputs(inputs, rng))
        except TooSlow:
            result = f"WRONG, takes more than {seconds} seconds"
        signal.alarm(0)
        slowest = max(slowest, time.perf_counter() - start)
        results[result] += 1
        if result.startswith("WRONG"):
            print(i, model.graph.name, result, flush=True)
    return results, slowest


def main() -> int:
    """Mutates models; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="mutations")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    limits.MAX_ITERATIONS = ITERATIONS
    # A tenth of the limits of programs: the machine has other work to do.
    limits.MAX_ELEMENTS, limits.MAX_LIVE_ELEMENTS = 2**25, 2**27
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _too_slow)
    results, slowest = results_of(options.count, options.seed, SECONDS)
    for name, count in results.most_common():
        if not name.startswith("WRONG"):
            print(f"{count:6} {name}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"slowest {slowest:.1f} s, peak of memory {peak} MiB")
    return 1 if any([name.startswith("WRONG") for name in results]) else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""``write_torch_source``: a model of Chainer as a file of source text for PyTorch."""

from __future__ import annotations

import keyword
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from chainer import Link
from chainer.links.serializers.safetensors_archive import write_safetensors
from chainer.utils import install_command

from chainer_torch.source import elementwise, layers, regions, shapes
from chainer_torch.source.call import Call, UnsupportedError, Writer
from chainer_torch.source.helpers import HELPERS


def _from_template(template: str) -> Writer:
    return lambda call: template.format(*[call[i] for i in range(len(call))])


#: Operator of ONNX -> writer of its source text.
WRITERS: dict[str, Writer] = {
    **{name: _from_template(text) for name, text in elementwise.TEMPLATES.items()},
    **elementwise.WRITERS,
    **shapes.WRITERS,
    **layers.WRITERS,
    **regions.WRITERS,
}


def write_torch_source(
    model: Link,
    args: Any,
    filename: str | os.PathLike[str],
    *,
    class_name: str = "Model",
    external_converters: Any = None,
) -> Path:
    """Writes a model as a Python file for PyTorch, with its weights beside it.

    The model is called once with ``args`` and exported to ONNX in memory; each operator becomes a
    line of source text. The file needs PyTorch and safetensors only, not Chainer. The weights are
    in ``<filename without .py>.safetensors``; ``load()`` in the file makes the module with them.
    Every chain that exports to ONNX can be written, also one with links that PyTorch lacks.

    The file computes what the sample did: loops are unrolled, branches and shapes are of the
    sample. It computes what the model does in test mode.

    Args:
        model (chainer.Link): The model.
        args (array, or list, tuple or dict of arrays): Sample of the arguments.
        filename (path): The file to write, such as ``"model.py"``.
        class_name (str): Name of the class in the file.
        external_converters (dict): Converters to ONNX, as of ``onnx_chainer.export``.

    Returns:
        Path: The file.

    Raises:
        ImportError: If onnx-chainer is not installed.
        UnsupportedError: (a ValueError) If operators have no source text; it lists all of them.
        ValueError: If the model cannot be exported to ONNX, or a name does not fit.

    Example:
        >>> from chainer_torch import write_torch_source
        >>> model = chainer.Sequential(L.Linear(4, 3), F.relu)
        >>> path = write_torch_source(model, np.zeros((1, 4), np.float32), "small.py")
        >>> print(path.read_text().split("def forward")[1].split("def load")[0])
        (self, input_0):
                # /0
                gemm_0 = F.linear(input_0, self.W_0, self.b_0)
                relu_0 = F.relu(gemm_0)
                return relu_0
        <BLANKLINE>
        <BLANKLINE>
        <BLANKLINE>
    """
    path = Path(filename)
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise ValueError(f"filename must be a name of a Python module, such as model.py: {path}")
    if not class_name.isidentifier() or keyword.iskeyword(class_name):
        raise ValueError(f"class_name must be a name of a class, got {class_name!r}")
    try:
        import onnx_chainer
    except ImportError as error:
        raise ImportError(
            f"onnx-chainer is not installed: {install_command('onnx-chainer')}"
        ) from error
    proto = onnx_chainer.export(model, args, external_converters=external_converters)
    source = Source(proto, model, class_name)
    weights = path.with_suffix(".safetensors")
    text = source.text(weights.name)
    # The weights first: a file of source text never refers to weights that are not there.
    temporary = weights.with_name(f".{weights.name}.new")
    write_safetensors(temporary, source.tensors, {"format": "pt"})
    os.replace(temporary, weights)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    return path


class Source:
    """The source text of one graph.

    Args:
        proto (onnx.ModelProto): The graph.
        model: The link that it was exported from.
        class_name: Name of the class.

    Attributes:
        tensors: The weights and constants that the text refers to, by name.
    """

    def __init__(self, proto: Any, model: Link, class_name: str) -> None:
        import onnx

        self.class_name = class_name
        self._to_array = onnx.numpy_helper.to_array
        self._helper = onnx.helper
        # The dtypes of intermediate values are needed: Div of integers has another expression.
        graph = onnx.shape_inference.infer_shapes(proto).graph
        self.tensors: dict[str, np.ndarray] = {}
        self._constants = {tensor.name: self._to_array(tensor) for tensor in graph.initializer}
        self._trained = {_parameter(path): path for path, _ in model.namedparams()}
        self._taken: set[str] = {"self", "torch", "nn", "F", "math", *keyword.kwlist}
        self._values: dict[str, str] = {}
        self._attributes: dict[str, str] = {}
        self._kinds = {
            value.name: self._dtype(value.type.tensor_type.elem_type).kind
            for value in [*graph.input, *graph.value_info, *graph.output]
        }
        self._kinds |= {name: array.dtype.kind for name, array in self._constants.items()}
        self._inputs = [v.name for v in graph.input if v.name not in self._constants]
        self._outputs = [value.name for value in graph.output]
        self._helpers: set[str] = set()
        self._lines: list[str] = []
        self._link = ""
        for name in self._inputs:
            self._values[name] = self._fresh(name)
        self._write(graph.node)

    def _dtype(self, element: int) -> np.dtype[Any]:
        # 0 is an unknown type, 1 is float32.
        return np.dtype(self._helper.tensor_dtype_to_np_dtype(element or 1))

    def _fresh(self, name: str) -> str:
        """Returns a name that no other value has."""
        base = re.sub(r"\W", "_", name).lower().strip("_") or "value"
        base = f"v{base}" if base[0].isdigit() else base
        fresh, i = base, 1
        while fresh in self._taken:
            fresh, i = f"{base}_{i}", i + 1
        self._taken.add(fresh)
        return fresh

    def _text_of(self, name: str) -> str:
        """Returns the source text of a value: a variable, or an attribute for a constant."""
        if name in self._values:
            return self._values[name]
        if name not in self._attributes:
            path = self._trained.get(name)
            self._attributes[name] = attribute = self._attribute_name(name, path)
            self.tensors[attribute] = np.ascontiguousarray(self._constants[name])
            # ascontiguousarray() gives an axis to an array without axes.
            if not self._constants[name].shape:
                self.tensors[attribute] = self._constants[name].reshape(())
        attribute = self._attributes[name]
        path = self._trained.get(name)
        if path is not None and (path.rpartition("/")[0] or "/") != self._link:
            self._link = path.rpartition("/")[0] or "/"
            self._lines.append(f"# {self._link}")
        return f"self.{attribute}"

    def _attribute_name(self, name: str, path: str | None) -> str:
        if path is None:
            base = re.sub(r"\W", "_", name).strip("_").lower()
            base = f"constant_{base}" if not base[:1].isalpha() else base
        else:
            # A name of Python does not begin with a digit.
            parts = path[1:].split("/")
            is_bare = parts[0][0].isdigit()
            base = re.sub(r"\W", "_", "_".join([*parts[1:], parts[0]] if is_bare else parts))
        taken = {*self.tensors, "forward", "training", "load", "train", "eval", "T"}
        while base in taken or base.startswith("_"):
            base = f"p{base}_"
        return base

    def _write(self, nodes: Any) -> None:
        """Writes a line for each operator, and raises an error for all that cannot be written."""
        failures: list[str] = []
        for node in nodes:
            attributes = {a.name: self._attribute_of(a) for a in node.attribute}
            if node.op_type == "Constant":
                self._constants[node.output[0]] = self._constant(attributes)
                self._kinds[node.output[0]] = self._constants[node.output[0]].dtype.kind
                continue
            outputs = list(node.output)
            # Optional outputs that are left out have empty names.
            while outputs and not outputs[-1]:
                outputs.pop()
            call = Call(
                node.op_type,
                node.input,
                outputs,
                attributes,
                self._constants,
                self._text_of,
                self._kinds,
            )
            writer = WRITERS.get(node.op_type) if not node.domain else None
            try:
                if writer is None:
                    raise UnsupportedError(f"{node.domain or ''}{node.op_type}")
                text = writer(call)
            except UnsupportedError as error:
                failures.append(str(error))
                # The values get names, so that the other operators can be tried: the error lists
                # all at once.
                self._values |= {name: self._fresh(name) for name in outputs}
                continue
            self._helpers |= call.helpers
            names = [self._fresh(name) if name else "_" for name in outputs]
            self._values |= dict(zip(outputs, names, strict=True))
            target = ", ".join(names)
            # torch.split returns a tuple also for a single part.
            is_tuple = node.op_type == "Split" and len(names) == 1
            self._lines.append(f"{target}{',' if is_tuple else ''} = {text}")
        if failures:
            raise UnsupportedError(
                f"there is no PyTorch source for: {', '.join(sorted(set(failures)))}"
            )

    def _attribute_of(self, attribute: Any) -> Any:
        value = self._helper.get_attribute_value(attribute)
        if attribute.name == "to":
            return str(self._dtype(value))
        if isinstance(value, bytes):
            return value.decode()
        if type(value).__name__ == "TensorProto":
            return self._to_array(value)
        return list(value) if hasattr(value, "__iter__") and not isinstance(value, str) else value

    def _constant(self, attributes: dict[str, Any]) -> np.ndarray:
        for name, dtype in (
            ("value_int", np.int64),
            ("value_ints", np.int64),
            ("value_float", np.float32),
            ("value_floats", np.float32),
        ):
            if name in attributes:
                return np.asarray(attributes[name], dtype)
        return np.asarray(attributes["value"])

    def text(self, weights: str) -> str:
        """Returns the text of the file.

        Args:
            weights: Name of the file of the weights.
        """
        results = [self._text_of(name) for name in self._outputs]
        body = [*self._lines, f"return {', '.join(results)}"]
        trained = {self._attributes[n] for n in self._attributes if n in self._trained}
        arguments = ", ".join(["self", *[self._values[name] for name in self._inputs]])
        made = [_declaration(n, a, n in trained) for n, a in self.tensors.items()]
        helpers = "".join([f"\n{text}\n" for n, text in HELPERS.items() if n in self._helpers])
        needs_math = any(["math." in HELPERS[name] for name in self._helpers])
        imports = "import math\n" if needs_math else ""
        return f'''"""A model for PyTorch, written by Chainer. It needs torch and safetensors.

    model = load()
"""

{imports}from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn
{helpers}

class {self.class_name}(nn.Module):
    def __init__(self):
        super().__init__()
{_indented(made)}
    def forward({arguments}):
{_indented(body)}

def load(path=Path(__file__).with_name("{weights}")):
    """Returns the model with its weights, in evaluation mode."""
    model = {self.class_name}()
    model.load_state_dict(load_file(path))
    return model.eval()
'''


def _indented(lines: list[str]) -> str:
    return "".join([f"        {line}\n" for line in lines])


def _declaration(name: str, array: np.ndarray, is_trained: bool) -> str:
    dtype = "" if array.dtype == np.float32 else f", dtype={shapes.torch_dtype(array.dtype)}"
    shape = ", ".join(map(str, array.shape)) or "()"
    empty = f"torch.empty({shape}{dtype})"
    if is_trained:
        return f"self.{name} = nn.Parameter({empty})"
    return f'self.register_buffer("{name}", {empty})'


def _parameter(path: str) -> str:
    """Returns the name of a parameter in the graph."""
    from onnx_chainer import onnx_helper

    return onnx_helper.cleanse_param_name(path)

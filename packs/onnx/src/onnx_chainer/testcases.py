"""``onnx_chainer.export_testcase``: a model with inputs and the outputs that Chainer computes."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import chainer
from chainer import Link, Variable
from onnx_chainer import onnx_helper
from onnx_chainer.arguments import Arguments, flatten_outputs
from onnx_chainer.dynamic_axes import enlarge, factors_of
from onnx_chainer.exporting import export
from onnx_chainer.graph_conversion import warn_experimental

if TYPE_CHECKING:
    from chainer.typing import Array


def export_testcase(
    model: Link,
    args: Array,
    out_dir: str | os.PathLike[str],
    output_grad: bool = False,
    **kwargs: Any,
) -> None:
    """Exports a model together with its inputs and outputs, as tests of ONNX back ends are.

    Writes ``model.onnx``, and in ``test_data_set_0`` the files ``input_<i>.pb``, ``output_<i>.pb``
    and, on demand, ``gradient_<i>.pb``. Tensors have the names of the graph.

    Args:
        model (chainer.Link): The model. Its gradients are cleared.
        args (array, Variable, or list, tuple or dict of them): Arguments of the model.
        out_dir (str): The directory, which is made if it does not exist.
        output_grad (bool): If True, writes the gradient of each parameter, where the gradients of
            all outputs are ones.
        **kwargs: Other arguments of :func:`onnx_chainer.export`. If ``input_shapes`` has names of
            axes, a second folder ``test_data_set_1`` has inputs of other lengths along these axes.

    Raises:
        TypeError: If ``kwargs`` has an argument that is not one of ``export``, or one of
            ``filename``, ``return_named_inout`` and ``no_testcase``.

    Example:
        >>> import os, tempfile
        >>> import onnx_chainer
        >>> model = chainer.Sequential(L.Linear(3, 2), F.relu)
        >>> x = np.zeros((1, 3), np.float32)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     onnx_chainer.export_testcase(model, x, folder)
        ...     print(sorted(os.listdir(folder)))
        ['model.onnx', 'test_data_set_0']
    """
    for name in ("filename", "return_named_inout", "no_testcase"):
        if name in kwargs:
            raise TypeError(f"export_testcase() takes no argument {name}")
    if output_grad:
        warn_experimental("output_grad")
    os.makedirs(out_dir, exist_ok=True)
    model.cleargrads()
    # A model may change its arguments in place: the files have what the caller gave.
    before = _copies(args)
    with warnings.catch_warnings():
        # The caller did not ask for the experimental argument.
        warnings.filterwarnings("ignore", "return_named_inout", FutureWarning)
        _, inputs, outputs = export(
            model,
            args,
            os.path.join(out_dir, "model.onnx"),
            return_named_inout=True,
            **kwargs,
        )
    folder = os.path.join(out_dir, "test_data_set_0")
    os.makedirs(folder, exist_ok=True)
    for i, (name, array) in enumerate(zip(inputs, before, strict=True)):
        onnx_helper.write_tensor_pb(os.path.join(folder, f"input_{i}.pb"), name, array)
    for i, (name, y) in enumerate(outputs.items()):
        onnx_helper.write_tensor_pb(os.path.join(folder, f"output_{i}.pb"), name, y.array)
    if output_grad:
        _write_gradients(model, list(outputs.values()), folder)
    _write_longer(model, args, list(inputs), list(outputs), out_dir, kwargs)


def _write_longer(
    model: Link,
    args: Array,
    input_names: list[str],
    output_names: list[str],
    out_dir: str | os.PathLike[str],
    options: dict[str, Any],
) -> None:
    """Writes inputs of other lengths and their outputs, if axes have names."""
    arguments = Arguments(args)
    shapes = arguments.shapes(options.get("input_shapes"))
    factors = factors_of(shapes)
    if not factors:
        return
    longer = {key: enlarge(x.array, shapes[key], factors) for key, x in arguments.variables.items()}
    other = arguments.replaced(longer)
    try:
        with chainer.using_config("train", options.get("train", False)):
            outputs = flatten_outputs(other.call(model.copy("share"))).values()
    except Exception:
        # The export has warned that the model cannot be called with other lengths.
        return
    folder = os.path.join(out_dir, "test_data_set_1")
    os.makedirs(folder, exist_ok=True)
    for i, (name, array) in enumerate(zip(input_names, longer.values(), strict=True)):
        onnx_helper.write_tensor_pb(os.path.join(folder, f"input_{i}.pb"), name, array)
    for i, (name, y) in enumerate(zip(output_names, outputs, strict=False)):
        onnx_helper.write_tensor_pb(os.path.join(folder, f"output_{i}.pb"), name, y.array)


def _copies(args: Array) -> list[Any]:
    """Returns copies of the arrays of arguments: functions may change them."""
    values = (
        list(args.values())
        if isinstance(args, dict)
        else list(args)
        if isinstance(args, (list, tuple))
        else [args]
    )
    arrays = [x.array if isinstance(x, Variable) else x for x in values]
    return [x.copy() if hasattr(x, "copy") else x for x in arrays]


def _write_gradients(model: Link, outputs: list[Variable], folder: str) -> None:
    roots = [y for y in outputs if y.dtype.kind == "f"]
    for y in roots:
        y.grad = y.xp.ones_like(y.array)
    if roots:
        chainer.backward(roots)
    for i, (path, parameter) in enumerate(sorted(model.namedparams())):
        if parameter.grad is None:
            warnings.warn(
                f"parameter {path} has no gradient, and no file gradient_{i}.pb",
                UserWarning,
                stacklevel=3,
            )
            continue
        name = onnx_helper.cleanse_param_name(path)
        path = os.path.join(folder, f"gradient_{i}.pb")
        onnx_helper.write_tensor_pb(path, name, parameter.grad)

"""``onnx_chainer.export_quantized``: a model with weights and activations of 8 bits."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable
from typing import Any

from chainer import Link
from onnx_chainer.exporting import export
from onnx_chainer.model_files import write_model
from onnx_chainer.quantization.calibration import Range, ranges_of
from onnx_chainer.quantization.graph_edit import GraphEdit
from onnx_chainer.quantization.normalizations import fold_normalizations
from onnx_chainer.quantization.rewriting import OPERATORS, Rewriting, quantized_inputs
from onnx_chainer.versions import DEFAULT_OPSET_VERSION

#: DequantizeLinear has one scale for each channel since this operator set.
_LEAST_OPSET = 13

#: Arguments of export() that it gets otherwise, or that do not fit: a quantized model is for
#: tests, and has its weights.
_NO_OPTIONS = ("model", "args", "filename", "save_text", "opset_version")
_NO_OPTIONS += ("train", "return_named_inout", "export_params")

#: Arguments that are passed on to export().
_OPTIONS = [name for name in inspect.signature(export).parameters if name not in _NO_OPTIONS]


def export_quantized(
    model: Link,
    calibration: Iterable[Any],
    filename: Any = None,
    *,
    operators: Iterable[str] = OPERATORS,
    reduce_range: bool = True,
    opset_version: int | None = None,
    save_text: bool = False,
    **options: Any,
) -> Any:
    """Exports a model whose weights and activations are integers of 8 bits.

    The graph has the form QDQ: a weight is stored as int8 with one scale for each output channel,
    and is followed by ``DequantizeLinear``; an activation passes ``QuantizeLinear`` and
    ``DequantizeLinear``. Runtimes compute the operators between them with integers. Normalizations
    behind convolutions are folded into the weights before.

    The range of an activation is the least and the greatest value that it has for the calibration
    data, and contains zero. A few hundred samples of the training data are enough for most models.
    The scale of a weight is the largest absolute value of the channel divided by 64, or by 127
    without ``reduce_range``; biases are int32. See B. Jacob et al., Quantization and Training of
    Neural Networks for Efficient Integer-Arithmetic-Only Inference, CVPR 2018.

    Args:
        model (chainer.Link): The model, of dtype float32. It runs in test mode.
        calibration (iterable): Batches of inputs. Each is what ``args`` of
            :func:`onnx_chainer.export` is: an array, or a list, tuple or dict of arrays. All have
            the dtypes of the first one, which is the sample that is exported.
        filename (str or file object): Where to write the model. None: it is not written.
        operators (iterable of str): The operators of ONNX that are computed with integers. Default:
            ``Conv``, ``ConvTranspose``, ``Gemm`` and ``MatMul``. Of others, such as ``Add`` or
            ``AveragePool``, all inputs of dtype float32 become activations of 8 bits.
        reduce_range (bool): Whether weights have 7 of the 8 bits, and products of two activations
            stay in float32. Otherwise sums overflow in onnxruntime, without an error, on CPUs with
            AVX2 or AVX-512 but without VNNI. False: all 8 bits, for other CPUs and GPUs.
        opset_version (int): Version of the operator set, at least 13. None: 21, or the newest that
            the installed package onnx defines if that is older.
        save_text (bool): If True, a readable text is written to ``<filename>.txt`` too.
        options: Further arguments of :func:`onnx_chainer.export`: ``input_names``,
            ``output_names``, ``input_shapes``, ``graph_name`` and the converters.

    Returns:
        onnx.ModelProto: The model.

    Raises:
        TypeError: If an option is not one of :func:`onnx_chainer.export`, or ``reduce_range`` is
            not a bool.
        ValueError: If there is no calibration data, if an activation is not finite for it, if the
            operator set is older than 13, or if no operator of the model can be quantized.

    Example:
        >>> import onnx_chainer
        >>> model = chainer.Sequential(L.Linear(4, 3), F.relu, L.Linear(3, 2))
        >>> batches = [np.random.rand(8, 4).astype(np.float32) for _ in range(10)]
        >>> proto = onnx_chainer.export_quantized(model, batches)
        >>> sorted({node.op_type for node in proto.graph.node})
        ['DequantizeLinear', 'Gemm', 'QuantizeLinear', 'Relu']
    """
    opset = DEFAULT_OPSET_VERSION if opset_version is None else opset_version
    if opset < _LEAST_OPSET:
        raise ValueError(
            f"opset_version must be at least {_LEAST_OPSET}, because older operator sets have no "
            f"scale for each channel, got {opset}"
        )
    if not isinstance(reduce_range, bool):
        raise TypeError(f"reduce_range must be True or False, got {reduce_range!r}")
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"export_quantized() has no argument {name!r}; further arguments are "
                f"{', '.join(_OPTIONS)}"
            )
    batches = iter(calibration)
    try:
        first = next(batches)
    except StopIteration:
        raise ValueError("calibration must have at least one batch, got none") from None
    proto = export(model, first, opset_version=opset_version, **options)
    edit = GraphEdit(proto)
    fold_normalizations(edit)
    chosen = tuple(operators)
    names = quantized_inputs(edit, chosen, reduce_range)
    if not names:
        raise ValueError(
            f"the model has no operator that can be quantized: operators are {list(chosen)}, the "
            f"model has {sorted({node.op_type for node in proto.graph.node})}, and inputs must "
            "have the dtype float32"
        )
    ranges: dict[str, Range] = ranges_of(edit, names, itertools.chain([first], batches))
    Rewriting(edit, chosen, ranges, reduce_range).run()
    if filename is not None:
        write_model(edit.proto, filename, save_text)
    return edit.proto

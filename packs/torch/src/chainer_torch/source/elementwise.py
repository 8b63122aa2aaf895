"""Operators on elements, reductions and products."""

from __future__ import annotations

from chainer_torch.source.call import Call, Writer, literal

#: Operators that are a template of their inputs.
TEMPLATES = {
    **{
        name: f"torch.{name.lower()}({{0}})"
        for name in [
            "Abs",
            "Acos",
            "Acosh",
            "Asin",
            "Asinh",
            "Atan",
            "Atanh",
            "Ceil",
            "Cos",
            "Cosh",
            "Erf",
            "Exp",
            "Floor",
            "Log",
            "Neg",
            "Reciprocal",
            "Round",
            "Sigmoid",
            "Sign",
            "Sin",
            "Sinh",
            "Sqrt",
            "Tan",
            "Tanh",
            "IsNaN",
            "IsInf",
        ]
    },
    "Relu": "F.relu({0})",
    # Above the threshold PyTorch returns the input. With its default, 20, float64 would lose
    # digits.
    "Softplus": "F.softplus({0}, threshold=50)",
    "Softsign": "F.softsign({0})",
    "HardSwish": "F.hardswish({0})",
    "Mish": "F.mish({0})",
    "Identity": "{0}",
    "Not": "torch.logical_not({0})",
    "And": "torch.logical_and({0}, {1})",
    "Or": "torch.logical_or({0}, {1})",
    "Xor": "torch.logical_xor({0}, {1})",
    "MatMul": "{0} @ {1}",
    "Where": "torch.where({0}, {1}, {2})",
    "Det": "torch.linalg.det({0})",
    # F.prelu has a slope for each channel; the slopes of ONNX broadcast.
    "PRelu": "torch.where({0} >= 0, {0}, {0} * {1})",
    "Range": "torch.arange({0}, {1}, {2})",
    "RandomNormalLike": "torch.randn_like({0})",
    "RandomUniformLike": "torch.rand_like({0})",
    "GlobalAveragePool": "{0}.mean(tuple(range(2, {0}.dim())), keepdim=True)",
    "GlobalMaxPool": "{0}.amax(tuple(range(2, {0}.dim())), keepdim=True)",
}

_SYMBOLS = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Pow": "**",
    "Equal": "==",
    "Less": "<",
    "LessOrEqual": "<=",
    "Greater": ">",
    "GreaterOrEqual": ">=",
}

_REDUCTIONS = {
    "ReduceSum": "sum",
    "ReduceMean": "mean",
    "ReduceMax": "amax",
    "ReduceMin": "amin",
    "ReduceLogSumExp": "logsumexp",
}


def _operands(call: Call) -> tuple[str, str]:
    """Returns two operands; at most one is a literal."""
    # Two literals would be an expression of numbers, not of tensors.
    if call.number(1) is not None:
        return call[0], call.scalar(1)
    return call.scalar(0), call[1]


def _symbol(call: Call) -> str:
    a, b = _operands(call)
    return f"{a} {_SYMBOLS[call.operator]} {b}"


def _div(call: Call) -> str:
    a, b = _operands(call)
    # ONNX divides integers toward zero, "/" of PyTorch makes floats of them.
    if call.kind(0) in "iu":
        return f'torch.div({a}, {b}, rounding_mode="trunc")'
    return f"{a} / {b}"


def _mod(call: Call) -> str:
    # The sign of fmod is the sign of the dividend, the sign of remainder is the sign of the
    # divisor.
    return f"torch.{'fmod' if call.get('fmod') else 'remainder'}({call[0]}, {call.scalar(1)})"


def _extreme(call: Call) -> str:
    text = call[0]
    # Max and Min of ONNX take any number of inputs, the functions of PyTorch take two.
    for i in range(1, len(call)):
        text = f"torch.{call.operator.lower()}imum({text}, {call[i]})"
    return text


def _sum(call: Call) -> str:
    return " + ".join([call[i] for i in range(len(call))])


def _clip(call: Call) -> str:
    bounds = [f"{name}={call.scalar(i)}" for i, name in ((1, "min"), (2, "max")) if call.has(i)]
    # Attributes until operator set 10, inputs since then.
    bounds += [
        f"{name}={literal(call.get(name))}" for name in ("min", "max") if call.get(name) is not None
    ]
    return f"torch.clamp({', '.join([call[0], *bounds])})" if bounds else call[0]


def _reduce(call: Call) -> str:
    axes, keep = call.ints(1, "axes"), bool(call.get("keepdims", 1))
    if axes is None or not axes:
        # No axes mean all axes, unless an attribute says that they mean none.
        if axes == [] and call.get("noop_with_empty_axes"):
            return call[0]
        axes_text = f"tuple(range({call[0]}.dim()))"
    else:
        axes_text = str(tuple(axes)) if len(axes) > 1 else str(axes[0])
    keep_text = ", keepdim=True" if keep else ""
    if call.operator == "ReduceProd":
        return call.helper("_prod", call[0], axes_text, keep)
    if call.operator in ("ReduceSumSquare", "ReduceL2", "ReduceL1"):
        inner = f"{call[0]}.abs()" if call.operator == "ReduceL1" else f"({call[0]} ** 2)"
        text = f"{inner}.sum({axes_text}{keep_text})"
        return f"torch.sqrt({text})" if call.operator == "ReduceL2" else text
    return f"{call[0]}.{_REDUCTIONS[call.operator]}({axes_text}{keep_text})"


def _arg(call: Call) -> str:
    name = call.operator.lower()
    return f"{call[0]}.{name}({call.get('axis', 0)}, keepdim={bool(call.get('keepdims', 1))})"


def _softmax(call: Call) -> str:
    name = "softmax" if call.operator == "Softmax" else "log_softmax"
    return f"F.{name}({call[0]}, {call.get('axis', -1)})"


def _cumsum(call: Call) -> str:
    axes = call.ints(1)
    if axes is None or call.get("exclusive"):
        raise call.unsupported("without the element itself")
    (axis,) = axes
    if call.get("reverse"):
        return f"{call[0]}.flip({axis}).cumsum({axis}).flip({axis})"
    return f"{call[0]}.cumsum({axis})"


def _einsum(call: Call) -> str:
    equation = call.get("equation").replace(" ", "")
    return f'torch.einsum("{equation}", {", ".join([call[i] for i in range(len(call))])})'


def _gemm(call: Call) -> str:
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    a = f"{call[0]}.T" if call.get("transA") else call[0]
    bias = call.constant(2)
    if alpha == 1 and beta == 1 and call.get("transB") and (bias is None or bias.ndim == 1):
        # The bias is computed, perhaps as a matrix, which F.linear does not take.
        if bias is None and call.has(2):
            return f"F.linear({a}, {call[1]}) + {call[2]}"
        return f"F.linear({a}, {call[1]}{f', {call[2]}' if call.has(2) else ''})"
    b = f"{call[1]}.T" if call.get("transB") else call[1]
    text = f"{a} @ {b}" if alpha == 1 else f"{literal(alpha)} * ({a} @ {b})"
    if call.has(2):
        text += f" + {call[2]}" if beta == 1 else f" + {literal(beta)} * {call[2]}"
    return text


def _with(template: str, **defaults: float) -> Writer:
    """Returns a writer with attributes, which have defaults."""

    def write(call: Call) -> str:
        values = {name: literal(float(call.get(name, d))) for name, d in defaults.items()}
        return template.format(call[0], **values)

    return write


def _gelu(call: Call) -> str:
    approximate = call.get("approximate", "none")
    return (
        f"F.gelu({call[0]})" if approximate == "none" else f'F.gelu({call[0]}, approximate="tanh")'
    )


WRITERS: dict[str, Writer] = {
    **dict.fromkeys(_SYMBOLS, _symbol),
    **dict.fromkeys(
        [*_REDUCTIONS, "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2"], _reduce
    ),
    **dict.fromkeys(("Max", "Min"), _extreme),
    **dict.fromkeys(("ArgMax", "ArgMin"), _arg),
    **dict.fromkeys(("Softmax", "LogSoftmax"), _softmax),
    "Clip": _clip,
    "CumSum": _cumsum,
    "Div": _div,
    "Einsum": _einsum,
    "Elu": _with("F.elu({0}, {alpha})", alpha=1.0),
    "Gelu": _gelu,
    "Gemm": _gemm,
    # F.hardsigmoid has the slope 1/6 only.
    "HardSigmoid": _with("torch.clamp({alpha} * {0} + {beta}, 0, 1)", alpha=0.2, beta=0.5),
    "LeakyRelu": _with("F.leaky_relu({0}, {alpha})", alpha=0.01),
    "Mod": _mod,
    "Selu": _with("F.selu({0})"),
    "Sum": _sum,
}

"""Layers that both libraries have: how the values of one are the values of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from chainer import Link
from chainer import links as L

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Layer:
    """One kind of layer.

    Attributes:
        links: Names of the classes of links, of :mod:`chainer.links`.
        modules: Names of the classes of modules, of ``torch.nn``.
        to_torch: Makes the tensors of the module from the arrays of the link, both by name.
        from_torch: The inverse.
    """

    links: tuple[str, ...]
    modules: tuple[str, ...]
    to_torch: Callable[[Link, Arrays], dict[str, np.ndarray]]
    from_torch: Callable[[Link, Arrays], dict[str, np.ndarray]]


def renamed(*pairs: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Returns both directions of a layer whose values have other names only.

    Args:
        pairs: Texts such as ``"W:weight"``.
    """
    names = dict([pair.split(":") for pair in pairs])
    back = {new: old for old, new in names.items()}

    def to_torch(link: Link, arrays: Arrays) -> dict[str, np.ndarray]:
        return {names[name]: value for name, value in arrays.items() if name in names}

    def from_torch(link: Link, tensors: Arrays) -> dict[str, np.ndarray]:
        return {back[name]: value for name, value in tensors.items() if name in back}

    return to_torch, from_torch


def _depthwise_to_torch(link: Link, arrays: Arrays) -> dict[str, np.ndarray]:
    # (multiplier, channel, ...) -> (channel x multiplier, 1, ...), in groups of one channel.
    w = arrays["W"]
    w = w.swapaxes(0, 1)
    made = {"weight": w.reshape(-1, 1, *w.shape[2:])}
    return {**made, "bias": arrays["b"]} if "b" in arrays else made


def _depthwise_from_torch(link: Any, tensors: Arrays) -> dict[str, np.ndarray]:
    multiplier, channels = link.W.shape[:2]
    w = tensors["weight"]
    made = {"W": w.reshape(channels, multiplier, *w.shape[2:]).swapaxes(0, 1)}
    return {**made, "b": tensors["bias"]} if "bias" in tensors else made


def _bilinear_to_torch(link: Link, arrays: Arrays) -> dict[str, np.ndarray]:
    if "V1" in arrays or "V2" in arrays:
        raise ValueError(
            "torch.nn.Bilinear has no linear terms: V1 and V2 of L.Bilinear have no counterpart "
            "(nobias=True leaves them out)"
        )
    return {"weight": arrays["W"].transpose(2, 0, 1)}


def _bilinear_from_torch(link: Link, tensors: Arrays) -> dict[str, np.ndarray]:
    if "bias" in tensors and np.any(tensors["bias"]):
        raise ValueError("L.Bilinear has no bias alone; torch.nn.Bilinear must have bias=False")
    return {"W": tensors["weight"].transpose(1, 2, 0)}


#: Gates of an L.LSTM, by the gates i, f, g, o of PyTorch; an L.LSTM has g, i, f, o, and the gates
#: of one unit beside each other.
_GATES = (1, 2, 0, 3)


def _by_gate(rows: np.ndarray) -> np.ndarray:
    """Returns rows of an L.LSTM in the order of PyTorch."""
    units = rows.reshape(-1, 4, *rows.shape[1:])
    return np.concatenate([units[:, k] for k in _GATES])


def _by_unit(rows: np.ndarray) -> np.ndarray:
    """Returns rows of PyTorch in the order of an L.LSTM."""
    gates = rows.reshape(4, -1, *rows.shape[1:])
    units = np.empty((gates.shape[1], 4, *rows.shape[1:]), rows.dtype)
    for i, k in enumerate(_GATES):
        units[:, k] = gates[i]
    return units.reshape(rows.shape)


def _lstm_to_torch(link: Link, arrays: Arrays) -> dict[str, np.ndarray]:
    bias = _by_gate(arrays["upward.b"])
    return {
        "weight_ih": _by_gate(arrays["upward.W"]),
        "weight_hh": _by_gate(arrays["lateral.W"]),
        "bias_ih": bias,
        "bias_hh": np.zeros_like(bias),
    }


def _lstm_from_torch(link: Link, tensors: Arrays) -> dict[str, np.ndarray]:
    # An nn.LSTM of one layer has the names of an nn.LSTMCell with the number of the layer.
    cell = {name.removesuffix("_l0"): value for name, value in tensors.items()}
    return {
        "upward.W": _by_unit(cell["weight_ih"]),
        "lateral.W": _by_unit(cell["weight_hh"]),
        "upward.b": _by_unit(cell["bias_ih"] + cell["bias_hh"]),
    }


def _steps(link: Any) -> tuple[int, int]:
    """Returns the number of matrices of a layer's input, and of directions, of an NStep link."""
    return link.n_weights // 2, 2 if type(link).__name__.startswith("NStepBi") else 1


def _n_step_names(link: Any) -> dict[str, list[str]]:
    """Returns the names of the gates by the name of the tensor that holds them."""
    gates, directions = _steps(link)
    names: dict[str, list[str]] = {}
    for i in range(len(link)):
        suffix = f"_l{i // directions}" + ("_reverse" if i % directions else "")
        for kind, first in (("ih", 0), ("hh", gates)):
            order = range(first, first + gates)
            names[f"weight_{kind}{suffix}"] = [f"{i}.w{k}" for k in order]
            names[f"bias_{kind}{suffix}"] = [f"{i}.b{k}" for k in order]
    return names


def _n_step_to_torch(link: Link, arrays: Arrays) -> dict[str, np.ndarray]:
    names = _n_step_names(link)
    return {new: np.concatenate([arrays[n] for n in old]) for new, old in names.items()}


def _n_step_from_torch(link: Link, tensors: Arrays) -> dict[str, np.ndarray]:
    made: dict[str, np.ndarray] = {}
    for new, old in _n_step_names(link).items():
        made.update(zip(old, np.split(tensors[new], len(old)), strict=True))
    return made


_CONVOLUTION = renamed("W:weight", "b:bias")
_SCALED = renamed("gamma:weight", "beta:bias")
_STATISTICS = renamed(
    "gamma:weight",
    "beta:bias",
    "avg_mean:running_mean",
    "avg_var:running_var",
    "N:num_batches_tracked",
)

LAYERS = (
    Layer(("Linear",), ("Linear",), *_CONVOLUTION),
    Layer(
        ("Convolution1D", "Convolution2D", "Convolution3D", "ConvolutionND"),
        ("Conv1d", "Conv2d", "Conv3d"),
        *_CONVOLUTION,
    ),
    Layer(("DilatedConvolution2D",), ("Conv2d",), *_CONVOLUTION),
    Layer(
        ("Deconvolution1D", "Deconvolution2D", "Deconvolution3D", "DeconvolutionND"),
        ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
        *_CONVOLUTION,
    ),
    Layer(("DepthwiseConvolution2D",), ("Conv2d",), _depthwise_to_torch, _depthwise_from_torch),
    Layer(("EmbedID",), ("Embedding",), *renamed("W:weight")),
    Layer(("PReLU",), ("PReLU",), *renamed("W:weight")),
    Layer(("BatchNormalization",), ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"), *_STATISTICS),
    Layer(("LayerNormalization",), ("LayerNorm",), *_SCALED),
    Layer(("GroupNormalization",), ("GroupNorm",), *_SCALED),
    Layer(("RMSNormalization",), ("RMSNorm",), *_SCALED),
    Layer(
        ("InstanceNormalization",),
        ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
        *_STATISTICS,
    ),
    Layer(("Bilinear",), ("Bilinear",), _bilinear_to_torch, _bilinear_from_torch),
    Layer(("LSTM", "StatelessLSTM"), ("LSTMCell", "LSTM"), _lstm_to_torch, _lstm_from_torch),
    Layer(("NStepLSTM", "NStepBiLSTM"), ("LSTM",), _n_step_to_torch, _n_step_from_torch),
    Layer(("NStepGRU", "NStepBiGRU"), ("GRU",), _n_step_to_torch, _n_step_from_torch),
    Layer(
        ("NStepRNNTanh", "NStepBiRNNTanh", "NStepRNNReLU", "NStepBiRNNReLU"),
        ("RNN",),
        _n_step_to_torch,
        _n_step_from_torch,
    ),
)

#: Why a link has no counterpart, by its class.
NO_COUNTERPART = {
    **dict.fromkeys(
        ("GRU", "StatefulGRU", "StatelessGRU"),
        "PyTorch's GRU resets after the product with the state, this one before it; "
        "write_torch_source writes code that computes the same",
    ),
    **dict.fromkeys(
        ("MGU", "StatefulMGU", "StatelessMGU", "StatefulPeepholeLSTM", "StatefulZoneoutLSTM"),
        "PyTorch has no such network; write_torch_source writes code that computes the same",
    ),
}


def layer_of_link(link: Link) -> Layer | None:
    """Returns the kind of a link; also of a subclass."""
    for layer in LAYERS:
        if any([isinstance(link, getattr(L, name)) for name in layer.links]):
            return layer
    return None


def is_unit(link: Link) -> bool:
    """Returns whether a link is converted as a whole, with the links below it."""
    known = layer_of_link(link) is not None or type(link).__name__ in NO_COUNTERPART
    return known or (bool(list(link.params(include_uninit=True))) and not list(link.children()))


def arrays_of(link: Link) -> dict[str, np.ndarray]:
    """Returns parameters and persistent values of a link and those below it, by name.

    Raises:
        ValueError: If a parameter has no value yet.
    """
    arrays: dict[str, np.ndarray] = {}
    for path, parameter in link.namedparams():
        if parameter.array is None:
            raise ValueError(f"parameter {path} has no value yet: call the link once before")
        arrays[path[1:].replace("/", ".")] = np.asarray(parameter.array)
    for path, owner in link.namedlinks():
        for name in owner._persistent:
            value = getattr(owner, name)
            if isinstance(value, (np.ndarray, np.generic, int, float)):
                arrays[f"{path}/{name}".lstrip("/").replace("/", ".")] = np.asarray(value)
    return arrays

"""Weights of a Chainer model for the same model in PyTorch, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from chainer import Link

from chainer_torch.layers import Layer, arrays_of, is_unit, layer_of_link
from chainer_torch.pytorch import as_array, as_tensor
from chainer_torch.traces import called_links, called_modules, describe, no_counterpart
from chainer_torch.trees import map_leaves


def to_state_dict(link: Link, module: Any = None, args: Any = None) -> dict[str, Any]:
    """Returns the weights of a link as a state dictionary of PyTorch.

    With a module, both models are called with ``args``, and the layers are paired in the order of
    the first call. Names and numbers do not matter. Without one, the names are the paths of the
    link: ``/l1/W`` of an ``L.Linear`` is ``l1.weight``.

    Orders of gates and axes are changed where the libraries differ. Settings of layers are not
    compared: eps of ``L.BatchNormalization`` is 2e-5 in Chainer and 1e-5 in PyTorch.

    Args:
        link (chainer.Link): The trained model.
        module (torch.nn.Module): The same model in PyTorch.
        args (array or tuple of arrays): Sample of the arguments, for both models.

    Returns:
        dict: Tensors by name, for ``module.load_state_dict``. They are copies.

    Raises:
        ImportError: If PyTorch is not installed.
        ValueError: If the models do not call the same layers, a layer has no counterpart, or a
            shape differs.

    Example:
        >>> from chainer_torch import to_state_dict  # doctest: +SKIP
        >>> to_state_dict(chainer.Sequential(L.Linear(4, 3))).keys()  # doctest: +SKIP
        dict_keys(['0.weight', '0.bias'])
    """
    tensors: dict[str, Any] = {}
    for path, child, layer, name, target in _pairs(link, module, args):
        made = layer.to_torch(child, arrays_of(child))
        expected = None if target is None else _own_tensors(target)
        for key, array in _fitted(made, expected, describe(path, child)).items():
            tensors[f"{name}.{key}" if name else key] = as_tensor(np.array(array)).clone()
    return tensors


def from_state_dict(
    link: Link, state_dict: Mapping[str, Any] | None = None, module: Any = None, args: Any = None
) -> None:
    """Gives a link the weights of a model of PyTorch.

    Args:
        link (chainer.Link): The model. It is changed.
        state_dict (dict): Tensors by name. None: the tensors of ``module``.
        module (torch.nn.Module): The same model in PyTorch, whose layers are paired as
            :func:`to_state_dict` tells. None: the names are the paths of the link.
        args (array or tuple of arrays): Sample of the arguments, for both models. It also gives
            lengths to parameters that have no value yet.

    Raises:
        ImportError: If PyTorch is not installed.
        ValueError: If the models do not call the same layers, a tensor is missing or not used, or a
            shape differs. The link is as it was then.
    """
    if state_dict is None:
        if module is None:
            raise ValueError("state_dict or module must be given")
        state_dict = _own_tensors(module)
    tensors = dict(state_dict)
    used: set[str] = set()
    values: list[tuple[Link, str, np.ndarray]] = []
    for path, child, layer, name, _ in _pairs(link, module, args):
        prefix = f"{name}." if name else ""
        known = set(layer.to_torch(child, arrays_of(child)))
        # Names of an nn.LSTM of one layer have its number.
        known |= {f"{key}_l0" for key in known}
        own = {
            key.removeprefix(prefix): as_array(tensor, key)
            for key, tensor in tensors.items()
            if key.startswith(prefix) and key.removeprefix(prefix) in known
        }
        used |= {prefix + key for key in own}
        try:
            made = layer.from_torch(child, own)
        except KeyError as error:
            raise ValueError(f"state_dict lacks {prefix}{error.args[0]}") from error
        for key, old in arrays_of(child).items():
            where = f"{describe(path, child)}, value {key}"
            if key not in made:
                if key == "N":
                    continue  # PyTorch does not count without running statistics.
                raise ValueError(f"state_dict has nothing for {where}")
            if made[key].shape != old.shape:
                raise ValueError(f"{where}: the shape is {old.shape}, got {made[key].shape}")
            values.append((child, key, made[key]))
    unused = sorted(set(tensors) - used)
    if unused:
        raise ValueError(f"state_dict has {', '.join(unused[:5])}, which no layer of the link uses")
    # Values are set only now: after an error the link is as it was.
    for child, key, value in values:
        *owners, attribute = key.split(".")
        owner: Any = dict(child.namedlinks())["/" + "/".join(owners)]
        old = getattr(owner, attribute)
        if hasattr(old, "array"):
            old.array[...] = value
        elif isinstance(old, np.ndarray) and old.shape:
            old[...] = value
        else:
            setattr(owner, attribute, type(old)(value))


def _pairs(link: Link, module: Any, args: Any) -> list[tuple[str, Link, Layer, str, Any]]:
    """Returns path, link, kind, name in PyTorch and module of each layer."""
    if module is None:
        calls = _layers_of(link) if args is None else called_links(link, _as_tuple(args))
        names: list[tuple[str, Any]] = [(path[1:].replace("/", "."), None) for path, _ in calls]
    elif args is None:
        raise ValueError("args must be given with module: both models are called with them")
    else:
        calls = called_links(link, _as_tuple(args))
        tensors = map_leaves(
            lambda x: as_tensor(x) if isinstance(x, np.ndarray) else x, _as_tuple(args)
        )
        names = called_modules(module, tensors)
    layers: list[Layer] = []
    for path, child in calls:
        layer = layer_of_link(child)
        if layer is None:
            raise no_counterpart(path, child)
        layers.append(layer)
    # The numbers are compared below. The first layer of another kind makes a better message.
    rows = zip(calls, layers, names, strict=False)
    pairs = [(path, child, layer, *name) for (path, child), layer, name in rows]
    for path, child, layer, name, target in pairs:
        if target is not None and type(target).__name__ not in layer.modules:
            raise ValueError(
                f"the models differ: {describe(path, child)} is called where the module calls "
                f"{name} ({type(target).__name__}); expected {' or '.join(layer.modules)}"
            )
    if len(calls) != len(names):
        rest = [path for path, _ in calls[len(names) :]] or [n for n, _ in names[len(calls) :]]
        raise ValueError(
            f"the models differ: the link calls {len(calls)} layers, the module {len(names)}; "
            f"not paired: {', '.join(rest)}"
        )
    return pairs


def _layers_of(link: Link) -> list[tuple[str, Link]]:
    """Returns the layers of a link in the order of its children."""
    if is_unit(link):
        return [("/", link)]
    found: list[tuple[str, Link]] = []
    skipped: list[str] = []
    for path, child in link.namedlinks(skipself=True):
        if any([path.startswith(f"{top}/") for top in skipped]):
            continue
        if is_unit(child):
            found.append((path, child))
            skipped.append(path)
    return found


def _own_tensors(module: Any) -> dict[str, Any]:
    return dict(module.state_dict())


def _fitted(
    made: dict[str, np.ndarray], expected: dict[str, Any] | None, where: str
) -> dict[str, np.ndarray]:
    """Returns the values under the names that a module has, with the same shapes."""
    if expected is None:
        return made
    if "weight_ih_l0" in expected and "weight_ih" in made:
        made = {f"{key}_l0": value for key, value in made.items()}
    fitted: dict[str, np.ndarray] = {}
    for key, tensor in expected.items():
        if key == "num_batches_tracked":
            fitted[key] = np.asarray(made.get(key, 0), np.int64)
            continue
        if key not in made:
            raise ValueError(f"{where} has no value for {key} of the module")
        if made[key].shape != tuple(tensor.shape):
            raise ValueError(
                f"{where}: the shape of {key} is {tuple(tensor.shape)} in the module, "
                f"got {made[key].shape}"
            )
        fitted[key] = made[key]
    unused = sorted(set(made) - set(expected) - {"num_batches_tracked"})
    if unused:
        raise ValueError(f"{where} has {unused[0]}, which the module lacks")
    return fitted


def _as_tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)

"""``LinkModule``: a link of Chainer as a module of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import chainer
import numpy as np
from chainer import Link, Parameter, Variable

from chainer_torch.pytorch import as_array, as_tensor, shares_memory, torch
from chainer_torch.trees import map_leaves

if TYPE_CHECKING:
    from torch.nn import Module
else:
    Module = torch().nn.Module

_torch = torch()


class _Part(Module):
    """Holds the parameters of a link below the root, for their names."""


class LinkModule(Module):
    """A link of Chainer as a module of PyTorch.

    The parameters share the memory of the link's, under its names: ``/l1/W`` is ``l1.W``.
    Optimizers of PyTorch train them, gradients of any order are there, and persistent values of the
    link, such as running statistics, are buffers. ``chainer.config.train`` is the mode of the
    module while it runs.

    Args:
        link (chainer.Link): The link, on the CPU. All parameters have values: call the link once,
            where lengths of inputs are not given.

    Raises:
        ImportError: If PyTorch is not installed.
        TypeError: If ``link`` is not a link.
        ValueError: If a parameter has no value yet.

    Attributes:
        link (chainer.Link): The link.

    Example:
        >>> import torch  # doctest: +SKIP
        >>> from chainer_torch import LinkModule  # doctest: +SKIP
        >>> module = LinkModule(L.Linear(4, 3))  # doctest: +SKIP
        >>> module(torch.zeros(2, 4)).shape  # doctest: +SKIP
        torch.Size([2, 3])
    """

    def __init__(self, link: Link) -> None:
        super().__init__()
        if not isinstance(link, Link):
            raise TypeError(f"link must be a chainer.Link, got {type(link).__name__}")
        missing = [path for path, p in link.namedparams() if p.array is None]
        if missing:
            raise ValueError(
                f"parameter {missing[0]} has no value yet: call the link once with a sample before"
            )
        # Not a part of the module's tree: a link is none of its own.
        self.__dict__["link"] = link
        self._parameter_places: list[tuple[str, str]] = []
        self._buffer_places: list[tuple[str, str]] = []
        seen: set[int] = set()
        for path, parameter in link.namedparams():
            # A shared parameter has several paths, and one place in the module.
            if id(parameter) in seen:
                continue
            seen.add(id(parameter))
            part, name = self._part(path)
            tensor = as_tensor(parameter.array, path)
            is_trained = bool(parameter.requires_grad) and tensor.is_floating_point()
            part.register_parameter(name, _torch.nn.Parameter(tensor, requires_grad=is_trained))
            self._parameter_places.append((path, path[1:].replace("/", ".")))
        for path, owner in link.namedlinks():
            for name in sorted(owner._persistent):
                value = getattr(owner, name)
                if isinstance(value, (np.ndarray, np.generic, int, float)):
                    full = f"{path.rstrip('/')}/{name}"
                    part, attribute = self._part(full)
                    part.register_buffer(attribute, as_tensor(np.asarray(value), full))
                    self._buffer_places.append((full, full[1:].replace("/", ".")))
        self.train(bool(chainer.config.train))

    def _part(self, path: str) -> tuple[Module, str]:
        """Returns the module that holds the value of a path, made at first use, and its name."""
        *owners, name = path[1:].split("/")
        module: Any = self
        for owner in owners:
            if owner not in module._modules:
                module.add_module(owner, _Part())
            module = module._modules[owner]
        return module, name

    def _share(self) -> tuple[list[Parameter], list[Any]]:
        """Makes the link use the memory of the module, and returns the parameters of both."""
        parameters: list[Parameter] = []
        tensors: list[Any] = []
        known = dict(self.link.namedparams())
        for path, name in self._parameter_places:
            parameter, tensor = known[path], self.get_parameter(name)
            if not shares_memory(tensor, parameter.array):
                # PyTorch gave the parameter another tensor, such as by `module.double()`.
                parameter.array = as_array(tensor, f"parameter {name!r}")
            parameters.append(parameter)
            tensors.append(tensor)
        links = dict(self.link.namedlinks())
        for path, name in self._buffer_places:
            owner, attribute = _split(links, path)
            array = as_array(self.get_buffer(name), f"buffer {name!r}")
            value = getattr(owner, attribute)
            if not isinstance(value, np.ndarray):
                # Counts of updates are numbers of Python in links.
                setattr(owner, attribute, type(value)(array))
            elif not shares_memory(self.get_buffer(name), value):
                setattr(owner, attribute, array)
        return parameters, tensors

    def _follow_persistents(self) -> None:
        """Sees persistent values that the link replaced by others."""
        links = dict(self.link.namedlinks())
        for path, name in self._buffer_places:
            owner, attribute = _split(links, path)
            value, buffer = getattr(owner, attribute), self.get_buffer(name)
            if not isinstance(value, np.ndarray) or not shares_memory(buffer, value):
                buffer.data = as_tensor(np.array(value), path).to(buffer.dtype)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the link.

        Args:
            args: Arguments of the link. Tensors, also in lists, tuples and dicts, become Variables
                on the same memory.
            kwargs: Keyword arguments, in the same way.

        Returns:
            The result of the link, with tensors for Variables.
        """
        parameters, tensors = self._share()
        inputs: list[Any] = []
        map_leaves(lambda x: inputs.append(x) if _torch.is_tensor(x) else None, (args, kwargs))
        holder: list[Any] = []

        def call(arrays: Sequence[Any]) -> tuple[list[Variable], list[Variable]]:
            variables = [
                Variable(as_array(x, "argument"), requires_grad=x.requires_grad) for x in arrays
            ]
            waiting = iter(variables)
            positional, named = map_leaves(
                lambda x: next(waiting) if _torch.is_tensor(x) else x, (args, kwargs)
            )
            recorded = any([x.requires_grad for x in [*inputs, *tensors]])
            recorded = recorded and _torch.is_grad_enabled()
            with (
                chainer.using_config("train", self.training),
                chainer.using_config("enable_backprop", recorded),
            ):
                result = self.link(*positional, **named)
            holder.append(result)
            outputs: list[Variable] = []
            map_leaves(lambda y: outputs.append(y) if isinstance(y, Variable) else None, result)
            return [*variables, *parameters], outputs

        # Decided here: within a function of PyTorch gradients are always off.
        enabled = _torch.is_grad_enabled()
        made = _ChainerGraph.apply(_with_grad(call, enabled), len(inputs), *inputs, *tensors)
        self._follow_persistents()
        results = iter(made)
        return map_leaves(lambda y: next(results) if isinstance(y, Variable) else y, holder[0])

    def __deepcopy__(self, memo: dict[int, Any]) -> LinkModule:
        clone = LinkModule(self.link.copy("copy"))
        clone.train(self.training)
        memo[id(self)] = clone
        return clone


def _split(links: dict[str, Any], path: str) -> tuple[Any, str]:
    """Returns the link of a persistent value, and the name of the value in it."""
    owner, _, name = path.rpartition("/")
    return links[owner or "/"], name


def _with_grad(call: Callable[..., Any], enabled: bool) -> Callable[..., Any]:
    def run(tensors: Sequence[Any]) -> Any:
        with _torch.set_grad_enabled(enabled):
            return call(tensors)

    return run


class _ChainerGraph(_torch.autograd.Function):
    """A part of Chainer's graph as one node of PyTorch's.

    ``run`` makes the graph: it takes the first tensors and returns the Variables of all inputs, and
    of the outputs. The gradient is such a node again, so that gradients of any order are there.
    """

    @staticmethod
    def forward(ctx: Any, run: Callable[..., Any], count: int, *tensors: Any) -> tuple[Any, ...]:
        ctx.variables, ctx.results = run(tensors[:count])
        ctx.save_for_backward(*tensors)
        made = tuple([as_tensor(y.array, "result") for y in ctx.results])
        fixed = [t for t in made if not t.is_floating_point()]
        ctx.mark_non_differentiable(*fixed)
        # An output without a gradient has None, not an array of zeros.
        ctx.set_materialize_grads(False)
        return made

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        pairs = [(y, g) for y, g in zip(ctx.results, gradients, strict=True) if g is not None]
        wanted = [i for i, needed in enumerate(ctx.needs_input_grad[2:]) if needed]
        missing = (None,) * (2 + len(ctx.variables))
        if not pairs or not wanted:
            return missing
        variables, double = ctx.variables, _torch.is_grad_enabled()
        found: list[int] = []

        def differentiate(seeds: Sequence[Any]) -> tuple[list[Variable], list[Variable]]:
            # Gradients may be expanded numbers, with strides of 0.
            seed_variables = [Variable(as_array(g.contiguous(), "gradient")) for g in seeds]
            with chainer.using_config("enable_backprop", True):
                gradients = chainer.grad(
                    [y for y, _ in pairs],
                    [variables[i] for i in wanted],
                    seed_variables,
                    enable_double_backprop=double,
                )
            found.extend([i for i, g in zip(wanted, gradients, strict=True) if g is not None])
            inputs = [*seed_variables, *variables]
            return inputs, [g for g in gradients if g is not None]

        made = _ChainerGraph.apply(
            differentiate, len(pairs), *[g for _, g in pairs], *ctx.saved_tensors
        )
        by_input = dict(zip(found, made, strict=True))
        return (None, None, *[by_input.get(i) for i in range(len(variables))])

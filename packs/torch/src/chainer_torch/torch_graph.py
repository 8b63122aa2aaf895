"""A part of PyTorch's graph as one node of Chainer's, with gradients of any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chainer
from chainer import FunctionNode, Variable
from chainer.typing import Array

from chainer_torch.pytorch import as_array, as_tensor, torch


class TorchGraph(FunctionNode):
    """A graph of PyTorch that exists already, as one node of Chainer's graph.

    PyTorch differentiates it. A gradient of a gradient is such a node again: PyTorch goes on with
    the same graph, which then has the gradients as outputs.

    Args:
        leaves (list of torch.Tensor): The tensors that the inputs of the node share.
        outputs (list of torch.Tensor): The tensors computed from them.
    """

    def __init__(self, leaves: Sequence[Any], outputs: Sequence[Any]) -> None:
        super().__init__()
        self.leaves = list(leaves)
        self.outputs_of_torch = list(outputs)

    @property
    def label(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Name in printed graphs."""
        return "PyTorch"

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        # Of gradients of gradients.
        self.retain_inputs(tuple(range(len(inputs))))
        return tuple([as_array(y, "result") for y in self.outputs_of_torch])

    def backward(
        self, target_input_indexes: Sequence[int], grad_outputs: Sequence[Variable | None]
    ) -> tuple[Variable | None, ...]:
        pairs = [
            (y, gy)
            for y, gy in zip(self.outputs_of_torch, grad_outputs, strict=True)
            if gy is not None and y.requires_grad
        ]
        if not pairs:
            return (None,) * len(target_input_indexes)
        double = bool(chainer.config.enable_backprop)
        outputs = [y for y, _ in pairs]
        seeds = [_seed(y, gy, double) for y, gy in pairs]
        found = torch().autograd.grad(
            outputs,
            [self.leaves[i] for i in target_input_indexes],
            seeds,
            retain_graph=True,
            create_graph=double,
            allow_unused=True,
        )
        wanted = [g for g in found if g is not None]
        if not wanted:
            return (None,) * len(found)
        if double:
            retained = [*self.get_retained_inputs(), *[gy for _, gy in pairs]]
            made = iter(TorchGraph([*self.leaves, *seeds], wanted).apply(retained))
        else:
            made = iter([Variable(as_array(g), requires_grad=False) for g in wanted])
        return tuple([None if g is None else next(made) for g in found])


def _seed(y: Any, gy: Variable, double: bool) -> Any:
    """Returns the gradient of an output as a tensor."""
    tensor = as_tensor(gy.array, "gradient").to(y.dtype)
    return tensor.detach().requires_grad_() if double else tensor

"""Functions of a hypothetical pack, one right and each of the others wrong in one way, with rows
for them.
"""

import numpy as np

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample


class Multiply(FunctionNode):
    """Elementwise product of equal shapes, differentiable any number of times."""

    factor = 1
    type_check_key = ()

    def check_type_forward(self, in_types):
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].shape == in_types[1].shape)

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, target_input_indexes, grad_outputs):
        inputs = self.get_retained_inputs()
        return tuple(multiply(grad_outputs[0], inputs[1 - i]) for i in target_input_indexes)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        inputs = self.retained_input_arrays
        return tuple(grad_outputs[0] * inputs[1 - i] for i in target_input_indexes)


def multiply(x, y, node=Multiply):
    return node().apply((x, y))[0]


class WrongForward(Multiply):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1] * inputs[0].dtype.type(1.1),)


class WrongDtype(Multiply):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return ((inputs[0] * inputs[1]).astype(self.xp.float32),)


class ModifiesInput(Multiply):
    def forward(self, inputs):
        x, y = inputs
        self.retain_inputs((0, 1))
        z = x * y
        x *= 0
        return (z,)


class WrongBackwardOnArrays(Multiply):
    def backward(self, target_input_indexes, grad_outputs):
        return Multiply.backward(self, target_input_indexes, grad_outputs)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        inputs = self.retained_input_arrays
        return tuple(grad_outputs[0] * inputs[i] for i in target_input_indexes)


class WrongBackwardOnVariables(Multiply):
    def backward(self, target_input_indexes, grad_outputs):
        inputs = self.get_retained_inputs()
        return tuple(multiply(grad_outputs[0], inputs[i]) for i in target_input_indexes)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        return Multiply.backward_arrays(self, target_input_indexes, grad_outputs)


class Inexact(Multiply):
    """As exact as float32."""

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1] * (1 + 1e-6),)


class Unsteady(Multiply):
    """Each call has other bits, within the tolerance."""

    calls = 0

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        Unsteady.calls += 1
        return (inputs[0] * inputs[1] * (1 + Unsteady.calls % 7 * 1e-12),)


class IgnoresTargets(Multiply):
    def backward(self, target_input_indexes, grad_outputs):
        return Multiply.backward(self, target_input_indexes, grad_outputs)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        inputs = self.retained_input_arrays
        gradients = grad_outputs[0] * inputs[1], grad_outputs[0] * inputs[0]
        return gradients[: len(target_input_indexes)]


class CutsTheGraph(Multiply):
    """Right gradients, made in a way that cannot be differentiated."""

    def backward(self, target_input_indexes, grad_outputs):
        inputs = self.get_retained_inputs()
        return tuple(multiply(grad_outputs[0], inputs[1 - i].array) for i in target_input_indexes)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        return Multiply.backward_arrays(self, target_input_indexes, grad_outputs)


class ContiguousOnly(Multiply):
    """Reads the memory of its inputs in order, whatever their strides are."""

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        x, y = inputs
        order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
        return ((x.transpose(order).reshape(x.shape)) * y,)


class AcceptsAnything(Multiply):
    def check_type_forward(self, in_types):
        pass


NODES = {
    "right": Multiply,
    "wrong_forward": WrongForward,
    "wrong_dtype": WrongDtype,
    "modifies_input": ModifiesInput,
    "wrong_backward_on_arrays": WrongBackwardOnArrays,
    "wrong_backward_on_variables": WrongBackwardOnVariables,
    "ignores_targets": IgnoresTargets,
    "cuts_the_graph": CutsTheGraph,
    "contiguous_only": ContiguousOnly,
    "accepts_anything": AcceptsAnything,
    "inexact": Inexact,
    "unsteady": Unsteady,
}

_GRADIENTS = {"test_backward", "test_double_backward", "test_forward_mode"}

EXPECTED = {
    "right": set(),
    "wrong_forward": {"test_forward"},
    "wrong_dtype": {"test_forward", *_GRADIENTS},
    "modifies_input": {"test_forward", *_GRADIENTS},
    "wrong_backward_on_arrays": {"test_backward", "test_forward_mode"},
    "wrong_backward_on_variables": _GRADIENTS,
    "ignores_targets": {"test_backward"},
    "cuts_the_graph": {"test_double_backward", "test_forward_mode"},
    "contiguous_only": {"test_forward"},
    "accepts_anything": {"test_refuses"},
    "inexact": {"test_forward"},
    "unsteady": {"test_forward"},
}


def _row(name, node):
    return OpSpec(
        name,
        reference=lambda x, y: x * y,
        call=lambda F, x, y: multiply(x, y, node),
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((2, 3))),
            Sample(draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(
                draw((2,)).astype("f"),
                draw((3,)).astype("f"),
                error=type_check.InvalidType,
                match=r"in_types\[0\]\.shape == in_types\[1\]\.shape",
            )
        ],
        dtypes=("float16", "float64"),
    )


SPECS = [_row(name, node) for name, node in NODES.items()]


class SplitScale(FunctionNode):
    """Two outputs, one of integers; a gradient for the first only."""

    def forward(self, inputs):
        self.retain_inputs(())
        return (inputs[0] * inputs[0].dtype.type(2), (inputs[0] > 0).astype(np.int32))

    def backward_arrays(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0] * grad_outputs[0].dtype.type(2),)

    def backward(self, target_input_indexes, grad_outputs):
        g = grad_outputs[0]
        two = self.xp.full(g.shape, 2, g.dtype)
        return (multiply(g, two),)


SPECS.append(
    OpSpec(
        "two_outputs",
        reference=lambda x: [x * 2, (x > 0).astype(int)],
        call=lambda F, x: list(SplitScale().apply((x,))),
        samples=lambda draw: [Sample(draw((2, 3)))],
    )
)
EXPECTED["two_outputs"] = set()

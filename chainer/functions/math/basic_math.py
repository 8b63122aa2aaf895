from __future__ import annotations
from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
class Add(FunctionNode):
    type_check_key=()
    def check_type_forward(self, in_types):
        type_check.expect(in_types.size()==2, in_types[0].dtype==in_types[1].dtype, in_types[0].shape==in_types[1].shape)
    def forward(self, inputs): return (inputs[0]+inputs[1],)
    def backward(self, t, g): return (g[0],)*len(t)
    def backward_arrays(self, t, g): return (g[0],)*len(t)
def add(a,b): return Add().apply((a,b))[0]

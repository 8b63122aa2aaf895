"""The backward pass: a walk over the graph from its end to its beginning.

A function node is visited when all gradients of its outputs have arrived. Visiting the nodes in
the order of their ranks guarantees this. Gradients are arrays if possible. Then a function node
that defines ``backward_arrays`` creates no Variables. Gradients are Variables if they are to be
differentiated in turn, or if function hooks are set, because hooks see every function that computes
the gradients.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from heapq import heappop, heappush, heappushpop
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.accumulate import ArraySums, Scalar, VariableSums, add_variables
from chainer.core.autograd.array_checks import has_nan, is_current
from chainer.core.autograd.delivery import GradientDelivery
from chainer.core.autograd.gradient_errors import (
    GradientTypeError,
    add_stack,
    check_input_gradient,
    describe,
    gradients_of_targets,
)
from chainer.core.autograd.retained_checksums import compare_checksums
from chainer.core.autograd.unread_gradients import needed_targets
from chainer.core.autograd.variable_node import CHECK_SCHEDULED, GRAD_WAS_SET, VariableNode
from chainer.core.config.configuration import threads

if TYPE_CHECKING:
    from chainer.core.autograd.function_hook import FunctionHook
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array, ArrayGrads, Grads, Indexes

    Gradient = Variable | Array
    Gradients = tuple[Gradient | None, ...]

_ndarray = numpy.ndarray
_ref = weakref.ref


#: Entry that marks the end of the heap.
_END: tuple[int, int, Any, Any] = (0, 0, None, None)


class BackwardPass:
    """One walk over the graph backwards, from given nodes.

    Args:
        create_graph: Whether the computation of the gradients is recorded, so that they can be
            differentiated in turn.
        retain_grad: Whether gradients of intermediate variables are stored in the variables.
        targets: Nodes whose gradients are kept although a function created them, or None.
        paths: Functions to visit, with the indexes of the inputs that get gradients. None for all
            functions, with the inputs that require gradients.
        any_dtype: Whether gradients may have other dtypes than the variables. They are Variables
            then, so that the type checks of functions decide what can be computed with them.

    Attributes:
        on_variables: Whether gradients are Variables; otherwise they are arrays.
        sums: Gradients of the nodes reached so far. Roots are added before :meth:`run`. Afterwards
            only gradients of leaves and ``targets`` remain.
        delivery: Prevents that variables share the memory of gradients.
        seeds: Nodes with the gradients that the user gave for them, if gradients are retained or
            returned. Where nothing is added to it, the result is the same object.
        waiting: Nodes that have a gradient from the user before the pass reaches them.
    """

    __slots__ = (
        "_any_dtype",
        "_create_graph",
        "_heap",
        "_is_common",
        "_is_lean",
        "_is_plain",
        "_needed",
        "_paths",
        "_pushed",
        "_retain_grad",
        "_scheduled",
        "_state",
        "_targets",
        "_unneeded",
        "_unseeded",
        "delivery",
        "on_variables",
        "seeds",
        "sums",
        "waiting",
    )

    def __init__(
        self,
        create_graph: bool = False,
        retain_grad: bool = False,
        targets: set[VariableNode] | None = None,
        paths: dict[FunctionNode, Indexes] | None = None,
        any_dtype: bool = False,
    ) -> None:
        state = self._state = threads.state
        self._create_graph = create_graph
        self._retain_grad = retain_grad
        self._targets = targets
        self._paths = paths
        #: Functions of which some gradients are left out, with the indexes of the other inputs.
        self._needed: dict[FunctionNode, Indexes] | None = None
        self._any_dtype = any_dtype
        self.on_variables = (
            create_graph or any_dtype or (bool(state.hooks) and _are_seen_inside(state.hooks))
        )
        self.sums: Any = VariableSums() if self.on_variables else ArraySums()
        self.delivery = GradientDelivery()
        self.waiting: set[VariableNode] = set()
        # Whether gradients are removed from the sums without being stored anywhere else.
        self._is_plain = not (
            self.on_variables or retain_grad or targets is not None or paths is not None
        )
        # In the usual case a function with a rule on arrays needs no preparation at all.
        self._is_common = self._is_plain and not (state.hooks or state.debug)
        # Nothing happens around rules: the other passes need few tests for each function, too.
        self._is_lean = not (retain_grad or state.hooks or state.debug)
        self.seeds: dict[VariableNode, Variable] = {}
        #: Functions to visit: rank, number, function, and the output node where it was reached.
        self._heap: list[tuple[int, int, FunctionNode, VariableNode]] = []
        self._pushed = 0
        #: Functions that were put into the heap, out of all functions that several nodes may reach.
        self._scheduled: set[FunctionNode] = set()
        #: Outputs of functions with a gradient from the user, for which a rule has returned None.
        self._unneeded: set[VariableNode] = set()
        #: Function that is differentiated although its outputs have no gradients.
        self._unseeded: FunctionNode | None = None

    def start_with(self, root: VariableNode, gradient: Variable) -> None:
        """Sets the gradient of a node that the user gave. Called before :meth:`run`."""
        if self.on_variables:
            self.sums.add(root, gradient)
        else:
            # The array belongs to the user: no variable may get it as its gradient.
            if self._targets is None or self._retain_grad:
                self.delivery.mark_borrowed(gradient.array)
            self.sums.add(root, gradient.array)
        if self._targets is not None:
            self.seeds[root] = gradient

    def keep_seed(self, root: VariableNode, variable: Variable) -> None:
        """Lets a root keep the object that is its gradient, in a pass that retains gradients."""
        seed = variable.grad_var
        if seed is not None:
            self.seeds[root] = seed

    def leave_out_unread(self, root: VariableNode) -> None:
        """Leaves out gradients that no code can read, if it may. Called before :meth:`run`.

        Args:
            root: The only root.
        """
        # Hooks and debug mode watch all functions, and other passes give gradients away.
        if self._is_common:
            self._needed = needed_targets(root)

    def run(self, roots: Iterable[VariableNode], unseeded: FunctionNode | None = None) -> None:
        """Visits the creators of the roots and all functions before them.

        Args:
            roots: Nodes with a creator, whose gradients are in :attr:`sums`.
            unseeded: Function that is differentiated although its outputs have no gradients.
        """
        self._unseeded = unseeded
        heap = self._heap
        for root in roots:
            function = root._creator_node
            if function is not None and self._is_first_visit(root, function):
                self._push(root, function)
        visit = self._visitor()
        _, _, function, node = heappop(heap) if heap else _END
        # The same as using_config("enable_backprop", ...), without a context manager: a signal may
        # raise an exception on entry to __exit__(), but not before the assignments in ``finally``.
        # It is faster, too: a backward pass of a small function took a tenth longer.
        state = self._state
        values = state.values
        was_set = "enable_backprop" in values
        previous = state.enable_backprop
        outer_sums = state.gradient_sums
        try:
            state.gradient_sums = self.sums if self._is_common else None
            values["enable_backprop"] = state.enable_backprop = self._create_graph
            while function is not None:
                try:
                    following = visit(node, function)
                except Exception as error:
                    add_stack(error, function)
                    raise
                # A chain of functions never touches the heap.
                if following is None:
                    _, _, function, node = heappop(heap) if heap else _END
                else:
                    node = following
                    function = node._creator_node
                    if heap and function is not None:
                        self._pushed += 1
                        entry = (-node._rank, self._pushed, function, node)
                        _, _, function, node = heappushpop(heap, entry)
            if self._is_common:
                self.sums.finish()
        finally:
            state.gradient_sums = outer_sums
            state.enable_backprop = previous
            if was_set:
                values["enable_backprop"] = previous
            elif "enable_backprop" in values:
                del values["enable_backprop"]

    def _push(self, node: VariableNode, function: FunctionNode) -> None:
        # The number keeps functions of one rank in the order in which they were reached.
        self._pushed += 1
        heappush(self._heap, (-node._rank, self._pushed, function, node))

    def _is_first_visit(self, node: VariableNode, function: FunctionNode) -> bool:
        """Returns whether the creator of a node is yet to be scheduled."""
        if not node._marks & CHECK_SCHEDULED:
            return True
        if function in self._scheduled:
            return False
        self._scheduled.add(function)
        return True

    # -- one function -----------------------------------------------------------------------------

    def _visitor(self) -> Callable[[VariableNode, FunctionNode], VariableNode | None]:
        """Returns the method that visits the functions of this pass."""
        if self._is_plain or not self._is_lean:
            return self._visit
        return self._visit_lean_on_variables if self.on_variables else self._visit_lean

    def _visit(self, node: VariableNode, function: FunctionNode) -> VariableNode | None:
        """Computes the gradients of the inputs of a function and adds them to the sums.

        Args:
            node: The output of the function that a gradient reached first.
            function: The creator of the node.

        Returns:
            VariableNode: A node that a gradient reached for the first time and whose creator is
                not in the heap, or None. The creators of other such nodes were put there.
        """
        targets = function._targets
        if self._needed is not None:
            targets = self._needed.get(function, targets)
        gys: Gradients | None
        if self._is_plain and not node._marks:
            # By far the most frequent case: one output, gradients are arrays.
            gy = self.sums.sums.pop(node, None)
            if type(gy) is _ndarray:
                gys = (gy,)
            elif gy is not None:
                gys = (_to_rule_array(function, gy),)
            elif function is self._unseeded:
                gys = (None,)
            else:
                return None
            if not self._is_common:
                function._know_output(node)  # hooks may read 'outputs'
            elif function._has_direct_rule and targets:
                gxs = function.backward_arrays(targets, gys)
                if len(targets) == 1 == len(gxs):
                    # As _accumulate() for the first gradient of an input, without its call.
                    inputs, reached, gx = function.inputs, self.sums.sums, gxs[0]
                    if inputs is not None and type(gx) is _ndarray:
                        x = inputs[targets[0]]
                        dtype, shape = x._type
                        if x not in reached and gx.dtype is dtype and gx.shape == shape:
                            reached[x] = gx
                            creator = x._creator_node
                            if creator is None:
                                return None
                            if not x._marks or self._is_first_visit(x, creator):
                                return x
                            return None
                return self._accumulate(function, targets, gxs)
        else:
            if self._paths is not None:
                if function not in self._paths:
                    return None
                targets = self._paths[function]
            gys = self._pop_output_gradients(node, function)
        if gys is None or not targets:
            return None
        device = function._device
        if device is not None and not is_current(device):
            with device:
                return self._visit_observed(function, targets, gys)
        return self._visit_observed(function, targets, gys)

    def _visit_lean(self, node: VariableNode, function: FunctionNode) -> VariableNode | None:
        """Does the work of :meth:`_visit` on arrays, if there is nothing to observe.

        It is for passes with targets or paths, and a function with one output, as below.
        """
        if node._marks or not function._has_direct_rule or function is self._unseeded:
            return self._visit(node, function)
        targets = function._targets
        if self._paths is not None:
            found = self._paths.get(function)
            if found is None:
                return None
            targets = found
        sums = self.sums
        # Kernels add up gradients by themselves in plain passes only, so that a sum is complete.
        if self._targets and node in self._targets:
            gy = sums.get(node)
        else:
            sums._in_place.discard(node)
            gy = sums.sums.pop(node, None)
        if gy is None or not targets:
            return None
        if type(gy) is not _ndarray:
            gy = _to_rule_array(function, gy)
        return self._accumulate(function, targets, function.backward_arrays(targets, (gy,)))

    def _visit_lean_on_variables(
        self, node: VariableNode, function: FunctionNode
    ) -> VariableNode | None:
        """Does the work of :meth:`_visit` on Variables, if there is nothing to observe.

        A function with one output has a path of its own. The calls and tests of the general case
        would take as long as a small matrix product, for each function of each order.
        """
        if node._marks or not function._traits.has_lean_rule or function is self._unseeded:
            return self._visit(node, function)
        targets = function._targets
        if self._paths is not None:
            found = self._paths.get(function)
            if found is None:
                return None
            targets = found
        if self._targets and node in self._targets:
            gy = self.sums.get(node)
        else:
            terms = self.sums.sums.pop(node, None)
            gy = terms if terms is None else terms[0] if len(terms) == 1 else add_variables(terms)
        if gy is None or not targets:
            return None
        # Rules on Variables may read 'outputs': as _know_output(), without the call.
        if function._output is None and function._output_variable is not None:
            function._output = _ref(node)
        device = function._device
        if device is not None and not is_current(device):
            with device:
                gxs = self._call_rule(function, targets, (gy,))
                return self._accumulate(function, targets, gxs)
        try:
            gxs = function.backward(targets, (gy,))
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            _explain_unretained(function, error)
            raise
        if type(gxs) is not tuple or len(gxs) != len(targets):
            gxs = gradients_of_targets(function, targets, gxs)
        variable_class = VariableNode.variable_class
        if len(gxs) == 1:
            # As _accumulate() for the first gradient of an input, without its call.
            gx, inputs = gxs[0], function.inputs
            if gx is not None and type(gx) is variable_class and inputs is not None:
                x, reached = inputs[targets[0]], self.sums.sums
                dtype, shape = x._type
                array = gx._array
                if x not in reached and array.dtype is dtype and array.shape == shape:
                    reached[x] = [gx]
                    creator = x._creator_node
                    if creator is None or (x._marks and not self._is_first_visit(x, creator)):
                        return None
                    return x
        for gx in gxs:
            if type(gx) is not variable_class and gx is not None:
                _array_of(function, gx)
        return self._accumulate(function, targets, gxs)

    def _visit_observed(
        self, function: FunctionNode, targets: Indexes, gys: Gradients
    ) -> VariableNode | None:
        """Differentiates a function with hooks and debug checks around it."""
        state = self._state
        if not (state.hooks or state.debug or function._hooks):
            return self._accumulate(function, targets, self._call_rule(function, targets, gys))
        if state.debug:
            compare_checksums(function)
        hooks = function._all_hooks(state)
        in_data = tuple([x.data for x in function.inputs or ()])
        out_grad = tuple([self._array(gy) for gy in gys])
        for hook in hooks:
            hook.backward_preprocess(function, in_data, out_grad)
        gxs = self._call_rule(function, targets, gys)
        # Hooks see the additions of gradients, too.
        node = self._accumulate(function, targets, gxs)
        for hook in hooks:
            hook.backward_postprocess(function, in_data, out_grad)
        if state.debug and any([has_nan(self._array(gx)) for gx in gxs]):
            raise RuntimeError(f"NaN is detected on backward computation of {function.label}")
        return node

    def _array(self, gradient: Gradient | None) -> Array | None:
        return gradient._array if self.on_variables and gradient is not None else gradient

    def _accumulate(
        self, function: FunctionNode, targets: Indexes, gxs: Gradients
    ) -> VariableNode | None:
        """Adds gradients to the sums of the inputs; returns what :meth:`_visit` does."""
        if len(gxs) != len(targets):
            gxs = gradients_of_targets(function, targets, gxs)
        inputs = function.inputs
        if inputs is None:  # the rule has unchained the function
            return None
        on_variables = self.on_variables
        reached = self.sums.sums
        if len(gxs) == 1:
            # The loop below for one input whose first gradient this is: by far the most frequent.
            gx = gxs[0]
            x = inputs[targets[0]]
            if gx is not None and x not in reached:
                array = gx._array if on_variables else gx
                dtype, shape = x._type
                if array.dtype is dtype and array.shape == shape:
                    reached[x] = [gx] if on_variables else gx
                    creator = x._creator_node
                    if creator is None or (x._marks and not self._is_first_visit(x, creator)):
                        return None
                    return x
        following: VariableNode | None = None
        others: list[VariableNode] | None = None
        is_added = False
        for i, gx in zip(targets, gxs):
            x = inputs[i]
            if gx is None:
                if x._marks & GRAD_WAS_SET:
                    self._unneeded.add(x)
                if x not in self.waiting:
                    continue
                self.waiting.discard(x)
            else:
                previous = reached.get(x)
                if previous is gx and x in self.sums._in_place:
                    # A kernel adds to the sum of this leaf: see ArraySums.open_sum(). A cell with
                    # weights and biases has a dozen of them, and each call would be felt.
                    continue
                array = gx._array if on_variables else gx
                dtype, shape = x._type
                # The dtype of a pickled array may be an equal but different object.
                if array.shape != shape or (array.dtype is not dtype and array.dtype != dtype):
                    check_input_gradient(function, i, array, self._any_dtype)
                if previous is None:
                    # The same as add() of the first gradient of a node, without the call.
                    reached[x] = [gx] if on_variables else gx
                else:
                    self.sums.add(x, gx)
                    is_added = True
                    if x not in self.waiting:
                        continue
                    self.waiting.discard(x)
            creator = x._creator_node
            if creator is None or (x._marks and not self._is_first_visit(x, creator)):
                continue
            if following is None:
                following = x
            elif others is None:
                others = [x]
            else:
                others.append(x)
        if others is not None and following is not None:
            # All of them go into the heap, in the order in which they were reached. As _push(),
            # without a call for each.
            heap = self._heap
            number = self._pushed
            for x in (following, *others):
                number += 1
                heappush(heap, (-x._rank, number, x._creator_node, x))  # type: ignore[arg-type]
            self._pushed = number
            following = None
        if is_added and on_variables:
            self.sums.function_done(inputs, function.lazy_grad_sum)
        return following

    # -- gradients of outputs ---------------------------------------------------------------------

    def _pop_output_gradients(self, node: VariableNode, function: FunctionNode) -> Gradients | None:
        """Removes and returns the gradients of a function's outputs; None if there is none."""
        nodes = _output_nodes(node, function)
        if self._is_common:
            return self._pop_arrays(nodes, function)
        function._know_output(node)  # hooks and rules on Variables may read 'outputs'
        gys: list[Gradient | None] = []
        found = function is self._unseeded
        targets = self._targets or ()
        for output in nodes:
            gy: Gradient | None = None
            # An output that was unchained is a leaf: its gradient does not flow on.
            if output is not None and output._creator_node is function:
                gy = self.sums.get(output) if output in targets else self.sums.pop(output)
                if gy is None and output._marks & GRAD_WAS_SET:
                    gy = self._take_gradient_set_by_user(output)
                if gy is not None:
                    found = True
                    if not self.on_variables and type(gy) is not _ndarray:
                        gy = _to_rule_array(function, gy)
            gys.append(gy)
        if self._retain_grad:
            # After all were read: an output may be alive only as the gradient of another one.
            for output, gy in zip(nodes, gys, strict=True):
                if output is not None:
                    self._retain(output, gy)
        return tuple(gys) if found else None

    def _pop_arrays(
        self, nodes: list[VariableNode | None], function: FunctionNode
    ) -> tuple[Array | None, ...] | None:
        """Does the same in the usual case, without calls: functions may have many outputs."""
        sums = self.sums.sums
        gys: list[Array | None] = []
        found = function is self._unseeded
        for node in nodes:
            gy = None
            if node is not None and node._creator_node is function:
                gy = sums.pop(node, None)
                if gy is None and node._marks & GRAD_WAS_SET:
                    gy = self._take_gradient_set_by_user(node)
                if gy is not None:
                    found = True
                    if type(gy) is not _ndarray:
                        gy = _to_rule_array(function, gy)
            gys.append(gy)
        return tuple(gys) if found else None

    def _take_gradient_set_by_user(self, node: VariableNode) -> Gradient | None:
        """Clears and returns the gradient that the user set for an output, or returns None.

        As in release 7, it is used if the pass has visited no function of the output, and visits
        its creator because of another output. :func:`chainer.grad` uses gradients from its
        arguments only.
        """
        variable = node.get_variable_or_none()
        if variable is None or self._targets is not None or node in self._unneeded:
            return None
        gradient = variable.grad_var if self.on_variables else variable._grad
        if gradient is None:
            return None
        self.delivery.mark_borrowed(self._array(gradient))
        if self._retain_grad:
            self.keep_seed(node, variable)
        variable.cleargrad()
        node._marks &= ~GRAD_WAS_SET
        return gradient

    def _retain(self, node: VariableNode, gy: Gradient | None) -> None:
        """Stores the gradient of an output in its variable; None where no gradient reached it."""
        variable = node.get_variable_or_none()
        if variable is None:
            return
        if gy is None:
            # An unchained output is a leaf, which gets its gradient at the end. If the rule of a
            # function that uses it returned None, it keeps the gradient that the user set.
            is_leaf = node in self.sums.sums or (
                node in self._unneeded and node._creator_node is None
            )
            if self._targets is not None or not is_leaf:
                variable.grad_var = None
            return
        seed = self.seeds.get(node)
        if seed is not None and seed._array is self._array(gy):
            variable.grad_var = seed
        else:
            self.store(variable, gy)

    def store(self, variable: Variable, gradient: Gradient) -> None:
        """Stores a gradient in a variable, whose previous one is dropped."""
        if self._create_graph:
            variable.grad_var = gradient
            return
        array = self._array(gradient)
        variable._set_gradient(array)
        variable._gradient = self.delivery.deliver(variable, variable._gradient)

    # -- rules ------------------------------------------------------------------------------------

    def _call_rule(self, function: FunctionNode, targets: Indexes, gys: Gradients) -> Gradients:
        """Returns one gradient (or None) for each target, as arrays or Variables like the sums."""
        traits = function._traits
        if not self.on_variables:
            if traits.has_array_rule:
                return function.backward_arrays(targets, gys)
            gxs = self._call_on_variables(function, targets, _variables(gys))
            return tuple([None if gx is None else _array_of(function, gx) for gx in gxs])
        if not traits.has_variable_rule:
            if self._create_graph:
                raise RuntimeError(
                    f"gradients of {function.label} cannot be differentiated: "
                    f"{type(function).__name__} defines backward_arrays(), but not backward()"
                )
            return _variables(function.backward_arrays(targets, tuple(map(self._array, gys))))
        gxs = self._call_on_variables(function, targets, gys)
        for gx in gxs:
            if gx is not None:
                _array_of(function, gx)
        return gxs

    def _call_on_variables(self, function: FunctionNode, targets: Indexes, gys: Grads) -> Grads:
        if not function._traits.accumulates:
            try:
                gxs = function.backward(targets, gys)
            except (AttributeError, IndexError, TypeError, ValueError) as error:
                _explain_unretained(function, error)
                raise
            return gradients_of_targets(function, targets, gxs)
        # The function itself adds to the gradients that have arrived. So remove them from the sums.
        from_array = VariableNode.variable_class._from_array
        previous: list[Variable | None] = []
        for i in targets:
            x = function.input_nodes[i]
            gradient = self.sums.pop(x)
            if gradient is not None:
                # The sum that comes back is not the first gradient that reaches this node, unless
                # it had one before the pass.
                x._marks |= CHECK_SCHEDULED
                if x in self.waiting:
                    self.waiting.discard(x)
                elif x._creator_node is not None:
                    self._scheduled.add(x._creator_node)
                if not self.on_variables:
                    gradient = from_array(gradient, False)
            previous.append(gradient)
        gxs = function.backward_accumulate(targets, gys, tuple(previous))
        if len(gxs) != len(targets):
            raise ValueError(
                f"number of gradients returned by backward_accumulate of {function.label} is "
                f"incorrect: {len(gxs)} != expected {len(targets)}"
            )
        return gxs


def _output_nodes(node: VariableNode, function: FunctionNode) -> list[VariableNode | None]:
    """Returns the nodes of the outputs of a function, which was reached at one of them."""
    if function._several_outputs:
        return [reference() for reference in function._several_outputs]
    return [node]


def _are_seen_inside(hooks: dict[str, FunctionHook]) -> bool:
    """Returns whether a hook sees the functions that run inside backward."""
    # Hooks of programs need not be subclasses.
    return any([getattr(hook, "inside_backward", True) for hook in hooks.values()])


def _to_rule_array(function: FunctionNode, gy: Array) -> Array:
    """Converts a gradient that is not a NumPy array to what ``backward_arrays`` expects."""
    if isinstance(gy, Scalar):
        return numpy.asarray(gy)
    if not function.accepts_opaque_arrays:
        return backend_of(gy).to_xp(gy)
    return gy


def _variables(gradients: ArrayGrads) -> Grads:
    from_array = VariableNode.variable_class._from_array
    return tuple([None if gy is None else from_array(gy, False) for gy in gradients])


def _array_of(function: FunctionNode, gx: Variable) -> Array:
    variable_class = VariableNode.variable_class
    if not isinstance(gx, variable_class):
        raise GradientTypeError(
            f"type of gradients returned from backward is incorrect: {type(gx)} != expected "
            f"{variable_class}\n{describe(function)}"
        )
    return gx._array


def _explain_unretained(function: FunctionNode, error: Exception) -> None:
    """Adds a note to an error of ``backward()`` if the function retains none of its inputs."""
    if getattr(error, "__notes__", None):
        return  # Rules have told more precisely.
    if not function._retained_inputs and not function._retained_outputs:
        error.add_note(
            f"{type(function).__name__} retains nothing: to read inputs or outputs in backward(), "
            "call self.retain_inputs((0,)) or self.retain_outputs((0,)) in forward(), with the "
            "indexes of those that are needed"
        )

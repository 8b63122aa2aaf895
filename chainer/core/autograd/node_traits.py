"""Properties of a class of function nodes that the engine needs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode

#: Largest number of checked signatures that a class remembers. The limit keeps a program whose
#: shapes never repeat from filling the memory.
_SIGNATURE_LIMIT = 1024

#: Number of signatures with which inputs are compared before their signature is looked up. The
#: layers of a small network and the gradients of gradients have a few shapes each.
RECENT_SIGNATURES = 8

#: The methods that say how a function is differentiated. The most derived class that defines one
#: of them decides which one is used.
_RULES = ("backward", "backward_accumulate", "backward_arrays")


class NodeTraits:
    """Facts about a class of function nodes, found once per class.

    They are attributes of one object because :meth:`FunctionNode.apply` reads them for every
    operation: looking up an attribute of a function node, whose class differs from call to call,
    takes several times as long as reading a slot of this class.

    Args:
        accepts_opaque_arrays: See :attr:`FunctionNode.accepts_opaque_arrays`.
        accumulates: Whether the class overrides :meth:`FunctionNode.backward_accumulate`.
        checks_layouts: Whether the class defines :meth:`FunctionNode.check_layout_forward`.
        checks_types: Whether the class defines :meth:`FunctionNode.check_type_forward`.
        has_array_rule: Whether :meth:`FunctionNode.backward_arrays` computes the gradients.
        has_variable_rule: Whether there is a rule on Variables. Also True if the class defines no
            rule at all: the default rule, which returns None, is a rule on Variables.
        is_elementwise: See :attr:`FunctionNode.is_elementwise`.
        is_rule_pure: Whether backpropagation may leave the rule out where no code can read the
            gradients, see :attr:`FunctionNode.is_rule_pure`. False for a node with hooks.
        signature_attributes: See :attr:`FunctionNode.type_check_key`.

    Attributes:
        attributes_of: Returns the values of ``signature_attributes`` of a function; None if there
            are none.
        checked_signatures: Signatures that have passed the type check: dtypes and shapes of the
            inputs, followed by the result of ``attributes_of``.
        is_check_remembered: Whether the type check depends only on the signature.
        passed_types: The signatures that passed last, as lists, the last one first.
        has_lean_rule: Whether backpropagation may call :meth:`FunctionNode.backward` without
            further preparation. False for a node with hooks.
        has_hooks: Whether hooks were added to the function itself. True only for the traits of a
            single node, see :meth:`with_hooks`.
    """

    __slots__ = (
        "accepts_opaque_arrays",
        "accumulates",
        "attributes_of",
        "checked_signatures",
        "checks_layouts",
        "checks_types",
        "has_array_rule",
        "has_hooks",
        "has_lean_rule",
        "has_variable_rule",
        "is_check_remembered",
        "is_elementwise",
        "is_rule_pure",
        "passed_types",
        "signature_attributes",
    )

    def __init__(
        self,
        accepts_opaque_arrays: bool = False,
        accumulates: bool = False,
        checks_types: bool = False,
        checks_layouts: bool = False,
        has_array_rule: bool = False,
        has_variable_rule: bool = True,
        is_elementwise: bool = False,
        is_rule_pure: bool = False,
        signature_attributes: tuple[str, ...] | None = None,
    ) -> None:
        self.accepts_opaque_arrays = accepts_opaque_arrays
        self.accumulates = accumulates
        self.checks_types = checks_types
        self.has_array_rule = has_array_rule
        self.checks_layouts = checks_layouts
        self.has_hooks = False
        self.has_lean_rule = has_variable_rule and not accumulates
        self.is_elementwise = is_elementwise
        self.is_rule_pure = is_rule_pure
        self.has_variable_rule = has_variable_rule
        self.signature_attributes = signature_attributes
        self.checked_signatures: set[Hashable] = set()
        self.is_check_remembered = signature_attributes is not None
        self.attributes_of: Callable[[FunctionNode], Hashable] | None = (
            attrgetter(*signature_attributes) if signature_attributes else None
        )
        self.passed_types: tuple[list[Hashable], ...] = ()

    @classmethod
    def of_class(cls, node_class: type[FunctionNode], base: type[FunctionNode]) -> NodeTraits:
        """Returns the traits of a subclass of FunctionNode, given as ``base``."""
        owner = next(c for c in node_class.__mro__ if any(rule in vars(c) for rule in _RULES))
        accumulates = node_class.backward_accumulate is not base.backward_accumulate
        has_array_rule = owner is not base and "backward_arrays" in vars(owner)
        return cls(
            accepts_opaque_arrays=node_class.accepts_opaque_arrays,
            accumulates=accumulates,
            checks_types=node_class.check_type_forward is not base.check_type_forward,
            checks_layouts=node_class.check_layout_forward is not base.check_layout_forward,
            has_array_rule=has_array_rule,
            has_variable_rule=(
                not has_array_rule or accumulates or node_class.backward is not base.backward
            ),
            is_elementwise=node_class.is_elementwise,
            is_rule_pure=node_class.is_rule_pure and _promises(node_class, owner),
            signature_attributes=node_class.type_check_key,
        )

    def with_hooks(self) -> NodeTraits:
        """Returns a copy for a single node to which hooks were added."""
        traits = copy(self)
        traits.has_hooks = True
        traits.has_lean_rule = False
        traits.is_rule_pure = False
        traits.passed_types = ()
        traits.is_check_remembered = False
        return traits

    def remember_checked(self, signature: Hashable) -> None:
        """Remembers that inputs of this signature pass the type check."""
        if len(self.checked_signatures) >= _SIGNATURE_LIMIT:
            self.checked_signatures.clear()
        self.checked_signatures.add(signature)


def _promises(node_class: type[FunctionNode], owner: type) -> bool:
    """Returns whether the promise that a rule is pure was made for the rule of a class.

    Args:
        node_class: A class that has the attribute ``is_rule_pure``.
        owner: The class in its ancestry that defines the rule.
    """
    # The rule may replace one of another package, whose promise its author does not know.
    promised = next(c for c in node_class.__mro__ if "is_rule_pure" in vars(c))
    return issubclass(promised, owner) or _package_of(promised) == _package_of(owner)


def _package_of(cls: type) -> str:
    return cls.__module__.partition(".")[0]

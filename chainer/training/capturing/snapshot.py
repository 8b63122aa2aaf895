"""A copy of everything that a step may change, to compare and to restore."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of, copied, copyto, is_array
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import Reporter
from chainer.training.capturing.targets import SIMPLE, Targets, rules_of
from chainer.training.optimizers.changes import optimizer_changes

#: Calls in which a program that rounds at other places may differ from the step as written until
#: it is given up. An activation that is zero but for roundings has a gradient in one of them and
#: none in the other one: among the 131,000 relu units of a batch of a Transformer that happens.
TRIALS_OF_ROUNDED_PROGRAMS = 3


class Snapshot:
    """The state of targets, of the current reporter and of NumPy's random numbers.

    Args:
        targets: Links and optimizers.
        reporter: The current reporter; None if there is none.
    """

    def __init__(self, targets: Targets, reporter: Reporter | None) -> None:
        self._parameters = targets.parameters()
        rules = rules_of(self._parameters)
        self._owners = [*targets.links(), *targets.optimizers(), *rules]
        self.reporter = reporter
        self._observation = None if reporter is None else dict(reporter.observation)
        self._members = [dict(vars(owner)) for owner in self._owners]
        self._states = [None if rule.state is None else dict(rule.state) for rule in rules]
        self._rules = rules
        self._arrays: list[tuple[Any, Any]] = []
        self._gradients = [p._gradient for p in self._parameters]
        self._parameter_arrays = [p.array for p in self._parameters]
        # Keys of random numbers that are arrays are state like that of NumPy's generator.
        backends = {backend_of(a) for a in self._parameter_arrays if a is not None}
        keys = [box for b in backends for box in b.random_keys()]
        self._keys = [(box, box.value) for box in keys]
        seen: set[int] = set()
        for array in self._all_arrays():
            if id(array) not in seen:
                seen.add(id(array))
                self._arrays.append((array, copied(array)))
        self._random: Any = numpy.random.get_state()

    def _all_arrays(self) -> list[Any]:
        found: list[Any] = [a for a in self._parameter_arrays if a is not None]
        found += [g for g in self._gradients if is_array(g)]
        for members in (*self._members, *[s for s in self._states if s is not None]):
            for value in members.values():
                array = value.array if isinstance(value, Variable) else value
                if array is not None and is_array(array):
                    found.append(array)
        return found

    def restore(self) -> None:
        """Puts everything back; arrays get their values in place."""
        for owner, members in zip(self._owners, self._members, strict=True):
            now = vars(owner)
            for name in [name for name in now if name not in members]:
                del now[name]
            now.update(members)
        for rule, state in zip(self._rules, self._states, strict=True):
            if state is not None and rule.state is not None:
                rule.state.clear()
                rule.state.update(state)
        for parameter, array, gradient in zip(
            self._parameters, self._parameter_arrays, self._gradients, strict=True
        ):
            parameter._array = array
            parameter._gradient = gradient
        for array, values in self._arrays:
            copyto(array, values)
        if self.reporter is not None and self._observation is not None:
            self.reporter.observation.clear()
            self.reporter.observation.update(self._observation)
        for box, value in self._keys:
            box.write(value)
        numpy.random.set_state(self._random)
        optimizer_changes.renew()

    def round_parameters(self) -> None:
        """Changes each element of floating-point parameters by about one rounding."""
        for array in self._parameter_arrays:
            if array is not None and kind_of(array.dtype) == "f":
                backend = backend_of(array)
                eps = float(backend.xp.finfo(array.dtype).eps)
                # By NumPy: elsewhere, each shape may be several programs to compile.
                host = backend.to_host(array)
                # Of both signs and several sizes, so that sums change, too.
                factors = 1 + (numpy.arange(host.size) % 7 - 3) * eps
                copyto(array, host * factors.reshape(host.shape).astype(host.dtype))

    def values(self, is_exact: bool) -> dict[str, Any]:
        """Returns what can be compared, by a name for messages: values of arrays, and numbers.

        Args:
            is_exact: Whether arrays have to agree bit by bit; see :func:`are_same`.
        """
        found: dict[str, Any] = {}
        for i, parameter in enumerate(self._parameters):
            found[f"parameter {parameter.name!r} ({i})"] = _bytes_of(parameter.array, is_exact)
        owners = [(f"{type(o).__name__} ({i})", vars(o)) for i, o in enumerate(self._owners)]
        owners += [
            (f"state of {type(r).__name__} ({i})", r.state or {}) for i, r in enumerate(self._rules)
        ]
        for owner, members in owners:
            for name, value in members.items():
                array = value.array if isinstance(value, Variable) else value
                if array is not None and is_array(array):
                    found[f"{name!r} of {owner}"] = _bytes_of(array, is_exact)
                elif isinstance(value, SIMPLE):
                    found[f"{name!r} of {owner}"] = value
        if self.reporter is not None:
            for name, value in self.reporter.observation.items():
                array = value.array if isinstance(value, Variable) else value
                found[f"reported value {name!r}"] = (
                    _bytes_of(array, is_exact) if is_array(array) else repr(array)
                )
        random: Any = numpy.random.get_state()
        found["random numbers"] = _bytes_of(random[1], True), random[2]
        return found


def _bytes_of(array: Any, is_exact: bool) -> Any:
    if array is None:
        return None
    host = numpy.ascontiguousarray(backend_of(array).to_host(array))
    if is_exact:
        # A digest instead of a copy: the state may be as large as memory allows. Of bytes, because
        # Python's buffers know no bfloat16.
        values = hashlib.blake2b(host.reshape(-1).view(numpy.uint8).data).digest()
    else:
        values = host.tobytes()
    return host.shape, host.dtype, values


def bytes_of_results(found: list[Any], is_exact: bool) -> list[Any]:
    """Returns the values of results in a form that can be compared.

    Args:
        found: Arrays and Variables.
        is_exact: Whether they have to agree bit by bit; see :func:`are_same`.
    """
    return [_bytes_of(x.array if isinstance(x, Variable) else x, is_exact) for x in found]


def are_same(first: Any, second: Any, is_exact: bool) -> bool:
    """Returns whether two values of snapshots or results are the same.

    Args:
        first: Value.
        second: Value.
        is_exact: Whether floating-point arrays have to agree bit by bit. Otherwise they may differ
            by some roundings, relative to the largest element.
    """
    if first == second:
        return True
    if is_exact or not (type(first) is type(second) is tuple and len(first) == 3):
        return False
    if first[:2] != second[:2] or first[1].kind != "f":
        return False
    a, b = [numpy.frombuffer(v[2], v[1]).astype(numpy.float64) for v in (first, second)]
    # At most some percent, so that a comparison in float16 means something.
    tolerance = min(float(numpy.finfo(first[1]).eps) * 1000, 0.02)
    # A bias before batch normalization has no gradient but roundings: they must not be compared.
    scale = float(numpy.max(numpy.abs(b), initial=0.01))
    return numpy.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def are_as_near(recorded: Any, written: Any, rounded: Any) -> bool:
    """Returns whether roundings explain the difference of two values of snapshots or results.

    Args:
        recorded: Value of the record.
        written: Value of the step as written.
        rounded: Value of the step as written, from parameters that are rounded otherwise.
    """
    values = (recorded, written, rounded)
    if not all([type(v) is tuple and len(v) == 3 and v[:2] == written[:2] for v in values]):
        return False
    if written[1].kind != "f":
        return False
    a, b, c = [numpy.frombuffer(v[2], v[1]).astype(numpy.float64) for v in values]
    # Of the whole array: by chance, an element may be the same in two of the runs.
    return bool(
        numpy.max(numpy.abs(a - b), initial=0) <= 4 * numpy.max(numpy.abs(c - b), initial=0)
    )

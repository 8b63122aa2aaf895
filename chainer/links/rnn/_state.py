"""Recurrent links that keep their state from one call to the next."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.arrays.device_resident import DeviceResidentsVisitor, device_of
from chainer.core.autograd.variable import Variable
from chainer.core.typing import DTypeLike, VariableLike
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear
from chainer.links.errors import InvalidArgumentTypeError
from chainer.links.link import Link


def zeros(link: Link, shape: tuple[int, ...], dtype: DTypeLike) -> Variable:
    """Returns a variable of zeros on the device of a link."""
    device = device_of(link)
    with device.backend.use(device):
        return Variable(device.xp.zeros(shape, dtype))


class StatefulChain(Chain):
    """Base class of chains with a state: variables that move with the chain to another device.

    Before the first call the state is None. Serializers do not save it.
    """

    #: Names of the attributes that hold the state.
    state_names: ClassVar[tuple[str, ...]] = ("h",)

    # The attributes are None on the classes, so that a new link needs no reset_state().

    def reset_state(self) -> None:
        """Resets the internal state: sets its attributes to None."""
        for name in self.state_names:
            setattr(self, name, None)

    def _assign_state(self, **state: Variable) -> None:
        # All values are checked before the first one is set.
        for name, value in state.items():
            if not isinstance(value, Variable):
                raise InvalidArgumentTypeError(
                    f"{name} must be a Variable, got {type(value).__name__}"
                )
        for name, value in state.items():
            value.to_device(device_of(self))
            setattr(self, name, value)

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the link, its children and its state.

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        super().device_resident_accept(visitor)
        for name in self.state_names:
            value = getattr(self, name)
            if value is not None:
                visitor.visit_variable(value)


class HiddenStateChain(StatefulChain):
    """Base class of recurrent links whose state are hidden vectors.

    Attributes:
        h (Variable): Hidden vectors; None before the first call.
    """

    h: Variable | None = None

    def set_state(self, h: Variable) -> None:
        """Sets the internal state.

        Args:
            h (Variable): Hidden vectors of shape ``(B, out_size)``.
        """
        self._assign_state(h=h)

    def forward(self, x: VariableLike) -> Variable:
        """Updates the internal state and returns it.

        Args:
            x (Variable or array): Input of shape ``(B, in_size)``.

        Returns:
            Variable: Next hidden vectors of shape ``(B, out_size)``.
        """
        self.h = self._updated(x)
        return self.h

    def _updated(self, x: VariableLike) -> Variable:
        """Returns the next hidden vectors."""
        raise NotImplementedError(f"{type(self).__name__} must define forward() or _updated()")


class CellStateChain(StatefulChain):
    """Base class of recurrent links whose state are cell states and outputs.

    Attributes:
        c (Variable): Cell states; None before the first call.
        h (Variable): Outputs at the previous time step; None before the first call.
    """

    state_names = ("c", "h")
    c: Variable | None = None
    h: Variable | None = None

    def set_state(self, c: Variable, h: Variable) -> None:
        """Sets the internal state.

        Args:
            c (Variable): New cell states of shape ``(B, out_size)``.
            h (Variable): New output at the previous time step.
        """
        self._assign_state(c=c, h=h)


class GatedChain(CellStateChain):
    """Base class of links whose gates see the input and the previous output.

    Attributes:
        upward (Linear): Linear layer of upward connections.
        lateral (Linear): Linear layer of lateral connections.
    """

    upward: Linear
    lateral: Linear

    def forward(self, x: VariableLike) -> Variable:
        """Updates the internal state and returns the LSTM outputs.

        Args:
            x (Variable or array): A new batch from the input sequences, shape ``(B, in_size)``.

        Returns:
            Variable: Outputs of shape ``(B, out_size)``.
        """
        lstm_in = self.upward(x)
        if self.h is not None:
            lstm_in += self.lateral(self.h)
        return self._step(x, lstm_in)

    def _step(self, x: VariableLike, lstm_in: Variable) -> Variable:
        """Computes the next states from the inputs of the gates."""
        raise NotImplementedError(f"{type(self).__name__} must define _step()")


class StatelessCell:
    """Mixin of recurrent links whose caller keeps the state."""

    def forward(self, h: VariableLike, x: VariableLike) -> Variable:
        """Returns the next hidden vectors.

        Args:
            h (Variable or array): Hidden vectors of shape ``(B, out_size)``.
            x (Variable or array): Input of shape ``(B, in_size)``.

        Returns:
            Variable: Next hidden vectors of shape ``(B, out_size)``.
        """
        return self._next(h, x)

    def _next(self, h: VariableLike, x: VariableLike) -> Variable:
        raise NotImplementedError(f"{type(self).__name__} must define _next()")

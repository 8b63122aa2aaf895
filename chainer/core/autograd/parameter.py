"""Parameters: variables that links register and optimizers update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import find_backend, get_device
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.lazy_gradient import UNDEFINED
from chainer.core.autograd.variable import Variable
from chainer.core.config.dtype import get_dtype

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device


class Parameter(Variable):
    """Parameter variable that can be registered to a link.

    Assigned to an attribute of a link within its ``init_scope``, it is registered there. Its array
    is made by an initializer, at once when the shape is known, else when :meth:`initialize` is
    called. The gradient of a parameter made by an initializer is NaN until it is cleared, which
    makes a forgotten ``cleargrads()`` visible.

    Args:
        initializer (Initializer, array or scalar): Initializer of the data array. An array without
            a ``shape`` is the data array itself; with one its values fill an array of dtype
            ``chainer.config.dtype`` (float32), as a scalar does. None means NaN-filled data.
        shape (int or tuple of int or None): Shape of the parameter; if None, initialization is
            deferred.
        name (str): Name of the parameter.

    Attributes:
        initializer: Initializer of the data array.
        update_rule (UpdateRule): Rule by which an optimizer updates the parameter.
    """

    __slots__ = ()

    initializer: Any = None
    update_rule: Any = None

    #: Whether the gradient of a parameter without array is to be NaN (True) or cleared (False).
    _grad_undefined = True
    _initial_device: Any = None

    def __init__(
        self,
        initializer: Any = None,
        shape: int | Sequence[int] | None = None,
        name: str | None = None,
        *,
        requires_grad: bool = True,
    ) -> None:
        if initializer is None:
            initializer = float("nan")
        array: Any = None
        if shape is None:
            if find_backend(initializer.__class__) is not None:
                array = initializer
                initializer = _ConstantLike(array.dtype)
        else:
            array = _generate(initializer, shape, get_device(None))
        super().__init__(array, name=name, requires_grad=requires_grad)
        self.initializer = initializer
        if shape is not None:
            self._undefine_grad()

    def _undefine_grad(self) -> None:
        kind = kind_of(self.dtype)
        self._grad = UNDEFINED if kind in "fc" else None

    @property
    def is_initialized(self) -> bool:
        """Whether the parameter has an array."""
        return self._array is not None

    @property
    def dtype(self) -> Any:
        """Data type of the array, or the one the initializer will give it."""
        if self._array is not None:
            return self._array.dtype
        dtype = getattr(self.initializer, "dtype", None)
        return get_dtype(dtype)

    def cleargrad(self) -> None:
        """Clears the gradient array."""
        super().cleargrad()
        if self._array is None:
            self._grad_undefined = False

    def zerograd(self) -> None:
        """Initializes the gradient array by zeros (deferred while the parameter is uninitialized).

        Deprecated since v1.15; use :meth:`cleargrad`.
        """
        if self._array is None:
            self._grad_undefined = None  # type: ignore[assignment]
        elif self._grad is UNDEFINED:
            self.cleargrad()
            super().zerograd()
        else:
            super().zerograd()

    def initialize(self, shape: int | Sequence[int]) -> None:
        """Initializes the data array by the initializer.

        Args:
            shape (int or tuple of int): Shape of the data array.
        """
        device = get_device(self._initial_device)
        self.array = device.send(_generate(self.initializer, shape, device))
        if self._grad_undefined is True:
            self._undefine_grad()
        elif self._grad_undefined is None:
            self.zerograd()

    def to_device(self, device: Any) -> None:
        """Copies the data and gradient arrays to a device.

        An uninitialized parameter will be initialized there.

        Args:
            device: Anything :func:`chainer.get_device` takes.
        """
        target = get_device(device)
        self._initial_device = target.name
        undefined = self._grad is UNDEFINED
        if undefined:
            self._grad = None
        super().to_device(target)
        if undefined:
            self._grad = UNDEFINED

    def update(self) -> None:
        """Updates the data array using the gradient and the update rule.

        Without an update rule nothing happens.
        """
        if self.update_rule is not None:
            self.update_rule.update(self)

    def __copy__(self) -> Parameter:
        """Returns a parameter that shares the arrays but not the place in the graph."""
        undefined = self._grad is UNDEFINED
        grad = None if undefined else self.grad
        replica = self._replica(self._array, grad, dict(self.__dict__))
        if undefined:
            replica._grad = UNDEFINED
        return replica  # type: ignore[return-value]


class _ConstantLike:
    """Initializer of a parameter that was given its array: remembers the dtype, fills with NaN."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __call__(self, array: Any) -> None:
        array.fill(float("nan") if kind_of(array.dtype) in "fc" else 0)


def _generate(initializer: Any, shape: int | Sequence[int], device: Device) -> Any:
    """Makes an array of a shape on a device by an initializer."""
    if isinstance(shape, (int, numpy.integer)):
        shape = (int(shape),)
    shape = tuple(shape)
    backend = device.backend
    xp = backend.xp
    given = find_backend(initializer.__class__)
    with backend.use(device):
        if given is not None:
            array = xp.empty(shape, get_dtype())
            source = device.send(initializer)
            if source.ndim and source.shape != shape:
                raise ValueError(
                    f"shape of the initializer array {source.shape} differs from the shape "
                    f"of the parameter {shape}"
                )
            array[...] = source
            return array
        if callable(initializer):
            dtype = getattr(initializer, "dtype", None)
            array = xp.empty(shape, get_dtype(dtype))
            initializer(array)
            return array
        if isinstance(initializer, (int, float, complex, numpy.generic)):
            return xp.full(shape, initializer, dtype=get_dtype())
    raise TypeError(
        "initializer must be an Initializer, a callable, an array or a scalar, "
        f"got {type(initializer).__name__}"
    )

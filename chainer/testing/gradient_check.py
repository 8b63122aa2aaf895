"""Checks of gradients against finite differences (public module ``chainer.gradient_check``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy

from chainer.core import misuse
from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import Array, ArrayModule, ArrayTree, DTypeLike
from chainer.testing.array import assert_allclose, to_host
from chainer.testing.numerical_gradient import NondifferentiableError, numerical_grad

__all__ = [
    "NondifferentiableError",
    "assert_allclose",
    "check_backward",
    "check_double_backward",
    "numerical_grad",
]


class StartOfBackward(FunctionNode):
    """Joins the outputs of a function, so that one backward call starts at all of them.

    Args:
        gradients: Initial gradient of each output, or None.
    """

    def __init__(self, gradients: tuple[Variable | None, ...]) -> None:
        self._gradients = gradients

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.xp.zeros((), dtype=self.xp.float32),)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        return self._gradients


def check_backward(
    func: Callable[..., Any],
    x_data: ArrayTree,
    y_grad: ArrayTree,
    params: Sequence[Variable] | Variable = (),
    eps: float = 0.001,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeLike = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Tests backward procedure of a given function.

    ``func`` is called with Variables, its gradients are computed by backpropagation, and their
    product with a random direction is compared with the derivative in that direction found by
    finite differences: a wrong gradient fails with high probability at the cost of two more calls.

    Gradients of integer inputs are not looked at. An input that gets no gradient counts as one with
    a zero gradient.

    Args:
        func (callable): A function which gets Variables and returns a Variable or a tuple of
            Variables; a link or a (v1-style) Function instance will do. It must not behave
            randomly.
        x_data (ndarray or tuple of ndarrays): Arrays to be passed to ``func``.
        y_grad (ndarray or tuple of ndarrays or None): Gradients of the return values of ``func``.
            None for a loss function, which returns one zero-dimensional array: its gradient is 1
            then.
        params (Variable or tuple of Variables): Variables used by ``func`` whose gradients are
            checked, too.
        eps (float): Epsilon value to be passed to :func:`numerical_grad`.
        atol (float): Absolute tolerance of the comparison.
        rtol (float): Relative tolerance of the comparison.
        no_grads (list of bool): Which inputs are left out: they must not get a gradient. As long as
            ``x_data``; by default those which are not floating-point arrays.
        dtype (dtype): Inputs, gradients and ``params`` are cast to this floating-point type when
            the numerical gradient is calculated; use ``numpy.float64`` to test float16 and float32
            functions.
        detect_nondifferentiable (bool): If True, it is checked whether ``func`` is differentiable
            at ``x_data``.

    Raises:
        AssertionError: If the gradients do not agree; the message shows inputs, direction and both
            derivatives.
        NondifferentiableError: If ``detect_nondifferentiable`` is True and ``func`` is not
            differentiable there.
        RuntimeError: If an input that must not get a gradient gets one.
        ValueError: If the arguments do not fit each other.

    Example:
        >>> x = np.array([[1., -2.], [3., 4.]], dtype=np.float32)
        >>> gradient_check.check_backward(lambda x: x * x, x, np.ones_like(x), dtype=np.float64)
    """
    _CheckBackward(
        func, x_data, y_grad, params, eps, atol, rtol, no_grads, dtype, detect_nondifferentiable
    ).run()


def check_double_backward(
    func: Callable[..., Any],
    x_data: ArrayTree,
    y_grad: ArrayTree,
    x_grad_grad: ArrayTree,
    params: Sequence[Variable] | Variable = (),
    params_grad_grad: ArrayTree = (),
    eps: float = 1e-3,
    atol: float = 1e-4,
    rtol: float = 1e-3,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeLike = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Tests twice differentiation of a given procedure.

    The function from inputs and output gradients to input gradients (and gradients of ``params``)
    is put to :func:`check_backward`.

    Args:
        func (callable): A function which gets Variables and returns a Variable or a tuple of
            Variables.
        x_data (ndarray or tuple of ndarrays): Arrays to be passed to ``func``.
        y_grad (ndarray or tuple of ndarrays or None): Gradients of the return values of ``func``;
            None for a loss function.
        x_grad_grad (ndarray or tuple of ndarrays): Gradients of the gradients w.r.t. each input,
            one for each input that is not in ``no_grads``, or one for each input with None for
            those in ``no_grads``.
        params (Variable or tuple of Variables): Variables used by ``func`` whose gradients are
            checked, too.
        params_grad_grad (ndarray or tuple of ndarrays): Gradients of the gradients w.r.t.
            ``params``.
        eps (float): Epsilon value to be passed to :func:`numerical_grad`.
        atol (float): Absolute tolerance of the comparison.
        rtol (float): Relative tolerance of the comparison.
        no_grads (list of bool): Which inputs are left out; by default those which are not
            floating-point arrays.
        dtype (dtype): Floating-point type used when the numerical gradient is calculated.
        detect_nondifferentiable (bool): If True, it is checked whether the gradient of ``func`` is
            differentiable at ``x_data``.

    Raises:
        AssertionError: If the gradients do not agree.
        NondifferentiableError: If ``detect_nondifferentiable`` is True and the gradient is not
            differentiable there.
        ValueError: If the arguments do not fit each other.

    Example:
        >>> x = np.array([1., -2.], dtype=np.float64)
        >>> gradient_check.check_double_backward(lambda x: x ** 3, x, np.ones(2), np.ones(2))
    """
    xs = _as_tuple(x_data)
    skipped = _skipped(xs, no_grads)
    params = _as_tuple(params)
    ggxs = _grads_of_checked(_as_tuple(x_grad_grad), skipped)
    ggparams = _as_tuple(params_grad_grad)
    if len(ggparams) != len(params):
        raise ValueError(
            f"params_grad_grad must have as many elements as params, {len(params)}, got "
            f"{len(ggparams)}"
        )
    gys = _as_tuple(y_grad) if y_grad is not None else (None,)
    given = [gy is not None for gy in gys]
    kept = [not skip for skip in skipped]

    def first_order_grad(*arguments: Variable) -> tuple[Variable | None, ...]:
        inputs = arguments[: len(xs)]
        rest = iter(arguments[len(xs) :])
        with using_config("enable_backprop", True):
            ys = _as_tuple(func(*inputs))
            gradients = [next(rest) if there else None for there in given]
            if y_grad is not None:
                _check_output_gradients(ys, tuple(gradients))
            targets = [x for x, keep in zip(inputs, kept, strict=True) if keep]
            differentiated = grad(
                [y for y, there in zip(ys, given, strict=True) if there or y_grad is None],
                targets + list(params),
                [g for g in gradients if g is not None or y_grad is None],
                enable_double_backprop=True,
            )
        return tuple(differentiated)

    check_backward(
        first_order_grad,
        xs + tuple(gy for gy in gys if gy is not None),
        ggxs + ggparams,
        params=params,
        eps=eps,
        atol=atol,
        rtol=rtol,
        no_grads=[*skipped, *[False for there in given if there]],
        dtype=dtype,
        detect_nondifferentiable=detect_nondifferentiable,
    )


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (tuple, list)):
        return tuple(cast("list[Any]", value))
    return (value,)


def _check_outputs(ys: tuple[Any, ...]) -> None:
    """Raises TypeError unless the outputs of the function under test are Variables or None."""
    for i, y in enumerate(ys):
        if y is not None and not isinstance(y, Variable):
            raise TypeError(f"func must return Variables, got {type(y)} for output {i}")


def _as_input(x: Array) -> Variable | None:
    """Returns an array as an input of the function; integer arrays require no gradient."""
    return None if x is None else Variable(x, requires_grad=x.dtype.kind == "f")


def _skipped(xs: tuple[Any, ...], no_grads: Sequence[bool] | None) -> list[bool]:
    if no_grads is None:
        return [x is None or x.dtype.kind != "f" for x in xs]
    if len(no_grads) != len(xs):
        raise ValueError(
            "Length of no_grads param and xs should be same.\n"
            f"Actual: {len(xs)} (x_data) != {len(no_grads)} (no_grads)"
        )
    return list(no_grads)


def _grads_of_checked(ggxs: tuple[Any, ...], skipped: list[bool]) -> tuple[Any, ...]:
    """Returns the double gradients of the inputs that are checked."""
    checked = skipped.count(False)
    # Given for the checked inputs only, or below for all inputs.
    if len(ggxs) == checked:
        return ggxs
    if len(ggxs) != len(skipped):
        raise ValueError(
            f"x_grad_grad must have an element for each of the {checked} inputs that are checked, "
            f"got {len(ggxs)}"
        )
    for i, (ggx, skip) in enumerate(zip(ggxs, skipped, strict=True)):
        if skip and ggx is not None:
            raise ValueError(f"x_grad_grad[{i}] must be None: inputs[{i}] is not checked")
    return tuple(ggx for ggx, skip in zip(ggxs, skipped, strict=True) if not skip)


def _check_output_gradients(ys: tuple[Any, ...], gys: tuple[Any, ...]) -> None:
    fits = len(ys) == len(gys) and all(
        gy is None or y is None or (y.shape == gy.shape and y.dtype == gy.dtype)
        for y, gy in zip(ys, gys, strict=True)
    )
    if not fits:
        outputs = ", ".join("None" if y is None else f"{y.shape}:{y.dtype}" for y in ys)
        gradients = ", ".join("None" if g is None else f"{g.shape}:{g.dtype}" for g in gys)
        raise ValueError(
            "y_grad must fit the outputs of the function.\n"
            f"Output shapes and dtypes         : {outputs}\n"
            f"Output gradient shapes and dtypes: {gradients}"
        )


class _CheckBackward:
    """One comparison of gradients; see :func:`check_backward` for the arguments."""

    def __init__(
        self,
        func: Callable[..., Any],
        x_data: ArrayTree,
        y_grad: ArrayTree,
        params: Sequence[Variable] | Variable,
        eps: float,
        atol: float,
        rtol: float,
        no_grads: Sequence[bool] | None,
        dtype: DTypeLike,
        detect_nondifferentiable: bool,
    ) -> None:
        if dtype is not None and numpy.dtype(dtype).kind != "f":
            raise ValueError(f"`dtype` is allowed only float type, got {dtype}")
        self.func = func
        # A single array is the same as a tuple of one.
        self.x_data = _as_tuple(x_data)
        self.gys = None if y_grad is None else _as_tuple(y_grad)
        self.params = _as_tuple(params)
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.excluded = no_grads is not None
        self.skipped = _skipped(self.x_data, no_grads)
        self.dtype = dtype
        self.detect = detect_nondifferentiable
        for i, param in enumerate(self.params):
            if not isinstance(param, Variable):
                raise TypeError(f"params[{i}] must be a Variable, got {type(param)}")

    @misuse.ignored()
    def run(self) -> None:
        """Raises unless the gradients agree."""
        ys, gradients = self._backward()
        arrays = [x for x, skip in zip(self.x_data, self.skipped, strict=True) if not skip]
        arrays += [p.array for p in self.params]
        if not arrays and self.excluded:
            return  # what is excluded has got no gradient
        if not arrays:
            raise ValueError("there is no floating-point input to check the gradient of")
        directions = self._directions(arrays)
        # The derivative in one random direction finds what is wrong in any element.
        expected = self._numerical(ys, directions)
        actual = sum(
            # In float64, so that the sum adds no rounding of its own.
            float((to_host(g).astype(numpy.float64) * r).sum())
            for g, r in zip(gradients, directions, strict=True)
            if g is not None
        )
        try:
            assert_allclose(expected, actual, atol=self.atol, rtol=self.rtol)
        except AssertionError as error:
            # Without the first error, whose text is part of the report.
            raise AssertionError(self._report(directions, expected, actual, str(error))) from None

    def _backward(self) -> tuple[tuple[Any, ...], list[Any]]:
        """Returns copies of the outputs, and the gradients of the checked inputs and parameters."""
        xs = [_as_input(x) for x in self.x_data]
        for param in self.params:
            param.cleargrad()
        with using_config("enable_backprop", True):
            ys = _as_tuple(self.func(*xs))
            _check_outputs(ys)
            gys = self._initial_gradients(ys)
            outputs = tuple(
                # Copies: the function may write to the same arrays at its next call.
                None if y is None else backend_of(y.array).copy(y.array, y.device)
                for y in ys
            )
            reached = [
                (y, g) for y, g in zip(ys, gys, strict=True) if y is not None and g is not None
            ]
            # A function may have no output that depends on an input.
            if reached:
                roots, seeds = zip(*reached, strict=True)
                StartOfBackward(seeds).apply(roots)[0].backward()
        checked: list[Variable] = []
        for i, (x, skip) in enumerate(zip(xs, self.skipped, strict=True)):
            if x is None:
                continue
            if not skip:
                checked.append(x)
            # Gradients of integer inputs do not arrive: these Variables require none.
            elif x.requires_grad and x.grad is not None:
                raise RuntimeError(
                    f"gradient of int variable must be None: no_grads is set for inputs[{i}]"
                )
        return outputs, [v.grad for v in [*checked, *self.params]]

    def _initial_gradients(self, ys: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.gys is None:
            if len(ys) != 1 or ys[0] is None or ys[0].shape != ():
                shapes = ", ".join("None" if y is None else str(y.shape) for y in ys)
                raise ValueError(
                    "y_grad argument cannot be omitted if the target function is not a loss "
                    "function, which has a single output with shape ().\n"
                    f"Actual output shapes: {shapes}"
                )
            self.gys = (ys[0].xp.ones_like(ys[0].array),)
        _check_output_gradients(ys, self.gys)
        return tuple(None if gy is None else Variable(gy, requires_grad=False) for gy in self.gys)

    def _directions(self, arrays: list[Any]) -> list[Any]:
        """Returns a random direction of unit length, one part for each checked array."""
        bounds = numpy.cumsum([0, *[x.size for x in arrays]])
        direction = self._sample_unit_vector(int(bounds[-1]), numpy)
        return [
            direction[start:stop].reshape(x.shape)
            for x, start, stop in zip(arrays, bounds[:-1], bounds[1:], strict=True)
        ]

    @staticmethod
    def _sample_unit_vector(size: int, xp: ArrayModule) -> Any:
        """Returns a random vector of unit length without components close to zero.

        A wrong gradient of a single element would not be found with a component close to zero; each
        is at least a tenth of the root mean square, ``0.1 / sqrt(size)``.
        """
        vector: Any = xp.random.standard_normal(size)
        while True:
            length = xp.sqrt((vector * vector).sum())
            if size:
                vector = vector / length
            small = xp.abs(vector) < 0.1 / max(size, 1) ** 0.5
            if not small.any():
                return vector
            # Moved beyond the bound, which changes the length a little: check again.
            vector = xp.where(small, xp.copysign(0.2 / max(size, 1) ** 0.5, vector), vector)

    def _numerical(self, ys: tuple[Any, ...], directions: list[Any]) -> float:
        """Returns the derivative in the direction, by finite differences."""
        delta = numpy.zeros((), numpy.float64)
        # The parameters belong to the link under test and must be as they were afterwards.
        saved = [param.array for param in self.params]
        inputs = [self._cast(x) for x in self.x_data]
        bases = [
            self._wide(x) for x, skip in zip(self.x_data, self.skipped, strict=True) if not skip
        ]
        moving = [i for i, skip in enumerate(self.skipped) if not skip]

        def moved(array: Array, base: Array, direction: Array) -> Any:
            # Sums of arrays without axes are scalars to NumPy.
            host = numpy.asarray(base + delta * direction, dtype=self.dtype or array.dtype)
            backend = backend_of(array)
            return backend.from_host(host, backend.device_of(array))

        def evaluate() -> tuple[Any, ...]:
            arguments = list(inputs)
            for i, base, direction in zip(moving, bases, directions[: len(moving)], strict=True):
                arguments[i] = moved(self.x_data[i], base, direction)
            for param, array, base, direction in zip(
                self.params, saved, param_bases, directions[len(moving) :], strict=True
            ):
                param.array = moved(array, base, direction)
            results = _as_tuple(self.func(*[_as_input(x) for x in arguments]))
            # An output without a gradient, or that does not depend on anything, adds nothing.
            return tuple(
                numpy.zeros(to_host(gy).shape) if y is None and gy is not None else y
                for y, gy in zip(results, self.gys or (), strict=True)
            )

        param_bases = [self._wide(array) for array in saved]
        gys = [None if y is None else gy for y, gy in zip(ys, self.gys or (), strict=True)]
        center = None
        try:
            if self.detect:
                # In another dtype the outputs of the first call are not those at the center.
                center = evaluate() if self.dtype is not None else ys
            (slope,) = numerical_grad(
                evaluate,
                (delta,),
                gys,
                eps=self.eps,
                detect_nondifferentiable=self.detect,
                center_outputs=center,
            )
        finally:
            for param, array in zip(self.params, saved, strict=True):
                param.array = array
        return float(slope)

    def _wide(self, array: Array) -> Any:
        return to_host(array).astype(numpy.float64)

    def _cast(self, array: Array) -> Any:
        if array is None or self.dtype is None or array.dtype.kind != "f":
            return array
        backend = backend_of(array)
        host = backend.to_host(array).astype(self.dtype)
        return backend.from_host(host, backend.device_of(array))

    def _report(self, directions: list[Any], expected: float, actual: float, text: str) -> str:
        parts = [f"check_backward failed (eps={self.eps} atol={self.atol} rtol={self.rtol})"]
        for name, values in (
            ("inputs", self.x_data),
            ("params", [p.array for p in self.params]),
            ("grad_outputs", self.gys or ()),
            ("directions", directions),
        ):
            for i, value in enumerate(values):
                parts.append(f"{name}[{i}]:\n{None if value is None else to_host(value)}")
        parts += [
            f"gradients (numeric):  {expected}",
            f"gradients (backward): {actual}",
            f"\nx: numeric gradient, y: backward gradient\n{text}",
        ]
        return "\n".join(parts)

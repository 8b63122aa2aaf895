"""Kernels and memoized functions of users' programs (public module ``chainer.backends.cuda``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from chainer.backends.cupy import library
from chainer.core.arrays.lookup import find_backend


def is_cupy(obj: object) -> bool:
    """Returns whether an object is a CuPy array.

    Args:
        obj: Any object.
    """
    backend = find_backend(obj.__class__)
    return backend is not None and backend.name == "cupy"


def memoize(for_each_device: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: a function memoizes its results for each argument and device.

    Like ``cupy.memoize()``, but it can be used in the global scope even if CUDA is not available;
    then the function is called each time.

    Args:
        for_each_device (bool): Whether results are kept for each device.

    Example:
        >>> from chainer.backends import cuda
        >>> @cuda.memoize()
        ... def double(x):
        ...     return 2 * x
        >>> double(3)
        6
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        memoized: list[Callable[..., Any]] = []

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not memoized:
                cupy, _ = library.find()
                memoized.append(
                    function if cupy is None else cupy.memoize(for_each_device)(function)
                )
            return memoized[0](*args, **kwargs)

        return call

    return decorate


def clear_memo() -> None:
    """Clears the memoized results of all functions decorated by :func:`memoize`.

    Example:
        >>> from chainer.backends import cuda
        >>> cuda.clear_memo()
    """
    cupy, _ = library.find()
    if cupy is not None:
        cupy.clear_memo()


@memoize(for_each_device=True)
def elementwise(in_params: str, out_params: str, operation: str, name: str, **kwargs: Any) -> Any:
    """Creates an elementwise kernel function, cached by its arguments and device.

    Args:
        in_params (str): Input arguments, such as ``'T x, T y'``.
        out_params (str): Output arguments.
        operation (str): Body of the loop.
        name (str): Name of the kernel.
        kwargs: Passed on to ``cupy.ElementwiseKernel``.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.

    Example:
        On a GPU:

        >>> from chainer.backends import cuda
        >>> square = cuda.elementwise("T x", "T y", "y = x * x", "square_of_an_example")
        >>> square(cuda.to_gpu(np.arange(3)))
        array([0, 1, 4])
    """
    return library.require().ElementwiseKernel(in_params, out_params, operation, name, **kwargs)


@memoize(for_each_device=True)
def reduce(
    in_params: str,
    out_params: str,
    map_expr: str,
    reduce_expr: str,
    post_map_expr: str,
    identity: Any,
    name: str,
    **kwargs: Any,
) -> Any:
    """Creates a global reduction kernel function, cached by its arguments and device.

    Args:
        in_params (str): Input arguments.
        out_params (str): Output arguments.
        map_expr (str): Expression applied to each element.
        reduce_expr (str): Expression that combines ``a`` and ``b``.
        post_map_expr (str): Expression applied to the result.
        identity: Value of an empty reduction.
        name (str): Name of the kernel.
        kwargs: Passed on to ``cupy.ReductionKernel``.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.

    Example:
        On a GPU:

        >>> from chainer.backends import cuda
        >>> squares = cuda.reduce("T x", "T y", "x * x", "a + b", "y = a", "0", "sum_of_squares")
        >>> squares(cuda.to_gpu(np.arange(3)))
        array(5)
    """
    return library.require().ReductionKernel(
        in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, **kwargs
    )


@memoize(for_each_device=True)
def raw(code: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Creates a kernel function from the source code of a CUDA kernel, cached by its arguments.

    Args:
        code (str): Source code in CUDA C++.
        name (str): Name of the kernel in the source code.
        args: Passed on to ``cupy.RawKernel``.
        kwargs: Passed on to ``cupy.RawKernel``.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.

    Example:
        On a GPU:

        >>> from chainer.backends import cuda
        >>> kernel = cuda.raw('''
        ... extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }
        ... ''', "twice")
        >>> x = cuda.to_gpu(np.arange(3, dtype=np.float32))
        >>> kernel((1,), (3,), (x,))
        >>> x
        array([0., 2., 4.], dtype=float32)
    """
    return library.require().RawKernel(code, name, *args, **kwargs)


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Decorator: fuses a function by ``cupy.fuse`` for CuPy arrays, and calls it for others.

    Without CuPy the function itself is returned.

    Example:
        >>> from chainer.backends import cuda
        >>> @cuda.fuse()
        ... def scaled(x, y):
        ...     return 2 * x + y
        >>> scaled(np.arange(3), 1)
        array([1, 3, 5])
    """
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return fuse()(args[0])

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        # Looking for the package imports nothing; CuPy itself is imported by the first call.
        if not library.is_installed():
            return function
        fused: list[Callable[..., Any]] = []

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if not any(is_cupy(argument) for argument in arguments):
                return function(*arguments, **keywords)
            if not fused:
                fused.append(library.require().fuse(*args, **kwargs)(function))
            return fused[0](*arguments, **keywords)

        return call

    return decorate

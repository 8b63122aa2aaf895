"""Function hook that prints what functions are given."""

from __future__ import annotations

import warnings
from typing import Any, TextIO

from chainer.core.autograd.function_hook import FunctionHook
from chainer.core.autograd.variable import Variable
from chainer.core.streams import STANDARD_OUTPUT, current_stream


class PrintHook(FunctionHook):
    """Function hook that prints debug information.

    Before forward and backward of each function it prints its label and its input arrays, and
    before backward also the gradients of the outputs.

    Args:
        sep: Ignored; deprecated since v4.0.0.
        end (str): Text printed at the end of each line.
        file: Text stream to print to; ``sys.stdout`` by default.
        flush (bool): Whether the stream is flushed after each function.

    Example:
        >>> with chainer.function_hooks.PrintHook():
        ...     _ = F.relu(np.zeros((2, 3), np.float32))  # doctest: +ELLIPSIS
        function	ReLU
        input data
        <variable at ...>
        - device: CPU
        - backend: <class 'numpy.ndarray'>
        - shape: (2, 3)
        - dtype: float32
        - statistics: mean=0.00000000, std=0.00000000
        - grad: None
    """

    name = "PrintHook"

    def __init__(
        self,
        sep: Any = None,
        end: str = "\n",
        file: TextIO | None = STANDARD_OUTPUT,
        flush: bool = True,
    ) -> None:
        if sep is not None:
            warnings.warn(
                "sep argument in chainer.function_hooks.PrintHook is deprecated.",
                DeprecationWarning,
                stacklevel=2,
            )
        self.sep = sep
        self.end = end
        self.file = file
        self.flush = flush

    def _print(self, text: str) -> None:
        print(text, end=self.end, file=current_stream(self.file))

    def _finish(self) -> None:
        if self.flush:
            current_stream(self.file).flush()

    def _print_inputs(self, function: Any, in_data: tuple[Any, ...]) -> None:
        self._print(f"function\t{function.label}")
        self._print("input data")
        for array in in_data:
            # Inputs that no gradient needs are released before the backward pass.
            self._print("(removed)" if array is None else Variable(array).debug_print())

    def forward_preprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Prints the inputs."""
        self._print_inputs(function, in_data)
        self._finish()

    def backward_preprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        """Prints the inputs and the gradients of the outputs."""
        self._print_inputs(function, in_data)
        self._print("output gradient")
        for array in out_grad:
            # debug_print shows the gradient of a Variable, so each gradient is given one.
            variable = Variable() if array is None else _as_gradient(array)
            self._print(variable.debug_print())
        self._finish()


def _as_gradient(array: Any) -> Variable:
    """Returns a variable of zeros with the gradient: what is printed is ``grad``."""
    xp = Variable(array).xp
    variable = Variable(xp.zeros_like(array))
    variable.grad = array
    return variable
